"""The PHP client: in every conversation, with many processes, and over the whole road."""

import json
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

import fe
from clients.generate import source_files
from fe.http.openapi.served import description
from tests.clients.hostile import Hostile, say
from tests.clients.snippets import CLIENTS
from tests.clients.speaker import Speaker, assert_judged_as_the_vectors_say
from tests.clients.troubles import OVER, TROUBLES, Trouble, play
from tests.clients.typed import assert_every_answer_is_read
from tests.waiting import PATIENCE

PACKAGE = CLIENTS / "php"
DRIVER = Path(__file__).with_name("driver.php")


@pytest.fixture(scope="module")
def php() -> str:
    found = shutil.which("php")
    modules = subprocess.run([found, "-m"], capture_output=True, text=True).stdout.split() if found else []
    if found is None or "curl" not in modules:
        pytest.skip("NOT PROVED HERE: there is no PHP, or it has no curl")
    return found


@pytest.fixture(scope="module")
def speaker(php: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Speaker]:
    with Speaker(php, str(DRIVER), str(PACKAGE), str(tmp_path_factory.mktemp("tokens"))) as speaker:
        yield speaker


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
def test_php_client_passes_conversation(trouble: Trouble, speaker: Speaker) -> None:
    play(trouble, speaker.drive)


def test_php_client_judges_webhooks_as_the_vectors_say(speaker: Speaker) -> None:
    assert_judged_as_the_vectors_say(speaker.judge_webhooks())


def test_php_types_read_every_answer_exactly_and_ignore_new_fields(speaker: Speaker) -> None:
    assert_every_answer_is_read(speaker)


_LOGS_IN = """
require $argv[1] . '/autoload.php';
$fe = new FeClient\\Fe($argv[2], 'fak_0', 'secret', cache: new FeClient\\FileCache($argv[3]));
echo json_encode($fe->status('0199-a'));
"""


def test_php_processes_share_one_login_and_others_cannot_read_it(php: str, tmp_path: Path) -> None:
    status = {"taxLogId": "0199-a", "status": "Aceptado"}
    folder = tmp_path / "tokens"
    command = [php, "-r", _LOGS_IN, str(PACKAGE), "", str(folder)]
    with Hostile(deque([say(200, status)] * 7 + [OVER, say(200, status)])) as server:
        server.open()
        command[4] = server.url
        together = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(7)]
        said = [json.loads(each.communicate(timeout=PATIENCE)[0]) for each in together]
        assert (said, server.times_logged_in) == ([status] * 7, 1)

        # One whose token is refused gets a new one, and leaves it to the others.
        assert json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout) == status
        assert server.times_logged_in == 2

    kept = [file for file in folder.iterdir() if file.suffix == ".json"]
    assert [file.stat().st_mode & 0o777 for file in [folder, *kept]] == [0o700, 0o600]
    folder.chmod(0o755)
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "nobody else can read (mode 0700)" in refused.stdout + refused.stderr


_REFUSED = """
require $argv[1] . '/autoload.php';
$fe = new FeClient\\Fe('http://127.0.0.1:9', 'fak_0', 'secret');
$calls = [
    fn () => $fe->submit(['a' => ['b' => 118.5]]),
    fn () => $fe->submit([], clientRequestID: 'x'),
    fn () => $fe->submit([], simulate: ['Outcome' => 'slow']),
    fn () => $fe->wait('x', until: 'printed'),
    fn () => new FeClient\\Fe('', 'fak_0', 'secret'),
];
foreach ($calls as $call) {
    try {
        $call();
    } catch (Error | InvalidArgumentException $error) {
        echo $error->getMessage(), PHP_EOL;
    }
}
"""


def test_php_client_refuses_floats_and_unknown_options_before_anything_is_sent(php: str) -> None:
    ran = subprocess.run([php, "-r", _REFUSED, str(PACKAGE)], capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines() == [
        'payload.a.b is a float: write amounts as text, such as "118.50"',
        "Unknown named parameter $clientRequestID",
        "simulate: there is no Outcome; did you mean outcome?",
        "until must be verdict or signed, and not printed",
        "the base URL is missing, such as https://fe.example.com",
    ]


_FAILS = """
require $argv[1] . '/autoload.php';
$secret = 'a-secret-that-must-stay-one';
$cache = new FeClient\\FileCache($argv[3]);
$fe = new FeClient\\Fe($argv[2], 'fak_0', $secret, retries: new FeClient\\Retries(1), cache: $cache);
$calls = [
    fn () => new FeClient\\Fe('', 'fak_0', $secret),
    fn () => FeClient\\Webhook::verify("whsec_$secret", [], '{}'),
    fn () => (new FeClient\\Fe('http://127.0.0.1:9', 'fak_0', $secret, retries: new FeClient\\Retries(1)))->login(),
    fn () => $fe->status('x'),
    fn () => new FeClient\\Fe('http://127.0.0.1:9', "\\xff", $secret),
];
foreach ($calls as $call) {
    try {
        $call();
    } catch (Exception $error) {
        echo $error::class, ' ';
    }
    for ($each = $error; $each; $each = $each->getPrevious()) {
        echo $each->getMessage();
        $trace = $each->getTrace();
        array_walk_recursive($trace, function ($value) { echo is_scalar($value) ? "|$value" : ''; });
    }
    echo PHP_EOL;
}
"""


def test_php_errors_carry_no_secret_and_no_token_in_message_or_trace(php: str, tmp_path: Path) -> None:
    command = [php, "-d", "zend.exception_ignore_args=0", "-r", _FAILS, str(PACKAGE), "", str(tmp_path / "tokens")]
    with Hostile(deque([say(500, {"message": "no", "statusCode": 500})])) as server:
        server.open()
        command[6] = server.url
        said = subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")

    assert [line.split(" ")[0] for line in said.splitlines()] == [
        "InvalidArgumentException",
        "FeClient\\WebhookRefusedError",
        "FeClient\\ServerAwayError",
        "FeClient\\UnavailableError",
        "InvalidArgumentException",
    ]
    assert "a-secret" not in said
    assert "token-1" not in said


def test_php_package_has_the_version_of_the_service_and_sources_are_as_made() -> None:
    assert json.loads((PACKAGE / "composer.json").read_text(encoding="utf-8"))["version"] == fe.RELEASE
    for file, text in source_files(description()).items():
        assert (CLIENTS / file).read_text(encoding="utf-8") == text, "run: python -m clients.generate"
