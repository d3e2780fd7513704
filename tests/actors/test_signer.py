"""The signer: from an accepted submission to bytes that are kept, or to an error that tells everything."""

import json
import threading
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
import trio

from fe.actors.credentials import SigningCredentials
from fe.actors.loop_batcher import DoAll, LoopBatcher
from fe.actors.signer import SignerPool
from fe.clock import Clock, ClockFault, no_fault, system_clock
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.dates import end_of_day, local, show_day
from fe.ecf.document import read_xml
from fe.ecf.ids import new_id
from fe.ecf.json_text import write_canonical_json
from fe.ecf.parse import parse_xml
from fe.ecf.signature import verify
from fe.identifiers import SequenceId, SubmissionId, TenantId, UserId
from fe.issuing.document_size import LARGE_LINES, SHORT_BYTES, SHORT_LINES, is_short
from fe.issuing.rates import KnownRates
from fe.issuing.sign import QrHosts, ToSign, sign_all, sign_unsigned
from fe.lifecycle import Stage
from fe.limits import TurnTimeout
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart, ApartFailed
from fe.queue.executor import run_stage
from fe.queue.outcome import Outcome
from fe.queue.stage import StageConfig
from fe.secrets.vault import Vault
from fe.store.postgres.db import Conn, Database
from fe.store.queue import steps
from fe.store.queue.inputs import AcceptedInput, ParallelInput
from fe.store.queue.outbox import Work
from fe.store.queue.steps import SignedDocument
from fe.store.records import excise_rates, sequences, submissions, tenants
from fe.store.records.excise_rates import ExciseRate
from tests.ecf.receipts import line, payload
from tests.factories.companies import NOT_BEFORE, VAULT, company_credential, make_certificate
from tests.factories.tenants import (
    ACCEPTED_AT,
    LEASE,
    make_submission,
    make_tenant,
    rows,
    story,
    submission,
    take,
    waiting,
)
from tests.queue.stage import Stepwise, make_stage, make_tools, step
from tests.waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("lawful")

#: Tomorrow in UTC already, and still the 6th where receipts are dated.
NOW = datetime(2026, 11, 7, 1, 30, tzinfo=UTC)
TODAY = show_day(local(NOW).date())


