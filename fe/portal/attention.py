"""Notices for a company: problems, each with the page that solves it, the worst first. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fe.accounts.expiry import warnings
from fe.contingency import replace_by
from fe.ecf.catalogue import Environment
from fe.ecf.dates import end_of_day, local
from fe.ecf.texts import Text
from fe.lifecycle import Status
from fe.portal import receipt_words as words
from fe.portal.answer_time import URGENT, time_left
from fe.portal.sequence_forms import page_of
from fe.store.portal.standing import MAX_COUNTED, Unsettled
from fe.store.portal.todo import Todo
from fe.store.records.certificates import CertificateRecord
from fe.store.records.paper import OpenPapers
from fe.store.records.recurring import RecurringNotice
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.waiting import MAX_COUNTED as MAX_ANSWERS
from fe.store.webhooks.endpoints import Endpoint
from fe.webhooks.notices import SEQUENCE_DAYS, SEQUENCE_PERCENTS

#: The day of a month by which the 606 of the month before is filed.
DAY_OF_606 = 15
#: Age up to which rejected or failed receipts are shown here.
LATELY = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class PortalNotice:
    """One thing to look at. `colour` is that of a badge; `path` is the page below the company's."""

    colour: str
    text: Text
    path: str
    #: Whether it is still to come: a day or a number that is near.
    is_soon: bool = False
    #: Days that are left, where that is known: fewer are more urgent.
    days: int | None = None
    #: Names the notice at the threshold it has passed: the same until the next one; '' where mails do not tell of it.
    about: str = ""
    #: Status of the receipts that it counts.
    status: Status | None = None

    @property
    def urgency(self) -> tuple[bool, bool, int]:
        """Return what notices are ordered by: urgent ones first, then those with the fewest days left."""
        return self.colour != "bad", self.days is None, 0 if self.days is None else self.days


def notices(
    certificates: Sequence[CertificateRecord],
    sequences: Sequence[NumberSequence],
    endpoints: Sequence[Endpoint],
    troubles: Sequence[Unsettled],
    now: datetime,
    *,
    todo: Todo | None = None,
    answer_days: int = 0,
    recurring: Sequence[RecurringNotice] = (),
    papers: Iterable[OpenPapers] = (),
) -> list[PortalNotice]:
    """List the company's notices, the worst first; a received receipt is answered within `answer_days`, 0: whenever."""
    found = [
        *_of_certificates(certificates, now),
        *_of_troubles(troubles),
        *(() if todo is None else _of_todo(todo, now, answer_days)),
        *_of_sequences(sequences, now),
        *_of_endpoints(endpoints),
        *_of_recurring(recurring),
        *_of_papers(papers, now),
    ]
    return sorted(found, key=lambda notice: notice.urgency)


def for_mail(
    certificates: Sequence[CertificateRecord],
    sequences: Sequence[NumberSequence],
    troubles: Sequence[Unsettled],
    now: datetime,
) -> list[PortalNotice]:
    """List the notices that are mailed to owners. A company without a certificate is still being set up."""
    found = [
        *(_of_certificates(certificates, now) if certificates else ()),
        *_of_troubles(troubles),
        *_of_sequences(sequences, now),
    ]
    return sorted(found, key=lambda notice: notice.urgency)


def _of_todo(todo: Todo, now: datetime, answer_days: int) -> Iterator[PortalNotice]:
    if todo.answers and todo.since is not None:
        many = f"{todo.answers}+" if todo.answers >= MAX_ANSWERS else str(todo.answers)
        time = time_left(todo.since, now=now, days=answer_days)
        said = Text(
            f"Received receipts that wait for your answer: {many}. The oldest: {time.text.en}.",
            f"Recibidos que esperan su respuesta: {many}. El más antiguo: {time.text.es}.",
        )
        colour = "bad" if time.colour == "bad" else "warn"
        days = answer_days - (now - todo.since).days if answer_days else None
        yield PortalNotice(colour, said, f"{todo.environment}/received", is_soon=colour != "bad", days=days)
    if todo.unclassified:
        left, month = DAY_OF_606 - local(now).day, todo.month.name
        said = Text(
            f"Suppliers without a kind of expense for the 606 of {month.en}: {todo.unclassified}.",
            f"Suplidores sin tipo de gasto para el 606 de {month.es}: {todo.unclassified}.",
        )
        colour = "bad" if 0 <= left <= URGENT else "warn"
        path = f"{todo.environment}/months/{todo.month}/606"
        yield PortalNotice(colour, said, path, is_soon=colour != "bad", days=left if left >= 0 else None)


