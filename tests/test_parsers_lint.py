"""Bytes become JSON and XML through `fe/ecf/parse` alone, and no XPath is put together from values.

A second parser would have limits of its own, or none, and could read the same bytes differently.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOOR = ROOT / "fe" / "ecf" / "parse"

#: Files and folders that may parse for themselves, each with its reason.
EXCUSED = {
    "fe/archive/verifier/": "runs without fe, on the standard library alone; a second reader agrees with it",
    "fe/archiving/export.py": "counts manifests that the service wrote itself, once their digests hold",
    "fe/accounts/execute_approval.py": "reads back the request it froze itself, to the byte that was agreed to",
    "fe/portal/pages/operators/approvals.py": "shows that same request",
    "fe/simulator/journal.py": "reads back the lines the simulator wrote itself",
    "fe/http/examples/__init__.py": "reads files of this package, which nobody sends",
    "fe/http/pages/commands.py": "reads commands of the guide, a part of this package, which nobody sends",
    "fe/http/openapi/answer_examples.py": "reads a file of this package, which nobody sends",
    "fe/operations/audit_chain.py": "reads back the lines it wrote itself, to the byte; whatever else comes is no link",
    "fe/main.py": "reads back what the parent of this very program gave it",
    "fe/process/supervise.py": "the same, of the parent that it becomes",
    "fe/operations/doctor/alerting.py": "an operator's command: reads what the Alertmanager answers that they name",
    "fe/portal/receipt/drafts.py": "reads back the draft that the portal wrote itself",
    "fe/store/queue/inputs.py": "reads what a function of the database made, of rows that were checked on their way in",
    "fe/webhooks/secrets.py": "reads back the headers it encrypted itself, once they are decrypted and authenticated",
    "fe/integrator/": "runs on the client's side: reads answers of the service and its own files",
    "fe/cli/": "reads files that operators name",
}

_XML_MODULES = {"xml", "html.parser", "defusedxml", "xmltodict", "bs4", "lxml.html", "lxml.objectify", "lxml.sax"}
_JSON_MODULES = {"orjson", "ujson", "simplejson", "rapidjson"}
_ETREE_PARSERS = {
    "ETCompatXMLParser", "ElementTree", "HTML", "HTMLParser", "HTMLPullParser", "XML", "XMLDTDID", "XMLID", "XMLParser",
    "XMLPullParser", "fromstring", "fromstringlist", "iterparse", "parse", "parseid",
}  # fmt: skip
_PARSERS = {"etree": _ETREE_PARSERS, "json": {"JSONDecoder", "load", "loads"}}
#: Methods of other libraries that parse a body by themselves.
_BODY_PARSERS = {"get_json", "json", "model_validate_json"}
_PATH_METHODS = {"ETXPath", "XPath", "XPathEvaluator", "find", "findall", "findtext", "iterfind", "xpath"}


def offences(source: str) -> list[str]:
    """The places of a module that parse bytes without fe's own parsing functions, as `line: what`."""
    return [f"{line}: {what}" for line, what in sorted(_offences(ast.parse(source)))]


def _offences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, f"import {alias.name}") for alias in node.names if _is_parser(alias.name))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = {alias.name for alias in node.names}
            if _is_parser(module) or any(_is_parser(f"{module}.{name}") for name in names):
                yield node.lineno, f"from {module}"
            if names & _PARSERS.get(module.rpartition(".")[2], set()):
                yield node.lineno, f"from {module} import a parser"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = node.value.id
            if node.attr in _PARSERS.get(module, ()):
                yield node.lineno, f"{module}.{node.attr}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _BODY_PARSERS and not node.args:
                yield node.lineno, f".{node.func.attr}()"
            if node.func.attr in _PATH_METHODS and node.args and not _is_fixed(node.args[0]):
                yield node.lineno, f".{node.func.attr}() with a path made of values"


def _is_parser(module: str) -> bool:
    first = module.partition(".")[0]
    return first in _XML_MODULES | _JSON_MODULES or module in _XML_MODULES


def _is_fixed(path: ast.expr) -> bool:
    """Whether a path holds constants alone: literals, and names in capitals."""
    if isinstance(path, ast.JoinedStr):
        inside = (part.value for part in path.values if isinstance(part, ast.FormattedValue))
        return all(_name(value).isupper() for value in inside)
    if isinstance(path, ast.BinOp):
        parts = (path.left, path.right)
        in_bytes = any(isinstance(part, ast.Constant) and isinstance(part.value, bytes) for part in ast.walk(path))
        return in_bytes or all(isinstance(part, ast.Constant) or _name(part).isupper() for part in parts)
    # A name by itself is no path put together. Where it was put together, that is seen there or not at all.
    return isinstance(path, (ast.Constant, ast.Name, ast.Attribute, ast.Subscript))


def _name(value: ast.expr) -> str:
    if isinstance(value, ast.Attribute):
        return value.attr
    return value.id if isinstance(value, ast.Name) else ""


def test_no_module_parses_for_itself() -> None:
    paths = {str(path.relative_to(ROOT)): path for path in (ROOT / "fe").rglob("*.py") if not path.is_relative_to(DOOR)}
    found = {name: offences(path.read_text()) for name, path in paths.items() if not name.startswith(tuple(EXCUSED))}

    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import json\njson.loads(b'')",
        "import json\nlist(map(json.loads, []))",
        "from json import loads",
        "import json\njson.JSONDecoder()",
        "import orjson",
        "from lxml import etree\netree.fromstring(b'')",
        "from lxml import etree\netree.XMLParser(huge_tree=True)",
        "from lxml import etree\nfor _ in etree.iterparse('x'): pass",
        "from lxml.etree import parse",
        "import lxml.html",
        "from lxml import html",
        "import xml.etree.ElementTree as ET",
        "from xml.dom import minidom",
        "response.json()",
        "await request.get_json()",
        "Model.model_validate_json()",
        "tree.xpath(f'//{name}')",
        "tree.xpath('//a[.=' + value() + ']')",
        "tree.findtext('a/%s' % (name,))",
        "etree.XPath('//{}'.format(name))",
    ],
)
def test_the_lint_sees_what_it_looks_for(source: str) -> None:
    assert len(offences(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import json\njson.dumps({})",
        "from lxml import etree\netree.tostring(etree.Element('a'))",
        "tree.findtext('Encabezado/IdDoc/eNCF')",
        "tree.find(f'{{{DS}}}SignedInfo')",
        "tree.find(FIELD)",
        "text.find('a')",
        "raw.find(b'<' + tag.encode())",
        "import html\nhtml.escape('<')",
        "response.json(value)",
    ],
)
def test_the_lint_leaves_the_rest_alone(source: str) -> None:
    assert offences(source) == []
