"""The description for programs, as a page for people, and as Markdown."""

import json
import re
import threading
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

import trio

from fe.ecf.json_text import write_json
from fe.http.calls import ApiReply, Call
from fe.http.pages.guide import to_html
from fe.http.pages.layout import Shell, html_page, inline, text_page
from fe.http.pages.served import ServedPage


class _Made(NamedTuple):
    json: ServedPage
    page: ServedPage
    markdown: ServedPage


class Docs:
    """Serves the description, as JSON, as a page and as Markdown, which are made at the first call for one of them."""

    def __init__(self, base: str, describe: Callable[[], dict[str, Any]]) -> None:
        """`base` is the address of the page."""
        self._base, self._describe = base, describe
        self._kept: _Made | None = None
        self._one_at_a_time = threading.Lock()  # fronts of several threads share it

    async def openapi(self, call: Call) -> ApiReply:
        """Serve the description for programs."""
        return (await self._made()).json.answer(call)

    async def page(self, call: Call) -> ApiReply:
        """Serve the description for people."""
        return (await self._made()).page.answer(call)

    async def markdown(self, call: Call) -> ApiReply:
        """Serve the description as Markdown."""
        return (await self._made()).markdown.answer(call)

    async def _made(self) -> _Made:
        # In a thread, so that other requests go on. Cancellation takes effect once all is made.
        return await trio.to_thread.run_sync(self._make) if self._kept is None else self._kept

    def _make(self) -> _Made:
        with self._one_at_a_time:
            if self._kept is None:
                self._kept = self._written()
            return self._kept

    def _written(self) -> _Made:
        description = self._describe()
        shell = Shell(self._base, "en", "reference")
        title = f"{description['info']['title']} API"
        page = shell.around(title, _page(description), markdown=f"{self._base}.md")
        return _Made(
            ServedPage.of(write_json(description), ("Content-Type", "application/json")),
            html_page(page, "en"),
            text_page("text/markdown", reference_markdown(description).encode(), "en"),
        )


#: Models of documents and their parts: the catalogue has a page for each kind, which says more of them.
_PAYLOAD = re.compile(r"(?:Ecf|(Rfce|Acecf|Anecf))(\d\d)?")


def _page(description: dict[str, Any]) -> str:
    groups: dict[str, list[str]] = {}
    schemas = description["components"]["schemas"]
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation["tags"][0], []).append(_operation(path, method.upper(), operation))
    sections = "".join(f"<h2>{escape(name)}</h2>{''.join(operations)}" for name, operations in groups.items())
    models = "".join(_model(name, schema) for name, schema in schemas.items() if not _PAYLOAD.match(name))
    info = description["info"]
    return (
        f"<h1>{escape(info['title'])} API <small>{escape(info['version'])}</small></h1>"
        f"{to_html(info['description'])}"
        f'<p>For programs: <a href="openapi.json">openapi.json</a> (OpenAPI {escape(description["openapi"])}).</p>'
        f"{sections}<h2>Models</h2>{models}"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    parts = [f"<p>{inline(operation.get('description', 'No token needed.'))}</p>"]
    if parameters := operation.get("parameters"):
        rows = "".join(
            _row(f"{p['name']} ({p['in']})", _kind(p["schema"]), p["description"], required=p["required"])
            for p in parameters
        )
        parts.append(f"<table><tr><th>Parameter<th>Type<th>Meaning</tr>{rows}</table>")
    if body := operation.get("requestBody"):
        parts.append(f"<p>Body: {_kind(body['content']['application/json']['schema'])}</p>")
        parts += [_shown("Example of a body", value) for value in _examples(body)]
    rows = "".join(
        f"<tr><td>{status}<td>{escape(answer['description'])}<td>{_body(answer)}</tr>"
        for status, answer in operation["responses"].items()
    )
    parts.append(
        f"<table><tr><th>Status<th><th>Body</tr>{rows}</table><pre>{escape(_curl(path, method, operation))}</pre>"
    )
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            parts += [_shown(f"Example of an answer: {status}", value) for value in _examples(answer)]
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><span class="m {method}">{method}</span>'
        f"<code>{escape(path)}</code> {escape(operation['summary'])}</summary>{''.join(parts)}</details>"
    )


