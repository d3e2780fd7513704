"""`fe month`: sums, files, and what a 606 lacks; the API is scripted."""

from pathlib import Path

from fe.integrator import profiles
from fe.integrator.profiles import Profile
from tests.cli.in_process import FeHere
from tests.cli.integrator.conftest import KEY
from tests.cli.integrator.scripted import Said, Scripted, scripted, token

SUMS = Said(
    200,
    {
        "month": "2026-11",
        "environment": "testecf",
        "totals": {"sales": 1180.0},
        "issued": [
            {"tipoEcf": "E31", "status": "Aceptado", "receipts": 1, "totalITBIS": 180.0, "montoTotal": 1180.0, "x": 1}
        ],
        "received": [],
        "numbers": [],
        "isComplete": True,
    },
)
LACK = {"eNCF": "E310000000009", "supplier": "131880738", "supplierName": "Suplidora", "message": "kind of expense"}


def keep(server: Scripted) -> None:
    profiles.save(Profile("default", server.base_url, environment="testecf", **KEY))


def purchases(content: str | None) -> Said:
    lacks = [] if content else [LACK]
    return Said(200, {"remarks": [], "missing": lacks, "incomplete": len(lacks), "content": content})


def test_month_writes_its_files(here: FeHere, tmp_path: Path) -> None:
    files = ("--xlsx", "m.xlsx", "--zip", "m.zip", "--606", "m.txt", "--608", "v.txt")
    voided = Said(200, {"content": "608|0"})
    made = (Said(200, "sheets"), Said(200, "archive"), purchases("606|1\r\n2"), voided)
    with scripted(token(), SUMS, *made) as server:
        keep(server)
        ended = here("month", "2026-11", *files)

    assert ended.code == 0, ended
    assert [call.rpartition("/")[2] for call in server.calls[2:]] == ["xlsx", "zip", "606", "608"]
    assert "1180.0" in ended.out
    assert [(tmp_path / name).read_bytes() for name in files[1::2]] == [b"sheets", b"archive", b"606|1\r\n2", b"608|0"]


def test_expense_says_what_the_606_asks(here: FeHere) -> None:
    with scripted(token(), Said(200, {"supplier": "131880738", "kind": "02"})) as server:
        keep(server)
        ended = here("expense", "131880738", "--kind", "02", "--paid-after", "30")

    assert ended.code == 0, ended
    assert server.calls[-1].startswith("PUT ")
    assert server.calls[-1].endswith("/expenses/131880738")


def test_month_lists_what_the_606_lacks_and_writes_none(here: FeHere, tmp_path: Path) -> None:
    with scripted(token(), SUMS, purchases(None)) as server:
        keep(server)
        ended = here("month", "2026-11", "--606", "m.txt")

    assert ended.code == 1
    assert "E310000000009 131880738 Suplidora: kind of expense" in ended.err
    assert not (tmp_path / "m.txt").exists()


def test_zip_that_is_refused_leaves_no_file(here: FeHere, tmp_path: Path) -> None:
    refused = Said(404, {"message": "the month has no receipt yet", "statusCode": 404})
    with scripted(token(), SUMS, refused) as server:
        keep(server)
        ended = here("month", "2026-11", "--zip", "m.zip")

    assert (ended.code, list(tmp_path.glob("m.zip*"))) == (1, [])
    assert "no receipt yet" in ended.err
