"""Data of bench.portal: a company with a long history, and an installation with failures.

A tenant gets submissions over a year, by SQL: rows of `submissions` with all their indexes and the numbers they hold,
of several types, states, buyers and users; the newest 20,000 with their documents, events and clientRequestIds; a tenth
as many received documents. Also: a month of webhook deliveries, 5,000 changes, requests of each day, a bill for each
month, 2,000 dead letters, 20,000 receipts in flight, 5,000 actions of operators in the trail, 500 other companies.
"""

from datetime import UTC, datetime
from typing import Any

import psycopg

from bench.portal_shop import fill_shop

#: Newest submissions, which get documents, events and clientRequestIds.
NEWEST = 20_000
DELIVERIES, CHANGES, DEAD, WAITING, ACTS, COMPANIES = 100_000, 5_000, 2_000, 20_000, 5_000, 500
_CHUNK = 100_000

# The newest is number 0; `k` counts from the oldest on, so that numbers of a type follow each other as they were drawn.
_ID = """(lpad(to_hex((extract(EPOCH FROM t.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
            || '8' || substr(md5(n::text), 4, 15))::uuid"""
_SUBMISSIONS = f"""
    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                             e_ncf, issuer_rnc, buyer_rnc, as_user, status, track_id, security_code, qr_code_url,
                             signed_at, submitted_at, updated_at, first_answer_at, verdict_at, number_fate,
                             client_request_id, response, total, itbis, buyer_name, issued_on, amounts)
    SELECT %(tenant)s, {_ID}, e.name, 'fak_000000000000', sha256(''), 'xml', 'ECF', k.code,
           'E' || k.code || lpad((k.number + 1)::text, 10, '0'), '131880738', '1' || lpad((n %% 5000)::text, 8, '0'),
           CASE WHEN n %% 100 = 3 THEN 'caja' || n %% 7 || '@example.do' END, v.status, 'track-' || n, 'aB3xYz',
           'https://ecf.dgii.gov.do/ecf/ConsultaTimbre?RncEmisor=131880738&ENCF=E31&MontoTotal=1180.00&CodigoSeguridad=a',
           t.at, t.at, t.at, t.at + interval '4 seconds', CASE WHEN v.status <> 'error' THEN t.at END, 'used',
           'order-' || n,
           CASE WHEN v.status = 'Rechazado' THEN '{{"mensajes": [{{"codigo": "3205", "valor": "x"}}]}}'::jsonb END,
           1180 + n %% 5000, 180, 'Cliente ' || n %% 5000 || ' SRL', (t.at AT TIME ZONE 'America/Santo_Domingo')::date,
           '{{"base18": "1000.00", "itbis18": "180.00", "itbis": "180.00"}}'::jsonb
      FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
     CROSS JOIN LATERAL (SELECT %(until)s::timestamptz - interval '365 days' * (n / %(all)s::float8) AS at,
                                %(all)s::bigint - 1 - n AS k) AS t
     CROSS JOIN LATERAL (SELECT CASE WHEN n %% 1000 = 17 THEN 'testecf' ELSE 'ecf' END AS name) AS e
     CROSS JOIN LATERAL (SELECT CASE WHEN t.k %% 10 < 6 THEN '32' WHEN t.k %% 10 < 9 THEN '31'
                                     WHEN t.k %% 5000 = 9 THEN '46' ELSE '34' END AS code,
                                CASE WHEN t.k %% 10 < 6 THEN t.k / 10 * 6 + t.k %% 10
                                     WHEN t.k %% 10 < 9 THEN t.k / 10 * 3 + t.k %% 10 - 6
                                     WHEN t.k %% 5000 = 9 THEN t.k / 5000 ELSE t.k / 10 END AS number) AS k
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
_PURCHASE = """'<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>' || r.e_ncf
          || '</eNCF><TipoPago>1</TipoPago></IdDoc><Emisor><RNCEmisor>' || r.issuer_rnc
          || '</RNCEmisor><RazonSocialEmisor>' || r.issuer_name
          || '</RazonSocialEmisor></Emisor><Totales><MontoGravadoI1>100.00</MontoGravadoI1>'
          || '<TotalITBIS>18.00</TotalITBIS><TotalITBIS1>18.00</TotalITBIS1><MontoTotal>118.00</MontoTotal></Totales>'
          || '</Encabezado><DetallesItems>'
          || repeat('<Item><NumeroLinea>1</NumeroLinea><NombreItem>Martillo de carpintero</NombreItem>'
                    || '<IndicadorBienoServicio>1</IndicadorBienoServicio><CantidadItem>2</CantidadItem>'
                    || '<MontoItem>901</MontoItem></Item>', 14)
          || '</DetallesItems></ECF>'"""
_NUMBERS = (
    """INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
       SELECT tenant_id, environment, e_ncf, issuer_rnc, submission_id FROM submissions""",
    """INSERT INTO sequences (tenant_id, environment, prefix, sequence_id, min_number, max_number, current_number,
                              expire_at, created_at)
       SELECT %(tenant)s, environment, left(e_ncf, 3), gen_random_uuid(), 1, 9000000, max(substr(e_ncf, 4)::bigint) + 1,
              now() + interval '400 days', %(until)s::timestamptz - interval '370 days'
         FROM submissions GROUP BY environment, left(e_ncf, 3)""",
)
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
    SELECT r.tenant_id, r.environment, r.digest, 0, r.issuer_rnc, r.e_ncf, convert_to({_PURCHASE}, 'UTF8'), '\\x', now()
      FROM received AS r
"""
_REQUESTS = """
    INSERT INTO request_counts (tenant_id, environment, utc_day, succeeded, failed, bytes_in, bytes_out)
    SELECT %(tenant)s, e.name, (%(until)s::timestamptz - make_interval(days => n))::date, 9000 + n, n %% 50, 9000000,
           7000000
      FROM generate_series(0, 365) AS n CROSS JOIN (VALUES ('ecf'), ('testecf')) AS e (name)
"""
_BILLED = (
    """INSERT INTO billing_months (tenant_id, month, unit_price, currency, pricing_tier, subscription_id, frozen_at,
                                   counted, checked_at, closed_at, charged)
       SELECT %(tenant)s, m.month, 0.035, 'USD', 'volume', 'sub_bench', m.month, m.many, now(),
              CASE WHEN m.month < date_trunc('month', now()) THEN now() END,
              CASE WHEN m.month < date_trunc('month', now()) THEN m.many ELSE 0 END
         FROM (SELECT date_trunc('month', verdict_at AT TIME ZONE 'UTC')::date AS month, count(*) AS many
                 FROM submissions WHERE status LIKE 'Aceptado%%' AND environment = 'ecf' GROUP BY 1) AS m""",
    """INSERT INTO billing_charges (tenant_id, subject, stage, environment, run_at, month, part, emissions, unit_price,
                                    amount, currency, subscription_id, item_id, settled_at)
       SELECT tenant_id, gen_random_uuid(), 'charged', 'ecf', now(), month, 0, charged, unit_price,
              round(charged * unit_price, 2), currency, subscription_id, 'ii_' || month, now()
         FROM billing_months WHERE charged > 0""",
)
# As many of the newest deliveries as a month has; one of a hundred failed for good, and one of fifty at first.
_WEBHOOKS = (
    """INSERT INTO webhook_events (tenant_id, event_id, environment, kind, about, body, created_at)
       SELECT tenant_id, submission_id, environment, 'submission.accepted', submission_id::text,
              convert_to('{"event": "submission.accepted", "data": "' || repeat('x', 900) || '"}', 'UTF8'), submitted_at
         FROM delivered""",
    """INSERT INTO webhook_deliveries (tenant_id, subject, stage, environment, host, run_at, attempt, event_id,
                                       endpoint_id, created_at, finished_at, last_error)
       SELECT d.tenant_id, d.submission_id, CASE WHEN d.nth % 100 = 1 THEN 'failed' ELSE 'delivered' END,
              d.environment, w.endpoint_id::text, d.submitted_at, 1, d.submission_id, w.endpoint_id, d.submitted_at,
              d.submitted_at, CASE WHEN d.nth % 100 = 1 THEN 'status' END
         FROM delivered AS d
         JOIN webhook_endpoints AS w ON w.tenant_id = d.tenant_id AND w.environment = d.environment""",
    """INSERT INTO webhook_attempts (tenant_id, delivery_id, epoch, attempt, at, duration_ms, status, error, answer)
       SELECT d.tenant_id, d.submission_id, a, a, d.submitted_at, 120,
              CASE WHEN d.nth % 100 = 1 OR a < (1 + (d.nth % 50 = 2)::int * 2) THEN 500 ELSE 204 END,
              CASE WHEN d.nth % 100 = 1 OR a < (1 + (d.nth % 50 = 2)::int * 2) THEN 'status' END, 'no'
         FROM delivered AS d
        CROSS JOIN LATERAL generate_series(
              1, CASE WHEN d.nth % 100 = 1 THEN 8 WHEN d.nth % 50 = 2 THEN 3 ELSE 1 END) AS a""",
)
_CHANGES = """
    INSERT INTO tenant_changes (tenant_id, change_id, at, by_whom, through, action, subject, before, after)
    SELECT %(tenant)s, c.id, now() - make_interval(hours => n::int), 'ana@example.do', 'portal',
           (ARRAY['sequence changed', 'webhook set', 'key created', 'role changed'])[n %% 4 + 1], 'E31',
           '{"maximum": 1000, "isActive": true}', '{"maximum": 2000, "isActive": true}'
      FROM generate_series(1, %(many)s) AS n
     CROSS JOIN LATERAL (SELECT (left(uuid_floor(now() - make_interval(hours => n::int))::text, 14) || '7'
                                 || substr(gen_random_uuid()::text, 16))::uuid AS id) AS c
"""
# Dead letters and waiting receipts are chosen by id among the newest, apart from those above.
_TROUBLES = (
    """INSERT INTO dead_letters (tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at,
                                 died_at, error)
       SELECT tenant_id, submission_id, 'send', environment, 'ecf', 12, 12, 0, submitted_at, submitted_at,
              'authority answered with status 503'
         FROM newest WHERE nth %% 10 = 0 LIMIT %(dead)s""",
    """INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at, outcome)
       SELECT tenant_id, subject, e, sha256(''), died_at, CASE WHEN n % 4 = 0 THEN 'unknown' ELSE 'not_sent' END
         FROM (SELECT *, row_number() OVER () AS n FROM dead_letters) AS d CROSS JOIN generate_series(1, 3) AS e""",
    """INSERT INTO outbox (tenant_id, subject, stage, environment, host, run_at, entered_at, last_error)
       SELECT tenant_id, submission_id, CASE WHEN nth %% 40 = 1 THEN 'reconcile' ELSE 'send' END, environment, 'ecf',
              now() + interval '1 hour', now(), 'authority answered with status 503'
         FROM newest WHERE nth %% 10 <> 0 LIMIT %(waiting)s""",
    """INSERT INTO circuits (environment, host, is_open, since, probe_at)
       SELECT e.name, h.name, false, now(), now()
         FROM (VALUES ('ecf'), ('testecf'), ('certecf')) AS e (name), (VALUES ('ecf'), ('fc')) AS h (name)""",
    """INSERT INTO workers (holder, started_at, seen_at)
       SELECT 'host-' || n, now(), now() FROM generate_series(1, 8) AS n""",
    """INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason)
       SELECT tenant_id, '', now(), 'luis', 'asked for by the tenant' FROM tenants WHERE name LIKE 'Otra 1%'""",
    """INSERT INTO login_attempts (bucket, kind, recent, locked_until, last_at)
       SELECT sha256(n::text::bytea), 'address', '{}', now() + interval '1 day', now()
         FROM generate_series(1, 300) AS n""",
    """INSERT INTO operator_actions (action_id, at, by_whom, action, reason, tenant_id, subject, detail)
       SELECT gen_random_uuid(), now() - make_interval(mins => n::int), 'luis', 'replay', 'the authority is back',
              %(tenant)s, gen_random_uuid(), '{"stage": "send"}'
         FROM generate_series(1, %(acts)s) AS n""",
    """INSERT INTO replay_plans (plan_id, created_at, created_by, reason, canary, canaries_passed, per_second,
                                 stop_on_failure, carried_on, halted_at, halted_because)
       SELECT 'plan-' || n, now() - make_interval(days => n), 'luis', 'the authority is back', 1, true, 5, true, true,
              now(), 'a canary failed'
         FROM generate_series(1, 100) AS n""",
    """INSERT INTO replay_items (tenant_id, plan_id, subject, turn, released_at, released_to)
       SELECT s.tenant_id, 'plan-' || (1 + s.nth % 5), s.submission_id, s.nth, now(), 'send'
         FROM newest AS s WHERE s.nth % 10 = 0""",
    """INSERT INTO pending_actions (action_id, kind, tenant_id, request, digest, row_count, asked_by, asked_through,
                                    asked_at, reason, expires_at)
       SELECT gen_random_uuid(), 'replay', %(tenant)s, r.request, sha256(convert_to(r.request, 'UTF8')), %(dead)s,
              'luis', 'portal', now() - make_interval(hours => n), 'the authority is back', now() + interval '1 day'
         FROM generate_series(1, 100) AS n
        CROSS JOIN (SELECT json_build_object('plan', 'plan-1', 'canary', 1, 'per_second', '5', 'stop_on_failure', true,
                           'rows', json_agg(json_build_array(d.tenant_id, d.subject, d.died_at)))::text AS request
                      FROM dead_letters AS d) AS r""",
)


