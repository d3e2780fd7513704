"""`fe certification addresses`: play the authority against a receiver's addresses before it does (steps 7 to 11)."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import trio

from fe.accounts import audited_changes, provision
from fe.actors.credentials import CannotOpen, Opened, SigningCredentials
from fe.certification.address_checks import AddressCheck, CheckState, EnteredAddresses
from fe.certification.reception_samples import ApprovedReceipt, approved_receipt
from fe.cli.failures import FAILED, OK, USAGE, Failure
from fe.cli.operator_options import author, by_option
from fe.cli.printing import json_option, show_all
from fe.cli.secrets import passphrase_option, read_passphrase
from fe.cli.session import settings_with_database, with_database
from fe.clock import system_clock
from fe.config import Settings, load_settings
from fe.config.start_checks import read_certificates
from fe.counterparty.address_check import AuthorityPart, check_addresses, passed
from fe.ecf.certificate import open_p12
from fe.ecf.parse import MalformedXml
from fe.ecf.signature import Signer
from fe.egress.client import Egress
from fe.egress.configured import egress_from_settings, policy_from_settings
from fe.integrator.language import say, terminal_language
from fe.issuing.certificate_choice import choose_certificate
from fe.secrets.hsm import open_vault
from fe.store.postgres.db import Database
from fe.store.queue.inputs import Candidate
from fe.store.records import certification as records
from fe.store.records import evidence, tenant_context
from fe.store.records.certification import RunKind
from fe.store.records.tenants import Tenant

_MARKS = {CheckState.OK: "ok", CheckState.WARNING: "warn", CheckState.FAILED: "FAIL", CheckState.SKIPPED: "skip"}


@click.command()
@click.argument("reception", metavar="ADDRESS")
@click.option("--approval", metavar="ADDRESS", help="Where approvals are received; default: ADDRESS.")
@click.option("--authentication", metavar="ADDRESS", help="Where tokens are given, if the portal is told one.")
@click.option("--tenant", "tenant_name", metavar="NAME", help="The tenant that receives; its certificate signs.")
@click.option("--rnc", metavar="RNC", help="The receiver's RNC; without a tenant.")
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A .p12 file that signs; without it, the tenant's certificate.",
)
@passphrase_option
@click.option("--issuer", metavar="RNC", help="Issuer of the receipts that are sent; default: the receiver itself.")
@click.option(
    "--receipt",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A receipt (XML) that the receiver issued, to be approved; default: one of its simulation or set.",
)
@click.option("--private", is_flag=True, help="Go on where the address is of a private network: a rehearsal.")
@by_option
@json_option
def addresses(
    reception: str,
    approval: str | None,
    authentication: str | None,
    tenant_name: str | None,
    rnc: str | None,
    certificate: Path | None,
    passphrase_file: Path | None,
    issuer: str | None,
    receipt: Path | None,
    private: bool,
    by_whom: str,
    as_json: bool,
) -> int:
    """Try the reception at ADDRESS as the authority does: seed, token, e-CF and approvals, good and bad.

    ADDRESS is what the portal is told: host and path, of certecf or testecf. Exit code 1 when a check failed.
    """
    entered = EnteredAddresses(reception, approval or reception, authentication)
    if (tenant_name is None) == (rnc is None) or (tenant_name is None and certificate is None):
        raise Failure("give --tenant, or --rnc and --certificate", USAGE)
    settings = load_settings() if tenant_name is None else settings_with_database()
    policy = replace(policy_from_settings(settings), own_hosts=(), own_addresses=(), own_ports=(), any_address=private)
    egress = egress_from_settings(settings, policy)
    signer = None if certificate is None else _signer(certificate, passphrase_file)
    raw = None if receipt is None else receipt.read_bytes()
    if tenant_name is None:
        assert rnc is not None
        assert signer is not None
        given = None if raw is None else _approved(raw, rnc)
        part = _part(settings, signer, rnc, {}, issuer, given)
        return _told(trio.run(_checked, entered, part, egress), as_json=as_json)
    by = author(by_whom)

    async def work(db: Database) -> list[AddressCheck]:
        owner = await db.run(provision.find_tenant, tenant_name)
        own = str(owner.issuer["RNCEmisor"])
        signs = signer or (await _of_tenant(db, settings, owner)).signer
        known = await _accepted(db, owner, own) if raw is None else _approved(raw, own)
        part = _part(settings, signs, own, owner.issuer, issuer, known)
        shown = {"reception": entered.reception, "approval": entered.approval, "authentication": authentication}
        await db.transact(audited_changes.note, owner, by, "certification addresses checked", reception, None, shown)
        return await _checked(entered, part, egress)

    return _told(with_database(settings, work), as_json=as_json)


async def _checked(entered: EnteredAddresses, part: AuthorityPart, egress: Egress) -> list[AddressCheck]:
    return await check_addresses(entered, part, egress, now=system_clock())


def _part(
    settings: Settings,
    signer: Signer,
    rnc: str,
    own: dict[str, Any],
    issuer: str | None,
    approved: ApprovedReceipt | None,
) -> AuthorityPart:
    sender = {
        "RNCEmisor": issuer or rnc,
        "RazonSocialEmisor": str(own.get("RazonSocialEmisor", "Prueba de recepcion")),
        "DireccionEmisor": str(own.get("DireccionEmisor", "Prueba de recepcion")),
    }
    path = settings.reception_roots
    roots = None if path is None else read_certificates("FE_RECEPTION_ROOTS", path)
    return AuthorityPart(signer, sender, rnc, approved, roots)


def _signer(file: Path, passphrase_file: Path | None) -> Signer:
    return Signer(open_p12(file.read_bytes(), read_passphrase(passphrase_file)))


async def _of_tenant(db: Database, settings: Settings, owner: Tenant) -> Opened:
    candidates = await db.run(tenant_context.candidates, owner.tenant_id)
    return await open_certificate(
        db, settings, owner, choose_certificate(candidates, as_user=None, as_user_id=None, now=system_clock())
    )


async def open_certificate(db: Database, settings: Settings, owner: Tenant, chosen: Candidate) -> Opened:
    """Open a certificate of a tenant. Raises Failure."""
    credentials = SigningCredentials(db, open_vault(settings), trio.CapacityLimiter(1))
    try:
        return await credentials.get(owner.tenant_id, chosen.certificate_id)
    except CannotOpen as closed:
        raise Failure(str(closed)) from closed


def _approved(raw: bytes, rnc: str) -> ApprovedReceipt:
    try:
        found = approved_receipt(raw, rnc)
    except MalformedXml as wrong:
        raise Failure(f"the receipt is no XML: {wrong}") from None
    if found is None:
        raise Failure(f"the receipt should be an e-CF 31, 33, 34, 44 or 45 that {rnc} issued to a buyer with an RNC")
    return found


async def _accepted(db: Database, owner: Tenant, rnc: str) -> ApprovedReceipt | None:
    """Find a receipt of the simulation or the set that was accepted, and that a buyer may approve."""
    for kind in (RunKind.SIMULATION, RunKind.SET):
        run = await db.run(records.open_run, owner.tenant_id, kind)
        for case in [] if run is None else await db.run(records.cases, owner.tenant_id, run.run_id):
            found = None
            if case.submission_id is not None and case.is_through:
                found = await db.transact(evidence.read, case.submission_id)
            for document in [] if found is None else found.documents:
                if document.kind == "signed" and (receipt := approved_receipt(document.content, rnc)) is not None:
                    return receipt
    return None


def _told(checks: list[AddressCheck], *, as_json: bool) -> int:
    if as_json:
        show_all([record_of(check) for check in checks], as_json=True, none="")
        return OK if passed(checks) else FAILED
    language = terminal_language()
    width = max(len(check.title.said(language)) for check in checks)
    for check in checks:
        title = check.title.said(language)
        click.echo(f"{_MARKS[check.state]:<4}  {check.step:>2}  {title:<{width}}  {check.says.said(language)}")
        if check.to_do is not None:
            click.echo(f"          {'':<{width}}  -> {check.to_do.said(language)}")
    count = Counter(check.state for check in checks)
    failed, warned = count[CheckState.FAILED], count[CheckState.WARNING]
    click.echo(
        say(
            f"{len(checks)} checks: {failed} failed, {warned} with a warning",
            f"{len(checks)} revisiones: {failed} con falla, {warned} con aviso",
        )
    )
    return OK if passed(checks) else FAILED


def record_of(check: AddressCheck) -> dict[str, Any]:
    """Show a check to programs, in both languages."""
    return {
        "check": check.name,
        "step": check.step,
        "address": check.address,
        "state": check.state,
        "title": check.title.en,
        "titleEs": check.title.es,
        "says": check.says.en,
        "saysEs": check.says.es,
        "toDo": None if check.to_do is None else check.to_do.en,
        "toDoEs": None if check.to_do is None else check.to_do.es,
    }
