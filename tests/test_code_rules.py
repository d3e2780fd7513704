"""Forbidden constructs, searched in the code: each would be a security hole that other tests could miss."""

import ast
import logging.handlers
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

#: Modules that may start processes: operators' commands, and restarts of this program.
STARTERS = {
    "fe/cli/outbox.py": "quotes the commands that it prints; starts nothing",
    "fe/integrator/stack.py": "the demonstration's own processes, by fixed arguments",
    "fe/process/hardening.py": "this very program again, with its own arguments",
    "fe/process/workers.py": "the parent of this very program, with its own arguments",
    "fe/process/supervise.py": "this very program again, with its own arguments",
    "fe/store/postgres/embedded.py": "names the error of the embedded server's start; starts nothing itself",
}
#: Modules that may compile a regular expression at run time, and its source.
COMPILERS = {
    "fe/simulator/multipart.py": "the boundary of a form, escaped",
    "fe/ecf/finished_xml.py": "names of the format's own lists, letters only",
    "fe/http/server/fast_path.py": "the path of a route of ours, escaped",
    "fe/http/server/limited_requests.py": "the paths of our routes",
}
#: Modules that fill in formats that are not constants.
FORMATTERS = {
    "fe/archive/verifier/main.py": "its words are constants of texts.py; `Text` is not at hand in a program of its own",
    "fe/monitoring/nonblocking_sink.py": "a record by its handler, which is no string",
    "fe/ecf/texts.py": "templates are constants and data files of the package; input comes only as values",
    "fe/http/openapi/described_errors.py": "templates of its data file, filled with values of our routes",
}
#: Modules that load other modules by name.
LOADERS = {
    "fe/cli/__init__.py": "its own table of commands",
    "fe/ecf/libxml.py": "one name, to see its libxml2",
}
#: Modules that draw random numbers for other purposes than secrets.
SPREADERS = {"fe/store/postgres/trio_connection.py": "connections end at different moments"}
#: Packages that requests reach: none may open a file that a request could name.
SERVING = ("http", "receiving", "issuing", "counterparty", "webhooks", "egress", "ecf", "queue", "metering")
#: Modules of these packages that read files whose names come from no request.
READERS = {
    "fe/ecf/data_files.py": "tables and texts that come with the package, on import",
    "fe/http/pages/examples.py": "pages that come with the package, listed by itself",
    "fe/http/pages/guide.py": "pages that come with the package, listed by itself",
    "fe/http/pages/layout.py": "the style of all pages, on import",
    "fe/http/pages/clients.py": "the clients' sources that come with the package, listed by itself",
}

Rule = Callable[[ast.AST], bool]

_HANDLERS = {name for name in dir(logging.handlers) if name.endswith("Handler")} | {"FileHandler"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / "fe").rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def imports(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return set()


def called(node: ast.AST) -> str:
    """`name` or `module.name` of a call, as it is written; empty where it is none."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Name):
        return node.func.id
    if isinstance(node.func, ast.Attribute):
        value = node.func.value
        return f"{value.id if isinstance(value, ast.Name) else '?'}.{node.func.attr}"
    return ""


def starts_a_process(node: ast.AST) -> bool:
    starters = ("system", "popen", "exec", "spawn", "posix_spawn")
    name = called(node)
    return bool(imports(node) & {"subprocess", "pty", "pexpect", "shlex"}) or (
        name.startswith("os.") and name[3:].startswith(starters)
    )


def evaluates(node: ast.AST) -> bool:
    return called(node) in ("eval", "exec", "compile", "__import__", "importlib.import_module") or bool(
        imports(node) & {"pickle", "marshal", "shelve", "dill", "code", "yaml"}
    )


def compiles_what_is_no_constant(node: ast.AST) -> bool:
    """In a function, that is: what a module makes when it is imported is made before anything came in."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(_compiles, ast.walk(node)))


def _compiles(node: ast.AST) -> bool:
    functions = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
    return (
        isinstance(node, ast.Call)
        and called(node) in [f"re.{function}" for function in functions]
        and not is_constant(node.args[0])
    )


def is_constant(node: ast.expr) -> bool:
    """Whether it is made of literals and of names that are written as constants are."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper()
        case ast.BinOp(left=left, right=right):
            return is_constant(left) and is_constant(right)
        case ast.JoinedStr(values=values):
            return all(is_constant(value.value) if isinstance(value, ast.FormattedValue) else True for value in values)
        case _:
            return False


def formats_what_is_no_constant(node: ast.AST) -> bool:
    """`"{x}".format()` of a text that came in would show whatever hangs on its arguments; so would `%`."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("format", "format_map")
    ):
        text = node.func.value
        return not (is_constant(text) or _is_of_a_catalogue(text))
    return False


def _is_of_a_catalogue(text: ast.expr) -> bool:
    """`_TABLE[key]`; `text.message` and its like of a message or a rule; `sql.SQL("...")` of a literal."""
    match text:
        case ast.Subscript(value=ast.Name(id=name)):
            return name.isupper()
        case ast.Attribute(value=ast.Name(id="text" | "rule"), attr=attr):
            return attr in ("message", "message_es", "fix", "fix_es")
        case ast.Call(args=[first]):
            return called(text) == "sql.SQL" and is_constant(first)
        case _:
            return False


