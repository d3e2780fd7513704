"""The documentation is true: its commands run, its paths exist, and its versions are installed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import pytest
from packaging.requirements import Requirement

from fe.cli import cli
from tests.cli.running import environment

ROOT = Path(__file__).resolve().parent.parent
_PROGRAMS = [*(ROOT / "clients").glob("*/README*.md"), *(ROOT / "connectors").glob("*/README*.md")]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *_PROGRAMS])
#: Made by machines, from the code that they speak of.
GENERATED = {
    ROOT / "docs" / "conformance.md",
    ROOT / "docs" / "security" / "asvs.md",
    ROOT / "docs" / "security" / "log-events.md",
}

_OPERATORS = "tests/cli/test_operators_page.py::test_every_command_of_the_page_does_what_it_is_there_for"
_PRODUCTION = (
    "tests/cli/test_operations_page.py::test_production_is_set_up_and_issues_its_first_receipts_as_the_page_says"
)

_RATES = "tests/cli/test_rates.py::test_the_rate_of_a_quarter_is_set_listed_and_taken_back"
_CATALOGUE = "tests/cli/integrator/test_catalogue.py::test_customer_is_written_listed_and_deleted"
_PAPER = "tests/cli/integrator/test_paper.py::test_paper_receipts_are_entered_listed_corrected_and_replaced"
_RECURRING = "tests/cli/integrator/test_recurring.py::test_recurring_receipt_is_written_listed_decided_and_deleted"
_OF_THE_CATALOGUE = ("list", "show", "put", "delete", "import")
_AGENT = "tests/agent/test_survives.py::test_agent_in_every_trouble_issues_each_sale_once"
_PADRON = "tests/cli/test_padron.py::test_register_is_loaded_and_asked"

_REPLAYS = "tests/cli/test_counterparty.py::test_what_gave_up_is_listed_and_set_going_again_once"

_DELEGATIONS = "tests/cli/test_tenants_and_users.py::test_for_whom_a_tenant_issues_is_recorded_listed_and_taken_back"

_LIFE = "tests/cli/test_json.py::test_what_commands_print_has_the_forms_and_the_fields_of_the_page"

_LEAVES = "tests/ops/test_runbooks.py::test_every_command_and_statement_of_a_runbook_does_its_work"

_SECOND = "tests/cli/test_approval.py::test_bulk_commands_wait_for_a_second_operator"
_PEOPLE = "tests/cli/test_people.py::test_a_person_is_created_listed_given_another_role_and_removed"

_SHUT_OUT = "tests/cli/test_people.py::test_a_person_is_shut_out_let_in_and_made_an_operator"

_OPERATOR_KEYS = "tests/cli/test_people.py::test_an_operator_s_key_is_shown_once_listed_and_revoked_with_a_reason"
_LINKS = "tests/cli/test_people.py::test_links_are_shown_once_and_only_hashes_are_kept"

_CERTIFICATION = "tests/certification/test_page.py::test_every_command_of_the_guide_does_what_it_is_there_for"
_STEPS = (
    *("status", "path", "done", "load", "plan", "check", "send", "resume", "evidence", "pdfs", "sign"),
    *("live", "addresses", "dossier"),
)

_TERMS = "tests/cli/test_billing.py::test_a_tenant_is_billed_shown_and_billed_no_more"

_MONTHS = "tests/cli/test_billing.py::test_a_month_is_counted_again_closed_once_and_its_failed_charge_tried_again"

_TERMINAL = "tests/cli/integrator/test_page.py::test_every_command_of_the_page_says_what_it_shows"

#: Commands that are executed by other tests, and by which.
ELSEWHERE = {
    **{f"fe certification {name}": _CERTIFICATION for name in _STEPS},
    **dict.fromkeys(("fe agent init", "fe agent run", "fe agent status"), _AGENT),
    "fe import": "tests/cli/integrator/test_import.py::test_import_validates_issues_and_keeps_the_copy",
    "fe expense": "tests/cli/integrator/test_month.py::test_expense_says_what_the_606_asks",
    "fe month": "tests/cli/integrator/test_month.py::test_month_writes_its_files",
    "fe print": "tests/cli/integrator/test_print.py::test_receipt_is_printed_to_a_file",
    **dict.fromkeys(
        ("fe void propose", "fe void request", "fe void list", "fe void doubts", "fe void settle", "fe void xml"),
        "tests/cli/test_void.py::test_numbers_are_proposed_requested_and_settled",
    ),
    **dict.fromkeys(
        ("fe contingency show", "fe contingency set", "fe contingency list"),
        "tests/cli/test_contingency.py::test_modes_are_set_shown_listed_and_refused",
    ),
    **dict.fromkeys(
        ("fe contingency agents", "fe contingency retire-agent"),
        "tests/cli/test_contingency.py::test_agents_are_listed_and_retired_once",
    ),
    **dict.fromkeys(
        ("fe archive key", "fe archive check", "fe archive detach", "fe archive restore"),
        "tests/cli/test_archive.py::test_archive_key_is_made_and_archive_is_checked",
    ),
    **dict.fromkeys(
        ("fe archive list", "fe archive pull", "fe archive export"),
        "tests/cli/integrator/test_archive.py::test_archive_is_listed_and_pulled_once_and_goes_on_where_it_broke",
    ),
    "fe key older-pepper": "tests/cli/test_keys.py::test_keys_under_an_older_pepper_are_listed_over_all_tenants",
    "make connector": "tests/connectors/test_woocommerce.py::test_plugin_compiles_and_its_texts_are_translated",
    "make drills": "tests/generators/test_openapi_generator.py::test_client_of_openapi_generator_has_every_operation",
    "make verifier": "tests/archive/test_verifier.py::test_program_runs_on_a_bare_python_in_both_languages",
    "make wheel": "tests/test_version.py::test_pip_installs_the_wheel_of_a_newer_commit_over_an_older_one",
    **dict.fromkeys(("fe login", "fe submit", "fe validate", "fe status", "fe list", "fe xml"), _TERMINAL),
    **dict.fromkeys(("fe verify", "fe qr"), _TERMINAL),
    "fe mcp": (
        "tests/cli/integrator/test_assistant.py::"
        "test_an_assistant_looks_up_explains_validates_and_submits_only_where_it_may"
    ),
    "fe key lockouts": "tests/cli/test_keys.py::test_a_locked_out_key_is_unlocked_and_unlocking_it_twice_is_harmless",
    "fe outbox halt": "tests/cli/test_outbox.py::test_a_plan_is_stopped_whoever_runs_it_and_goes_on_when_told",
    "fe logout": "tests/cli/integrator/test_profiles.py::test_a_key_is_forgotten",
    "pip wheel --no-deps .": "tests/test_wheel.py::wheel",
    "pip wheel --no-deps --wheel-dir build/clients clients/python": (
        "tests/clients/test_python.py::test_a_wheel_holds_the_modules_and_their_types"
    ),
    "make demo": "tests/system/test_demo.py::test_the_demonstration_shows_every_shape_of_receipt_and_ends_well",
    "fe demo": "tests/system/test_demo.py::test_the_demonstration_shows_every_shape_of_receipt_and_ends_well",
    "fe run": "tests/cli/test_run.py::test_every_role_ends_well_at_sigterm",
    "fe migrate": "tests/cli/test_failures.py::test_a_database_without_the_tables_is_code_1_and_says_what_to_do",
    "fe doctor": "tests/cli/test_doctor.py::test_a_deployment_in_order_is_told_so_and_nothing_is_changed",
    "fe tenant list": "tests/cli/test_tenants_and_users.py::test_a_tenant_is_created_and_listed",
    "fe tenant delegate": _DELEGATIONS,
    **dict.fromkeys(("fe tenant update", "fe tenant disable", "fe tenant enable"), _LIFE),
    **dict.fromkeys(("fe user list", "fe user remove", "fe user update"), _LIFE),
    **dict.fromkeys(("fe tenant show", "fe tenant changes", "fe certificate choice"), _LIFE),
    **dict.fromkeys(("fe certificate self-made", "fe certificate add"), _LIFE),
    "fe certificate retire": _LEAVES,
    "fe certificate remove": _LEAVES,
    "fe tenant create": _LIFE,
    "fe key create": _LIFE,
    "fe sequence put": _LIFE,
    "fe sequence delete": _LIFE,
    "fe tenant delegations": _DELEGATIONS,
    "fe tenant withdraw": _DELEGATIONS,
    "fe certificate list": _PRODUCTION,
    "fe sequence list": _PRODUCTION,
    "fe user create": "tests/cli/test_tenants_and_users.py::test_a_user_is_created_with_what_differs_on_its_receipts",
    "fe sequence assign": "tests/cli/test_sequences.py::test_a_named_sequence_is_set_assigned_and_deleted_by_its_name",
    "fe sequence set": "tests/cli/test_sequences.py::test_set_changes_only_what_is_named",
    **dict.fromkeys(
        ("fe sequence outlook", "fe sequence fates"),
        "tests/cli/test_sequences.py::test_it_is_told_how_long_sequences_last_and_what_became_of_their_numbers",
    ),
    "fe sequence probe": "tests/cli/test_sequence_probe.py::test_probe_with_apply_sets_the_next_number_and_resumes",
    "fe sequence resume": "tests/cli/test_sequence_probe.py::test_resume_of_a_sequence_that_is_not_paused_is_refused",
    "fe evidence missing": _OPERATORS,
    "fe usage": "tests/cli/test_usage.py::test_each_day_of_a_period_is_there",
    **dict.fromkeys(
        ("fe webhook reveal", "fe webhook recoveries"),
        "tests/cli/test_webhooks.py::test_a_secret_is_shown_again_and_recoveries_are_listed",
    ),
    **dict.fromkeys(("fe approval list", "fe approval show", "fe approval approve"), _SECOND),
    "fe approval limit": "tests/cli/test_approval.py::test_the_limit_binds_whoever_leaves_the_setting_out",
    "fe approval refuse": "tests/cli/test_approval.py::test_shutting_a_tenant_out_and_its_price_wait_too",
    **dict.fromkeys(("fe person create", "fe person list", "fe person role", "fe person remove"), _PEOPLE),
    **dict.fromkeys(("fe person disable", "fe person enable", "fe person operator"), _SHUT_OUT),
    **{f"fe operator-key {name}": _OPERATOR_KEYS for name in ("create", "list", "revoke")},
    **dict.fromkeys(("fe person invite", "fe person reset"), _LINKS),
    "fe key roll": "tests/cli/test_keys.py::test_a_rolled_key_works_on_until_its_end_beside_one_like_it",
    "fe key unlock": "tests/cli/test_keys.py::test_an_address_is_unlocked_too",
    "fe key revoke": "tests/cli/test_keys.py::test_a_revoked_key_is_listed_as_such_and_cannot_be_revoked_again",
    "fe key list": "tests/cli/test_keys.py::test_a_key_s_secret_is_shown_once_and_only_its_hash_is_kept",
    "fe reception open": "tests/receiving/test_process.py::test_reception_is_listed_changed_and_closed",
    "fe reception list": "tests/receiving/test_process.py::test_reception_is_listed_changed_and_closed",
    "fe reception close": "tests/receiving/test_process.py::test_reception_is_listed_changed_and_closed",
    "fe received": "tests/cli/test_counterparty.py::test_received_without_a_stored_key_asks_for_a_login",
    "python -m fe": "tests/cli/test_tenants_and_users.py::test_a_tenant_is_created_and_listed",
    "fe webhook delete": "tests/cli/test_webhooks.py::test_another_webhook_is_set_by_its_name_and_deleted",
    **dict.fromkeys(
        ("fe webhook show", "fe webhook set", "fe webhook disable", "fe webhook rotate"),
        "tests/cli/test_webhooks.py::test_a_webhook_is_set_shown_rotated_disabled_and_set_again",
    ),
    **dict.fromkeys(
        ("fe webhook test", "fe webhook deliveries", "fe webhook retry", "fe webhook recover"),
        "tests/cli/test_webhooks.py::test_a_test_is_sent_listed_and_made_again",
    ),
    **dict.fromkeys(
        ("fe webhook listen", "fe webhook trigger"),
        "tests/cli/test_webhooks.py::test_events_are_tried_on_one_machine",
    ),
    **dict.fromkeys(
        ("fe mail on", "fe mail off"),
        "tests/cli/test_mail.py::test_mail_is_switched_on_with_its_settings_and_off",
    ),
    "fe mail limit": "tests/cli/test_mail.py::test_a_limit_of_the_operator_holds_and_zero_forbids_mail",
    **dict.fromkeys(
        ("fe mail list", "fe mail replay"),
        "tests/cli/test_mail.py::test_a_mail_that_gave_up_is_listed_and_replayed_once",
    ),
    **dict.fromkeys(
        ("fe mail suppress", "fe mail suppressed", "fe mail allow"),
        "tests/cli/test_mail.py::test_an_address_is_suppressed_listed_and_allowed_again",
    ),
    **dict.fromkeys(("fe counterparty list", "fe counterparty replay"), _REPLAYS),
    "fe counterparty sending": "tests/cli/test_counterparty.py::test_sending_to_receivers_is_turned_on_and_off",
    **dict.fromkeys(
        ("fe received list", "fe received show", "fe received approve", "fe received reject"),
        "tests/system/test_counterparties.py::test_an_approval_goes_to_the_authority_and_moves_the_status",
    ),
    "fe authority simulate": "tests/cli/test_simulate.py::test_it_serves_until_sigterm_and_ends_well",
    "fe authority ping": "tests/cli/test_simulate.py::test_ping_finds_it",
    "fe vault rewrap": "tests/cli/test_rewrap.py::test_everything_is_moved_to_the_first_key_and_opens_as_before",
    "fe openapi": "tests/cli/test_openapi.py::test_the_description_is_printed_as_it_is_served",
    **{
        f"fe paper {name}": _PAPER
        for name in ("ranges", "add-range", "delete-range", "list", "show", "enter", "correct", "replace")
    },
    **{f"fe recurring {name}": _RECURRING for name in ("list", "show", "put", "issue", "skip", "delete")},
    **{f"fe {kind} {name}": _CATALOGUE for kind in ("customer", "product") for name in _OF_THE_CATALOGUE},
    **dict.fromkeys(("fe padron load", "fe padron show"), _PADRON),
    "fe rates set": _RATES,
    "fe rates list": _RATES,
    "fe rates unset": _RATES,
    "fe billing enable": _TERMS,
    "fe billing show": _TERMS,
    "fe billing price": _TERMS,
    "fe billing disable": _TERMS,
    "fe billing reconcile": _MONTHS,
    "fe billing close": _MONTHS,
    "fe billing retry": _MONTHS,
    "fe billing rebuild-usage": _MONTHS,
    "fe billing simulate-processor": "tests/cli/test_billing.py::test_a_simulated_processor_serves_until_sigterm",
    "fe outbox status": _OPERATORS,
    "fe outbox list": _OPERATORS,
    "fe outbox show": _OPERATORS,
    "fe outbox why": _OPERATORS,
    "fe outbox replay": _OPERATORS,
    "fe outbox discard": _OPERATORS,
    "fe outbox pause": _OPERATORS,
    "fe outbox resume": _OPERATORS,
    "fe outbox log": _OPERATORS,
    "fe outbox signed-by": _OPERATORS,
    "fe audit export": "tests/cli/test_audit.py::test_what_operators_do_is_a_chain_that_can_be_exported_and_proved",
    "fe audit verify": "tests/cli/test_audit.py::test_what_operators_do_is_a_chain_that_can_be_exported_and_proved",
    "fe evidence export": _OPERATORS,
    "fe evidence verify": _OPERATORS,
}
#: Commands that no test can run: they are what runs the tests, they need what a test does not have, or they take long.
BY_HAND = {
    "make test": "this is it",
    "make citus": "runs the tests on a cluster, where the extension is installed",
    "make debian": "runs the tests on another server; tests/test_servers.py starts one",
    "make check": "the first part of .ci/run",
    "make lock": "needs uv and a package index",
    "make image": "needs podman or Docker, and a registry with the base image",
    "make sbom": "needs a package index",
    "make advisories": "needs the public advisories",
    "make bench": "measures, for many minutes",
    "make faults": "the fault suite has a run of its own",
    "python -m bench": "measures; see make bench",
    "python -m clients.generate": "tests/clients compares what it makes",
    "python -m connectors.build": "tests/connectors/test_woocommerce.py builds by it and compares the texts",
    "python -m tests.http.conformance": "its own test compares the page",
    "python -m tests.asvs": "its own test compares the page",
    "python -m tests.plain_words": "a part of make check; tests/test_plain_words.py",
    "python -m tests.lifecycle.page": "its own test compares the page",
    "python -m tests.store.catalogue": "tests/store/test_schema.py compares the page",
    "python -m tests.http.storm": "the long form of tests/http/test_schemathesis.py",
    "python -m ops.grafana.pictures": "tests/ops/test_panels.py runs it, where there is a Prometheus",
    "python -m tests.ops.scene": "plays for minutes, and then runs the one before",
    ".ci/run": "runs the tests",
    "pip install": "what setting the environment up does",
}


def _code(page: Path) -> list[str]:
    """The commands a page shows, in blocks and within the text, each as one line."""
    text = page.read_text(encoding="utf-8")
    shown: list[str] = []
    for block in re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL):
        lines = block.replace("\\\n", " ").splitlines()
        shown += [line.removeprefix("$ ").partition(" #")[0].strip() for line in lines]
    plain = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    shown += re.findall(r"`([^`]+)`", plain)
    return [line.removeprefix(".venv/bin/") for line in shown]


def _command(line: str) -> str | None:
    """The command of a line: `fe` with its subcommands, a target of make, or a module; None for anything else."""
    words = line.split()
    if line.startswith("fe ") and len(words) > 1 and not words[1].startswith("-"):
        command: click.Command | None = cli
        said = ["fe"]
        for word in words[1:]:
            if not isinstance(command, click.Group):
                break
            command = command.get_command(click.Context(command), word)
            assert command is not None, f"there is no command `{' '.join([*said, word])}`"
            said.append(word)
        return " ".join(said)
    if re.match(r"make [a-z]", line):
        return " ".join(words[:2])
    return line if line.startswith((".ci/", "python -m ", "pip ")) else None


def _documented() -> dict[str, str]:
    """Every command that a page shows, and one page that does."""
    found = {}
    for page in PAGES:
        for line in _code(page):
            if page not in GENERATED and (command := _command(line)) is not None:
                found[command] = page.name
    return found


def _set_up() -> str:
    """The block of README.md that sets a tenant up."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(r"```sh\n(export FE_DEVELOPMENT=1.*?)```", text, re.DOTALL)
    assert match is not None
    return match[1]


