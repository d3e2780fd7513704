"""Voidings of number ranges, as operators propose, request and settle them."""

from pathlib import Path

from tests.cli.running import Fe
from tests.store.race import plain


def test_numbers_are_proposed_requested_settled_and_written_into_the_608(fe: Fe, tenant: str, tmp_path: Path) -> None:
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
    with plain(fe.dsn) as conn:
        (day,) = conn.execute("SELECT voided_on FROM voided_ranges").fetchone() or (None,)
    path = Path(fe("void", "608", f"{day:%Y-%m}", *here, "--to", str(tmp_path)).out.strip())

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
    assert path.read_bytes().split(b"\r\n")[1:] == [f"E31{n:010d}|{day:%Y%m%d}|8".encode() for n in (18, 19, 20)]
