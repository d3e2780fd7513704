-- Begin a try of a mail: note its address and its Message-ID, and count it against the tenant's cap. Fenced by the claim.
--   outcome 'go'          send it, under `message_id`, which no later try changes
--           'counted'     the same, and this try counted it
--           'suppressed'  the tenant's list has the address
--           'capped'      the tenant has used up its mails of this day
--           'lost'        the claim was lost; nothing is written
-- A mail counts once, however often it is tried. Its patience begins with the first try, and again when the cap puts it
-- off.
CREATE OR REPLACE FUNCTION begin_mail(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_address text, p_message_id text, p_day date, p_a_day int
) RETURNS TABLE (outcome text, message_id text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    mine record;
BEGIN
    SELECT m.counted_on, m.message_id IS NULL AS is_new, coalesce(m.message_id, p_message_id) AS message_id INTO mine
      FROM mails AS m
     WHERE m.tenant_id = p_tenant AND m.subject = p_subject AND m.epoch = p_epoch AND m.holder IS NOT NULL
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'lost'::text, NULL::text;
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM mail_suppressions AS x WHERE x.tenant_id = p_tenant AND x.address = lower(p_address)) THEN
        RETURN QUERY SELECT 'suppressed'::text, mine.message_id;
        RETURN;
    END IF;
    IF mine.counted_on IS NULL THEN
        INSERT INTO mail_days AS d (tenant_id, day, mails) VALUES (p_tenant, p_day, 1)
        ON CONFLICT (tenant_id, day) DO UPDATE SET mails = d.mails + 1 WHERE d.mails < p_a_day;
        IF NOT FOUND THEN
            UPDATE mails AS m
               SET address = p_address, entered_at = clock_timestamp()
             WHERE m.tenant_id = p_tenant AND m.subject = p_subject;
            RETURN QUERY SELECT 'capped'::text, mine.message_id;
            RETURN;
        END IF;
    END IF;
    UPDATE mails AS m
       SET address = p_address, message_id = mine.message_id, counted_on = coalesce(m.counted_on, p_day),
           entered_at = CASE WHEN mine.is_new THEN clock_timestamp() ELSE m.entered_at END
     WHERE m.tenant_id = p_tenant AND m.subject = p_subject;
    RETURN QUERY SELECT CASE WHEN mine.counted_on IS NULL THEN 'counted' ELSE 'go' END, mine.message_id;
END
$$;

GRANT EXECUTE ON FUNCTION begin_mail TO fe_worker;
