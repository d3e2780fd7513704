"""The mode of a tenant, as operators see and set it."""

from tests.cli.running import Fe


def test_modes_are_set_shown_listed_and_refused(fe: Fe, tenant: str) -> None:
    here = ("--tenant", tenant, "--environment", "testecf")

    normal = fe("contingency", "show", *here, "--json").json
    refused = fe.refused("contingency", "set", "contingency", *here, "--reason", "fire")
    made = fe(
        *("contingency", "set", "deferred", *here, "--reason", "route sales", "--by", "Ana"),
        *("--number", "A-77", "--valid-until", "2030-12-31", "--json"),
    ).json
    shown = fe("contingency", "show", *here, "--json").json
    fe("contingency", "set", "normal", *here, "--reason", "the route ends")
    (listed,) = fe("contingency", "list", *here, "--json").json

    assert (normal["mode"], normal["hostsDown"]) == ("normal", [])
    assert "number" in refused
    assert (made["mode"], made["number"], made["validUntil"]) == ("deferred", "A-77", "2030-12-31")
    assert (shown["mode"], shown["reason"]) == ("deferred", "route sales")
    assert (listed["reason"], listed["endReason"]) == ("route sales", "the route ends")
    assert "(Ana)" in listed["begunBy"]