def _of_certificates(certificates: Sequence[CertificateRecord], now: datetime) -> Iterator[PortalNotice]:
    if not certificates:
        yield PortalNotice("bad", _NO_CERTIFICATE, "certificates")
    elif len(certificates) > 1 and all(one.user_id is not None for one in certificates):
        yield PortalNotice("warn", _NONE_OF_THE_COMPANY, "certificates")
    for warning in warnings(certificates, now):
        said = Text(_sentence(warning.text.en), _sentence(warning.text.es))
        yield PortalNotice(
            "bad" if warning.is_urgent else "warn",
            said,
            "certificates",
            is_soon=not warning.is_urgent,
            about=f"{warning.record.certificate_id}/{warning.within} days",
        )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


_NO_CERTIFICATE = Text(
    "There is no certificate: nothing can be signed.", "Falta el certificado digital: no se puede firmar nada."
)
#: With one user's certificate alone that one signs: `certificate_choice`.
_NONE_OF_THE_COMPANY = Text(
    "There is no certificate of the company: of several users', only receipts that name one of them are signed.",
    "La empresa no tiene certificado propio y varios usuarios sí: solo se firman los comprobantes que indican a uno.",
)
_GIVEN_UP = Text(
    "receipts that wait for the service's operator", "comprobantes en revisión por el operador del servicio"
)
_REJECTED = Text("receipts rejected in the last 7 days", "comprobantes rechazados en los últimos 7 días")
_FAILED = Text(
    "receipts that ended in an error in the last 7 days", "comprobantes que terminaron en error en los últimos 7 días"
)


#: Before a sentence about an environment; production goes without saying.
_WHERE = {
    Environment.ECF: Text("", ""),
    Environment.CERTECF: Text("Certification: ", "Certificación: "),
    Environment.TESTECF: Text("Tests: ", "Pruebas: "),
}


def _in(environment: Environment, said: Text) -> Text:
    """Put the environment before what is said."""
    where = _WHERE[environment]
    return Text(_sentence(f"{where.en}{said.en}"), _sentence(f"{where.es}{said.es}"))


def _of_troubles(troubles: Sequence[Unsettled]) -> Iterator[PortalNotice]:
    for one in troubles:
        here = f"{one.environment}/submissions"
        for many, state, what, status in (
            (one.given_up, "dead", _GIVEN_UP, None),
            (one.rejected, "rejected", _REJECTED, Status.REJECTED),
            (one.failed, "error", _FAILED, Status.ERROR),
        ):
            if many:
                shown = f"{many}+" if many >= MAX_COUNTED else str(many)
                said = _in(one.environment, Text(f"{what.en}: {shown}.", f"{what.es}: {shown}."))
                colour = "bad" if one.environment.billable else "warn"
                yield PortalNotice(colour, said, f"{here}?state={state}", status=status)


#: Wording by whole days left, for days in Santo Domingo.
_SOON = {
    0: Text("at the end of today", "hoy, al terminar el día"),
    1: Text("at the end of tomorrow", "mañana, al terminar el día"),
}


