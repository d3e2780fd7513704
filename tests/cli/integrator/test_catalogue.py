"""`fe customer` and `fe product` against a scripted API."""

from pathlib import Path

from fe.integrator import profiles
from fe.integrator.profiles import Profile
from tests.cli.in_process import FeHere
from tests.cli.integrator.conftest import KEY
from tests.cli.integrator.scripted import Said, Scripted, scripted, token


def keep(server: Scripted) -> None:
    profiles.save(Profile("default", server.base_url, environment="testecf", **KEY))


def test_customer_is_written_listed_and_deleted(here: FeHere) -> None:
    one = {"id": "C-1", "name": "Ana", "version": 1}
    page = {"limit": 50, "items": [one], "nextCursor": None}
    with scripted(token(), Said(200, one), Said(200, page), Said(200, {"ok": True, "id": "C-1"})) as server:
        keep(server)
        made = here.json("customer", "put", "C-1", "--name", "Ana", "--type", "E31", "--version", "0")
        listed = here.json("customer", "list", "--find", "an")
        here("customer", "delete", "C-1")

    assert (made, listed) == (one, [one])
    assert server.heard[1].body == {"name": "Ana", "type": "E31", "version": 0}
    assert [call.partition("/fe")[2] for call in server.calls[1:]] == [
        "/customers/C-1",
        "/customers?q=an&limit=50",
        "/customers/C-1",
    ]


def test_file_is_checked_before_the_first_product_is_written(here: FeHere, tmp_path: Path) -> None:
    file = tmp_path / "precios.csv"
    file.write_text("nombre,codigo,precio,itbis\nPan,P-1,5.50,18\nCafé,C-1,gratis,18\n", encoding="utf-8")
    with scripted(token(), Said(200), Said(200)) as server:
        keep(server)
        refused = here.refused("product", "import", str(file))
        file.write_text(file.read_text("utf-8").replace("gratis", '"1,200"'), encoding="utf-8")
        written = here.json("product", "import", str(file))

    assert "line 3: precio: must be a number" in refused
    assert written == {"written": 2}
    assert [one.body and one.body.get("price") for one in server.heard[1:]] == [5.5, 1200]


def test_import_warns_of_a_wrong_check_digit(here: FeHere, tmp_path: Path) -> None:
    file = tmp_path / "clientes.csv"
    file.write_text("nombre,rnc\nAna,131880682\n", encoding="utf-8")
    with scripted(token(), Said(200)) as server:
        keep(server)
        written = here.json("customer", "import", str(file))

    (warning,) = written.pop("warnings")
    assert written == {"written": 1}
    assert warning.startswith("line 2: 131880682 does not pass the check")
