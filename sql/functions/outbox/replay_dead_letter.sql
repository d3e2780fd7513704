-- Replay a dead letter with its attempts reset. Where bytes may have been sent the authority is asked first; signed
-- bytes are sent again unchanged; unsigned documents go to the signer. NULL: there is no such dead letter.
CREATE OR REPLACE FUNCTION replay_dead_letter(
    p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text
)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    dead record;
    next_stage text;
    moment timestamptz := clock_timestamp();
BEGIN
    DELETE FROM dead_letters AS d
     WHERE d.tenant_id = p_tenant AND d.subject = p_subject
    RETURNING d.stage, d.environment, d.host, d.epoch INTO dead;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF dead.stage = 'send' AND EXISTS (
        SELECT 1 FROM sends AS x
         WHERE x.tenant_id = p_tenant AND x.submission_id = p_subject AND x.outcome <> 'not_sent') THEN
        next_stage := 'reconcile';
    ELSE
        next_stage := dead.stage;
    END IF;
    INSERT INTO outbox (tenant_id, subject, stage, environment, host, run_at, epoch, entered_at)
    VALUES (p_tenant, p_subject, next_stage, dead.environment, dead.host, moment, dead.epoch, moment);
    UPDATE submissions AS s
       SET replayed_epoch = dead.epoch, updated_at = p_at,
           response = nullif(s.response - 'status' - 'error', '{}'::jsonb)
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'replayed',
                         jsonb_build_object('by', p_by, 'reason', p_reason, 'stage', next_stage));
    RETURN next_stage;
END
$$;

GRANT EXECUTE ON FUNCTION replay_dead_letter TO fe_operator;
