"""Numbers of a plan of the simulation: none that was sent, and a warning of those sent outside of a plan."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest

from fe.accounts.provision import create_tenant, put_sequence
from fe.ecf.catalogue import PREFIXES, Environment
from fe.issuing.certification_plan import SimulationPlan, plan_simulation
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from fe.store.records import certification
from fe.store.records.certification import CertificationPath, NewCase, RunKind, RunState
from fe.store.records.tenants import Tenant
from tests.certification.sets import RNC
from tests.factories.tenants import make_submission
from tests.system.stack import ISSUER

NOW = datetime.now(UTC)


async def test_plan_passes_over_numbers_sent_outside_of_it_and_warns_of_them(db: Database) -> None:
    tenant = await db.transact(create_tenant, "plan", ISSUER, today=NOW.date())
    for prefix in PREFIXES:
        await db.transact(put_sequence, tenant, Environment.CERTECF, prefix, expires=date(2028, 12, 31), now=NOW)
    await db.transact(certification.set_path, tenant.tenant_id, CertificationPath.PROVIDER, NOW, "ana")
    # A set of step 2 has gaps between its numbers. Another program sent the E31.
    await _load_set(db, tenant, ["E410000000005"])
    for number in ("E410000000005", "E310000000007"):
        await _send(db, tenant, number)

    first = await _plan(db, tenant)
    assert {"E310000000008", "E410000000006", "E430000000001"} <= _numbers(first)
    (warning,) = first.warnings
    assert "begins behind numbers that were sent outside of it: E310000000007. Numbers before them may" in warning.en
    assert "empieza después de números enviados fuera de él: E310000000007. Los anteriores pueden" in warning.es

    # A program takes the next number, and one far beyond: the plan goes on behind the one before.
    for number in ("E310000000009", "E430000009000"):
        await _send(db, tenant, number)
    second = await _plan(db, tenant)
    assert {"E310000000010", "E410000000007", "E430000000002"} <= _numbers(second)
    passed, begins = second.warnings
    assert passed.en == "numbers sent outside of a plan are passed over: E430000009000"
    assert passed.es == "se pasan por alto números enviados fuera de un plan: E430000009000"
    assert begins.en.startswith("the plan begins behind numbers that were sent outside of it: E310000000009.")
    third = await _plan(db, tenant)
    assert list(third.warnings) == [passed]
    assert len(_numbers(first) | _numbers(second) | _numbers(third)) == 33


async def test_load_beside_a_start_does_not_replace_a_run_that_is_being_sent(db: Database) -> None:
    tenant = await db.transact(create_tenant, "set", ISSUER, today=NOW.date())
    await _load_set(db, tenant, ["E410000000005"])
    assert await db.run(certification.start, tenant.tenant_id, UUID(int=1))

    with pytest.raises(certification.RunUnderWay):
        await _load_set(db, tenant, ["E410000000006"], run=2)

    present = await db.run(certification.open_run, tenant.tenant_id)
    assert present is not None
    assert (present.run_id, present.state) == (UUID(int=1), RunState.SENDING)


async def _plan(db: Database, tenant: Tenant) -> SimulationPlan:
    return await plan_simulation(db, tenant, by="ana", now=NOW)


def _numbers(planned: SimulationPlan) -> set[str]:
    return {one.e_ncf for one in planned.receipts}


async def _send(db: Database, tenant: Tenant, number: str) -> None:
    await make_submission(db, tenant.tenant_id, stage=Stage.SEND, e_ncf=number, environment=Environment.CERTECF)


async def _load_set(db: Database, tenant: Tenant, numbers: Sequence[str], run: int = 1) -> None:
    cases = [NewCase(f"{RNC}{number}", number, False) for number in numbers]
    kept: dict[str, Any] = {"at": NOW, "by": "ana", "name": "set.xlsx", "digest": b"1" * 32, "content": b"set"}
    await db.transact(certification.load, tenant.tenant_id, UUID(int=run), cases, kind=RunKind.SET, **kept)
