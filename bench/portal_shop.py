"""Data of bench.portal beside receipts: catalogue, register of taxpayers, sums of days, imports, recurring receipts."""

from typing import Any

import psycopg

CUSTOMERS, PRODUCTS, TAXPAYERS, IMPORTED = 20_000, 20_000, 1_000_000, 5_000

_WORDS = """(ARRAY['mesa','silla','camion','cable','cafe','arroz','martillo','pintura','tubo','cemento','llave','papel',
                   'tinta','jabon','aceite','lampara','puerta','vidrio','madera','clavo'])"""
_HOUSES = """(ARRAY['Hotel','Colmado','Ferreteria','Farmacia','Panaderia','Constructora','Inversiones','Agencia',
                    'Transporte','Comercial'])"""
_STATEMENTS = (
    f"""INSERT INTO customers (tenant_id, id, name, rnc, search, source, version, changed_at, changed_by, used_at)
        SELECT %(tenant)s, 'C-' || n, h.name, r.rnc, ' ' || lower(replace(h.name, '  ', ' ')) || ' ' || r.rnc, 'api', 1,
               now(), 'key', CASE WHEN n %% 20 = 0 THEN now() - make_interval(mins => n) END
          FROM generate_series(1, {CUSTOMERS}) AS n
         CROSS JOIN LATERAL (
            SELECT {_HOUSES}[n %% 10 + 1] || ' ' || {_WORDS}[n / 10 %% 20 + 1] || ' ' || n AS name) AS h
         CROSS JOIN LATERAL (SELECT '1' || lpad((n * 31 %% 10000000)::text, 8, '0') AS rnc) AS r""",
    f"""INSERT INTO products (tenant_id, id, name, code, price, price_has_itbis, itbis, kind, additional_taxes, search,
                              source, version, changed_at, changed_by, used_at)
        SELECT %(tenant)s, 'P-' || n, initcap(w.name), 'A' || n, n %% 900 + 0.5, true, '18', 'good', '{{}}',
               ' ' || w.name || ' a' || n, 'api', 1, now(), 'key',
               CASE WHEN n %% 20 = 0 THEN now() - make_interval(mins => n) END
          FROM generate_series(1, {PRODUCTS}) AS n
         CROSS JOIN LATERAL (
            SELECT {_WORDS}[n %% 20 + 1] || ' ' || {_WORDS}[n / 20 %% 20 + 1] || ' ' || n AS name) AS w""",
    f"""INSERT INTO taxpayers (generation, rnc, name, trade_name, activity, status, regime)
        SELECT 1, '1' || lpad(n::text, 8, '0'), 'CONTRIBUYENTE ' || n || ' SRL', '', 'VENTA AL POR MENOR', 'ACTIVO',
               'NORMAL'
          FROM generate_series(1, {TAXPAYERS}) AS n""",
    f"""INSERT INTO taxpayer_register (one, generation, rows, loaded_at, loaded_by)
        VALUES (true, 1, {TAXPAYERS}, now(), 'bench')""",
    # As sql/functions/metering/add_receipt_days.sql leaves them.
    """INSERT INTO receipt_days (tenant_id, environment, issued_on, ecf_type, status, receipts, total, itbis, base18,
                                 base16, base0, exempt, itbis18, itbis16, itbis_withheld, isr_withheld, without_amounts,
                                 first_number, last_number)
       SELECT tenant_id, environment, issued_on, ecf_type, status, count(*), sum(total), sum(itbis),
              sum((amounts ->> 'base18')::numeric), 0, 0, 0, sum(itbis), 0, 0, 0, 0, min(e_ncf), max(e_ncf)
         FROM submissions
        GROUP BY tenant_id, environment, issued_on, ecf_type, status""",
    # As reception keeps them (fe/month/received_facts.py).
    """INSERT INTO received_amounts (tenant_id, received_id, amounts)
       SELECT tenant_id, received_id,
              '{"itbis": "18.00", "base18": "100.00", "itbis18": "18.00", "services": "0.00", "goods": "100.00"}'
         FROM received""",
    # All but the newest thousand are answered, by documents that the authority accepted.
    """CREATE TEMP TABLE answered AS
       SELECT r.*, (substr(r.received_id::text, 1, 19) || '9' || substr(r.received_id::text, 21))::uuid AS answer_id
         FROM received AS r ORDER BY r.received_id DESC OFFSET 1000""",
    """INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, e_ncf,
                                issuer_rnc, buyer_rnc, status, submitted_at, updated_at, signed_at, verdict_at,
                                number_fate, replayed_epoch)
       SELECT tenant_id, answer_id, environment, 'fak_000000000000', sha256(''), 'xml', 'ACECF', e_ncf, issuer_rnc,
              buyer_rnc, 'Aceptado', received_at, received_at, received_at, received_at, 'used', 0
         FROM answered""",
    """INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
       SELECT tenant_id, answer_id, 'signed', convert_to(
              '<ACECF><DetalleAprobacionComercial><Version>1.0</Version><eNCF>' || e_ncf || '</eNCF><Estado>'
              || CASE WHEN right(e_ncf, 1) = '7' THEN 2 ELSE 1 END
              || '</Estado></DetalleAprobacionComercial></ACECF>', 'UTF8')
         FROM answered""",
    """INSERT INTO approvals (tenant_id, received_id, round, submission_id, approved, reason, decided_at)
       SELECT tenant_id, received_id, 1, answer_id, right(e_ncf, 1) <> '7',
              CASE WHEN right(e_ncf, 1) = '7' THEN 'no se recibió' END, received_at
         FROM answered""",
    """INSERT INTO received_waiting (tenant_id, environment, received_id)
       SELECT tenant_id, environment, received_id FROM received ORDER BY received_id DESC LIMIT 1000""",
    """INSERT INTO import_files (tenant_id, import_id, environment, created_at, api_key_id, name, digest, content,
                                 notes)
       SELECT %(tenant)s, gen_random_uuid(), 'ecf', now() - make_interval(hours => n), 'fak_000000000000',
              'ventas.xlsx', sha256(n::text::bytea), '\\x', '[]'
         FROM generate_series(1, 30) AS n""",
    """INSERT INTO imports (tenant_id, import_id, environment, state, created_at)
       SELECT tenant_id, import_id, environment, 'issued', created_at FROM import_files""",
    f"""INSERT INTO import_receipts (tenant_id, import_id, place, key, is_own_key, file_rows, prefix, payload, outcome,
                                     misread, faults, e_ncf)
        SELECT tenant_id, import_id, n - 1, 'row ' || n, true, ARRAY[n], 'E32', convert_to(repeat('x', 300), 'UTF8'),
               CASE WHEN n % 10 = 0 THEN 'faulty' ELSE 'issued' END, '[]',
               CASE WHEN n % 10 = 0 THEN '[[1, null, "wrong", "no cuadra"]]'::jsonb ELSE '[]' END,
               'E32' || lpad(n::text, 10, '0')
          FROM import_files CROSS JOIN generate_series(1, {IMPORTED}) AS n""",
    """INSERT INTO recurring_receipts (tenant_id, recurring_id, environment, id, name, state, day, every, next_on,
                                       payload, api_key_id, version, created_at, changed_at, changed_by)
       SELECT %(tenant)s, gen_random_uuid(), 'ecf', 'renta-' || n, 'Alquiler ' || n, 'active', 1 + n %% 28, 1,
              current_date + n %% 28, convert_to('{"Encabezado": {"IdDoc": {"TipoeCF": "31"}}, "DetallesItems": '
              || '{"Item": [{"NombreItem": "Alquiler", "CantidadItem": 1, "PrecioUnitarioItem": 100}]}}', 'UTF8'),
              'fak_000000000000', 1, now(), now(), 'ana'
         FROM generate_series(1, 5000) AS n""",
    """INSERT INTO recurring_turns (tenant_id, recurring_id, month, due_on, state)
       SELECT tenant_id, recurring_id, m::date, m::date, 'issued'
         FROM recurring_receipts CROSS JOIN generate_series('2025-01-01', '2026-10-01', interval '1 month') AS m""",
)


def fill_shop(conn: "psycopg.Connection[Any]", tenant: int) -> None:
    """Give the tenant its catalogue, sums, imports and recurring receipts, and the installation its register."""
    for statement in _STATEMENTS:
        conn.execute(statement.encode(), {"tenant": tenant} if "%(" in statement else None)
