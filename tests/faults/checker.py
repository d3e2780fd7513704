"""The judge of a run: pure functions from what is known after it to what must not be.

The invariants are those of docs/faults.md. I4 (counts) is in counted_checker.py, I7 (webhooks) in hooks_checker.py,
I13 (mail) in mails.py, I14 to I16 (modes, terms, paper) in modes_checker.py.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import FINAL, LATER, EventKind, Life, NumberFate, Place, Status, Unlawful
from fe.operations.evidence import link_hash
from fe.store.records.paper import TRY_PREFIX
from tests.faults.counted_checker import counted_once
from tests.faults.history import Arrival, Event, History, Outcome, Submission, by_submission
from tests.faults.hooks_checker import told_at_least_once
from tests.faults.mails import mailed_at_least_once
from tests.faults.modes_checker import deferred_only_with_authorisation, late_are_alarmed, paper_replaced_once

#: How many times a document's bytes may be sent before it is an operator's matter.
MAX_SENDS = 8
#: How long after its revocation a key may still be served.
REVOKED_WITHIN = 30.0
#: How long after a blip of the database a front may go on refusing: seconds, on a machine that is busy.
RETURNS_WITHIN = 15.0

_ACCEPTED = ("Aceptado", "Aceptado Condicional")
_DUPLICATE_CODES = (3, 1209)
#: Documents of which the authority can be asked what became of them.
ASKED_ABOUT = ("reception", "summary_reception")
_TRY_AGAIN = "intentar nueva vez"


@dataclass(frozen=True)
class Violation:
    """Something that must not be: which invariant, about what, and what is wrong."""

    invariant: str
    about: str
    says: str

    def __str__(self) -> str:
        return f"{self.invariant}  {self.about}: {self.says}"


def check(history: History) -> list[Violation]:
    """Look at a run for what breaks each invariant."""
    return [
        Violation(invariant, about, says)
        for invariant, find in CHECKS.items()
        for about, says in dict.fromkeys(find(history))
    ]


Found = Iterator[tuple[str, str]]


def nothing_lost(history: History) -> Found:
    """I1: every acknowledged submission is there, once, and comes to an end or is a dead letter."""
    rows = {row.submission_id: row for row in history.database.submissions}
    for call in history.calls:
        if call.op != "submit" or call.outcome is not Outcome.OK:
            continue
        if call.tax_log_id is None:
            yield call.request_id or "?", f"answered {call.http} without a taxLogId"
            continue
        row = rows.get(SubmissionId(UUID(call.tax_log_id)))
        if row is None:
            yield call.tax_log_id, f"answered {call.http}, and there is no such submission"
        elif (row.tenant_id, row.environment) != (call.tenant_id, call.environment):
            yield call.tax_log_id, "it belongs to another tenant or environment"
    dead = {letter.subject for letter in history.database.dead_letters}
    for row in rows.values():
        if Status(row.status) not in FINAL and row.submission_id not in dead:
            yield str(row.submission_id), f"it is {row.status}, and no dead letter"
        if Status(row.status) in FINAL and row.submission_id in dead:
            yield str(row.submission_id), f"it is {row.status}, and a dead letter too"


def one_document_for_a_number(history: History) -> Found:
    """I2: under one number of one issuer in one environment the authority sees one string of bytes."""
    seen: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for arrival in history.arrivals:
        if arrival.sha256 is not None:
            seen[arrival.environment, arrival.operation, arrival.file_name or "?"].add(arrival.sha256)
    for (environment, operation, file_name), digests in seen.items():
        if len(digests) > 1:
            yield f"{environment} {operation} {file_name}", f"{len(digests)} different documents"


def sent_again_only_in_doubt(history: History) -> Found:
    """I3: bytes go out only after a committed intent, again only after an outcome that was unknown, at most 8 times."""
    taken = _arrivals_dealt_with(history)
    events_of = by_submission(history.database.events)
    announced: Counter[str] = Counter()
    ever: set[str] = set()
    bytes_of = {row.submission_id: row.goes_out for row in history.database.submissions}
    for submission_id, sends in by_submission(history.database.sends).items():
        for send in sends:
            ever.add(send.digest)
            announced[send.digest] += send.outcome != "not_sent"
            if send.digest != bytes_of.get(submission_id):
                yield str(submission_id), f"epoch {send.epoch} announced other bytes than those that are kept"
        asked = _asked_between(events_of.get(submission_id, ()))
        for earlier, later in pairwise(sends):
            if earlier.outcome not in ("not_sent", "not_known") and later.epoch not in asked:
                yield (
                    str(submission_id),
                    f"sent again (epoch {later.epoch}) after epoch {earlier.epoch} {earlier.outcome}",
                )
    for arrival in history.arrivals:
        if arrival.sha256 is not None and arrival.sha256 not in ever:
            yield _name(arrival), "bytes arrived that nobody had announced"
    for digest, count in taken.items():
        if digest in ever and count > announced[digest]:
            yield digest[:12], f"the authority dealt with it {count} times, {announced[digest]} sends may have arrived"
    yield from _unasked(history)
    for submission_id, events in events_of.items():
        count = 0
        for event in events:
            count = 0 if event.kind == EventKind.REPLAYED else count + (event.kind == EventKind.SENDING)
            if count > MAX_SENDS:
                yield str(submission_id), f"sent more than {MAX_SENDS} times"


def _asked_between(events: Sequence[Event]) -> set[int]:
    """The epochs of sends before which, since the send before, the authority did not know the document."""
    asked: set[int] = set()
    unknown_there = False
    for event in events:
        if event.kind == EventKind.NOT_KNOWN_THERE:
            unknown_there = True
        elif event.kind == EventKind.SENDING:
            if unknown_there:
                asked.add(event.detail["epoch"])
            unknown_there = False
    return asked


def _unasked(history: History) -> Found:
    """Judge by the authority's journal: between two arrivals of the same bytes it must have answered "not known".

    A question alone does not count: the sender of the first asks for its verdict soon after, and gets one.
    """
    before: dict[str, Arrival] = {}
    for arrival in history.arrivals:
        if arrival.sha256 is None or not arrival.effect or arrival.operation not in ASKED_ABOUT:
            continue
        earlier, before[arrival.sha256] = before.get(arrival.sha256), arrival
        if earlier is None or earlier.life != arrival.life or earlier.at is None:
            continue  # it has forgotten what it answered in an earlier life
        if arrival.fault == "duplicate-delivery" and earlier.fault == "duplicate-delivery":
            continue  # a proxy's doing
        if arrival.not_known_at is None or arrival.not_known_at < earlier.at:
            yield (
                _name(arrival),
                f"arrival {arrival.seq} follows arrival {earlier.seq},"
                " and the authority had not answered 'not known' in between",
            )


def _arrivals_dealt_with(history: History) -> Counter[str]:
    """How many requests with these bytes the authority dealt with. One delivered twice by a proxy is one request."""
    taken: Counter[str] = Counter()
    doubled: Counter[str] = Counter()
    for arrival in history.arrivals:
        if arrival.sha256 is None or not arrival.effect:
            continue
        if arrival.fault == "duplicate-delivery":
            doubled[arrival.sha256] += 1
        else:
            taken[arrival.sha256] += 1
    for digest, records in doubled.items():
        taken[digest] += (records + 1) // 2
    return taken


def numbers_in_order(history: History) -> Found:
    """I5: no drawn number twice, none beyond the range, no gap: a draw that is rolled back gives its number back."""
    drawn = {
        event.submission_id
        for event in history.database.events
        if event.kind == EventKind.ACCEPTED and event.detail.get("drawn") is True
    }
    numbers: dict[tuple[int, str, str], Counter[int]] = defaultdict(Counter)
    for row in history.database.submissions:
        if row.submission_id in drawn:
            if row.e_ncf is None:
                yield str(row.submission_id), "it drew a number and has none"
            else:
                numbers[row.tenant_id, row.environment, row.e_ncf[:3]][int(row.e_ncf[3:])] += 1
    for sequence in history.database.sequences:
        about = f"tenant {sequence.tenant_id} {sequence.environment} {sequence.prefix}"
        given = numbers.pop((sequence.tenant_id, sequence.environment, sequence.prefix), Counter())
        for number, times in given.items():
            if times > 1:
                yield about, f"{number} was drawn {times} times"
            if not sequence.min_number <= number <= sequence.max_number:
                yield about, f"{number} is outside the range"
        gone = set(range(sequence.min_number, sequence.current_number)) - given.keys()
        if gone:
            yield about, f"{len(gone)} numbers are gone and nobody has them, first {min(gone)}"
        ahead = [number for number in given if number >= sequence.current_number]
        if ahead:
            yield about, f"{min(ahead)} was drawn and would be drawn again"
    for tenant_id, environment, prefix in numbers:
        yield f"tenant {tenant_id} {environment} {prefix}", "numbers were drawn from a sequence that is not there"


def lives_are_lawful(history: History) -> Found:
    """I6: every life goes along the table of transitions, as its row says it went, in events whole and unchanged."""
    events_of = by_submission(history.database.events)
    places = {row.subject: Place(row.stage) for row in history.database.outbox}
    places |= {row.subject: Place.DEAD_LETTER for row in history.database.dead_letters}
    for row in history.database.submissions:
        about, events = str(row.submission_id), events_of.pop(row.submission_id, [])
        if not events:
            yield about, "it has no events"
            continue
        yield from ((about, fault) for fault in _faults_of_chain(events))
        try:
            life = _life(events)
        except Unlawful as wrong:
            yield about, str(wrong)
        else:
            says = (Status(row.status), NumberFate(row.number_fate), places.get(row.submission_id, Place.ENDED))
            for of_events, of_row in zip((life.status, life.fate, life.place), says, strict=True):
                if of_events is not of_row:
                    yield about, f"its events end as {of_events}, its row says {of_row}"
        sealed = " ".join(event.detail_text for event in events)
        for digest in filter(None, (row.signed, row.sent)):
            if digest not in sealed:
                yield about, "its events do not know its document"
    for submission_id in events_of:
        yield str(submission_id), "events of nothing"
    yield from _sends_without_event(history)
    yield from _what_clients_saw(history)


def _sends_without_event(history: History) -> Found:
    """Each announced send has its event: a history from which an event was taken and then sealed anew lacks one."""
    told = {
        (event.submission_id, event.detail["epoch"])
        for event in history.database.events
        if event.kind == EventKind.SENDING
    }
    for send in history.database.sends:
        if (send.submission_id, send.epoch) not in told:
            yield str(send.submission_id), f"its events do not tell of the send of epoch {send.epoch}"


def _life(events: Sequence[Event]) -> Life:
    life = Life()
    for event in events:
        life = life.after(event.kind, event.detail)
    return life


def _faults_of_chain(events: Sequence[Event]) -> Iterator[str]:
    previous = b""
    for number, event in enumerate(events, 1):
        if event.seq != number:
            yield f"event {number} is missing"
            return
        computed = link_hash(
            previous, event.tenant_id, event.submission_id, event.seq, event.at, event.kind, event.detail_text
        )
        if computed != event.hash:
            yield f"event {number} ({event.kind}) was changed, or one before it was"
            return
        previous = event.hash


def _what_clients_saw(history: History) -> Found:
    """A client that asks one question after another sees only legal moves, and an end that stays."""
    last: dict[str, tuple[float, Status]] = {}
    asked = [call for call in history.calls if call.op == "ask" and call.status is not None and call.tax_log_id]
    for call in sorted(asked, key=lambda call: call.started):
        assert call.tax_log_id is not None
        status = Status(call.status or "")
        ended, before = last.get(call.tax_log_id, (0.0, Status.QUEUED))
        if call.started >= ended:
            if status not in LATER[before]:
                yield call.tax_log_id, f"a client saw {before} and then {status}"
            last[call.tax_log_id] = (call.ended, status)


def drained(history: History) -> Found:
    """I8: when the faults are over, everything comes to its end: nothing waits and nothing is held."""
    for due in history.database.outbox:
        held = f", held by {due.holder}" if due.holder else ""
        yield str(due.subject), f"still waits for {due.stage}, attempt {due.attempt}{held}: {due.last_error}"
    for prepared in history.database.in_doubt:
        yield prepared, "prepared on that server, and never ended"


def revocation_works(history: History) -> Found:
    """I9: a revoked key is not served later than 30 s after the revocation."""
    for revocation in history.revocations:
        for call in history.calls:
            late = call.started - revocation.at
            if call.key == revocation.key and call.outcome is Outcome.OK and late > REVOKED_WITHIN:
                yield revocation.key, f"served {late:.1f} s after it was revoked"


def said_once(history: History) -> Found:
    """I10: one clientRequestId is one submission, without one each call is its own; every answer names it rightly."""
    named: dict[tuple[TenantId, str, str], set[str]] = defaultdict(set)
    firsts: Counter[tuple[TenantId, str, str]] = Counter()
    for call in history.calls:
        if call.op == "submit" and call.outcome is Outcome.OK and call.request_id and call.tax_log_id:
            key = (call.tenant_id, call.environment, call.request_id)
            named[key].add(call.tax_log_id)
            firsts[key] += call.http == 202
    kept = Counter(
        (row.tenant_id, row.environment, row.client_request_id)
        for row in history.database.submissions
        if row.client_request_id is not None
    )
    for key, ids in named.items():
        if len(ids) > 1:
            yield key[2], f"its answers name {len(ids)} submissions"
        if firsts[key] > 1:
            yield key[2], f"{firsts[key]} calls were told that they were the first"
        if kept[key] == 0:
            yield key[2], "answered, and no submission bears its name"
    for (_, _, request_id), count in kept.items():
        if count > 1:
            yield str(request_id), f"{count} submissions bear its name"
    yield from _answered_rightly(history)
    yield from _nobody_elses(history)


def _answered_rightly(history: History) -> Found:
    """Each answer names the id and the number of the document that the call handed in.

    An answer may leave the number out; I1 judges an id without a submission.
    """
    rows = {str(row.submission_id): row for row in history.database.submissions}
    unnamed: Counter[str] = Counter()
    for call in history.calls:
        if call.outcome is not Outcome.OK or call.tax_log_id is None:
            continue
        row = rows.get(call.tax_log_id)
        if call.op == "submit":
            # Nothing tells two calls without a name from each other: each hands in a document of its own.
            unnamed[call.tax_log_id] += call.request_id is None
            if row is not None and row.client_request_id != call.request_id:
                yield call.tax_log_id, f"it is named to {call.request_id}, and bears the name {row.client_request_id}"
        if row is not None and call.e_ncf not in (None, row.e_ncf):
            yield call.tax_log_id, f"a client was told that its number is {call.e_ncf}, and it is {row.e_ncf}"
    for tax_log_id, times in unnamed.items():
        if times > 1:
            yield tax_log_id, f"{times} calls without clientRequestId were answered with it"


def _nobody_elses(history: History) -> Found:
    """There are no more submissions than were handed in; what was refused was not."""
    submits = [call for call in history.calls if call.op == "submit" and call.outcome is not Outcome.FAIL]
    handed_in = {call.request_id for call in submits if call.request_id}
    unnamed = sum(call.request_id is None for call in submits)
    nameless = 0
    for row in history.database.submissions:
        nameless += row.client_request_id is None
        if row.client_request_id is None or row.client_request_id.startswith(TRY_PREFIX):
            continue  # I16 judges the e-CF that replace paper
        if row.client_request_id not in handed_in:
            yield str(row.submission_id), "nobody handed it in"
    if nameless > unnamed:
        yield "without clientRequestId", f"{nameless} submissions out of {unnamed} calls"


def service_returns(history: History) -> Found:
    """I11: once the database is back, every front serves again within seconds, though its clients never paused."""
    for blip in history.blips:
        if blip.served is None:
            yield blip.front, f"it does not serve although the database is back: {blip.refused} calls refused"
        elif blip.served - blip.back > RETURNS_WITHIN:
            yield blip.front, f"it served {blip.served - blip.back:.1f} s after the database was back"


def refused_as_such(history: History) -> Found:
    """I12: what cannot be served is answered 503, which says that it may be tried again, and nothing else of ours."""
    for call in history.calls:
        if call.http is not None and call.http >= 500 and call.http != 503:
            yield f"{call.op} at {call.started:.1f} s", f"answered {call.http}"


def verdicts_agree(history: History) -> Found:
    """V: what we tell our client is what the authority decided about these very bytes."""
    decided: dict[str, list[Arrival]] = defaultdict(list)
    for arrival in history.arrivals:
        if arrival.sha256 is not None and arrival.effect:
            decided[arrival.sha256].append(arrival)
    for row in history.database.submissions:
        arrivals = decided.get(row.goes_out or "", [])
        accepted = any(arrival.estado in _ACCEPTED for arrival in arrivals)
        refused = any(arrival.refused for arrival in arrivals)
        rejected = any(_is_rejection(arrival) for arrival in arrivals)
        wrong = _disagreement(row, accepted=accepted, rejected=rejected, refused=refused)
        if wrong is not None:
            yield str(row.submission_id), wrong
        if any(arrival.used for arrival in arrivals) and row.number_fate == "reusable":
            yield str(row.submission_id), "its number is used over there and reusable here"
        if (
            row.status in _ACCEPTED
            and row.e_ncf is not None
            and row.root in ("ECF", "RFCE")
            and row.number_fate != "used"
        ):
            yield str(row.submission_id), f"it was accepted, and its number is {row.number_fate}"


def _is_rejection(arrival: Arrival) -> bool:
    """A judgement of the document itself: not of its second arrival, and no breakdown over there."""
    return (
        arrival.estado == "Rechazado"
        and not arrival.refused
        and not set(arrival.codes) & set(_DUPLICATE_CODES)
        and _TRY_AGAIN not in arrival.words
    )


def _disagreement(row: Submission, *, accepted: bool, rejected: bool, refused: bool) -> str | None:
    match Status(row.status):
        case Status.ACCEPTED | Status.CONDITIONAL if not accepted:
            return f"{row.status} here, and the authority never accepted it"
        case Status.REJECTED if accepted:
            return "rejected here, and the authority accepted it"
        case Status.REJECTED if not rejected and not refused:
            return "rejected here, and the authority never judged it so"
        case Status.ERROR if accepted:
            return "error here, and the authority accepted it"
        case Status.ERROR if rejected:
            return "error here, and the authority rejected it"
    return None


def _name(arrival: Arrival) -> str:
    return f"{arrival.environment} {arrival.file_name}"


#: Every invariant there is something to judge by.
CHECKS: dict[str, Callable[[History], Found]] = {
    "I1": nothing_lost,
    "I2": one_document_for_a_number,
    "I3": sent_again_only_in_doubt,
    "I4": counted_once,
    "I5": numbers_in_order,
    "I6": lives_are_lawful,
    "I7": told_at_least_once,
    "I8": drained,
    "I9": revocation_works,
    "I10": said_once,
    "I11": service_returns,
    "I12": refused_as_such,
    "I13": mailed_at_least_once,
    "I14": late_are_alarmed,
    "I15": deferred_only_with_authorisation,
    "I16": paper_replaced_once,
    "V": verdicts_agree,
}