def sale(**head: Any) -> bytes:
    given = payload(EcfType.CREDIT_FISCAL, [line()], issued=TODAY)
    given["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = "31-12-2028"
    given["Encabezado"].update(head)
    return write_canonical_json(given)


def make_signer(
    db: Database,
    vault: Vault = VAULT,
    apart: Apart | None = None,
    sign_all: DoAll[ToSign, SignedDocument] = sign_all,
    clock: Clock = lambda: NOW,
    clock_fault: ClockFault = no_fault,
) -> StageConfig[Work]:
    limiter = trio.CapacityLimiter(2)
    pool = SignerPool(
        db=db,
        credentials=SigningCredentials(db, vault, limiter),
        loop=LoopBatcher(sign_all),
        threads=limiter,
        apart=apart or Apart(1, Metrics(), seconds=PATIENCE),
        hosts=QrHosts("https://ecf.example", "https://fc.example"),
        clock=clock,
        metrics=Metrics(),
        rates=KnownRates(db),
        lease=LEASE,
        claim_to_send=lambda *_: None,
        read_input=partial(_beside, db),
        clock_fault=clock_fault,
    )
    return make_stage(pool.sign)


async def _beside(db: Database, one: tuple[Work, AcceptedInput]) -> ParallelInput:
    (found,) = await db.run(steps.beside, [one])
    return found


async def make_user(db: Database, tenant: TenantId, email: str, override: dict[str, Any] | None = None) -> UserId:
    user_id = UserId(uuid4())
    assert await db.run(tenants.create_user, tenant, user_id, email, override) is not None
    return user_id


async def test_a_submission_is_signed_with_the_tenants_certificate_and_kept(db: Database) -> None:
    tenant = await make_tenant(db)
    certificate = await make_certificate(db, tenant)
    subject = await make_submission(db, tenant, original=sale(), e_ncf="E310000000007")

    assert await step(db, make_signer(db), subject) == "signed"

    kind, signed = await db.run(submissions.xml, tenant, subject)
    verified = verify(signed)
    kept = await submission(db, subject)
    assert kind == "signed"
    assert verified.certificate == company_credential().certificate
    assert (kept["certificate_id"], kept["security_code"]) == (certificate, verified.security_code)
    assert kept["qr_code_url"].startswith("https://ecf.example/ecf/ConsultaTimbre?RncEmisor=131880738&")
    left = await waiting(db, subject)
    assert (left["stage"], left["host"]) == ("send", "ecf")
    assert await story(db, subject) == ["accepted", "signed"]


async def set_up(db: Database, tenant: TenantId, first: int, last: int, year: int) -> None:
    await db.run(
        sequences.put,
        tenant,
        Environment.ECF,
        "E31",
        new_id=SequenceId(new_id(NOW)),
        minimum=first,
        maximum=last,
        expire_at=end_of_day(date(year, 12, 31)),
        is_active=True,
        at=NOW,
    )


async def test_what_waits_while_the_next_range_is_entered_is_dated_by_its_own(db: Database) -> None:
    """The authority refuses a document whose date is not the one it gave that number."""
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    await set_up(db, tenant, 1, 100, 2027)
    given = payload(EcfType.CREDIT_FISCAL, [line()], issued=TODAY)
    del given["Encabezado"]["IdDoc"]["eNCF"]
    given["Encabezado"]["IdDoc"]["TipoeCF"] = "31"
    subject = await make_submission(
        db, tenant, original=write_canonical_json(given), e_ncf=None, draw_prefix="E31", at=NOW
    )
    await set_up(db, tenant, 101, 200, 2028)

    assert await step(db, make_signer(db), subject) == "signed"

    _, signed = await db.run(submissions.xml, tenant, subject)
    document = read_xml(verify(signed).root)
    assert document.e_ncf == "E310000000001"
    assert document.get("Encabezado.IdDoc.FechaVencimientoSecuencia") == "31-12-2027"
    assert (await submission(db, subject))["ncf_expiration"] == date(2027, 12, 31)


async def test_the_users_certificate_and_override_are_used_when_the_user_is_asked_for(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    user = await make_user(db, tenant, "ana@empresa.do", {"Sucursal": "NORTE-2"})
    theirs = await make_certificate(db, tenant, user_id=user)
    subject = await make_submission(db, tenant, original=sale(), as_user="ANA@empresa.do")

    await step(db, make_signer(db), subject)

    assert (await submission(db, subject))["certificate_id"] == theirs
    _, signed = await db.run(submissions.xml, tenant, subject)
    assert read_xml(verify(signed).root).get("Encabezado.Emisor.Sucursal") == "NORTE-2"


async def test_a_retired_certificate_does_not_sign(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    newer = await make_certificate(db, tenant)
    subject = await make_submission(db, tenant, original=sale())

    await step(db, make_signer(db), subject)

    assert (await submission(db, subject))["certificate_id"] == newer


async def assert_failed(db: Database, subject: SubmissionId, error: str) -> dict[str, Any]:
    kept = await submission(db, subject)
    assert (kept["status"], kept["number_fate"]) == ("error", "reusable")
    response: dict[str, Any] = kept["response"]
    assert response["status"] == "error"
    assert error in response["error"]
    assert await rows(db, "SELECT * FROM outbox") == []
    assert await rows(db, "SELECT * FROM sends") == []
    return response


async def test_without_a_certificate_the_submission_fails_and_asks_for_the_upload(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db), original=sale())

    assert await step(db, make_signer(db), subject) == "error"

    await assert_failed(db, subject, "no certificate available: upload")


async def test_another_tenants_certificate_does_not_count(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, await make_tenant(db))
    subject = await make_submission(db, tenant, original=sale())

    assert await step(db, make_signer(db), subject) == "error"

    await assert_failed(db, subject, "no certificate available: upload")


async def test_an_expired_certificate_fails_the_submission(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant, not_before=NOT_BEFORE.replace(year=2020), not_after=NOT_BEFORE)
    subject = await make_submission(db, tenant, original=sale())

    assert await step(db, make_signer(db), subject) == "error"

    await assert_failed(db, subject, "the certificate has expired")


@pytest.mark.parametrize(
    ("behind", "not_before", "not_after"),
    [
        (timedelta(minutes=20), timedelta(minutes=-5), timedelta(days=365)),
        (timedelta(days=-9), timedelta(days=-365), timedelta(days=5)),
        (timedelta(0), timedelta(hours=3), timedelta(days=365)),
    ],
    ids=["not valid yet by a slow clock", "expired by a fast clock", "valid in three hours"],
)
async def test_certificate_out_of_its_time_by_this_clock_alone_is_tried_again(
    db: Database, behind: timedelta, not_before: timedelta, not_after: timedelta
) -> None:
    now = system_clock()
    tenant = await make_tenant(db)
    await make_certificate(db, tenant, not_before=now + not_before, not_after=now + not_after)
    subject = await make_submission(db, tenant, original=sale())

    assert await step(db, make_signer(db, clock=lambda: now - behind), subject) == "retry"

    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"], (await submission(db, subject))["status"]) == ("sign", 0, "queued")
    assert 0 < left["due_in"] <= 60


async def test_certificate_valid_in_a_month_fails_the_submission(db: Database) -> None:
    now = system_clock()
    tenant = await make_tenant(db)
    await make_certificate(db, tenant, not_before=now + timedelta(days=30), not_after=now + timedelta(days=365))
    subject = await make_submission(db, tenant, original=sale())

    await step(db, make_signer(db, clock=system_clock), subject)

    await assert_failed(db, subject, "the certificate is not valid yet")


@pytest.mark.parametrize("faults", [["wrong"], [None, "wrong"]], ids=["before", "while it was signed"])
async def test_signer_with_a_wrong_clock_gives_the_row_back_and_signs_nothing(
    db: Database, faults: list[str | None]
) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    subject = await make_submission(db, tenant, original=sale())
    told = iter(faults)

    assert await step(db, make_signer(db, clock_fault=lambda: next(told)), subject) == "retry"

    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"], left["holder"]) == ("sign", 0, None)
    assert await story(db, subject) == ["accepted"]
    assert await rows(db, "SELECT * FROM submission_documents WHERE kind <> 'original'") == []


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"passphrase": None}, "tenant is missing the certificate passphrase setting"),
        ({"passphrase": "wrong"}, "loaded .p12 did not yield a key and certificate pair: The passphrase does not open"),
        ({"p12": b"no certificate"}, "loaded .p12 did not yield a key and certificate pair: The file is not a .p12"),
    ],
)
async def test_a_certificate_that_cannot_be_opened_fails_the_submission(
    db: Database, changes: dict[str, Any], error: str
) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant, **changes)
    subject = await make_submission(db, tenant, original=sale())

    assert await step(db, make_signer(db), subject) == "error"

    response = await assert_failed(db, subject, error)
    assert "wrong" not in json.dumps(response["error"]).split()


