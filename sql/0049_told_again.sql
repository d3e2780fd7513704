-- Three cases in which what was to be told, or handed on, was not: each needs two things to happen at the same moment.

-- 1. An event that comes about while its endpoint is not called is held, and is let go of when the endpoint is called again. One that was
-- written at that very moment, or by a process whose clock is ahead, or that a try found not called a moment before, was held for ever.

-- The tenants of whom something is held though its endpoint is called. A test is nobody's matter but whose who asked for it.
CREATE FUNCTION held_in_vain() RETURNS SETOF bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT e.tenant_id
      FROM webhook_endpoints AS e
     WHERE e.enabled AND e.disabled_at IS NULL AND e.removed_at IS NULL
       AND EXISTS (
               SELECT 1
                 FROM webhook_deliveries AS d
                 JOIN webhook_events AS v
                   ON v.tenant_id = d.tenant_id AND v.event_id = d.event_id AND v.kind <> 'test'
                WHERE d.stage = 'held' AND d.environment IN ('testecf', 'certecf', 'ecf')
                  AND d.host = e.endpoint_id::text AND d.tenant_id = e.tenant_id);
END
$$;

-- Have it made, from the first try on, so many at most; tells how many.
CREATE FUNCTION let_go_of_held(p_tenant bigint, p_limit int) RETURNS int
LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT count(*) FILTER (WHERE retry_webhook(p_tenant, held.subject))
          FROM (SELECT d.subject
                  FROM webhook_deliveries AS d
                  JOIN webhook_endpoints AS e ON e.tenant_id = p_tenant AND e.endpoint_id = d.endpoint_id
                  JOIN webhook_events AS v ON v.tenant_id = p_tenant AND v.event_id = d.event_id AND v.kind <> 'test'
                 WHERE d.tenant_id = p_tenant AND d.stage = 'held'
                   AND e.enabled AND e.disabled_at IS NULL AND e.removed_at IS NULL
                 ORDER BY d.subject
                 LIMIT p_limit
                   FOR UPDATE OF d SKIP LOCKED) AS held);
END
$$;

GRANT EXECUTE ON FUNCTION held_in_vain, let_go_of_held TO fe_worker;

-- 2. A try that began before its endpoint was given another address says nothing of that: a 410 of the old one switched the new one off.

-- As before (0039) but for that.
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

-- 3. What is handed on to another taxpayer once more began with an epoch that claims had had before, since those that sent nothing were
-- forgotten: whoever had such a claim, and woke up late, could book what came of it.
ALTER TABLE counterparty_deliveries ADD COLUMN epoch bigint NOT NULL DEFAULT 0;

-- As before (0022), and the last epoch is kept.
CREATE OR REPLACE FUNCTION book_delivery_end(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_state text, p_reason text, p_answer bytea,
    p_status int
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM counterparty_outbox AS o
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF p_status IS NOT NULL THEN
        UPDATE counterparty_sends AS s
           SET outcome = 'answered', status = p_status, answered_at = p_at
         WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject AND s.epoch = p_epoch;
    END IF;
    UPDATE counterparty_deliveries AS d
       SET state = p_state, reason = p_reason, answer = coalesce(p_answer, d.answer), changed_at = p_at,
           epoch = p_epoch
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject;
    RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION replay_delivery(p_tenant bigint, p_subject uuid, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE counterparty_deliveries AS d
       SET state = 'pending', reason = NULL, changed_at = p_at
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND d.state IN ('gave_up', 'refused', 'unlisted');
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- The epoch goes on where it stood: each send has its own. (What ended before its last one was kept: that of the last send.)
    INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at, epoch)
    SELECT d.tenant_id, d.submission_id, 'address', d.environment, 'ecf', clock_timestamp(),
           greatest(d.epoch, (SELECT max(s.epoch)
                                FROM counterparty_sends AS s
                               WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject))
      FROM counterparty_deliveries AS d
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject;
    RETURN true;
END
$$;
