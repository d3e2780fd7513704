"""`fe submit` and `fe validate`."""

import hashlib
import sys
import time
from pathlib import Path
from typing import Any

import click

from fe.cli.failures import FAILED, OK, Failure
from fe.cli.printing import json_option, show
from fe.ecf.json_text import write_canonical_json
from fe.ecf.parse import MalformedJson, parse_json
from fe.integrator.api import ApiSession, opened
from fe.integrator.language import say, terminal_language
from fe.integrator.options import api_options, print_problems, print_submission, remark, verdict_code
from fe.lifecycle import FINAL

_BOM = b"\xef\xbb\xbf"
#: Longest wait for a verdict in one call (`wait`), in seconds.
_HELD = 30
#: Pause between calls when the API did not wait, in seconds.
_BETWEEN = 2.0

source_argument = click.argument("source", metavar="FILE")


@click.command()
@source_argument
@api_options
@click.option(
    "--client-request-id",
    "request_id",
    metavar="TEXT",
    help="Your own id of this receipt, such as an order number. Default: derived from the document.",
)
@click.option("--sequence", metavar="NAME", help="Draw the number from the sequence with this name.")
@click.option("--notify", metavar="ADDRESS", help="Mail the accepted receipt to this address.")
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
    source: str,
    profile: str,
    patience: float,
    request_id: str | None,
    sequence: str | None,
    notify: str | None,
    wait: bool,
    timeout: float,
    as_json: bool,
) -> int:
    """Submit the receipt in FILE: JSON or XML, `-` for standard input. Submitting it twice issues one receipt.

    JSON is a payload, or a whole body of POST /invoices. The clientRequestId is printed first, on standard error; by
    default it is a digest of the document, so the command may be repeated after any error. Two intended receipts with
    the same content need ids of their own: --client-request-id.

    Exit code 0 once submitted (with --wait: accepted), 1 when rejected, 9 when there is no verdict yet.
    """
    body = read_body(source) | ({} if sequence is None else {"sequence": sequence})
    given = request_id or body.get("clientRequestId") or content_id(body)
    body = {**body, "clientRequestId": given, **({} if notify is None else {"notify": notify})}
    remark(f"clientRequestId {given}")
    with opened(profile, patience) as api:
        said = api.post("/invoices", body)
        if said.get("deduped"):
            _print_repeat(said, str(given))
        if not wait:
            answer = {**said, "clientRequestId": given}
            show(answer, as_json=as_json)
            return OK
        record = wait_for_verdict(api, str(said["taxLogId"]), timeout)
    if as_json:
        show(record, as_json=True)
    else:
        print_submission(record)
    return verdict_code(record)


@click.command()
@source_argument
@api_options
@json_option
def validate(source: str, profile: str, patience: float, as_json: bool) -> int:
    """Validate the document in FILE (JSON or XML, `-` for standard input), and show how to correct it.

    Nothing is issued, and no number is used. Exit code 0 when it could be sent, 1 when it could not.
    """
    body = read_body(source)
    with opened(profile, patience) as api:
        said = api.post("/invoices/validate", body)
    if as_json:
        show(said, as_json=True)
    else:
        print_problems(said["problems"])
        click.echo(
            say("it would be sent", "se enviaría") if said["valid"] else say("it would not be sent", "no se enviaría")
        )
    return OK if said["valid"] else FAILED


def read_body(source: str) -> dict[str, Any]:
    """Read a document as a request body. Raises Failure for an invalid one, with line and column."""
    raw = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    name = "-" if source == "-" else Path(source).name
    return body_of(raw, name)


def body_of(raw: bytes, name: str) -> dict[str, Any]:
    """Make a request body from XML or JSON; `name` is used in Failures."""
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
    """Wrap a payload in a request body; a complete body stays as it is."""
    if "format" in value and ("payload" in value or "xml" in value):
        return value
    return {"format": "structured", "payload": value}


def content_id(body: dict[str, Any]) -> str:
    """Derive a clientRequestId from a document's content, independent of key order and blanks.

    A digest instead of a random id makes a repeated command safe: the same document is issued once. A second receipt
    with exactly the same content needs an explicit id; the command says so.
    """
    names = ("format", "payload", "xml", "asUser", "asUserId", "sequence")
    meant = {name: value for name, value in body.items() if name in names}
    return f"sha256-{hashlib.sha256(write_canonical_json(meant)).hexdigest()}"


def wait_for_verdict(api: ApiSession, tax_log_id: str, seconds: float) -> dict[str, Any]:
    """Poll until there is a verdict or the time is up; return the submission."""
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


def _print_repeat(said: dict[str, Any], given: str) -> None:
    """Report that the receipt existed already. Raises Failure if it is a different document."""
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
