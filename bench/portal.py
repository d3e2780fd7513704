"""How long the portal takes for its pages when a company has a long history.

    python -m bench.portal [--submissions 1000000] [--asked 200]

A tenant gets so many submissions over a year, by SQL: rows of `submissions` with all their indexes, of several types,
states, buyers and users; the newest 20,000 with their documents, events and clientRequestIds; a tenth as many received
documents. Then one process serves the portal, somebody logs in, and each page is asked for so many times over a real
socket, with other values each time. Times are those of the server (from the routed request to the answer's bytes) and
those of the client (the whole way there and back); one question after the other.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import trio
from psycopg.rows import scalar_row

from bench.http import PORT, free_port, serving
from bench.report import Report
from fe.accounts.people import create_person, hash_password
from fe.clock import system_clock
from fe.config import load_settings
from fe.http.server.listener import open_sockets, serve_http
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.portal.app import PortalApp, create_portal
from fe.portal.page_types import Page
from fe.portal.replies import Reply
from fe.portal.serve import build_portal
from fe.store import tenants
from fe.store.portal import people
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import open_database
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import migrate
from fe.store.postgres.roles import PORTAL
from fe.store.queue.wakeups import Wakeups
from fe.vault import Vault

EMAIL, PASSWORD = "ana@example.do", "correct horse battery staple"
#: A page is answered in so many milliseconds of the server, 95 times of 100.
PROMISED = 50.0
NEWEST = 20_000
CHUNK = 100_000

_ID = """(lpad(to_hex((extract(EPOCH FROM t.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
            || '8' || substr(md5(n::text), 4, 15))::uuid"""
_SUBMISSIONS = f"""
    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                             e_ncf, issuer_rnc, buyer_rnc, as_user, status, track_id, security_code, qr_code_url,
                             signed_at, submitted_at, updated_at, first_answer_at, verdict_at, number_fate,
                             client_request_id, response)
    SELECT %(tenant)s, {_ID}, CASE WHEN n %% 1000 = 17 THEN 'testecf' ELSE 'ecf' END, 'fak_000000000000',
           sha256(''), 'xml', 'ECF', k.code, 'E' || k.code || lpad(n::text, 10, '0'), '131880738',
           '1' || lpad((n %% 5000)::text, 8, '0'), CASE WHEN n %% 100 = 3 THEN 'caja' || n %% 7 || '@example.do' END,
           v.status, 'track-' || n, 'aB3xYz',
           'https://ecf.dgii.gov.do/ecf/ConsultaTimbre?RncEmisor=131880738&ENCF=E31&MontoTotal=1180.00&CodigoSeguridad=a',
           t.at, t.at, t.at, t.at, CASE WHEN v.status <> 'error' THEN t.at END, 'used', 'order-' || n,
           CASE WHEN v.status = 'Rechazado' THEN '{{"mensajes": [{{"codigo": "3205", "valor": "x"}}]}}'::jsonb END
      FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
     CROSS JOIN LATERAL (SELECT %(until)s::timestamptz - interval '365 days' * (n / %(all)s::float8) AS at) AS t
     CROSS JOIN LATERAL (SELECT CASE WHEN n %% 10 < 6 THEN '32' WHEN n %% 10 < 9 THEN '31' WHEN n %% 5000 = 9 THEN '46'
                                     ELSE '34' END AS code) AS k
     CROSS JOIN LATERAL (SELECT CASE WHEN n %% 200 = 5 THEN 'Rechazado' WHEN n %% 1000 = 6 THEN 'error'
                                     WHEN n %% 300 = 7 THEN 'Aceptado Condicional' ELSE 'Aceptado' END AS status) AS v
"""
_XML = """'<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF></IdDoc><Emisor>'
          || '<RNCEmisor>131880738</RNCEmisor><FechaEmision>06-11-2026</FechaEmision></Emisor><Comprador><RNCComprador>'
          || '131880657</RNCComprador><RazonSocialComprador>Colmado Dos Hermanos SRL</RazonSocialComprador>'
          || '</Comprador><Totales><MontoTotal>1180.00</MontoTotal></Totales></Encabezado><DetallesItems>'
          || repeat('<Item><NumeroLinea>1</NumeroLinea><NombreItem>Martillo de carpintero</NombreItem>'
                    || '<CantidadItem>2</CantidadItem><MontoItem>901</MontoItem></Item>', 14)
          || '</DetallesItems></ECF>'"""
_OF_THE_NEWEST = (
    f"""INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
        SELECT s.tenant_id, s.submission_id, d.kind, convert_to({_XML}, 'UTF8')
          FROM newest AS s CROSS JOIN (VALUES ('original'), ('signed')) AS d (kind)""",
    """INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
       SELECT s.tenant_id, s.submission_id, e.seq, s.submitted_at, e.kind, '{"stage": "send"}', sha256('')
         FROM newest AS s
        CROSS JOIN (VALUES (1, 'accepted'), (2, 'signed'), (3, 'sending'), (4, 'received'),
                           (5, 'verdict')) AS e (seq, kind)""",
    """INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
       SELECT s.tenant_id, s.environment, s.client_request_id, s.submission_id FROM newest AS s""",
)
_RECEIVED = f"""
    INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name, buyer_rnc,
                          issued_on, total, digest, received_at)
    SELECT %(tenant)s, {_ID}, CASE WHEN n %% 1000 = 17 THEN 'testecf' ELSE 'ecf' END,
           '1' || lpad((n %% 400)::text, 8, '0'), 'E31' || lpad(n::text, 10, '0'), '31', 'Suplidora ' || n %% 400,
           '131880738', t.at::date, 118, sha256(n::text::bytea), t.at
      FROM generate_series(1, %(all)s::bigint / 10) AS n
     CROSS JOIN LATERAL (SELECT %(until)s::timestamptz - interval '365 days' * (n * 10 / %(all)s::float8) AS at) AS t
"""
_ACKNOWLEDGED = f"""
    INSERT INTO acknowledgements (tenant_id, environment, digest, reason, issuer_rnc, e_ncf, document, acknowledgement,
                                  said_at)
    SELECT r.tenant_id, r.environment, r.digest, 0, r.issuer_rnc, r.e_ncf, convert_to({_XML}, 'UTF8'), '\\x', now()
      FROM received AS r
     ORDER BY r.received_id DESC
     LIMIT {NEWEST // 10}
"""
_DAYS = """
    INSERT INTO usage_days (tenant_id, utc_day, environment, submitted, settled, accepted, conditional, rejected,
                            answered, latency_us)
    SELECT s.tenant_id, (s.submitted_at AT TIME ZONE 'UTC')::date, s.environment, count(*), count(*), count(*),
           0, 0, 0, 0
      FROM submissions AS s GROUP BY 1, 2, 3
"""


def fill(dsn: str, tenant: int, many: int) -> None:
    """Give the tenant its history."""
    until = datetime.now(UTC)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "SELECT ensure_month(%s::timestamptz - make_interval(months => n)) FROM generate_series(0, 13) AS n",
            [until],
        )
        values = {"tenant": tenant, "all": many, "until": until}
        for first in range(0, many, CHUNK):
            conn.execute(_SUBMISSIONS.encode(), {**values, "first": first, "last": min(first + CHUNK, many) - 1})
        conn.execute(
            f"""CREATE TEMP TABLE newest AS
                SELECT tenant_id, submission_id, environment, submitted_at, client_request_id
                  FROM submissions ORDER BY submission_id DESC LIMIT {NEWEST}""".encode()
        )
        for statement in (*_OF_THE_NEWEST, _RECEIVED, _ACKNOWLEDGED, _DAYS):
            conn.execute(statement.encode(), values if "%(" in statement else None)
        conn.execute("VACUUM ANALYZE")


async def prepare(dsn: str) -> TenantId:
    """Make the tenant, and its owner."""
    async with open_database(dsn) as db:
        tenant = await db.run(tenants.create, "Banco de pruebas SRL", {"RNCEmisor": "131880738"})
        assert tenant is not None
        person = await db.transact(
            create_person,
            EMAIL,
            "Ana",
            password_hash=await hash_password(PASSWORD),
            language="es",
            is_operator=False,
            now=system_clock(),
        )
        await db.run(people.join, tenant.tenant_id, person.person_id, PortalRole.OWNER, system_clock())
    return tenant.tenant_id


# --- what is served ---------------------------------------------------------------------------------------------------


async def _serve(port: int, dsn: str) -> None:
    answer = PortalApp.answer

    async def timed(self: PortalApp, page: Page | None, *rest: Any) -> Reply:
        began = time.perf_counter()
        reply = await answer(self, page, *rest)
        took = (time.perf_counter() - began) * 1000
        return replace(reply, headers=(*reply.headers, ("Server-Timing", f"page;dur={took:.3f}")))

    PortalApp.answer = timed  # type: ignore[method-assign, assignment]  # it is timed from inside the server
    settings = load_settings(development=True, portal_bind=f"127.0.0.1:{port}")
    async with open_database(dsn, role=PORTAL) as db:
        vault = Vault({"k1": bytes(32)})
        portal = build_portal(settings, {PORTAL: db}, vault, Wakeups(db), system_clock, Metrics())
        sockets = open_sockets(f"127.0.0.1:{port}")
        await serve_http(create_portal(portal), sockets, settings=settings, shutdown=trio.Event())


# --- what is asked ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """What somebody has of receipts, to ask for."""

    ids: list[str]
    received: list[str]
    many: int

    @classmethod
    def of(cls, dsn: str, many: int) -> "Known":
        with psycopg.connect(dsn, autocommit=True, row_factory=scalar_row) as conn:
            newest = "SELECT submission_id FROM submissions ORDER BY submission_id DESC LIMIT 5000"
            took = f"SELECT received_id FROM received ORDER BY received_id DESC LIMIT {NEWEST // 10}"
            return cls(
                [str(one) for one in conn.execute(newest)], [str(one) for one in conn.execute(took.encode())], many
            )


def pages(company: str, known: Known) -> Mapping[str, Callable[[], str]]:
    """The pages, each with a way to ask for it with other values each time."""
    chance = random.Random(7)

    def number() -> int:
        return chance.randrange(NEWEST)

    def day(back: int) -> str:
        return f"{datetime.now(UTC) - timedelta(days=back):%Y-%m-%d}"

    def before() -> str:
        moment = int((time.time() - 86400 * chance.randrange(300)) * 1000)
        return f"{moment:012x}"[:8] + f"-{moment & 0xFFFF:04x}-7000-8000-000000000000"

    receipts, received = f"{company}/ecf/submissions", f"{company}/ecf/received"

    def buyer() -> str:
        return f"1{chance.randrange(5000):08}"

    return {
        "overview": lambda: company,
        "receipts, newest": lambda: receipts,
        "receipts, further down": lambda: f"{receipts}?before={before()}",
        "receipts of testecf": lambda: f"{company}/testecf/submissions",
        "receipts of certecf (none)": lambda: f"{company}/certecf/submissions",
        "accepted": lambda: f"{receipts}?state=accepted",
        "conditional": lambda: f"{receipts}?state=conditional&before={before()}",
        "rejected": lambda: f"{receipts}?state=rejected&before={before()}",
        "failed": lambda: f"{receipts}?state=error&before={before()}",
        "on their way": lambda: f"{receipts}?state=waiting",
        "dead letters": lambda: f"{receipts}?state=dead",
        "a type": lambda: f"{receipts}?type=34&before={before()}",
        "a rare type": lambda: f"{receipts}?type=46",
        "a type, rejected": lambda: f"{receipts}?type=34&state=rejected&before={before()}",
        "a period": lambda: f"{receipts}?since={day(chance.randrange(100, 300))}&until={day(chance.randrange(99))}",
        "a period, rejected": lambda: f"{receipts}?state=rejected&since={day(200)}&until={day(chance.randrange(199))}",
        "a buyer": lambda: f"{receipts}?buyer={buyer()}",
        "a buyer, rejected": lambda: f"{receipts}?buyer={buyer()}&state=rejected",
        "a user": lambda: f"{receipts}?user=caja{chance.randrange(7)}@example.do",
        "a user, rejected, a type": lambda: f"{receipts}?user=caja3@example.do&state=rejected&type=34",
        "search: e-NCF": lambda: f"{receipts}?q=E32{number() // 10 * 10:010}",
        "search: trackId": lambda: f"{receipts}?q=track-{chance.randrange(known.many)}",
        "search: clientRequestId": lambda: f"{receipts}?q=order-{number()}",
        "search: nothing": lambda: f"{receipts}?q=nobody-{number()}",
        "one receipt": lambda: f"{receipts}/{chance.choice(known.ids)}",
        "received, newest": lambda: received,
        "received, further down": lambda: f"{received}?before={before()}",
        "received of testecf": lambda: f"{company}/testecf/received",
        "received from an issuer": lambda: f"{received}?issuer=1{chance.randrange(400):08}",
        "received, a number": lambda: f"{received}?number=E31{chance.randrange(known.many // 10):010}",
        "received, not decided": lambda: f"{received}?state=pending",
        "received, approved (none)": lambda: f"{received}?state=approved",
        "one received document": lambda: f"{received}/{chance.choice(known.received)}",
    }


def ask(port: int, tenant: TenantId, known: Known, asked: int) -> dict[str, tuple[list[float], list[float]]]:
    """Log in, and ask for each page in turn; gives what the server and what the client measured."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
        form = client.get("/sign-in").text
        proof = form.partition('name="csrf" value="')[2].partition('"')[0]
        sent = client.post("/sign-in", data={"csrf": proof, "email": EMAIL, "password": PASSWORD, "next": "/"})
        if sent.status_code != 303:
            raise SystemExit(f"logging in was answered {sent.status_code}")
        ways = pages(f"/companies/{tenant}", known)
        found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in ways}
        for turn in range(asked + 5):
            for name, path in ways.items():
                began = time.perf_counter()
                answer = client.get(path())
                took = (time.perf_counter() - began) * 1000
                if answer.status_code not in (200, 303):
                    raise SystemExit(f"{name} was answered {answer.status_code}: {answer.url}")
                if turn >= 5:  # the first ones make plans and fill caches
                    found[name][0].append(float(answer.headers["server-timing"].partition("dur=")[2]))
                    found[name][1].append(took)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=1_000_000)
    parser.add_argument("--asked", type=int, default=200, help="how many times for each page")
    parser.add_argument("--serve", nargs=2, metavar=("PORT", "DSN"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        trio.run(_serve, int(args.serve[0]), args.serve[1])
        return 0
    with tempfile.TemporaryDirectory(prefix="fe-bench-", ignore_cleanup_errors=True) as folder:
        dsn = start_embedded(Path(folder) / "postgres")
        migrate(dsn)
        with Report("portal", dsn) as report:
            tenant = trio.run(prepare, dsn)
            fill(dsn, tenant, args.submissions)
            port, known = free_port(), Known.of(dsn, args.submissions)
            with serving([sys.executable, "-m", "bench.portal", "--serve", PORT, dsn], port):
                found = ask(port, tenant, known, args.asked)
            slowest = 0.0
            for name, (server, client) in found.items():
                slowest = max(slowest, p95(server))
                for measured, values in (("server", server), ("client", client)):
                    report.figure(name, f"{measured} p50, ms", [statistics.median(values)])
                    report.figure(name, f"{measured} p95, ms", [p95(values)])
            report.ratio("slowest page's p95 : what is promised", [slowest], [PROMISED], at_most=1.0)
    return 0


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


if __name__ == "__main__":
    sys.exit(main())
