"""Rights in the database, by its catalogue; and a whole life under an owner that is no superuser."""

import re
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.accounts.provision import create_key, create_tenant
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SubmissionId
from fe.lifecycle import Stage
from fe.store.postgres.db import Conn, open_database
from fe.store.postgres.errors import RoleRefused
from fe.store.postgres.migrate import MigrationError, migrate, migrations, verify
from fe.store.postgres.roles import FRONT, OPERATOR, PORTAL, READONLY, RECEPTION, SHARE, WORKER
from fe.store.queue import outbox
from fe.store.queue.outbox import OutboxLane
from fe.store.records import keys, submissions
from tests.factories import bookings
from tests.factories.logins import database_of, login
from tests.factories.tenants import ISSUER, LEASE, new_submission
from tests.store.race import plain

ROLES = (FRONT, WORKER, OPERATOR, READONLY, RECEPTION, PORTAL, SHARE)
#: Roles older than reception: older functions are granted to them.
INSIDE = (FRONT, WORKER, OPERATOR, READONLY)
#: Roles that act for a tenant: for its programs, and for its people.
ASKED = (FRONT, PORTAL)
NOW = datetime(2026, 11, 6, 12, tzinfo=UTC)
DOCS = Path(__file__).resolve().parents[2] / "docs"

#: Table, and what each role may do there: select, insert, update, delete; in small letters of some columns only.
MATRIX = """
| Table | `fe_front` | `fe_worker` | `fe_operator` | `fe_readonly` | `fe_reception` | `fe_portal` | `fe_share` |
| --- | --- | --- | --- | --- | --- | --- | --- |
| `acknowledgements` | S | S | S | S | SI | S | |
| `agents` | SIU | S | Su | S | | SU | |
| `api_key_uses` | SIU | S | S | S | | SIU | |
| `api_keys` | Su | | SIu | s | | SIu | |
| `applied_functions` | S | S | S | S | S | S | S |
| `applied_migrations` | S | S | S | S | S | S | S |
| `approvals` | SI | S | S | S | | SI | |
| `archive_chains` | | SIU | SIU | S | | S | |
| `archive_handovers` | | | SI | S | | SI | |
| `archive_items` | S | SIU | S | S | | S | |
| `archive_packages` | S | SIU | SIU | S | | S | |
| `archive_places` | S | S | SI | S | | S | |
| `audit_trail` | | | S | S | | | |
| `authority_health` | S | SIUD | S | S | | S | |
| `authority_outages` | S | SIU | S | S | | S | |
| `billing_accounts` | S | S | SIU | S | | S | |
| `billing_charges` | | SIU | SIU | S | | S | |
| `billing_months` | S | SIU | SIU | S | | S | |
| `billing_rounds` | | SIU | SIU | | | | |
| `billing_terms` | | S | SI | S | | | |
| `certificates` | s | S | SIu | s | S | sIu | |
| `certification_cases` | Su | Su | SIU | S | | SI | |
| `certification_runs` | su | Su | SIU | S | | SIu | |
| `certification_steps` | | | SID | S | | SID | |
| `certification_tasks` | | Su | SI | S | | SI | |
| `certifications` | | | SIU | S | | SIU | |
| `circuits` | | SIU | S | S | | s | |
| `client_requests` | SI | | S | S | | SI | |
| `counterparty_deliveries` | S | SIU | SU | S | | S | |
| `counterparty_outbox` | | SIUD | SI | S | | | |
| `counterparty_sends` | | SIU | S | S | | | |
| `customers` | SIUD | | S | S | | SIUD | |
| `dead_letters` | s | SI | SD | S | | S | |
| `disabled_tenants` | S | S | SID | S | | S | |
| `duties` | | SIU | SIU | S | | | |
| `excise_rates` | S | S | SIUD | S | | S | |
| `held_numbers` | S | SIU | S | S | | S | |
| `identities` | | | SIUD | | | SIUD | |
| `import_files` | SID | sD | | | | SID | |
| `import_receipts` | SIuD | sD | | | | SIuD | |
| `imports` | SIuD | SD | S | S | | SIuD | |
| `invitations` | | | SIU | | | SIu | |
| `issuer_delegations` | S | | SID | S | | S | |
| `login_attempts` | SIUD | | SD | | | SIUD | |
| `mail_days` | | SIU | | S | | | |
| `mail_recipients` | SI | S | | S | | SIu | |
| `mail_suppressions` | | SI | SID | S | | SID | |
| `mails` | Su | SIUD | Su | S | | Siu | |
| `memberships` | | | SIUD | S | | SIUD | |
| `mode_periods` | SIU | S | SIU | S | | SIU | |
| `notice_mails` | | | | | | SIU | |
| `openid_requests` | | | | | | SID | |
| `operator_actions` | | | SI | S | | | |
| `operator_keys` | | | SIu | s | | | |
| `outbox` | sI | SUD | SI | S | | sI | |
| `paper_ranges` | SIuD | | S | S | | SIuD | |
| `paper_receipts` | SIU | Su | S | S | | SIU | |
| `paper_references` | SID | | S | S | | SID | |
| `paper_replacements` | SIU | S | S | S | | SIU | |
| `password_resets` | | | SIu | | | SIuD | |
| `pauses` | s | S | SID | S | | s | |
| `pending_actions` | | | SIu | S | | | |
| `people` | | s | SIU | s | | Siu | |
| `portal_drafts` | | SD | | | | SIUD | |
| `portal_forms` | | | SI | | | SID | |
| `portal_logins` | | | SD | | | SID | |
| `portal_sessions` | | | SD | | | SIUD | |
| `portal_troubles_seen` | | | | | | SIU | |
| `print_settings` | SIU | S | S | S | | SIU | S |
| `products` | SIUD | | S | S | | SIUD | |
| `receipt_days` | S | SIUD | SIUD | S | | S | |
| `receipt_expenses` | SIU | | S | S | | SIU | |
| `received` | S | S | S | S | SI | S | |
| `received_amounts` | SI | | SI | S | SI | SI | |
| `received_approvals` | S | S | S | S | SI | S | |
| `received_waiting` | S | SD | S | S | SI | SD | |
| `receivers` | | | SIUD | S | S | S | |
| `recovery_codes` | | | SIUD | | | SIUD | |
| `recurring_due` | SIuD | | S | S | | SIuD | |
| `recurring_receipts` | SIUD | | S | S | | SIUD | |
| `recurring_turns` | SIUD | | S | S | | SIUD | |
| `replay_items` | | | SIU | S | | | |
| `replay_plans` | | | SIU | S | | | |
| `request_counts` | SIU | | S | S | | SIU | |
| `request_flushes` | SIU | SD | | | | SIU | |
| `request_log` | SI | SD | S | S | | S | |
| `returned_numbers` | SD | SI | SID | S | | SD | |
| `sandbox_outages` | SIUD | S | S | S | | S | |
| `second_person` | | | S | S | | | |
| `sends` | s | SIU | S | S | | S | |
| `sequences` | SIUD | Su | SIUD | S | | SIUD | |
| `service_states` | SIU | SIUD | S | S | SIU | | |
| `shared_receipts` | SID | SI | | | | SID | s |
| `simulations` | I | S | S | S | | I | |
| `spent_seeds` | | SD | | | SI | | |
| `submission_documents` | SI | SI | SI | S | | SI | |
| `submission_events` | SI | SI | SI | S | | SI | |
| `submission_metadata` | SI | S | S | S | | SI | |
| `submissions` | SI | SU | SU | S | s | SI | |
| `supplier_expenses` | SIU | | S | S | | SIU | |
| `taxpayer_register` | S | | SIU | S | | S | |
| `taxpayers` | S | | SID | S | | S | |
| `tenant_changes` | I | | SI | S | | SI | |
| `tenants` | Su | S | SIu | S | | Su | |
| `usage_carried` | | SIUD | SIUD | S | | | |
| `usage_days` | S | SIUD | SIUD | S | | S | |
| `usage_ends` | S | SIUD | SIUD | S | | S | |
| `usage_latency` | | SIUD | SIUD | S | | | |
| `usage_marks` | S | SIUD | SIUD | S | | S | |
| `users` | S | S | SIu | S | | SIu | |
| `voided_ranges` | SI | SIUD | SIUD | S | | SI | |
| `voidings` | SI | SUD | SIU | S | | SI | |
| `webhook_attempts` | S | SID | S | S | | S | |
| `webhook_deliveries` | SIu | SIUD | SIu | S | I | SIu | |
| `webhook_endpoints` | SIU | SuD | SIU | s | s | SIU | |
| `webhook_events` | SI | SID | SI | S | I | SI | |
| `webhook_notices` | | SID | S | S | | | |
| `webhook_recoveries` | SI | SIUD | SI | S | | SI | |
| `webhook_secrets` | SIUD | SD | SIUD | s | | SIUD | |
| `workers` | | SIUD | S | S | | | |
| `write_probes` | I | | | | | I | |
"""

