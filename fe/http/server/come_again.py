"""Who was told a moment ago to come again later, and of what: it is told so again before anything is made of it.

Many do not wait for as long as they are told. To find out anew, for each of their requests, that their share is used up
takes the framework and often the database; here it takes a look.
"""

from collections import OrderedDict
from collections.abc import Hashable

import trio

from fe.http.errors import ApiError
from fe.http.limits.shares import too_many_requests
from fe.monitoring.metrics import Metrics

#: What was told is believed so long, in seconds, however long it was told for: somebody may have left meanwhile, and an
#: operator may have lifted a lockout.
BELIEVED = 1.0
_MAX_KEPT = 10_000

#: An authorization, unread, or an address; and what is asked for.
Whose = tuple[Hashable, str]


def asked(route: str, query: bytes) -> str:
    """Name what is asked for: a route, by itself and with a query, since who may not wait may still look."""
    return f"{route}?" if query else route


class ComeAgain:
    """Remembers refusals. One per process."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._refused_until: OrderedDict[Whose, tuple[float, int]] = OrderedDict()

    def note(self, whose: Whose, seconds: int) -> None:
        """Note that somebody was refused something for so many seconds."""
        self._forget_the_old()
        self._refused_until.pop(whose, None)
        self._refused_until[whose] = (trio.current_time() + min(seconds, BELIEVED), seconds)
        if len(self._refused_until) > _MAX_KEPT:
            self._refused_until.popitem(last=False)

    @property
    def is_empty(self) -> bool:
        """Whether nobody was refused anything a moment ago."""
        self._forget_the_old()
        return not self._refused_until

    def refusal(self, whose: Whose) -> ApiError | None:
        """The refusal (429) of somebody who comes again too soon, counted; None of everybody else."""
        refused = self._refused_until.get(whose)
        if refused is None or refused[0] <= trio.current_time():
            return None
        self._metrics.share_refused.labels("too_soon").inc()
        return too_many_requests(refused[1])

    def _forget_the_old(self) -> None:
        now = trio.current_time()
        while self._refused_until and next(iter(self._refused_until.values()))[0] <= now:
            self._refused_until.popitem(last=False)

    def require_patience(self, whose: Whose) -> None:
        """Raise ApiError (429) for somebody who comes again too soon."""
        if (refused := self.refusal(whose)) is not None:
            raise refused
