-- Record intents to send: the sends, and their events.
CREATE OR REPLACE FUNCTION announce_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_digests bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    announced uuid[];
BEGIN
    WITH new AS (
        INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at)
        SELECT b.tenant_id, b.subject, b.epoch, b.digest, p_at
          FROM unnest(p_tenants, p_subjects, p_epochs, p_digests) AS b (tenant_id, subject, epoch, digest)
         WHERE b.subject IS NOT NULL
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, submission_id
    )
    SELECT array_agg(new.submission_id ORDER BY b.n) INTO announced
      FROM unnest(p_tenants, p_subjects) WITH ORDINALITY AS b (tenant_id, subject, n)
      LEFT JOIN new ON new.tenant_id = b.tenant_id AND new.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, announced, p_at, 'sending', ARRAY(
        SELECT jsonb_build_object('epoch', b.epoch, 'sha256', encode(b.digest, 'hex'))
          FROM unnest(p_epochs, p_digests) WITH ORDINALITY AS b (epoch, digest, n)
         ORDER BY b.n));
END
$$;

GRANT EXECUTE ON FUNCTION announce_batch TO fe_worker;
