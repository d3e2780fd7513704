"""The checker of a run: the invariants that fault runs are held to, and what only a simulation can know."""

from collections import defaultdict
from collections.abc import Iterator

from fe.ecf.catalogue import Root
from fe.lifecycle import FINAL, Status
from tests.faults.checker import CHECKS
from tests.simulation.rows import Key
from tests.simulation.world import Booked, Run

#: Those that say something about a run without clients of its own, sequences and keys.
_JUDGED = ("I1", "I2", "I3", "I6", "I8", "V")


def violations(run: Run) -> list[str]:
    """Everything that must not be, each with the invariant it breaks."""
    found = [f"{name}  {about}: {says}" for name in _JUDGED for about, says in CHECKS[name](run.history)]
    return [
        *dict.fromkeys(found),
        *(f"I3  {says}" for says in _sent_unasked(run)),
        *(f"I6  {says}" for says in _booked_by_others(run.booked)),
        *(f"I8  {says}" for says in _gave_up_in_vain(run)),
        *(f"{_broken_by(error)}  {error}" for error in run.errors),
    ]


def _broken_by(error: str) -> str:
    if "bytes left" in error:
        return "I3"
    return "I6" if "rewritten" in error else "unforeseen"


def _booked_by_others(booked: list[Booked]) -> Iterator[str]:
    """Only the last claimer of a row books it, and once; a worker taken for dead finds that its row has moved on."""
    claims: dict[Key, Booked] = {}
    done: set[tuple[Key, int]] = set()
    for one in booked:
        if one.what == "claim":
            claims[one.key] = one
            continue
        claim = claims.get(one.key)
        if claim is None or (claim.by, claim.epoch) != (one.by, one.epoch):
            yield f"{one.key[1]}: {one.by} did {one.what} with epoch {one.epoch}, claimed last by {claim}"
        if one.what == "intend_to_send":
            continue
        if (one.key, one.epoch) in done:
            yield f"{one.key[1]}: the claim of epoch {one.epoch} was booked twice, at last as {one.what}"
        done.add((one.key, one.epoch))


def _sent_unasked(run: Run) -> Iterator[str]:
    """After a send with an unknown outcome, the authority was asked before the next one.

    This judges the authority's record; CHECKS judge the database's.
    """
    rows = {row.submission_id: row for row in run.history.database.submissions}
    asked: dict[tuple[str, str], list[float]] = defaultdict(list)
    for question in run.asked:
        asked[question.environment, question.about].append(question.at)
    for one in run.booked:
        row = rows[one.key[1]]
        if one.what != "intend_to_send" or row.root not in (Root.ECF, Root.RFCE) or row.e_ncf is None:
            continue
        perhaps = [send.at for send in one.before if send.outcome != "not_sent"]
        if perhaps and not any(max(perhaps) < at <= one.at for at in asked[row.environment, row.e_ncf]):
            yield f"{one.key[1]}: epoch {one.epoch} was announced and nobody had asked since the send before"


def _gave_up_in_vain(run: Run) -> Iterator[str]:
    """After the faults every dead letter was replayed once more: what is one still has a reason of its own."""
    documents = dict(zip(run.subjects, run.scenario.in_order(), strict=True))
    for row in run.history.database.submissions:
        document = documents[row.submission_id]
        if Status(row.status) not in FINAL and not document.poison and not document.is_unclear:
            yield f"{row.submission_id}: with nothing in its way it came to no end, it is {row.status}"
