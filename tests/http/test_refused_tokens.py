"""Refused tokens leave a line of the log: one at once, then one a minute, and nothing of the token in it."""

from typing import cast

import pytest
from structlog.testing import capture_logs

from fe.clock import system_clock
from fe.http.auth.authenticate import Authenticator, KeyStates
from fe.http.auth.tokens import Tokens
from fe.http.errors import ApiError


async def test_refused_tokens_are_one_line_of_the_log_without_the_token() -> None:
    never_asked = cast(KeyStates, None)
    authenticator = Authenticator(Tokens({"a": b"k" * 31 + b"!"}), never_asked, system_clock)
    with capture_logs() as lines:
        for authorization in (None, "Bearer c0ffee.c0ffee.c0ffee", "Bearer "):
            with pytest.raises(ApiError):
                await authenticator.authenticate(authorization, "invoices:read")

    (line,) = lines
    assert line["event"] == "requests were refused for their token"
    assert (line["requests"], line["last_reason"], line["log_level"]) == (1, "missing", "warning")
    assert "c0ffee" not in str(lines)
