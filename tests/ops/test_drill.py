"""The alert drill: what each fault of the fault suite does to the metrics drives its alerts to firing, and back.

By promtool, every two minutes, with the rules as they are.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from fe.monitoring.metrics import Metrics
from tests.ops.material import RULES, alerts, exported
from tests.ops.test_promtool import PROMTOOL, needs_promtool

#: Minutes: all is well, then it is broken, then it is well again, for as long as windows need to forget. Each costs
#: 4 ms of CPU. Together they are even: the rules are evaluated every two minutes.
WELL, BROKEN, AFTER = 15, 40, 31


@dataclass(frozen=True)
class Fault:
    """A fault, its series (healthy and broken, as promtool writes values), and the alerts that must fire."""

    what: str
    series: dict[str, tuple[str, str]]
    fires: frozenset[str]
    #: Time until the alerts end: burn rates look back six hours.
    after: int = AFTER
    broken: int = BROKEN


def gauge(name: str, well: float, broken: float) -> dict[str, tuple[str, str]]:
    return {name: (f"{well}x{{}}", f"{broken}x{{}}")}


def counter(name: str, well: float, broken: float) -> dict[str, tuple[str, str]]:
    """A counter that grows by `well` or `broken` per minute."""
    return {name: (f"+{well}", f"+{broken}")}


A = 'instance="a", job="fe"'
E = 'environment="ecf"'
SERVED = f'fe_http_requests_total{{{A}, route="POST /invoices", method="POST", status='
VERDICT = f"fe_submission_verdict_seconds_bucket{{{A}, {E}, le="
CALL = f'fe_authority_requests_total{{{A}, {E}, operation="reception", host="ecf", outcome='
LAG = f"fe_loop_lag_seconds_bucket{{{A}, le="
WAIT = f"fe_database_pool_wait_seconds_bucket{{{A}, le="
DISK = 'instance="db", job="fe-database", mountpoint="/", fstype="ext4"'
LOGINS = f'fe_login_total{{{A}, outcome="refused"}}'

#: Series of a healthy service: without them, the alerts on missing series fire.
ALWAYS = {f"up{{{A}}}": "1", f'fe_actor_silent_seconds{{{A}, actor="send"}}': "1"}

FAULTS = (
    Fault(
        "the authority is killed, in production",
        gauge(f'fe_authority_circuit_open{{{A}, {E}, host="ecf"}}', 0, 1),
        frozenset({"FeAuthorityAway", "FeAuthorityDown"}),
    ),
    Fault(
        "the authority fails a third of the time",
        counter(f'{CALL}"ok"}}', 60, 40) | counter(f'{CALL}"unknown"}}', 0, 20),
        frozenset({"FeAuthorityErrors"}),
    ),
    Fault(
        "answers are lost after their effect",
        gauge(f"fe_outcomes_unknown_oldest_seconds{{{A}, {E}}}", 0, 1000),
        frozenset({"FeUnknownOutcomes"}),
    ),
    Fault(
        "the authority receives, and judges nothing",
        gauge(f"fe_verdicts_awaited_oldest_seconds{{{A}, {E}}}", 0, 4000),
        frozenset({"FeVerdictsAwaited"}),
    ),
    Fault(
        "two numbers for which the authority is always away",
        gauge(f'fe_dead_letters{{{A}, {E}, stage="send"}}', 0, 2),
        frozenset({"FeDeadLetters"}),
    ),
    Fault(
        "documents die by the dozen",
        {f'fe_dead_letters{{{A}, {E}, stage="sign"}}': ("0x{}", "0+3x{}")},
        frozenset({"FeDeadLetters", "FeDeadLettersGrow"}),
    ),
    Fault(
        "all processes with actors are killed",
        {f'fe_actor_silent_seconds{{{A}, actor="send"}}': ("1x{}", "stale _x{}")},
        frozenset({"FeNobodyWorks"}),
    ),
    Fault("a process is killed", gauge(f"up{{{A}}}", 1, 0), frozenset({"FeTargetMissing"})),
    Fault(
        "a process is killed again and again",
        {f"process_start_time_seconds{{{A}}}": ("1x{}", "100+100x{}")},
        frozenset({"FeProcessRestarts"}),
    ),
    Fault(
        "a process is frozen, and what it held is taken from it",
        counter(f'fe_rows_rescued_total{{{A}, stage="send"}}', 0, 3)
        | counter(f'fe_leases_lost_total{{{A}, stage="send"}}', 0, 3),
        frozenset({"FeRowsRescued", "FeLeasesLost"}),
    ),
    Fault(
        "an actor hangs",
        gauge(f'fe_actor_silent_seconds{{{A}, actor="send"}}', 1, 90)
        | gauge(f'fe_in_hand_oldest_seconds{{{A}, stage="send"}}', 1, 200),
        frozenset({"FeActorSilent", "FeInHandTooLong"}),
    ),
    Fault(
        "an actor crashes",
        counter(f'fe_actor_restarts_total{{{A}, actor="send"}}', 0, 2),
        frozenset({"FeActorRestarts"}),
    ),
    Fault(
        "everything that a stage tries fails",
        gauge(f'fe_stage_in_trouble{{{A}, stage="sign"}}', 0, 1),
        frozenset({"FeStageInTrouble"}),
    ),
    Fault(
        "due work is not taken",
        gauge(f'fe_outbox_oldest_late_seconds{{{A}, {E}, stage="send"}}', 0, 400),
        frozenset({"FeOutboxLate", "FeOutboxVeryLate"}),
    ),
    Fault(
        "something stays paused", gauge(f"fe_pauses_oldest_seconds{{{A}}}", 0, 20000), frozenset({"FePauseForgotten"})
    ),
    Fault(
        "the database is killed",
        gauge(f"fe_database_reachable{{{A}}}", 1, 0),
        frozenset({"FeDatabaseAway", "FeDatabaseUnreachable"}),
    ),
    Fault(
        "the database takes no writes",
        gauge(f"fe_database_writable{{{A}}}", 1, 0),
        frozenset({"FeDatabaseReadOnly"}),
    ),
    Fault(
        "the database's disk fills up",
        gauge(f"node_filesystem_avail_bytes{{{DISK}}}", 500, 40)
        | {f"node_filesystem_size_bytes{{{DISK}}}": ("1000x{}", "1000x{}")},
        frozenset({"FeDatabaseDiskFills", "FeDatabaseDiskFull"}),
        after=400,
        broken=90,
    ),
    Fault(
        "the database is used up and blocked",
        gauge(f"fe_database_connections{{{A}}}", 10, 95)
        | {f"fe_database_connections_most{{{A}}}": ("100x{}", "100x{}")}
        | gauge(f"fe_database_oldest_transaction_seconds{{{A}}}", 0, 90)
        | gauge(f"fe_database_lock_waits{{{A}}}", 0, 20)
        | gauge(f"fe_database_transaction_ids_used{{{A}}}", 0.1, 0.6)
        | gauge(f"fe_database_archive_fails{{{A}}}", 0, 1)
        | gauge(f"fe_database_replica_lag_seconds{{{A}}}", 0, 90)
        | gauge(f'fe_table_rows{{{A}, table="outbox", kind="dead"}}', 0, 300000)
        | {f'fe_table_rows{{{A}, table="outbox", kind="live"}}': ("10x{}", "10x{}")},
        frozenset(
            {
                "FeDatabaseConnections",
                "FeOldTransaction",
                "FeLockWaits",
                "FeTransactionIdsRunOut",
                "FeArchiveFails",
                "FeReplicaBehind",
                "FeTableBloat",
            }
        ),
        after=45,
        broken=90,
    ),
    Fault(
        "notifications are not heard", gauge(f"fe_notifications_heard{{{A}}}", 1, 0), frozenset({"FeWakeupsUnheard"})
    ),
    Fault(
        "a quarter whose excise rate is not known",
        counter(f"fe_excise_rates_assumed_total{{{A}}}", 0, 3),
        frozenset({"FeExciseRateAssumed"}),
        after=400,
        broken=90,
    ),
    Fault(
        "a failover to a standby that lacked rows",
        counter(f"fe_numbers_held_elsewhere_total{{{A}, {E}}}", 0, 2),
        frozenset({"FeNumbersHeldElsewhere"}),
    ),
    Fault(
        "one of two processes signs what is rejected, of many tenants",
        counter(f'fe_rejections_total{{{A}, {E}, code="145"}}', 0, 40)
        | gauge(f'fe_rejected_tenants{{{A}, {E}, code="145"}}', 0, 20)
        | counter(f'fe_rejections_signed_by_total{{{A}, {E}, process="node7:1:aa"}}', 0, 40)
        | counter(f'fe_steps_total{{{A}, stage="sign", outcome="signed"}}', 100, 100)
        | counter('fe_steps_total{instance="b", job="fe", stage="sign", outcome="signed"}', 100, 100),
        frozenset({"FeRejectionReasonRises", "FeRejectionsOfOneProcess"}),
    ),
    Fault("the clock jumps", gauge(f"fe_clock_ahead_seconds{{{A}}}", 0, 5), frozenset({"FeClockSkew"})),
    Fault(
        "a process has too much to do",
        counter(f"fe_http_shed_total{{{A}}}", 0, 60)
        | counter(f'{LAG}"0.1"}}', 60, 0)
        | counter(f'{LAG}"0.5"}}', 60, 60)
        | counter(f'{LAG}"+Inf"}}', 60, 60)
        | counter(f'{WAIT}"0.5"}}', 60, 0)
        | counter(f'{WAIT}"2.5"}}', 60, 60)
        | counter(f'{WAIT}"+Inf"}}', 60, 60)
        | gauge(f"process_open_fds{{{A}}}", 100, 900)
        | {f"process_max_fds{{{A}}}": ("1000x{}", "1000x{}")},
        frozenset({"FeShedding", "FeLoopLag", "FeDatabasePoolWait", "FeFileDescriptors"}),
    ),
    Fault(
        "requests fail",
        counter(f'{SERVED}"202"}}', 60, 40) | counter(f'{SERVED}"500"}}', 0, 20),
        frozenset({"FeAvailabilityBurnsFast", "FeAvailabilityBurns", "FeAvailabilityBurnsSlowly"}),
        after=400,
        broken=150,
    ),
    Fault(
        "verdicts take minutes",
        counter(f'{VERDICT}"60.0"}}', 60, 0)
        | counter(f"fe_submission_verdict_seconds_count{{{A}, {E}}}", 60, 60)
        | {f'fe_authority_circuit_open{{{A}, {E}, host="ecf"}}': ("0x{}", "0x{}")},
        frozenset({"FeVerdictsLateFast", "FeVerdictsLate", "FeVerdictsLateSlowly"}),
        after=400,
        broken=150,
    ),
    Fault(
        "certificates and sequences come to their end",
        gauge(f'fe_certificates{{{A}, expires="expired", at_work_in="production"}}', 0, 1)
        | gauge(f'fe_certificates{{{A}, expires="within_7_days", at_work_in="production"}}', 0, 1)
        | gauge(f'fe_certificates{{{A}, expires="within_30_days", at_work_in="production"}}', 0, 1)
        | gauge(f'fe_sequences{{{A}, {E}, left="none"}}', 0, 1)
        | gauge(f'fe_sequences{{{A}, {E}, left="under_3_days"}}', 0, 1)
        | gauge(f'fe_sequences_expiring{{{A}, {E}, expires="expired"}}', 0, 1),
        frozenset(
            {
                "FeCertificateExpired",
                "FeCertificateExpiresThisWeek",
                "FeCertificateExpires",
                "FeSequenceUsedUp",
                "FeSequenceRunsOut",
                "FeSequenceExpires",
            }
        ),
        after=45,
        broken=90,
    ),
    Fault(
        "somebody tries keys",
        counter(f'fe_login_lockouts_total{{{A}, bucket="key"}}', 0, 3)
        | counter(f'fe_login_lockouts_total{{{A}, bucket="address"}}', 0, 1),
        frozenset({"FeLoginLockouts", "FeAddressLockouts"}),
    ),
    Fault(
        "webhooks fail, and are late",
        counter(f'fe_webhook_attempts_total{{{A}, outcome="delivered", result="confirmed"}}', 60, 0)
        | counter(f'fe_webhook_attempts_total{{{A}, outcome="not confirmed", result="connect"}}', 0, 60)
        | gauge(f"fe_webhook_oldest_late_seconds{{{A}}}", 0, 700),
        frozenset({"FeWebhooksFail", "FeWebhooksLate"}),
    ),
    Fault(
        "receipts are held back from their receivers",
        gauge(f'fe_counterparty_oldest_seconds{{{A}, stage="address"}}', 0, 400000),
        frozenset({"FeCounterpartyWaits"}),
    ),
    Fault(
        "the mail relay takes nothing",
        counter(f'fe_mails_total{{{A}, outcome="failed_try"}}', 0, 2)
        | gauge(f"fe_mail_oldest_late_seconds{{{A}}}", 0, 2000)
        | gauge(f"fe_mails_given_up{{{A}}}", 0, 1),
        frozenset({"FeMailLate", "FeMailFails", "FeMailGaveUp"}),
        after=70,  # it looks an hour back
    ),
    Fault(
        "documents are not sent for more than a day",
        gauge(f'fe_terms_running{{{A}, environment="ecf", term="sending", state="soon"}}', 0, 4),
        frozenset({"FeTermEndsSoon"}),
    ),
    Fault(
        "documents are not sent for more than sixty hours",
        gauge(f'fe_terms_running{{{A}, environment="ecf", term="sending", state="urgent"}}', 0, 4),
        frozenset({"FeTermNearlyOver"}),
    ),
    Fault(
        "a voiding is left in doubt",
        gauge(f"fe_voidings_in_doubt{{{A}}}", 0, 1),
        frozenset({"FeVoidingInDoubt"}),
    ),
    Fault(
        "the archive loses an object, waits for its store, and is not checked",
        gauge(f"fe_archive_faults{{{A}}}", 0, 1)
        | gauge(f"fe_archive_unstored_seconds{{{A}}}", 60, 30000)
        | gauge(f"fe_archive_unchecked_seconds{{{A}}}", 60, 200000),
        frozenset({"FeArchiveDiffers", "FeArchiveStuck", "FeArchiveUnchecked"}),
    ),
    Fault(
        "nobody counts the months again",
        gauge(f"fe_billing_reconciled_seconds{{{A}}}", 100, 20000),
        frozenset({"FeBillingLag"}),
    ),
    Fault(
        "a receiver stays away for three days",
        gauge(f'fe_counterparty_given_up{{{A}, kind="receipt"}}', 0, 1),
        frozenset({"FeCounterpartyGaveUp"}),
    ),
)

#: Driven elsewhere: what is told from a week (credentials_week.yml, pipeline_week.yml), and billing in billing.yml.
ELSEWHERE = {"FeDeadMansSwitch", "FeCredentialStuffing", "FeVerdictsRefused"}


def of_an_idle_process(minutes: int) -> dict[str, str]:
    """Series of an idle process, because a front, the portal and reception also run during every fault."""
    told = {sample.name: sample.value for family in Metrics().registry.collect() for sample in family.samples}
    gauges = {name for name, labels in exported().items() if not labels and name.startswith("fe_")} & told.keys()
    counted = {name for name in gauges if name.endswith(("_total", "_count", "_sum"))}
    return {
        f'{name}{{instance="idle", job="fe"}}': " ".join([f"{told[name]:g}".replace("nan", "NaN")] * minutes)
        for name in sorted(gauges - counted - {"fe_notifications_heard"})  # each process finds that out itself
    }


def values(well: str, broken: str, minutes: int, after: int) -> str:
    if well.startswith("+"):
        once, then = float(well), float(broken)
        first, second = once * WELL, once * WELL + then * minutes
        return f"0{well}x{WELL - 1} {first:g}{broken}x{minutes - 1} {second:g}{well}x{after}"
    return " ".join([well.format(WELL - 1), broken.format(minutes - 1), well.format(after)])


def case(fault: Fault) -> dict[str, object]:
    series = {
        name: f"{value}x{WELL + fault.broken + fault.after}"
        for name, value in ALWAYS.items()
        if name not in fault.series
    }
    series |= {name: values(*both, fault.broken, fault.after) for name, both in fault.series.items()}
    series |= of_an_idle_process(WELL + fault.broken + fault.after)

    def look(at: int, expected: set[str]) -> dict[str, object]:
        samples = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(expected)]
        query = 'group by (alertname) (ALERTS{alertstate="firing", severity!="heartbeat"})'
        return {"expr": query, "eval_time": f"{at}m", "exp_samples": samples}

    return {
        "name": fault.what,
        "interval": "1m",
        "input_series": [{"series": name, "values": told} for name, told in series.items()],
        "promql_expr_test": [
            look(WELL - 1, set()),
            look(WELL + fault.broken - 1, set(fault.fires)),
            look(WELL + fault.broken + fault.after, set()),
        ],
    }


@pytest.mark.drill
@needs_promtool
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_drives_its_alerts_to_firing_and_back(fault: Fault, tmp_path: Path) -> None:
    file = tmp_path / "drill.yml"
    told = {"rule_files": list(map(str, RULES)), "evaluation_interval": "2m", "tests": [case(fault)]}
    file.write_text(yaml.safe_dump(told), encoding="utf-8")
    assert PROMTOOL is not None
    ended = subprocess.run([PROMTOOL, "test", "rules", str(file)], capture_output=True, text=True, timeout=300)

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_alert_has_its_fault() -> None:
    driven = set().union(*(fault.fires for fault in FAULTS))
    billing = {alert["alert"] for alert in alerts() if alert["alert"].startswith("FeBilling")}

    assert driven - billing == {alert["alert"] for alert in alerts()} - ELSEWHERE - billing
