-- Record the health of the endpoints of a batch of tries. Locks only rows that change, in order. Times are the
-- database's, so that processes with different clocks agree. A try that began before the endpoint's address changed is
-- ignored.
CREATE OR REPLACE FUNCTION note_endpoints(
    p_tenants bigint[], p_endpoints uuid[], p_at timestamptz, p_stages text[], p_begun timestamptz[], p_gone boolean[],
    p_patience interval
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    noted record;
BEGIN
    FOR noted IN
        SELECT e.tenant_id, e.endpoint_id,
               CASE WHEN seen.is_well THEN NULL ELSE coalesce(e.failing_since, now()) END AS failing_since,
               CASE WHEN seen.is_gone THEN 'gone'
                    WHEN NOT seen.is_well AND e.failing_since <= now() - p_patience THEN 'failing' END AS reason
          FROM (SELECT b.tenant_id, b.endpoint_id, bool_or(b.stage = 'delivered') AS is_well, bool_or(b.gone) AS is_gone
                  FROM unnest(p_tenants, p_endpoints, p_stages, p_begun, p_gone)
                               AS b (tenant_id, endpoint_id, stage, begun, gone)
                  JOIN webhook_endpoints AS of_then
                    ON of_then.tenant_id = b.tenant_id AND of_then.endpoint_id = b.endpoint_id
                   AND of_then.updated_at <= b.begun
                 GROUP BY b.tenant_id, b.endpoint_id) AS seen
          JOIN webhook_endpoints AS e ON e.tenant_id = seen.tenant_id AND e.endpoint_id = seen.endpoint_id
         WHERE e.disabled_at IS NULL
           AND (seen.is_gone OR (e.failing_since IS NULL) <> seen.is_well OR e.failing_since <= now() - p_patience)
         ORDER BY e.tenant_id, e.endpoint_id
           FOR UPDATE OF e
    LOOP
        UPDATE webhook_endpoints AS e
           SET failing_since = noted.failing_since,
               disabled_at = CASE WHEN noted.reason IS NOT NULL THEN p_at END,
               disabled_reason = noted.reason
         WHERE e.tenant_id = noted.tenant_id AND e.endpoint_id = noted.endpoint_id;
        IF noted.reason IS NOT NULL THEN
            -- Those under way and those beyond are held one by one, as they come up.
            UPDATE webhook_deliveries AS d
               SET stage = 'held', entered_at = now()
             WHERE d.tenant_id = noted.tenant_id
               AND d.subject = ANY (ARRAY(
                   SELECT w.subject
                     FROM webhook_deliveries AS w
                    WHERE w.tenant_id = noted.tenant_id AND w.host = noted.endpoint_id::text AND w.stage = 'webhook'
                      AND w.holder IS NULL
                    LIMIT 10000
                      FOR UPDATE SKIP LOCKED));
        END IF;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION note_endpoints TO fe_worker;
