"""`fe outbox replay`: setting dead letters going again, looked at first if wanted, and at a pace."""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import click

from fe.accounts import approvals
from fe.accounts.execute_approval import execute_approval
from fe.cli.approval import ask_if_bulk
from fe.cli.failures import FAILED_AGAIN, STOPPED, Failure
from fe.cli.operator_options import NONE_MATCHES, act, audited, filters, find, required
from fe.cli.printing import json_option, moment, show, show_all
from fe.cli.session import settings_with_database, with_database
from fe.clock import system_clock
from fe.config import Settings
from fe.ecf.ids import new_id
from fe.identifiers import ReplayPlanId
from fe.operations import replay as replays
from fe.operations.replay import Preview, Run
from fe.store.postgres.db import Database
from fe.store.queue import replay_plans
from fe.store.queue.replay_plans import Progress

#: Rows a second, unless told otherwise.
_USUAL_PACE = 5.0
#: How many kinds of rows a dry run counts.
_COUNTED = 20


@click.command()
@filters
@click.option("--dry-run", is_flag=True, help="Say row by row what was sent, what would be, and what is in the way.")
@click.option("--ask", is_flag=True, help="With --dry-run: ask the authority what it knows of each. Needs FE_KEK.")
@click.option("--plan", "plan_id", metavar="ID", help="A name for it: the same name takes up what was interrupted.")
@click.option(
    "--canary/--no-canary", default=True, show_default=True, help="One row first; the rest when it has a verdict."
)
@click.option(
    "--per-second",
    type=click.FloatRange(0.01, 1000),
    default=_USUAL_PACE,
    show_default=True,
    help="At most so many.",
)
@click.option(
    "--stop-on-failure/--no-stop",
    default=True,
    show_default=True,
    help="Stop when a released row fails and does not get on within seconds.",
)
@click.option(
    "--go-on",
    is_flag=True,
    help="With a --plan that stopped: send one row first again, and those that failed last.",
)
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait for the last verdict.")
@audited
@json_option
def replay(
    dry_run: bool,
    ask: bool,
    plan_id: ReplayPlanId | None,
    canary: bool,
    per_second: float,
    stop_on_failure: bool,
    go_on: bool,
    wait: bool,
    by_whom: str,
    reason: str | None,
    as_json: bool,
    limit: int,
    **which: Any,
) -> None:
    """Replay dead letters. The authority is asked first about those it may have, and signed bytes are never remade.

    At least one filter says which. A plan that was interrupted is taken up by its name, with the rows, the reason and
    the pace it began with. One that stopped because rows fail goes on with --go-on.
    Ends with 0 when every row has come to a verdict (with --no-wait: was released), 6 when it stopped before all were
    released, 7 when all were and some failed again.
    """
    if dry_run:
        _look(settings_with_database(), limit, which, ask=ask, as_json=as_json)
        return
    if go_on and plan_id is None:
        raise click.UsageError("--go-on goes with the --plan that stopped")
    if ask:
        raise click.UsageError("--ask goes with --dry-run: a replay asks by itself where it has to")

    settings = settings_with_database()

    async def work(db: Database) -> tuple[ReplayPlanId, Run]:
        name = plan_id or ReplayPlanId(f"replay-{new_id(system_clock()).hex[:12]}")
        plan = await db.run(replay_plans.find, name)
        if plan is None:
            if go_on:
                raise Failure(f"there is no plan {name} yet: --go-on is for one that stopped")
            if plan_id is not None and reason is None:
                raise click.UsageError(f"there is no plan '{name}'; a new one needs --reason")
            required(which)
            found = await find(db, limit, **which)
            if not found:
                raise Failure(NONE_MATCHES)
            request = approvals.replay_request(
                approvals.frozen(found),
                name,
                canary=canary,
                per_second=Decimal(str(per_second)),
                stop_on_failure=stop_on_failure,
            )
            by = act(by_whom, reason)
            await ask_if_bulk(db, "replay", request, by)
            alone = await db.transact(approvals.ask, "replay", request, by, "cli", alone=True)
            await execute_approval(db, alone, system_clock)
            # When two do this at once, the second finds the first one's plan, and both run that.
            plan = await db.run(replay_plans.find, name)
            if plan is None:
                raise Failure("none of them is as it was: another operator was faster")
        elif go_on:  # one that has not stopped is taken up where it is
            resumed = await db.transact(replays.resume_plan, plan, act(by_whom, reason or plan.reason))
            if not resumed and plan.halted_at is not None:
                raise Failure(f"plan {name} is over, or stopped anew: see `fe outbox replay --plan {name}`")
        # Print the name first: after an interruption the operator needs it to go on.
        click.echo(f"plan {name}", err=True)
        printer = _ProgressPrinter(quiet=as_json)
        run = await replays.run_plan(db, plan, by_whom, clock=system_clock, wait=wait, tell=printer.show)
        return name, run

    name, run = with_database(settings, work)
    show(
        {
            "plan": name,
            "total": run.progress.total,
            "released": run.progress.released,
            "skipped": run.progress.skipped,
            "ended": run.progress.ended,
            "open": run.progress.open,
            "failedAgain": [str(subject) for subject in run.progress.failed],
            "stopped": run.stopped,
        },
        as_json=as_json,
    )
    if run.stopped is not None:
        raise Failure(
            f"{run.stopped}; when that is mended, go on with `fe outbox replay --plan {name} --go-on`",
            STOPPED,
        )
    if run.progress.failed:
        raise Failure(f"{len(run.progress.failed)} of the released rows failed again", FAILED_AGAIN)


