-- Erase the receipts of a tenant that took its duty to keep them over (docs/decisions/retention.md), p_most at a time,
-- and return how many are left; repeat it until none is. Refused unless the tenant is disabled, nothing of it is on its
-- way, everything is in stored packages, the archive was checked after the handover of the protocol, and no package is
-- newer. An administrator runs it: no role of the service may delete these rows. The audit trail has a record of it.
CREATE OR REPLACE FUNCTION erase_tenant(p_tenant bigint, p_protocol bytea, p_by text, p_reason text, p_most int)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    handover record;
    ids uuid[];
    what text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM disabled_tenants AS d WHERE d.tenant_id = p_tenant) THEN
        RAISE EXCEPTION 'the tenant works: disable it first';
    END IF;
    SELECT h.at, h.heads INTO handover
      FROM archive_handovers AS h
     WHERE h.tenant_id = p_tenant AND h.protocol = p_protocol
     ORDER BY h.at DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no archive was handed over with this protocol';
    END IF;
    IF EXISTS (SELECT 1 FROM submissions AS s
                WHERE s.tenant_id = p_tenant AND s.status IN ('queued', 'En Proceso'))
       OR EXISTS (SELECT 1 FROM counterparty_outbox AS o WHERE o.tenant_id = p_tenant)
       OR EXISTS (SELECT 1 FROM voidings AS v WHERE v.tenant_id = p_tenant AND v.stage IN ('void', 'in doubt')) THEN
        RAISE EXCEPTION 'work of the tenant is on its way: wait for its end';
    END IF;
    IF EXISTS (SELECT 1 FROM archive_packages AS p
                WHERE p.tenant_id = p_tenant
                  AND (p.stored_at IS NULL
                       OR p.number > coalesce((handover.heads -> p.environment::text ->> 'number')::bigint, 0))) THEN
        RAISE EXCEPTION 'there are packages that the handover does not have: hand the archive over again';
    END IF;
    IF EXISTS (SELECT 1 FROM archive_chains AS c
                WHERE c.tenant_id = p_tenant
                  AND (c.checked_at IS NULL OR c.checked_at < handover.at OR c.missing > 0 OR c.faults <> '{}')) THEN
        RAISE EXCEPTION 'the archive was not checked since the handover, or differs: fe archive check --read';
    END IF;
    -- Also what the archive refused: the database alone has it.
    IF EXISTS (SELECT 1 FROM submissions AS s
                WHERE s.tenant_id = p_tenant AND s.signed_at IS NOT NULL
                  AND NOT EXISTS (SELECT 1 FROM archive_items AS i
                                   WHERE i.tenant_id = p_tenant AND i.evidence_id = s.submission_id
                                     AND i.part = 'issued' AND i.number IS NOT NULL))
       OR EXISTS (SELECT 1 FROM received AS r
                   WHERE r.tenant_id = p_tenant
                     AND NOT EXISTS (SELECT 1 FROM archive_items AS i
                                      WHERE i.tenant_id = p_tenant AND i.evidence_id = r.received_id
                                        AND i.part = 'received' AND i.number IS NOT NULL))
       OR EXISTS (SELECT 1 FROM counterparty_deliveries AS d
                   WHERE d.tenant_id = p_tenant AND d.kind = 'receipt' AND d.answer IS NOT NULL
                     AND NOT EXISTS (SELECT 1 FROM archive_items AS i
                                      WHERE i.tenant_id = p_tenant AND i.evidence_id = d.submission_id
                                        AND i.part = 'acknowledgement' AND i.number IS NOT NULL))
       OR EXISTS (SELECT 1 FROM received_approvals AS a
                   WHERE a.tenant_id = p_tenant
                     AND NOT EXISTS (SELECT 1 FROM archive_items AS i
                                      WHERE i.tenant_id = p_tenant AND i.evidence_id = a.submission_id
                                        AND i.part = 'approval' AND i.number IS NOT NULL)) THEN
        RAISE EXCEPTION 'receipts of the tenant are not archived';
    END IF;

    INSERT INTO operator_actions (action_id, at, by_whom, action, reason, tenant_id, detail)
    SELECT gen_random_uuid(), now(), p_by, 'tenant erase', p_reason, p_tenant,
           jsonb_build_object('protocol', encode(p_protocol, 'hex'))
     WHERE NOT EXISTS (SELECT 1 FROM operator_actions AS a
                        WHERE a.tenant_id = p_tenant AND a.action = 'tenant erase'
                          AND a.detail ->> 'protocol' = encode(p_protocol, 'hex'));
    ids := ARRAY(SELECT s.submission_id FROM submissions AS s
                  WHERE s.tenant_id = p_tenant ORDER BY s.submission_id LIMIT p_most);
    FOREACH what IN ARRAY ARRAY['client_requests', 'held_numbers', 'mail_recipients', 'shared_receipts',
                                'received_approvals', 'approvals', 'counterparty_deliveries', 'counterparty_sends',
                                'archive_places', 'submission_documents', 'submission_events',
                                'submission_metadata', 'sends',
                                'submissions'] LOOP
        EXECUTE format('DELETE FROM %I AS t WHERE t.tenant_id = $1 AND t.submission_id = ANY ($2)', what)
        USING p_tenant, ids;
    END LOOP;
    DELETE FROM mails AS m WHERE m.tenant_id = p_tenant AND m.subject = ANY (ids);
    IF NOT EXISTS (SELECT 1 FROM submissions AS s WHERE s.tenant_id = p_tenant) THEN
        -- Acknowledgements that refuse are in no package: they stay.
        DELETE FROM acknowledgements AS a WHERE a.tenant_id = p_tenant AND a.reason = 0;
        FOREACH what IN ARRAY ARRAY['received_amounts', 'received_waiting', 'received',
                                    'receipt_expenses', 'supplier_expenses', 'customers', 'products',
                                    'portal_drafts', 'import_receipts', 'import_files', 'imports', 'recurring_due',
                                    'recurring_turns', 'recurring_receipts', 'webhook_attempts',
                                    'webhook_deliveries', 'webhook_events', 'request_log', 'sandbox_outages'] LOOP
            EXECUTE format('DELETE FROM %I AS t WHERE t.tenant_id = $1', what) USING p_tenant;
        END LOOP;
    END IF;
    RETURN (SELECT count(*) FROM submissions AS s WHERE s.tenant_id = p_tenant);
END
$$;
