-- Fold up to p_most noted ends of a tenant into its days, and billed ones into their month. Returns how many.
CREATE OR REPLACE FUNCTION fold_usage(p_tenant bigint, p_most int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    ended uuid[];
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    ended := ARRAY(SELECT e.submission_id
                     FROM usage_ends AS e
                    WHERE e.tenant_id = p_tenant
                    ORDER BY e.submission_id
                    LIMIT p_most);
    IF ended = '{}' THEN
        RETURN 0;
    END IF;
    PERFORM add_usage(
        p_tenant,
        ARRAY(SELECT x.id
                FROM unnest(ended) AS x (id)
               WHERE NOT EXISTS (SELECT 1 FROM usage_carried AS c
                                  WHERE c.tenant_id = p_tenant AND c.submission_id = x.id)),
        ARRAY(SELECT s.submission_id
                FROM submissions AS s
               WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (ended)
                 AND s.submission_id BETWEEN ended[1] AND ended[cardinality(ended)] AND s.first_answer_at IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM usage_carried AS c
                                  WHERE c.tenant_id = p_tenant AND c.submission_id = s.submission_id AND c.answered)),
        ended);
    PERFORM add_receipt_days(p_tenant, ended);
    UPDATE billing_months AS m
       SET counted = m.counted + x.many
      FROM (SELECT e.billed_in, count(*) AS many
              FROM usage_ends AS e
             WHERE e.tenant_id = p_tenant AND e.submission_id = ANY (ended) AND e.billed_in IS NOT NULL
             GROUP BY e.billed_in) AS x
     WHERE m.tenant_id = p_tenant AND m.month = x.billed_in;
    DELETE FROM usage_carried AS c WHERE c.tenant_id = p_tenant AND c.submission_id = ANY (ended);
    DELETE FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.submission_id = ANY (ended);
    RETURN cardinality(ended);
END
$$;

GRANT EXECUTE ON FUNCTION fold_usage TO fe_worker, fe_operator;
