"""`fe certificate`: tenants' certificates."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import click
from cryptography.hazmat.primitives.asymmetric import rsa

from fe.accounts import audited_changes, provision
from fe.accounts.certifiers import examine, read_certifiers
from fe.accounts.expiry import within
from fe.cli.failures import Failure
from fe.cli.operator_options import act, audited, author, by_option
from fe.cli.printing import json_option, moment, print_result, show, show_all
from fe.cli.secrets import passphrase_option, read_passphrase
from fe.cli.session import run_query, run_transaction, settings_with_database, tenant_option, with_database
from fe.clock import system_clock
from fe.ecf.identity import TaxIdKind, tax_id
from fe.ecf.selfmade import self_made, to_p12
from fe.identifiers import CertificateId
from fe.issuing.certificate_choice import Signs, who_signs
from fe.secrets.hsm import open_vault
from fe.store.postgres.db import Conn
from fe.store.records import certificates, tenants
from fe.store.records.certificates import CertificateRecord


@click.group()
def certificate() -> None:
    """Add, list, retire and remove certificates, or make one to try things with."""


@certificate.command()
@click.argument("file", type=click.Path(path_type=Path))
@tenant_option
@click.option("--user", "email", metavar="EMAIL", help="The user who signs with it; without it, the company.")
@passphrase_option
@by_option
@json_option
def add(
    file: Path, tenant_name: str, email: str | None, passphrase_file: Path | None, by_whom: str, as_json: bool
) -> None:
    """Store the .p12 FILE encrypted, and sign with it from now on. The current certificate is retired.

    A renewal that is not valid yet waits; the current one signs until then.

    Warns at once of problems: self-signed, issuer missing in FE_CERTIFIERS_FILE, not made for signing. Where
    FE_REVOCATION_HOSTS allows it, asks whether it was revoked; a revoked one is rejected.
    """
    data = file.read_bytes()
    passphrase = read_passphrase(passphrase_file)
    settings = settings_with_database()
    vault = open_vault(settings)
    certifiers = read_certifiers(settings.certifiers_file)
    examined = examine(data, passphrase, certifiers, settings.hosts_of_revocation(), now=system_clock())

    async def task(conn: Conn) -> CertificateRecord:
        owner = await provision.find_tenant(conn, tenant_name)
        holder = await provision.find_user(conn, owner, email) if email is not None else None
        return await audited_changes.add_certificate(
            conn, author(by_whom), vault, owner, holder, p12=data, passphrase=passphrase, opened=examined.opened
        )

    show(_record(with_database(settings, lambda db: db.transact(task))), as_json=as_json)
    for remark in examined.remarks:
        click.echo(f"fe: this certificate: {remark}", err=True)


@certificate.command("list")
@tenant_option
@click.option("--all", "all_", is_flag=True, help="Also those that were retired, or whose key was destroyed.")
@json_option
def list_(tenant_name: str, all_: bool, as_json: bool) -> None:
    """List the certificates in use, the company's first."""

    async def task(conn: Conn) -> list[CertificateRecord]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await (certificates.every if all_ else certificates.in_use)(conn, owner.tenant_id)

    found = run_query(task)
    now = system_clock()
    records = [{**_record(one), "expiresWithinDays": within(one, now)} for one in found]
    show_all(records, as_json=as_json, none=f"tenant {tenant_name!r} has no certificate")


@certificate.command()
@tenant_option
@json_option
def choice(tenant_name: str, as_json: bool) -> None:
    """Explain which certificate signs what: receipts without a user, and those of each user (asUser)."""

    async def task(conn: Conn) -> list[Signs]:
        owner = await provision.find_tenant(conn, tenant_name)
        records = await certificates.in_use(conn, owner.tenant_id)
        return who_signs(records, await tenants.users_of(conn, owner.tenant_id), system_clock())

    found = run_query(task)
    show_all([_choice(each) for each in found], as_json=as_json, none="there is nothing to sign")


