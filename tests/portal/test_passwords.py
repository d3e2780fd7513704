"""Password policy, and the fields for passwords."""

import re

import pytest

from fe.accounts.passwords import BadPassword, require_good
from fe.accounts.people import hash_password, is_password
from tests.portal.running import Browser, Running

_ABOUT = ("Ana Pérez", "ana.perez@cafeozama.do")


@pytest.mark.parametrize(
    "password",
    [
        *("short", "once letras"[:11], "123456789012", "Password1234!", "P@ssw0rd2024!!", "qwertyuiop12"),
        *("aaaaaaaaaaaa", "abcabcabcabc", "Contraseña2026", "clave-secreta-2026", "Dominicana2026$$"),
        *("anaperez2024!", "ana.perez@cafeozama.do", "CafeOzama-2026", "ＰＡＳＳＷＯＲＤ１２３４", "112233445566"),
        "x" * 201,
    ],
)
def test_what_everybody_tries_is_refused(password: str) -> None:
    with pytest.raises(BadPassword):
        require_good(password, _ABOUT)


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery staple",
        "mi perro come mangos",
        "ñandú árbol güira",
        "kq7vz-w2mfx-9jrht",
        "猫猫猫犬の散歩は楽しいですね",
    ],
)
def test_any_long_password_will_do(password: str) -> None:
    require_good(password, _ABOUT)
    require_good((password * 9)[:100] + "zqj", _ABOUT)


async def test_a_hash_opens_by_its_password_alone() -> None:
    hashed = await hash_password("correct horse battery staple")

    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert await is_password(hashed, "correct horse battery staple")
    assert not await is_password(hashed, "correct horse battery stapler")
    assert not await is_password(None, "nobody has this password")
    assert not await is_password("damaged", "correct horse battery staple")


async def test_fields_hide_passwords_and_let_managers_fill_them(portal: Running, owner: Browser) -> None:
    async with portal.browser() as browser:
        pages = [(await browser.get("/sign-in")).text, (await owner.get("/account/password")).text]
    fields = [
        field
        for page in pages
        for field in re.findall(r'<input [^>]*name="(?:password|present|new|repeated)"[^>]*>', page)
    ]

    assert len(fields) == 4
    for found in fields:
        assert 'type="password"' in found
        assert re.search(r'autocomplete="(current|new)-password"', found)
        assert "value=" not in found
        assert "onpaste" not in found