def opens_a_file(node: ast.AST) -> bool:
    name = called(node)
    return name in ("open", "io.open", "os.open", "Path", "tempfile.mkstemp", "NamedTemporaryFile") or name.endswith(
        (".write_text", ".write_bytes", ".read_text", ".read_bytes", ".mkdir", ".unlink", ".rename")
    )


def encrypts_otherwise(node: ast.AST) -> bool:
    """Ciphers in modes of their own, old padding, or a second library; AESGCM alone is meant."""
    ciphers = "cryptography.hazmat.primitives.ciphers"
    foreign = {"Crypto", "Cryptodome", "nacl", "cryptography.fernet", "cryptography.hazmat.decrepit"}
    return any(
        (name.startswith(ciphers) and name not in (f"{ciphers}.aead", f"{ciphers}.aead.AESGCM"))
        or name.partition(".")[0] in foreign
        or name in foreign
        for name in imports(node)
    )


def draws_from_a_guessable_source(node: ast.AST) -> bool:
    """Whether it calls a function of `random`, which is predictable; `random.Random` only spreads waits."""
    name = called(node)
    return name.startswith("random.") and name != "random.Random"


def logs_elsewhere(node: ast.AST) -> bool:
    """Whether it makes a handler of the standard library's that writes to another place than standard error."""
    return called(node).rpartition(".")[2] in _HANDLERS


#: A rule, and the modules that are excused from it, each with its reason.
RULES: dict[str, tuple[Rule, dict[str, str]]] = {
    "no request starts a process": (starts_a_process, STARTERS),
    "nothing that came in is evaluated": (evaluates, LOADERS),
    "no regular expression is made of input": (compiles_what_is_no_constant, COMPILERS),
    "no format string is input": (formats_what_is_no_constant, FORMATTERS),
    "one cipher in one mode": (encrypts_otherwise, {}),
    "what is drawn cannot be foretold": (draws_from_a_guessable_source, SPREADERS),
}
#: Rules of one test each.
OTHERS: tuple[Rule, ...] = (opens_a_file, logs_elsewhere)


@pytest.fixture(scope="module")
def breaking() -> dict[Rule, set[str]]:
    """The modules that break each rule, from one walk over all code."""
    found: dict[Rule, set[str]] = {breaks: set() for breaks in (*(rule for rule, _ in RULES.values()), *OTHERS)}
    for name, tree in modules():
        nodes = list(ast.walk(tree))
        for breaks, where in found.items():
            if any(map(breaks, nodes)):
                where.add(name)
    return found


@pytest.mark.parametrize("rule", RULES)
def test_the_code_keeps_a_rule(rule: str, breaking: dict[Rule, set[str]]) -> None:
    breaks, excused = RULES[rule]
    broken = breaking[breaks]

    assert broken - excused.keys() == set()
    assert excused.keys() <= broken, "excused, and keeping it"


def test_what_serves_requests_touches_no_file(breaking: dict[Rule, set[str]]) -> None:
    """So no path can be made of what a client names: the front reads and writes the database alone."""
    serving = tuple(f"fe/{room}/" for room in SERVING)

    assert {name for name in breaking[opens_a_file] if name.startswith(serving)} == set(READERS)


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("import subprocess", "no request starts a process"),
        ("os.system('ls')", "no request starts a process"),
        ("eval(text)", "nothing that came in is evaluated"),
        ("from pickle import loads", "nothing that came in is evaluated"),
        ("def f(text): return re.compile(text)", "no regular expression is made of input"),
        ("async def f(text): return re.search(f'{_A}{given}', text)", "no regular expression is made of input"),
        ("given.format(x=1)", "no format string is input"),
        ("text.other.format(x=1)", "no format string is input"),
        ("from cryptography.hazmat.primitives.ciphers import Cipher, modes", "one cipher in one mode"),
        ("from cryptography.hazmat.primitives.ciphers.aead import AESCCM", "one cipher in one mode"),
        ("random.random()", "what is drawn cannot be foretold"),
        ("random.choice(letters)", "what is drawn cannot be foretold"),
    ],
)
def test_what_breaks_a_rule_is_seen(source: str, rule: str) -> None:
    breaks, _ = RULES[rule]

    assert any(breaks(node) for node in ast.walk(ast.parse(source)))


def test_the_log_goes_to_standard_error_and_nowhere_else(breaking: dict[Rule, set[str]]) -> None:
    """In a process of its own: here pytest has handlers."""
    program = (
        "import logging, sys\n"
        "from fe.monitoring.log import LINES, configure_logging\n"
        "from fe.monitoring.nonblocking_sink import SinkHandler\n"
        "configure_logging()\n"
        "found = [h for n in (None, LINES) for h in logging.getLogger(n).handlers]\n"
        "print(len(found), all(type(h) is SinkHandler and h.stream is sys.stderr for h in found))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)

    assert ended.stdout == "2 True\n"
    assert breaking[logs_elsewhere] == set()
