"""The runbooks that alerts lead to: every command, statement and query in them is run as it stands there, with the
login it names, and with the command line's where it names none.

Four more, about dead letters and the authority, are run with `fe outbox`: tests/cli/test_operators_page.py.
"""

import re
import subprocess
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import trio

from fe.accounts.provision import create_user
from fe.clock import system_clock
from fe.config import named_keys
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.ecf.selfmade import to_p12
from fe.egress.target import Policy
from fe.identifiers import ActionId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.metering.closing import close_month
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database
from fe.store.queue import pauses
from fe.store.queue.audit import OperatorAction
from fe.store.records import billing, certificates
from fe.webhooks.accounts import Wanted, WebhookAccounts
from fe.webhooks.secrets import WebhookVault
from tests.cli.logins import as_whom, dsn_of
from tests.cli.running import SECRETS, environment
from tests.cli.test_operators_page import RUNBOOKS as RUN_ELSEWHERE
from tests.cli.warm import path_with_fe
from tests.factories.tenants import make_submission, rows
from tests.metering.test_usage_days import accept
from tests.ops.material import ROOT, RUNBOOKS, TARGET_LABELS, alerts, exported, runbook_of
from tests.ops.promql import selectors
from tests.system.stack import provision

WEBHOOK_KEYS = f"test:4a{'44' * 31}"
PAGES = {path.stem: path for path in sorted(RUNBOOKS.glob("*.md"))}
OURS = {name: path for name, path in PAGES.items() if name not in RUN_ELSEWHERE}


