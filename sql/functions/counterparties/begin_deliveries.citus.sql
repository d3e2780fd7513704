-- The plain form by single rows: submissions are read on their nodes, deliveries written on the coordinator. Without a
-- delivery nothing is written there, so no commit in two phases is needed.
CREATE OR REPLACE FUNCTION begin_deliveries(p_tenants bigint[], p_subjects uuid[], p_statuses text[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan AS $$
DECLARE
    s record;
    paper text;
    subject uuid;
BEGIN
    FOR n IN 1 .. coalesce(cardinality(p_subjects), 0) LOOP
        subject := p_subjects[n];  -- SET a = p_subjects[n] ends the server process (docs/scaling.md)
        CONTINUE WHEN p_subjects[n] IS NULL OR p_statuses[n] NOT IN ('Aceptado', 'Aceptado Condicional');
        SELECT r.root::text AS root, r.ecf_type, r.environment::text AS environment, r.issuer_rnc, r.buyer_rnc,
               r.e_ncf, r.client_request_id INTO s
          FROM submissions AS r
         WHERE r.tenant_id = p_tenants[n] AND r.submission_id = p_subjects[n];
        IF s.client_request_id LIKE 'paper:%' THEN
            SELECT x.ncf INTO paper
              FROM paper_replacements AS x
             WHERE x.tenant_id = p_tenants[n] AND x.environment::text = s.environment
               AND x.client_request_id = s.client_request_id;
            IF FOUND THEN
                UPDATE paper_receipts AS p
                   SET replaced_at = p_at, replaced_by = subject, e_ncf = s.e_ncf
                 WHERE p.tenant_id = p_tenants[n] AND p.environment::text = s.environment AND p.ncf = paper
                   AND p.replaced_at IS NULL;
                CONTINUE;
            END IF;
        END IF;
        IF s.root = 'ECF' THEN
            INSERT INTO mails (tenant_id, subject, stage, environment, run_at, entered_at)
            SELECT t.tenant_id, p_subjects[n], 'mail', s.environment, clock_timestamp(), clock_timestamp()
              FROM tenants AS t
             WHERE t.tenant_id = p_tenants[n] AND t.mail IS NOT NULL
            ON CONFLICT DO NOTHING;
        END IF;
        IF s.root = 'ACECF' THEN
            DELETE FROM received_waiting AS w
             USING received AS r
             WHERE w.tenant_id = p_tenants[n] AND r.tenant_id = p_tenants[n] AND w.received_id = r.received_id
               AND w.environment = r.environment AND r.environment::text = s.environment
               AND r.issuer_rnc = s.issuer_rnc AND r.e_ncf = s.e_ncf;
            CONTINUE WHEN NOT EXISTS (SELECT 1
                                        FROM approvals AS a
                                       WHERE a.tenant_id = p_tenants[n] AND a.submission_id = p_subjects[n]);
        ELSE
            CONTINUE WHEN s.root <> 'ECF' OR s.buyer_rnc IS NULL OR s.ecf_type IS NULL
                       OR s.ecf_type NOT IN ('31', '33', '34', '44')
                       OR NOT EXISTS (SELECT 1
                                        FROM tenants AS t
                                       WHERE t.tenant_id = p_tenants[n] AND t.sends_to_receivers);
        END IF;
        INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, since,
                                             changed_at)
        VALUES (p_tenants[n], p_subjects[n], CASE WHEN s.root = 'ACECF' THEN 'approval' ELSE 'receipt' END,
                s.environment, CASE WHEN s.root = 'ACECF' THEN s.issuer_rnc ELSE s.buyer_rnc END, p_at, p_at)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at)
            VALUES (p_tenants[n], p_subjects[n], 'address', s.environment, 'ecf', clock_timestamp())
            ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
END
$$;