def _of_sequences(sequences: Sequence[NumberSequence], now: datetime) -> Iterator[PortalNotice]:
    for stored in sequences:
        if not stored.is_active:
            continue
        one = stored.at(now)  # its next range counts
        key, path = f"{one.environment} {one.label}", f"{one.environment}/sequences"
        of_range = f"{key}/{one.min_number}-{one.max_number}"
        left, size = one.numbers_left, one.max_number - one.min_number + 1
        bad = "bad" if one.environment.billable else "warn"
        name = words.sequence_name(one.prefix, one.name)
        if one.paused_at is not None:
            said = Text(
                f"the sequence of {name.en} is paused: another document holds {one.paused_for}, which it gave.",
                f"la secuencia de {name.es} está en pausa: otro comprobante ya tiene el {one.paused_for}, que ella"
                " asignó.",
            )
            about = f"{key}/paused for {one.paused_for}"
            yield PortalNotice(bad, _in(one.environment, said), f"{one.environment}/{page_of(one)}", about=about)
        if left <= 0:
            said = Text(f"the sequence of {name.en} is used up.", f"la secuencia de {name.es} está agotada.")
            yield PortalNotice(bad, _in(one.environment, said), path, about=f"{of_range}/0%")
        elif left * 100 <= size * max(SEQUENCE_PERCENTS):
            many = (
                Text("1 number", "queda 1 número") if left == 1 else Text(f"{left} numbers", f"quedan {left} números")
            )
            said = Text(f"the sequence of {name.en} has {many.en} left.", f"a la secuencia de {name.es} le {many.es}.")
            about = f"{of_range}/{max(SEQUENCE_PERCENTS)}%"
            yield PortalNotice("warn", _in(one.environment, said), path, is_soon=True, about=about)
        if one.gives_until is None or left <= 0:
            continue
        ends_at = end_of_day(one.gives_until)
        days, ends = (ends_at - now).days, f"{key}/{one.gives_until}"
        if ends_at <= now:
            said = Text(f"the sequence of {name.en} has expired.", f"la secuencia de {name.es} venció.")
            yield PortalNotice(bad, _in(one.environment, said), path, about=f"{ends}/0 days")
        elif days < max(SEQUENCE_DAYS):
            when = _SOON.get(days) or Text(f"in {days} days", f"en {days} días")
            said = Text(f"the sequence of {name.en} expires {when.en}.", f"la secuencia de {name.es} vence {when.es}.")
            about = f"{ends}/{min(limit for limit in SEQUENCE_DAYS if days < limit)} days"
            yield PortalNotice("warn", _in(one.environment, said), path, is_soon=True, days=days, about=about)


_HELD = Text("recurring receipts that could not be issued", "comprobantes recurrentes que no se pudieron emitir")
_AT_RISK = Text(
    "recurring receipts that would not be issued within a day",
    "comprobantes recurrentes previstos para las próximas 24 horas que no se podrían emitir",
)
_COMING = Text(
    "recurring receipts that are issued within a day", "comprobantes recurrentes que se emiten en las próximas 24 horas"
)


def _of_recurring(recurring: Sequence[RecurringNotice]) -> Iterator[PortalNotice]:
    for one in recurring:
        bad = "bad" if one.environment.billable else "warn"
        for many, what, colour, is_soon in (
            (one.held, _HELD, bad, False),
            (one.at_risk, _AT_RISK, bad, True),
            (one.coming, _COMING, "ok", True),
        ):
            if many:
                said = _in(one.environment, Text(f"{what.en}: {many}.", f"{what.es}: {many}."))
                yield PortalNotice(colour, said, f"{one.environment}/recurring", is_soon=is_soon)


#: Days left of the term for replacing paper receipts below which it is urgent.
_PAPER_DAYS = 10


def _of_papers(papers: Iterable[OpenPapers], now: datetime) -> Iterator[PortalNotice]:
    for one in papers:
        environment = one.environment
        days = (replace_by(one.period_began_at, one.period_ended_at) - now).days
        text = Text(
            f"paper receipts without an accepted e-CF: {one.receipts}; days left: {days}.",
            f"comprobantes en papel sin e-CF aceptado: {one.receipts}; días que quedan: {days}.",
        )
        said = _in(environment, text)
        is_bad = environment.billable and days < _PAPER_DAYS
        path = f"{environment}/contingency/paper"
        yield PortalNotice("bad" if is_bad else "warn", said, path, is_soon=not is_bad, days=days)


def _of_endpoints(endpoints: Sequence[Endpoint]) -> Iterator[PortalNotice]:
    for one in endpoints:
        path = f"{one.environment or 'ecf'}/webhooks"
        if one.disabled_at is not None:
            said = Text("Your webhook is disabled.", "Su webhook está desactivado.")
            yield PortalNotice("bad", said, path)
        elif one.enabled and one.failing_since is not None:
            said = Text("Calls of your webhook are failing.", "Las llamadas a su webhook están fallando.")
            yield PortalNotice("warn", said, path)
