"""`fe sequence probe`: ask the authority which numbers from the next one on it has, and set sequences past them.

For after a failover or a restore: documents that were sent and are no longer in the database have used numbers that
would be drawn again (ops/runbooks/numbers-held-elsewhere.md).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
import trio

from fe.accounts import audited_changes, provision
from fe.accounts import sequences as flow
from fe.actors.credentials import CannotOpen, Opened, SigningCredentials
from fe.authority.client import Authority
from fe.authority.errors import AuthorityError
from fe.cli.ask_authority import asking
from fe.cli.operator_options import author, by_option, member_option
from fe.cli.printing import json_option, show_all
from fe.cli.session import settings_with_database, with_database
from fe.clock import system_clock
from fe.ecf.catalogue import TELLS_BY_NUMBER, Environment
from fe.store.postgres.db import Conn, Database
from fe.store.records import certificates, sequences, tenants
from fe.store.records.sequences import Change
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.tenants import Tenant


@dataclass(frozen=True, slots=True)
class Probed:
    """Result of probing one sequence. `proposed` is None when it may stay, or is unknown."""

    tenant: Tenant
    sequence: NumberSequence
    asked: int
    known: tuple[int, ...]
    proposed: int | None
    says: str

    @property
    def e_ncfs(self) -> list[str]:
        """The numbers that the authority has, as e-NCF."""
        return [f"{self.sequence.prefix}{number:010}" for number in self.known]


@click.command()
@click.argument("prefix", required=False)
@click.option("--tenant", "tenant_name", metavar="NAME", help="Only this tenant; without it, all but those disabled.")
@member_option("--environment", Environment, "Only this environment; without it, all.")
@click.option(
    "--unknown",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Stop after this many consecutive numbers that the authority does not know.",
)
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Most numbers per sequence."
)
@click.option("--rate", type=click.FloatRange(0.1, 50), default=5.0, show_default=True, help="Numbers a second.")
@click.option("--apply", "apply_", is_flag=True, help="Set next numbers that are behind; resumes what is paused.")
@by_option
@json_option
def probe(
    prefix: str | None,
    tenant_name: str | None,
    environment: Environment | None,
    unknown: int,
    limit: int,
    rate: float,
    apply_: bool,
    by_whom: str,
    as_json: bool,
) -> None:
    """Ask the authority about the numbers of sequences, from the next one on, and propose where each should go on.

    Nothing is changed without --apply. PREFIX is E31, E32, ...; without it, all sequences that give numbers.
    """
    if prefix is not None:
        flow.check_prefix(prefix)
    settings = settings_with_database()

    async def work(db: Database) -> list[Probed]:
        if tenant_name:
            owners = [await db.run(provision.find_tenant, tenant_name)]
        else:
            owners = [one for one in await db.run(tenants.everyone) if one.disabled_since is None]
        found: list[Probed] = []
        with asking(db, settings, clock=system_clock) as (authority, credentials):
            for owner in owners:
                for sequence in await _sequences_of(db, owner, environment, prefix):
                    prober = _Prober(db, authority, credentials, unknown, limit, 1 / rate)
                    probed = await prober.probe(owner, sequence)
                    found.append(await _apply(db, probed, by_whom) if apply_ else probed)
        return found

    found = with_database(settings, work)
    show_all([_record(one) for one in found], as_json=as_json, none="there are no sequences that give numbers")


async def _sequences_of(
    db: Database, owner: Tenant, environment: Environment | None, prefix: str | None
) -> Sequence[NumberSequence]:
    found: list[NumberSequence] = []
    for each in Environment if environment is None else (environment,):
        found += await db.run(sequences.listed, owner.tenant_id, each)
    return [one for one in found if one.is_active and prefix in (None, one.prefix)]


@dataclass(frozen=True, slots=True)
class _Prober:
    db: Database
    authority: Authority
    credentials: SigningCredentials
    unknown: int
    limit: int
    #: How long from one number to the next, in seconds.
    gap: float

    async def probe(self, owner: Tenant, sequence: NumberSequence) -> Probed:
        """Ask until enough numbers in a row are unknown. An error ends the sequence, not the command."""
        none = Probed(owner, sequence, 0, (), None, "")
        opened = await self._certificate(owner)
        if isinstance(opened, str):
            return replace(none, says=f"not asked: {opened}")
        known: list[int] = []
        asked = 0
        for asked, number in enumerate(self._numbers(sequence), 1):
            try:
                if await self._is_known(owner, sequence, number, opened):
                    known.append(number)
            except AuthorityError as trouble:
                return replace(none, asked=asked - 1, known=tuple(known), says=f"no answer: {trouble.reason}")
            if number - (known[-1] if known else sequence.current_number - 1) >= self.unknown:
                break
            if asked == self.limit:
                says = f"not done: {self.limit} numbers asked, raise --limit"
                return replace(none, asked=asked, known=tuple(known), says=says)
            await trio.sleep(self.gap)
        return replace(none, asked=asked, known=tuple(known), **_proposal(sequence, known))

    def _numbers(self, sequence: NumberSequence) -> Iterator[int]:
        return iter(range(sequence.current_number, sequence.max_number + 1))

    async def _certificate(self, owner: Tenant) -> Opened | str:
        now = system_clock()
        kept = await self.db.run(certificates.in_use, owner.tenant_id)
        usable = [one for one in kept if one.not_before <= now < one.not_after]
        if not usable:
            return "it has no certificate to ask with"
        try:
            return await self.credentials.get(owner.tenant_id, usable[0].certificate_id)
        except CannotOpen as closed:
            return str(closed)

    async def _is_known(self, owner: Tenant, sequence: NumberSequence, number: int, opened: Opened) -> bool:
        """Find the documents by trackId, which includes those in progress, and by state, which includes summaries."""
        about = sequence.environment, str(owner.issuer["RNCEmisor"]), f"{sequence.prefix}{number:010}"
        if await self.authority.track_ids(*about, opened):
            return True
        return sequence.environment in TELLS_BY_NUMBER and await self.authority.state(*about, opened) is not None


def _proposal(sequence: NumberSequence, known: Sequence[int]) -> dict[str, Any]:
    if known:
        return {"proposed": known[-1] + 1, "says": f"behind: the authority has {len(known)} from here on"}
    if sequence.paused_at is not None:
        return {"proposed": sequence.current_number, "says": "paused, and may go on from here"}
    return {"proposed": None, "says": "as it should be"}


async def _apply(db: Database, probed: Probed, by_whom: str) -> Probed:
    sequence, proposed = probed.sequence, probed.proposed
    if proposed is None:
        return probed

    async def task(conn: Conn) -> str:
        before = await sequences.locked(conn, sequence.tenant_id, sequence.environment, sequence.key)
        if before is None:
            return "not set: it was deleted meanwhile"
        if before.current_number > proposed:
            return f"not set: it has gone on to {before.current_number} meanwhile, probe again"
        change = Change(next_number=proposed)
        await audited_changes.change_sequence(
            conn, author(by_whom), probed.tenant, sequence.environment, sequence.key, change
        )
        return f"set to {proposed}"

    return replace(probed, says=await db.transact(task))


def _record(one: Probed) -> dict[str, Any]:
    return {
        "tenant": one.tenant.name,
        "environment": one.sequence.environment,
        "prefix": one.sequence.prefix,
        **({"name": one.sequence.name} if one.sequence.name else {}),
        "next": str(one.sequence.current_number),
        "paused": one.sequence.paused_at is not None,
        "asked": one.asked,
        "known": one.e_ncfs,
        "proposedNext": None if one.proposed is None else str(one.proposed),
        "says": one.says,
    }
