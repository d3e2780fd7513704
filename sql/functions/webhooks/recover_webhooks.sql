-- Redeliver or recreate a part of the events of a recovery. `found` counts what was found so far; `is_done` tells
-- whether it was the last part.
CREATE OR REPLACE FUNCTION recover_webhooks(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_limit int
) RETURNS TABLE (found int, is_done boolean) LANGUAGE plpgsql AS $$
DECLARE
    job webhook_recoveries%ROWTYPE;
    endpoint record;
    one record;
    last uuid;
    seen int := 0;
    put int := 0;
BEGIN
    SELECT r.* INTO job
      FROM webhook_recoveries AS r
     WHERE r.tenant_id = p_tenant AND r.subject = p_subject AND r.epoch = p_epoch AND r.holder IS NOT NULL
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT e.environment, e.events, e.enabled AND e.removed_at IS NULL AS is_on INTO endpoint
      FROM webhook_endpoints AS e
     WHERE e.tenant_id = p_tenant AND e.endpoint_id = job.endpoint_id;
    last := job.position;
    FOR one IN
        SELECT i.id, v.kind, v.environment, v.created_at, r.received_id, r.environment AS received_environment,
               r.received_at, d.subject AS delivery, d.stage
          FROM (SELECT v.event_id AS id
                  FROM webhook_events AS v
                 WHERE v.tenant_id = p_tenant AND v.event_id > job.position AND v.event_id < uuid_floor(job.until)
                 UNION
                SELECT r.received_id AS id
                  FROM received AS r
                 WHERE r.tenant_id = p_tenant AND r.received_id > job.position
                   AND r.received_id < uuid_floor(job.until) AND NOT job.only_held
                 ORDER BY id
                 LIMIT p_limit) AS i
          LEFT JOIN webhook_events AS v ON v.tenant_id = p_tenant AND v.event_id = i.id
          LEFT JOIN received AS r ON r.tenant_id = p_tenant AND r.received_id = i.id
          LEFT JOIN webhook_deliveries AS d
            ON d.tenant_id = p_tenant
           AND d.subject = webhook_id(coalesce(v.created_at, r.received_at), i.id::text || job.endpoint_id::text)
         ORDER BY i.id
    LOOP
        seen := seen + 1;
        last := one.id;
        CONTINUE WHEN NOT endpoint.is_on OR one.kind = 'test';
        CONTINUE WHEN NOT coalesce(one.kind, 'received_ecf') = ANY (endpoint.events);
        CONTINUE WHEN endpoint.environment
                      <> coalesce(one.environment, one.received_environment, endpoint.environment);
        IF one.delivery IS NOT NULL THEN
            IF one.stage = 'held' OR (one.stage = 'failed' AND NOT job.only_held) THEN
                put := put + retry_webhook(p_tenant, one.delivery)::int;
            END IF;
        ELSIF NOT job.only_held THEN
            IF one.kind IS NULL THEN
                PERFORM tell_webhooks(p_tenant, one.id, one.received_environment, 'received_ecf', one.id::text,
                                      one.received_at, received_event_body(p_tenant, one.id, p_at), job.endpoint_id);
            ELSE
                PERFORM deliver_event(p_tenant, one.id, one.environment, one.kind, one.created_at, job.endpoint_id);
            END IF;
            put := put + 1;
        END IF;
    END LOOP;
    UPDATE webhook_recoveries AS r
       SET position = last, recovered = r.recovered + put, attempt = 0, deaths = 0, holder = NULL, run_at = now(),
           last_error = NULL, stage = CASE WHEN seen < p_limit THEN 'done' ELSE r.stage END,
           finished_at = CASE WHEN seen < p_limit THEN p_at END
     WHERE r.tenant_id = p_tenant AND r.subject = p_subject;
    RETURN QUERY SELECT put, seen < p_limit;
END
$$;

GRANT EXECUTE ON FUNCTION recover_webhooks TO fe_worker;