#: Columns that a redelivery changes.
RETRIED = {"stage", "run_at", "attempt", "deaths", "holder", "entered_at", "finished_at", "last_error"}

#: The columns behind the small letters.
SOME_COLUMNS = {
    ("outbox", FRONT, "SELECT"): {"stage", "environment", "run_at"},
    ("dead_letters", FRONT, "SELECT"): {"tenant_id", "subject"},
    **{("pauses", role, "SELECT"): {"tenant_id", "environment"} for role in ASKED},
    ("sends", FRONT, "SELECT"): {"tenant_id", "submission_id", "outcome"},
    ("outbox", PORTAL, "SELECT"): {"tenant_id", "subject", "stage", "environment", "run_at"},
    ("sequences", WORKER, "UPDATE"): {"paused_at", "paused_for", "current_number", "updated_at"},
    **{("paper_ranges", role, "UPDATE"): {"next_number"} for role in (FRONT, PORTAL)},
    ("paper_receipts", WORKER, "UPDATE"): {"replaced_at", "replaced_by", "e_ncf"},
    ("api_keys", FRONT, "UPDATE"): {"secret_hash", "pepper_id"},
    ("api_keys", PORTAL, "UPDATE"): {"secret_hash", "pepper_id", "revoked_at", "expires_at"},
    ("submissions", RECEPTION, "SELECT"): {
        "tenant_id",
        "submission_id",
        "environment",
        "root",
        "e_ncf",
        "issuer_rnc",
        "buyer_rnc",
        "status",
    },
    ("api_keys", OPERATOR, "UPDATE"): {"revoked_at", "expires_at"},
    ("operator_keys", OPERATOR, "UPDATE"): {"secret_hash", "pepper_id", "revoked_at", "last_used_at"},
    ("agents", OPERATOR, "UPDATE"): {"epoch", "retired_at", "retired_by"},
    ("certificates", FRONT, "SELECT"): {
        "tenant_id",
        "certificate_id",
        "user_id",
        "not_before",
        "not_after",
        "retired_at",
    },
    ("certificates", OPERATOR, "UPDATE"): {"retired_at", "destroyed_at", "x509"},
    ("certificates", PORTAL, "UPDATE"): {"retired_at"},
    ("certification_runs", FRONT, "SELECT"): {"tenant_id", "run_id", "state", "kind"},
    ("certification_runs", FRONT, "UPDATE"): {"state", "stopped_en", "stopped_es", "to_do"},
    ("certification_cases", FRONT, "UPDATE"): {"submission_id"},
    ("certification_cases", WORKER, "UPDATE"): {"original", "attempt", "submission_id", "is_confirmed"},
    ("certification_runs", WORKER, "UPDATE"): {"state", "stopped_en", "stopped_es", "to_do"},
    ("certification_runs", PORTAL, "UPDATE"): {"state"},
    ("certification_tasks", WORKER, "UPDATE"): {"held_until", "done_at", "result", "faults"},
    ("people", WORKER, "SELECT"): {"person_id", "totp_secret"},
    ("import_files", WORKER, "SELECT"): {"tenant_id", "import_id", "created_at"},
    ("import_receipts", WORKER, "SELECT"): {"tenant_id", "import_id", "place"},
    **{("imports", role, "UPDATE"): {"state", "held_until"} for role in ASKED},
    **{("import_receipts", role, "UPDATE"): {"outcome", "faults", "submission_id", "e_ncf", "total"} for role in ASKED},
    **{("recurring_due", role, "UPDATE"): {"run_at", "held_until"} for role in ASKED},
    ("people", PORTAL, "INSERT"): {"person_id", "email", "name", "language", "password_hash", "created_at"},
    ("people", PORTAL, "UPDATE"): {
        "name",
        "language",
        "password_hash",
        "totp_secret",
        "totp_since",
        "totp_last_step",
    },
    ("password_resets", OPERATOR, "UPDATE"): {"used_at"},
    ("pending_actions", OPERATOR, "UPDATE"): {
        "decision",
        "decided_by",
        "decided_at",
        "executed_at",
        "outcome",
        "rows_done",
    },
    ("password_resets", PORTAL, "UPDATE"): {"used_at"},
    ("invitations", PORTAL, "UPDATE"): {"accepted_at", "withdrawn_at"},
    ("tenants", FRONT, "UPDATE"): {"mail", "mail_off"},
    ("tenants", PORTAL, "UPDATE"): {"name", "issuer", "consumer_summary", "mail", "mail_off"},
    ("tenants", OPERATOR, "UPDATE"): {
        "sends_to_receivers",
        "name",
        "issuer",
        "consumer_summary",
        "mail",
        "mail_off",
        "mail_limit",
    },
    ("mail_recipients", PORTAL, "UPDATE"): {"address"},
    ("mails", FRONT, "UPDATE"): {"run_at"},
    ("mails", PORTAL, "INSERT"): {"tenant_id", "subject", "stage", "environment", "run_at", "address"},
    ("mails", PORTAL, "UPDATE"): {
        "stage",
        "run_at",
        "attempt",
        "deaths",
        "entered_at",
        "finished_at",
        "last_error",
        "address",
        "counted_on",
    },
    ("mails", OPERATOR, "UPDATE"): {"stage", "run_at", "attempt", "deaths", "entered_at", "finished_at"},
    ("users", OPERATOR, "UPDATE"): {"issuer_override", "removed_at"},
    ("users", PORTAL, "UPDATE"): {"issuer_override", "removed_at"},
    ("webhook_endpoints", WORKER, "UPDATE"): {"failing_since", "disabled_at", "disabled_reason"},
    ("webhook_endpoints", RECEPTION, "SELECT"): {
        "tenant_id",
        "endpoint_id",
        "environment",
        "enabled",
        "events",
        "disabled_at",
        "removed_at",
    },
    ("webhook_deliveries", FRONT, "UPDATE"): RETRIED,
    ("webhook_deliveries", OPERATOR, "UPDATE"): RETRIED,
    ("webhook_deliveries", PORTAL, "UPDATE"): RETRIED,
}
#: Or those that are left out.
ALL_BUT = {
    ("api_keys", READONLY, "SELECT"): {"secret_hash"},
    ("operator_keys", READONLY, "SELECT"): {"secret_hash"},
    ("certificates", READONLY, "SELECT"): {"p12", "passphrase"},
    ("circuits", PORTAL, "SELECT"): {"since", "reason", "probe_at", "failed_probes"},
    ("certificates", PORTAL, "SELECT"): {"p12", "passphrase", "x509"},
    ("people", READONLY, "SELECT"): {"password_hash", "totp_secret", "totp_last_step"},
    ("webhook_endpoints", READONLY, "SELECT"): {"headers"},
    ("webhook_secrets", READONLY, "SELECT"): {"secret"},
    ("shared_receipts", SHARE, "SELECT"): {"submission_id", "key_id", "nonce", "shared_at"},
}

