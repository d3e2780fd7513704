"""`fe mcp`: what an assistant may ask, over the protocol's own client and pipes, of a whole service."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types
import pytest
import trio
from mcp import Client, StdioServerParameters

from fe.integrator import profiles
from fe.simulator import SimulatorSettings
from tests.cli.in_process import FeHere
from tests.cli.integrator.test_page import WORLD, key_of
from tests.http.front import invoice_payload
from tests.system.stack import running_stack
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
READING = ["get_submission", "list_submissions", "explain_refusal", "validate_document", "describe_fields"]


class Assistant:
    """A client of the server, and what its tools said."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> dict[str, mcp_types.Tool]:
        return {tool.name: tool for tool in (await self._client.list_tools()).tools}

    async def asks(self, tool: str, **arguments: Any) -> dict[str, Any]:
        said = await self._client.call_tool(tool, arguments)
        assert isinstance(said, mcp_types.CallToolResult)
        assert not said.is_error, said
        assert isinstance(said.structured_content, dict)
        (text,) = said.content
        assert isinstance(text, mcp_types.TextContent)
        assert json.loads(text.text) == said.structured_content
        return said.structured_content

    async def is_told(self, tool: str, **arguments: Any) -> str:
        """Ask for what cannot be had; what the error says."""
        said = await self._client.call_tool(tool, arguments)
        assert isinstance(said, mcp_types.CallToolResult)
        assert said.is_error, said
        (text,) = said.content
        assert isinstance(text, mcp_types.TextContent)
        return text.text


@asynccontextmanager
async def assistant(home: Path, *options: str) -> AsyncIterator[Assistant]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "fe", "mcp", "--patience", "0", *options],
        env={"XDG_CONFIG_HOME": str(home), "LANG": "C.UTF-8"},
        cwd=ROOT,
    )
    with trio.fail_after(PATIENCE):
        async with Client(parameters) as client:
            yield Assistant(client)


async def test_an_assistant_looks_up_explains_validates_and_submits_only_where_it_may(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "world.json").write_text(json.dumps(WORLD))
    simulator = SimulatorSettings(world=tmp_path / "world.json")
    async with running_stack(dsn, tmp_path, simulator=simulator) as stack:
        key = await key_of(stack, stack.tenant)
        secret = key["FE_API_SECRET"]
        profiles.save(profiles.Profile("default", stack.base_url, key["FE_API_KEY_ID"], secret, "testecf"))
        profiles.save(profiles.Profile("wrong", stack.base_url, key["FE_API_KEY_ID"], "0" * 64, "testecf"))
        good = await stack.submit(invoice_payload("E310000000001"), clientRequestId="order-1")
        beyond = await stack.submit(invoice_payload("E310000001001"), clientRequestId="order-2")
        await stack.until_final(good["taxLogId"])
        await stack.until_final(beyond["taxLogId"])

        async with assistant(tmp_path) as reading:
            tools = await reading.tools()
            assert list(tools) == READING
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
            assert "Unknown tool" in await reading.is_told("submit_document", document={})
            for name in (good["taxLogId"], "order-1", "E310000000001"):
                assert (await reading.asks("get_submission", id=name))["status"] == "Aceptado"
            listed = await reading.asks("list_submissions", state="Rechazado")
            assert [one["eNCF"] for one in listed["items"]] == ["E310000001001"]
            why = await reading.asks("explain_refusal", id="order-2")
            assert why["status"] == "Rechazado"
            assert why["messages"][0]["codigo"] == why["explained"][0]["codigo"] == "4"
            assert "ask it for more" in why["explained"][0]["action"]
            (meaning,) = (await reading.asks("explain_refusal", code="004"))["explained"]
            assert "try again" in meaning["meaning"]
            wrong = invoice_payload("E310000000002", TipoPago="contado")
            for document in (wrong, json.dumps(wrong), {"format": "structured", "payload": wrong}):
                found = await reading.asks("validate_document", document=document)
                assert [one["path"] for one in found["problems"]] == ["Encabezado.IdDoc.TipoPago"]
            fields = {
                one["path"]: one
                for one in (await reading.asks("describe_fields", document_type="31", under="Encabezado.IdDoc"))[
                    "fields"
                ]
            }
            assert fields["Encabezado.IdDoc.TipoPago"]["required"] is True
            assert fields["Encabezado.IdDoc.TipoPago"]["codes"]["2"] == "credit"
            assert fields["Encabezado.IdDoc.eNCF"]["required"] is False
            assert "next number" in fields["Encabezado.IdDoc.eNCF"]["filledIn"]
            assert "nothing was handed in under 'none'" in await reading.is_told("get_submission", id="none")
            assert "give an id or a code" in await reading.is_told("explain_refusal")
            assert "since must be" in await reading.is_told("list_submissions", since="yesterday")
            assert "document_type '50' is none of 31, 32" in await reading.is_told(
                "describe_fields", document_type="50"
            )
            assert "document: not JSON" in await reading.is_told("validate_document", document="{")
            assert "type 31 has nothing under X" in await reading.is_told(
                "describe_fields", document_type="31", under="X"
            )

        async with assistant(tmp_path, "--allow-submit") as writing:
            tools = await writing.tools()
            assert list(tools) == [*READING, "submit_document"]
            annotations = tools["submit_document"].annotations
            assert annotations is not None
            assert annotations.read_only_hint is False
            taken = await writing.asks("submit_document", document=invoice_payload("E310000000003"))
            again = await writing.asks("submit_document", document=invoice_payload("E310000000003"))
            assert (again["taxLogId"], again["deduped"]) == (taken["taxLogId"], True)
            assert (await stack.until_final(taken["taxLogId"]))["status"] == "Aceptado"
            refused = await writing.is_told("submit_document", document={"Encabezado": {"IdDoc": {"eNCF": "E31"}}})
            assert "(status 400)" in refused

        async with assistant(tmp_path, "--profile", "wrong") as stranger:
            told = await stranger.is_told("get_submission", id="order-1")
            assert "does not accept the key" in told
            assert "0" * 64 not in told


def test_without_the_extra_it_says_what_to_install(here: FeHere, monkeypatch: pytest.MonkeyPatch) -> None:
    profiles.save(profiles.Profile("default", "http://127.0.0.1:1", "fak_1", "s", "ecf"))
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)

    assert here.refused("mcp") == "the server for assistants is not installed: install the `mcp` extra"
    assert here.refused("mcp", "--profile", "none", code=3).startswith("there is no profile none")
