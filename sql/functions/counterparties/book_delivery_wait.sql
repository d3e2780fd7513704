-- Book a try of a delivery. Fenced by the claim: false, and nothing is written, where the claim was lost. The row is
-- due again after `p_after`: in another stage with its attempts reset, or in the same one, with the attempt given back
-- where it does not count.
CREATE OR REPLACE FUNCTION book_delivery_wait(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_stage text, p_host text, p_url text,
    p_after interval, p_counts boolean, p_error text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE counterparty_outbox AS o
       SET attempt = CASE WHEN o.stage <> p_stage THEN 0 WHEN p_counts THEN o.attempt ELSE o.attempt - 1 END,
           entered_at = CASE WHEN o.stage <> p_stage THEN clock_timestamp() ELSE o.entered_at END,
           stage = p_stage, host = coalesce(p_host, o.host), run_at = clock_timestamp() + p_after, holder = NULL,
           deaths = 0, last_error = p_error
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE counterparty_deliveries AS d
       SET reason = CASE WHEN p_counts THEN p_error ELSE d.reason END, url = coalesce(p_url, d.url), changed_at = p_at
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND (p_counts OR p_url IS NOT NULL);
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION book_delivery_wait TO fe_worker;