class _ProgressPrinter:
    """Says on stderr how far a plan is, when that has changed."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._said: Progress | None = None

    def show(self, progress: Progress) -> None:
        if self._quiet or progress == self._said:
            return
        self._said = progress
        failed = f", {len(progress.failed)} failed again" if progress.failed else ""
        verdicts = f"{progress.ended} with a verdict{failed}"
        click.echo(f"{progress.released} of {progress.total} released, {verdicts}", err=True)


def _look(settings: Settings, limit: int, which: dict[str, Any], *, ask: bool, as_json: bool) -> None:
    totals: list[str] = []

    async def work(db: Database) -> list[dict[str, Any]]:
        found = await find(db, limit, **which)
        previews = [replays.preview(dead_letter, system_clock()) for dead_letter in found]
        totals.extend(_counted("would", (one.kind for one in previews)))
        totals.extend(_counted("in the way", (obstacle for one in previews for obstacle in one.obstacles)))
        shown = [_preview(one) for one in previews]
        if ask:
            # Here, because it brings the authority's client along, which nothing else in this module needs.
            from fe.cli.ask_authority import ask_about

            answers = await ask_about(db, found, settings, clock=system_clock)
            for preview, one in zip(previews, shown, strict=True):
                answer = answers[preview.dead_letter.subject]
                one["authority"] = {"known": answer.known, "says": answer.says}
            totals.extend(_counted("authority", (answer.says for answer in answers.values())))
        return shown

    shown = with_database(settings, work)
    if as_json or not shown:
        show_all(shown, as_json=as_json, none=NONE_MATCHES)
    else:
        for one in shown:
            _print_row(one)
    if shown:  # on stderr, so that a program reads rows alone
        click.echo(f"{len(shown)} in all, {len(shown) / _USUAL_PACE:.0f} s at {_USUAL_PACE:g} a second", err=True)
        for line in totals:
            click.echo(line, err=True)


def _counted(label: str, texts: Iterable[object]) -> list[str]:
    return [f"  {label:<11} {count:>6}: {text}" for text, count in Counter(texts).most_common(_COUNTED)]


def _preview(one: Preview) -> dict[str, Any]:
    dead_letter = one.dead_letter
    return {
        "taxLogId": str(dead_letter.subject),
        "eNCF": dead_letter.e_ncf,
        "tenant": dead_letter.tenant,
        "environment": dead_letter.environment,
        "stage": dead_letter.stage,
        "diedAt": moment(dead_letter.died_at),
        "error": dead_letter.error,
        "sent": str(one.was_sent),
        "would": str(one.would),
        "obstacles": [str(obstacle) for obstacle in one.obstacles],
    }


def _print_row(one: dict[str, Any]) -> None:
    number = f" {one['eNCF']}" if one["eNCF"] else ""
    click.echo(f"{one['taxLogId']}{number} of {one['tenant']} ({one['environment']})")
    lines = [
        ("gave up", f"at {one['diedAt']}, in stage {one['stage']}: {one['error']}"),
        ("sent", one["sent"]),
        ("would", one["would"]),
        *(("in the way", obstacle) for obstacle in one["obstacles"]),
    ]
    if "authority" in one:
        lines.append(("authority", one["authority"]["says"]))
    for label, text in lines:
        click.echo(f"  {label:<11} {text}")
