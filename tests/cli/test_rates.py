"""`fe rates`: what an operator sets is what documents are completed with."""

from fe.cli.operator_options import system_user
from tests.cli.running import Fe


def test_the_rate_of_a_quarter_is_set_listed_and_taken_back(fe: Fe) -> None:
    assert fe("rates", "list", "--json").json == []

    made = fe("rates", "set", "alcohol", "752.10", "--from", "2026-01-01", "--by", "ana", "--json").json

    assert [each["code"] for each in made] == [f"{code:03d}" for code in range(6, 19)]
    listed = fe("rates", "list", "--json").json
    assert len(listed) == 13
    assert {(each["rate"], each["from"], each["until"], each["setBy"]) for each in listed} == {
        ("752.10", "2026-01-01", "2026-03-31", f"{system_user()} (ana)")
    }
    assert fe("rates", "unset", "alcohol", "--from", "2026-01-01").code == 0
    assert fe("rates", "list", "--json").json == []
    assert fe.refused("rates", "unset", "006", "--from", "2026-01-01") == "no rate of 006 was set from 2026-01-01 on"


def test_a_rate_of_the_same_code_and_day_is_replaced(fe: Fe) -> None:
    for rate in ("11", "12.5"):
        assert fe("rates", "set", "001", rate, "--from", "2027-01-01").code == 0

    (one,) = fe("rates", "list", "--json").json
    assert (one["code"], one["name"], one["rate"], one["until"]) == ("001", "Propina legal", "12.50", None)


def test_what_the_release_knows_is_listed_on_demand(fe: Fe) -> None:
    listed = fe("rates", "list", "--all", "--json").json

    assert {"code": "006", "rate": "745.60", "from": "2025-10-01", "until": "2025-12-31"}.items() <= {
        **next(each for each in listed if each["code"] == "006" and each["from"] == "2025-10-01")
    }.items()
    assert len({each["code"] for each in listed}) == 39


def test_what_cannot_be_a_rate_is_refused(fe: Fe) -> None:
    put = ("rates", "set")

    for rate in ("0", "-1", "1000", "1.005", "much", "NaN"):
        assert fe(*put, "--from", "2026-01-01", "--", "006", rate).code == 2
    assert "a code from 001 to 039" in fe.refused(*put, "040", "1", "--from", "2026-01-01", code=2)
    assert "--until lies before" in fe.refused(*put, "001", "1", "--from", "2026-02-01", "--until", "2026-01-31")
