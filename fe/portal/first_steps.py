"""The steps of a new company, from its data to the first receipt in production. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fe.ecf.catalogue import Environment
from fe.ecf.texts import Text
from fe.store.records.certificates import CertificateRecord
from fe.store.records.keys import ApiKey
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.tenants import Tenant

_NEEDED = ("RNCEmisor", "RazonSocialEmisor", "DireccionEmisor")


@dataclass(frozen=True, slots=True)
class FirstStep:
    """One step; `path` is its page below the company's."""

    text: Text
    path: str
    is_done: bool


def missing(
    tenant: Tenant,
    certificates: Sequence[CertificateRecord],
    ranges: Sequence[NumberSequence],
    keys: Sequence[ApiKey],
    environment: Environment,
    now: datetime,
) -> list[str]:
    """Name what a company lacks until its programs can issue in an environment, by codes for programs."""
    is_there = {
        "issuer": all(tenant.issuer.get(name) for name in _NEEDED),
        "certificate": any(one.not_before <= now < one.not_after for one in certificates),
        "sequence": any(
            one.environment is environment
            and one.is_active
            and one.own_left > 0
            and (one.ends_at is None or now < one.ends_at)
            for one in (each.at(now) for each in ranges)
        ),
        "key": any(one.environment is environment and one.active(now) for one in keys),
        "enabled": tenant.disabled_since is None,
    }
    return [name for name, there in is_there.items() if not there]


def first_steps(
    issuer: Mapping[str, Any],
    certificates: Sequence[CertificateRecord],
    ranges: Sequence[NumberSequence],
    accepted: Collection[Environment],
) -> list[FirstStep]:
    """List the steps; none once a receipt of production was accepted. `accepted`: environments with accepted ones."""
    if Environment.ECF in accepted:
        return []

    def has_range(environment: Environment) -> bool:
        return any(one.environment is environment and one.is_active for one in ranges)

    test, certification, production = Environment.TESTECF, Environment.CERTECF, Environment.ECF
    is_tested = test in accepted
    return [
        FirstStep(
            Text("Company data: RNC, name, address", "Datos de la empresa: RNC, nombre, dirección"),
            "settings",
            all(issuer.get(name) for name in _NEEDED),
        ),
        FirstStep(Text("Certificate", "Certificado digital"), "certificates", bool(certificates)),
        FirstStep(
            Text("Sequences for tests", "Secuencias de prueba"),
            f"{test}/sequences",
            has_range(test) or is_tested,
        ),
        FirstStep(Text("A test receipt accepted", "Un comprobante de prueba aceptado"), f"{test}/new", is_tested),
        FirstStep(
            Text("Certification at the DGII", "Certificación en la DGII"),
            "certification",
            certification in accepted,
        ),
        FirstStep(
            Text("Sequences of production", "Secuencias de producción"),
            f"{production}/sequences",
            has_range(production),
        ),
        FirstStep(Text("The first real receipt", "El primer comprobante real"), f"{production}/new", False),
    ]
