"""The system with one deliberate bug at a time: what the checker does not catch here, it would not catch in earnest."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fe.actors.credentials import Opened
from fe.actors.reconciler import Reconciler
from fe.authority.client import Verdict
from fe.authority.estado import Estado
from fe.queue.lease_guard import LeaseGuard
from fe.queue.outcome import Outcome
from fe.store.queue.outbox import Work
from fe.store.queue.steps import ReconcileFacts
from tests.simulation.rows import Due, Key, Tables
from tests.simulation.statements import Answer
from tests.simulation.steps import Steps, Values

Twist = Callable[[Tables, str, Answer], Answer]


def _straight(_: Tables, __: str, answer: Answer) -> Answer:
    return answer


@dataclass(frozen=True)
class Mutant:
    """A bug: other functions of the database, other answers of it, another reconciler, or another pulse."""

    name: str
    #: The invariants of which at least one must be seen broken.
    breaks: tuple[str, ...]
    steps: type[Steps] = Steps
    twist: Twist = _straight
    reconciler: type[Reconciler] = Reconciler
    pulse: type[LeaseGuard] = LeaseGuard


#: Nothing is wrong with it.
SOUND = Mutant("sound", ())


class _NoFence(Steps):
    """Accept bookings under any earlier claim."""

    def ours(self, values: Values) -> Due | None:
        return self.tables.outbox.get((values["tenant"], values["subject"]))


class _NoIntent(Steps):
    """Bytes go out and nothing is written down before."""

    def intend_to_send(self, values: Values) -> str:
        row = self.ours(values)
        return "go" if row is not None and row.stage == "send" else "lost"


class _NoLastLook(Steps):
    """An earlier send that was never resolved does not keep the next one from going out."""

    def intend_to_send(self, values: Values) -> str:
        before = {send.epoch: send.outcome for send in self.sends_of((values["tenant"], values["subject"]))}
        for send in self.sends_of((values["tenant"], values["subject"])):
            send.outcome = "not_sent" if send.epoch != values["epoch"] else send.outcome
        said = super().intend_to_send(values)
        for send in self.sends_of((values["tenant"], values["subject"])):
            send.outcome = before.get(send.epoch, send.outcome)
        return said


class _SendUnasked(Steps):
    """In doubt it is simply sent again."""

    def book_doubt(self, values: Values) -> bool:
        if not super().book_doubt(values):
            return False
        key = (values["tenant"], values["subject"])
        row = self.tables.outbox[key]
        row.stage, row.attempt = "send", self.sends_since_replay(key)
        self.close_sends(key, values["at"], "not_known", None)
        return True


class _LoseDoubts(Steps):
    """Drop a row when its send is in doubt."""

    def book_doubt(self, values: Values) -> bool:
        booked = super().book_doubt(values)
        if booked:
            del self.tables.outbox[values["tenant"], values["subject"]]
        return booked


class _LoseDeadLetters(Steps):
    """Drop a row that becomes a dead letter."""

    def book_dead_letter(self, values: Values) -> bool:
        booked = super().book_dead_letter(values)
        self.tables.dead_letters.pop((values["tenant"], values["subject"]), None)
        return booked


class _VerdictTwice(Steps):
    """A verdict leaves its row due, so it is booked again."""

    def book_verdict(self, values: Values) -> bool:
        row = self.ours(values)
        booked = super().book_verdict(values)
        if booked and row is not None:
            row.holder, row.run_at = None, self.now() + timedelta(seconds=1)
            self.tables.outbox[values["tenant"], values["subject"]] = row
        return booked


class _RetryRejected(Steps):
    """A rejection is taken for a failure, and the document is sent again."""

    def book_verdict(self, values: Values) -> bool:
        row = self.ours(values)
        if row is None or str(values["status"]) != "Rechazado":
            return super().book_verdict(values)
        row.stage, row.holder, row.run_at = "send", None, self.now() + timedelta(seconds=4)
        self.close_sends((values["tenant"], values["subject"]), values["at"], "received", values["track_id"])
        return True


class _RewriteHistory(Steps):
    """A retry takes the place of the event before it."""

    def record(self, key: Key, at: datetime, kind: str, detail: dict[str, Any]) -> None:
        if kind == "retry" and len(self.tables.events[key]) > 1:
            self.tables.events[key].pop()
        super().record(key, at, kind, detail)


class _WriteFirst(Steps):
    """The story is written before the fence is looked at."""

    def book_retry(self, values: Values) -> bool:
        if self.ours(values) is None:
            self.record((values["tenant"], values["subject"]), values["at"], "retry", {"error": values["error"]})
        return super().book_retry(values)


class _BelieveDuplicates(Reconciler):
    """Take each used number for another document's, without asking."""

    async def resolve_duplicate(self, work: Work, opened: Opened, otherwise: Outcome) -> Outcome:
        return otherwise


