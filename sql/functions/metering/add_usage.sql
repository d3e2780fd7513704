-- Add submissions to a tenant's days: those submitted, the latencies of those answered, and the outcomes of those
-- ended. The caller holds the lock on the tenant's mark.
CREATE OR REPLACE FUNCTION add_usage(
    p_tenant bigint, p_submitted uuid[], p_answered uuid[], p_ended uuid[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_submitted || p_answered || p_ended);
    days date[] := ARRAY[]::date[];
    one date;
BEGIN
    FOR one IN
        INSERT INTO usage_latency AS l (tenant_id, utc_day, environment, counts)
        SELECT p_tenant, (s.first_answer_at AT TIME ZONE 'UTC')::date, s.environment,
               sketch_of(array_agg(microseconds_of(s.first_answer_at - s.submitted_at)))
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_answered)
           AND s.submission_id BETWEEN span.first AND span.last
         GROUP BY 2, 3
        ON CONFLICT (tenant_id, utc_day, environment) DO UPDATE
           SET counts = sketch_sum(l.counts, EXCLUDED.counts)
        RETURNING l.utc_day
    LOOP
        days := days || one;
    END LOOP;

    WITH known AS MATERIALIZED (
        SELECT s.environment, s.status, s.submitted_at, s.first_answer_at, s.verdict_at, x.submitted,
               x.answered, x.ended,
               x.ended AND (coalesce(s.verdict_at, s.updated_at) AT TIME ZONE 'UTC')::date
                           <= (s.submitted_at AT TIME ZONE 'UTC')::date AS settled
          FROM (SELECT y.id, bool_or(y.submitted) AS submitted, bool_or(y.answered) AS answered, bool_or(y.ended) AS ended
                  FROM (SELECT a.id, true AS submitted, false AS answered, false AS ended
                          FROM unnest(p_submitted) AS a (id)
                         UNION ALL
                        SELECT a.id, false, true, false FROM unnest(p_answered) AS a (id)
                         UNION ALL
                        SELECT a.id, false, false, true FROM unnest(p_ended) AS a (id)) AS y
                 GROUP BY y.id) AS x
          JOIN submissions AS s
            ON s.tenant_id = p_tenant AND s.submission_id = x.id AND s.submission_id BETWEEN span.first AND span.last
    )
    INSERT INTO usage_days AS d (tenant_id, utc_day, environment, submitted, settled, accepted, conditional, rejected,
                                 answered, latency_us)
    SELECT p_tenant, x.utc_day, x.environment, sum(x.submitted), sum(x.settled), sum(x.accepted), sum(x.conditional),
           sum(x.rejected), sum(x.answered), sum(x.latency_us)
      FROM (
        SELECT k.environment, (k.submitted_at AT TIME ZONE 'UTC')::date AS utc_day, k.submitted::int AS submitted,
               k.settled::int AS settled, 0 AS accepted, 0 AS conditional, 0 AS rejected, 0 AS answered,
               0::bigint AS latency_us
          FROM known AS k
         WHERE k.submitted OR k.settled
         UNION ALL
        SELECT k.environment, (k.verdict_at AT TIME ZONE 'UTC')::date, 0, 0, (k.status = 'Aceptado')::int,
               (k.status = 'Aceptado Condicional')::int, (k.status = 'Rechazado')::int, 0, 0
          FROM known AS k
         WHERE k.ended AND k.verdict_at IS NOT NULL
         UNION ALL
        SELECT k.environment, (k.first_answer_at AT TIME ZONE 'UTC')::date, 0, 0, 0, 0, 0, 1,
               microseconds_of(k.first_answer_at - k.submitted_at)
          FROM known AS k
         WHERE k.answered
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
       AND d.utc_day = ANY (days);
END
$$;

GRANT EXECUTE ON FUNCTION add_usage TO fe_worker, fe_operator;
