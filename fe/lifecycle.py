"""The life of a submission as data: what states it has and which moves are legal."""

from enum import StrEnum


class Status(StrEnum):
    """What a client sees of a submission."""

    QUEUED = "queued"
    PROCESSING = "En Proceso"
    ACCEPTED = "Aceptado"
    CONDITIONAL = "Aceptado Condicional"
    REJECTED = "Rechazado"
    ERROR = "error"


#: After these nothing moves by itself any more.
FINAL = frozenset({Status.ACCEPTED, Status.CONDITIONAL, Status.REJECTED, Status.ERROR})

#: The legal moves. `error` leads back to `queued` nowhere: an operator's replay starts from a dead letter, and a dead
#: letter is still `queued` to the client, so that nobody issues a second receipt while the first may yet be accepted.
MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset(
        {Status.PROCESSING, Status.ACCEPTED, Status.CONDITIONAL, Status.REJECTED, Status.ERROR, Status.QUEUED}
    ),
    Status.PROCESSING: frozenset(
        {Status.PROCESSING, Status.ACCEPTED, Status.CONDITIONAL, Status.REJECTED, Status.ERROR, Status.QUEUED}
    ),
    Status.ACCEPTED: frozenset(),
    Status.CONDITIONAL: frozenset(),
    Status.REJECTED: frozenset(),
    Status.ERROR: frozenset(),
}


class Stage(StrEnum):
    """What a submission's outbox row waits for."""

    SIGN = "sign"
    SEND = "send"
    TRACK = "track"
    RECONCILE = "reconcile"


class NumberFate(StrEnum):
    """What became of the fiscal number (decisions.md, "numberFate")."""

    RESERVED = "reserved"
    USED = "used"
    REUSABLE = "reusable"
    UNKNOWN = "unknown"
    VOID = "void"
