-- Close a tenant's days before p_today, or before today by the server's clock: carry over what is in flight. False
-- while ends of those days are not folded: fold, and call again. Safe to repeat.
CREATE OR REPLACE FUNCTION close_usage(p_tenant bigint, p_today date) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    until date := least(p_today, (clock_timestamp() AT TIME ZONE 'UTC')::date);
    midnight timestamptz := until::timestamp AT TIME ZONE 'UTC';
    waiting uuid[];
    answered_now uuid[];
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    IF NOT FOUND OR EXISTS (
        SELECT 1 FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.noted_at < midnight) THEN
        RETURN false;
    END IF;
    waiting := ARRAY(
        SELECT x.subject
          FROM (SELECT o.subject FROM outbox AS o WHERE o.tenant_id = p_tenant
                 UNION ALL
                SELECT w.subject FROM dead_letters AS w WHERE w.tenant_id = p_tenant) AS x
         WHERE x.subject < uuid_floor(midnight)
           AND NOT EXISTS (SELECT 1 FROM usage_carried AS c
                            WHERE c.tenant_id = p_tenant AND c.submission_id = x.subject));
    INSERT INTO usage_carried (tenant_id, submission_id, answered)
    SELECT p_tenant, x.id, false FROM unnest(waiting) AS x (id)
    ON CONFLICT DO NOTHING;  -- without it Citus would use COPY, which row-level security refuses
    answered_now := ARRAY(
        SELECT s.submission_id
          FROM usage_carried AS c
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = c.submission_id
         WHERE c.tenant_id = p_tenant AND NOT c.answered AND s.first_answer_at IS NOT NULL);
    UPDATE usage_carried AS c
       SET answered = true
     WHERE c.tenant_id = p_tenant AND c.submission_id = ANY (answered_now);
    IF waiting <> '{}' OR answered_now <> '{}' THEN
        PERFORM add_usage(p_tenant, waiting, answered_now, '{}');
    END IF;
    UPDATE usage_marks AS m
       SET closed_until = greatest(m.closed_until, until)
     WHERE m.tenant_id = p_tenant;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION close_usage TO fe_worker, fe_operator;
