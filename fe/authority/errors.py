"""Errors of calls to the authority, told apart by one question: may the document have been processed?"""

from datetime import timedelta
from typing import Any, Self

from fe.authority.bodies import Message, flag, member
from fe.authority.replies import says_duplicate


class AuthorityError(Exception):
    """A call to the authority did not give an answer to act on.

    `reason` is one English sentence, safe to show and to store. `raw` is what the authority said, as JSON of bounded
    size; empty if it said nothing. `retry_after` is how long it asked us to stay away.
    """

    def __init__(self, reason: str, *, raw: dict[str, Any] | None = None, retry_after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.raw = raw or {}
        self.retry_after = retry_after

    def again(self) -> Self:
        """Make a twin without traceback and cause, to be raised for another task that waited for the same thing."""
        twin = type(self).__new__(type(self), *self.args)
        twin.__dict__.update(self.__dict__)
        return twin


class Unavailable(AuthorityError):
    """The document was certainly not processed, or nothing was sent that could be: the same call may be made again."""


class ForeignAnswer(Unavailable):
    """The answer is a good one about another document.

    Once, it is a mix-up to ask again after. If it stays so, the trackId was never ours: ask by issuer and e-NCF.
    """


class NotThere(Unavailable):
    """A status (404) says that the queried document is not there, without words of the service's own.

    Once, it may be a gateway's. If it stays so, repeating the query is useless: query by issuer and e-NCF.
    """


class OutcomeUnknown(AuthorityError):
    """The document may have been processed: ask by issuer and e-NCF before anything is sent again.

    See interface.md#unknown-outcome.
    """


class AuthorityRefused(AuthorityError):
    """The authority answered and will answer the same again: a permanent failure.

    `status` is the HTTP status; `reason` is in the interface's words, what the authority said is in `messages`.
    """

    def __init__(
        self, reason: str, *, status: int, messages: tuple[Message, ...] = (), raw: dict[str, Any] | None = None
    ) -> None:
        super().__init__(reason, raw=raw)
        self.status = status
        self.messages = messages

    @property
    def duplicate(self) -> bool:
        """Whether the number is said to be used already: perhaps by the first sending of this very document."""
        return says_duplicate(self.messages)

    @property
    def number_used(self) -> bool | None:
        """Whether the number is used up, if the refusal says so: it may be a verdict in unknown words."""
        return flag(member(self.raw, "secuenciautilizada"))


class NotDelegated(AuthorityRefused):
    """The certificate is good, but its owner may not act for the taxpayer (authority.md#session-refused)."""
