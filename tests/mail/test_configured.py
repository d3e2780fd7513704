"""The settings of the relay: what they mean, and combinations that are refused before anything starts."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from fe.config import ConfigError, load_settings
from fe.mail.configured import relay_from_settings

GIVEN: dict[str, Any] = {"mail_relay": "smtp://relay.example", "mail_from": "facturas@x.do"}


def test_no_relay_means_no_mail(tmp_path: Path) -> None:
    assert relay_from_settings(load_settings(data_dir=tmp_path)) is None


@pytest.mark.parametrize(
    ("url", "port", "implicit", "may_be_plain"),
    [
        ("smtp://relay.example", 587, False, False),
        ("smtps://relay.example", 465, True, False),
        ("smtp://relay.example:2525", 2525, False, False),
        ("smtp://localhost:25", 25, False, True),
        ("smtp://127.0.0.1", 587, False, True),
        ("smtp://[::1]:25", 25, False, True),
    ],
)
def test_a_relay_may_be_plain_only_on_this_machine(
    tmp_path: Path, url: str, port: int, implicit: bool, may_be_plain: bool
) -> None:
    relay = relay_from_settings(load_settings(data_dir=tmp_path, **GIVEN | {"mail_relay": url}))
    with_roots = relay_from_settings(
        load_settings(data_dir=tmp_path, **GIVEN | {"mail_relay": url, "mail_roots": tmp_path / "roots.pem"})
    )

    assert relay is not None
    assert with_roots is not None
    assert (relay.port, relay.implicit_tls, relay.may_be_plain) == (port, implicit, may_be_plain)
    assert not with_roots.may_be_plain


@pytest.mark.parametrize(
    ("sender", "name", "address"),
    [("facturas@x.do", "", "facturas@x.do"), ("Facturas Ñandú <facturas@x.do>", "Facturas Ñandú", "facturas@x.do")],
)
def test_the_sender_may_have_a_name(tmp_path: Path, sender: str, name: str, address: str) -> None:
    relay = relay_from_settings(load_settings(data_dir=tmp_path, **GIVEN | {"mail_from": sender}))

    assert relay is not None
    assert (relay.sender_name, relay.sender) == (name, address)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"mail_relay": "relay.example:587"}, "FE_MAIL_RELAY"),
        ({"mail_relay": "http://relay.example"}, "FE_MAIL_RELAY"),
        ({"mail_relay": "smtp://user:pw@relay.example"}, "FE_MAIL_USER"),
        ({"mail_relay": "smtp://relay.example/inbox"}, "FE_MAIL_RELAY"),
        ({"mail_relay": "smtp://relay.example\r\n"}, "FE_MAIL_RELAY"),
        ({"mail_relay": "smtp://relay.example:99999"}, "FE_MAIL_RELAY"),
        ({"mail_from": ""}, "FE_MAIL_FROM"),
        ({"mail_from": "a@x.do\nBcc: b@x.do"}, "FE_MAIL_FROM"),
        ({"mail_from": "Name\n <a@x.do>"}, "FE_MAIL_FROM"),
        ({"mail_from": "<a@x.do"}, "FE_MAIL_FROM"),
        ({"mail_user": "fe"}, "FE_MAIL_PASSWORD"),
        ({"mail_password": SecretStr("x")}, "FE_MAIL_USER"),
        ({"mail_user": "a\nb", "mail_password": SecretStr("x")}, "FE_MAIL_USER"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        load_settings(data_dir=tmp_path, **GIVEN | changed)
