"""Outcome that a client requests of a simulated authority, as a value and as a header.

It stands beside a document and is never a part of it: the signed and sent bytes are the same with it and without.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

#: The header of a reception. The real authority is never sent it (fe/authority/client.py).
SIMULATE_HEADER = "X-Simulate"

#: The largest code of a message, and the longest that a verdict may be kept waiting for.
LARGEST_CODE = 99_999
MAX_SECONDS = 3600


class AskedOutcome(StrEnum):
    """Outcomes for a document that the authority would otherwise accept."""

    REJECTED = "rejected"  # `Rechazado`, with a code
    CONDITIONAL = "conditional"  # `Aceptado Condicional`, with a code
    STUCK = "stuck"  # it is received, and there is never a verdict
    LOST_ANSWER = "lost-answer"  # it is received, and the connection breaks before the answer
    SLOW = "slow"  # the verdict comes after `seconds`


#: Which outcomes take a code, and which a number of seconds.
WITH_CODE = frozenset({AskedOutcome.REJECTED, AskedOutcome.CONDITIONAL})
WITH_SECONDS = frozenset({AskedOutcome.SLOW})

_FORM = re.compile(r"([a-z-]{1,20})(?:; code=(\d{1,5}))?(?:; seconds=(\d{1,4}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Simulation:
    """An outcome that was asked for; `code` and `seconds` only where it takes them."""

    outcome: AskedOutcome
    code: int | None = None
    seconds: int | None = None

    def __post_init__(self) -> None:
        if self.outcome is AskedOutcome.REJECTED and self.code is None:
            raise ValueError("rejected needs a code")
        if self.code is not None and not (self.outcome in WITH_CODE and 1 <= self.code <= LARGEST_CODE):
            raise ValueError(f"a code from 1 to {LARGEST_CODE} goes with {' and '.join(sorted(WITH_CODE))}")
        if self.seconds is not None and not (self.outcome in WITH_SECONDS and 1 <= self.seconds <= MAX_SECONDS):
            raise ValueError(f"seconds from 1 to {MAX_SECONDS} go with {' and '.join(sorted(WITH_SECONDS))}")

    def __str__(self) -> str:
        """Write the header's value, from which `read` makes it again."""
        code = "" if self.code is None else f"; code={self.code}"
        return f"{self.outcome.value}{code}" + ("" if self.seconds is None else f"; seconds={self.seconds}")

    @classmethod
    def read(cls, text: str) -> "Simulation":
        """Read the header's value. Raises ValueError."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise ValueError(f"{SIMULATE_HEADER} is not an outcome such as 'rejected; code=4'")
        outcome, code, seconds = found.groups()
        return cls(
            AskedOutcome(outcome), None if code is None else int(code), None if seconds is None else int(seconds)
        )
