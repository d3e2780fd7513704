"""Which certificate signs what, and why: what the one rule (`certificate_choice`) chooses, for people to see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fe.ecf.texts import Text
from fe.identifiers import UserId
from fe.issuing.certificate_choice import NoCertificate, choose_certificate
from fe.store.queue.inputs import Candidate
from fe.store.records.certificates import CertificateRecord
from fe.store.records.tenants import User

_COMPANY = Text(
    "no user is named: the company's certificate signs",
    "no se indica usuario: firma el certificado de la empresa",
)
_ONLY_USER = Text(
    "no user is named and the company has no certificate: that of its only user signs",
    "no se indica usuario y la empresa no tiene certificado: firma el del único usuario",
)
_OWN = Text("asUser names this user: their own certificate signs", "asUser indica este usuario: firma su certificado")


@dataclass(frozen=True, slots=True)
class Signs:
    """Certificate for receipts of a user (None: without a user); without a certificate they are refused."""

    user: User | None
    certificate: CertificateRecord | None
    why: Text


def who_signs(records: Sequence[CertificateRecord], users: Sequence[User], now: datetime) -> list[Signs]:
    """Apply the rule to receipts without a user, and to those of each user."""
    by_id = {one.certificate_id: one for one in records if one.retired_at is None}
    candidates = candidates_of(list(by_id.values()), {user.user_id: user for user in users})
    found = []
    for user in (None, *users):
        asked = None if user is None else user.email
        try:
            chosen = choose_certificate(candidates, as_user=asked, as_user_id=None, now=now)
        except NoCertificate as none:
            found.append(Signs(user, None, none.text))
            continue
        why = _OWN if user is not None else _COMPANY if chosen.user_id is None else _ONLY_USER
        found.append(Signs(user, by_id[chosen.certificate_id], why))
    return found


def candidates_of(records: Sequence[CertificateRecord], of_user: Mapping[UserId, User]) -> list[Candidate]:
    """Return certificates in use as the rule chooses among them."""
    return [_candidate(one, of_user) for one in records]


def _candidate(record: CertificateRecord, of_user: Mapping[UserId, User]) -> Candidate:
    user = of_user.get(record.user_id) if record.user_id is not None else None
    return Candidate(
        certificate_id=record.certificate_id,
        user_id=record.user_id,
        email=user.email if user is not None else None,
        issuer_override=user.issuer_override if user is not None else None,
        not_before=record.not_before,
        not_after=record.not_after,
    )
