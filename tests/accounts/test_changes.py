"""Changes of tenants, and removal of users and certificates: refusals, kept evidence, deleted data."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
import trio
from cryptography import x509

from fe.accounts import audited_changes, changes, keys, provision, sequences
from fe.accounts.audited_changes import Author
from fe.accounts.provision import BadIssuer, NameTaken, ProvisioningRefused, Unknown
from fe.accounts.sequences import BadSequence
from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.ecf.selfmade import to_p12
from fe.identifiers import ActionId, CertificateId, TenantId
from fe.lifecycle import Stage
from fe.secrets.vault import Vault
from fe.store.portal import changes as book
from fe.store.postgres.db import Conn, Database
from fe.store.queue import outbox
from fe.store.queue.audit import OperatorAction
from fe.store.records import certificates, issuers, receivers, submissions, tenant_context, tenants
from fe.store.records.certificates import CertificateRecord
from fe.store.records.issuers import Standing
from fe.store.records.receivers import Receiver
from fe.store.records.sequences import Sequence
from fe.store.records.tenants import Tenant, User
from tests.factories.companies import VAULT, company_credential
from tests.factories.tenants import ISSUER, make_submission, new_submission, row, rows, take
from tests.http.front import PEPPER, make_key
from tests.waiting import until_waited_for

NOW = datetime(2026, 11, 6, 12, tzinfo=UTC)
TODAY = NOW.date()


def act(reason: str = "as agreed") -> Author:
    return Author("ana", NOW, "cli", operator=OperatorAction(ActionId(new_id(NOW)), NOW, "ana", reason))


@pytest.fixture
async def tenant(operator_db: Database) -> Tenant:
    return await operator_db.transact(provision.create_tenant, "Ozama", ISSUER, today=TODAY)


async def update(db: Database, tenant: Tenant, **what: Any) -> Tenant:
    return await db.transact(changes.update_tenant, tenant, today=TODAY, **what)


async def make_user(db: Database, tenant: Tenant, email: str, override: Mapping[str, Any] | None = None) -> User:
    return await db.transact(provision.create_user, tenant, email, override, now=NOW)


async def add(db: Database, tenant: Tenant, user: User | None = None, vault: Vault = VAULT) -> CertificateId:
    """A certificate, added as an operator adds it."""
    opened, passphrase = company_credential(), "only for trying"

    async def task(conn: Conn) -> CertificateId:
        made = await provision.add_certificate(
            conn, vault, tenant, user, p12=to_p12(opened, passphrase), passphrase=passphrase, opened=opened, now=NOW
        )
        return made.certificate_id

    return await db.transact(task)


async def retire(db: Database, tenant: Tenant, certificate: CertificateId) -> None:
    await db.transact(audited_changes.retire_certificate, act(), tenant, certificate)


async def remove(db: Database, tenant: Tenant, certificate: CertificateId, vault: Vault = VAULT) -> bool:
    _, kept = await db.transact(audited_changes.remove_certificate, act(), vault, tenant, certificate)
    return kept


async def audited(db: Database) -> list[str]:
    """Return the audit trail, with operators' actions by name, and the tenant's changes."""
    found = await rows(db, "SELECT entry::jsonb AS entry FROM audit_trail ORDER BY number")
    return [
        each["entry"]["row"]["action"] if each["entry"]["act"] == "operator_actions insert" else each["entry"]["act"]
        for each in found[1:]
        if each["entry"]["act"] != "tenant_changes insert"
    ]


# --- tenants ----------------------------------------------------------------------------------------------------------


async def test_only_what_is_named_of_a_tenant_is_changed(operator_db: Database, db: Database, tenant: Tenant) -> None:
    named = await update(operator_db, tenant, name="Río Ozama", consumer_summary="off")
    assert (named.name, named.consumer_summary, named.issuer) == ("Río Ozama", "off", ISSUER)

    moved = await update(operator_db, named, issuer={"DireccionEmisor": "Calle 2", "NombreComercial": "Ozama"})
    assert moved.issuer == {**ISSUER, "DireccionEmisor": "Calle 2", "NombreComercial": "Ozama"}
    assert (await update(operator_db, moved, issuer={"NombreComercial": None})).issuer == {
        **ISSUER,
        "DireccionEmisor": "Calle 2",
    }
    assert await audited(db) == ["tenants insert", *["tenants update"] * 3]


async def test_a_change_that_no_document_could_carry_is_refused_and_changes_nothing(
    operator_db: Database, tenant: Tenant
) -> None:
    await operator_db.transact(provision.create_tenant, "Yaque", ISSUER, today=TODAY)
    await make_user(operator_db, tenant, "ana@ozama.example", {"Municipio": "010101"})

    with pytest.raises(NameTaken):
        await update(operator_db, tenant, name="Yaque", consumer_summary="off")
    with pytest.raises(BadIssuer, match="RazonSocialEmisor"):
        await update(operator_db, tenant, issuer={"RazonSocialEmisor": None})
    with pytest.raises(BadIssuer, match="RNCEmisor"):
        await update(operator_db, tenant, issuer={"RNCEmisor": "12"})
    assert await operator_db.run(tenants.by_name, "Ozama") == tenant


async def test_the_rnc_is_corrected_until_the_first_document_and_not_while_suppliers_use_it(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    receiver = Receiver(tenant.tenant_id, Environment.ECF, "131880738", False)
    await operator_db.run(receivers.open_reception, receiver)
    with pytest.raises(ProvisioningRefused, match="close its reception first"):
        await update(operator_db, tenant, issuer={"RNCEmisor": "101000001"})
    await operator_db.run(receivers.close_reception, tenant.tenant_id, Environment.ECF, "131880738")

    corrected = await update(operator_db, tenant, issuer={"RNCEmisor": "101000001"})
    assert corrected.issuer["RNCEmisor"] == "101000001"
    assert (await row(db, "SELECT rnc FROM tenant_rncs"))["rnc"] == "101000001"

    await make_submission(db, tenant.tenant_id)
    with pytest.raises(ProvisioningRefused, match="another RNC is another taxpayer"):
        await update(operator_db, corrected, issuer={"RNCEmisor": "131880738"})
    assert (await update(operator_db, corrected, issuer={"DireccionEmisor": "Calle 2"})).issuer["RNCEmisor"]


async def test_of_two_who_change_a_tenant_at_once_neither_takes_back_what_the_other_changed(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    """A command and the portal's form: both had read the tenant before either wrote it."""

    async def second() -> None:
        await operator_db.transact(audited_changes.update_tenant, act(), tenant, issuer={"NombreComercial": "Ozama"})

    async def first(conn: Conn, nursery: trio.Nursery) -> None:
        await audited_changes.update_tenant(conn, act(), tenant, issuer={"DireccionEmisor": "Calle 2"})
        nursery.start_soon(second)
        await until_waited_for(db)

    async with trio.open_nursery() as nursery:
        await operator_db.transact(first, nursery)

    found = await operator_db.run(tenants.by_id, tenant.tenant_id)
    assert found is not None
    assert found.issuer == {**ISSUER, "DireccionEmisor": "Calle 2", "NombreComercial": "Ozama"}