def _body(answer: dict[str, Any]) -> str:
    """The type of an answer's body: its schema, or its media type where it is a file."""
    ((media_type, content),) = answer.get("content", {"": {}}).items()
    return _kind(content["schema"]) if media_type == "application/json" else escape(media_type)


def _examples(of: dict[str, Any]) -> list[Any]:
    """The examples of a body or an answer, but for those that stand elsewhere."""
    shown = of.get("content", {}).get("application/json", {}).get("examples", {})
    return [example["value"] for example in shown.values() if "value" in example]


def _shown(title: str, value: Any) -> str:
    return f"<details><summary>{title}</summary><pre>{escape(_indented(value))}</pre></details>"


def _indented(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _model(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = "".join(
        _row(field, _kind(about), about.get("description", ""), required=field in required)
        for field, about in schema.get("properties", {}).items()
    )
    table = f"<table><tr><th>Field<th>Type<th>Meaning</tr>{rows}</table>" if rows else f"<p>{_kind(schema)}</p>"
    for example in schema.get("examples", ()):
        table += f"<pre>{escape(_indented(example))}</pre>"
    return (
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code> '
        f"{inline(schema.get('description', ''))}</summary>{table}</details>"
    )


def _row(name: str, kind: str, meaning: str, *, required: bool) -> str:
    star = "" if required else " <small>optional</small>"
    return f"<tr><td><code>{escape(name)}</code>{star}<td>{kind}<td>{inline(meaning)}</tr>"


def _kind(schema: dict[str, Any]) -> str:
    """The type of a value in a few words, as HTML."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        if payload := _PAYLOAD.match(name):
            kind = payload[2] or (payload[1] or "").lower()
            return f'<a href="docs/en/fields/{kind}">{name}</a>' if kind else name
        return f'<a href="#{name}">{name}</a>'
    for several in ("anyOf", "oneOf"):
        if several in schema and "type" not in schema:
            return " or ".join(_kind(each) for each in schema[several])
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    if "enum" in schema:
        return " ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"array of {_kind(schema.get('items', {}))}"
    bounds = [f"{word} {schema[key]}" for key, word in _BOUNDS.items() if key in schema]
    return escape(" ".join(filter(None, (kind, f"({schema['format']})" if "format" in schema else "", *bounds))))


_BOUNDS = {"minimum": "from", "maximum": "to", "minLength": "from", "maxLength": "to", "default": "default"}


def _curl(path: str, method: str, operation: dict[str, Any]) -> str:
    words = ["curl"]
    if method != "GET":
        words.append(f"-X {method}")
    if operation.get("security"):
        words.append('-H "Authorization: Bearer $TOKEN"')
    if "requestBody" in operation:
        words.append("-H 'Content-Type: application/json' -d @body.json")
    return " ".join([*words, f'"$FE_URL{path}"'])


def reference_markdown(description: dict[str, Any]) -> str:
    """The operations as Markdown; the models are in the description itself, which says more of them."""
    info = description["info"]
    parts = [f"# {info['title']} API {info['version']}\n", f"{info['description']}\n"]
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            parts.append(f"## {method.upper()} {path}\n")
            parts.append(f"{operation['summary']}. {operation.get('description', 'No token needed.')}\n")
            lines = [
                f"- `{one['name']}` ({one['in']}{', required' if one['required'] else ''}): {one['description']}"
                for one in operation.get("parameters", ())
            ]
            lines += [
                f"- answers {status}: {answer['description']}" for status, answer in operation["responses"].items()
            ]
            parts.append("\n".join(lines) + "\n")
            shown = [("A body", value) for value in _examples(operation.get("requestBody", {}))]
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    shown += [(f"An answer ({status})", value) for value in _examples(answer)]
            parts += [f"{title}:\n\n```json\n{_indented(value)}\n```\n" for title, value in shown]
    return "\n".join(parts)
