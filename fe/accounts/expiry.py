"""Warnings of expiring certificates."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fe.ecf.texts import Text
from fe.store.records.certificates import CertificateRecord

#: Days before expiry at which we warn, each time more urgently.
DAYS = (60, 30, 7, 1)


@dataclass(frozen=True, slots=True)
class ExpiryWarning:
    """A certificate in use that expires within this many days (one of DAYS), or has expired (0)."""

    record: CertificateRecord
    within: int

    @property
    def is_urgent(self) -> bool:
        """Whether it stops signing within the week, or has stopped."""
        return self.within <= DAYS[2]

    @property
    def text(self) -> Text:
        """Say it."""
        holder = self.record.holder
        if self.within == 0:
            return Text(
                f"The certificate of {holder} has expired and no longer signs. Upload a new one.",
                f"El certificado de {holder} venció: ya no se firma nada con él. Suba uno nuevo.",
            )
        if self.within == 1:
            return Text(
                f"The certificate of {holder} expires within a day: upload the new one today.",
                f"El certificado de {holder} vence en menos de un día: suba el nuevo hoy mismo.",
            )
        return Text(
            f"The certificate of {holder} expires within {self.within} days: ask your certifier for a new one.",
            f"El certificado de {holder} vence en menos de {self.within} días: solicite uno nuevo a su entidad de "
            "certificación.",
        )


def within(record: CertificateRecord, now: datetime) -> int | None:
    """Return within how many of DAYS a certificate in use expires, 0 if it has; None if later."""
    if record.retired_at is not None:
        return None
    if record.not_after <= now:
        return 0
    reached = [days for days in DAYS if record.not_after - now <= timedelta(days=days)]
    return min(reached, default=None)


def warnings(records: Sequence[CertificateRecord], now: datetime) -> list[ExpiryWarning]:
    """List expiring certificates without a stored renewal, the most urgent first."""
    found = [(one, within(one, now)) for one in records if not _is_renewed(one, records)]
    said = [ExpiryWarning(one, days) for one, days in found if days is not None]
    return sorted(said, key=lambda each: each.record.not_after)


def _is_renewed(record: CertificateRecord, records: Sequence[CertificateRecord]) -> bool:
    return any(
        other.user_id == record.user_id
        and other.retired_at is None
        and other.not_before <= record.not_after < other.not_after
        for other in records
    )