def blocks(page: Path, languages: str) -> list[tuple[str, str]]:
    """The blocks of code in a page, each with its language, those within lists too."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```({languages})\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE)
    return [(language, re.sub(rf"^{indent}", "", block, flags=re.MULTILINE)) for indent, language, block in found]


QUERIES = [(name, block) for name, page in PAGES.items() for _, block in blocks(page, "promql")]


def commands() -> dict[str, list[tuple[str, str]]]:
    """The commands and statements of each page, in their order; what another page shows, too, stands with the first."""
    found: dict[str, list[tuple[str, str]]] = {}
    seen: set[tuple[str, str]] = set()
    for name, page in OURS.items():
        new = [(language, block) for language, block in blocks(page, "sh|sql") if (language, block) not in seen]
        seen.update(new)
        if new:
            found[name] = new
    return found


COMMANDS = commands()


async def prepare(db: Database, folder: Path, name: str) -> dict[str, str]:
    """A tenant with all that it needs and a document on its way; what the commands call it."""
    vault = Vault(named_keys(SECRETS["FE_KEK"]))
    pepper = bytes.fromhex(SECRETS["FE_API_KEY_PEPPER"])
    owner, credential, key = await provision(db, vault, pepper, environment=Environment.ECF)
    subject = await make_submission(db, owner.tenant_id, stage=Stage.TRACK, at=datetime.now(UTC))
    (folder / "new.p12").write_bytes(to_p12(credential, "of the new one"))
    (folder / "passphrase").write_text("of the new one\n", encoding="utf-8")
    if name.startswith("billing"):
        sold = partial(
            billing.enable, subscription_id="sub_1", unit_price=Decimal("0.035"), at=datetime(2026, 9, 1, tzinfo=UTC)
        )
        await db.run(sold, owner.tenant_id)
        await accept(db, owner.tenant_id, datetime(2026, 10, 5, tzinfo=UTC))
        await accept(db, owner.tenant_id, datetime.now(UTC))
        assert await close_month(db, owner.tenant_id, date(2026, 10, 1), system_clock)
        await rows(db, "UPDATE billing_charges SET stage = 'failed', last_error = 'HTTP 402'")
    if name == "pause-forgotten":
        now = datetime.now(UTC)
        act = OperatorAction(ActionId(new_id(now)), now, "somebody", "forgotten since")
        assert await db.transact(pauses.pause, act, owner.tenant_id, Environment.ECF)
    told = told_of(owner.name, key.record.api_key_id, subject)
    if name == "tenant-leaves":
        await rows(db, "DELETE FROM outbox")  # nothing of it is on its way any more
        (certificate,) = await db.run(certificates.in_use, owner.tenant_id)
        user = await db.transact(create_user, owner, "ana@ozama.example", None, now=datetime.now(UTC))
        return told_of(owner.name, key.record.api_key_id, subject) | {
            "CERTIFICATE": str(certificate.certificate_id),
            "EMAIL": user.email,
            "FE_ARCHIVE": str(folder / "archive"),
        }
    if name == "counterparty-gave-up":
        await give_up_handing_on(db, owner.tenant_id, subject)
    if name == "mail-not-sent":
        await rows(
            db,
            "INSERT INTO mails (tenant_id, subject, stage, environment, run_at, finished_at)"
            f" VALUES ({owner.tenant_id}, '{subject}', 'failed', 'ecf', 'infinity', now())",
        )
    if name == "voiding-in-doubt":
        voiding = await leave_in_doubt(db, owner.tenant_id)
        return told | {"VOIDING": voiding}
    if name == "archive-differs":
        return told | {"FE_ARCHIVE": str(folder / "archive")}
    if name == "webhooks-failing":
        return told | {"ENVIRONMENT": "ecf", "DELIVERY": await fail_to_deliver(db, owner.tenant_id)}
    return told


async def leave_in_doubt(db: Database, tenant: TenantId) -> str:
    """Record a voiding to which no answer came; return its id."""
    voiding = str(uuid4())
    await rows(
        db,
        "INSERT INTO voidings (tenant_id, subject, stage, environment, run_at, requested_at, requested_by, issuer_rnc,"
        " reason, ranges, numbers, unanswered, finished_at, document)"
        f" VALUES ({tenant}, '{voiding}', 'in doubt', 'ecf', 'infinity', now(), 'eva', '131880738', 8,"
        """ '[{"prefix": "E31", "first": 900, "last": 910}]', 11, 1, now(), '<ANECF/>')""",
    )
    await rows(
        db,
        "INSERT INTO voided_ranges (tenant_id, environment, prefix, first_number, last_number, voiding_id, fate,"
        " reason)"
        f" VALUES ({tenant}, 'ecf', 'E31', 900, 910, '{voiding}', 'asked', 8)",
    )
    return voiding


def told_of(tenant: str, key: str, subject: SubmissionId) -> dict[str, str]:
    return {"TENANT": tenant, "KEY": key, "ID": str(subject)}


async def give_up_handing_on(db: Database, tenant: TenantId, subject: SubmissionId) -> None:
    """Record that the accepted receipt could not be delivered to its buyer for three days."""
    await rows(
        db,
        "INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, state,"
        f" reason, url, since, changed_at) VALUES ({tenant}, '{subject}', 'receipt', 'ecf', '101000001', 'gave_up',"
        " 'connect', 'https://receiver.example/fe', now() - interval '3 days', now())",
    )


async def fail_to_deliver(db: Database, tenant: TenantId) -> str:
    """A webhook, and a delivery to it that was given up."""
    accounts = WebhookAccounts(WebhookVault(Vault(named_keys(WEBHOOK_KEYS))), Policy())
    now = datetime.now(UTC)
    await db.run(accounts.put, tenant, Environment.ECF, Wanted("https://erp.example.com/"), now)
    delivery = await db.run(accounts.test, tenant, Environment.ECF, now)
    await rows(db, "UPDATE webhook_deliveries SET stage = 'failed', finished_at = now()")
    return str(delivery)


@pytest.mark.parametrize("name", COMMANDS)
async def test_every_command_and_statement_of_a_runbook_does_its_work(
    name: str, db: Database, dsn: str, tmp_path: Path
) -> None:
    told = environment(database_url=dsn, data_dir=str(tmp_path), webhook_keys=WEBHOOK_KEYS)
    told |= await prepare(db, tmp_path, name)
    told["PATH"] = path_with_fe()

    for language, block in COMMANDS[name]:
        if language == "sql":
            with psycopg.connect(dsn_of(as_whom(block, "--"), dsn), autocommit=True) as conn:
                conn.execute(block.encode())
            continue
        told["FE_DATABASE_URL"] = dsn_of(as_whom(block, "#"), dsn)
        run = partial(subprocess.run, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=300)
        ended = await trio.to_thread.run_sync(run, ["sh", "-eu", "-c", block])
        assert ended.returncode == 0, block + ended.stdout + ended.stderr


@pytest.mark.parametrize(("name", "query"), QUERIES, ids=[name for name, _ in QUERIES])
def test_every_query_of_a_runbook_asks_for_what_is_exported(name: str, query: str) -> None:
    names = exported() | {"up": frozenset[str]()}
    asked = selectors(query)

    assert asked != []
    for one in asked:
        assert one.metric in names
        assert {label for label, _, _ in one.matchers} <= names[one.metric] | TARGET_LABELS


@pytest.mark.parametrize("name", OURS)
def test_a_runbook_names_its_alerts_and_says_when_it_is_over(name: str) -> None:
    text = OURS[name].read_text(encoding="utf-8")
    leading = {alert["alert"] for alert in alerts() if Path(runbook_of(alert)).stem == name}

    assert {alert for alert in leading if f"`{alert}`" not in text} == set()
    assert leading == set() or "**You see**" in text
    assert re.search(r"\*\*It (is over|went well)\*\*", text)


@pytest.mark.parametrize("name", OURS)
def test_a_runbook_points_to_what_exists(name: str) -> None:
    text = OURS[name].read_text(encoding="utf-8")
    settings = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")

    pages = re.findall(r"([\w/-]+\.md)", text)
    assert [page for page in pages if not (RUNBOOKS / page).is_file() and not (ROOT / page).is_file()] == []
    assert [one for one in re.findall(r"FE_[A-Z_]+", text) if f"`{one}`" not in settings] == []
    metrics = set(re.findall(r"`(fe_\w+)`", text))
    assert metrics <= exported().keys()
