"""`fe mcp`: the API for a developer's assistant, over the Model Context Protocol on stdin and stdout.

The tools call the public API with a stored key. By default they only read and validate; --allow-submit enables issuing.
Errors become a tool's error with our one line, which holds no secret; unexpected ones show no detail.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import click
from pydantic import Field

from fe import __version__
from fe.cli.failures import Failure
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.describe import described, every
from fe.ecf.field_help import help_of
from fe.ecf.verdicts import explain
from fe.integrator.api import ApiSession, opened
from fe.integrator.language import say
from fe.integrator.options import api_options
from fe.integrator.submission_lookup import ask
from fe.integrator.submit import body_around, body_of, content_id

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

P = ParamSpec("P")
T = TypeVar("T")

_TYPES = [each.value for each in EcfType]
#: Names that the API gives to parameters of `list_submissions`.
_PARAMETERS = {"from": "since", "to": "until", "rnc": "buyer_rnc"}
_ID = "taxLogId, trackId, e-NCF or clientRequestId"
_DOCUMENT = (
    "The receipt: a payload in the authority's element names (as an object, or as JSON text), or e-CF XML as text"
)
_INSTRUCTIONS = (
    "Electronic fiscal receipts (e-CF) of the Dominican Republic, through the API of the service that issues them. "
    "Problems and codes come with what to do about them: follow that, then validate again. A receipt that was accepted "
    "cannot be taken back, only corrected by a credit note: never submit one that nobody asked for."
)


@click.command()
@api_options
@click.option(
    "--allow-submit", is_flag=True, help="Let the assistant hand receipts in, too. They cannot be taken back."
)
def mcp(profile: str, patience: float, allow_submit: bool) -> None:
    """Serve an assistant (Model Context Protocol, standard input and output) with the API, until it leaves.

    Tools: look a verdict up, list, explain a refusal, validate a document, describe the fields of a type. Needs the
    extra `mcp`.
    """
    with opened(profile, patience) as api:
        make_server(api, allow_submit=allow_submit).run()


def make_server(api: ApiSession, *, allow_submit: bool) -> "MCPServer[Any]":
    """Make the server of a profile, with its tools; submitting is among them only if it is allowed.

    Raises Failure where the library is not installed.
    """
    try:  # here, because the library takes longer to import than any other command to run
        from mcp.server.mcpserver import MCPServer
        from mcp_types import ToolAnnotations
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise Failure("the server for assistants is not installed: install the `mcp` extra") from None
    reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)
    issues = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True)
    tools = AssistantTools(api)
    server: MCPServer[Any] = MCPServer("fe", version=__version__, instructions=_INSTRUCTIONS, subscriptions=False)
    for tool in (
        tools.get_submission,
        tools.list_submissions,
        tools.explain_refusal,
        tools.validate_document,
        tools.describe_fields,
    ):
        server.add_tool(tool, annotations=reads)
    if allow_submit:
        server.add_tool(tools.submit_document, annotations=issues)
    return server


def _with_tool_errors(tool: Callable[P, T]) -> Callable[P, T]:
    """Turn a command's Failure into a tool error with the same line."""

    @wraps(tool)
    def reporting(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return tool(*args, **kwargs)
        except Failure as failure:
            from mcp.server.mcpserver.exceptions import ToolError

            raise ToolError(str(failure)) from None

    return reporting


class AssistantTools:
    """The assistant's tools. Each runs in a thread; the assistant reads the docstrings."""

    def __init__(self, api: ApiSession) -> None:
        self._api = api

    @_with_tool_errors
    def get_submission(self, id: Annotated[str, Field(description=_ID)]) -> dict[str, Any]:
        """Look one submission up: its status, the authority's messages, their meaning and what to do."""
        return self._find(id)

    @_with_tool_errors
    def list_submissions(
        self,
        since: Annotated[str | None, Field(description="YYYY-MM-DD (UTC) or an ISO moment")] = None,
        until: Annotated[str | None, Field(description="YYYY-MM-DD, inclusive, or an ISO moment")] = None,
        state: Annotated[str | None, Field(description="Aceptado, Aceptado Condicional, Rechazado, error ...")] = None,
        encf: Annotated[str | None, Field(description="only of this e-NCF")] = None,
        buyer_rnc: Annotated[str | None, Field(description="only to the buyer with this tax id")] = None,
        limit: Annotated[int, Field(ge=1, le=200)] = 20,
        cursor: Annotated[str | None, Field(description="nextCursor of an earlier answer")] = None,
    ) -> dict[str, Any]:
        """List submissions, newest first."""
        query: dict[str, str | int | None] = {
            "from": since,
            "to": until,
            "state": state,
            "encf": encf,
            "rnc": buyer_rnc,
        }
        try:
            return self._api.get("/invoices", limit=limit, cursor=cursor, **query)
        except Failure as failure:  # the API names its own parameter first
            first, space, rest = str(failure).partition(" ")
            raise Failure(f"{_PARAMETERS.get(first, first)}{space}{rest}") from None

    @_with_tool_errors
    def explain_refusal(
        self,
        id: Annotated[str | None, Field(description=_ID)] = None,
        code: Annotated[str | None, Field(description="or only a message code of the authority")] = None,
    ) -> dict[str, Any]:
        """Explain why a submission was rejected or failed, and what to do; or explain one of the authority's codes."""
        if (id is None) == (code is None):
            raise Failure(say("give an id or a code", "indique un id o un código"))
        if code is not None:
            return {"explained": list(_explained(code))}
        record = self._find(str(id))
        response = record.get("response") or {}
        return {
            "taxLogId": record["taxLogId"],
            "eNCF": record.get("eNCF"),
            "status": record["status"],
            "messages": response.get("mensajes") or [],
            "error": response.get("error"),
            "explained": record.get("explained") or [],
            "numberFate": record.get("numberFate"),
        }

    @_with_tool_errors
    def validate_document(
        self, document: Annotated[dict[str, Any] | str, Field(description=_DOCUMENT)]
    ) -> dict[str, Any]:
        """Find everything wrong with a receipt, where and how to mend it. Nothing is issued, no number is used."""
        return self._api.post("/invoices/validate", _body(document))

    @_with_tool_errors
    def describe_fields(
        self,
        document_type: Annotated[str, Field(description="TipoeCF", json_schema_extra={"enum": _TYPES})],
        under: Annotated[str, Field(description="only below this path, such as Encabezado.IdDoc; empty: all")] = "",
    ) -> dict[str, Any]:
        """Describe the fields of a type of receipt: meaning, whether and how often each is required, values that the

        service fills in, allowed values, and the meaning of codes.
        """
        if document_type not in _TYPES:
            given, known = repr(document_type), ", ".join(_TYPES)
            raise Failure(
                say(f"document_type {given} is none of {known}", f"document_type {given} no es uno de {known}")
            )
        fields = [one for one in _fields(EcfType(document_type)) if not under or one["path"].startswith(under)]
        if not fields:
            raise Failure(
                say(f"type {document_type} has nothing under {under}", f"el tipo {document_type} no tiene {under}")
            )
        return {"fields": fields}

    @_with_tool_errors
    def submit_document(
        self,
        document: Annotated[dict[str, Any] | str, Field(description=_DOCUMENT)],
        client_request_id: Annotated[
            str | None,
            Field(description="your name for it; without one, the document's digest: a repeat issues nothing"),
        ] = None,
    ) -> dict[str, Any]:
        """Issue a receipt, for good. Validate it first, and only when a person asked for this very receipt."""
        body = _body(document)
        given = client_request_id or body.get("clientRequestId") or content_id(body)
        return {**self._api.post("/invoices", {**body, "clientRequestId": given}), "clientRequestId": given}

    def _find(self, wanted: str) -> dict[str, Any]:
        remarks: list[str] = []
        record = ask(self._api, wanted.strip(), remark=remarks.append)
        return {**record, "remarks": remarks} if remarks else record


def _body(document: dict[str, Any] | str) -> dict[str, Any]:
    return body_of(document.encode(), "document") if isinstance(document, str) else body_around(document)


def _explained(code: str) -> Iterator[dict[str, str]]:
    for came, found in explain([{"codigo": code, "valor": "…"}]):
        meaning, action = say(found.meaning, found.meaning_es), say(found.action, found.action_es)
        yield {"codigo": came, "meaning": meaning, "action": action}


def _fields(ecf_type: EcfType) -> Iterator[dict[str, Any]]:
    """Return the catalogue's description of each field, in the terminal's language."""
    for one in every(described(Root.ECF, ecf_type)):
        what = help_of(Root.ECF, one.path)
        field: dict[str, Any] = {
            "path": one.path,
            "is": say(what.en, what.es),
            "required": one.needed,
            "howOften": say(*one.how_often),
        }
        if one.filled is not None:
            field["filledIn"] = say(one.filled.words, one.filled.words_es)
        if one.simple is not None:
            field["expected"] = say(one.simple.expected, one.simple.expected_es)
        if one.codes:
            field["codes"] = {code.value: say(code.meaning, code.meaning_es) for code in one.codes}
        yield field
