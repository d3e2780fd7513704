"""Tests that fail on Citus, each with its reason. `make citus` prints them; those of whole files are not run."""

from collections.abc import Mapping

_PLANS = "reads what plans of one Postgres touch; on a cluster a plan of the coordinator says nothing of the nodes"
_LISTED = "the list of dead letters joins spread tables with the coordinator's, row by row: not written for Citus yet"
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
        f"tests/store/test_dead_letters.py::test_{which}": _LISTED
        for which in (
            "a_dead_letter_is_listed_with_what_an_operator_wants_to_see",
            "what_is_sent_of_a_summarised_invoice_is_its_summary",
            "each_filter_takes_its_own",
            "the_longest_dead_come_first_and_only_as_many_as_asked_for",
            "what_a_replay_would_run_into_is_listed_too",
            "before_signing_the_tenant_s_certificates_in_use_are_looked_at",
            "a_replay_goes_on_where_it_gave_up_with_attempts_afresh",
            "a_discarded_number_is_free_only_if_certainly_nothing_went_out",
            "an_act_without_a_reason_is_refused_whole",
            "what_a_submission_waits_for_is_found_by_its_id_alone",
        )
    },
    **{
        f"tests/store/test_history.py::test_{which}": _SHELLS
        for which in (
            "submissions_of_all_months_are_found_listed_and_told_wherever_they_lie",
            "a_month_whose_rows_had_to_go_to_the_default_partition_gets_its_own_later",
        )
    },
    "tests/store/test_history.py::test_making_a_month_twice_and_at_once_is_harmless": (
        "who makes a month while another does may wait longer than for a lock, and has to ask again"
    ),
    "tests/store/test_numbers.py::test_what_was_signed_before_holds_its_number_and_ends_are_brought_to_the_day": (
        "migrates a database in which the extension was not made"
    ),
    "tests/cli/test_audit.py::test_an_operator_who_changes_a_sequence_or_a_delegation_is_noted_and_a_number_that_is_"
    "drawn_is_not": "sequences are spread, and a node cannot add to the trail (docs/decisions/citus-commits.md)",
    "tests/cli/test_sequences.py::test_it_is_told_how_long_sequences_last_and_what_became_of_their_numbers": (
        "how long a sequence lasts is asked of a function that looks for rows, on a node: not written for Citus yet"
    ),
    "tests/store/test_tenant_scope.py::test_nothing_is_written_for_another_tenant": (
        "a row that changes hands is refused by Citus before row-level security is asked; the other cases pass"
    ),
    "tests/store/test_tenant_scope.py::test_within_the_scope_a_cancelled_statement_ends_on_the_server_"
    "and_its_connection_is_kept": "the connection is closed, because a transaction was open on it",
}
