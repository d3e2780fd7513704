import stat
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from fe.config import named_keys
from fe.ecf.certificate import open_p12
from fe.secrets.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Vault
from tests.cli.running import SECRETS, Fe

PASSPHRASE = "Ünsicher & lang"


@pytest.fixture
def p12(fe: Fe) -> Path:
    """A self-made certificate, and beside it a file with its passphrase."""
    (fe.folder / "passphrase").write_text(f"{PASSPHRASE}\n")
    file = fe.folder / "signer.p12"
    made = fe("certificate", "self-made", str(file), "--holder", "Ana Peña", "--passphrase-file", "passphrase")
    assert made.code == 0, made
    return file


def test_a_self_made_certificate_is_a_p12_only_its_owner_may_read(p12: Path) -> None:
    opened = open_p12(p12.read_bytes(), PASSPHRASE)

    assert opened.holder == "Ana Peña"
    assert opened.holder_id == "00100000008"
    assert stat.S_IMODE(p12.stat().st_mode) == 0o600


def test_an_existing_file_is_not_overwritten(fe: Fe, p12: Path) -> None:
    before = p12.read_bytes()

    assert "exists already" in fe.refused("certificate", "self-made", str(p12), "--passphrase-file", "passphrase")

    assert p12.read_bytes() == before


def test_what_is_no_cedula_is_refused(fe: Fe) -> None:
    told = fe.refused("certificate", "self-made", "x.p12", "--holder-id", "131880738", passphrase="x")

    assert told == "--holder-id is not a cédula: 11 digits"


def test_a_certificate_is_stored_encrypted_for_the_actors(fe: Fe, tenant: str, p12: Path) -> None:
    made = fe("certificate", "add", str(p12), "--tenant", tenant, "--passphrase-file", "passphrase", "--json").json

    assert made["holder"] == "Ana Peña"
    assert fe("certificate", "list", "--tenant", tenant, "--json").json == [{**made, "expiresWithinDays": None}]
    with psycopg.connect(fe.dsn) as conn:
        row = conn.execute("SELECT tenant_id, certificate_id, p12, passphrase FROM certificates").fetchone()
    assert row is not None
    tenant_id, certificate_id, encrypted_p12, encrypted_passphrase = row
    assert certificate_id == UUID(made["certificateId"])
    assert PASSPHRASE.encode() not in bytes(encrypted_passphrase)
    vault = Vault(named_keys(SECRETS["FE_KEK"]))
    belongs = (tenant_id, str(certificate_id))
    assert vault.decrypt(bytes(encrypted_p12), Belongs(*belongs, P12_PURPOSE)) == p12.read_bytes()
    opened = vault.decrypt(bytes(encrypted_passphrase), Belongs(*belongs, PASSPHRASE_PURPOSE))
    assert opened.decode() == PASSPHRASE


def test_the_company_and_each_user_have_one_certificate_in_use(fe: Fe, tenant: str, p12: Path) -> None:
    user = fe("user", "create", "ana@ozama.example", "--tenant", tenant, "--json").json
    add = ("certificate", "add", str(p12), "--tenant", tenant, "--passphrase-file", "passphrase", "--json")

    assert fe(*add).code == 0
    company = fe(*add).json
    person = fe(*add, "--user", "Ana@ozama.example").json

    assert fe("certificate", "list", "--tenant", tenant, "--json").json == [
        {**each, "expiresWithinDays": None} for each in (company, person)
    ]
    assert person["userId"] == user["userId"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_passphrase_file_saved_by_windows_opens_the_p12(fe: Fe, tenant: str, p12: Path, encoding: str) -> None:
    (fe.folder / "windows").write_bytes(f"{PASSPHRASE}\r\n".encode(encoding))

    assert fe("certificate", "add", str(p12), "--tenant", tenant, "--passphrase-file", "windows").code == 0


def test_passphrase_file_in_latin_1_is_refused_with_the_encoding_to_use(fe: Fe, tenant: str, p12: Path) -> None:
    (fe.folder / "ansi").write_bytes("contraseña\r\n".encode("latin-1"))

    told = fe.refused("certificate", "add", str(p12), "--tenant", tenant, "--passphrase-file", "ansi")

    assert "save it as UTF-8" in told


def test_a_wrong_passphrase_is_said_and_nothing_is_stored(fe: Fe, tenant: str, p12: Path) -> None:
    told = fe.refused("certificate", "add", str(p12), "--tenant", tenant, passphrase="wrong")

    assert told.startswith("The passphrase does not open the .p12 file")
    assert fe("certificate", "list", "--tenant", tenant, "--json").json == []


def test_the_passphrase_may_come_from_the_environment(fe: Fe, tenant: str, p12: Path) -> None:
    assert fe("certificate", "add", str(p12), "--tenant", tenant, passphrase=PASSPHRASE).code == 0


def test_without_a_terminal_a_missing_passphrase_is_a_wrong_command_line(fe: Fe, tenant: str, p12: Path) -> None:
    told = fe.refused("certificate", "add", str(p12), "--tenant", tenant, code=2)

    assert "--passphrase-file" in told


def test_an_empty_passphrase_file_is_said(fe: Fe, tenant: str, p12: Path) -> None:
    (fe.folder / "empty").write_text("\n")

    told = fe.refused("certificate", "add", str(p12), "--tenant", tenant, "--passphrase-file", "empty")

    assert told == "empty: its first line is empty"


def test_a_file_that_is_no_p12_is_said(fe: Fe, tenant: str) -> None:
    (fe.folder / "text.p12").write_text("not a certificate")

    told = fe.refused("certificate", "add", "text.p12", "--tenant", tenant, passphrase="x")

    assert told.startswith("The file is not a .p12 (PKCS#12) file")


def test_an_unknown_user_is_named(fe: Fe, tenant: str, p12: Path) -> None:
    told = fe.refused(
        *("certificate", "add", str(p12), "--tenant", tenant, "--user", "eva@ozama.example"),
        *("--passphrase-file", "passphrase"),
    )

    assert told == "tenant 'Ozama' has no user 'eva@ozama.example'"


def test_without_a_key_encryption_key_nothing_is_stored(fe: Fe, tenant: str, p12: Path) -> None:
    told = fe.refused(
        "certificate", "add", str(p12), "--tenant", tenant, "--passphrase-file", "passphrase", code=3, kek=""
    )

    assert "FE_KEK" in told


def test_a_self_signed_certificate_is_said_to_be_one_at_once(fe: Fe, tenant: str, p12: Path) -> None:
    told = fe("certificate", "add", str(p12), "--tenant", tenant, "--passphrase-file", "passphrase")

    assert told.code == 0
    assert "fe: this certificate: it is self-signed: for a simulated authority only" in told.err
