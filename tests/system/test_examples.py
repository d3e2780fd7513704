"""The examples of the catalogue: each is handed in as it is served, and the authority accepts it."""

from decimal import Decimal
from pathlib import Path

import pytest
import trio

from fe.ecf.catalogue import EcfType
from fe.ecf.parse import parse_xml
from fe.http.examples import EXAMPLES
from tests.system.stack import running_stack

_JSON = {"Content-Type": "application/json"}

# It ends by cancelling a whole service in the middle of whatever it does: what libraries then leave to the garbage
# collector is no fault of the examples.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def test_every_example_is_accepted_as_it_is_served(dsn: str, tmp_path: Path) -> None:
    verdicts: dict[str, str] = {}
    numbers: dict[str, str] = {}
    warned: dict[str, object] = {}
    totals: dict[str, Decimal] = {}
    async with running_stack(dsn, tmp_path) as stack:

        async def hand_in(name: str) -> None:
            served = await stack.client.get(f"/docs/examples/{name}.json")
            checked = (await stack.client.post("/invoices/validate", content=served.content, headers=_JSON)).json()
            if checked.get("warnings") or not checked["valid"]:
                warned[name] = checked
            taken = await stack.client.post("/invoices", content=served.content, headers=_JSON)
            assert taken.status_code == 202, (name, taken.text)
            numbers[name] = taken.json()["eNCF"]
            record = await stack.until_final(taken.json()["taxLogId"])
            verdicts[name] = record["status"] if record["status"] == "Aceptado" else str(record)
            shown = (await stack.client.get(f"/invoices/{taken.json()['taxLogId']}/xml")).json()
            totals[name] = Decimal(parse_xml(shown["xml"].encode()).findtext("Encabezado/Totales/MontoTotal") or 0)

        # Notes name the first receipt: it has to be there.
        await hand_in(EXAMPLES[0].code)
        async with trio.open_nursery() as nursery:
            for example in EXAMPLES[1:]:
                nursery.start_soon(hand_in, example.code)

    assert verdicts == dict.fromkeys((example.code for example in EXAMPLES), "Aceptado")
    assert warned == {}
    assert numbers["31-credit"] == "E310000000001"
    assert {example.type for example in EXAMPLES} == set(EcfType)
    assert totals["32-below-250000"] < 250_000 <= totals["32-from-250000"]
    assert totals["34-part"] == Decimal("16992.00")
    assert totals["34-text"] == 0
