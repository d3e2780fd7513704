"""`fe doctor`: does all that the service needs hold here?"""

from dataclasses import asdict

import click
import trio

from fe.cli.failures import FAILED, OK
from fe.cli.printing import json_option, show_all
from fe.cli.session import settings_with_database
from fe.clock import clock_ahead
from fe.config import ConfigError
from fe.ecf.catalogue import Environment
from fe.operations.doctor import Finding, Role, State, examine, healthy
from fe.operations.doctor.alerting import check_receivers
from fe.store.postgres.embedded import NoEmbeddedServer

_MARKS = {State.OK: "ok", State.WARNING: "warn", State.FAILED: "FAIL", State.SKIPPED: "skip"}


@click.command()
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    help="Role to check: as in `fe run --role`, the command line, or the owner who migrates. "
    "Default: from the database login.",
)
@click.option(
    "--environment",
    type=click.Choice([environment.value for environment in Environment]),
    default=Environment.ECF.value,
    show_default=True,
    help="Environment in which the authority is asked for a seed.",
)
@click.option(
    "--alertmanager",
    metavar="URL",
    help="Look whether each receiver of this Alertmanager delivers somewhere, too.",
)
@json_option
def doctor(role: str | None, environment: str, alertmanager: str | None, as_json: bool) -> int:
    """Check this deployment with the settings of its processes, and say what to do.

    Checks settings, secrets, database, login and rights, clocks, migrations, certificates, disk, and the authority.
    Changes nothing. Exit code 1 when a check failed; warnings count as success.
    """
    found: list[Finding] = []

    async def look() -> None:
        try:
            settings = settings_with_database(as_it_is=True)
        except (ConfigError, NoEmbeddedServer) as wrong:
            found.append(Finding("settings", State.FAILED, str(wrong), "change what the line names"))
            return
        async for finding in examine(
            settings,
            None if role is None else Role(role),
            Environment(environment),
            clock=clock_ahead(settings.clock_offset),
        ):
            found.append(finding)
        if alertmanager is not None:
            found.append(await check_receivers(alertmanager))

    trio.run(look)
    if as_json:
        show_all([asdict(finding) for finding in found], as_json=True, none="")
    else:
        width = max(len(finding.check) for finding in found)
        for finding in found:
            click.echo(f"{_MARKS[finding.state]:<4}  {finding.check:<{width}}  {finding.says}")
            if finding.remedy and finding.state is not State.OK:
                click.echo(f"      {'':<{width}}  -> {finding.remedy}")
    return OK if healthy(found) else FAILED
