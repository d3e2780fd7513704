"""Which passwords may be chosen: long ones that are not among the first to be tried, of whatever letters."""

import pytest

from fe.accounts.passwords import LONGEST, SHORTEST, BadPassword, require_good

ANA = ("ana@ozama.do", "Ana Peralta")


@pytest.mark.parametrize(
    "password",
    [
        "corral grapa tinta",
        "ññññ áéíóú üüü çç",
        "    twelve blanks around   ",
        "nubes y 7 tambores",
        "x7Kq!mZp92Lw#tRv" * 12,
    ],
)
def test_whatever_is_long_and_nobodys_first_try_is_taken(password: str) -> None:
    assert SHORTEST >= 8
    assert LONGEST >= 64
    require_good(password, ANA)


@pytest.mark.parametrize(
    "password",
    [
        "",
        "corta",
        "a" * (LONGEST + 1),
        "passwordpassword",
        "P@ssw0rd123456",
        "contraseña2026",
        "qwertyuiop123",
        "123456789012345",
        "aaaaaaaaaaaaaaa",
        "abcabcabcabcabc",
        "republicadominicana",
        "ana@ozama.do",
        "anaperalta1990",
    ],
)
def test_what_is_tried_first_is_refused_in_words(password: str) -> None:
    with pytest.raises(BadPassword) as refused:
        require_good(password, ANA)

    assert refused.value.text.en
    assert refused.value.text.es
