"""The description as a page for people: one file, no script, nothing from any other host."""

import json
from html import escape
from typing import Any

from fe.ecf.json_text import write_json
from fe.http.calls import ApiReply, Call

#: Nothing but the page's own style may be loaded or run.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1,h2{line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid #ccc}
details{border:1px solid #d5d5d5;border-radius:6px;margin:.6rem 0;padding:.4rem .8rem}
summary{cursor:pointer}summary code{font-weight:600}
.m{display:inline-block;min-width:4.5rem;font:600 .8rem ui-monospace,monospace;color:#fff;background:#31577f;
border-radius:4px;text-align:center;padding:.1rem 0;margin-right:.5rem}
.POST{background:#2c6e49}.DELETE{background:#9b2c2c}
table{border-collapse:collapse;width:100%;font-size:.92rem}
td,th{text-align:left;vertical-align:top;padding:.25rem .5rem;border-top:1px solid #e5e5e5}
code,pre{font:.9em ui-monospace,monospace}pre{background:#f5f5f5;padding:.6rem;
overflow:auto;border-radius:6px}
@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}pre{background:#242424}
details,h2,td,th{border-color:#444}a{color:#8ab4f8}}
"""


class Docs:
    """Serves the description, as JSON and as a page."""

    def __init__(self) -> None:
        self._json = b""
        self._page = b""

    def show(self, description: dict[str, Any]) -> None:
        """Serve this description from now on."""
        self._json = write_json(description)
        self._page = _page(description).encode()

    async def openapi(self, call: Call) -> ApiReply:
        """Serve the description for programs."""
        return ApiReply(200, self._json)

    async def page(self, call: Call) -> ApiReply:
        """Serve the description for people."""
        headers = (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Security-Policy", _POLICY),
            ("Referrer-Policy", "no-referrer"),
        )
        return ApiReply(200, self._page, headers)


def _page(description: dict[str, Any]) -> str:
    groups: dict[str, list[str]] = {}
    schemas = description["components"]["schemas"]
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation["tags"][0], []).append(_operation(path, method.upper(), operation))
    sections = "".join(f"<h2>{escape(name)}</h2>{''.join(operations)}" for name, operations in groups.items())
    models = "".join(_model(name, schema) for name, schema in schemas.items())
    info = description["info"]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])} API</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head><body>'
        f"<h1>{escape(info['title'])} API <small>{escape(info['version'])}</small></h1>"
        f"<pre>{escape(info['description'])}</pre>"
        f'<p>For programs: <a href="openapi.json">openapi.json</a> (OpenAPI {escape(description["openapi"])}).</p>'
        f"{sections}<h2>Models</h2>{models}</body></html>"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    parts = [f"<p>{_inline(operation.get('description', 'No token needed.'))}</p>"]
    if parameters := operation.get("parameters"):
        rows = "".join(
            _row(f"{p['name']} ({p['in']})", _kind(p["schema"]), p["description"], required=p["required"])
            for p in parameters
        )
        parts.append(f"<table><tr><th>Parameter<th>Type<th>Meaning</tr>{rows}</table>")
    if body := operation.get("requestBody"):
        parts.append(f"<p>Body: {_kind(body['content']['application/json']['schema'])}</p>")
    rows = "".join(
        f"<tr><td>{status}<td>{escape(answer['description'])}<td>"
        f"{_kind(answer['content']['application/json']['schema']) if 'content' in answer else ''}</tr>"
        for status, answer in operation["responses"].items()
    )
    parts.append(
        f"<table><tr><th>Status<th><th>Body</tr>{rows}</table><pre>{escape(_curl(path, method, operation))}</pre>"
    )
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><span class="m {method}">{method}</span>'
        f"<code>{escape(path)}</code> {escape(operation['summary'])}</summary>{''.join(parts)}</details>"
    )


def _model(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = "".join(
        _row(field, _kind(about), about.get("description", ""), required=field in required)
        for field, about in schema.get("properties", {}).items()
    )
    table = f"<table><tr><th>Field<th>Type<th>Meaning</tr>{rows}</table>" if rows else f"<p>{_kind(schema)}</p>"
    for example in schema.get("examples", ()):
        table += f"<pre>{escape(json.dumps(example, indent=2, ensure_ascii=False))}</pre>"
    return (
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code> '
        f"{_inline(schema.get('description', ''))}</summary>{table}</details>"
    )


def _row(name: str, kind: str, meaning: str, *, required: bool) -> str:
    star = "" if required else " <small>optional</small>"
    return f"<tr><td><code>{escape(name)}</code>{star}<td>{kind}<td>{_inline(meaning)}</tr>"


def _kind(schema: dict[str, Any]) -> str:
    """The type of a value in a few words, as HTML."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
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


def _inline(text: str) -> str:
    """Text with `code` in backticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def _curl(path: str, method: str, operation: dict[str, Any]) -> str:
    words = ["curl"]
    if method != "GET":
        words.append(f"-X {method}")
    if "security" in operation:
        words.append('-H "Authorization: Bearer $TOKEN"')
    if "requestBody" in operation:
        words.append("-H 'Content-Type: application/json' -d @body.json")
    return " ".join([*words, f'"$BASE{path}"'])
