"""A sale at the till: number, complete, check, sign and store a receipt, with the line up or down."""

import hashlib
import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from fe.clock import Clock
from fe.ecf.autofill import autofill
from fe.ecf.build import write
from fe.ecf.catalogue import Environment, Root
from fe.ecf.certificate import Credential
from fe.ecf.dates import local, show_day, show_moment
from fe.ecf.document import Document, NotADocument, read_payload
from fe.ecf.finished_xml import read_finished
from fe.ecf.json_text import write_canonical_json
from fe.ecf.parse import Malformed
from fe.ecf.problems import Severity, serialize_problem
from fe.ecf.qr_address import Printed
from fe.ecf.rules import check
from fe.ecf.signature import Canonical, Signer
from fe.ecf.summary import summarise, takes_summary, with_security_code
from fe.ecf.texts import Text
from fe.integrator.agent import refusals
from fe.integrator.agent.refusals import SaleRefused
from fe.integrator.agent.store import Sale, Store

#: A clock that is set back by less signs with the moment of the last signature.
_STEP = timedelta(seconds=60)
#: Seconds for which an answer is compared with.
_FRESH = 600.0
#: Seconds that the clock may be away from the service's: before a warning, and before sales are refused.
WARN_SECONDS, MOST_SECONDS = 60.0, 300.0


@dataclass
class Watch:
    """Compares the clock with the service's: with its last Date, and the time since then on a clock that is not set."""

    clock: Clock
    steady: Callable[[], float]
    _heard: tuple[datetime, float] | None = None

    def hear(self, date: datetime) -> None:
        """Take the Date of an answer. It has whole seconds: of several answers the latest within its second is kept."""
        heard, now = self._heard, self.steady()
        if heard is None or not 0 <= now - heard[1] < _FRESH or (date - heard[0]).total_seconds() > now - heard[1]:
            self._heard = date, now

    @property
    def has_heard(self) -> bool:
        """Whether the clock was compared since the start."""
        return self._heard is not None

    def service_now(self) -> datetime:
        """Return the service's time, at most a second early; this clock's own before the first answer."""
        return self.clock() - timedelta(seconds=self.off())

    def off(self) -> float:
        """Return the seconds by which the clock is ahead; 0 before the first answer."""
        if self._heard is None:
            return 0.0
        date, then = self._heard
        return (self.clock() - date).total_seconds() - (self.steady() - then)


@dataclass(frozen=True, slots=True)
class TillRange:
    """Numbers of the agent, as the last lease names them."""

    prefix: str
    first: int
    last: int
    #: The next one that the service has not seen.
    from_here: int
    last_day: date | None

    def written(self, number: int) -> str:
        """Write a number of the range's type."""
        return f"{self.prefix}{number:010d}"


