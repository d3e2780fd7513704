"""`fe void`: number ranges voided at the authority (docs/decisions/voidings.md)."""

import re
from typing import Any
from uuid import UUID

import click

from fe.accounts import provision
from fe.accounts import voidings as flow
from fe.cli.failures import Failure
from fe.cli.operator_options import author, by_option
from fe.cli.printing import json_option, moment, print_result, show, show_all
from fe.cli.session import environment_option, run_query, run_transaction, tenant_option
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.texts import LocalizedError
from fe.ecf.voiding import REASONS, NumberRange
from fe.identifiers import ClientRequestId
from fe.store.postgres.db import Conn
from fe.store.records import voidings
from fe.store.records.voidings import Voiding

_RANGE = re.compile(r"(E[0-9]{12})(?:-(E[0-9]{12}))?")


class _Range(click.ParamType[NumberRange]):
    """A number, or two with a hyphen between."""

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NumberRange:
        """Read it."""
        if isinstance(value, NumberRange):
            return value
        found = _RANGE.fullmatch(value)
        if found is None or found[1][1:3] not in tuple(EcfType) or (found[2] or found[1])[:3] != found[1][:3]:
            self.fail(f"{value}: a range is E310000000005, or E310000000005-E310000000009", param, ctx)
        return NumberRange(EcfType(found[1][1:3]), int(found[1][3:]), int((found[2] or found[1])[3:]))


@click.group()
def void() -> None:
    """Void numbers that were never sent nor handed over, and settle voidings that are in doubt."""


@void.command()
@tenant_option
@environment_option
@click.option("--prefix", help="Only of this type (E31, E32, ...).")
@json_option
def propose(tenant_name: str, environment: Environment, prefix: str | None, as_json: bool) -> None:
    """List the ranges that can be voided."""

    async def task(conn: Conn) -> list[flow.Proposal]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await flow.propose(conn, owner.tenant_id, environment, prefix)

    found = [
        {
            "first": one.range.first_e_ncf,
            "last": one.range.last_e_ncf,
            "numbers": one.range.count,
            "why": one.why.value,
        }
        for one in run_query(task)
    ]
    show_all(found, as_json=as_json, none="no number can be voided")


@void.command()
@click.argument("ranges", nargs=-1, required=True, type=_Range())
@tenant_option
@environment_option
@click.option(
    "--kind",
    "kind",
    type=click.IntRange(1, len(REASONS)),
    required=True,
    help="Reason of the 608: " + "; ".join(f"{number} {text.en}" for number, text in REASONS.items()) + ".",
)
@click.option("--request-id", metavar="ID", help="With the same id it is requested once.")
@by_option
@json_option
def request(
    ranges: tuple[NumberRange, ...],
    tenant_name: str,
    environment: Environment,
    kind: int,
    request_id: str | None,
    by_whom: str,
    as_json: bool,
) -> None:
    """Void RANGES (E310000000005, or E310000000005-E310000000009). It cannot be undone."""

    async def task(conn: Conn) -> Voiding:
        owner = await provision.find_tenant(conn, tenant_name)
        named = None if request_id is None else ClientRequestId(request_id)
        made, _ = await flow.request(conn, author(by_whom), owner, environment, ranges, kind, client_request_id=named)
        return made

    try:
        made = run_transaction(task)
    except LocalizedError as refused:
        raise Failure(refused.text.en) from None
    show(_record(made), as_json=as_json)


@void.command("list")
@tenant_option
@environment_option
@json_option
def list_(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """List a tenant's voidings, the newest first."""

    async def task(conn: Conn) -> list[Voiding]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await voidings.newest(conn, owner.tenant_id, environment)

    show_all([_record(one) for one in run_query(task)], as_json=as_json, none="there are no voidings")


@void.command()
@json_option
def doubts(as_json: bool) -> None:
    """List the voidings of all tenants that are in doubt, the oldest first."""
    found = [{"tenantId": one.tenant_id, **_record(one)} for one in run_query(voidings.in_doubt)]
    show_all(found, as_json=as_json, none="no voiding is in doubt")


@void.command("xml")
@click.argument("voiding_id", metavar="VOIDING", type=click.UUID)
@tenant_option
def write_xml(voiding_id: UUID, tenant_name: str) -> None:
    """Write the signed ANECF to standard output."""

    async def task(conn: Conn) -> bytes | None:
        owner = await provision.find_tenant(conn, tenant_name)
        return await voidings.document(conn, owner.tenant_id, voiding_id)

    found = run_query(task)
    if found is None:
        raise Failure("there is no such voiding, or it is not signed yet")
    click.echo(found, nl=False)


@void.command()
@click.argument("voiding_id", metavar="VOIDING", type=click.UUID)
@tenant_option
@click.option("--void/--not-void", "is_void", default=None, required=True, help="What the authority's portal shows.")
@click.option("--left-out", multiple=True, metavar="NUMBER", help="A number that is not void; may be repeated.")
@by_option
@json_option
def settle(
    voiding_id: UUID, tenant_name: str, is_void: bool, left_out: tuple[str, ...], by_whom: str, as_json: bool
) -> None:
    """Settle a VOIDING in doubt by what the authority's portal shows. With --not-void its numbers are drawn again."""

    async def task(conn: Conn) -> bool:
        owner = await provision.find_tenant(conn, tenant_name)
        return await flow.settle(conn, author(by_whom), owner, voiding_id, is_void=is_void, left_out=left_out)

    try:
        settled = run_transaction(task)
    except LocalizedError as refused:
        raise Failure(refused.text.en) from None
    if not settled:
        raise Failure("this voiding is not in doubt, or there is none")
    words = "its numbers are void" if is_void else "its numbers can be drawn again"
    print_result(words, {"voidingId": str(voiding_id), "void": is_void}, as_json=as_json)


def _record(one: Voiding) -> dict[str, Any]:
    return {
        "voidingId": str(one.voiding_id),
        "environment": one.environment.value,
        "state": "waiting" if one.state is voidings.VoidingState.WAITING else one.state.value,
        "ranges": ", ".join(flow.show_ranges(one.ranges)),
        "numbers": one.numbers,
        "kind": one.reason,
        "requestedAt": moment(one.requested_at),
        "requestedBy": one.requested_by,
        "endedAt": None if one.finished_at is None else moment(one.finished_at),
        "problem": one.last_error,
    }
