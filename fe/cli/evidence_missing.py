"""`fe evidence missing`: documents that logs or clients know and the database does not: after a failover."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from fe.accounts import provision
from fe.cli.failures import Failure
from fe.cli.printing import json_option, show_all
from fe.cli.session import settings_with_database, with_database
from fe.store.postgres.db import Database
from fe.store.records import evidence as stored

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)
_E_NCF = re.compile(r"E[0-9]{12}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CHUNK = 1000


@dataclass(slots=True)
class Trace:
    """A document named by taxLogId or e-NCF, and where it was named."""

    name: str
    source: str
    event: str | None = None
    seen_at: str | None = None
    track_id: str | None = None
    tenant_id: int | None = None
    environment: str | None = None


@click.command()
@click.option("--from-log", "logs", type=_FILE, multiple=True, help="Lines of the service's log (JSON); - is stdin.")
@click.option(
    "--ids", "lists", type=_FILE, multiple=True, help="A list of a client or the authority: taxLogId or e-NCF."
)
@click.option("--tenant", "tenant_name", metavar="NAME", help="Tenant of the e-NCF in --ids.")
@json_option
def missing(logs: tuple[Path, ...], lists: tuple[Path, ...], tenant_name: str | None, as_json: bool) -> None:
    """List documents that logs or lists name and the database lacks.

    In a log every line with a `submission` counts. A list may be any text: each taxLogId and each e-NCF in it is looked
    up, e-NCF among those of --tenant. `fe sequence probe --json` names documents that only the authority knows.
    """
    if not logs and not lists:
        raise click.UsageError("give --from-log, --ids, or both")
    traces: dict[str, Trace] = {}
    for path in logs:
        _from_log(path, traces)
    for path in lists:
        _from_list(path, traces)
    numbers = [name for name in traces if _E_NCF.fullmatch(name)]
    if numbers and tenant_name is None:
        raise Failure(f"{len(numbers)} e-NCF in --ids: say whose they are with --tenant")

    async def work(db: Database) -> set[str]:
        there: set[str] = set()
        for some in _chunks([UUID(name) for name in traces if _UUID.fullmatch(name)]):
            there |= {str(one) for one in await db.run(stored.which_are_there, some)}
        if tenant_name is not None and numbers:
            owner = await db.run(provision.find_tenant, tenant_name)
            for chosen in _chunks(numbers):
                there |= set(await db.run(stored.which_numbers_are_there, owner.tenant_id, chosen))
        return there

    there = with_database(settings_with_database(), work)
    lost = [trace for name, trace in traces.items() if name not in there]
    click.echo(f"{len(traces)} looked for, {len(lost)} missing", err=True)
    show_all([_record(one) for one in lost], as_json=as_json, none="all of them are in the database")


def _from_log(path: Path, traces: dict[str, Trace]) -> None:
    for line in _lines(path):
        start = line.find("{")
        try:
            said = json.loads(line[start:]) if start >= 0 else None
        except ValueError:
            continue
        if not isinstance(said, dict) or not _UUID.fullmatch(str(said.get("submission"))):
            continue
        name = str(said["submission"]).lower()
        trace = traces.setdefault(name, Trace(name, path.name))
        # The last line says how far it came.
        trace.event, trace.seen_at = said.get("event"), said.get("timestamp")
        trace.track_id = said.get("track_id") or trace.track_id
        trace.tenant_id = said.get("tenant_id") or trace.tenant_id
        trace.environment = said.get("environment") or trace.environment


def _from_list(path: Path, traces: dict[str, Trace]) -> None:
    for line in _lines(path):
        for found in (*_UUID.findall(line), *_E_NCF.findall(line)):
            name = found.upper() if _E_NCF.fullmatch(found) else found.lower()
            traces.setdefault(name, Trace(name, path.name))


def _lines(path: Path) -> Iterator[str]:
    with click.open_file(str(path), encoding="utf-8", errors="replace") as lines:
        yield from lines


def _chunks(names: list[Any]) -> Iterable[list[Any]]:
    return (names[first : first + _CHUNK] for first in range(0, len(names), _CHUNK))


def _record(one: Trace) -> dict[str, Any]:
    is_number = _E_NCF.fullmatch(one.name) is not None
    return {
        "taxLogId": None if is_number else one.name,
        "eNCF": one.name if is_number else None,
        "source": one.source,
        "event": one.event,
        "at": one.seen_at,
        "trackId": one.track_id,
        "tenantId": one.tenant_id,
        "environment": one.environment,
    }
