"""Allowed characters of a request's head."""

import pytest

from fe.egress.connection import HttpRequest


def test_a_head_is_written_with_host_and_length() -> None:
    request = HttpRequest("POST", "/testecf/a?b=c", [("Accept", "application/json")], b"123")

    assert request.head("example.com") == (
        b"POST /testecf/a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: application/json\r\nContent-Length: 3\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("/a b", []),
        ("/a\r\nX: y", []),
        ("http://else.where/", []),
        ("/", [("Authorization", "Bearer a\r\nX: y")]),
        ("/", [("Authorization", "Bearer \u00f1")]),
        ("/", [("A: b\r\nX", "y")]),
        ("/", [("", "y")]),
    ],
)
def test_request_head_cannot_be_split(target: str, headers: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="HTTP has no room"):
        HttpRequest("GET", target, headers).head("example.com")
