"""Errors of calls, distinguished by whether the request may have arrived."""


class EgressError(Exception):
    """A call came to nothing. `kind` is a word of a short list, for history and metrics; `reason` says more."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class CallRefused(EgressError):
    """The target is not allowed: no connection was made. Kinds: url, address."""


class CallNotSent(EgressError):
    """Nothing of the request left this process. Kinds: dns, connect, tls, proxy, timeout."""


class CallBroken(EgressError):
    """The request may have arrived, whole or in part, and there is no whole answer. Kinds: timeout, closed, answer."""


#: Every `kind` there is.
KINDS = ("url", "address", "dns", "connect", "tls", "proxy", "timeout", "closed", "answer")
