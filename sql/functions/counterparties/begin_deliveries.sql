-- Begin deliveries of accepted documents to counterparties, and mails to buyers, in the transaction of the verdict and
-- in one statement. NULL in `p_subjects`: skip the row.
CREATE OR REPLACE FUNCTION begin_deliveries(
    p_tenants bigint[], p_subjects uuid[], p_statuses text[], p_at timestamptz
)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_subjects);
BEGIN
    WITH accepted AS MATERIALIZED (
        SELECT s.tenant_id, s.submission_id, s.root, s.ecf_type, s.environment, s.issuer_rnc, s.buyer_rnc,
               t.sends_to_receivers, t.mail IS NOT NULL AS sends_mail
          FROM unnest(p_tenants, p_subjects, p_statuses) AS b (tenant_id, subject, status)
          JOIN submissions AS s
            ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
           AND s.submission_id BETWEEN span.first AND span.last
          JOIN tenants AS t ON t.tenant_id = b.tenant_id
         WHERE b.status IN ('Aceptado', 'Aceptado Condicional')
           AND (t.sends_to_receivers OR t.mail IS NOT NULL OR s.root = 'ACECF')
           AND NOT (s.client_request_id LIKE 'paper:%' AND EXISTS (
                SELECT 1
                  FROM paper_replacements AS x
                 WHERE x.tenant_id = s.tenant_id AND x.environment = s.environment
                   AND x.client_request_id = s.client_request_id))
    ), mailed AS (
        INSERT INTO mails (tenant_id, subject, stage, environment, run_at, entered_at)
        SELECT a.tenant_id, a.submission_id, 'mail', a.environment, clock_timestamp(), clock_timestamp()
          FROM accepted AS a
         WHERE a.sends_mail AND a.root = 'ECF'
        ON CONFLICT DO NOTHING
    )
    INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, since, changed_at)
    SELECT s.tenant_id, s.submission_id, CASE WHEN s.root = 'ACECF' THEN 'approval' ELSE 'receipt' END, s.environment,
           CASE WHEN s.root = 'ACECF' THEN s.issuer_rnc ELSE s.buyer_rnc END, p_at, p_at
      FROM accepted AS s
     WHERE (s.sends_to_receivers AND s.root = 'ECF' AND s.ecf_type IN ('31', '33', '34', '44')
            AND s.buyer_rnc IS NOT NULL)
        OR (s.root = 'ACECF' AND EXISTS (
                SELECT 1
                  FROM approvals AS a
                 WHERE a.tenant_id = s.tenant_id AND a.submission_id = s.submission_id))
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at)
        SELECT d.tenant_id, d.submission_id, 'address', d.environment, 'ecf', clock_timestamp()
          FROM unnest(p_tenants, p_subjects) AS b (tenant_id, subject)
          JOIN counterparty_deliveries AS d ON d.tenant_id = b.tenant_id AND d.submission_id = b.subject
        ON CONFLICT DO NOTHING;
    END IF;
    IF EXISTS (SELECT 1 FROM paper_receipts AS p WHERE p.tenant_id = ANY (p_tenants) AND p.replaced_at IS NULL) THEN
        UPDATE paper_receipts AS p
           SET replaced_at = p_at, replaced_by = s.submission_id, e_ncf = s.e_ncf
          FROM unnest(p_tenants, p_subjects, p_statuses) AS b (tenant_id, subject, status), submissions AS s,
               paper_replacements AS x
         WHERE b.status IN ('Aceptado', 'Aceptado Condicional')
           AND s.tenant_id = b.tenant_id AND s.submission_id = b.subject
           AND s.submission_id BETWEEN span.first AND span.last
           AND x.tenant_id = s.tenant_id AND x.environment = s.environment
           AND x.client_request_id = s.client_request_id
           AND p.tenant_id = x.tenant_id AND p.environment = x.environment AND p.ncf = x.ncf
           AND p.replaced_at IS NULL;
    END IF;
    IF EXISTS (SELECT 1 FROM received_waiting AS w WHERE w.tenant_id = ANY (p_tenants)) THEN
        DELETE FROM received_waiting AS w
         USING unnest(p_tenants, p_subjects, p_statuses) AS b (tenant_id, subject, status), submissions AS s, received AS r
         WHERE b.status IN ('Aceptado', 'Aceptado Condicional') AND s.root = 'ACECF'
           AND s.tenant_id = b.tenant_id AND s.submission_id = b.subject
           AND s.submission_id BETWEEN span.first AND span.last
           AND r.tenant_id = b.tenant_id AND r.environment = s.environment AND r.issuer_rnc = s.issuer_rnc
           AND r.e_ncf = s.e_ncf
           AND w.tenant_id = b.tenant_id AND w.environment = r.environment AND w.received_id = r.received_id;
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION begin_deliveries TO fe_worker;