#: Functions and the roles that may call them; writers of outcomes are the actors'.
CALLERS = {
    "end_webhook": (FRONT, WORKER, OPERATOR, PORTAL),
    "end_deleted_webhooks": (WORKER,),
    "uuid_floor": (FRONT, WORKER, OPERATOR, READONLY, RECEPTION, PORTAL),
    **dict.fromkeys(("record_event", "event_hash"), (FRONT, WORKER, OPERATOR, PORTAL)),
    **dict.fromkeys(("accept_submission", "refuse_to_draw", "count_requests", "note_key_use"), ASKED),
    **dict.fromkeys(("count_attempt", "login_attempt", "probe_writing"), ASKED),
    **dict.fromkeys(
        ("accept_submissions", "draw_number", "number_is_free", "first_free_number", "take_returned_number"), ASKED
    ),
    **dict.fromkeys(("name_tenant", "name_submitter", "sequence_to_draw_from", "keep_metadata"), ASKED),
    **dict.fromkeys(("sequence_last_day", "sequence_is_over", "next_number_in"), (FRONT, OPERATOR, PORTAL)),
    **dict.fromkeys(("change_sequence", "first_number_since", "with_former_range"), (FRONT, OPERATOR, PORTAL)),
    "without_range": (FRONT, OPERATOR, PORTAL),
    "begin_next_range": ASKED,
    **dict.fromkeys(("expiry_of_number", "former_expiry", "number_lies"), (FRONT, WORKER, OPERATOR, PORTAL)),
    **dict.fromkeys(("hold_number_batch", "holders_of_batch"), (WORKER,)),
    **dict.fromkeys(("complete_batch", "record_event_batch", "announce_batch"), (WORKER,)),
    **dict.fromkeys(("close_sends_batch", "close_intents_batch", "intend_to_send_batch"), (WORKER,)),
    **dict.fromkeys(("claim_due", "claim_with_input", "divide_by_weight", "forty_days_before"), (WORKER,)),
    **dict.fromkeys(("input_to_sign", "signatories_of", "earliest_due_rows"), (WORKER,)),
    **dict.fromkeys(
        (
            "note_in_audit_trail",
            "note_pending_action",
            "keep_audit_trail",
            "require_second_person",
            "refuse_alone",
            "note_tenant_rnc",
            "lay_out",
            "tidy_in_small_parts",
        ),
        (),
    ),
    **dict.fromkeys(("refuse_disabled", "hold_calls_of_disabled", "destroy_key"), ()),
    **dict.fromkeys(("change_tenant", "remove_user", "retire_certificate"), (OPERATOR, PORTAL)),
    "unsigned_work": (OPERATOR, PORTAL),
    "destroy_certificate": (OPERATOR,),
    # An administrator alone.
    "erase_tenant": (),
    "release_documents": (OPERATOR,),
    "is_rnc_of_another": ASKED,
    "flush_requests": ASKED,
    "take_duty": (WORKER, OPERATOR),
    "attempts_within": ASKED,
    "pause_sequence": (WORKER,),
    **dict.fromkeys(("utc_month", "month_begins", "freeze_month", "count_month"), (WORKER, OPERATOR)),
    **dict.fromkeys(("reconcile_month", "close_month"), (WORKER, OPERATOR)),
    **dict.fromkeys(("set_billing_terms", "needs_second_person"), (OPERATOR,)),
    "span_of": (WORKER, OPERATOR),
    **dict.fromkeys(("return_numbers", "void_numbers"), (WORKER, OPERATOR)),
    "voiding_of": (FRONT, WORKER, OPERATOR, PORTAL),
    **dict.fromkeys(("note_ends", "add_usage", "fold_usage", "close_usage", "restart_usage"), (WORKER, OPERATOR)),
    "add_receipt_days": (WORKER, OPERATOR),
    **dict.fromkeys(("latency_bucket", "latency_of_bucket", "microseconds_of"), (WORKER, OPERATOR)),
    **dict.fromkeys(("sketch_of", "sketch_sum", "sketch_p95"), (WORKER, OPERATOR)),
    **dict.fromkeys(("keep_received", "keep_approval"), (RECEPTION,)),
    **dict.fromkeys(("webhook_id", "webhook_moment", "webhook_wanted"), (FRONT, WORKER, OPERATOR, RECEPTION, PORTAL)),
    **dict.fromkeys(("deliver_event", "tell_webhooks"), (FRONT, WORKER, OPERATOR, RECEPTION, PORTAL)),
    **dict.fromkeys(("tell_outcomes", "retry_webhook"), (FRONT, WORKER, OPERATOR, PORTAL)),
    **dict.fromkeys(("tell_webhooks_once", "book_webhooks_batch", "note_endpoints", "recover_webhooks"), (WORKER,)),
    **dict.fromkeys(("held_in_vain", "let_go_of_held"), (WORKER,)),
    "received_event_body": (WORKER, RECEPTION),
    "ensure_month": (WORKER,),
    **dict.fromkeys(("replay_dead_letter", "discard_dead_letter", "replay_delivery"), (OPERATOR,)),
    "decide_received": ASKED,
    **dict.fromkeys(("begin_deliveries", "begin_mail"), (WORKER,)),
    "trace_of": (WORKER,),
    **dict.fromkeys(("leave_trace", "take_trace", "take_trace_of_event"), ()),
}

