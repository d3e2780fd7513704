"""The mailer: sends accepted receipts to their buyers through the operator's relay (docs/decisions/mail.md).

A crash between the relay's taking a message and the booking sends it again, with the same Message-ID.
"""

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from functools import partial

import structlog
import trio

from fe.cache import ExpiringCache
from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE
from fe.ecf.mail_address import MailAddress
from fe.ecf.parse import Malformed
from fe.identifiers import SubmissionId, TenantId
from fe.issuing.sharing import Sharing
from fe.lifecycle import Status
from fe.mail.facts import read_facts
from fe.mail.message import MAX_ATTACHED, ReceiptMail, message_id_of, receipt_message
from fe.mail.relay import Relay, RelayRefused, RelayUnavailable, RelayUnusable, send
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart, ApartFailed
from fe.printing import PrintOptions, pdf
from fe.printing.options import print_key
from fe.process import failpoints
from fe.queue.backoff import scaled
from fe.queue.executor import run_stage
from fe.queue.outcome import End, Outcome, Park, Retry, TryLater, Writer, one_by_one
from fe.queue.result_writer import ResultWriter
from fe.queue.stage import StageConfig, StageContext, WorkKind, no_gate
from fe.store.postgres.db import Conn, Database
from fe.store.records import mail
from fe.store.records.mail import LANES, MAIL, MAILS, MailInput, MailState, MailWork
from fe.store.records.print_settings import CachedPrintSettings

_log = structlog.get_logger(__name__)

#: Mails sent at once by a process, each in a thread.
_SLOTS = 4
#: Share of a try's budget for the relay; the rest is for the database.
_SENDING = 0.75
#: Longest time for the PDF, as a share of the time for the relay. Then the XML goes alone.
_PRINTING = 0.2
#: A mail that the relay did not take for this long is given up.
_PATIENCE = timedelta(days=3)
_GAPS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1))

#: Prints a tenant's signed receipt.
Printer = Callable[[TenantId, bytes, PrintOptions], Awaitable[bytes]]

#: Prints that are kept for the next try, and the largest of them.
_KEPT, _KEPT_BYTES = 128, 256 * 1024
#: Larger documents, with their logos, are printed in a process of the pool for large ones.
_LARGE = 64 * 1024


def printer_of(apart: Apart) -> Printer:
    """Return a printer: short documents in a thread, others in a process, one of each at a time.

    It keeps the last prints for the next try of a mail that the relay did not take.
    """
    threads = trio.CapacityLimiter(1)
    made: ExpiringCache[object, bytes] = ExpiringCache(_KEPT)

    async def printed(tenant_id: TenantId, signed: bytes, options: PrintOptions) -> bytes:
        key = print_key(signed, options)
        if (found := made.get(key)) is not None:
            return found
        if len(signed) + len(options.logo or b"") > _LARGE:
            found = await apart.run(tenant_id, pdf, signed, options)
        else:
            found = await trio.to_thread.run_sync(pdf, signed, options, limiter=threads)
        if len(found) <= _KEPT_BYTES:
            made.put(key, found)
        return found

    return printed


