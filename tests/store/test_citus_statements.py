"""Every constant statement of the store and the portal runs on a cluster, under each role with the rights for it."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType

import psycopg
import pytest
from psycopg.pq import ExecStatus

import fe.portal
import fe.store
from fe.store.postgres.roles import EVERY, SHARE
from tests import citus
from tests.store.test_sql import VERB, numbered

pytestmark = pytest.mark.skipif(not citus.wanted(), reason="there is no cluster (make citus)")

_TEMPLATE = re.compile(r"\{[a-z]+\}|FROM\s*$")

#: Statements that fail on a cluster, by module and name, with reasons.
_ELSEWHERE = {
    "store.records.archive:_BEHIND": "only the packer asks, whom no policy binds to a tenant",
    "store.records.metering:_WITHOUT_DAYS": "only the aggregator asks, whom no policy binds to a tenant",
    "store.records.label_lookup:_NAMED": "_NAMED_ON_NODES is for the cluster",
    "store.records.submissions:_FIND[0]": "_FIND_ON_NODES is for the cluster",
    "store.records.submissions:_FIND[1]": "_FIND_ON_NODES is for the cluster",
}

#: SQLSTATEs of a bad value, a missing right, and an error that a function raises.
_OF_VALUES = re.compile("22|23|42501|P0|55")

_VALUES = {
    "int2": "1",
    "int4": "1",
    "int8": "1",
    "numeric": "1",
    "float8": "1",
    "bool": "true",
    "uuid": "018f0000-0000-7000-8000-000000000001",
    "date": "2026-11-20",
    "timestamptz": "2026-11-20 10:00+00",
    "interval": "1 day",
    "jsonb": "{}",
    "regclass": "outbox",
}


def _of(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and VERB.match(value) and not _TEMPLATE.search(value):
        yield name, value
    elif isinstance(value, dict | tuple):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _of(f"{name}[{key}]", part)


def _modules() -> Iterator[ModuleType]:
    for package in (fe.store, fe.portal):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def _made_up(kind: str) -> str:
    if kind.startswith("_"):
        return f'{{"{_made_up(kind[1:])}"}}'
    return _VALUES.get(kind, "ecf")  # of most texts it may be one, and of an environment it has to be


def test_every_statement_runs_under_each_role_with_the_rights(shared_dsn: str) -> None:
    wrong: dict[str, str] = {}
    carried_out = 0
    with psycopg.connect(shared_dsn) as conn:
        kinds: dict[int, str] = dict(conn.execute("SELECT oid::bigint, typname FROM pg_type").fetchall())
        for module in _modules():
            for name, text in (found for key, value in vars(module).items() for found in _of(key, value)):
                statement = numbered(text).encode()
                prepared = conn.pgconn.prepare(b"", statement)
                parameters = conn.pgconn.describe_prepared(b"")
                conn.rollback()
                if prepared.status != ExecStatus.COMMAND_OK:
                    continue  # of an older schema, or of a type that only a value tells (test_sql.py)
                types = [parameters.param_type(nth) for nth in range(parameters.nparams)]
                values = [_made_up(kinds[one]).encode() for one in types]
                for role in set(EVERY) - {SHARE}:
                    conn.execute(f"SET LOCAL ROLE {role}".encode())
                    conn.execute("SELECT set_config('fe.tenant', '1', true)")
                    done = conn.pgconn.exec_params(statement, values, types)
                    state = (done.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b"").decode()
                    conn.rollback()
                    carried_out += not state
                    if state and not _OF_VALUES.match(state):
                        wrong[f"{module.__name__.removeprefix('fe.')}:{name}"] = (
                            f"{role}: {done.error_message.decode()}"
                        )

    assert {name: said for name, said in wrong.items() if name not in _ELSEWHERE} == {}
    assert set(_ELSEWHERE) <= set(wrong), "these no longer fail"
    assert carried_out > 1_500