_RIGHTS = """
    SELECT c.relname, r.rolname, p.right_,
           has_table_privilege(r.oid, c.oid, p.right_) AS whole,
           CASE WHEN p.right_ IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
                THEN ARRAY(SELECT a.attname::text
                             FROM pg_attribute AS a
                            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                              AND has_column_privilege(r.oid, c.oid, a.attnum, p.right_)) END AS columns,
           ARRAY(SELECT a.attname::text FROM pg_attribute AS a
                  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS all_columns
      FROM pg_class AS c
     CROSS JOIN pg_roles AS r
     CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p (right_)
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND r.rolname = ANY (%s)
"""


def test_each_role_has_the_rights_of_the_matrix_and_no_others(dsn: str) -> None:
    with plain(dsn) as conn:
        found = conn.execute(_RIGHTS, (list(ROLES),)).fetchall()
    rights: dict[tuple[str, str], str] = {}
    tables = set()
    for table, role, right, whole, columns, all_columns in found:
        tables.add(table)
        if whole:
            rights[table, role] = rights.get((table, role), "") + right[0]
        elif columns:
            rights[table, role] = rights.get((table, role), "") + right[0].lower()
            chosen = SOME_COLUMNS.get((table, role, right)) or set(all_columns) - ALL_BUT[table, role, right]
            assert set(columns) == chosen, (table, role, right)
    lines = [line.strip("| ").replace("`", "") for line in MATRIX.strip().splitlines()[2:]]
    expected: dict[tuple[str, str], str] = {}
    for line in lines:
        table, *cells = (cell.strip() for cell in line.split("|"))
        expected |= {(table, role): cell for role, cell in zip(ROLES, cells, strict=False) if cell}

    assert {where: sorted(letters) for where, letters in rights.items()} == {
        where: sorted(letters) for where, letters in expected.items()
    }
    # Partitions included: a role that could read one directly would bypass the tenant scope.
    assert {"submissions_default", "sends_default"} <= tables
    assert {table for table, _ in rights} == {line.split(" ", 1)[0] for line in lines}


def test_the_matrix_is_in_the_documentation() -> None:
    assert MATRIX.strip() in (DOCS / "decisions" / "row-level-security.md").read_text(encoding="utf-8")


def test_nobody_else_may_do_anything(dsn: str) -> None:
    with plain(dsn) as conn:
        open_tables = conn.execute(
            "SELECT relname FROM pg_class, aclexplode(relacl) AS a"
            " WHERE relnamespace = 'public'::regnamespace AND a.grantee = 0"
        ).fetchall()
        open_functions = conn.execute(
            "SELECT proname FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS a"
            " WHERE pronamespace = 'public'::regnamespace AND a.grantee = 0"
        ).fetchall()
        may_create = conn.execute(
            "SELECT r.rolname FROM pg_roles AS r"
            " WHERE r.rolname = ANY (%s) AND has_schema_privilege(r.oid, 'public', 'CREATE')",
            (list(ROLES),),
        ).fetchall()
        conn.execute("CREATE FUNCTION made_later() RETURNS int LANGUAGE sql RETURN 1")
        later = conn.execute("SELECT has_function_privilege(%s, 'made_later()', 'EXECUTE')", (FRONT,)).fetchone()

    assert (open_tables, open_functions, may_create, later) == ([], [], [], (False,))


def test_each_function_may_be_called_by_who_needs_it(dsn: str) -> None:
    with plain(dsn) as conn:
        found = conn.execute(
            "SELECT p.proname, r.rolname FROM pg_proc AS p CROSS JOIN pg_roles AS r"
            " WHERE p.pronamespace = 'public'::regnamespace AND r.rolname = ANY (%s)"
            " AND has_function_privilege(r.oid, p.oid, 'EXECUTE')",
            (list(ROLES),),
        ).fetchall()
        functions = {
            name for (name,) in conn.execute("SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace")
        }
        above = conn.execute("SELECT proname, proconfig FROM pg_proc WHERE prosecdef").fetchall()
    callers = {name: tuple(role for role in ROLES if (name, role) in found) for name in functions}

    assert callers == {name: (WORKER,) for name in functions if name.startswith("book_")} | CALLERS
    assert sorted(above) == [
        ("ensure_month", ["search_path=public, pg_temp"]),
        ("is_rnc_of_another", ["search_path=public, pg_temp"]),
        ("note_in_audit_trail", ["search_path=public, pg_temp"]),
        ("note_pending_action", ["search_path=public, pg_temp"]),
        ("note_tenant_rnc", ["search_path=public, pg_temp"]),
        ("release_documents", ["search_path=public, pg_temp"]),
    ]


