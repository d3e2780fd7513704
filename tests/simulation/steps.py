"""The moves of a submission, as sql/functions/outbox and sql/functions/numbers make them.

Each is called by the name of its SQL function with the values of the statement by their parameters' names.
test_conformance.py shows that both do the same.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from fe.identifiers import SubmissionId, TrackId
from tests.simulation.rows import Dead, Due, Event, Key, Send, Submission, Tables

Values = Mapping[str, Any]

#: Outcomes of unresolved sends.
OPEN = ("intended", "unknown")


def stamp(moment: datetime) -> str:
    """A moment as jsonb writes it."""
    return moment.isoformat(timespec="microseconds")


def stripped(detail: dict[str, Any]) -> dict[str, Any]:
    """jsonb_strip_nulls, of one level."""
    return {key: value for key, value in detail.items() if value is not None}


class Steps:
    """The functions. `now` is the database's clock."""

    def __init__(self, tables: Tables, now: Callable[[], datetime]) -> None:
        self.tables = tables
        self.now = now

    # --- What the functions share -------------------------------------------------------------------------------------

    def ours(self, values: Values) -> Due | None:
        """The claimed row, if the claim is still ours: every booking asks this first."""
        row = self.tables.outbox.get(_key(values))
        if row is None or row.epoch != values["epoch"] or row.holder is None:
            return None
        return row

    def sends_of(self, key: Key) -> list[Send]:
        """All sends of a submission."""
        return [send for send in self.tables.sends.values() if (send.tenant_id, send.submission_id) == key]

    def record(self, key: Key, at: datetime, kind: str, detail: dict[str, Any]) -> None:
        """Append to a submission's story."""
        story = self.tables.events.setdefault(key, [])
        story.append(Event(*key, len(story) + 1, at, kind, detail))

    def close_sends(self, key: Key, at: datetime, outcome: str, track_id: TrackId | None) -> None:
        """Say how the open sends of a submission ended."""
        for send in self.sends_of(key):
            if send.outcome in OPEN:
                send.outcome, send.answered_at, send.track_id = outcome, at, track_id

    def step_on(self, values: Values, stage: str, host: str | None, after: timedelta) -> bool:
        """Move a claimed row to its next stage."""
        row = self.ours(values)
        if row is None:
            return False
        row.stage, row.host, row.run_at = stage, row.host if host is None else str(host), self.now() + after
        row.attempt, row.crash_count, row.holder, row.entered_at, row.last_error = 0, 0, None, self.now(), None
        return True

    def step_off(self, values: Values) -> Due | None:
        """Take a claimed row out."""
        row = self.ours(values)
        if row is not None:
            del self.tables.outbox[_key(values)]
        return row

    # --- The functions ------------------------------------------------------------------------------------------------

    def book_retry(self, values: Values) -> bool:
        row = self.ours(values)
        if row is None:
            return False
        row.run_at, row.holder, row.crash_count, row.last_error = self.now() + values["after"], None, 0, values["error"]
        if values["counts"]:
            detail = {"stage": row.stage, "attempt": row.attempt, "error": values["error"], "dueAt": stamp(row.run_at)}
            self.record(_key(values), values["at"], "retry", detail)
            send = self.tables.sends.get((*_key(values), values["epoch"]))
            if send is not None and send.outcome == "intended":
                send.outcome, send.answered_at = "not_sent", values["at"]
        else:
            row.attempt = max(row.attempt - 1, 0)
        return True

    def book_dead_letter(self, values: Values) -> bool:
        key, row = _key(values), self.step_off(values)
        if row is None:
            return False
        self.tables.dead_letters[key] = Dead(
            *key,
            row.stage,
            row.environment,
            row.host,
            row.attempt,
            row.epoch,
            row.crash_count,
            row.entered_at,
            values["at"],
            values["error"],
        )
        submission = self.tables.submissions[key]
        submission.updated_at = values["at"]
        submission.response = {**(submission.response or {}), "status": "dead_letter", "error": values["error"]}
        detail = {"stage": row.stage, "attempt": row.attempt, "error": values["error"]}
        self.record(key, values["at"], "dead_letter", detail)
        return True

    def book_failure(self, values: Values) -> bool:
        return self._fail(values, values["response"], str(values["fate"]))

    def book_number_taken(self, values: Values) -> bool:
        text = f"the number is that of another submission already, taxLogId {values['holder']}: nothing was sent"
        response = {"status": "error", "error": text, "dgiiResponse": None, "otherTaxLogId": str(values["holder"])}
        return self._fail(values, response, "used")

    def _fail(self, values: Values, response: dict[str, Any], fate: str) -> bool:
        key = _key(values)
        if self.step_off(values) is None:
            return False
        submission = self.tables.submissions[key]
        submission.status, submission.response = "error", response
        submission.number_fate, submission.updated_at = fate, values["at"]
        send = self.tables.sends.get((*key, values["epoch"]))
        if send is not None and send.outcome == "intended":
            send.outcome, send.answered_at = "refused", values["at"]
        self.record(key, values["at"], "error", {"error": response.get("error"), "numberFate": fate})
        return True

    def _hold_number(self, submission: Submission, issuer: str | None) -> SubmissionId:
        """Hold the number for this submission, unless another unfinished one holds it."""
        assert submission.e_ncf is not None
        number = (submission.tenant_id, submission.environment, submission.e_ncf, issuer or "")
        whose = self.tables.held.setdefault(number, submission.submission_id)
        if self.tables.submissions[submission.tenant_id, whose].number_fate == "reusable":
            whose = self.tables.held[number] = submission.submission_id
        return whose

    def _is_paused(self, key: Key, environment: str) -> bool:
        which = [(tenant, of) for tenant in (0, key[0]) for of in ("", environment)]
        return any(one in self.tables.pauses for one in which)

    def book_signed(self, values: Values) -> str:
        key, holder = _key(values), self.ours(values)
        if holder is None:
            return "lost"
        held_by, lease = holder.holder, values["lease"]
        mine = self.tables.submissions[key]
        if mine.e_ncf is not None and mine.root in ("ECF", "RFCE"):
            whose = self._hold_number(mine, values["issuer"])
            if whose != mine.submission_id:
                self.book_number_taken({**values, "holder": whose})
                return "taken"
        self.step_on(values, "send", values["host"], timedelta(0))
        self.tables.documents[(*key, "signed")] = values["signed"]
        if values["sent"] is not None:
            self.tables.documents[(*key, "sent")] = values["sent"]
        submission = self.tables.submissions[key]
        submission.certificate_id, submission.ecf_type = values["certificate"], values["type"]
        submission.issuer_rnc, submission.buyer_rnc = values["issuer"], values["buyer"]
        submission.security_code, submission.signed_at = values["security_code"], values["signed_at"]
        submission.updated_at = values["at"]
        detail = {
            "certificateId": str(values["certificate"]),
            "securityCode": values["security_code"],
            "sha256": sha256(values["signed"]).hexdigest(),
            "summarySha256": sha256(values["sent"]).hexdigest() if values["sent"] is not None else None,
            "process": held_by,
        }
        self.record(key, values["at"], "signed", stripped(detail))
        if lease is None or self._is_paused(key, mine.environment):
            return "signed"
        row = self.tables.outbox[key]
        row.attempt, row.epoch, row.holder = 1, row.epoch + 1, held_by
        content = values["signed"] if values["sent"] is None else values["sent"]
        self._renew(row, lease)
        # A document signed only now has no earlier send, so none can be in doubt.
        self._announce({**values, "epoch": row.epoch, "digest": sha256(content).digest()})
        return "going on"

    def intend_to_send(self, values: Values) -> str:
        key, row = _key(values), self.ours(values)
        if row is None or row.stage != "send":
            return "lost"
        self._renew(row, values["lease"])
        if any(send.epoch != values["epoch"] and send.outcome in OPEN for send in self.sends_of(key)):
            return "in doubt"
        self._announce(values)
        return "go"

    def _renew(self, row: Due, lease: timedelta) -> None:
        if row.run_at < self.now() + lease * 0.95:
            row.run_at = self.now() + lease

    def _announce(self, values: Values) -> None:
        key = _key(values)
        if (*key, values["epoch"]) not in self.tables.sends:
            send = Send(*key, values["epoch"], values["digest"], values["at"])
            self.tables.sends[(*key, values["epoch"])] = send
            detail = {"epoch": values["epoch"], "sha256": values["digest"].hex()}
            self.record(key, values["at"], "sending", detail)

    def book_received(self, values: Values) -> str:
        key, row, lease = _key(values), self.ours(values), values["lease"]
        if row is None:
            return "lost"
        held_by = row.holder
        self.step_on(values, "track", None, values["after"])
        self.close_sends(key, values["at"], "received", values["track_id"])
        submission = self.tables.submissions[key]
        submission.track_id, submission.updated_at = values["track_id"], values["at"]
        submission.first_answer_at = submission.first_answer_at or values["at"]
        self.record(key, values["at"], "received", {"trackId": values["track_id"], "reply": values["reply"]})
        if lease is None or self._is_paused(key, values["environment"]):
            return "received"
        row.attempt, row.epoch, row.holder, row.run_at = 1, row.epoch + 1, held_by, row.run_at + lease
        return "going on"

    def book_doubt(self, values: Values) -> bool:
        key, row = _key(values), self.ours(values)
        if row is None:
            return False
        if row.stage != "reconcile":
            row.stage, row.attempt, row.entered_at = "reconcile", 0, self.now()
        row.run_at, row.holder, row.crash_count, row.last_error = self.now() + values["after"], None, 0, values["error"]
        for send in self.sends_of(key):
            if send.outcome == "intended":
                send.outcome = "unknown"
        submission = self.tables.submissions[key]
        submission.number_fate, submission.updated_at = "unknown", values["at"]
        self.record(key, values["at"], "outcome_unknown", {"error": values["error"]})
        return True

    def book_resend(self, values: Values) -> bool:
        key, row = _key(values), self.ours(values)
        if row is None:
            return False
        row.attempt = self.sends_since_replay(key)
        row.stage, row.run_at, row.holder, row.crash_count = "send", self.now() + values["after"], None, 0
        row.entered_at = self.now()
        self.close_sends(key, values["at"], "not_known", None)
        self.record(key, values["at"], "not_known_there", {"reason": values["reason"]})
        return True

    def sends_since_replay(self, key: Key, *, certain: bool = True) -> int:
        """Count the sends that count as attempts; with `certain` also those that certainly did not arrive."""
        since = self.tables.submissions[key].replayed_epoch
        return sum(send.epoch > since and (certain or send.outcome != "not_sent") for send in self.sends_of(key))

    def book_processing(self, values: Values) -> bool:
        key, row = _key(values), self.ours(values)
        if row is None:
            return False
        row.run_at, row.holder, row.crash_count = self.now() + values["after"], None, 0
        submission, response = self.tables.submissions[key], values["response"]
        if submission.status in ("queued", "En Proceso") and submission.response != response:
            submission.status, submission.response = "En Proceso", response
            submission.updated_at = values["at"]
            self.record(key, values["at"], "processing", response)
        return True

    def book_verdict(self, values: Values) -> bool:
        key = _key(values)
        if self.step_off(values) is None:
            return False
        self.close_sends(key, values["at"], "received", values["track_id"])
        submission, response = self.tables.submissions[key], values["response"]
        submission.status, submission.response = str(values["status"]), response
        submission.track_id = values["track_id"] or submission.track_id
        submission.number_fate, submission.updated_at = str(values["fate"]), values["at"]
        submission.verdict_at = values["at"]
        submission.first_answer_at = submission.first_answer_at or values["at"]
        detail = {"status": submission.status, "response": response, "numberFate": submission.number_fate}
        self.record(key, values["at"], "verdict", detail)
        return True

    def accept_submission(self, values: Values) -> tuple[str, UUID, str, str | None, bool, None, None]:
        """Without clientRequestId and without drawing a number: those have tests of their own."""
        assert values["client_request"] is None
        assert values["draw"] is None
        key, at = (values["tenant"], values["submission"]), values["at"]
        self.tables.submissions[key] = Submission(
            *key,
            str(values["environment"]),
            str(values["root"]),
            values["type"],
            values["e_ncf"],
            values["issuer"],
            values["buyer"],
            at,
            at,
        )
        self.tables.documents[(*key, "original")] = values["original"]
        now = self.now()
        row = self.tables.outbox[key] = Due(*key, "sign", str(values["environment"]), "", now, 0, 0, None, 0, now, None)
        if (lease := values.get("lease")) is not None and not self._is_paused(key, row.environment):
            row.attempt, row.epoch, row.holder, row.run_at = 1, 1, values["holder"], now + lease
        digest = sha256(values["original"]).hexdigest()
        detail = {"root": str(values["root"]), "eNCF": values["e_ncf"], "drawn": False, "sha256": digest}
        self.record(key, at, "accepted", stripped(detail))
        return "accepted", values["submission"], "queued", values["e_ncf"], True, None, None

    def pause_sequence(self, values: Values) -> None:
        """Pause nothing: no number is drawn here, so that none came from a sequence."""
        accepted = self.tables.events[values["tenant"], values["submission"]][0]
        assert accepted.detail["drawn"] is False

    def replay_dead_letter(self, values: Values) -> str | None:
        key = _key(values)
        dead = self.tables.dead_letters.pop(key, None)
        if dead is None:
            return None
        asked_first = dead.stage == "send" and any(send.outcome != "not_sent" for send in self.sends_of(key))
        stage, now = "reconcile" if asked_first else dead.stage, self.now()
        self.tables.outbox[key] = Due(*key, stage, dead.environment, dead.host, now, 0, dead.epoch, None, 0, now, None)
        submission = self.tables.submissions[key]
        submission.replayed_epoch, submission.updated_at = dead.epoch, values["at"]
        if submission.response is not None:
            left = {name: value for name, value in submission.response.items() if name not in ("status", "error")}
            submission.response = left or None
        detail = {"by": values["by"], "reason": values["reason"], "stage": stage}
        self.record(key, values["at"], "replayed", detail)
        return stage

    def discard_dead_letter(self, values: Values) -> str | None:
        key = _key(values)
        dead = self.tables.dead_letters.pop(key, None)
        if dead is None:
            return None
        fate = "unknown" if any(send.outcome != "not_sent" for send in self.sends_of(key)) else "reusable"
        note = "" if values["note"] is None else f": {values['note']}"
        submission = self.tables.submissions[key]
        before = submission.response or {}
        submission.response = {
            **before,
            "status": "error",
            "dgiiResponse": before.get("dgiiResponse"),
            "error": f"given up by an operator{note} ({dead.error})",
        }
        submission.status, submission.number_fate, submission.updated_at = "error", fate, values["at"]
        detail = {"by": values["by"], "reason": values["reason"], "note": values["note"], "numberFate": fate}
        self.record(key, values["at"], "discarded", detail)
        return fate


def _key(values: Values) -> Key:
    return values["tenant"], values["subject"]
