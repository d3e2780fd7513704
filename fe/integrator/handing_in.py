"""`fe submit` and `fe validate`: handing a document in, and asking what is wrong with it before."""

import hashlib
import sys
import time
from pathlib import Path
from typing import Any

import click

from fe.cli.failures import FAILED, OK, Failure
from fe.cli.printing import json_option, print_json, show
from fe.ecf.json_text import write_canonical_json
from fe.ecf.parse import MalformedJson, parse_json
from fe.integrator.api import ApiSession, opened
from fe.integrator.language import say, terminal_language
from fe.integrator.options import api_options, remark, tell_problems, tell_submission, verdict_code
from fe.lifecycle import FINAL

_BOM = b"\xef\xbb\xbf"
#: So long the API holds an answer back at most (`wait`).
_HELD = 30
#: Where it did not hold it back: so long before it is asked again.
_BETWEEN = 2.0

source_argument = click.argument("source", metavar="FILE")


@click.command()
@source_argument
@api_options
@click.option(
    "--client-request-id",
    "request_id",
    metavar="TEXT",
    help="What this receipt is called by you, say an order's number. By default made from the document.",
)
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
def submit(
    source: str, profile: str, patience: float, request_id: str | None, wait: bool, timeout: float, as_json: bool
) -> int:
    """Hand in the receipt in FILE: JSON or XML, `-` for standard input. The same document twice issues one receipt.

    JSON is a payload, or a whole body of POST /invoices. The clientRequestId is said first, on standard error; unless
    you give one it is a digest of the document, so that this command may be repeated whatever became of it. Two
    receipts that are meant and are alike to the letter need ids of their own: --client-request-id.

    Ends with 0 once it is taken in (with --wait: accepted), 1 when it is refused, 9 when there is no verdict yet.
    """
    body = read_body(source)
    given = request_id or body.get("clientRequestId") or content_id(body)
    body = {**body, "clientRequestId": given}
    remark(f"clientRequestId {given}")
    with opened(profile, patience) as api:
        said = api.post("/invoices", body)
        if said.get("deduped"):
            _tell_repeat(said, str(given))
        if not wait:
            answer = {**said, "clientRequestId": given}
            show(answer, as_json=as_json)
            return OK
        record = wait_for_verdict(api, str(said["taxLogId"]), timeout)
    if as_json:
        print_json(record)
    else:
        tell_submission(record)
    return verdict_code(record)


@click.command()
@source_argument
@api_options
@json_option
def validate(source: str, profile: str, patience: float, as_json: bool) -> int:
    """Ask what is wrong with the document in FILE (JSON or XML, `-` for standard input), and how to mend it.

    Nothing is issued, and no number is used. Ends with 0 when it would be sent, 1 when it would not.
    """
    body = read_body(source)
    with opened(profile, patience) as api:
        said = api.post("/invoices/validate", body)
    if as_json:
        print_json(said)
    else:
        tell_problems(said["problems"])
        click.echo(
            say("it would be sent", "se enviaría") if said["valid"] else say("it would not be sent", "no se enviaría")
        )
    return OK if said["valid"] else FAILED


def read_body(source: str) -> dict[str, Any]:
    """Read a document as the body that hands it in. Raises Failure for what can be none, with line and column."""
    raw = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    name = "-" if source == "-" else Path(source).name
    return body_of(raw, name)


def body_of(raw: bytes, name: str) -> dict[str, Any]:
    """Make the body that hands a document in, XML or JSON; `name` is what to call it in a Failure."""
    raw = raw.removeprefix(_BOM)
    if raw.lstrip()[:1] == b"<":
        try:
            return {"format": "xml", "xml": raw.decode()}
        except UnicodeDecodeError:
            raise Failure(say(f"{name}: not UTF-8", f"{name}: no es UTF-8")) from None
    try:
        value = parse_json(raw)
    except MalformedJson as wrong:
        raise Failure(f"{name}: {wrong.text.said(terminal_language())}") from None
    if not isinstance(value, dict):
        raise Failure(say(f"{name}: should hold one JSON object", f"{name}: debe contener un objeto JSON"))
    return body_around(value)


def body_around(value: dict[str, Any]) -> dict[str, Any]:
    """Make the body that hands a payload in; what is such a body already stays as it is."""
    if "format" in value and ("payload" in value or "xml" in value):
        return value
    return {"format": "structured", "payload": value}


def content_id(body: dict[str, Any]) -> str:
    """Make a clientRequestId from a document, whatever the order of its members and the blanks between them.

    A digest and no uuid: whoever repeats a command after a broken connection, or does not remember whether he gave it,
    gives the same id again without having kept anything, and issues nothing twice. A uuid would be another each time.
    The price is that a second receipt that is meant and is alike to the letter is not issued. That is said, and mended
    with an id; a receipt that is issued twice is mended with a credit note.
    """
    meant = {name: value for name, value in body.items() if name in ("format", "payload", "xml", "asUser", "asUserId")}
    return f"sha256-{hashlib.sha256(write_canonical_json(meant)).hexdigest()}"


def wait_for_verdict(api: ApiSession, tax_log_id: str, seconds: float) -> dict[str, Any]:
    """Ask until there is a verdict, or the time is up; gives the submission as it is then."""
    until = time.monotonic() + seconds
    while True:
        begun = time.monotonic()
        held = max(0, min(_HELD, int(until - begun)))
        record = api.get(f"/invoices/{tax_log_id}", wait=held)
        now = time.monotonic()
        if record["status"] in FINAL or now >= until:
            return record
        if now - begun < _BETWEEN:
            time.sleep(max(0.0, min(_BETWEEN, until - now)))


def _tell_repeat(said: dict[str, Any], given: str) -> None:
    """Say that nothing was issued anew. Raises Failure when what was issued is another document."""
    if not said.get("bodyMatched", True):
        raise Failure(
            say(
                f"nothing was issued: {given} is the clientRequestId of another document, {said['taxLogId']} "
                f"({said['status']})",
                f"no se emitió nada: {given} es el clientRequestId de otro documento, {said['taxLogId']} "
                f"({said['status']})",
            )
        )
    remark(
        say(
            "this document was handed in before: here is the first one, and nothing was issued again "
            "(for one more that is alike: --client-request-id)",
            "este documento ya se había enviado: este es el primero y no se emitió nada de nuevo "
            "(para otro igual: --client-request-id)",
        )
    )