def test_no_role_stands_above_the_wall(dsn: str) -> None:
    with plain(dsn) as conn:
        roles = conn.execute(
            "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s) AND NOT rolsuper AND NOT rolbypassrls"
            " AND NOT rolcreaterole AND NOT rolcreatedb AND NOT rolcanlogin AND NOT rolreplication",
            (list(ROLES),),
        ).fetchall()
        member_of = conn.execute(
            "SELECT member::regrole::text, roleid::regrole::text FROM pg_auth_members"
            " WHERE member::regrole::text = ANY (%s)",
            (list(ROLES),),
        ).fetchall()
        owned = conn.execute("SELECT relname FROM pg_class WHERE relowner::regrole::text = ANY (%s)", (list(ROLES),))
        assert owned.fetchall() == []

    assert len(roles) == len(ROLES)
    assert member_of == [(WORKER, "pg_read_all_stats")]


OWN = "(tenant_id = (NULLIF(current_setting('fe.tenant'::text, true), ''::text))::bigint)"


def test_the_wall_stands_around_every_table_that_has_a_tenant(dsn: str) -> None:
    with plain(dsn) as conn:
        tables = conn.execute(
            "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class AS c"
            " JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id'"
            " WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition"
        ).fetchall()
        policies = conn.execute(
            "SELECT tablename, cmd, roles::text[], qual, with_check FROM pg_policies WHERE %s = ANY (roles)", (FRONT,)
        ).fetchall()

    assert len(tables) >= 17
    assert [table for table, walled in tables if not walled] == []
    gates = [policy for policy in policies if policy[3] != OWN]
    assert sorted(gates) == [
        ("api_keys", "SELECT", [FRONT], "true", None),
        ("certification_runs", "SELECT", [FRONT], "(state = 'sending'::text)", None),
        ("disabled_tenants", "SELECT", [FRONT, PORTAL], "true", None),
        ("imports", "SELECT", [FRONT], "(state = ANY (ARRAY['validating'::text, 'issuing'::text]))", None),
        ("outbox", "SELECT", [FRONT], "true", None),
        ("pauses", "SELECT", [FRONT, PORTAL], "true", None),
        ("recurring_due", "SELECT", [FRONT], "true", None),
        ("sandbox_outages", "SELECT", [FRONT], "true", None),
    ]
    assert {policy[0] for policy in policies if policy[1] == "ALL"} == {table for table, _ in tables}


