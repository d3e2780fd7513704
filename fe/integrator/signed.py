"""`fe verify` and `fe qr`: check a signed document offline."""

import io
from pathlib import Path

import click
from cryptography import x509

from fe.cli.failures import FAILED, NO_VERDICT, OK, Failure
from fe.cli.printing import json_option, print_result, show_all
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.ecf.document import NotADocument, read_xml
from fe.ecf.parse import MalformedXml
from fe.ecf.problems import serialize_problem
from fe.ecf.qr_code import qr_code
from fe.ecf.signature import BadSignature
from fe.ecf.signature import verify as verify_signature
from fe.integrator.api import opened
from fe.integrator.checks import DocumentCheck, address_of, check_document, code_of, is_good
from fe.integrator.language import say, terminal_language
from fe.integrator.options import api_options, print_problems, remark
from fe.integrator.submission_lookup import ask

environment_option = click.option(
    "--environment",
    type=click.Choice([environment.value for environment in Environment]),
    default=Environment.ECF.value,
    show_default=True,
    help="Environment of the QR page: a document does not name its own.",
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--roots", type=click.Path(path_type=Path), metavar="PEM", help="Certificates of the certifiers that you trust."
)
@click.option("--qr", "printed", metavar="URL", help="The address in a printed QR code: is it this document's?")
@environment_option
@json_option
def verify(file: Path, roots: Path | None, printed: str | None, environment: str, as_json: bool) -> int:
    """Check the signed XML in FILE offline: a line for each check, exit code 1 if any fails.

    Checks the signature; the certificate's dates at signing, and with --roots its issuer; the authority's format and
    rules; security code and QR address. The authority's own view is at the QR address, or in `fe status`.
    """
    found = check_document(
        file.read_bytes(),
        now=system_clock(),
        roots=None if roots is None else _read_roots(roots),
        environment=Environment(environment),
        printed=printed,
    )
    if as_json:
        show_all([_record(one) for one in found], as_json=True, none="")
    else:
        _print(found)
    return OK if is_good(found) else FAILED


@click.command()
@click.argument("wanted", metavar="FILE|ID")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw it there: .png or .svg.",
)
@environment_option
@api_options
@json_option
def qr(wanted: str, output: Path | None, environment: str, profile: str, patience: float, as_json: bool) -> None:
    """Print the address for a receipt's QR code and draw it, here or in a file.

    FILE is a signed XML, read offline; an ID is looked up with the API.
    """
    if output is not None and output.suffix.lower() not in (".png", ".svg"):
        raise click.UsageError("-o draws .png and .svg")
    if Path(wanted).is_file():
        address = _address_in(Path(wanted), Environment(environment))
    else:
        with opened(profile, patience) as api:
            address = ask(api, wanted, remark=remark)["qrCodeUrl"]
        if address is None:
            raise Failure(say("it is not signed yet", "aún no está firmado"), NO_VERDICT)
    drawn = qr_code(address)
    if output is not None:
        drawn.save(str(output), scale=8, border=4)
    print_result(address, {"qrCodeUrl": address, "file": None if output is None else str(output)}, as_json=as_json)
    if output is None and not as_json:
        picture = io.StringIO()
        drawn.terminal(out=picture, compact=True, border=2)
        click.echo(picture.getvalue(), nl=False)


def _address_in(file: Path, environment: Environment) -> str:
    try:
        verified = verify_signature(file.read_bytes())
        document = read_xml(verified.root)
    except (MalformedXml, BadSignature, NotADocument) as wrong:
        raise Failure(f"{file}: {wrong}") from None
    code = code_of(document, verified)
    if code is None:
        raise Failure(say(f"{file}: {document.root} has no QR code", f"{file}: {document.root} no lleva QR"))
    return address_of(document, verified.root, code, environment)


def _read_roots(file: Path) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(file.read_bytes())
    except ValueError:
        raise Failure(say(f"{file}: holds no certificates in PEM", f"{file}: no contiene certificados PEM")) from None


_MARKS = {"ok": "ok", "failed": "FAIL", "skipped": "skip"}


def _print(found: list[DocumentCheck]) -> None:
    width = max(len(one.check) for one in found)
    for one in found:
        click.echo(f"{_MARKS[one.state]:<4}  {one.check:<{width}}  {one.says}")
    spanish = terminal_language() == "es"
    problems = [serialize_problem(problem) for one in found for problem in one.problems]
    for problem in problems:
        if spanish:
            problem["message"] = problem["messageEs"]
            if "fixEs" in problem:
                problem["fix"] = problem["fixEs"]
    print_problems(problems)


def _record(one: DocumentCheck) -> dict[str, object]:
    problems = [serialize_problem(problem) for problem in one.problems]
    return {"check": one.check, "state": one.state, "says": one.says, "problems": problems}
