"""The Java client: in every conversation, and with many processes."""

import subprocess
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.hostile import Hostile, say
from tests.clients.java import compiled
from tests.clients.speaker import Speaker, assert_judged_as_the_vectors_say
from tests.clients.troubles import OVER, TROUBLES, Trouble, play
from tests.clients.typed import assert_every_answer_is_read
from tests.waiting import PATIENCE

HERE = Path(__file__).parent / "driver_java"


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    command = compiled(tmp_path_factory.mktemp("java"), HERE.rglob("*.java"))
    if command is None:
        pytest.skip("NOT PROVED HERE: there is no compiler for Java")
    return command


@pytest.fixture(scope="module")
def speaker(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Speaker]:
    with Speaker(*command, "fe.client.Driver", str(tmp_path_factory.mktemp("tokens"))) as speaker:
        yield speaker


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
def test_java_client_passes_conversation(trouble: Trouble, speaker: Speaker) -> None:
    play(trouble, speaker.drive)


def test_java_client_judges_webhooks_as_the_vectors_say(speaker: Speaker) -> None:
    assert_judged_as_the_vectors_say(speaker.judge_webhooks())


def test_java_types_read_every_answer_exactly_and_ignore_new_fields(speaker: Speaker) -> None:
    assert_every_answer_is_read(speaker)


_LOGS_IN = """
import fe.client.*;
import java.nio.file.Path;

public final class LogsIn {
    public static void main(String[] given) {
        TokenCache cache = TokenCache.inFolder(Path.of(given[1]));
        System.out.print(new Fe(given[0], "fak_0", "secret", Option.tokenCache(cache)).status("0199-a").get("status"));
        for (Runnable refused : new Runnable[] {
            () -> Json.object("a", Json.object("b", 118.5)),
            () -> new Fe("", "fak_0", "secret"),
            () -> new Fe(given[0], "fak_0", "secret", Option.layout("a4")),
            () -> Option.simulate(Json.object("Outcome", "slow")),
            () -> Json.parse("[1,]"),
        }) {
            try {
                refused.run();
            } catch (IllegalArgumentException error) {
                System.out.print("|" + error.getMessage());
            }
        }
    }
}
"""


def test_java_processes_share_one_login_and_refuse_what_would_be_ignored(tmp_path: Path) -> None:
    (tmp_path / "LogsIn.java").write_text(_LOGS_IN, encoding="utf-8")
    command = compiled(tmp_path / "classes", [tmp_path / "LogsIn.java"])
    if command is None:
        pytest.skip("NOT PROVED HERE: there is no compiler for Java")
    folder = tmp_path / "tokens"
    status = say(200, {"taxLogId": "0199-a", "status": "Aceptado"})
    with Hostile(deque([status, status, OVER, status])) as server:
        server.open()
        command += ["LogsIn", server.url, str(folder)]
        together = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        said = [each.communicate(timeout=PATIENCE)[0].split("|") for each in together]
        assert ([each[0] for each in said], server.times_logged_in) == (['"Aceptado"'] * 2, 1)

        # One whose token is refused gets a new one, and leaves it to the others.
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        assert server.times_logged_in == 2

        # A file that a power cut left empty is no obstacle.
        (token,) = folder.glob("*.json")
        token.write_text("", encoding="utf-8")
        server.answers.append(status)
        again = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        assert (again.split("|")[0], server.times_logged_in) == ('"Aceptado"', 3)

    assert said[0][1:] == [
        'b is a binary float: give a BigDecimal or a text such as "118.50"',
        "the base URL is missing, such as https://fe.example.com",
        "Fe: there is no layout; there are timeout, retries, language, strict, tokenCache",
        "simulate: there is no Outcome; did you mean outcome?",
        "the JSON ends with a comma, at 3",
    ]
    kept = [file for file in folder.iterdir() if file.suffix == ".json"]
    assert [file.stat().st_mode & 0o777 for file in [folder, *kept]] == [0o700, 0o600]
