"""`fe paper` against a scripted API."""

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