def test_the_portal_sees_one_tenant_of_what_it_may_see(dsn: str) -> None:
    with plain(dsn) as conn:
        tables = conn.execute(
            "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid"
            " WHERE a.attname = 'tenant_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        ).fetchall()
        policies = conn.execute(
            "SELECT tablename, cmd, qual, with_check FROM pg_policies WHERE %s = ANY (roles)", (PORTAL,)
        ).fetchall()

    assert sorted(policy for policy in policies if policy[2] != OWN) == [
        # Whether a tenant is served: as for the front.
        ("disabled_tenants", "SELECT", "true", None),
        # A link of an invitation is looked up for its tenant; a signed-in person for their tenants.
        ("invitations", "SELECT", "true", None),
        ("memberships", "SELECT", "true", None),
        # Whether what is handed in may be signed now: as for the front.
        ("pauses", "SELECT", "true", None),
    ]
    assert {policy[0] for policy in policies if policy[1:] == ("ALL", OWN, None)} == {table for (table,) in tables}


def test_the_portal_writes_for_the_tenant_it_names_and_no_other(dsn: str) -> None:
    with plain(dsn) as owner:
        ours, theirs = (
            owner.execute(
                "INSERT INTO tenants (name, issuer) VALUES (%s, '{}') RETURNING tenant_id", (name,)
            ).fetchone()
            for name in ("Nuestra SRL", "Ajena SRL")
        )
        person = new_id(NOW)
        owner.execute("INSERT INTO people (person_id, email, name) VALUES (%s, 'a@b.do', 'Ana')", (person,))
        owner.execute("INSERT INTO memberships VALUES (%s, %s, 'owner')", (*(theirs or ()), person))
    joins = "INSERT INTO memberships (tenant_id, person_id, role) VALUES (%s, %s, 'owner')"
    with as_role(dsn, PORTAL) as portal:
        for named in ("", str((ours or (0,))[0])):
            portal.execute("SELECT set_config('fe.tenant', %s, false)", (named,))
            with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
                portal.execute(joins, (*(theirs or ()), person))
            assert portal.execute("DELETE FROM memberships").rowcount == 0
            assert portal.execute("SELECT count(*) FROM tenants").fetchone() == (int(bool(named)),)
        portal.execute(joins, (*(ours or ()), person))
        assert portal.execute("DELETE FROM memberships").rowcount == 1


def test_reception_sees_one_tenant_of_what_it_may_see_and_adds_to_one_only(dsn: str) -> None:
    with plain(dsn) as conn:
        policies = conn.execute(
            "SELECT tablename, cmd, qual FROM pg_policies WHERE %s = ANY (roles)", (RECEPTION,)
        ).fetchall()

    # The receiver is looked up by the tax id in the path, before the tenant is known.
    assert [policy for policy in policies if policy[2] != OWN] == [("receivers", "SELECT", "true")]
    assert {policy[0] for policy in policies} == {
        "acknowledgements",
        "certificates",
        "received",
        "received_amounts",
        "received_waiting",
        "received_approvals",
        "receivers",
        "spent_seeds",
        "submissions",
        "webhook_deliveries",
        "webhook_endpoints",
        "webhook_events",
    }


def test_the_buyers_page_reads_the_receipt_that_its_transaction_names_and_no_other(dsn: str) -> None:
    with plain(dsn) as conn:
        policies = conn.execute("SELECT tablename, cmd FROM pg_policies WHERE %s = ANY (roles)", (SHARE,)).fetchall()
        for number, name in ((1, "Nuestra SRL"), (2, "Ajena SRL")):
            (tenant,) = conn.execute(
                "INSERT INTO tenants (name, issuer) VALUES (%s, '{}') RETURNING tenant_id", (name,)
            ).fetchone() or (0,)
            conn.execute(
                "INSERT INTO shared_receipts (tenant_id, submission_id, key_id, nonce, token_hash, shared_at,"
                " environment, status, document)"
                " VALUES (%s, %s, 'k', %s, %s, now(), 'ecf', 'Aceptado', %s)",
                (tenant, new_id(NOW), bytes(16), bytes([number]) * 32, b"<ECF/>"),
            )
            conn.execute(
                "INSERT INTO print_settings (tenant_id, accent, footer, marks, language, layout, changed_at)"
                " VALUES (%s, '#1f3a5f', %s, '{\"\"}', 'es', 'letter', now())",
                (tenant, name),
            )

    assert sorted(policies) == [("print_settings", "SELECT"), ("shared_receipts", "SELECT")]
    with as_role(dsn, SHARE) as buyers:
        seen = "SELECT token_hash FROM shared_receipts"
        assert buyers.execute(seen).fetchall() == []
        buyers.execute("SELECT set_config('fe.tenant', %s, false)", (str(tenant),))
        assert buyers.execute(seen).fetchall() == []
        printed = "SELECT footer FROM print_settings"
        assert buyers.execute(printed).fetchall() == []
        for named, found, footers in (("02" * 32, [(b"\x02" * 32,)], [("Ajena SRL",)]), ("03" * 32, [], [])):
            buyers.execute("SELECT set_config('fe.share', %s, false)", (named,))
            assert buyers.execute(seen).fetchall() == found
            assert buyers.execute(printed).fetchall() == footers
        others = buyers.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')"
        ).fetchall()
        forbidden = {name for (name,) in others} - {
            "shared_receipts",
            "print_settings",
            "applied_functions",
            "applied_migrations",
        }
        assert len(forbidden) > 70
        for statement in (
            "DELETE FROM shared_receipts",
            "SELECT submission_id FROM shared_receipts",
            *(f"SELECT FROM {name}" for name in sorted(forbidden)),
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                buyers.execute(statement.encode())


def as_role(dsn: str, role: str) -> psycopg.Connection:
    return psycopg.connect(dsn, autocommit=True, options=f"-c role={role}")


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        *((role, "UPDATE submission_events SET kind = 'x'") for role in ROLES),
        *((role, "DELETE FROM submission_events") for role in ROLES),
        *((role, "TRUNCATE submission_events") for role in ROLES),
        *((role, "UPDATE operator_actions SET reason = 'x'") for role in ROLES),
        *((role, "DELETE FROM operator_actions") for role in ROLES),
        *((role, "INSERT INTO audit_trail (number, entry, hash) VALUES (1, '', '')") for role in ROLES),
        *((role, "UPDATE audit_trail SET entry = ''") for role in ROLES),
        *((role, "DELETE FROM audit_trail") for role in ROLES),
        *((role, "SELECT p12 FROM certificates") for role in (FRONT, READONLY, PORTAL)),
        *((role, "SELECT passphrase FROM certificates") for role in (FRONT, READONLY)),
        *((role, "SELECT * FROM submissions_default") for role in ROLES),
        *((role, "CREATE TABLE mine (n int)") for role in ROLES),
        *((role, "SELECT lo_create(0)") for role in ROLES),
        *((role, "SELECT lo_creat(0)") for role in ROLES),
        *((role, "SELECT lo_from_bytea(0, 'x')") for role in ROLES),
        *((role, "SELECT ensure_month(now())") for role in (FRONT, OPERATOR, READONLY, PORTAL)),
        *((role, "SELECT rnc FROM tenant_rncs") for role in ROLES),
        (FRONT, "SELECT holder FROM certificates"),
        *((role, "SELECT password_hash FROM people") for role in (FRONT, WORKER, READONLY, RECEPTION)),
        *((role, "SELECT totp_secret FROM people") for role in (FRONT, READONLY, RECEPTION)),
        *((role, "SELECT * FROM portal_sessions") for role in (FRONT, WORKER, READONLY, RECEPTION)),
        *((role, "SELECT * FROM invitations") for role in (FRONT, WORKER, READONLY, RECEPTION)),
        *((role, "UPDATE tenant_changes SET before = NULL") for role in ROLES),
        *((role, "DELETE FROM tenant_changes") for role in ROLES),
        (PORTAL, "DELETE FROM people"),
        (PORTAL, "SELECT * FROM operator_actions"),
        (PORTAL, "SELECT * FROM audit_trail"),
        (PORTAL, "SELECT * FROM pauses"),
        (PORTAL, "INSERT INTO tenants (name, issuer) VALUES ('x', '{}')"),
        (PORTAL, "DELETE FROM disabled_tenants"),
        (PORTAL, "UPDATE submissions SET status = 'accepted'"),
        (PORTAL, "SELECT last_error FROM outbox"),
        (PORTAL, "UPDATE people SET is_operator = true"),
        (PORTAL, "UPDATE people SET disabled_at = NULL"),
        (PORTAL, "UPDATE people SET email = 'x@y.do'"),
        (PORTAL, "UPDATE invitations SET role = 'owner'"),
        (PORTAL, "UPDATE password_resets SET expires_at = now()"),
        (RECEPTION, "UPDATE acknowledgements SET acknowledgement = ''"),
        (RECEPTION, "DELETE FROM received"),
        (RECEPTION, "SELECT response FROM submissions"),
        (RECEPTION, "SELECT * FROM submission_documents"),
        (RECEPTION, "SELECT * FROM tenants"),
        (RECEPTION, "SELECT * FROM outbox"),
        (RECEPTION, "SELECT * FROM api_keys"),
        (RECEPTION, "INSERT INTO receivers (environment, rnc, tenant_id) VALUES ('ecf', '131880681', 1)"),
        (FRONT, "UPDATE api_keys SET revoked_at = NULL"),
        (FRONT, "SELECT tenant_id FROM outbox"),
        (WORKER, "SELECT secret_hash FROM api_keys"),
        (READONLY, "SELECT secret_hash FROM api_keys"),
        (READONLY, "INSERT INTO tenants (name, issuer) VALUES ('x', '{}')"),
        (READONLY, "UPDATE submissions SET status = 'error'"),
    ],
)
def test_what_nobody_may_is_refused(shared_dsn: str, role: str, statement: str) -> None:
    with as_role(shared_dsn, role) as conn, pytest.raises(errors.InsufficientPrivilege):
        conn.execute(statement.encode())


def test_nobody_makes_tables_of_a_session_s_own(owned: str, postgres: str) -> None:
    superuser = str(conninfo_to_dict(postgres)["user"])
    for role in ROLES:
        with (
            as_role(make_conninfo(owned, user=superuser), role) as conn,
            pytest.raises(errors.InsufficientPrivilege, match="permission denied to create temporary tables"),
        ):
            conn.execute("CREATE TEMPORARY TABLE mine (n int)")


@pytest.fixture
def owned(postgres: str, template: str) -> Iterator[str]:
    """DSN of a migrated database as its owner, who is no superuser and may make no roles: `template` has made them."""
    with login(postgres) as owner, database_of(postgres, owner) as dsn:
        migrate(dsn, now=NOW)
        yield dsn


