"""Answers: their bytes and their description come from one model each."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import jsonschema_rs
import pytest

from fe.contingency import Mode
from fe.ecf.catalogue import Environment
from fe.ecf.problems import Problem, Repair
from fe.http.languages import serialize_problems
from fe.http.models import approvals as approval_models
from fe.http.models import responses as response_models
from fe.http.models.response_types import ResponseModel
from fe.http.models.responses import BILLING_PERIOD, SUBMISSION, VALIDATION, BillingPeriod, Submission
from fe.http.models.serializers import serialize_record
from fe.identifiers import ClientRequestId, SubmissionId, TrackId
from fe.lifecycle import NumberFate, Status
from fe.store.records.counterparty import HandingState, OtherSide
from fe.store.records.mail import MailState
from fe.store.records.submissions import Record

AT = datetime(2026, 11, 6, 14, 15, 30, 123456, tzinfo=UTC)
EVERY_MODEL = [
    one for one in (*vars(response_models).values(), *vars(approval_models).values()) if isinstance(one, ResponseModel)
]

NEW = Record(
    submission_id=SubmissionId(UUID(int=0x0190B6E27C3978468AFA2207B9501B4B)),
    track_id=None,
    environment=Environment.TESTECF,
    status=Status.QUEUED,
    e_ncf=None,
    qr_code_url=None,
    security_code=None,
    ncf_expiration=None,
    signed_at=None,
    number_fate=NumberFate.RESERVED,
    response=None,
    submitted_at=AT,
    updated_at=AT,
    client_request_id=None,
    format="structured",
)
ENDED = replace(
    NEW,
    track_id=TrackId("t-1"),
    status=Status.CONDITIONAL,
    e_ncf="E310000000001",
    qr_code_url="https://example.org/?a=1&b=ñ",
    security_code="AbC1+/",
    ncf_expiration=date(2028, 12, 31),
    signed_at=AT,
    number_fate=NumberFate.USED,
    response={
        "trackStatus": {"codigo": 2, "monto": 1.5, "mensajes": [None, True, "ñ"]},
        "mensajes": [{"codigo": "3205", "valor": "MontoTotal"}],
    },
    client_request_id=ClientRequestId("order-1"),
    warnings=serialize_problems([Problem("rate-assumed", "a.b", "words", "palabras", found="2")]),  # type: ignore[arg-type]  # as they are stored
)


MAILED = replace(
    ENDED,
    mail_state=MailState.REFUSED,
    mail_at=ENDED.updated_at,
    mail_address="compras@cliente.do",
    mail_reason="recipient not accepted: 550 no such mailbox",
)


def described(model: ResponseModel[Any]) -> dict[str, Any]:
    return model.adapter.json_schema(mode="serialization")


@pytest.mark.parametrize("model", EVERY_MODEL, ids=lambda model: described(model)["title"])
def test_every_description_names_all_the_fields_there_are(model: ResponseModel[Any]) -> None:
    assert described(model)["additionalProperties"] is False


@pytest.mark.parametrize("record", [NEW, ENDED])
def test_a_submission_is_written_as_it_is_described(record: Record) -> None:
    written = json.loads(SUBMISSION.write(serialize_record(record)))

    assert list(jsonschema_rs.validator_for(described(SUBMISSION)).iter_errors(written)) == []


def test_a_waiting_mail_is_shown_once_its_address_is_known() -> None:
    waiting = replace(MAILED, mail_state=MailState.WAITING)

    unknown, known = (serialize_record(replace(waiting, mail_address=address)) for address in (None, "a@b.do"))

    assert ("mail" in unknown, "mail" in known) == (False, True)


@pytest.mark.parametrize("state", MailState)
def test_the_mail_of_a_submission_is_written_as_it_is_described(state: MailState) -> None:
    written = json.loads(SUBMISSION.write(serialize_record(replace(MAILED, mail_state=state))))

    assert written["mail"].get("reason") == (MAILED.mail_reason if state is MailState.REFUSED else None)
    assert list(jsonschema_rs.validator_for(described(SUBMISSION)).iter_errors(written)) == []


def test_a_submission_is_written_in_the_order_of_the_interface() -> None:
    at = ENDED.updated_at
    other = OtherSide(False, "NO PEDIDO", at, HandingState.DELIVERED, None, at)
    rejected = serialize_record(
        replace(MAILED, is_archived=True, metadata={"branch": "norte"}),
        other,
        legend=Mode.CONTINGENCY,
        replaces="B0100000001",
    )

    assert list(json.loads(SUBMISSION.write(rejected))) == list(Submission.__annotations__)


def test_what_is_not_known_is_null_or_absent() -> None:
    assert SUBMISSION.write(serialize_record(NEW)).decode() == (
        '{"taxLogId":"0190b6e2-7c39-7846-8afa-2207b9501b4b","environment":"testecf","status":"queued",'
        '"qrCodeUrl":null,"securityCode":null,"ncfExpiration":null,"fechaHoraFirma":null,"response":null,'
        '"submittedAt":"2026-11-06T14:15:30.123Z","updatedAt":"2026-11-06T14:15:30.123Z","clientRequestId":null,'
        '"tipoEcf":null,"montoTotal":null,"totalITBIS":null,"rncComprador":null,"razonSocialComprador":null,'
        '"fechaEmision":null,"readyToPrint":false,"facts":{"signedAt":null,"sendBy":null,"receivedAt":null,'
        '"verdictAt":null,"deliveredAt":null}}'
    )


def test_what_another_release_stored_is_shown_as_far_as_it_is_described() -> None:
    stored = {"code": "c", "path": "p", "severity": "graver"}

    written = json.loads(SUBMISSION.write(serialize_record(replace(ENDED, warnings=[stored | {"newer": [1]}]))))

    assert written["warnings"] == [stored]


def test_every_field_of_a_problem_is_described() -> None:
    full = Problem(
        "c", "p", "m", "m", 1, "f", "e", "x", "x", column=2, allowed=("1",), repair=Repair("rename", "p", to="q")
    )

    written = json.loads(VALIDATION.write({"valid": False, "problems": serialize_problems([full])}))

    jsonschema_rs.validator_for(described(VALIDATION)).validate(written)
    assert set(written["problems"][0]) == set(response_models.DocumentProblem.__annotations__)


@pytest.mark.parametrize(("price", "emissions"), [("0.0350", 1_234_567), ("12345678.9012", 9), ("0.0001", 1)])
def test_an_amount_is_a_number_with_the_digits_it_has(price: str, emissions: int) -> None:
    period: BillingPeriod = {
        "period": "2026-11",
        "periodStart": "2026-11-01T00:00:00.000Z",
        "periodEnd": "2026-12-01T00:00:00.000Z",
        "enabled": True,
        "subscriptionId": "s",
        "unitPrice": Decimal(price),
        "currency": "USD",
        "pricingTier": "standard",
        "emissionsAccepted": emissions,
        "subtotal": emissions * Decimal(price),
        "lastUpdated": "2026-11-02T00:00:00.000Z",
    }

    written = BILLING_PERIOD.write(period).decode()

    assert f'"unitPrice":{price},' in written
    assert f'"subtotal":{emissions * Decimal(price):f},' in written
    jsonschema_rs.validator_for(described(BILLING_PERIOD)).validate(json.loads(BILLING_PERIOD.write(period)))
