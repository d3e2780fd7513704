"""The procedure of docs/decisions/retention.md to remove a month, run as written and with the role named there."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.archiving.checking import check
from fe.archiving.export import WholeArchive
from fe.ecf.catalogue import Environment
from fe.identifiers import ClientRequestId
from fe.lifecycle import Stage
from fe.objects.storage import FolderStore
from fe.store.postgres.db import open_database
from fe.store.postgres.migrate import migrate
from fe.store.postgres.roles import WORKER
from fe.store.records import submissions, tenants
from fe.store.records.archive import PackageChain
from tests import citus
from tests.archiving.receipts import EVENING, MORNING, finished, received
from tests.archiving.test_archiving import run_archiver
from tests.factories.logins import database_of, login
from tests.factories.tenants import make_submission, make_tenant, new_submission, rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "decisions" / "retention.md"
OLD, KEPT = datetime(2026, 11, 6, 12, tzinfo=UTC), datetime(2026, 12, 6, 12, tzinfo=UTC)

pytestmark = pytest.mark.skipif(citus.wanted(), reason="the owner of a cluster is a superuser")


@pytest.fixture
def owned(postgres: str) -> Iterator[str]:
    """DSN of a migrated database, as its owner: a login that is no superuser."""
    with login(postgres, "CREATEROLE") as owner, database_of(postgres, owner) as dsn:
        migrate(dsn, now=OLD)
        yield dsn


def statements(whom: str) -> str:
    (found,) = re.findall(rf"```sql\n-- as {whom}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


async def test_a_month_is_taken_away_with_its_keys_and_nothing_else(owned: str, postgres: str) -> None:
    administrator = make_conninfo(postgres, dbname=conninfo_to_dict(owned)["dbname"])
    async with open_database(administrator) as db:
        tenant = await make_tenant(db)
        for number, at in enumerate((OLD, KEPT), 1):
            name = ClientRequestId(f"order {number}")
            await make_submission(
                db,
                tenant,
                stage=Stage.SEND,
                at=at,
                client_request_id=name,
                e_ncf=f"E31000000000{number}",
                notify=f"buyer{number}@x.do",
                metadata={"order": f"{number}"},
            )
        await rows(
            db,
            "INSERT INTO mails (tenant_id, subject, stage, environment, run_at)"
            " SELECT tenant_id, submission_id, 'sent', environment, 'infinity' FROM submissions",
        )

        await rows(
            db,
            "INSERT INTO shared_receipts (tenant_id, submission_id, key_id, nonce, token_hash, shared_at, environment,"
            " status, document) SELECT tenant_id, submission_id, 'k', decode(repeat('00', 16), 'hex'),"
            " sha256(submission_id::text::bytea), now(), environment, 'Aceptado', 'x' FROM submissions",
        )

        with psycopg.connect(owned, autocommit=True) as conn:
            assert conn.execute("DELETE FROM client_requests").rowcount == 0, "the owner is behind the wall, too"
        with psycopg.connect(administrator, autocommit=True) as conn:
            conn.execute(statements("an administrator").encode())
            left = conn.execute("SELECT client_request_id FROM client_requests").fetchall()
            assert left == [("order 2",)]
            assert conn.execute("SELECT e_ncf FROM held_numbers").fetchall() == [("E310000000002",)]
            assert conn.execute("SELECT address FROM mail_recipients").fetchall() == [("buyer2@x.do",)]
            for table in ("mails", "shared_receipts", "submission_metadata"):
                assert conn.execute(f"SELECT count(*) FROM {table}".encode()).fetchall() == [(1,)]
        with psycopg.connect(owned, autocommit=True) as conn:
            conn.execute(statements("fe_owner").encode())

        again = new_submission(tenant, KEPT, client_request_id=ClientRequestId("order 1"), e_ncf="E310000000003")
        assert (await db.run(submissions.accept, again, KEPT)).outcome == "accepted"
        repeat = new_submission(tenant, KEPT, client_request_id=ClientRequestId("order 2"), e_ncf="E310000000004")
        assert (await db.run(submissions.accept, repeat, KEPT)).outcome == "deduped"


async def test_receipts_of_a_tenant_are_erased_only_after_its_archive_was_handed_over_and_checked(
    owned: str, postgres: str, tmp_path: Path
) -> None:
    administrator = make_conninfo(postgres, dbname=conninfo_to_dict(owned)["dbname"])
    store = FolderStore(tmp_path)
    async with open_database(administrator) as db, open_database(administrator, role=WORKER) as worker:
        tenant_id, other = await make_tenant(db), await make_tenant(db)
        for owner in (tenant_id, other):
            await finished(db, owner)
            await received(db, owner, EVENING)
        await run_archiver(worker, store)
        (tenant,) = [one for one in await db.run(tenants.everyone) if one.tenant_id == tenant_id]
        late = await finished(db, tenant_id, at=MORNING)
        erase = statements("an administrator, for the tenant").replace("Ozama", tenant.name)

        async def handed_over(now: datetime) -> str:
            whole = WholeArchive(db, store, tenant, "eva@example.do", now)
            async for _ in whole.chunks():
                pass
            assert whole.handover is not None
            return whole.handover.protocol.hex()

        def refused(protocol: str = "00" * 32) -> str:
            with (
                psycopg.connect(administrator, autocommit=True) as conn,
                pytest.raises(psycopg.errors.RaiseException) as raised,
            ):
                conn.execute(erase.replace("00" * 32, protocol).encode())
            return str(raised.value)

        assert "disable it first" in refused()
        await rows(
            db,
            "INSERT INTO disabled_tenants (tenant_id, since) VALUES (%(tenant)s, now()) RETURNING 1",
            tenant=tenant_id,
        )
        assert "no archive was handed over" in refused()
        early = await handed_over(MORNING + timedelta(minutes=1))
        assert "was not checked since" in refused(early)
        tomorrow = MORNING + timedelta(days=1)
        for one in Environment:
            chain = PackageChain(tenant_id, one)
            assert await check(db, store, lambda: MORNING + timedelta(hours=1), chain) == (0, [])
        assert "are not archived" in refused(early)
        await run_archiver(worker, store, tomorrow)
        assert "packages that the handover does not have" in refused(early)
        protocol = await handed_over(tomorrow + timedelta(minutes=1))
        for one in Environment:
            chain = PackageChain(tenant_id, one)
            assert await check(db, store, lambda: tomorrow + timedelta(days=1), chain, reads=True) == (0, [])
        with psycopg.connect(administrator, autocommit=True) as conn:
            all_at_once = erase.replace("00" * 32, protocol).replace("10000", "2")
            assert conn.execute(all_at_once.encode()).fetchall() == [(0,)]
            for table in ("submissions", "submission_documents", "submission_events", "received"):
                assert conn.execute(f"SELECT DISTINCT tenant_id FROM {table}".encode()).fetchall() == [(other,)]
            kept = "SELECT number FROM archive_items WHERE evidence_id = %s"
            assert conn.execute(kept, [late]).fetchall() == [(2,)]
            noted = "SELECT count(*) FROM audit_trail WHERE entry LIKE '%tenant erase%'"
            assert conn.execute(noted).fetchall() == [(1,)]
