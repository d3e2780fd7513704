"""Clients that openapi-generator makes of the served description: compiled, and walked from the login to a verdict.

The generator is a Java program in a package of PyPI, installed into a temporary folder. Where it, a compiler or a
library of a language is missing, the test of that language is skipped and says what it did not prove. The operations of
each client are counted. C# is counted alone: no distribution of ours has a compiler for what the generator writes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from fe.accounts.provision import create_key
from fe.ecf.catalogue import Environment
from fe.ecf.json_text import write_json
from fe.http.app import PREFIX
from fe.http.openapi.served import description
from tests.generators.test_generated_clients import run
from tests.system.stack import running_stack

HERE = Path(__file__).parent
GENERATOR = "openapi-generator-cli==7.26.0"
HASH = "sha256:e6305fbbf91aa41b3b7fcd8bf2124880ab0bb9e32efad95b3dfe71f9313d856c"
#: Java compiles to its quick form only, and collects garbage on one core: it runs for seconds.
QUICK_JAVA = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
pytestmark = [
    pytest.mark.drill,
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: The generated code is annotated with a class that the JDK does not have; builds get it from a library.
_GENERATED = """package javax.annotation;
public @interface Generated { String[] value(); String date() default ""; String comments() default ""; }
"""


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generator."""
    if shutil.which("java") is None:
        pytest.skip("NOT PROVED HERE: there is no Java to run openapi-generator")
    folder = tmp_path_factory.mktemp("generator")
    (folder / "wanted.txt").write_text(f"{GENERATOR} --hash={HASH}")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes")
    command = (*pip, "--target", str(folder / "package"), "-r", "wanted.txt")
    try:
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        pytest.skip("NOT PROVED HERE: the package index did not answer in time")
    if ended.returncode:
        pytest.skip(f"NOT PROVED HERE: openapi-generator could not be installed: {ended.stderr.strip()[-300:]}")
    return folder / "package" / "openapi_generator_cli" / "openapi-generator.jar"


@pytest.fixture(scope="module")
def clients(jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a client of each language, from one start of the generator. A collision of names fails the tests."""
    folder = tmp_path_factory.mktemp("clients")
    (folder / "openapi.json").write_bytes(write_json(description()))
    for language in DECLARED:
        config: dict[str, Any] = {"generatorName": language, "inputSpec": "openapi.json", "outputDir": language}
        if language == "java":
            config |= {"library": "native", "additionalProperties": {"openApiNullable": False}}
        (folder / f"{language}.json").write_text(json.dumps(config))
    command = ("java", *QUICK_JAVA, "-jar", str(jar), "batch", "--fail-fast", "--threads", "1")
    said = run(*command, *(f"{language}.json" for language in DECLARED), cwd=folder)
    assert "COLLISION" not in said, said
    return folder


def java(jar: Path, made: Path) -> list[str]:
    if shutil.which("javac") is None:
        pytest.skip("NOT PROVED HERE: there is no compiler for Java")
    stub = made / "stub" / "javax" / "annotation" / "Generated.java"
    stub.parent.mkdir(parents=True)
    stub.write_text(_GENERATED)
    sources = [*map(str, (made / "src" / "main").rglob("*.java")), str(stub), str(HERE / "walk_java" / "Walk.java")]
    (made / "sources").write_text("\n".join(sources))
    quick = [f"-J{option}" for option in QUICK_JAVA]
    run("javac", *quick, "-proc:none", "-nowarn", "-d", "out", "-cp", str(jar), "@sources", cwd=made)
    return ["java", *QUICK_JAVA, "-cp", f"{made / 'out'}:{jar}", "Walk"]


def go(_: Path, made: Path) -> list[str]:
    if shutil.which("go") is None:
        pytest.skip("NOT PROVED HERE: there is no compiler for Go")
    # The one library that is not Go's own checks what the service checks itself.
    stub = made / "validator"
    stub.mkdir()
    (stub / "validator.go").write_text("package validator\n\nfunc Validate(any) error { return nil }\n")
    (stub / "go.mod").write_text("module gopkg.in/validator.v2\n\ngo 1.18\n")
    with (made / "go.mod").open("a") as file:
        file.write("\nreplace gopkg.in/validator.v2 => ./validator\n")
    shutil.copytree(HERE / "walk_go", made / "walk")
    run("go", "build", "-mod=mod", "-o", "out", "./walk", cwd=made)
    return [str(made / "out")]


def php(_: Path, made: Path) -> list[str]:
    if shutil.which("php") is None or not Path("/usr/share/php/GuzzleHttp/autoload.php").exists():
        pytest.skip("NOT PROVED HERE: there is no PHP, or no Guzzle of the distribution")
    shutil.copy(HERE / "walk_php" / "walk.php", made)
    return ["php", "-d", "error_reporting=E_ALL", str(made / "walk.php")]


BUILDS = {"java": java, "go": go, "php": php}
#: By the generator's name of a language, how its client declares the method of an operation.
DECLARED = {
    "java": r"public \S+ {camel}\(",
    "go": r"\) {title}\(ctx ",
    "php": r"public function {camel}\(",
    "csharp": r"public async \S+ {title}Async\(",
    "typescript-fetch": r"async {camel}\(",
}


@pytest.mark.parametrize("language", DECLARED)
def test_client_of_openapi_generator_has_every_operation(language: str, clients: Path) -> None:
    suffix = {"csharp": ".cs", "typescript-fetch": ".ts"}.get(language, f".{language}")
    text = "\n".join(file.read_text(encoding="utf-8") for file in (clients / language).rglob(f"*{suffix}"))
    operations = [each["operationId"] for path in description()["paths"].values() for each in path.values()]

    def declares(camel: str) -> bool:
        return re.search(DECLARED[language].format(camel=camel, title=camel[0].upper() + camel[1:]), text) is not None

    assert [operation for operation in operations if not declares(operation)] == []
    sys.stdout.write(f"{language}: {len(operations)} operations\n")


@pytest.mark.parametrize("language", BUILDS)
async def test_client_of_openapi_generator_compiles_and_walks_to_a_verdict(
    language: str, jar: Path, clients: Path, dsn: str, tmp_path: Path
) -> None:
    command = await trio.to_thread.run_sync(BUILDS[language], jar, clients / language)
    async with running_stack(dsn, tmp_path / "data") as stack:
        assert stack.settings.api_key_pepper is not None
        pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
        key = await stack.db.transact(create_key, stack.tenant, Environment.TESTECF, pepper=pepper)
        base = stack.base_url.removesuffix(PREFIX)
        arguments = (base, key.record.api_key_id, key.secret, language)
        ended = await trio.run_process(
            [*command, *arguments],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env={name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
        )
    assert ended.returncode == 0, (ended.stdout, ended.stderr)
    seen = json.loads(ended.stdout)
    number = seen.pop("eNCF")
    assert number.startswith("E31")
    assert seen == {"status": "Aceptado", "billable": False, "deduped": True, "found": False, "webhooks": 0}
