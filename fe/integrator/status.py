"""`fe status`, `fe list` and `fe xml`."""

from pathlib import Path
from typing import Any

import click

from fe.cli.failures import NO_VERDICT, Failure
from fe.cli.printing import json_option, show, show_all
from fe.integrator.api import ApiSession, opened
from fe.integrator.language import say
from fe.integrator.options import api_options, print_submission, remark, verdict_code
from fe.integrator.submission_lookup import ask
from fe.integrator.submit import wait_for_verdict
from fe.lifecycle import FINAL

_PAGE = 200

id_argument = click.argument("wanted", metavar="ID")


@click.command()
@id_argument
@api_options
@click.option("--wait", is_flag=True, help="Wait for the verdict.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, 86_400),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="With --wait: for so long.",
)
@json_option
def status(wanted: str, profile: str, patience: float, wait: bool, timeout: float, as_json: bool) -> int:
    """Show the status of ID: a taxLogId, a trackId, an e-NCF or a clientRequestId; and the meaning of its codes.

    Exit code 0 when accepted, 1 when rejected or failed, 9 when there is no verdict yet, 10 when there is no such
    submission.
    """
    with opened(profile, patience) as api:
        record = ask(api, wanted, remark=remark)
        if wait and record["status"] not in FINAL:
            record = wait_for_verdict(api, str(record["taxLogId"]), timeout)
    if as_json:
        show(record, as_json=True)
    else:
        print_submission(record)
    return verdict_code(record)


@click.command("list")
@api_options
@click.option(
    "--from", "since", metavar="DATE", help="Handed in on this day (YYYY-MM-DD, UTC) or at this moment, or later."
)
@click.option("--to", "until", metavar="DATE", help="Until the end of this day, or this moment.")
@click.option("--state", metavar="STATUS", help="Only in this state: Aceptado, Rechazado, queued, dead-letter ...")
@click.option("--encf", metavar="NUMBER", help="Only of this e-NCF.")
@click.option("--rnc", metavar="DIGITS", help="Only to the buyer with this tax id.")
@click.option("--client-request-id", "request_id", metavar="TEXT", help="Only what you called so.")
@click.option(
    "--limit",
    type=click.IntRange(1, _PAGE),
    default=50,
    show_default=True,
    help="Rows per page, newest first.",
)
@click.option("--page", type=click.IntRange(1), help="This page; the first is 1.")
@click.option("--cursor", metavar="TEXT", help="Continue an earlier list, which printed this cursor.")
@click.option("--all", "everything", is_flag=True, help="All of them, page by page.")
@json_option
def list_(
    profile: str,
    patience: float,
    since: str | None,
    until: str | None,
    state: str | None,
    encf: str | None,
    rnc: str | None,
    request_id: str | None,
    limit: int,
    page: int | None,
    cursor: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """List submissions, newest first. If there may be more, standard error shows how to continue."""
    if sum((everything, page is not None, cursor is not None)) > 1:
        raise click.UsageError("give one of --page, --cursor and --all")
    query: dict[str, str | int | None] = {
        "from": since,
        "to": until,
        "state": state,
        "encf": encf,
        "rnc": rnc,
        "clientRequestId": request_id,
    }
    with opened(profile, patience) as api:
        items, following = _pages(api, query, _PAGE if everything else limit, page, cursor, everything=everything)
    rows = [_row(one) for one in items]
    if not as_json:
        rows = [{name: row[name] for name in _FOR_PEOPLE} for row in rows]
    show_all(rows, as_json=as_json, none=say("nothing was handed in", "no se ha enviado nada"))
    if following is not None:
        remark(say(f"older ones: --cursor {following}", f"lo anterior: --cursor {following}"))


#: Fields of an item that are promised; the table shows the second.
_FIELDS = (
    "taxLogId",
    "trackId",
    "environment",
    "status",
    "eNCF",
    "clientRequestId",
    "qrCodeUrl",
    "submittedAt",
    "updatedAt",
)
_FOR_PEOPLE = ("submittedAt", "eNCF", "status", "taxLogId", "clientRequestId")


def _row(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item.get(name) for name in _FIELDS}


def _pages(
    api: ApiSession,
    query: dict[str, str | int | None],
    limit: int,
    page: int | None,
    cursor: str | None,
    *,
    everything: bool,
) -> tuple[list[dict[str, Any]], str | None]:
    """Return one page, or all of them, and the cursor of the next."""
    items: list[dict[str, Any]] = []
    while True:
        answer = api.get("/invoices", limit=limit, page=page, cursor=cursor, **query)
        items += answer["items"]
        cursor = answer["nextCursor"]
        if not everything or cursor is None:
            return items, cursor


@click.command()
@id_argument
@api_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write it there instead."
)
@json_option
def xml(wanted: str, profile: str, patience: float, output: Path | None, as_json: bool) -> None:
    """Write the signed XML of ID (taxLogId, trackId, e-NCF or clientRequestId), to the letter: it is the legal proof.

    Ends with 9 while it is not signed yet.
    """
    with opened(profile, patience) as api:
        answer = ask(api, wanted, "/xml", remark=remark)
    document = answer["xml"]
    if answer["source"] != "signed":
        raise Failure(
            say(
                f"it is not signed yet (status {answer['status']})",
                f"aún no está firmado (estado {answer['status']})",
            ),
            NO_VERDICT,
        )
    if output is not None:
        output.write_bytes(document.encode())
    if as_json:
        record = {name: answer[name] for name in ("taxLogId", "environment", "status", "source")}
        show(
            {**record, "file": None if output is None else str(output), "xml": None if output else document},
            as_json=True,
        )
    elif output is None:
        click.echo(document.encode(), nl=False)  # bytes: it says of itself that it is UTF-8
