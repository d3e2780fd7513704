"""Alertmanager: does each receiver that alerts are routed to deliver somewhere?"""

import re

import httpx

from fe.operations.doctor.finding import Finding, State
from fe.store.postgres.errors import words

#: The receiver of alerts that only inhibit others (ops/prometheus/alertmanager.yml): empty on purpose.
_EMPTY_ON_PURPOSE = "nobody"


async def check_receivers(url: str) -> Finding:
    """Ask Alertmanager for its configuration, and warn of receivers without an address."""
    try:
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=10.0) as client:
            answer = (await client.get("/api/v2/status")).raise_for_status()
            config: str = answer.json()["config"]["original"]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        says = f"Alertmanager does not answer at {url}: {words(error)}"
        return Finding("alert receivers", State.FAILED, says, "start it, or name its address (--alertmanager URL)")
    if silent := _without_address(config):
        says = f"alerts for {', '.join(silent)} reach no person: these receivers are empty"
        return Finding("alert receivers", State.WARNING, says, "uncomment a receiver of each in alertmanager.yml")
    return Finding("alert receivers", State.OK, "each receiver of Alertmanager delivers somewhere")


def _without_address(config: str) -> list[str]:
    """Name the receivers that alerts are routed to and that have no `*_configs`.

    Alertmanager writes its configuration in one canonical form of YAML, so lines can be compared.
    """
    routes, _, receivers = config.partition("\nreceivers:\n")
    routed_to = set(re.findall(r"^\s+(?:- )?receiver: (.+)$", routes, re.MULTILINE)) - {_EMPTY_ON_PURPOSE}
    found = re.findall(r"^- name: (.+)\n((?:  .*\n)*)", receivers, re.MULTILINE)
    return sorted(name for name, body in found if name in routed_to and not re.search(r"^  \w+_configs:", body, re.M))