def test_setting_up_a_tenant_works_as_the_readme_says() -> None:
    # Not pytest's folder, where the server, as another user, is shut out once a second pytest starts.
    with TemporaryDirectory(prefix="fe-tests-") as folder:
        _set_up_in(Path(folder))


def _set_up_in(folder: Path) -> None:
    folder.chmod(0o755)
    (folder / ".venv").symlink_to(Path(sys.prefix))
    ended = subprocess.run(
        ["sh", "-eu", "-c", _set_up()],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        # As root the embedded server needs a folder that others may enter; the secrets of these tests stay out.
        env={name: value for name, value in environment().items() if not name.startswith("FE_")},
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"^apiSecret +[0-9a-f]{64}$", ended.stdout, re.MULTILINE)
    assert (folder / ".fe" / "postgres").is_dir()


def test_every_command_that_is_documented_is_executed_by_a_test() -> None:
    executed = {_command(line.strip()) for line in _set_up().splitlines()}

    known = executed | ELSEWHERE.keys() | {"make help", "make setup", "fe settings"}
    unproved = {
        command: page
        for command, page in _documented().items()
        if command not in known
        and not any(command.startswith(by_hand) for by_hand in BY_HAND)
        # A group by itself speaks of all its commands.
        and not any(one is not None and one.startswith(f"{command} ") for one in known)
    }

    assert unproved == {}