class Till:
    """Issues receipts. Calls of several threads come in turn: one number, one signature, one commit."""

    def __init__(self, store: Store, watch: Watch, credential: Credential | None) -> None:
        """Without a `credential` the service signs: a receipt waits for it, and cannot be printed before."""
        self._store = store
        self._watch = watch
        self.credential = credential
        self._signer = None if credential is None else Signer(credential)

    def issue(self, body: Mapping[str, Any]) -> tuple[Sale, bool]:
        """Issue what `body` (as of POST /invoices) asks for; return it, and whether it is new. Raises SaleRefused.

        When this returns, the receipt is on the disk. A repeat with the same clientRequestId gets the first one.
        """
        request_id = str(body.get("clientRequestId") or uuid.uuid4())
        meant = {name: value for name, value in body.items() if name in ("format", "payload", "xml")}
        digest = hashlib.sha256(write_canonical_json(meant)).hexdigest()
        with self._store.lock:
            known = self._store.of_request(request_id)
            if known is not None:
                if known.digest != digest:
                    raise SaleRefused(409, refusals.FOR_ANOTHER.fill(e_ncf=known.e_ncf))
                return known, False
            made = self._made(body, request_id, digest)
            with self._store.transaction():
                self._store.add(made)
            stored = self._store.find(made.e_ncf)
            assert stored is not None
            return stored, True

    def check(self, body: Mapping[str, Any]) -> None:
        """Raise SaleRefused where `issue` would, for the document itself; nothing is issued."""
        with self._store.lock:
            if self._store.of_request(str(body.get("clientRequestId"))) is None:
                self._made(body, "", "")

    def ranges(self) -> dict[str, TillRange]:
        """Return the agent's ranges by prefix."""
        lease = self._store.fact("lease") or {}
        return {
            one["prefix"]: TillRange(
                one["prefix"],
                int(one["minSequence"]),
                int(one["maxSequence"]),
                int(one["currentSequence"]),
                date.fromisoformat(one["expireOn"]) if one.get("expireOn") else None,
            )
            for one in lease.get("sequences", ())
        }

    def next_of(self, range_: TillRange) -> int:
        """Return the number that the next receipt of a range gets; one past its end: used up."""
        given = self._store.last_within(range_.written(range_.first), range_.written(range_.last))
        return max(0 if given is None else int(given[3:]) + 1, range_.from_here, range_.first)

    def _made(self, body: Mapping[str, Any], request_id: str, digest: str) -> Sale:
        lease = self._lease()
        now = self._moment()
        document = _read(body)
        if document.root is not Root.ECF or document.type is None:
            raise SaleRefused(400, refusals.ONLY_ECF)
        if document.e_ncf is not None:
            raise SaleRefused(400, refusals.OWN_NUMBER)
        range_ = self._range(document.type.prefix, local(now).date())
        e_ncf = range_.written(self.next_of(range_))
        document = _numbered(document, e_ncf)
        document, problems, written = _completed(document, lease, range_, now)
        if fatal := [one for one in problems if one.severity is Severity.REJECTED]:
            raise SaleRefused(400, fatal[0].text, tuple(serialize_problem(one) for one in problems))
        made = Sale(0, request_id, digest, e_ncf, b"", False, None, None, now.isoformat(), "waiting")
        if self._signer is None:
            return replace(made, body=write_canonical_json({"ECF": document.content}))
        signed = self._signer.sign_canonical(
            Canonical.of_plain(written.text) if written.is_plain else Canonical.of(written.element)
        )
        printed = Printed.of(written.element)
        if lease["consumerSummary"] == "automatic" and takes_summary(document, on=local(now).date()):
            summary = with_security_code(summarise(document, ""), signed.security_code)
            printed = Printed.of(write(summary).element)
        qr_url = printed.address(
            Environment(lease["environment"]), signed.security_code, ecf=lease["ecfHost"], fc=lease["fcHost"]
        )
        return replace(made, body=signed.xml, is_signed=True, security_code=signed.security_code, qr_url=qr_url)

    def _lease(self) -> dict[str, Any]:
        if self._store.fact("fenced") is not None:
            raise SaleRefused(409, refusals.FENCED)
        lease: dict[str, Any] | None = self._store.fact("lease")
        if lease is None:
            raise SaleRefused(503, refusals.NO_LEASE)
        return lease

    def _moment(self) -> datetime:
        """Return the moment of signing. Raises SaleRefused for a clock that cannot be right."""
        now = self._watch.clock().replace(microsecond=0)
        if abs(off := self._watch.off()) > MOST_SECONDS:
            raise SaleRefused(503, refusals.CLOCK_OFF.fill(seconds=round(off)))
        written = self._store.last_signed_at()
        if written is not None and (last := datetime.fromisoformat(written)) > now:
            if last - now <= _STEP:
                now = last
            elif not self._watch.has_heard:  # else the clock is right now, and was wrong then
                raise SaleRefused(503, refusals.BACKWARDS.fill(now=show_moment(now), last=show_moment(last)))
        if self.credential is not None and not self.credential.not_before <= now < self.credential.not_after:
            first, end = show_day(local(self.credential.not_before)), show_day(local(self.credential.not_after))
            raise SaleRefused(503, refusals.CERTIFICATE_OVER.fill(first=first, last=end))
        return now

    def _range(self, prefix: str, today: date) -> TillRange:
        found = self.ranges().get(prefix)
        if found is None:
            raise SaleRefused(409, refusals.NO_RANGE.fill(prefix=prefix))
        if self.next_of(found) > found.last:
            raise SaleRefused(409, refusals.USED_UP.fill(prefix=prefix, last=found.last))
        if found.last_day is not None and today > found.last_day:
            raise SaleRefused(409, refusals.EXPIRED.fill(prefix=prefix, day=show_day(found.last_day)))
        return found

    def flags(self) -> list[Text]:
        """Name what is wrong with the clock, the certificate and the ranges, or soon will be."""
        now = self._watch.clock()
        found: list[Text] = []
        if self._store.fact("fenced") is not None:
            found.append(refusals.FENCED)
        if abs(off := self._watch.off()) > WARN_SECONDS:
            found.append(refusals.CLOCK_WARNS.fill(seconds=round(off)))
        if self.credential is not None and self.credential.not_after - now < timedelta(days=15):
            found.append(refusals.CERTIFICATE_SOON.fill(day=show_day(local(self.credential.not_after))))
        for range_ in self.ranges().values():
            left = max(0, range_.last - self.next_of(range_) + 1)
            if left <= max(50, math.ceil((range_.last - range_.first + 1) / 10)):
                found.append(refusals.FEW_LEFT.fill(left=left, prefix=range_.prefix))
            if range_.last_day is not None and range_.last_day - local(now).date() < timedelta(days=15):
                found.append(refusals.EXPIRES_SOON.fill(prefix=range_.prefix, day=show_day(range_.last_day)))
        return found


def _read(body: Mapping[str, Any]) -> Document:
    try:
        if body.get("format") == "xml":
            return read_finished(str(body.get("xml") or "").encode())
        payload = body.get("payload")
        if body.get("format") != "structured" or not isinstance(payload, Mapping):
            raise SaleRefused(
                400,
                Text(
                    "send {format: structured, payload} or {format: xml, xml}",
                    "envíe {format: structured, payload} o {format: xml, xml}",
                ),
            )
        return read_payload(payload)
    except Malformed as wrong:
        raise SaleRefused(400, wrong.text) from None
    except NotADocument as wrong:
        raise _problems(wrong) from None


def _problems(wrong: NotADocument) -> SaleRefused:
    return SaleRefused(400, wrong.problems[0].text, tuple(serialize_problem(one) for one in wrong.problems))


def _numbered(document: Document, e_ncf: str) -> Document:
    head = dict(document.content.get("Encabezado") or {})
    head["IdDoc"] = {**(head.get("IdDoc") or {}), "eNCF": e_ncf}
    return replace(document, content={**document.content, "Encabezado": head})


def _completed(document: Document, lease: Mapping[str, Any], range_: TillRange, now: datetime) -> tuple[Any, Any, Any]:
    try:
        document = autofill(document, issuer=lease["issuer"], expiry=range_.last_day, now=now)
        written = write(document)
    except NotADocument as wrong:
        raise _problems(wrong) from None
    return document, check(document, now=now, element=written.element, is_plain=written.is_plain), written
