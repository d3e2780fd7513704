"""`fe paper` against a scripted API."""

import json
from pathlib import Path
from typing import Any

from tests.cli.in_process import FeHere
from tests.cli.integrator.scripted import Said, scripted, token
from tests.cli.integrator.test_catalogue import keep

ONE = {"ncf": "B0200000007", "state": "open"}
RANGE = {"rangeId": "r", "first": "B0200000001"}


def test_paper_receipts_are_entered_listed_corrected_and_replaced(here: FeHere, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('{"ncf": "B0200000007", "payload": {}}', encoding="utf-8")
    done, refused = (
        {"items": [{"statusCode": code, "message": said, "ncf": "B0200000007"}]}
        for code, said in ((201, "entered"), (409, "was entered already"))
    )
    # A refused item has no NCF when its payload could not be read.
    refused["items"].insert(0, {"statusCode": 400, "message": "no type", "problems": [{"path": "payload"}]})
    pages = [Said(200, {"items": [ONE], "nextCursor": cursor}) for cursor in ("B0200000007", None)]
    issued = {"items": [{**ONE, "issued": True}], "open": 0}
    stuck = {"items": [{**ONE, "problems": [{"message": "there is no certificate"}]}], "open": 1}
    answers: list[dict[str, Any]] = [RANGE, {"items": [RANGE]}, {"ok": True}, done, refused]
    with scripted(
        token(), *[Said(200, one) for one in answers], *pages, *[Said(200, one) for one in (ONE, ONE, issued, stuck)]
    ) as server:
        keep(server)
        here("paper", "add-range", "B0200000001", "B0200000500", "--expires-on", "2027-12-31")
        assert here.json("paper", "ranges") == [RANGE]
        here("paper", "delete-range", "r")
        assert here.json("paper", "enter", str(file)) == done["items"]
        again = here("paper", "enter", str(file))
        assert (again.code, "2 not entered; the first: no type" in again.err) == (1, True)
        assert "B0200000007" in again.out
        assert here.json("paper", "list", "--open") == [ONE, ONE]
        assert here.json("paper", "show", "B0200000007") == ONE
        here("paper", "correct", "B0200000007", str(file))
        assert here.json("paper", "replace") == issued["items"]
        stopped = here("paper", "replace", "B0200000007")
        assert (stopped.code, "no certificate" in stopped.err) == (1, True)

    assert [call.partition("/fe")[2] for call in server.calls[1:]] == [
        "/paper-ranges",
        "/paper-ranges",
        "/paper-ranges/r",
        "/paper-receipts",
        "/paper-receipts",
        "/paper-receipts?state=open",
        "/paper-receipts?state=open&cursor=B0200000007",
        "/paper-receipts/B0200000007",
        "/paper-receipts/B0200000007",
        "/paper-receipts/replacements",
        "/paper-receipts/replacements",
    ]
    assert server.heard[-1].body == {"ncfs": ["B0200000007"]}


def test_receipts_without_a_number_keep_one_id_over_lost_answers_and_runs(here: FeHere, tmp_path: Path) -> None:
    sale, of_pad = '{"payload": {"MontoItem": 700.10}}', '{"ncf": "B0200000007", "payload": {}}'
    file = tmp_path / "sales.json"
    file.write_text(f"[{sale}, {sale}, {of_pad}]", encoding="utf-8")
    done = Said(200, {"items": [{"statusCode": 201, "message": "entered", "ncf": "B0200000008"}]})
    with scripted(token(), Said(200, None), done, done) as server:
        keep(server)
        for _ in range(2):
            here.json("paper", "enter", str(file))

    lost, first, second = (one.body["receipts"] for one in server.heard[1:])
    assert lost == first == second == json.loads(file.read_text())
    ids = [one.get("clientRequestId") for one in first]
    assert (len(set(ids)), ids[0] and ids[1], ids[2]) == (3, ids[1], None)
    assert "700.10" in file.read_text()


def test_file_that_cannot_get_ids_is_not_sent(here: FeHere, tmp_path: Path) -> None:
    file = tmp_path / "sale.json"
    file.write_text('{"payload": {}}', encoding="utf-8")
    (tmp_path / "sale.json.part").mkdir()
    with scripted(token()) as server:
        keep(server)
        assert "nothing was sent" in here.refused("paper", "enter", str(file))
    assert server.heard == []
