"""Choose the certificate that signs (interface.md#certificate-selection). Pure; tests hold its truth table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import UserId
from fe.store.queue.inputs import Candidate
from fe.store.records.certificates import CertificateRecord, one_per_holder
from fe.store.records.tenants import User

_NONE = Text(
    "no certificate available: upload the .p12 file and its passphrase in the portal",
    "no hay un certificado disponible: suba el archivo .p12 y su contraseña en el portal",
)
_SEVERAL = Text(
    "several user certificates are available: say which one with asUser or asUserId",
    "hay varios certificados de usuarios: indique cuál con asUser o asUserId",
)
_COMPANY = Text(
    "no user is named: the company's certificate signs",
    "no se indica usuario: firma el certificado de la empresa",
)
_ONLY_USER = Text(
    "no user is named and the company has no certificate: that of its only user signs",
    "no se indica usuario y la empresa no tiene certificado: firma el del único usuario",
)
_OWN = Text("asUser names this user: their own certificate signs", "asUser indica este usuario: firma su certificado")


class NoCertificate(LocalizedError):
    """No certificate may sign this submission; the message tells the tenant what to do. Permanent."""


class OutOfTime(NoCertificate):
    """The certificate is not valid yet, or has expired, at the time that was given. Another clock may disagree."""

    def __init__(self, text: Text, not_before: datetime, not_after: datetime) -> None:
        super().__init__(text)
        self.not_before = not_before
        self.not_after = not_after

    def passes_in(self, at: datetime) -> timedelta | None:
        """For how long after `at` it is not valid yet, or nothing where it is valid then; None where it has expired."""
        return max(self.not_before - at, timedelta(0)) if at < self.not_after else None


def choose_certificate(
    candidates: Sequence[Candidate], *, as_user: str | None, as_user_id: UserId | None, now: datetime
) -> Candidate:
    """Choose among a tenant's certificates in use.

    The user that was asked for (by id before by address), else the company's, else the only user's. A certificate out
    of its time is never used, and never silently replaced by another identity. Raises NoCertificate; of one that is
    out of its time OutOfTime.
    """
    chosen = _by_rule(one_per_holder(candidates, now), as_user, as_user_id)
    if not chosen.not_before <= now < chosen.not_after:
        over = now >= chosen.not_after
        first, last = chosen.not_before, chosen.not_after
        state = Text("has expired", "ha vencido") if over else Text("is not valid yet", "aún no es válido")
        raise OutOfTime(
            Text(
                f"the certificate {state.en} (valid {first:%Y-%m-%d} to {last:%Y-%m-%d}): upload a new one",
                f"el certificado {state.es} (válido del {first:%d-%m-%Y} al {last:%d-%m-%Y}): suba uno nuevo",
            ),
            chosen.not_before,
            chosen.not_after,
        )
    return chosen


def _by_rule(candidates: Sequence[Candidate], as_user: str | None, as_user_id: UserId | None) -> Candidate:
    if not candidates:
        raise NoCertificate(_NONE)
    if as_user_id is not None:
        return _only([c for c in candidates if c.user_id == as_user_id], f"asUserId {as_user_id}")
    if as_user is not None:
        wanted = as_user.casefold()
        return _only([c for c in candidates if c.email is not None and c.email.casefold() == wanted], "asUser")
    company = [c for c in candidates if c.user_id is None]
    if company:
        return company[0]
    if len(candidates) == 1:
        return candidates[0]
    raise NoCertificate(_SEVERAL)


def _only(found: list[Candidate], asked: str) -> Candidate:
    if not found:
        raise NoCertificate(
            Text(
                f"no certificate available for the user given by {asked}",
                f"no hay un certificado disponible para el usuario indicado en {asked}",
            )
        )
    return found[0]


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
