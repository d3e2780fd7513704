"""`fe login` keeps a key in a file that only its owner can read, once it has been tried."""

import io
import json
import os
import stat
from pathlib import Path

import pytest

from fe.integrator import profiles
from tests.cli.in_process import FeHere
from tests.cli.integrator.conftest import KEY
from tests.cli.integrator.scripted import Said, scripted, token


def kept(here: FeHere) -> dict[str, Path]:
    return {file.name: file for file in (here.folder / "config/fe/profiles").iterdir()}


def test_a_key_is_tried_and_kept_for_its_owner_alone_and_its_secret_is_never_shown(here: FeHere) -> None:
    with scripted(token(), token()) as server:
        said = here("login", server.base_url, **KEY)
        told = here.json("login", f"{server.base_url}/", "--profile", "other", **KEY)

    assert said.code == 0, said
    assert "testecf" in said.out
    files = kept(here)
    assert files.keys() == {"default.json", "default.token.json", "other.json", "other.token.json"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files.values()} == {0o600}
    assert stat.S_IMODE(files["default.json"].parent.stat().st_mode) == 0o700
    assert json.loads(files["other.json"].read_text())["baseUrl"] == server.base_url
    assert told["profile"] == "other"
    assert told["scopes"] == ["invoices:read"]
    assert KEY["api_secret"] not in said.out + said.err + json.dumps(told)
    assert KEY["api_secret"] not in repr(profiles.Profile("x", "u", "k", KEY["api_secret"], "ecf"))
    assert server.heard[0].body == {"apiKeyId": KEY["api_key_id"], "apiSecret": KEY["api_secret"]}


def test_id_and_secret_may_come_on_standard_input(here: FeHere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY['api_key_id']}\n{KEY['api_secret']}\n"))
    with scripted(token()) as server:
        assert here("login", server.base_url).code == 0

    assert server.heard[0].body == {"apiKeyId": KEY["api_key_id"], "apiSecret": KEY["api_secret"]}
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert here.refused("login", server.base_url, code=2).startswith("no key: FE_API_KEY_ID")


def test_in_a_terminal_the_secret_is_asked_for_without_an_echo(here: FeHere, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    asked = []

    def typed_unseen(words: str) -> str:
        asked.append(words)
        return KEY["api_secret"]

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("click.termui.hidden_prompt_func", typed_unseen)
    with scripted(token()) as server:
        ended = here("login", server.base_url, api_key_id=KEY["api_key_id"])

    assert ended.code == 0, ended
    assert len(asked) == 1
    assert KEY["api_secret"] not in ended.out + ended.err


def test_a_key_that_is_not_accepted_is_code_3_and_not_kept(here: FeHere) -> None:
    with scripted(Said(401, {"message": "Invalid credentials", "statusCode": 401})) as server:
        told = here.refused("login", server.base_url, code=3, **KEY)

    assert told == f"{server.base_url} does not accept the key fak_0123456789ab with this secret"
    assert not (here.folder / "config").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604])
@pytest.mark.parametrize("name", ["default.json", "default.token.json"])
def test_a_file_that_others_can_read_is_refused(here: FeHere, name: str, mode: int) -> None:
    with scripted(token()) as server:
        here("login", server.base_url, **KEY)
        kept(here)[name].chmod(mode)
        told = here.refused("list", code=3)

    assert "others can read it" in told
    assert "make a new key" in told
    assert server.calls == ["POST /api/v1/fe/login"]


def test_a_missing_or_torn_profile_is_told_from_another_and_a_torn_token_is_renewed(here: FeHere) -> None:
    page = Said(200, {"page": 1, "limit": 50, "total": 0, "items": [], "nextCursor": None})
    assert here.refused("list", code=3) == "there is no profile default: `fe login URL` makes one"
    with scripted(token(), token("t2"), page) as server:
        here("login", server.base_url, **KEY)
        assert "(there are: default)" in here.refused("list", "--profile", "other", code=3)
        assert "(there are: default)" in here.refused("list", code=3, profile="other")
        kept(here)["default.token.json"].write_text("{")
        assert here.json("list") == []
        kept(here)["default.json"].write_text("{")
        assert "`fe login` replaces it" in here.refused("list", code=3)

    assert server.heard[-1].headers["authorization"] == "Bearer t2"


def test_a_profile_s_name_is_no_path(here: FeHere) -> None:
    for name in ("../x", "a/b", "", ".x", "x.token", "x" * 41):
        assert here("logout", "--profile", name).code == 2


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("fe.example", "not a base URL"),
        ("ftp://fe.example", "not a base URL"),
        ("https://", "not a base URL"),
        ("https://fe.example:99999/", "not a base URL"),
        ("https://fe.example/api?x=1", "not a base URL"),
        ("https://me:pw@fe.example/", "no user and no password"),
        ("http://fe.example/api/v1/fe", "over http the secret could be read"),
    ],
)
def test_a_url_that_is_none_or_would_show_the_secret_is_refused(here: FeHere, url: str, words: str) -> None:
    ended = here("login", url, **KEY)

    assert (ended.code, ended.out) == (1, "")
    assert words in ended.err


def test_a_key_is_forgotten(here: FeHere) -> None:
    with scripted(token()) as server:
        here("login", server.base_url, **KEY)

    assert here.json("logout") == {"profile": "default", "forgotten": True}
    assert kept(here) == {}
    assert here.refused("logout", code=10) == "there is no profile default"


def test_without_xdg_it_is_under_the_home_and_a_relative_folder_is_ignored(
    here: FeHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(here.folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")

    assert profiles.folder() == here.folder / ".config/fe/profiles"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert profiles.folder() == here.folder / ".config/fe/profiles"


def test_a_user_without_a_home_is_told_what_to_set(here: FeHere, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose user has a number and no name."""

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(Path, "home", nowhere)

    assert "set HOME, or XDG_CONFIG_HOME" in here.refused("status", "x", code=3)


def test_a_write_that_fails_leaves_what_was_there(here: FeHere, monkeypatch: pytest.MonkeyPatch) -> None:
    before = profiles.Profile("default", "http://127.0.0.1:1", "fak_1", "s", "ecf")
    profiles.save(before)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        profiles.save(profiles.Profile("default", "http://127.0.0.1:2", "fak_2", "s", "ecf"))

    assert profiles.load("default") == before
    assert [file.name for file in profiles.folder().iterdir()] == ["default.json"]
