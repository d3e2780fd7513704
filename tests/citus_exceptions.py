"""Tests that fail on Citus, each with its reason. `make citus` prints them; those of whole files are not run."""

from collections.abc import Mapping

_PLANS = "reads what plans of one Postgres touch; on a cluster a plan of the coordinator says nothing of the nodes"
_SHELLS = "looks at names of partitions and their own rows, which are shards on the nodes"
_ROLES = "compares the catalogue with that of one Postgres, or makes a database without the extension"

#: By file, or by the test without its parameters.
EXCEPTIONS: Mapping[str, str] = {
    "tests/store/test_plans.py": _PLANS,
    "tests/store/test_plans_of_numbers.py": _PLANS,
    "tests/store/test_plans_of_portal.py": _PLANS,
    "tests/store/test_plans_of_webhooks.py": _PLANS,
    "tests/store/test_roles.py": _ROLES,
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
        )
    },
    "tests/store/test_numbers.py::test_what_was_signed_before_holds_its_number_and_ends_are_brought_to_the_day": (
        "migrates a database in which the extension was not made"
    ),
    "tests/cli/test_audit.py::test_an_operator_who_changes_a_sequence_or_a_delegation_is_noted_and_a_number_that_is_"
    "drawn_is_not": "sequences are spread, and a node cannot add to the trail (docs/decisions/citus-commits.md)",
    "tests/store/test_tenant_scope.py::test_nothing_is_written_for_another_tenant": (
        "a row that changes hands is refused by Citus before row-level security is asked; the other cases pass"
    ),
    "tests/store/test_tenant_scope.py::test_within_the_scope_a_cancelled_statement_ends_on_the_server_"
    "and_its_connection_is_kept": "the connection is closed, because a transaction was open on it",
}
