"""Rules for every statement: it names its tenant, contains no input, and uses transactions where needed.

These read the source. The effect of a statement is proved beside its function.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg
from psycopg.pq import ExecStatus

from fe.store.postgres.functions import function_set
from fe.store.postgres.migrate import migrations
from fe.store.postgres.statements import statements
from fe.store.records import history

ROOT = Path(__file__).resolve().parent.parent.parent
#: The store of an agent is SQLite, and has statements of its own.
SOURCES = [path for path in sorted((ROOT / "fe").rglob("*.py")) if "agent" not in path.parts]

#: Looked up before the tenant is known, read-mostly, one of each for all tenants; and the operators' own book.
REFERENCE = {"tenants", "api_keys", "users", "operator_actions", "excise_rates", "receivers"}

#: Statements that are about all tenants, and why they may be: none reads the history. By the file's path below fe/ (or
#: below sql/functions/) and the constant's (or function's) name; "*" is every one of the file.
ACROSS_TENANTS = {
    ("store/queue/tables.py", "_FLOORS_BY_TIME"): "the earliest row of each lane of the hot table",
    ("store/queue/host_lanes.py", "_FLOOR"): "the earliest row of the hot table",
    ("store/queue/webhooks.py", "_TENANTS"): "whose old events are to be forgotten: a row for each endpoint",
    ("store/queue/circuits.py", "_DUE_SINCE_SIGNED"): "an outage delayed rows of any tenant",
    ("store/queue/outbox.py", "_WAITING_FOR_FRONT"): "gauges over the hot table",
    ("store/portal/drafts.py", "_FORGET"): "drafts of any tenant are over by their age alone",
    ("operators/require_second_person", "require_second_person"): "operators act on rows of many tenants at once",
    ("store/queue/tables.py", "_RESCUE"): "a worker held rows of any tenant",
    ("store/queue/tables.py", "_SET_BACK"): "the server's clock was wrong for all tenants",
    ("store/queue/diagnosis.py", "_WORKERS"): "an operator's question: how many rows each worker holds",
    ("store/queue/dead_letters.py", "*"): "operators list and count dead letters over all tenants",
    ("store/queue/in_doubt.py", "*"): "operators list and count what is in doubt over all tenants",
    ("store/queue/replay_plans.py", "*"): "an operator's plan is over all tenants",
    (
        "store/records/pending_actions.py",
        "_REQUEST",
    ): "found by its id, as an operator asks for it: it may be of many tenants",
    ("store/records/pending_actions.py", "_DECIDE"): "the same",
    ("store/records/pending_actions.py", "_ADVANCE"): "the same",
    ("store/records/pending_actions.py", "_TO_DO"): "what operators agreed to and is not done yet, of any tenants",
    ("store/records/spent_seeds.py", "_OLDEST"): "seeds of any tenant are over by their age alone",
    ("store/records/spent_seeds.py", "_FORGET"): "the same",
    ("store/records/request_log.py", "_FORGET"): "failed requests of any tenant are over by their age alone",
    ("store/records/metering.py", "_WITH_ENDS"): "whose ends are to be folded: a small table",
    ("store/records/metering.py", "_OPEN"): "whose days are to be closed: a row for each tenant",
    ("store/records/billing.py", "_BILLED"): "whose months are counted again: the terms of all",
    ("store/records/archive.py", "_STATE"): "gauges for operators: a row for each chain, open packages, refusals",
    ("store/records/statistics.py", "*"): "gauges for operators, over small tables",
    (
        "store/records/rewrapping.py",
        "_CERTIFICATES_AFTER",
    ): "a new key-encryption key is for what all tenants have encrypted",
    ("store/records/rewrapping.py", "_SECRETS_AFTER"): "the same",
    ("store/records/rewrapping.py", "_HEADERS_AFTER"): "the same",
    (
        "operations/doctor/certificates.py",
        "_CERTIFICATES",
    ): "who looks a deployment over counts those of all tenants",
    ("store/portal/invitations.py", "_BY_TOKEN"): "whose it is, is what the link is asked for",
    ("store/records/shared_receipts.py", "_BY_HASH"): "a buyer has the link alone: its hash is in the row's policy",
    ("store/records/evidence.py", "_SUBMISSION"): "an operator asks by id alone: which tenant's it is, is the answer",
    ("store/records/evidence.py", "_THERE"): "the same, of many: a log names ids of all tenants",
}

VERB = re.compile(r"^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\b")
_TABLE = re.compile(r"\b(FROM|JOIN|UPDATE|INTO|USING)\s+(?:ONLY\s+)?([a-z_]+)(?:\s+AS\s+([a-z_]+))?")


@dataclass(frozen=True)
class Statement:
    where: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}:{self.name}"


def texts(node: ast.AST) -> Iterator[str]:
    """The strings in an expression; what is put into an f-string shows as its name in braces."""
    if isinstance(node, ast.JoinedStr):
        pieces = (
            str(piece.value) if isinstance(piece, ast.Constant) else f"{{{ast.unparse(piece.value)}}}"
            for piece in node.values
            if isinstance(piece, ast.Constant | ast.FormattedValue)
        )
        yield "".join(pieces)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for part in ast.iter_child_nodes(node):
            yield from texts(part)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def in_python() -> tuple[Statement, ...]:
    return tuple(_in_python())


def _in_python() -> Iterator[Statement]:
    for path in SOURCES:
        tree = tree_of(path)
        where = str(path.relative_to(ROOT / "fe"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, value = node.targets[0].id, node.value
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "execute" and node.args:
                name, value = f"line {node.lineno}", node.args[0]
            else:
                continue
            for text in texts(value):
                if VERB.match(text):
                    yield Statement(where, name, text)


@cache
def in_functions() -> tuple[Statement, ...]:
    return tuple(_in_functions())


def _in_functions() -> Iterator[Statement]:
    """The statements inside the functions of sql/, each by its function's name."""
    for file in function_set(0).files:
        for text in statements(file.text):
            head = re.search(r"CREATE (?:OR REPLACE )?FUNCTION ([a-z_]+)", text)
            if head is None:
                continue
            body = re.sub(r"--[^\n]*", "", text.split("$$")[1] if "$$" in text else text)
            for part in re.split(r";|^\s*(?:BEGIN|ELSE|LOOP)\b|\b(?:THEN|LOOP)\s*$|RETURN QUERY", body, flags=re.M):
                if re.search(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b", part):
                    yield Statement(file.path.removesuffix(".sql"), head[1], part)


def tenant_tables() -> set[str]:
    """Every table with a tenant_id, by its migration, but for the reference tables."""
    created = re.compile(r"CREATE TABLE ([a-z_]+) \((.*?)\n\)", re.DOTALL)
    found = {
        name: columns
        for migration in migrations()
        for statement in migration.statements
        for name, columns in created.findall(statement)
    }
    return {name for name, columns in found.items() if re.search(r"^\s*tenant_id\b", columns, re.M)} - REFERENCE


TENANT_TABLES = tenant_tables()


def nameless(statement: Statement) -> list[str]:
    """The tenant tables of a statement for which it does not say whose rows it means."""
    text = statement.text.replace("{chosen.where()}", history.HistoryFilter().where()).replace("{table}", "outbox")
    missing = []
    for verb, table, alias in _TABLE.findall(text):
        if table not in TENANT_TABLES:
            continue
        if verb == "INTO":
            columns = re.search(rf"INTO\s+{table}(?:\s+AS\s+\w+)?\s*\(([^)]*)\)", text)
            names_it = columns is not None and ("tenant_id" in columns[1] or "COLUMNS" in columns[1])
        elif alias:
            names_it = (
                re.search(rf"\b{alias}\.tenant_id\s*(=|IN\b|,)|(=|IN)\s*\(?{alias}\.tenant_id\b", text) is not None
            )
        else:
            names_it = re.search(r"(?<![.\w])tenant_id\s*=", text) is not None
        if not names_it:
            missing.append(table)
    return missing


def test_the_statements_are_found() -> None:
    """Were the reading of the source to go blind, the rules below would hold of nothing."""
    python, functions = in_python(), in_functions()

    assert len(python) > 40
    assert {"accept_submission", "book_verdict_batch", "record_event"} <= {statement.name for statement in functions}
    assert {"submissions", "outbox", "sends", "sequences", "certificates"} <= TENANT_TABLES
    assert nameless(Statement("", "", "SELECT 1 FROM outbox AS o WHERE o.subject = %(s)s")) == ["outbox"]
    assert nameless(Statement("", "", "UPDATE outbox SET stage = 'x' WHERE subject = %(s)s")) == ["outbox"]


def test_every_statement_on_a_tenants_table_names_the_tenant_for_each_table() -> None:
    wrong: dict[str, list[str] | str] = {}
    for statement in (*in_python(), *in_functions()):
        missing = nameless(statement)
        if (statement.where, "*") in ACROSS_TENANTS:
            continue
        if bool(missing) != ((statement.where, statement.name) in ACROSS_TENANTS):
            wrong[str(statement)] = missing or "it names its tenant: take it off the list"

    assert wrong == {}


#: Complaints about statements of a cluster, of an older schema, and of parameters whose type only a value tells.
_EXPECTED_COMPLAINTS = re.compile(
    r'(relation|function) "?(citus_|pg_dist_|run_command_on_|create_distributed_table|truncate_local_data|anchor|'
    r"nodes_of|told_to_node|floors_anywhere|claim_rows|free_held|set_back_waiting|schema_migrations|asked)"
    r"|operator does not exist|GREATEST types"
)


def numbered(text: str) -> str:
    """The statement with parameters as the server names them: $1, $2."""
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${numbers.setdefault(found[1] or str(len(numbers)), len(numbers) + 1)}"

    return re.sub(r"%(?:\((\w+)\))?[sbt]", number, text).replace("%%", "%")


def test_server_of_any_version_understands_every_statement(shared_dsn: str) -> None:
    """`make debian` asks the oldest. Statements with parts put in are run by the tests of their modules."""
    refused: dict[str, str] = {}
    with psycopg.connect(shared_dsn, autocommit=True) as conn:
        for statement in in_python():
            text = numbered(statement.text)
            if re.search(r"\{[A-Za-z_]", text):
                continue
            prepared = conn.pgconn.prepare(b"", text.encode())
            said = prepared.error_message.decode()
            if prepared.status != ExecStatus.COMMAND_OK and not _EXPECTED_COMPLAINTS.search(said):
                refused[str(statement)] = said
    assert refused == {}


def test_every_exception_is_of_something_that_is_there() -> None:
    """Or one that was renamed would go on letting through whatever takes its name."""
    found = (*in_python(), *in_functions())
    there = {(statement.where, name) for statement in found for name in (statement.name, "*")}

    assert set(ACROSS_TENANTS) <= there


#: Keys by which a row is found before its tenant is known: an invitation by its link, what operators ask for by its id;
#: both may be of no tenant.
FOUND_BEFORE_THE_TENANT = {
    ("invitations", "invitation_id"),
    ("invitations", "token_hash"),
    ("pending_actions", "action_id"),
    ("shared_receipts", "token_hash"),
}


def test_the_tenant_comes_first_in_every_key_of_a_tenants_table() -> None:
    for migration in migrations():
        for statement in migration.statements:
            for table, columns in re.findall(r"CREATE TABLE ([a-z_]+) \((.*)\n\)", statement, re.DOTALL):
                keys = re.findall(r"(?:PRIMARY KEY|UNIQUE|FOREIGN KEY) \(([^)]*)\)", columns)
                if table in TENANT_TABLES:
                    for key in keys:
                        is_link = re.search(rf"FOREIGN KEY \({re.escape(key)}\) REFERENCES (?!tenants|users)", columns)
                        is_known_first = (table, key) in FOUND_BEFORE_THE_TENANT
                        assert key.startswith("tenant_id") or is_link or is_known_first, f"{table}: {key}"


def test_no_statement_is_put_together_from_input() -> None:
    """`execute` gets a constant of the module, composed of constants of the store at most."""
    for path in SOURCES:
        tree = tree_of(path)
        constants = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        constants |= {
            name.asname or name.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fe.store.")
            for name in node.names
            if name.name.isupper()
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and any(VERB.match(text) for text in texts(node)):
                for piece in node.values:
                    if isinstance(piece, ast.FormattedValue):
                        put_in = ast.unparse(piece.value)
                        assert put_in in constants | set(TRUSTED), (
                            f"{path.name}:{node.lineno}: {put_in} is put into a statement"
                        )
            called = node.func if isinstance(node, ast.Call) else None
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if isinstance(node, ast.Call) and name in ("execute", "executemany", "Asked"):
                assert is_constant(node.args[0], constants), f"{path.name}:{node.lineno}: {ast.unparse(node.args[0])}"


#: Non-constants that go into a statement, and the reasons.
TRUSTED = {
    "self.name": "catalogue: one of its two tables",
    "self.key": "catalogue: the column of that table by which it is looked up",
    "self._all": "catalogue: the columns of that table",
    "source or self.name": "catalogue: the table, or a subquery of its own",
    "where": "catalogue: conditions of the module, each with named parameters",
    "sets": "catalogue: columns of the table with named parameters",
    "before": "catalogue: columns of the table",
    "', '.join(names)": "catalogue: the same",
    "', '.join((f'%({name})s' for name in names))": "catalogue: named parameters of the same",
    "', '.join((f'r.{name}' for name in names))": "catalogue: the same",
    "', '.join((f'{name} = EXCLUDED.{name}' for name in (*self.columns, *_WRITTEN)))": "catalogue: the same",
    "MOST - 1": "imports: a number of the module",
    "in_production": "statistics: true and false, by the module",
    "chosen.where()": "history, received: conditions of the module, each with named parameters",
    "way.source": "portal/receipts: constants of the module, by which index is read",
    "way.where": "portal/receipts: conditions of the module, each with named parameters",
    "way.order": "portal/receipts: constants of the module, by what is asked for",
    "after": "history: constants of the module, by what is asked for",
    "order": "history, received: the same",
    "source": "received: the same",
    "counting.encode()": "received: one of two statements of the module, with conditions of the module",
    "way.look - 1": "portal/receipts: a number of the module",
    "PAGE + 1": "portal/receipts: the same",
    "chosen.source(chosen.where())": "history: one of four constants of the module and chosen.where()",
    "chosen.source(chosen.in_index())": "history: the same and chosen.in_index()",
    "chosen.looked_through()": "history: conditions of the module, each with named parameters",
    "by_day": "history: a constant or nothing, by what is asked for",
    "self._floors": "tables: a template of the module and the name of a table, which is looked at",
    "self._looking(conn)": "tables: that, or one that names no table, by the engine",
    "self._search(conn)": "tables: one of two such, by the engine",
    "self._claiming(conn)": "tables: the same",
    "COLUMNS[stage]": "claim: constants of the module, by the stage",
    "signatory": "claim: one of two constants",
    "trace": "claim: the same",
    "columns": "claim, near: constants of the module, by the stage",
    "PARAMETERS": "near: a constant of claim",
    "self._floor": "host_lanes: the same",
    "self._across": "host_lanes: the same, and a condition that is a constant of the queue's module",
    "_freeing(_SILENT, tables)": "workers: constants, and what tables.py made of a template and a name",
    "_freeing(_LEAVING, tables)": "workers: the same",
    "workers": "workers: one of two constants of the module",
    "tables": "submissions: one of two constants of the module, typed LiteralString",
    "by_id": "submissions: one of two constants, by the engine",
    "by_track_id": "submissions: the same",
    "', '.join(parts)": "workers: what tables.py made",
    "self._set_back_on_nodes if distributed else self._set_back": "tables: what it made of a template and a name",
    "stages": "workers: names of tables",
    "statement": "charges, certificates, rewrapping, traces, webhooks: a constant of the module, typed LiteralString",
    "query": "tenant_scope: what any of the others handed to a cursor",
    "asked.statement": "tenant_scope: the statement of an Asked",
    "one.statement": "tenant_scope: the same",
    "self.statement": "engine: a constant of a module of the store, typed LiteralString",
    "self.alone": "engine: the same, of which a function's name has a word more",
    "calling.statement": "traces: the first of these two",
    "call": "outbox.book: typed LiteralString, checked by mypy",
    "PERSON_COLUMNS": "sessions: a constant of the module of people",
    "page.encode()": "received: constants of the module, and chosen.where()",
    "statement.encode()": "migrate, functions: the files that we ship",
    "revoke.encode()": "functions: a signature as the database tells it, and our roles",
    "adapted(definition).encode()": "citus: a function that our own files made, as the database tells it",
    "setting": "tenant_scope: a role and a tenant, quoted by psycopg",
    "sql.SQL('LISTEN {}').format(sql.Identifier(channel))": "db.listen: quoted by psycopg",
}


def is_constant(node: ast.expr, constants: set[str]) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "encode":
        return is_constant(node.func.value, constants) or ast.unparse(node) in TRUSTED
    if isinstance(node, ast.Constant | ast.JoinedStr):
        return True  # what is put into a JoinedStr is looked at above
    if isinstance(node, ast.Subscript):
        return is_constant(node.value, constants)  # one of several constants
    return (isinstance(node, ast.Name) and node.id in constants) or ast.unparse(node) in TRUSTED


def test_every_connection_is_in_autocommit_so_that_a_transaction_is_one() -> None:
    """On another connection, `transaction()` after a SELECT is a savepoint: at its end nothing is committed."""
    connects = 0
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in ("psycopg.connect", "psycopg.AsyncConnection.connect", "AsyncConnection.connect"):
                connects += 1
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                assert given.get("autocommit") == "True", f"{path.name}:{node.lineno}"
            elif called.startswith("AsyncConnectionPool"):
                connects += 1
                (options,) = (ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "kwargs")
                assert "'autocommit': True" in options, f"{path.name}:{node.lineno}"
    assert connects >= 3


def test_nothing_keeps_a_setting_of_a_session_beyond_its_transaction() -> None:
    """A connection goes back to the pool: what one user set for the session, the next one would have."""
    for statement in [*in_python(), *in_functions()]:
        if statement.where == "store/postgres/migrate.py":
            continue  # the migrating session is not shared, and ends with it
        if (statement.where, statement.name) == ("store/postgres/pooled.py", "_MARK"):
            continue  # the mark of the session itself, set once as the connection opens, by which a lost one is found
        assert not re.search(r"set_config\([^)]*,\s*false\s*\)", statement.text), str(statement)
    for path in SOURCES:
        assert not re.search(r'execute\(\s*"SET (?!LOCAL|TRANSACTION)', path.read_text(encoding="utf-8")), path.name