def _choice(found: Signs) -> dict[str, Any]:
    return {
        "asUser": found.user.email if found.user is not None else None,
        "certificateId": str(found.certificate.certificate_id) if found.certificate is not None else None,
        "holder": found.certificate.holder if found.certificate is not None else None,
        "why": found.why.en,
    }


@certificate.command()
@click.argument("certificate_id", type=click.UUID)
@tenant_option
@audited
@json_option
def retire(certificate_id: CertificateId, tenant_name: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Stop signing with CERTIFICATE_ID, without a replacement; `add` replaces it.

    Rejected while documents wait to be signed with it. Later documents that need it end as `error`.
    """
    action = act(by_whom, reason)

    async def task(conn: Conn) -> CertificateRecord:
        owner = await provision.find_tenant(conn, tenant_name)
        return await audited_changes.retire_certificate(conn, author(by_whom, action), owner, certificate_id)

    found = run_transaction(task)
    print_result(f"{certificate_id} is retired: nothing new is signed with it", _record(found), as_json=as_json)


@certificate.command()
@click.argument("certificate_id", type=click.UUID)
@tenant_option
@audited
@json_option
def remove(certificate_id: CertificateId, tenant_name: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Destroy the key of the retired CERTIFICATE_ID. The certificate itself stays, for the documents it signed.

    Rejected while documents that it signed are in progress. This cannot be undone; older copies of the database still
    hold the key, encrypted.
    """
    action = act(by_whom, reason)
    settings = settings_with_database()
    vault = open_vault(settings)

    async def task(conn: Conn) -> tuple[CertificateRecord, bool]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await audited_changes.remove_certificate(conn, author(by_whom, action), vault, owner, certificate_id)

    found, kept = with_database(settings, lambda db: db.transact(task))
    record = {**_record(found), "certificateKept": kept}
    print_result(f"the key of {certificate_id} is destroyed", record, as_json=as_json)
    if not kept:
        click.echo("fe: it did not open, so the certificate is in the documents it signed alone", err=True)


@certificate.command("self-made")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--holder", default="Firmante de Prueba", show_default=True, help="The name in it.")
@click.option("--holder-id", default="00100000008", show_default=True, help="The cédula in it, 11 digits.")
@click.option("--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="How long it is valid.")
@passphrase_option
@json_option
def self_made_(file: Path, holder: str, holder_id: str, days: int, passphrase_file: Path | None, as_json: bool) -> None:
    """Write a new key and a certificate it signed itself to FILE: for the simulated authority, without any value."""
    identity = tax_id(holder_id)
    if identity is None or identity.kind is not TaxIdKind.CEDULA:
        raise Failure("--holder-id is not a cédula: 11 digits")
    if not 1 <= len(holder) <= 64:
        raise Failure("--holder has more than 64 characters, or none")
    if file.exists():
        raise Failure(f"{file} exists already")
    passphrase = read_passphrase(passphrase_file, twice=True)
    now = system_clock()
    made = self_made(
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
        holder=holder,
        holder_id=holder_id,
        not_before=now - timedelta(minutes=5),
        not_after=now + timedelta(days=days),
    )
    file.touch(mode=0o600, exist_ok=False)
    file.write_bytes(to_p12(made, passphrase))
    print_result(
        f"{file}: a certificate without fiscal value for {holder!r}, valid {days} days",
        {"file": str(file), "holder": holder, "holderId": holder_id, "notAfter": moment(now + timedelta(days=days))},
        as_json=as_json,
    )


def _record(found: CertificateRecord) -> dict[str, Any]:
    return {
        "certificateId": str(found.certificate_id),
        "userId": str(found.user_id) if found.user_id else None,
        "holder": found.holder,
        "holderId": found.holder_id,
        "serialNumber": found.serial_number,
        "notBefore": moment(found.not_before),
        "notAfter": moment(found.not_after),
        "retiredAt": moment(found.retired_at),
        "destroyedAt": moment(found.destroyed_at),
    }
