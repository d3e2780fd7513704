"""Mail addresses: plain ones pass, everything that could break a header or a relay's dialogue is refused."""

import pytest

from fe.ecf.mail_address import BadAddress, parse_address


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("compras@cliente.com.do", "compras@cliente.com.do"),
        ("a.b+c'd@x-y.example", "a.b+c'd@x-y.example"),
        ("ventas@compañía.do", "ventas@xn--compaa-7va5a.do"),
        (f"{'a' * 64}@b.do", f"{'a' * 64}@b.do"),
    ],
)
def test_a_plain_address_is_returned_with_an_ascii_domain(given: str, plain: str) -> None:
    assert parse_address(given) == plain


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("a@b.do\r\nBcc: c@d.do", "character 7"),
        ("a@b.do\n", "character 7"),
        ("a\0@b.do", "character 2"),
        ("a@b.do\u2028", "character 7"),
        ("a\u202e@b.do", "character 2"),
        ("a@b.do, c@d.do", "one e-mail address"),
        ("a@b.do c@d.do", "one e-mail address"),
        ("Name <a@b.do>", "one e-mail address"),
        ('"a b"@b.do', "one e-mail address"),
        ("<a@b.do>", "one e-mail address"),
        ("a@b", "one e-mail address"),
        ("a@b..do", "one e-mail address"),
        ("a@-b.do", "one e-mail address"),
        (".a@b.do", "one e-mail address"),
        ("a..b@c.do", "one e-mail address"),
        ("@b.do", "one e-mail address"),
        ("a@", "one e-mail address"),
        ("", "one e-mail address"),
        ("niña@b.do", "one e-mail address"),
        ("a@[127.0.0.1]", "one e-mail address"),
        (f"{'a' * 65}@b.do", "one e-mail address"),
        (f"a@{'b' * 64}.do", "one e-mail address"),
        (f"a@{'b.' * 130}do", "at most 254"),
        ("a@xn--\u00e4.do", "one e-mail address"),
        ("a@🦆🦆🦆🦆" + "🦆" * 60 + ".do", "one e-mail address"),
    ],
)
def test_anything_else_is_refused_with_its_reason(given: str, why: str) -> None:
    with pytest.raises(BadAddress, match=why):
        parse_address(given)
