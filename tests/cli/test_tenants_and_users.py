import json

import trio

from fe.accounts import changes, provision
from fe.cli.operator_options import system_user
from fe.clock import system_clock
from fe.store.postgres.db import Conn, Database
from fe.store.records import receivers
from tests.cli.running import Ended, Fe
from tests.waiting import until_waited_for


def test_a_tenant_is_created_and_listed(fe: Fe) -> None:
    issuer = fe.folder / "issuer.json"
    issuer.write_text(json.dumps({"NombreComercial": "Café Ozama", "RNCEmisor": "999999999", "Municipio": "010101"}))

    made = fe(
        *("tenant", "create", "Ozama", "--rnc", "131880738", "--legal-name", "Cafe Ozama SRL"),
        *("--address", "Calle El Conde 1", "--issuer", str(issuer), "--consumer-summary", "off", "--json"),
    ).json

    assert made["rnc"] == "131880738", "an option wins over the file"
    assert made["consumerSummary"] == "off"
    assert fe("tenant", "list", "--json").json == [made]
    assert "Cafe Ozama SRL" in fe("tenant", "list").out


def test_there_being_none_is_said_apart_from_the_output(fe: Fe) -> None:
    listed = fe("tenant", "list")

    assert (listed.code, listed.out) == (0, "")
    assert "no tenants yet" in listed.err


def test_a_tenant_s_name_is_taken_once(fe: Fe, tenant: str) -> None:
    again = ("tenant", "create", tenant, "--rnc", "131880738", "--legal-name", "Other", "--address", "Elsewhere")

    assert fe.refused(*again) == "there is a tenant 'Ozama' already"


def test_a_bad_rnc_is_refused_and_nothing_is_kept(fe: Fe) -> None:
    told = fe.refused("tenant", "create", "Bad", "--rnc", "12", "--legal-name", "Bad SRL", "--address", "Nowhere")

    assert "RNCEmisor" in told
    assert fe("tenant", "list", "--json").json == []


def test_missing_fiscal_data_are_named_all_at_once(fe: Fe) -> None:
    told = fe.refused("tenant", "create", "Bad", "--rnc", "131880738")

    assert "RazonSocialEmisor" in told
    assert "DireccionEmisor" in told


def test_fiscal_data_the_format_does_not_know_are_refused(fe: Fe) -> None:
    (fe.folder / "issuer.json").write_text('{"Telefono": "809-555-0142"}')

    told = fe.refused(
        *("tenant", "create", "Bad", "--rnc", "131880738", "--legal-name", "Bad SRL", "--address", "Nowhere"),
        *("--issuer", "issuer.json"),
    )

    assert "Telefono" in told


def test_a_file_that_is_no_json_object_is_refused(fe: Fe) -> None:
    (fe.folder / "list.json").write_text("[1]")
    (fe.folder / "broken.json").write_text('{"NombreComercial": ')

    assert fe.refused("tenant", "create", "Bad", "--issuer", "list.json") == "list.json: should hold one JSON object"
    assert fe.refused("tenant", "create", "Bad", "--issuer", "broken.json").startswith("broken.json: ")
    assert fe.refused("tenant", "create", "Bad", "--issuer", "none.json") == "none.json: No such file or directory"


def test_fields_of_a_file_that_are_no_texts_are_refused(fe: Fe, tenant: str) -> None:
    fe("user", "create", "ana@ozama.example", "--tenant", tenant)
    (fe.folder / "numbers.json").write_text('{"RNCEmisor": 131880738, "RazonSocialEmisor": "A"}')
    for line in (
        ("tenant", "create", "Bad", "--issuer", "numbers.json"),
        ("tenant", "update", tenant, "--issuer", "numbers.json"),
        ("user", "create", "eva@ozama.example", "--tenant", tenant, "--issuer-override", "numbers.json"),
        ("user", "update", "ana@ozama.example", "--tenant", tenant, "--issuer-override", "numbers.json"),
    ):
        assert "RNCEmisor must be a text in quotes" in fe.refused(*line), line


def test_a_user_is_created_with_what_differs_on_its_receipts(fe: Fe, tenant: str) -> None:
    (fe.folder / "override.json").write_text('{"Sucursal": "Santiago"}')

    made = fe(
        "user", "create", "ana@ozama.example", "--tenant", tenant, "--issuer-override", "override.json", "--json"
    ).json

    assert made["issuerOverride"] == {"Sucursal": "Santiago"}
    assert fe("user", "list", "--tenant", tenant, "--json").json == [made]


def test_a_user_s_address_is_taken_however_it_is_capitalised(fe: Fe, tenant: str) -> None:
    assert fe("user", "create", "ana@ozama.example", "--tenant", tenant).code == 0

    told = fe.refused("user", "create", "ANA@Ozama.example", "--tenant", tenant)

    assert told == "tenant 'Ozama' has a user 'ANA@Ozama.example' already"


def test_what_is_no_address_is_refused(fe: Fe, tenant: str) -> None:
    assert fe.refused("user", "create", "ana", "--tenant", tenant) == "'ana' is not an e-mail address"


def test_an_override_that_no_receipt_could_carry_is_refused(fe: Fe, tenant: str) -> None:
    (fe.folder / "override.json").write_text('{"RNCEmisor": "1"}')

    told = fe.refused("user", "create", "a@b", "--tenant", tenant, "--issuer-override", "override.json")

    assert "RNCEmisor" in told