async def test_everything_works_in_the_database_of_an_owner_that_is_no_superuser(owned: str, postgres: str) -> None:
    with login(postgres) as program:
        with psycopg.connect(postgres, autocommit=True) as admin:
            for role in (FRONT, WORKER, OPERATOR):
                admin.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(program)))
        ours = make_conninfo(owned, user=program)
        verify(ours, FRONT, WORKER, OPERATOR)
        async with (
            open_database(ours, role=FRONT) as front,
            open_database(ours, role=WORKER) as worker,
            open_database(ours, role=OPERATOR) as operator,
        ):
            tenant = await operator.transact(create_tenant, "t", ISSUER, today=NOW.date())
            key = await operator.transact(create_key, tenant, Environment.ECF, pepper=b"p")
            assert await front.run(keys.find, key.record.api_key_id) is not None
            far = datetime(2031, 5, 6, 12, tzinfo=UTC)
            new = new_submission(tenant.tenant_id, submission_id=SubmissionId(new_id(far)))
            await front.run(submissions.accept, new, far)
            assert await front.run_for(tenant.tenant_id, submissions.find, new.submission_id) is not None

            # Its month is made later, and its rows move out of the default partition.
            async def ensure(conn: Conn) -> None:
                await conn.execute("SELECT ensure_month(%s)", (far,))

            await worker.run(ensure)
            assert await front.run_for(tenant.tenant_id, submissions.find, new.submission_id) is not None
            (work,) = await worker.run(
                outbox.claim, Stage.SIGN, OutboxLane(Environment.ECF), [tenant.tenant_id], [1], lease=LEASE, holder="w"
            )
            await worker.run(bookings.dead_letter, work, at=NOW, error="no")
            assert [
                event.kind for event in await front.run_for(tenant.tenant_id, submissions.timeline, new.submission_id)
            ] == ["accepted", "dead_letter"]
        with plain(owned) as conn:
            assert conn.execute("SELECT count(*) FROM submissions_2031_05").fetchone() == (1,)
            made = conn.execute("SELECT relacl FROM pg_class WHERE relname = 'submissions_2031_05'").fetchone()
            assert made == (None,)


def test_the_owner_is_behind_the_wall_and_a_migration_that_would_pass_rows_over_fails(
    owned: str, postgres: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from fe.store.postgres import migrate as module

    superuser = make_conninfo(owned, user=conninfo_to_dict(postgres)["user"])
    with plain(superuser) as conn:
        conn.execute("INSERT INTO tenants (name, issuer) VALUES ('t', '{}')")
    with plain(owned) as conn:
        assert conn.execute("SELECT * FROM tenants").fetchall() == []
        assert conn.execute("UPDATE tenants SET weight = 2").rowcount == 0

    shutil.copytree(module.FOLDER, tmp_path, dirs_exist_ok=True)
    following = tmp_path / f"{migrations()[-1].number + 1:04}_weights.sql"
    following.write_text("UPDATE tenants SET weight = 2;", encoding="utf-8")
    monkeypatch.setattr(module, "migrations", lambda: migrations(tmp_path))
    with pytest.raises(MigrationError, match='row-level security policy for table "tenants"'):
        migrate(owned)

    following.write_text(
        "ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY;\nUPDATE tenants SET weight = 2;\n"
        "ALTER TABLE tenants FORCE ROW LEVEL SECURITY;\n",
        encoding="utf-8",
    )
    assert migrate(owned) == [following.stem]
    with plain(superuser) as conn:
        assert conn.execute("SELECT weight FROM tenants").fetchall() == [(2,)]


def test_a_login_that_may_not_take_a_role_is_told_what_to_do(dsn: str, postgres: str) -> None:
    with login(postgres) as program, pytest.raises(RoleRefused, match=f"run GRANT fe_front TO {program}"):
        verify(make_conninfo(dsn, user=program), FRONT)


def test_a_role_that_would_stand_above_the_wall_is_refused(dsn: str, postgres: str) -> None:
    with login(postgres, "SUPERUSER") as strong, pytest.raises(RoleRefused, match=f"ALTER ROLE {strong} NOSUPERUSER"):
        verify(dsn, strong)


@pytest.mark.parametrize(
    ("options", "roles", "leads"),
    [
        ("IN ROLE fe_front, fe_worker", (FRONT,), "may take fe_worker as well"),
        ("IN ROLE fe_front, fe_operator, fe_readonly", (FRONT,), "may take fe_operator, fe_readonly as well"),
        ("IN ROLE fe_front CREATEROLE", (FRONT,), "stands above row-level security"),
        ("IN ROLE fe_front BYPASSRLS", (FRONT,), "stands above row-level security"),
        ("SUPERUSER", (FRONT, WORKER), "stands above row-level security"),
    ],
)
def test_a_login_from_which_reset_role_leads_further_is_refused(
    dsn: str, postgres: str, options: str, roles: tuple[str, ...], leads: str
) -> None:
    with login(postgres, options) as program:
        ours = make_conninfo(dsn, user=program)
        with pytest.raises(RoleRefused, match=f"the login {program} {leads}, and RESET ROLE leads there"):
            verify(ours, *roles, no_others=True)
        verify(ours, *roles)


def test_the_owner_of_the_tables_does_not_run_the_service(owned: str, postgres: str) -> None:
    owner = str(conninfo_to_dict(owned)["user"])
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"GRANT fe_front TO {owner}".encode())

    with pytest.raises(RoleRefused, match=f"the login {owner} owns the tables"):
        verify(owned, FRONT, no_others=True)


def test_a_login_of_its_own_has_nothing_to_go_back_to(dsn: str, postgres: str) -> None:
    with login(postgres, "IN ROLE fe_front") as front, login(postgres, "IN ROLE fe_front, fe_worker") as both:
        verify(make_conninfo(dsn, user=front), FRONT, no_others=True)
        verify(make_conninfo(dsn, user=both), FRONT, WORKER, no_others=True)
        with plain(make_conninfo(dsn, user=front)) as conn:
            conn.execute("SET ROLE fe_front")
            conn.execute("RESET ROLE")
            for role in (WORKER, OPERATOR, READONLY):
                with pytest.raises(errors.InsufficientPrivilege):
                    conn.execute(f"SET ROLE {role}".encode())


def test_a_role_that_is_not_there_or_has_no_rights_yet_asks_for_the_migration(dsn: str, postgres: str) -> None:
    with pytest.raises(RoleRefused, match="the database has no role fe_nobody: run `fe migrate`"):
        verify(dsn, "fe_nobody")
    with login(postgres) as stranger, pytest.raises(MigrationError, match="run `fe migrate`"):
        verify(dsn, stranger)


