"""The choice of a certificate: the truth table of interface.md#certificate-selection."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from fe.identifiers import CertificateId, UserId
from fe.issuing.certificate_choice import NoCertificate, choose_certificate
from fe.store.queue.inputs import Candidate

NOW = datetime(2026, 11, 6, 12, tzinfo=UTC)
A, B, NOBODY = (UserId(UUID(int=number)) for number in (0xA, 0xB, 0xC))
EMAILS = {A: "Ana@Empresa.do", B: "berta@empresa.do"}


def candidate(
    user: UserId | None, since: datetime = NOW - timedelta(days=1), until: datetime = NOW + timedelta(days=1)
) -> Candidate:
    email = EMAILS[user] if user else None
    return Candidate(CertificateId(UUID(int=(user.int if user else 0) + 100)), user, email, None, since, until)


COMPANY, ANA, BERTA = candidate(None), candidate(A), candidate(B)

ASK_FOR_UPLOAD = "no certificate available: upload"
ASK_WHO = "several user certificates are available: say which one with asUser or asUserId"
NO_SUCH_USER = "no certificate available for the user given by"


RENEWED = replace(COMPANY, certificate_id=CertificateId(UUID(int=7)), not_before=NOW + timedelta(hours=1))


def test_choice_takes_the_certificate_in_use_until_the_renewed_one_is_valid() -> None:
    def chosen(now: datetime) -> Candidate:
        return choose_certificate([RENEWED, COMPANY, ANA], as_user=None, as_user_id=None, now=now)

    assert chosen(NOW) is COMPANY
    assert chosen(RENEWED.not_before - timedelta(microseconds=1)) is COMPANY
    assert chosen(RENEWED.not_before) is RENEWED, "both are valid: the newer one signs"


def test_choice_counts_one_certificate_per_user_when_one_is_renewed() -> None:
    """A single user signs without being named; a renewed certificate does not make two of it."""
    renewed = replace(ANA, not_before=NOW + timedelta(hours=1))

    assert choose_certificate([ANA, renewed], as_user=None, as_user_id=None, now=NOW) is ANA


@pytest.mark.parametrize(
    ("candidates", "as_user", "as_user_id", "expected"),
    [
        # No user requested: the company's, else the only user's, else the request must name one.
        ([], None, None, ASK_FOR_UPLOAD),
        ([COMPANY], None, None, COMPANY),
        ([COMPANY, ANA], None, None, COMPANY),
        ([ANA, COMPANY, BERTA], None, None, COMPANY),
        ([ANA], None, None, ANA),
        ([ANA, BERTA], None, None, ASK_WHO),
        # By id.
        ([], None, A, ASK_FOR_UPLOAD),
        ([COMPANY, ANA, BERTA], None, B, BERTA),
        ([ANA, BERTA], None, A, ANA),
        ([COMPANY], None, A, NO_SUCH_USER),
        ([COMPANY, ANA], None, NOBODY, NO_SUCH_USER),
        ([ANA], None, B, NO_SUCH_USER),
        # By address, in any case.
        ([], "ana@empresa.do", None, ASK_FOR_UPLOAD),
        ([COMPANY, ANA, BERTA], "ana@empresa.do", None, ANA),
        ([COMPANY, ANA, BERTA], "BERTA@EMPRESA.DO", None, BERTA),
        ([COMPANY, ANA], "berta@empresa.do", None, NO_SUCH_USER),
        ([COMPANY, ANA], "", None, NO_SUCH_USER),
        # By both: the id wins, also when the address would find a user and the id none.
        ([COMPANY, ANA, BERTA], "berta@empresa.do", A, ANA),
        ([COMPANY, ANA], "ana@empresa.do", NOBODY, NO_SUCH_USER),
    ],
)
def test_the_certificate_is_chosen_by_the_four_steps(
    candidates: list[Candidate], as_user: str | None, as_user_id: UserId | None, expected: Candidate | str
) -> None:
    if isinstance(expected, Candidate):
        assert choose_certificate(candidates, as_user=as_user, as_user_id=as_user_id, now=NOW) is expected
    else:
        with pytest.raises(NoCertificate, match=expected):
            choose_certificate(candidates, as_user=as_user, as_user_id=as_user_id, now=NOW)


@pytest.mark.parametrize(
    ("since", "until", "refusal"),
    [
        (NOW, NOW + timedelta(seconds=1), None),
        (NOW - timedelta(days=1), NOW, "has expired"),
        (NOW - timedelta(days=2), NOW - timedelta(days=1), "has expired"),
        (NOW + timedelta(seconds=1), NOW + timedelta(days=1), "is not valid yet"),
    ],
)
def test_a_certificate_is_used_within_its_time_only(since: datetime, until: datetime, refusal: str | None) -> None:
    company = candidate(None, since, until)
    if refusal is None:
        assert choose_certificate([company], as_user=None, as_user_id=None, now=NOW) is company
    else:
        with pytest.raises(NoCertificate, match=refusal):
            choose_certificate([company], as_user=None, as_user_id=None, now=NOW)


def test_an_expired_certificate_is_never_replaced_by_another_identity() -> None:
    expired = candidate(None, NOW - timedelta(days=9), NOW - timedelta(days=1))

    with pytest.raises(NoCertificate, match="has expired"):
        choose_certificate([expired, ANA], as_user=None, as_user_id=None, now=NOW)
    expired_ana = candidate(A, NOW - timedelta(days=9), NOW - timedelta(days=1))
    with pytest.raises(NoCertificate, match="has expired"):
        choose_certificate([COMPANY, expired_ana], as_user=None, as_user_id=A, now=NOW)
