"""The examples of the catalogue: each is handed in as it is served, and the authority accepts it."""

from pathlib import Path

import httpx
import pytest

from fe.ecf.catalogue import EcfType
from fe.ecf.parse import parse_xml
from fe.http.examples import EXAMPLES
from tests.system.stack import running_stack

# It ends by cancelling a whole service in the middle of whatever it does: what libraries then leave to the garbage
# collector is no fault of the examples.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def test_every_example_is_accepted_as_it_is_served(dsn: str, tmp_path: Path) -> None:
    verdicts: dict[str, str] = {}
    numbers: dict[str, str] = {}
    warned: dict[str, object] = {}
    totals: dict[str, str | None] = {}
    async with running_stack(dsn, tmp_path) as stack:
        for example in EXAMPLES:
            body = await _served(stack.client, example.name)
            checked = (await stack.client.post("/invoices/validate", content=body, headers=_JSON)).json()
            taken = await stack.client.post("/invoices", content=body, headers=_JSON)
            assert taken.status_code == 202, (example.name, taken.text)
            if checked.get("warnings") or not checked["valid"]:
                warned[example.name] = checked
            numbers[example.name] = taken.json()["eNCF"]
            record = await stack.until_final(taken.json()["taxLogId"])
            verdicts[example.name] = record["status"] if record["status"] == "Aceptado" else str(record)
            shown = (await stack.client.get(f"/invoices/{taken.json()['taxLogId']}/xml")).json()
            totals[example.name] = parse_xml(shown["xml"].encode()).findtext("Encabezado/Totales/MontoTotal")

    assert verdicts == dict.fromkeys((example.name for example in EXAMPLES), "Aceptado")
    assert warned == {}
    # Notes name the first receipt, which is what the others call it.
    assert numbers["31-credit"] == "E310000000001"
    assert {example.type for example in EXAMPLES} == set(EcfType)
    assert float(totals["32-below-250000"] or 0) < 250_000 <= float(totals["32-from-250000"] or 0)
    assert totals["34-part"] == "16992.00"
    assert totals["34-text"] == "0.00"


_JSON = {"Content-Type": "application/json"}


async def _served(client: httpx.AsyncClient, name: str) -> bytes:
    answer = await client.get(f"/docs/examples/{name}.json")
    assert answer.status_code == 200
    return answer.content