def mail_gap(attempt: int, spread: random.Random) -> timedelta:
    """Return the wait after the failed try of this number (from 1): a minute to an hour, +-10 %."""
    return _GAPS[min(attempt, len(_GAPS)) - 1] * spread.uniform(0.9, 1.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailed(End):
    """The relay took it."""

    name: str = "sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailRefused(End):
    """The relay refused it for good; `bad_address`: the address goes on the tenant's list."""

    address: MailAddress
    reason: str
    code: int | None
    bad_address: bool
    name: str = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSuppressed(End):
    """The address is on the tenant's list: nothing was sent."""

    address: MailAddress
    name: str = "suppressed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRecipient(End):
    """The receipt has no address, or its tenant sends no mail any more."""

    name: str = "no recipient"


class Mailer:
    """Makes one try of a mail."""

    def __init__(
        self,
        db: Database,
        relay: Relay,
        clock: Clock,
        *,
        seconds: float,
        printer: Printer,
        spread: random.Random | None = None,
        sharing: Sharing | None = None,
    ) -> None:
        self._db = db
        self._sharing = sharing
        self._relay = relay
        self._clock = clock
        self._seconds = seconds
        self._printer = printer
        self._print_settings = CachedPrintSettings(db)
        self._spread = spread or random.Random()  # noqa: S311  (jitter)
        self._threads = trio.CapacityLimiter(_SLOTS)
        #: Tries in a row that the relay did not let begin. Only the first is logged.
        self._unusable = 0

    async def mail(self, work: MailWork) -> Outcome:
        """Make one try. Cancelled, it may have been sent and is repeated. Raises TryLater, LeaseLost."""
        needed = await self._db.run(mail.input_of, work)
        if needed is None or needed.settings is None:
            return NoRecipient()
        made = await trio.to_thread.run_sync(self._made, work, needed, limiter=self._threads)
        if made is None:
            return NoRecipient()
        draft, address = made
        now = self._clock()
        day = now.astimezone(ZONE).date()
        outcome, message_id, is_again = await self._db.run(
            partial(mail.begin, address=address, message_id=draft.message_id, day=day, a_day=needed.settings.a_day),
            work,
        )
        if outcome == "suppressed":
            return MailSuppressed(address=address)
        if outcome == "capped":
            return Retry(mail.CAPPED, self._until_tomorrow(now), counts=False)
        is_linked = needed.settings.documents == "linked" or len(draft.signed) > MAX_ATTACHED
        page = await self._share(work, now, is_again) if is_linked else None
        made_pdf = await self._print(work, draft) if page is None else None
        draft = replace(draft, message_id=message_id, pdf=made_pdf, page=page)
        try:
            await trio.to_thread.run_sync(
                self._send, draft, address, now, limiter=self._threads, abandon_on_cancel=True
            )
        except RelayUnusable as error:
            self._unused(error)
            if outcome == "counted":
                await self._db.run(mail.uncount, work)
            raise TryLater(error.reason) from error
        except RelayRefused as refused:
            self._used()
            bad = refused.bad_address
            return MailRefused(address=address, reason=refused.reason, code=refused.code, bad_address=bad)
        except RelayUnavailable as error:
            self._used()
            raise TryLater(error.reason) from error
        self._used()
        failpoints.reached("mailed")
        return Mailed()

    def _unused(self, error: RelayUnusable) -> None:
        if self._unusable == 0:
            _log.warning("the mail relay cannot be used, mails wait: read its answer", reason=error.reason)
        self._unusable += 1

    def _used(self) -> None:
        if self._unusable:
            _log.warning("the mail relay can be used again", failures=self._unusable)
            self._unusable = 0

    def _made(self, work: MailWork, needed: MailInput) -> tuple[ReceiptMail, MailAddress] | None:
        """Make the mail; None without a recipient. A test's CorreoComprador may be a real customer: not used."""
        assert needed.settings is not None
        try:
            facts = read_facts(needed.signed)
        except Malformed as error:  # pragma: no cover  (this program signed it)
            raise TryLater(f"the signed document cannot be read: {error}") from error
        is_test = work.lane.environment is not Environment.ECF
        address = facts.buyer_address if needed.notify is None and not is_test else None
        if needed.notify is not None:
            address = MailAddress(needed.notify)
        if address is None:
            return None
        made = ReceiptMail(
            facts=facts,
            signed=needed.signed,
            pdf=None,
            security_code=needed.security_code,
            qr_code_url=needed.qr_code_url,
            is_conditional=needed.status == Status.CONDITIONAL.value,
            is_test=is_test,
            language=needed.settings.language,
            reply_to=needed.settings.reply_to,
            message_id=message_id_of(work.subject, self._relay.sender),
        )
        return made, address

    async def _share(self, work: MailWork, at: datetime, is_again: bool) -> str | None:
        """Share a receipt and return the address of its page; None where there is no page for buyers.

        A later try shares nothing: what the first one shared may have been revoked, and stays so.
        """
        if self._sharing is None:
            return None
        of = work.tenant_id, SubmissionId(work.subject)
        if is_again:
            link = await self._db.run(self._sharing.link_of, *of)
        else:
            link = await self._db.transact(self._sharing.share, *of, at)
        return None if link is None else link.url

    async def _print(self, work: MailWork, draft: ReceiptMail) -> bytes | None:
        """Print the receipt; None, and the XML goes alone, where it cannot be printed soon."""
        error: Exception | str = "it took too long"
        with trio.move_on_after(self._seconds * _PRINTING):
            settings = await self._print_settings.of(work.tenant_id)
            options = settings.options(language=draft.language)
            options = replace(options, environment=work.lane.environment, url=draft.qr_code_url or "")
            try:
                return await self._printer(work.tenant_id, draft.signed, options)
            except (ValueError, ApartFailed) as failed:
                error = failed
        _log.warning("a receipt is mailed without a PDF", submission=work.subject, error=error)
        return None

    def _send(self, draft: ReceiptMail, address: MailAddress, at: datetime) -> None:
        send(self._relay, receipt_message(self._relay, draft, address, at), address, self._seconds)

    def _until_tomorrow(self, now: datetime) -> timedelta:
        here = now.astimezone(ZONE)
        midnight = datetime.combine(here.date() + timedelta(days=1), time(), ZONE)
        return midnight - here + timedelta(minutes=self._spread.uniform(0, 30))


# --- writers of outcomes ----------------------------------------------------------------------------------------------


async def _mailed(conn: Conn, work: MailWork, _: Mailed, at: datetime) -> bool:
    return await mail.rest(conn, work, at=at, state=MailState.SENT, code=250)


async def _refused(conn: Conn, work: MailWork, outcome: MailRefused, at: datetime) -> bool:
    written = await mail.rest(
        conn,
        work,
        at=at,
        state=MailState.REFUSED,
        reason=outcome.reason,
        code=outcome.code,
    )
    if written and outcome.bad_address:
        await mail.suppress(conn, work.tenant_id, outcome.address, "refused", at)
    return written


async def _suppressed(conn: Conn, work: MailWork, outcome: MailSuppressed, at: datetime) -> bool:
    return await mail.rest(conn, work, at=at, state=MailState.SUPPRESSED, address=outcome.address)


async def _no_recipient(conn: Conn, work: MailWork, _: NoRecipient, __: datetime) -> bool:
    return await mail.drop(conn, work)


async def _retry(conn: Conn, work: MailWork, outcome: Retry, _: datetime) -> bool:
    return await mail.retry(conn, work, after=outcome.after, reason=outcome.reason, counts=outcome.counts)


async def _park(conn: Conn, work: MailWork, outcome: Park, at: datetime) -> bool:
    return await mail.rest(conn, work, at=at, state=MailState.FAILED, reason=outcome.reason)


WRITERS: Mapping[type[Outcome], Writer[MailWork]] = {
    Mailed: one_by_one(_mailed),
    MailRefused: one_by_one(_refused),
    MailSuppressed: one_by_one(_suppressed),
    NoRecipient: one_by_one(_no_recipient),
    Retry: one_by_one(_retry),
    Park: one_by_one(_park),
}


def mail_kind(metrics: Metrics) -> WorkKind[MailWork]:
    """Mails as a kind of work."""

    def written(_: MailWork, outcome: Outcome) -> None:
        match outcome:
            case Park():
                metrics.mails.labels("gave_up").inc()
            case Retry(counts=False):
                metrics.mails.labels("put_off").inc()
            case Retry():
                metrics.mails.labels("failed_try").inc()
            case _:
                metrics.mails.labels(outcome.name.replace(" ", "_")).inc()

    return WorkKind(MAILS, WRITERS, written=written, subject="submission")


def mail_stage(mailer: Mailer, kind: WorkKind[MailWork], *, budget: float, scale: float = 1.0) -> StageConfig[MailWork]:
    """Build the stage."""
    return StageConfig(
        MAIL,
        kind,
        mailer.mail,
        _SLOTS,
        LANES,
        budget,
        gap=scaled(mail_gap, scale),
        max_attempts=None,
        patience=_PATIENCE * scale,
    )


async def run_mail(
    relay: Relay,
    tools: StageContext,
    printer: Printer,
    *,
    budget: float,
    scale: float,
    stopping: trio.Event,
    sharing: Sharing | None = None,
) -> None:
    """Send due mails until `stopping`, then finish those in flight. The authority's circuits do not stop mail."""
    own = replace(tools, gate=no_gate)
    results = ResultWriter(mail_kind(tools.metrics), tools.db, tools.clock)
    mailer = Mailer(tools.db, relay, tools.clock, seconds=budget * _SENDING, printer=printer, sharing=sharing)
    async with results.running():
        await run_stage(mail_stage(mailer, results.kind, budget=budget, scale=scale), own, stopping, results)