async def test_a_key_that_is_not_configured_here_leaves_the_submission_to_try_again(db: Database) -> None:
    """An operator's slip in the settings of one process is not the tenant's failure."""
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    subject = await make_submission(db, tenant, original=sale())

    assert await step(db, make_signer(db, Vault({"other": b"x" * 32})), subject) == "retry"
    assert (await submission(db, subject))["status"] == "queued"


async def test_what_cannot_be_issued_fails_with_every_problem_in_both_languages(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    subject = await make_submission(
        db, tenant, original=sale(Comprador={"RNCComprador": "12", "RazonSocialComprador": "x" * 151})
    )

    assert await step(db, make_signer(db), subject) == "error"

    response = await assert_failed(db, subject, "Encabezado.Comprador")
    shown = {problem["path"]: problem for problem in response["problems"]}
    assert {"Encabezado.Comprador.RNCComprador", "Encabezado.Comprador.RazonSocialComprador"} <= set(shown)
    assert shown["Encabezado.Comprador.RNCComprador"].keys() >= {"code", "message", "messageEs", "found", "expected"}
    assert shown["Encabezado.Comprador.RNCComprador"]["found"] == "12"


async def test_a_document_with_countless_problems_keeps_fifty(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    bad = [line(quantity="x") for _ in range(80)]
    given = payload(EcfType.CREDIT_FISCAL, bad, issued=TODAY)
    subject = await make_submission(db, tenant, original=write_canonical_json(given))

    assert await step(db, make_signer(db), subject) == "error"

    assert len((await assert_failed(db, subject, ""))["problems"]) <= 50


async def test_a_signer_stopped_in_the_middle_has_done_nothing(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    subject = await make_submission(db, tenant, original=sale())
    stage, begun = make_signer(db), trio.Event()

    async def noting(work: Work) -> Outcome:
        begun.set()
        return await stage.handle(work)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, replace(stage, handle=noting), make_tools(db), trio.Event())
            await begun.wait()  # not only claimed: stopped before the claim is answered, the row is left to its lease
            nursery.cancel_scope.cancel()

    left = await rows(db, "SELECT stage, attempt, holder FROM outbox")
    assert left in (
        [{"stage": "sign", "attempt": 0, "holder": None}],
        [{"stage": "send", "attempt": 0, "holder": None}],  # it was signed and booked before the stop came
    )
    if left[0]["stage"] == "sign":
        assert await step(db, make_signer(db), subject) == "signed"


async def test_two_signers_of_one_submission_keep_one_document(db: Database) -> None:
    """The first was presumed dead and was only slow: its document is never stored, and so never sent."""
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    subject = await make_submission(db, tenant, original=sale())
    stage = make_signer(db)
    executor, slow = Stepwise(stage, make_tools(db)), await take(db, subject)
    late = await executor.attempt(slow)

    assert await step(db, stage, subject) == "signed"
    _, kept = await db.run(submissions.xml, tenant, subject)

    assert await executor.book(slow, late) == "lease lost"
    assert await db.run(submissions.xml, tenant, subject) == ("signed", kept)
    assert (await waiting(db, subject))["stage"] == Stage.SEND


async def test_another_submissions_number_ends_the_later_one_without_a_signature(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    first, second = [
        await make_submission(db, tenant, original=sale(), e_ncf="E310000000007", at=ACCEPTED_AT + timedelta(seconds=n))
        for n in range(2)
    ]

    # The later one comes to its turn before the other: it is the earlier one's number all the same.
    assert await step(db, make_signer(db), second) == "error"
    assert await step(db, make_signer(db), first) == "signed"

    kept = await submission(db, second)
    assert (kept["status"], kept["number_fate"], kept["security_code"]) == ("error", "used", None)
    assert kept["response"]["otherTaxLogId"] == str(first)
    assert await story(db, second) == ["accepted", "error"]
    assert (await waiting(db, first))["stage"] == "send"
    assert await rows(db, "SELECT * FROM sends") == []


# --- what was assumed ------------------------------------------------------------------------------------------------

BEER: dict[str, Any] = {
    "TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]},
    "UnidadMedida": "6",
    "CantidadReferencia": "24.00",
    "UnidadReferencia": "5",
    "PrecioUnitarioReferencia": "65.00",
    "GradosAlcohol": "5.00",
    "TablaSubcantidad": {"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": "24"}]},
}


def beer() -> bytes:
    items = [line("1615.00", "2.00", **BEER)]
    given = payload(EcfType.CREDIT_FISCAL, items, issued="15-03-2026")
    given["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = "2028-12-31"
    return write_canonical_json(given)


async def set_the_rate(conn: Conn) -> None:
    """An act of an operator; a worker may not do it."""
    days = date(2026, 1, 1), date(2026, 3, 31)
    await excise_rates.put(conn, ExciseRate("006", *days, Decimal("633.85"), NOW, "ana"))


async def test_an_assumed_rate_is_told_with_the_document_until_an_operator_has_set_it(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    told = []
    for number in (7, 8):
        new = await make_submission(db, tenant, original=beer(), e_ncf=f"E31000000000{number}")
        assert await step(db, make_signer(db), new) == "signed"
        record = await db.run(submissions.find, tenant, new)
        assert record is not None
        (document,) = await rows(
            db, "SELECT content FROM submission_documents WHERE submission_id = %(id)s AND kind = 'signed'", id=new
        )
        tax = parse_xml(bytes(document["content"])).findtext("Encabezado/Totales/MontoImpuestoAdicional")
        told.append(([warning["code"] for warning in record.warnings or []], tax))
        await db.run(set_the_rate)

    assert told == [(["tax-rate-assumed"], "817.87"), ([], "731.32")]


@pytest.mark.parametrize(("many", "here"), [(1, True), (SHORT_BYTES // 100, False)])
async def test_short_documents_are_signed_in_the_loop_and_longer_ones_in_threads(
    many: int, here: bool, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, threads = await make_tenant(db), list[int]()
    await make_certificate(db, tenant)
    given = payload(EcfType.CREDIT_FISCAL, [line()] * many, issued=TODAY)
    given["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = "31-12-2028"
    original = write_canonical_json(given)
    assert (len(original) <= SHORT_BYTES) == here
    subject = await make_submission(db, tenant, original=original, e_ncf="E310000000007")

    def noting(*args: Any, **more: Any) -> SignedDocument:
        threads.append(threading.get_ident())
        return sign_unsigned(*args, **more)

    monkeypatch.setattr("fe.actors.signer.sign_unsigned", noting)
    assert await step(db, make_signer(db), subject) == "signed"
    assert [one == threading.get_ident() for one in threads] == [here]


def test_many_lines_make_a_document_long_however_little_they_say() -> None:
    """480 lines with nothing in them, in 1.7 kB, take 10 ms to be found wrong: that is no work for the loop."""
    assert is_short(sale())
    assert not is_short(b"{}" * (SHORT_LINES + 1))


# --- large documents --------------------------------------------------------------------------------------------------


def large_sale() -> bytes:
    """As many lines as make it large."""
    given = payload(EcfType.CREDIT_FISCAL, [line()] * (LARGE_LINES + 1), issued=TODAY)
    given["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = "31-12-2028"
    return write_canonical_json(given)


async def test_a_large_document_is_made_apart_and_signed_here(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    subject = await make_submission(db, tenant, original=large_sale(), e_ncf="E310000000007")
    apart = Apart(1, Metrics(), seconds=PATIENCE)

    async with apart.running():
        assert await step(db, make_signer(db, apart=apart), subject) == "signed"
        assert apart.alive == 1

    kind, signed = await db.run(submissions.xml, tenant, subject)
    assert kind == "signed"
    assert len(verify(signed).root.findall("DetallesItems/Item")) == LARGE_LINES + 1


async def test_what_is_wrong_with_a_large_document_is_kept_like_that_of_a_small_one(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    wrong = json.loads(large_sale())
    for each in wrong["DetallesItems"]["Item"]:
        each["IndicadorFacturacion"] = "9"
    subject = await make_submission(db, tenant, original=json.dumps(wrong).encode(), e_ncf="E310000000007")
    apart = Apart(1, Metrics(), seconds=PATIENCE)

    async with apart.running():
        assert await step(db, make_signer(db, apart=apart), subject) == "error"

    kept = await submission(db, subject)
    assert kept["status"] == "error"
    assert "more)" in str(kept)


@pytest.mark.parametrize(
    ("trouble", "outcome"), [(ApartFailed("its process died"), "retry"), (TurnTimeout(), "given back")]
)
async def test_a_large_document_whose_process_dies_is_tried_again_and_one_without_a_turn_waits(
    db: Database, monkeypatch: pytest.MonkeyPatch, trouble: Exception, outcome: str
) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant)
    subject = await make_submission(db, tenant, original=large_sale(), e_ncf="E310000000007")

    async def failing(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(Apart, "run", failing)

    assert await step(db, make_signer(db), subject) == "retry"

    row = await waiting(db, subject)
    assert row["attempt"] == (1 if outcome == "retry" else 0)  # one that only waited has its attempt back
