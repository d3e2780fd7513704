"""Voidings of number ranges, as operators propose, request and settle them."""

from tests.cli.running import Fe
from tests.store.race import plain


def test_numbers_are_proposed_requested_and_settled(fe: Fe, tenant: str) -> None:
    here = ("--tenant", tenant, "--environment", "testecf")
    fe("sequence", "put", "E31", *here, "--from", "1", "--to", "20")
    asked = ("E310000000018-E310000000020", "--kind", "8", "--request-id", "spare")

    proposed = fe("void", "propose", *here, "--json").json
    made = fe("void", "request", *asked, *here, "--by", "Ana", "--json").json
    again = fe("void", "request", *asked, *here, "--json").json
    taken = fe.refused("void", "request", "E310000000020", "--kind", "8", *here)
    unsigned = fe.refused("void", "xml", made["voidingId"], "--tenant", tenant)
    waiting = fe.refused("void", "settle", made["voidingId"], "--tenant", tenant, "--void")
    with plain(fe.dsn) as conn:
        conn.execute("UPDATE voidings SET stage = 'in doubt', document = '<ANECF/>', finished_at = now()")
    (doubt,) = fe("void", "doubts", "--json").json
    signed = fe("void", "xml", made["voidingId"], "--tenant", tenant)
    settled = fe("void", "settle", made["voidingId"], "--tenant", tenant, "--void", "--json").json
    (listed,) = fe("void", "list", *here, "--json").json

    assert [(one["first"], one["last"], one["why"]) for one in proposed] == [
        ("E310000000001", "E310000000020", "never drawn")
    ]
    assert (made["state"], made["numbers"], again["voidingId"]) == ("waiting", 3, made["voidingId"])
    assert "is void already" in taken
    assert "not signed yet" in unsigned
    assert "not in doubt" in waiting
    assert doubt["voidingId"] == made["voidingId"]
    assert signed.out == "<ANECF/>"
    assert settled == {"voidingId": made["voidingId"], "void": True}
    assert listed["state"] == "voided"
