"""`fe authority`: a simulated tax authority, and whether the real one answers."""

from datetime import timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path

import click
import trio

from fe.authority.classify import classify_seed
from fe.authority.errors import Unavailable
from fe.authority.gateway import Gateway
from fe.authority.hosts import Hosts, Operation
from fe.authority.transport import Timeouts, Transport
from fe.cli.failures import USAGE, Failure
from fe.cli.printing import json_option, print_result
from fe.cli.session import environment_option, until_signal
from fe.clock import system_clock
from fe.config import ConfigError, Settings, load_settings
from fe.ecf.catalogue import Environment
from fe.ecf.parse import MalformedJson
from fe.egress.tls import default_tls
from fe.simulator import (
    Addresses,
    AnswerForm,
    Availability,
    BadRecord,
    Catalogue,
    CheckLevel,
    FaultPlan,
    JournalDamaged,
    JournalInUse,
    PublicBindRefused,
    SimulatorSettings,
    simulate,
)


def _choice(among: type[StrEnum]) -> click.Choice[str]:
    """Choose by the values of an enumeration: left to itself, click takes the names of its members."""
    return click.Choice([member.value for member in among])


@click.group()
def authority() -> None:
    """Simulate the tax authority, or ask whether it answers."""


@authority.command("simulate")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=int, default=8090, show_default=True, help="Port of all services; 0 picks a free one.")
@click.option("--management-port", type=int, default=8091, show_default=True, help="Port of the switches; 0 as above.")
@click.option("--summary-port", type=int, help="A port of its own for the host of consumer summaries.")
@click.option("--status-port", type=int, help="A port of its own for the host of the service status.")
@click.option("--public-bind", is_flag=True, help="Allow an address that other machines can reach.")
@click.option("--state", type=click.Path(path_type=Path), help="Keep what happened in this file; default: in memory.")
@click.option("--world", type=click.Path(path_type=Path), help="JSON file: taxpayers, ranges, delegations, roots.")
@click.option("--faults", type=click.Choice(["mild", "wild"]), help="Let things go wrong by chance.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides which; the same seed, the same faults.")
@click.option("--check", type=_choice(CheckLevel), default=CheckLevel.FULL.value, show_default=True)
@click.option(
    "--answers",
    type=_choice(AnswerForm),
    default=AnswerForm.LIVE.value,
    show_default=True,
    help="The form of answers where the authority's documents and its live traffic differ.",
)
@click.option("--shapes", "answers_before", type=_choice(AnswerForm), hidden=True)  # former name of the option
@click.option("--messages", type=_choice(Catalogue), default=Catalogue.INTERFACE.value, show_default=True)
@click.option("--availability", type=_choice(Availability), default=Availability.V1_7.value, show_default=True)
@click.option("--verdict-delay", type=float, default=0.2, show_default=True, help="Seconds a document is En Proceso.")
@click.option(
    "--certification-lag",
    type=click.FloatRange(0, 3600),
    default=120.0,
    show_default=True,
    help="Seconds after its verdict until a document counts in certecf.",
)
@click.option("--require-references", is_flag=True, help="Refuse notes about documents that were never sent here.")
@json_option
def simulate_(
    host: str,
    port: int,
    management_port: int,
    summary_port: int | None,
    status_port: int | None,
    public_bind: bool,
    state: Path | None,
    world: Path | None,
    faults: str | None,
    seed: int,
    check: str,
    answers: str,
    answers_before: str | None,
    messages: str,
    availability: str,
    verdict_delay: float,
    certification_lag: float,
    require_references: bool,
    as_json: bool,
) -> None:
    """Simulate the tax authority until SIGTERM or Ctrl-C. It is not the tax authority.

    It verifies signatures, schemas, numbers and arithmetic, keeps its environments apart, and makes errors on request.
    GET / of the management port lists its switches; docs/simulator.md explains them.
    """
    try:
        settings = SimulatorSettings(
            host=host,
            port=port,
            management_port=management_port,
            summary_port=summary_port,
            status_port=status_port,
            public_bind=public_bind,
            journal=state,
            world=world,
            faults=FaultPlan.named(faults, seed) if faults else None,
            check=CheckLevel(check),
            answers=AnswerForm(answers_before or answers),
            catalogue=Catalogue(messages),
            availability=Availability(availability),
            verdict_delay=timedelta(seconds=verdict_delay),
            certification_lag=timedelta(seconds=certification_lag),
            require_references=require_references,
        )
    except PublicBindRefused as refused:
        raise Failure(str(refused), USAGE) from None
    try:
        trio.run(until_signal, partial(simulate, settings), partial(_announce, as_json))
    except* (BadRecord, MalformedJson, JournalInUse, JournalDamaged) as group:
        raise Failure(str(_first(group))) from None


def _announce(as_json: bool, at: Addresses) -> None:
    words = (
        "A simulated tax authority; not the tax authority.",
        f"  FE_AUTHORITY_ECF_URL={at.ecf}",
        f"  FE_AUTHORITY_FC_URL={at.fc}",
        f"  FE_AUTHORITY_STATUS_URL={at.status}",
        f"  management port: {at.management}",
    )
    record = {"ecf": at.ecf, "fc": at.fc, "status": at.status, "management": at.management}
    print_result(words, record, as_json=as_json)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@authority.command()
@environment_option
@json_option
def ping(environment: Environment, as_json: bool) -> None:
    """Ask the configured authority for a seed: the first thing every session needs. Exit code 5 when it gives none."""
    settings = load_settings()
    try:
        hosts = Hosts(settings.authority_ecf_url, settings.authority_fc_url, settings.authority_status_url)
    except ValueError as wrong:
        raise ConfigError(f"FE_AUTHORITY_*_URL: {wrong}") from None
    try:
        seconds = trio.run(_ask_for_seed, hosts, settings, environment)
    except Unavailable as away:
        raise Unavailable(f"{settings.authority_ecf_url} ({environment.value}): {away.reason}") from None
    milliseconds = round(seconds * 1000)
    print_result(
        f"{settings.authority_ecf_url} ({environment.value}) answers, in {milliseconds} ms",
        {"url": settings.authority_ecf_url, "environment": environment, "milliseconds": milliseconds},
        as_json=as_json,
    )


async def _ask_for_seed(hosts: Hosts, settings: Settings, environment: Environment) -> float:
    transport = Transport(tls=default_tls(), timeouts=Timeouts(settings.authority_timeout), connections=1)
    gateway = Gateway(hosts, transport)
    started = trio.current_time()
    try:
        reply = await gateway.ask(
            hosts.locate(Operation.SEED, environment), environment.value, accept="application/xml"
        )
        classify_seed(reply, system_clock())
    finally:
        transport.close()
    return trio.current_time() - started
