from tests.cli.running import Fe

TEST = ("--environment", "testecf")


def test_a_sequence_is_created_with_every_number_and_moved_in_place(fe: Fe, tenant: str) -> None:
    put = ("sequence", "put", "E31", "--tenant", tenant, *TEST, "--json")

    first = fe(*put).json
    moved = fe(*put, "--from", "100", "--to", "200", "--expires", "2028-12-31", "--inactive").json

    assert (first["minSequence"], first["maxSequence"], first["currentSequence"]) == ("1", "9999999999", "1")
    assert first["expireAt"] is None
    assert first["isActive"] is True
    assert moved["id"] == first["id"]
    assert (moved["minSequence"], moved["maxSequence"], moved["currentSequence"]) == ("100", "200", "100")
    assert moved["isActive"] is False


def test_a_sequence_is_good_to_the_end_of_its_last_day_in_santo_domingo(fe: Fe, tenant: str) -> None:
    made = fe("sequence", "put", "E31", "--tenant", tenant, *TEST, "--expires", "2028-12-31", "--json").json

    assert (made["expireAt"], made["expireOn"]) == ("2029-01-01T03:59:59.999Z", "2028-12-31")


def test_set_changes_only_what_is_named(fe: Fe, tenant: str) -> None:
    where = ("E31", "--tenant", tenant, *TEST, "--json")
    before = fe("sequence", "put", *where, "--from", "100", "--to", "200", "--expires", "2028-12-31").json

    inactive = fe("sequence", "set", *where, "--inactive").json
    wider = fe("sequence", "set", *where, "--to", "300", "--active").json
    ahead = fe("sequence", "set", *where, "--next", "250").json
    back = fe("sequence", "set", *where, "--next", "101", "--from", "101").json
    later = fe("sequence", "set", *where, "--expires", "2029-12-31").json
    endless = fe("sequence", "set", *where, "--no-end").json

    assert inactive == {**before, "isActive": False}
    assert wider == {**before, "maxSequence": "300"}
    assert ahead["currentSequence"] == "250"
    assert back == {**wider, "currentSequence": "101", "minSequence": "101"}
    assert (later["expireOn"], endless["expireOn"], endless["expireAt"]) == ("2029-12-31", None, None)
    assert endless == {**back, "expireOn": None, "expireAt": None}


def test_set_refuses_what_cannot_be(fe: Fe, tenant: str) -> None:
    where = ("E31", "--tenant", tenant, *TEST)
    assert fe.refused("sequence", "set", *where) == "tenant 'Ozama' has no NCF sequence for E31 in testecf"
    fe("sequence", "put", *where, "--from", "100", "--to", "200")

    assert "greater or equal" in fe.refused("sequence", "set", *where, "--to", "99")
    assert "in the range, or one past its end" in fe.refused("sequence", "set", *where, "--next", "202")
    assert "1 to 9999999999" in fe.refused("sequence", "set", *where, "--from", "0")
    assert "exclude each other" in fe.refused("sequence", "set", *where, "--no-end", "--expires", "2028-12-31", code=2)
    assert "one of E31, E32" in fe.refused("sequence", "set", "E99", "--tenant", tenant, *TEST)


def test_a_last_day_that_is_over_is_said(fe: Fe, tenant: str) -> None:
    put = fe("sequence", "put", "E31", "--tenant", tenant, *TEST, "--expires", "2020-12-31", "--json")

    assert put.json["expireOn"] == "2020-12-31"
    assert put.err.startswith("warning: the sequence ended on 2020-12-31")


def test_environments_have_sequences_of_their_own(fe: Fe, tenant: str) -> None:
    for environment in ("testecf", "ecf"):
        assert fe("sequence", "put", "E32", "--tenant", tenant, "--environment", environment).code == 0

    assert fe("sequence", "delete", "E32", "--tenant", tenant, *TEST).out == "E32 is deleted\n"

    assert fe("sequence", "list", "--tenant", tenant, *TEST, "--json").json == []
    assert len(fe("sequence", "list", "--tenant", tenant, "--environment", "ecf", "--json").json) == 1