class _NeverUnsure(LeaseGuard):
    """Send every announced document, however long the process slept in between."""

    def look(self) -> Callable[[], None]:
        return lambda: None


class _AskByCodeOnly(Reconciler):
    """Ask the state service with our own security code only."""

    async def _is_foreign(self, work: Work, question: ReconcileFacts, opened: Opened, known: Verdict | None) -> bool:
        if known is None:
            return await super()._is_foreign(work, question, opened, known)
        return known.estado is not Estado.REJECTED and known.raw.get("codigoSeguridad") != question.security_code


def _count_no_attempt(tables: Tables, statement: str, answer: Answer) -> Answer:
    """A claim is no attempt."""
    if "FROM claim_with_input(" not in statement:
        return answer
    rows = []
    for row in answer.rows:
        if row[4] is not None:
            due = tables.outbox[row[4], row[5]]
            due.attempt -= 1
            rows.append((*row[:6], due.attempt, *row[7:]))
        else:
            rows.append(row)
    return Answer(answer.columns, rows)


def _hold_for_ever(tables: Tables, statement: str, answer: Answer) -> Answer:
    """Leases never end, and no worker rescues the rows of silent ones."""
    if "FROM claim_with_input(" in statement:
        for row in answer.rows:
            if row[4] is not None:
                tables.outbox[row[4], row[5]].run_at += timedelta(days=365)
    elif "DELETE FROM workers" in statement and answer.columns:
        return Answer(answer.columns)
    return answer


def _sign_again(tables: Tables, statement: str, answer: Answer) -> Answer:
    """Sign a document again for each send, with a new FechaHoraFirma."""
    if "is_summary" not in answer.columns or "content" not in answer.columns:
        return answer
    anew = len(tables.sends) + 1
    column = answer.columns.index("content")
    rows = [
        (*row[:column], row[column] + b" " * anew if row[column] else None, *row[column + 1 :]) for row in answer.rows
    ]
    return Answer(answer.columns, rows)


MUTANTS = (
    Mutant("no fence", ("I6",), _NoFence),
    Mutant("no intent", ("I3",), _NoIntent),
    Mutant("no last look before the first byte", ("I3",), _NoLastLook),
    Mutant("sent again without asking", ("I3",), _SendUnasked),
    Mutant("doubts are lost", ("I1",), _LoseDoubts),
    Mutant("dead letters are lost", ("I1",), _LoseDeadLetters),
    Mutant("a verdict is booked twice", ("I6",), _VerdictTwice),
    Mutant("a rejection is tried again", ("I3", "I6", "I8"), _RetryRejected),
    Mutant("history is rewritten", ("I6",), _RewriteHistory),
    Mutant("written before the fence", ("I6",), _WriteFirst),
    Mutant("attempts are not counted", ("I3",), twist=_count_no_attempt),
    Mutant("leases never end", ("I8",), twist=_hold_for_ever),
    Mutant("signed again for each send", ("I2",), twist=_sign_again),
    Mutant("sent after a long sleep", ("I3",), pulse=_NeverUnsure),
    Mutant("only ever asked by our code", ("I8",), reconciler=_AskByCodeOnly),
    Mutant("a duplicate is believed", ("V",), reconciler=_BelieveDuplicates),
)