def test_a_role_that_a_restored_dump_has_left_without_its_policies_is_refused(dsn: str, postgres: str) -> None:
    """A policy names several roles, and is lost to all of them where one was not there as the dump was restored."""
    with plain(dsn) as conn:
        lost = conn.execute(
            "SELECT format('DROP POLICY %I ON %s', p.polname, p.polrelid::regclass) FROM pg_policy AS p"
            " WHERE 'fe_portal'::regrole = ANY (p.polroles)"
        ).fetchall()
        for (statement,) in lost:
            conn.execute(statement.encode())

        with login(postgres, "IN ROLE fe_front") as front, login(postgres, "IN ROLE fe_worker") as worker:
            verify(make_conninfo(dsn, user=worker), WORKER)
            refused = (
                r"the role fe_front is shown no row of \d+ tables that it may read, first acknowledgements: .*restore"
            )
            with pytest.raises(RoleRefused, match=refused):
                verify(make_conninfo(dsn, user=front), FRONT)

            # It would serve these: existing rows are not found.
            made = "INSERT INTO tenants (name, issuer) VALUES ('Ozama', '{}') RETURNING tenant_id::text"
            tenant = conn.execute(made).fetchone()
            with plain(make_conninfo(dsn, user=front)) as asking:
                asking.execute("SET ROLE fe_front")
                asking.execute("SELECT set_config('fe.tenant', %s, false)", tenant)
                assert asking.execute("SELECT count(*) FROM tenants").fetchone() == (0,)


def roles_statement(prefix: str) -> bytes:
    """The statement that makes the roles, for roles that this server does not have yet."""
    (file,) = (migration for migration in migrations() if migration.number == 1)
    (statement,) = (text for text in file.statements if "'CREATE ROLE %I NOLOGIN'" in text)
    for role in INSIDE:
        statement = statement.replace(role, role.replace("fe_", f"{prefix}_"))
    return statement.encode()


@contextmanager
def removed_afterwards(server: str, prefix: str) -> Iterator[None]:
    try:
        yield
    finally:
        with psycopg.connect(server, autocommit=True) as conn:
            for role in INSIDE:
                conn.execute(f"DROP ROLE IF EXISTS {role.replace('fe_', f'{prefix}_')}".encode())


def test_an_owner_that_may_not_make_roles_is_told_who_can(postgres: str) -> None:
    with (
        login(postgres) as weak,
        database_of(postgres, weak) as dsn,
        plain(dsn) as conn,
        pytest.raises(errors.InsufficientPrivilege, match="the role weak_front is missing") as refused,
    ):
        conn.execute(roles_statement("weak"))

    assert "let an administrator of the server run CREATE ROLE" in str(refused.value.diag.message_hint)


def test_an_owner_that_may_make_roles_makes_them_and_finds_them_the_next_time(postgres: str) -> None:
    with (
        login(postgres, "CREATEROLE") as able,
        database_of(postgres, able) as dsn,
        removed_afterwards(postgres, "able"),
        plain(dsn) as conn,
    ):
        conn.execute(roles_statement("able"))
        conn.execute(roles_statement("able"))
        made = conn.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE 'able\\_%' AND NOT rolcanlogin").fetchall()

    assert {name for (name,) in made} == {role.replace("fe_", "able_") for role in INSIDE}


def test_two_databases_that_make_the_roles_at_once_do_not_disturb_each_other(postgres: str, dsn: str) -> None:
    trouble: list[psycopg.Error] = []

    def make(where: str, prefix: str, at_the_line: threading.Barrier) -> None:
        with plain(where) as conn, conn.transaction():
            at_the_line.wait()
            try:
                conn.execute(roles_statement(prefix))
            except psycopg.Error as error:
                trouble.append(error)

    for turn in range(5):
        prefix, at_the_line = f"race{turn}", threading.Barrier(2)
        with removed_afterwards(postgres, prefix):
            racers = [threading.Thread(target=make, args=(where, prefix, at_the_line)) for where in (dsn, postgres)]
            for racer in racers:
                racer.start()
            for racer in racers:
                racer.join()

    assert trouble == []


def may_make_large_objects(dsn: str) -> bool:
    with plain(dsn) as conn:
        found = conn.execute("SELECT has_function_privilege('fe_readonly', 'lo_create(oid)', 'EXECUTE')").fetchone()
    return found == (True,)


def test_the_logins_of_the_documentation_can_do_what_they_are_there_for_and_no_more(
    postgres: str, template: str
) -> None:
    page = (DOCS / "operations.md").read_text(encoding="utf-8")
    block, everybodys = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    prefix = f"doc_{secrets.token_hex(3)}"
    named = re.sub(r"\bfe_(owner|\w+_login)\b", rf"{prefix}_\1", block).replace("DATABASE fe ", f"DATABASE {prefix} ")
    # This server has the roles already, because it has a migrated database.
    statements = [
        text for text in named.split(";\n") if text.strip() and not text.lstrip().startswith("CREATE ROLE fe_")
    ]
    assert len(re.findall(r"^CREATE ROLE fe_\w+ NOLOGIN;$", block, re.M)) == len(ROLES)
    takes = {"http": FRONT, "actors": WORKER, "reception": RECEPTION, "portal": PORTAL, "share": SHARE, "cli": OPERATOR}
    takes |= {"reports": READONLY}
    with psycopg.connect(postgres, autocommit=True) as admin:
        try:
            for statement in statements:
                admin.execute(statement.encode())
            server = make_conninfo(postgres, dbname=prefix)
            migrate(make_conninfo(server, user=f"{prefix}_owner"), now=NOW)
            assert may_make_large_objects(server)
            with plain(server) as conn:
                conn.execute(everybodys.replace("DATABASE fe ", f"DATABASE {prefix} ").encode())
            assert not may_make_large_objects(server)
            for name, role in takes.items():
                dsn = make_conninfo(server, user=f"{prefix}_{name}_login")
                verify(dsn, role)
                for other in set(ROLES) - {role}:
                    with pytest.raises(RoleRefused):
                        verify(dsn, other)
            with plain(make_conninfo(server, user=f"{prefix}_reports_login")) as reports:
                assert reports.execute("SELECT count(*) FROM submissions").fetchone() == (0,)
        finally:
            admin.execute(f"DROP DATABASE IF EXISTS {prefix} WITH (FORCE)".encode())
            for name in ("owner", "portal_operators_login", *(f"{name}_login" for name in takes)):
                admin.execute(f"DROP ROLE IF EXISTS {prefix}_{name}".encode())
