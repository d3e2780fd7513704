"""The C# client by Mono and by .NET: in every conversation, and with many processes."""

import subprocess
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.csharp import by_dotnet, compiled
from tests.clients.hostile import Hostile, say
from tests.clients.speaker import Speaker, assert_judged_as_the_vectors_say
from tests.clients.troubles import OVER, TROUBLES, Trouble, play
from tests.clients.typed import assert_every_answer_is_read
from tests.waiting import PATIENCE

DRIVER = Path(__file__).with_name("driver.cs")
RUNTIMES = ("mono", "dotnet")


def program(runtime: str, target: Path, source: Path) -> list[str]:
    """Compile a program, and return the command that runs it by this runtime."""
    command = compiled(target, source)
    if command is None:
        pytest.skip("NOT PROVED HERE: there is no compiler for C#")
    if runtime == "dotnet":
        command = by_dotnet(target)
    if command is None:
        pytest.skip("NOT PROVED HERE: there is no .NET")
    return command


@pytest.fixture(scope="module", params=RUNTIMES)
def speaker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Speaker]:
    command = program(request.param, tmp_path_factory.mktemp("csharp") / "driver.exe", DRIVER)
    with Speaker(*command, str(tmp_path_factory.mktemp("tokens"))) as speaker:
        yield speaker


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
def test_csharp_client_passes_conversation(trouble: Trouble, speaker: Speaker) -> None:
    play(trouble, speaker.drive)


def test_csharp_client_judges_webhooks_as_the_vectors_say(speaker: Speaker) -> None:
    assert_judged_as_the_vectors_say(speaker.judge_webhooks())


def test_csharp_types_read_every_answer_exactly_and_ignore_new_fields(speaker: Speaker) -> None:
    assert_every_answer_is_read(speaker)


_LOGS_IN = """
using System;
using System.Collections.Generic;
using FeClient;

public static class LogsIn
{
    static Dictionary<string, string> Unsigned() => new Dictionary<string, string>
    {
        { "webhook-timestamp", DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString() },
    };

    public static void Main(string[] given)
    {
        var options = new FeOptions { TokenCache = new FileTokenCache(given[1]) };
        var fe = new Fe(given[0], "fak_0", "secret", options);
        Console.Write(fe.StatusAsync("0199-a").GetAwaiter().GetResult()["status"].Text);
        foreach (Action refused in new Action[]
        {
            () => fe.PreviewAsync(new { a = new[] { 118.5 } }),
            () => new Fe("", "fak_0", "secret"),
            () => fe.PreviewAsync("<ECF/>", simulate: new { Outcome = "slow" }),
            () => fe.InvoicesAsync(new { State = "Aceptado" }).GetAwaiter().GetResult(),
            () => Json.Parse("[1,]"),
            () => Webhook.Verify("whsec_", Unsigned(), new byte[0]),
        })
        {
            try
            {
                refused();
            }
            catch (Exception error) when (error is ArgumentException || error is FormatException)
            {
                Console.Write("|" + error.Message);
            }
        }
    }
}
"""


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_csharp_processes_share_one_login_and_refuse_what_would_be_ignored(runtime: str, tmp_path: Path) -> None:
    (tmp_path / "logs_in.cs").write_text(_LOGS_IN, encoding="utf-8")
    command = program(runtime, tmp_path / "logs_in.exe", tmp_path / "logs_in.cs")
    folder = tmp_path / "tokens"
    status = say(200, {"taxLogId": "0199-a", "status": "Aceptado"})
    with Hostile(deque([status, status, OVER, status])) as server:
        server.open()
        command += [server.url, str(folder)]
        together = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        said = [each.communicate(timeout=PATIENCE)[0].split("|") for each in together]
        assert ([each[0] for each in said], server.times_logged_in) == (["Aceptado"] * 2, 1)

        # One whose token is refused gets a new one, and leaves it to the others.
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        assert server.times_logged_in == 2

        # A file that a power cut left broken is no obstacle.
        (kept,) = folder.glob("*.json")
        kept.write_text("{", encoding="utf-8")
        server.answers.append(status)
        again = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        assert (again.split("|")[0], server.times_logged_in) == ("Aceptado", 3)

    assert said[0][1:] == [
        'payload.a[0] is a binary float: give a decimal or a text such as "118.50"',
        "the base URL is missing, such as https://fe.example.com",
        "simulate: there is no Outcome; did you mean outcome?",
        "InvoicesAsync: there is no State; did you mean state?",
        "the JSON ends with a comma, at 3",
        "the secret is not one of a webhook",
    ]
    assert folder.stat().st_mode & 0o777 == 0o700