def test_an_unknown_tenant_is_named(fe: Fe) -> None:
    for command in (
        ("user", "create", "a@b"),
        ("user", "list"),
        ("key", "list"),
        ("key", "revoke", "fak_000000000000"),
        ("key", "create", "--environment", "testecf"),
        ("certificate", "list"),
        ("sequence", "list", "--environment", "testecf"),
        ("sequence", "put", "E31", "--environment", "testecf"),
    ):
        assert fe.refused(*command, "--tenant", "Nobody") == "there is no tenant 'Nobody'", command


def test_for_whom_a_tenant_issues_is_recorded_listed_and_taken_back(fe: Fe, tenant: str) -> None:
    made = fe("tenant", "delegate", tenant, "101000001", "--reason", "letter of 3 May", "--by", "ana", "--json").json

    assert (made["rnc"], made["reason"]) == ("101000001", "letter of 3 May")
    assert made["recordedBy"] == f"{system_user()} (ana)"
    assert fe("tenant", "delegations", tenant, "--json").json == [made]
    again = fe.refused("tenant", "delegate", tenant, "101000001", "--reason", "again")
    assert again == "tenant 'Ozama' has a delegation of 101000001 already"
    assert fe("tenant", "withdraw", tenant, "101000001").code == 0
    assert "nothing is recorded" in fe("tenant", "delegations", tenant).err
    assert fe.refused("tenant", "withdraw", tenant, "101000001") == "tenant 'Ozama' has no delegation of 101000001"


def test_a_delegation_needs_a_tenant_an_rnc_and_a_reason(fe: Fe, tenant: str) -> None:
    assert fe.refused("tenant", "delegate", "Nobody", "101000001", "--reason", "x") == "there is no tenant 'Nobody'"
    assert "9 digits" in fe.refused("tenant", "delegate", tenant, "12", "--reason", "x", code=2)
    assert "--reason" in fe.refused("tenant", "delegate", tenant, "101000001", code=2)


def test_what_is_set_up_is_on_record_for_the_tenant_to_read(fe: Fe, tenant: str) -> None:
    (fe.folder / "override.json").write_text('{"Sucursal": "Santiago"}')
    me, on = system_user(), ("--tenant", tenant)
    sequence = ("E31", *on, "--environment", "testecf")
    key = fe("key", "create", *on, "--environment", "testecf", "--name", "till", "--by", "ana", "--json").json
    for line in (
        ("tenant", "update", tenant, "--legal-name", "Café Ozama SRL"),
        ("tenant", "update", tenant, "--legal-name", "Café Ozama SRL"),
        ("key", "revoke", key["apiKeyId"], *on),
        ("user", "create", "ana@ozama.example", *on),
        ("user", "update", "ana@ozama.example", *on, "--issuer-override", "override.json"),
        ("user", "remove", "ana@ozama.example", *on, "--reason", "left"),
        ("sequence", "put", *sequence),
        ("sequence", "set", *sequence, "--inactive"),
        ("sequence", "delete", *sequence),
    ):
        assert fe(*line).code == 0, line

    found = fe("tenant", "changes", tenant, "--json").json

    assert [each["action"] for each in reversed(found)] == [
        "company created",
        "key created",
        "company changed",
        "key revoked",
        "user created",
        "user changed",
        "user removed",
        "sequence set",
        "sequence set",
        "sequence deleted",
    ], "what changed nothing is no change"
    assert {each["through"] for each in found} == {"cli"}
    by_action = {each["action"]: each for each in found}
    assert by_action["key created"]["by"] == f"{me} (ana)"
    assert by_action["key revoked"]["by"] == me
    assert by_action["company changed"]["after"] == {"RazonSocialEmisor": "Café Ozama SRL"}
    assert by_action["user changed"]["after"] == {"Sucursal": "Santiago"}
    assert found[1]["before"] == {"isActive": True}
    assert key["apiSecret"] not in json.dumps(found)
    assert [each["action"] for each in fe("tenant", "changes", tenant, "--action", "key revoked", "--json").json] == [
        "key revoked"
    ]
    older = fe("tenant", "changes", tenant, "--before", found[-2]["changeId"], "--json").json
    assert [each["action"] for each in older] == ["company created"]


def test_what_is_refused_is_not_on_record(fe: Fe, tenant: str) -> None:
    assert fe.refused("tenant", "update", tenant, "--rnc", "12")
    assert fe.refused("user", "create", "nobody", "--tenant", tenant)
    assert fe.refused("tenant", "update", tenant, "--name", "")

    assert len(fe("tenant", "changes", tenant, "--json").json) == 1


def test_a_user_update_says_what_is_to_be(fe: Fe, tenant: str) -> None:
    assert "--no-override" in fe.refused("user", "update", "a@b", "--tenant", tenant, code=2)
    assert "has no user" in fe.refused("user", "update", "a@b", "--tenant", tenant, "--no-override")


async def test_reception_is_opened_under_the_rnc_that_the_tenant_has_then(db: Database, fe: Fe, tenant: str) -> None:
    """It is corrected at this very moment: else suppliers would reach the tenant under one that is not its own."""
    ended: list[Ended] = []

    async def opening() -> None:
        ended.append(await trio.to_thread.run_sync(lambda: fe("reception", "open", tenant, "--environment", "ecf")))

    async def correcting(conn: Conn, nursery: trio.Nursery) -> None:
        found = await provision.find_tenant(conn, tenant)
        await changes.update_tenant(conn, found, issuer={"RNCEmisor": "101000001"}, today=system_clock().date())
        nursery.start_soon(opening)
        await until_waited_for(db, lambda: ended)

    async with trio.open_nursery() as nursery:
        await db.transact(correcting, nursery)

    assert [one.code for one in ended] == [0], ended
    found = await db.run(provision.find_tenant, tenant)
    assert [one.rnc for one in await db.run(receivers.of_tenant, found.tenant_id)] == ["101000001"]
