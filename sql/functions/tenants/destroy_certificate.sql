-- Destroy the key of a retired certificate. `p_x509` is the certificate itself, where it was read.
--   'destroyed'
--   'none'      there is no such certificate
--   'before'    its key was destroyed before
--   'in use'    it was not retired
--   'needed'    documents that it signed are in flight: sessions with the authority and receivers use it
CREATE OR REPLACE FUNCTION destroy_certificate(
    p_tenant bigint, p_certificate uuid, p_at timestamptz, p_x509 bytea, OUT outcome text, OUT waiting bigint
)
LANGUAGE plpgsql AS $$
DECLARE
    mine record;
BEGIN
    waiting := 0;
    SELECT c.retired_at, c.destroyed_at INTO mine
      FROM certificates AS c
     WHERE c.tenant_id = p_tenant AND c.certificate_id = p_certificate
       FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'none';
        RETURN;
    ELSIF mine.destroyed_at IS NOT NULL THEN
        outcome := 'before';
        RETURN;
    ELSIF mine.retired_at IS NULL THEN
        outcome := 'in use';
        RETURN;
    END IF;
    -- A signer may have chosen it while it was in use.
    waiting := (
        SELECT count(*)
          FROM (SELECT o.subject, o.stage = 'sign' AND o.holder IS NOT NULL AS signing
                  FROM outbox AS o
                 WHERE o.tenant_id = p_tenant
                UNION ALL
                SELECT d.subject, false FROM dead_letters AS d WHERE d.tenant_id = p_tenant
                UNION ALL
                SELECT c.subject, false FROM counterparty_outbox AS c WHERE c.tenant_id = p_tenant) AS w
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = w.subject
         WHERE w.signing OR s.certificate_id = p_certificate);
    IF waiting > 0 THEN
        outcome := 'needed';
        RETURN;
    END IF;
    UPDATE certificates AS c
       SET destroyed_at = p_at, x509 = coalesce(c.x509, p_x509)
     WHERE c.tenant_id = p_tenant AND c.certificate_id = p_certificate;
    outcome := 'destroyed';
END
$$;

GRANT EXECUTE ON FUNCTION destroy_certificate TO fe_operator;
