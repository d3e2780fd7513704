"""The options that both clients take."""

from collections.abc import Callable
from typing import TypedDict

from fe_client.session import Retries


class Options(TypedDict, total=False):
    """How a client is to behave; each has a usual value."""

    timeout: float
    """Seconds without a sign of life after which a call has failed: 30."""
    retries: Retries
    """How often, and after which pauses, a call is tried again where that is safe."""
    language: str
    """What messages come in: `es` or `en`, which is usual."""
    strict: bool
    """Whether the service refuses at once a receipt that would not be sent, with every problem: True. Else it takes it
    in, and it ends as `error`. A call may say otherwise."""
    clock: Callable[[], float]
    """Seconds that only go forward; for tests."""
    chance: Callable[[], float]
    """A number from 0 to 1 that spreads pauses; for tests."""