@pytest.mark.parametrize("test", sorted(set(ELSEWHERE.values())))
def test_the_tests_that_execute_them_are_there(test: str) -> None:
    file, _, name = test.partition("::")

    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


def test_make_help_lists_every_target_that_is_documented() -> None:
    listed = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    targets = {command for command in _documented() if command.startswith("make ")}
    assert {target for target in targets if f"  {target} " not in listed} == set()


def test_the_page_of_settings_is_current() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "fe", "settings", "--markdown"], capture_output=True, text=True, check=True
    ).stdout

    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == shown, (
        "run: fe settings --markdown > docs/configuration.md"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\((?!https?:)([^)#][^)]*)\)", text)]
    paths = re.findall(r"`((?:fe|sql|tests|bench|docs|requirements)/[\w./-]+)`", text) if page not in GENERATED else []

    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [path for path in paths if not (ROOT / path).exists()]
    assert missing == []


def _locked(name: str) -> dict[str, str]:
    """The versions that a lock gives to this interpreter."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    entries = [Requirement(line) for line in re.findall(r"^([A-Za-z0-9][^\\\n]+)", text, re.MULTILINE)]
    return {
        entry.name.lower(): str(entry.specifier).removeprefix("==")
        for entry in entries
        if entry.marker is None or entry.marker.evaluate()
    }


def _direct() -> dict[str, list[Requirement]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return {
        "run.lock": [Requirement(line) for line in project["dependencies"]],
        "dev.lock": [
            Requirement(line)
            for line in (
                *extras["embedded"],
                *extras["mcp"],
                *extras["pkcs11"],
                *extras["s3"],
                *extras["tracing"],
                *extras["dev"],
            )
            if not line.startswith("fe")
        ],
    }


@pytest.mark.parametrize("lock", ["run.lock", "dev.lock"])
def test_the_locks_hold_what_the_project_asks_for(lock: str) -> None:
    locked = _locked(lock)
    asked = _direct()["run.lock"] + (_direct()["dev.lock"] if lock == "dev.lock" else [])

    wrong = [str(one) for one in asked if not one.specifier.contains(locked.get(one.name.lower(), "0"))]
    assert wrong == [], "run: make lock"


@pytest.mark.parametrize("lock", ["run.lock", "dev.lock", "build.lock"])
def test_the_locks_have_a_hash_for_everything_and_name_no_index(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[A-Za-z0-9])", text.strip())

    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"^--|://", text, re.MULTILINE) == []


def test_every_direct_dependency_is_accounted_for_with_its_version() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    accounted = dict(re.findall(r"^\| ([\w.-]+) \| ([\d.!]+) \|", page, re.MULTILINE))
    locked = _locked("dev.lock") | _locked("build.lock")

    asked = {one.name.lower() for group in _direct().values() for one in group} | {"setuptools"}
    of_npm = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text(encoding="utf-8"))
    assert accounted == {name: locked[name] for name in asked} | of_npm["devDependencies"]


def test_every_module_the_architecture_page_speaks_of_has_its_place_in_the_tree() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = {path.name for path in (ROOT / "fe").iterdir() if (path / "__init__.py").exists()}

    assert {name for name in packages if f"`fe/{name}`" not in page} == set()


def test_ci_runs_the_check_the_tests_and_those_on_the_oldest_server() -> None:
    script = ROOT / ".ci" / "run"

    assert os.access(script, os.X_OK)
    called = re.findall(r"^(?:make|tried) \w+", script.read_text(), re.MULTILINE)
    assert called == ["make check", "tried test", "tried debian"]
