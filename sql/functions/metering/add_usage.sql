-- Add submissions to a tenant's days: those submitted, the latencies of those answered, and the outcomes of those
-- ended. The caller holds the lock on the tenant's mark.
CREATE OR REPLACE FUNCTION add_usage(
    p_tenant bigint, p_submitted uuid[], p_answered uuid[], p_ended uuid[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_latency AS l (tenant_id, utc_day, environment, counts)
    SELECT p_tenant, (s.first_answer_at AT TIME ZONE 'UTC')::date, s.environment,
           sketch_of(array_agg(microseconds_of(s.first_answer_at - s.submitted_at)))
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_answered)
     GROUP BY 2, 3
    ON CONFLICT (tenant_id, utc_day, environment) DO UPDATE
       SET counts = sketch_sum(l.counts, EXCLUDED.counts);

    INSERT INTO usage_days AS d (tenant_id, utc_day, environment, submitted, settled, accepted, conditional, rejected,
                                 answered, latency_us)
    SELECT p_tenant, x.utc_day, x.environment, sum(x.submitted), sum(x.settled), sum(x.accepted), sum(x.conditional),
           sum(x.rejected), sum(x.answered), sum(x.latency_us)
      FROM (
        SELECT s.environment, (s.submitted_at AT TIME ZONE 'UTC')::date AS utc_day, 1 AS submitted, 0 AS settled,
               0 AS accepted, 0 AS conditional, 0 AS rejected, 0 AS answered, 0::bigint AS latency_us
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_submitted)
         UNION ALL
        SELECT s.environment, (s.submitted_at AT TIME ZONE 'UTC')::date, 0, 1, 0, 0, 0, 0, 0
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_ended)
           AND (coalesce(s.verdict_at, s.updated_at) AT TIME ZONE 'UTC')::date
               <= (s.submitted_at AT TIME ZONE 'UTC')::date
         UNION ALL
        SELECT s.environment, (s.verdict_at AT TIME ZONE 'UTC')::date, 0, 0, (s.status = 'Aceptado')::int,
               (s.status = 'Aceptado Condicional')::int, (s.status = 'Rechazado')::int, 0, 0
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_ended) AND s.verdict_at IS NOT NULL
         UNION ALL
        SELECT s.environment, (s.first_answer_at AT TIME ZONE 'UTC')::date, 0, 0, 0, 0, 0, 1,
               microseconds_of(s.first_answer_at - s.submitted_at)
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_answered)
      ) AS x
     GROUP BY x.utc_day, x.environment
     ORDER BY x.utc_day, x.environment
    ON CONFLICT (tenant_id, utc_day, environment) DO UPDATE
       SET submitted = d.submitted + EXCLUDED.submitted, settled = d.settled + EXCLUDED.settled,
           accepted = d.accepted + EXCLUDED.accepted, conditional = d.conditional + EXCLUDED.conditional,
           rejected = d.rejected + EXCLUDED.rejected, answered = d.answered + EXCLUDED.answered,
           latency_us = d.latency_us + EXCLUDED.latency_us;

    UPDATE usage_days AS d
       SET p95_us = sketch_p95(l.counts)
      FROM usage_latency AS l
     WHERE d.tenant_id = p_tenant AND l.tenant_id = p_tenant AND l.utc_day = d.utc_day
       AND l.environment = d.environment
       AND d.utc_day = ANY (ARRAY(SELECT DISTINCT (s.first_answer_at AT TIME ZONE 'UTC')::date
                                    FROM submissions AS s
                                   WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_answered)));
END
$$;

GRANT EXECUTE ON FUNCTION add_usage TO fe_worker, fe_operator;
