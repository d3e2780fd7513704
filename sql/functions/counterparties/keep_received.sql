-- Record a received document, its acknowledgement and its event, in one transaction. Returns the acknowledgement that
-- counts: this one, or the earlier one for the same bytes. NULL, and nothing is recorded, when another document has the
-- number.
CREATE OR REPLACE FUNCTION keep_received(
    p_tenant bigint, p_environment text, p_digest bytea, p_reason int, p_issuer text, p_e_ncf text, p_signer text,
    p_presenter text, p_document bytea, p_acknowledgement bytea, p_at timestamptz, p_received uuid, p_type text,
    p_issuer_name text, p_buyer text, p_issued_on date, p_total numeric
) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    said bytea;
BEGIN
    IF p_reason = 0 THEN
        INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name, buyer_rnc,
                              issued_on, total, digest, received_at)
        VALUES (p_tenant, p_received, p_environment, p_issuer, p_e_ncf, p_type, p_issuer_name, p_buyer,
                p_issued_on, p_total, p_digest, p_at)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            SELECT a.acknowledgement INTO said
              FROM acknowledgements AS a
             WHERE a.tenant_id = p_tenant AND a.environment = p_environment AND a.digest = p_digest AND a.reason = 0;
            RETURN said;
        END IF;
        INSERT INTO received_waiting (tenant_id, environment, received_id) VALUES (p_tenant, p_environment, p_received);
    END IF;
    INSERT INTO acknowledgements (tenant_id, environment, digest, reason, issuer_rnc, e_ncf, signer, presenter,
                                  document, acknowledgement, said_at)
    VALUES (p_tenant, p_environment, p_digest, p_reason, p_issuer, p_e_ncf, p_signer, p_presenter,
            p_document, p_acknowledgement, p_at)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        IF p_reason = 0 AND webhook_wanted(p_tenant, p_environment, 'received_ecf') THEN
            PERFORM tell_webhooks(p_tenant, p_received, p_environment, 'received_ecf', p_received::text, p_at,
                                  received_event_body(p_tenant, p_received, p_at), NULL);
        END IF;
        RETURN p_acknowledgement;
    END IF;
    SELECT a.acknowledgement INTO said
      FROM acknowledgements AS a
     WHERE a.tenant_id = p_tenant AND a.environment = p_environment AND a.digest = p_digest AND a.reason = p_reason;
    RETURN said;
END
$$;

GRANT EXECUTE ON FUNCTION keep_received TO fe_reception;
