"""Whose certificate signs (interface.md#certificate-selection). Pure; tests hold its truth table."""

from collections.abc import Sequence
from datetime import datetime

from fe.identifiers import UserId
from fe.store.submissions import Candidate


class NoCertificate(Exception):
    """No certificate may sign this submission; the message tells the tenant what to do. Permanent."""


def choose_certificate(
    candidates: Sequence[Candidate], *, as_user: str | None, as_user_id: UserId | None, now: datetime
) -> Candidate:
    """Choose among a tenant's certificates in use.

    The user that was asked for (by id before by address), else the company's, else the only user's. A certificate out
    of its time is never used, and never silently replaced by another identity. Raises NoCertificate.
    """
    chosen = _by_rule(candidates, as_user, as_user_id)
    if not chosen.not_before <= now < chosen.not_after:
        state = "has expired" if now >= chosen.not_after else "is not valid yet"
        period = f"{chosen.not_before:%Y-%m-%d} to {chosen.not_after:%Y-%m-%d}"
        raise NoCertificate(f"the certificate {state} (valid {period}): upload a new one")
    return chosen


def _by_rule(candidates: Sequence[Candidate], as_user: str | None, as_user_id: UserId | None) -> Candidate:
    if not candidates:
        raise NoCertificate("no certificate available: upload the .p12 file and its passphrase in the portal")
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
    raise NoCertificate("several user certificates are available: say which one with asUser or asUserId")


def _only(found: list[Candidate], asked: str) -> Candidate:
    if not found:
        raise NoCertificate(f"no certificate available for the user given by {asked}")
    return found[0]
