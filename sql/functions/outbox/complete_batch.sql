-- Delete claimed rows from the outbox. Returns the subjects whose claims held.
CREATE OR REPLACE FUNCTION complete_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[])
RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    mine uuid[];
BEGIN
    WITH gone AS (
        DELETE FROM outbox AS o
         USING unnest(p_tenants, p_subjects, p_epochs) WITH ORDINALITY AS b (tenant_id, subject, epoch, n)
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN gone.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN gone ON gone.n = b.n;
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION complete_batch TO fe_worker;
