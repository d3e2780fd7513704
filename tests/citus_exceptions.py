"""Tests that fail on Citus, each with its reason. `make citus` prints them; those of whole files are not run."""

from collections.abc import Mapping

_PLANS = "reads what plans of one Postgres touch; on a cluster a plan of the coordinator says nothing of the nodes"
_SHELLS = "looks at names of partitions and their own rows, which are shards on the nodes"
_ALONE = "makes a database on one server, without the extension"
_MORE = (
    "compares the whole catalogue with that of one Postgres, beside which Citus has tables, functions and logins more"
)
_NOT_THERE = "the buyers' page takes FE_DATABASE_ENGINE=postgres"
_CHANGES_HANDS = "a row that changes hands is refused by Citus before anybody else is asked"

#: By file, by the test without its parameters, or by the test with those that fail.
EXCEPTIONS: Mapping[str, str] = {
    "tests/store/test_plans.py": _PLANS,
    "tests/store/test_plans_of_numbers.py": _PLANS,
    "tests/store/test_plans_of_portal.py": _PLANS,
    "tests/store/test_plans_of_webhooks.py": _PLANS,
    "tests/store/test_plans_of_backlogs.py": _PLANS,
    **{
        f"tests/store/test_roles.py::test_{which}": _MORE
        for which in (
            "each_role_has_the_rights_of_the_matrix_and_no_others",
            "each_function_may_be_called_by_who_needs_it",
            "no_role_stands_above_the_wall",
            "nobody_else_may_do_anything",
        )
    },
    "tests/store/test_schema.py": _MORE,
    "tests/store/test_functions.py::test_every_function_of_the_schema_has_a_file": _MORE,
    "tests/store/test_catalogue.py::test_search_among_20000_customers_reads_the_rows_of_its_page": _PLANS,
    "tests/queue/test_queue_tables.py::test_floors_are_looked_for_from_those_before[by time]": "nodes look for floors "
    "from the beginning: the rows that died since are those of a few shards each",
    "tests/metering/test_closing.py::test_killed_in_the_middle_of_closing_nothing_is_charged_twice"
    "[while it is counted]": "the wait is that of a node, and the test looks at the sessions of the coordinator",
    "tests/store/test_outbox_bookings.py::test_signing_writes_to_no_index_of_submissions": _SHELLS,
    "tests/store/test_new_database.py::test_it_has_no_tenant_user_key_or_login": _MORE,
    "tests/store/test_citus_functions.py::test_whoever_adds_a_submission_or_names_a_tenant_does_it_by_the_functions_"
    "that_citus_replaces": "looks at the functions of the migrations, which are replaced there",
    **{
        f"tests/store/test_roles.py::test_{which}": _ALONE
        for which in (
            "nobody_makes_tables_of_a_session_s_own",
            "everything_works_in_the_database_of_an_owner_that_is_no_superuser",
            "the_owner_is_behind_the_wall_and_a_migration_that_would_pass_rows_over_fails",
            "the_owner_of_the_tables_does_not_run_the_service",
            "the_logins_of_the_documentation_can_do_what_they_are_there_for_and_no_more",
        )
    },
    "tests/store/test_accept_many.py::test_repeat_is_a_commit_that_waits_for_the_standby": "the commit is that of a "
    "node, and the test looks at the transaction of the coordinator",
    "tests/system/test_releases.py::test_migrated_first_both_releases_serve_and_finish_each_others_documents": _ALONE,
    "tests/system/test_releases.py::test_what_was_on_its_way_under_the_release_before_is_finished_by_this_one": _ALONE,
    "tests/cli/test_doctor.py::test_indexes_that_another_machine_has_sorted_are_found": _ALONE,
    "tests/cli/test_doctor.py::test_settings_of_the_owner_are_looked_over_without_secrets": _ALONE,
    "tests/cli/test_doctor.py::test_what_buyers_are_served_with_needs_no_secret": _NOT_THERE,
    "tests/store/test_roles.py::test_the_buyers_page_reads_the_receipt_that_its_transaction_names_"
    "and_no_other": _NOT_THERE,
    **{
        f"tests/store/test_outbox_claim.py::test_a_tenants_{which}": _PLANS
        for which in (
            "waiting_rows_cost_the_search_for_due_work_nothing",
            "million_due_rows_cost_the_search_for_due_tenants_one_step",
        )
    },
    **{
        f"tests/store/test_history.py::test_{which}": _SHELLS
        for which in (
            "submissions_of_all_months_are_found_listed_and_told_wherever_they_lie",
            "a_month_whose_rows_had_to_go_to_the_default_partition_gets_its_own_later",
            "an_id_lies_in_the_partition_of_the_month_it_was_made_in",
            "a_signed_document_is_compressed_in_its_row",
        )
    },
    "tests/cli/test_audit.py::test_an_operator_who_changes_a_sequence_or_a_delegation_is_noted_and_a_number_that_is_"
    "drawn_is_not": "sequences are spread, and a node cannot add to the trail (docs/scaling.md)",
    "tests/store/test_events.py::test_a_change_in_the_chain_shows_where_it_was_made"
    "[UPDATE submission_events SET tenant_id = 99 WHERE seq = 2-2]": _CHANGES_HANDS,
    **{
        "tests/store/test_tenant_scope.py::test_nothing_is_written_for_another_tenant"
        f"[{driver}-a row that changes hands]": _CHANGES_HANDS
        for driver in ("trio", "trio-asyncio")
    },
    "tests/store/test_tenant_scope.py::test_within_the_scope_a_cancelled_statement_ends_on_the_server_and_its_"
    "connection_is_kept[trio]": "the connection is closed, because a transaction was open on it",
}