async def test_key_rolled_by_two_at_once_has_one_successor(operator_db: Database, db: Database, tenant: Tenant) -> None:
    made = await make_key(db, tenant.tenant_id)
    refused: list[str] = []

    def roll(conn: Conn, at: datetime) -> Awaitable[object]:
        by, overlap = Author("ana", at, "cli"), timedelta(hours=2)
        return audited_changes.roll_key(conn, by, tenant, made.api_key_id, overlap=overlap, pepper=PEPPER, pepper_id="")

    async def second() -> None:
        """It took the time first, and locks the key last."""
        with pytest.raises(ProvisioningRefused) as caught:
            await operator_db.transact(roll, NOW - timedelta(seconds=1))
        refused.append(caught.value.text.en)

    async def first(conn: Conn, nursery: trio.Nursery) -> None:
        await roll(conn, NOW)
        nursery.start_soon(second)
        await until_waited_for(db, lambda: refused)

    async with trio.open_nursery() as nursery:
        await operator_db.transact(first, nursery)

    assert "create a new key" in refused[0]
    assert len(await rows(db, "SELECT 1 AS n FROM api_keys")) == 2


# --- users ------------------------------------------------------------------------------------------------------------


async def test_a_user_that_is_removed_is_found_no_more_and_what_it_signed_still_names_it(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    override = {"RNCEmisor": "101000001"}
    user = await make_user(operator_db, tenant, "ana@ozama.example", override)
    certificate = await add(operator_db, tenant, user)
    signed = await make_submission(db, tenant.tenant_id, stage=Stage.SEND, certificate_id=certificate)
    with pytest.raises(ProvisioningRefused, match="has a certificate in use: retire it first"):
        await operator_db.transact(audited_changes.remove_user, act(), tenant, user)
    await retire(operator_db, tenant, certificate)

    await operator_db.transact(audited_changes.remove_user, act(), tenant, user)

    assert await operator_db.run(tenants.users_of, tenant.tenant_id) == []
    with pytest.raises(Unknown):
        await operator_db.run(provision.find_user, tenant, "ana@ozama.example")
    context = await db.run(
        tenant_context.tenant_context, tenant.tenant_id, Environment.ECF, user.user_id, None, None, NOW
    )
    assert (context.user_is_known, context.own_rncs) == (False, frozenset({"131880738"}))
    assert await db.run(issuers.standing, tenant.tenant_id, "101000001") is Standing.FOREIGN
    named = await row(
        db,
        "SELECT u.email FROM submissions AS s JOIN certificates AS c USING (tenant_id, certificate_id)"
        " JOIN users AS u ON u.tenant_id = c.tenant_id AND u.user_id = c.user_id WHERE s.submission_id = %(s)s",
        s=signed,
    )
    assert named == {"email": "ana@ozama.example"}
    again = await make_user(operator_db, tenant, "Ana@ozama.example")
    assert again.user_id != user.user_id
    with pytest.raises(Unknown):
        await operator_db.transact(audited_changes.remove_user, act(), tenant, user)
    assert (await audited(db))[-3:] == ["users update", "user remove", "users insert"]


async def give_certificate(db: Database, tenant: Tenant, user: User) -> CertificateRecord:
    opened, passphrase = company_credential(), "only for trying"
    p12 = to_p12(opened, passphrase)
    return await db.transact(
        audited_changes.add_certificate, act(), VAULT, tenant, user, p12=p12, passphrase=passphrase, opened=opened
    )


async def test_a_user_that_was_removed_meanwhile_gets_no_certificate(operator_db: Database, tenant: Tenant) -> None:
    """The user may be removed while the certifier is asked; the certificate would become the company's."""
    user = await make_user(operator_db, tenant, "ana@ozama.example")
    await operator_db.transact(audited_changes.remove_user, act(), tenant, user)
    await make_user(operator_db, tenant, "ana@ozama.example")  # another, though the address is the same

    with pytest.raises(Unknown, match="has no user"):
        await give_certificate(operator_db, tenant, user)

    assert await operator_db.run(certificates.in_use, tenant.tenant_id) == []


async def test_a_user_is_not_removed_while_it_gets_a_certificate(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    user = await make_user(operator_db, tenant, "ana@ozama.example")
    said: list[str] = []

    async def removing() -> None:
        try:
            await operator_db.transact(audited_changes.remove_user, act(), tenant, user)
        except ProvisioningRefused as refused:
            said.append(str(refused))

    async def adding(conn: Conn, nursery: trio.Nursery) -> None:
        await tenants.locked(conn, tenant.tenant_id)  # as the portal does, before it writes anything
        nursery.start_soon(removing)
        await until_waited_for(db, lambda: said)
        opened, passphrase = company_credential(), "only for trying"
        p12 = to_p12(opened, passphrase)
        await audited_changes.add_certificate(
            conn, act(), VAULT, tenant, user, p12=p12, passphrase=passphrase, opened=opened
        )

    async with trio.open_nursery() as nursery:
        await operator_db.transact(adding, nursery)

    assert ["retire it first" in each for each in said] == [True]


@pytest.mark.parametrize("asked", ["as_user", "as_user_id"])
async def test_a_user_is_not_removed_while_a_document_waits_to_be_signed_as_it(
    operator_db: Database, db: Database, tenant: Tenant, asked: str
) -> None:
    user = await make_user(operator_db, tenant, "ana@ozama.example")
    named: Any = user.user_id if asked == "as_user_id" else "ANA@ozama.example"
    waiting = await make_submission(db, tenant.tenant_id, **{asked: named})
    await make_submission(db, tenant.tenant_id, as_user="somebody@else.example")

    with pytest.raises(ProvisioningRefused, match="1 document waits to be signed as"):
        await operator_db.transact(audited_changes.remove_user, act(), tenant, user)

    await rows(db, "DELETE FROM outbox WHERE subject = %(s)s", s=waiting)
    await operator_db.transact(audited_changes.remove_user, act(), tenant, user)


# --- sequences --------------------------------------------------------------------------------------------------------


async def test_numbers_that_are_drawn_while_a_sequence_is_set_are_not_on_record_as_changed(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    def setting(**what: Any) -> Callable[[Conn], Awaitable[Sequence]]:
        return lambda conn: audited_changes.put_sequence(conn, act(), tenant, Environment.ECF, "E31", **what)

    await operator_db.transact(setting())

    async def drawing(conn: Conn, nursery: trio.Nursery) -> None:
        new = new_submission(tenant.tenant_id, e_ncf=None, draw_prefix="E31")
        assert (await submissions.accept(conn, new, NOW)).e_ncf == "E310000000001"
        nursery.start_soon(operator_db.transact, setting(is_active=False))
        await until_waited_for(db)

    async with trio.open_nursery() as nursery:
        await db.transact(drawing, nursery)

    kept = await db.run(book.latest, tenant.tenant_id, limit=9)
    assert [(one.before, one.after) for one in kept if one.before] == [({"isActive": True}, {"isActive": False})]


async def test_sequence_of_an_agent_is_deleted_only_after_it_was_released(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    key, of = "E31/Caja 1", (tenant.tenant_id, Environment.ECF)

    async def reserve(agent: UUID | None) -> None:
        await db.transact(sequences.reserve, *of, key, agent, now=NOW)

    async def delete() -> bool:
        return await operator_db.transact(audited_changes.delete_sequence, act(), tenant, Environment.ECF, key)

    await db.transact(sequences.put, *of, key, minimum=5001, maximum=6000, now=NOW)
    await reserve(uuid4())
    with pytest.raises(BadSequence, match="those of agent"):
        await delete()
    await reserve(None)
    assert await delete()


# --- beside a change of the tenant ------------------------------------------------------------------------------------


async def test_a_key_is_revoked_and_a_dead_letter_booked_while_somebody_changes_their_tenant(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    """Both name the tenant by a foreign key; and who revokes holds the audit trail, which the change waits for."""
    made = await operator_db.transact(audited_changes.create_key, act(), tenant, Environment.ECF, pepper=bytes(32))
    work = await take(db, await make_submission(db, tenant.tenant_id))
    done: list[object] = []

    async def revoking() -> None:
        done.append(await operator_db.transact(audited_changes.revoke_key, act(), tenant, made.record.api_key_id))
        done.append(await db.run(outbox.dead_letter, [work], at=NOW, errors=["x"]))

    async def changing(conn: Conn, nursery: trio.Nursery) -> None:
        await tenants.locked(conn, tenant.tenant_id)
        nursery.start_soon(revoking)
        await until_waited_for(db, lambda: len(done) == 2)
        await audited_changes.update_tenant(conn, act(), tenant, issuer={"DireccionEmisor": "Calle 2"})
        assert done == [True, [True]], "they wait for nobody"

    async with trio.open_nursery() as nursery:
        await operator_db.transact(changing, nursery)


async def test_who_holds_the_audit_trail_does_not_wait_for_a_change_that_waits_for_it(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    made = await operator_db.transact(audited_changes.create_key, act(), tenant, Environment.ECF, pepper=bytes(32))

    async def changing() -> None:
        await operator_db.transact(audited_changes.update_tenant, act(), tenant, issuer={"DireccionEmisor": "Calle 2"})

    async def revoking(conn: Conn, nursery: trio.Nursery) -> None:
        await keys.revoke_key(conn, tenant.tenant_id, made.record.api_key_id, NOW)
        nursery.start_soon(changing)
        await until_waited_for(db)
        await audited_changes.note(conn, tenant, act(), "key revoked", made.record.api_key_id, None, None)

    async with trio.open_nursery() as nursery:
        await operator_db.transact(revoking, nursery)

    found = await operator_db.run(tenants.by_id, tenant.tenant_id)
    assert found is not None
    assert found.issuer["DireccionEmisor"] == "Calle 2"


# --- certificates -----------------------------------------------------------------------------------------------------


async def test_a_certificate_is_not_retired_while_documents_wait_to_be_signed_with_it(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    user = await make_user(operator_db, tenant, "ana@ozama.example")
    company, hers = await add(operator_db, tenant), await add(operator_db, tenant, user)
    nobodys = await make_submission(db, tenant.tenant_id)

    with pytest.raises(ProvisioningRefused, match="1 document waits to be signed with it"):
        await retire(operator_db, tenant, company)
    await retire(operator_db, tenant, hers)  # the company signs receipts without a user

    hers = await add(operator_db, tenant, user)
    as_her = await make_submission(db, tenant.tenant_id, as_user="ana@ozama.example")
    with pytest.raises(ProvisioningRefused, match="1 document waits"):
        await retire(operator_db, tenant, hers)
    # Given up before it was signed, an operator may still set it going again.
    await rows(
        db,
        "WITH gone AS (DELETE FROM outbox WHERE subject = %(s)s RETURNING *)"
        " INSERT INTO dead_letters (tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at,"
        " died_at, error) SELECT tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at,"
        " now(), 'x' FROM gone",
        s=as_her,
    )
    with pytest.raises(ProvisioningRefused, match="1 document waits"):
        await retire(operator_db, tenant, hers)
    await rows(db, "DELETE FROM dead_letters")
    await retire(operator_db, tenant, hers)

    successor = await add(operator_db, tenant)
    assert {one.certificate_id for one in await db.run(certificates.in_use, tenant.tenant_id)} == {successor}, (
        "another in its place may come at any time"
    )
    await rows(db, "DELETE FROM outbox WHERE subject = %(s)s", s=nobodys)
    await retire(operator_db, tenant, successor)
    with pytest.raises(ProvisioningRefused, match="retired already"):
        await retire(operator_db, tenant, successor)
    with pytest.raises(Unknown):
        await retire(operator_db, tenant, CertificateId(uuid4()))


async def test_the_only_user_s_certificate_is_needed_by_what_names_nobody(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    user = await make_user(operator_db, tenant, "ana@ozama.example")
    hers = await add(operator_db, tenant, user)
    await make_submission(db, tenant.tenant_id)

    with pytest.raises(ProvisioningRefused, match="1 document waits to be signed with it"):
        await retire(operator_db, tenant, hers)


async def test_a_certificate_that_acknowledges_what_suppliers_send_is_not_retired(
    operator_db: Database, tenant: Tenant
) -> None:
    user = await make_user(operator_db, tenant, "ana@ozama.example")
    company, hers = await add(operator_db, tenant), await add(operator_db, tenant, user)
    await operator_db.run(receivers.open_reception, Receiver(tenant.tenant_id, Environment.ECF, "131880738", False))

    await retire(operator_db, tenant, hers)
    with pytest.raises(ProvisioningRefused, match="it signs acknowledgements to suppliers"):
        await retire(operator_db, tenant, company)
    await add(operator_db, tenant, user)
    await retire(operator_db, tenant, company)  # the only user acknowledges now


async def test_of_two_that_are_retired_at_once_the_last_one_stays(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    """Each alone could be done without; the second sees what the first has left."""
    user = await make_user(operator_db, tenant, "ana@ozama.example")
    company, hers = await add(operator_db, tenant), await add(operator_db, tenant, user)
    await operator_db.run(receivers.open_reception, Receiver(tenant.tenant_id, Environment.ECF, "131880738", False))
    said: list[str] = []

    async def second() -> None:
        try:
            await retire(operator_db, tenant, company)
            said.append("retired")
        except ProvisioningRefused:
            said.append("refused")

    async def first(conn: Conn, nursery: trio.Nursery) -> None:
        await audited_changes.retire_certificate(conn, act(), tenant, hers)
        nursery.start_soon(second)
        await until_waited_for(db, lambda: said)

    async with trio.open_nursery() as nursery:
        await operator_db.transact(first, nursery)

    assert said == ["refused"]


@pytest.mark.parametrize("stage", [Stage.SEND, Stage.TRACK, Stage.RECONCILE])
async def test_a_key_is_not_destroyed_while_what_it_signed_is_on_its_way(
    operator_db: Database, db: Database, tenant: Tenant, stage: Stage
) -> None:
    certificate = await add(operator_db, tenant)
    with pytest.raises(ProvisioningRefused, match="is in use: retire it first"):
        await remove(operator_db, tenant, certificate)
    under_way = await make_submission(db, tenant.tenant_id, stage=stage, certificate_id=certificate)
    await retire(operator_db, tenant, certificate)

    with pytest.raises(ProvisioningRefused, match="1 document waits for the authority's word"):
        await remove(operator_db, tenant, certificate)
    assert await db.run(certificates.encrypted, tenant.tenant_id, certificate) is not None

    await rows(db, "DELETE FROM outbox WHERE subject = %(s)s", s=under_way)
    assert await remove(operator_db, tenant, certificate)


async def test_a_key_is_not_destroyed_while_somebody_signs_or_hands_on(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    certificate = await add(operator_db, tenant)
    signing = await make_submission(db, tenant.tenant_id)
    await take(db, signing)
    await add(operator_db, tenant)
    with pytest.raises(ProvisioningRefused, match="1 document waits"):
        await remove(operator_db, tenant, certificate)
    await rows(db, "UPDATE outbox SET holder = NULL")

    accepted = await make_submission(db, tenant.tenant_id, stage=Stage.TRACK, certificate_id=certificate)
    await rows(db, "DELETE FROM outbox WHERE subject = %(s)s", s=accepted)
    await rows(
        db,
        "INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, run_at)"
        f" VALUES ({tenant.tenant_id}, '{accepted}', 'pass_on', 'ecf', now())",
    )
    with pytest.raises(ProvisioningRefused, match="1 document waits"):
        await remove(operator_db, tenant, certificate)
    await rows(db, "DELETE FROM counterparty_outbox")
    assert await remove(operator_db, tenant, certificate)


async def test_of_a_destroyed_key_nothing_is_left_and_the_certificate_is_kept(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    certificate = await add(operator_db, tenant)
    await rows(db, "UPDATE certificates SET x509 = NULL")  # as one that the release before has stored
    await retire(operator_db, tenant, certificate)

    assert await remove(operator_db, tenant, certificate)

    kept = await row(db, "SELECT p12, passphrase, x509, destroyed_at, retired_at FROM certificates")
    assert (kept["p12"], kept["passphrase"]) == (None, None)
    assert x509.load_der_x509_certificate(bytes(kept["x509"])) == company_credential().certificate
    assert kept["destroyed_at"] == kept["retired_at"] == NOW
    with pytest.raises(CannotOpen, match="it was removed"):
        await SigningCredentials(db, VAULT, trio.CapacityLimiter(1)).get(tenant.tenant_id, certificate)
    with pytest.raises(ProvisioningRefused, match="is destroyed already"):
        await remove(operator_db, tenant, certificate)
    with pytest.raises(Unknown):
        await remove(operator_db, tenant, CertificateId(uuid4()))
    told = await audited(db)
    assert told[-2:] == ["certificates update", "certificate remove"]
    entries = await rows(db, "SELECT entry FROM audit_trail")
    assert not any("p12" in each["entry"] or "passphrase" in each["entry"] for each in entries)


async def test_a_key_that_does_not_open_any_more_is_destroyed_too(operator_db: Database, tenant: Tenant) -> None:
    certificate = await add(operator_db, tenant, vault=Vault({"lost": b"\x09" * 32}))
    await operator_db.run(_forget_x509, tenant.tenant_id)
    await retire(operator_db, tenant, certificate)

    assert not await remove(operator_db, tenant, certificate), "the certificate could not be read out of it"


async def _forget_x509(conn: Conn, tenant_id: TenantId) -> None:
    await conn.execute("UPDATE certificates SET x509 = NULL WHERE tenant_id = %s", (tenant_id,))


async def test_operators_destroy_keys_and_replace_none_and_nobody_takes_it_back(
    operator_db: Database, db: Database, tenant: Tenant
) -> None:
    certificate = await add(operator_db, tenant)

    async def attempt(conn: Conn, statement: str) -> None:
        await conn.execute(statement.encode(), {"id": certificate})

    for statement in ("SET p12 = 'x'", "SET passphrase = NULL"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await operator_db.run(attempt, f"UPDATE certificates {statement} WHERE certificate_id = %(id)s")
    with pytest.raises(psycopg.errors.CheckViolation):  # it is in use
        await db.run(attempt, "UPDATE certificates SET destroyed_at = now() WHERE certificate_id = %(id)s")
    await retire(operator_db, tenant, certificate)
    await remove(operator_db, tenant, certificate)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="stays so"):
        await db.run(attempt, "UPDATE certificates SET destroyed_at = NULL WHERE certificate_id = %(id)s")