def test_a_prefix_outside_the_catalogue_is_refused(fe: Fe, tenant: str) -> None:
    for command in ("put", "delete"):
        told = fe.refused("sequence", command, "E99", "--tenant", tenant, *TEST)
        assert told.startswith("prefix must be a valid e-CF type: one of E31, E32")


def test_a_range_that_cannot_be_is_refused(fe: Fe, tenant: str) -> None:
    put = ("sequence", "put", "E31", "--tenant", tenant, *TEST)

    assert "greater or equal" in fe.refused(*put, "--from", "9", "--to", "8")
    assert "1 to 9999999999" in fe.refused(*put, "--from", "0")
    assert "1 to 9999999999" in fe.refused(*put, "--to", "10000000000")
    assert "is not a valid integer" in fe.refused(*put, "--to", "many", code=2)
    assert "does not match" in fe.refused(*put, "--expires", "31-12-2028", code=2)


def test_deleting_what_is_not_there_is_refused(fe: Fe, tenant: str) -> None:
    told = fe.refused("sequence", "delete", "E31", "--tenant", tenant, *TEST)

    assert told == "tenant 'Ozama' has no NCF sequence for E31 in testecf"


def test_a_jump_far_ahead_is_warned_of(fe: Fe, tenant: str) -> None:
    where = ("E31", "--tenant", tenant, *TEST)
    fe("sequence", "put", *where, "--from", "1", "--to", "5000", "--expires", "2099-12-31")

    near = fe("sequence", "set", *where, "--next", "101")
    far = fe("sequence", "set", *where, "--next", "4901")

    assert "warning" not in near.err
    assert "4800 numbers from 101 to 4900 stay unused" in far.err


def test_it_is_told_how_long_sequences_last_and_what_became_of_their_numbers(fe: Fe, tenant: str) -> None:
    where = ("--tenant", tenant, *TEST, "--json")
    fe("sequence", "put", "E31", *where, "--from", "11", "--to", "5000", "--expires", "2099-12-31")
    fe("sequence", "set", "E31", *where, "--next", "1511")

    (told,) = fe("sequence", "outlook", *where).json
    latest = fe("sequence", "fates", "E31", *where).json
    every = fe("sequence", "fates", "E31", *where, "--from", "1").json

    assert (told["numbers"], told["drawn"], told["left"], told["expireOn"]) == ("4990", "1500", "3490", "2099-12-31")
    gap = {"count": "200", "fate": "skipped", "taxLogId": None}
    assert latest == [{"first": "1311", "last": "1510", **gap}]
    assert every == [{**gap, "first": "11", "last": "1510", "count": "1500"}]
    assert fe.refused("sequence", "fates", "E32", "--tenant", tenant, *TEST).endswith("for E32 in testecf")


def test_a_named_sequence_is_set_assigned_and_deleted_by_its_name(fe: Fe, tenant: str) -> None:
    where, named = ("E31", "--tenant", tenant, *TEST), ("--name", "Caja 2")
    fe("user", "create", "--tenant", tenant, "ana@example.com")
    fe("sequence", "put", *where, "--to", "100")
    made = fe("sequence", "put", *where, *named, "--from", "101", "--to", "200", "--json").json

    moved = fe("sequence", "set", *where, *named, "--next", "150", "--json").json
    assigned = fe("sequence", "assign", *where, *named, "--user", "ana@example.com", "--json").json
    outlook = fe("sequence", "outlook", "--tenant", tenant, *TEST, "--json").json

    assert (made["name"], made["users"], moved["currentSequence"]) == ("Caja 2", [], "150")
    assert assigned["users"] == ["ana@example.com"]
    assert [one.get("name") for one in outlook] == [None, "Caja 2"]
    assert "another sequence" in fe.refused("sequence", "set", *where, "--to", "101")
    assert "with the name 'Caja 9'" in fe.refused("sequence", "set", *where, "--name", "Caja 9", "--active")
    assert fe("sequence", "delete", *where, *named, "--json").json["name"] == "Caja 2"
    assert len(fe("sequence", "list", "--tenant", tenant, *TEST, "--json").json) == 1