def fill(dsn: str, tenant: int, many: int) -> None:
    """Give the tenant its history, and the installation its troubles."""
    until = datetime.now(UTC)
    values: dict[str, Any] = {"tenant": tenant, "all": many, "until": until, "many": CHANGES}
    values |= {"dead": DEAD, "waiting": WAITING, "acts": ACTS}
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "SELECT ensure_month(%s::timestamptz - make_interval(months => n)) FROM generate_series(0, 13) AS n",
            [until],
        )
        for first in range(0, many, _CHUNK):
            conn.execute(_SUBMISSIONS.encode(), {**values, "first": first, "last": min(first + _CHUNK, many) - 1})
        for name, limit in (("newest", NEWEST), ("delivered", DELIVERIES)):
            conn.execute(
                f"""CREATE TEMP TABLE {name} AS
                    SELECT tenant_id, submission_id, environment, submitted_at, client_request_id,
                           row_number() OVER (ORDER BY submission_id DESC)::int AS nth
                      FROM submissions ORDER BY submission_id DESC LIMIT {limit}""".encode()
            )
        statements = (*_NUMBERS, *_OF_THE_NEWEST, _RECEIVED, _ACKNOWLEDGED, _REQUESTS, *_BILLED, *_WEBHOOKS)
        for statement in (*statements, _CHANGES, *_TROUBLES):
            conn.execute(statement.encode(), values if "%(" in statement else None)
        fill_shop(conn, tenant)
        conn.execute("VACUUM ANALYZE")
