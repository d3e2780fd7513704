-- What operators do about dead letters. Each act is one function: all of it happens, its reason on record, or nothing.

-- Everything operators did, whole plans too. Append-only: no role that works with it may change or delete.
CREATE TABLE operator_actions (
    action_id uuid NOT NULL,
    at timestamptz NOT NULL,
    by_whom text NOT NULL,
    action text NOT NULL,
    reason text NOT NULL,
    tenant_id bigint,
    subject uuid,
    detail jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT operator_actions_pk PRIMARY KEY (action_id),
    CONSTRAINT operator_actions_reason_given CHECK (length(reason) BETWEEN 1 AND 1000),
    CONSTRAINT operator_actions_known CHECK (action IN ('replay', 'discard', 'pause', 'resume', 'plan'))
);

CREATE INDEX operator_actions_by_time ON operator_actions (at);

-- A replay of many rows, which survives the death of whoever runs it: the same plan id goes on where it stopped.
CREATE TABLE replay_plans (
    plan_id text NOT NULL,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    reason text NOT NULL,
    -- So many rows are released first, and the rest only when these have come to a good end.
    canary int NOT NULL,
    canaries_passed boolean NOT NULL,
    per_second numeric NOT NULL,
    -- The pace is kept here, so that it holds however many run the plan, and after whatever crash.
    next_release_at timestamptz NOT NULL DEFAULT '-infinity',
    stop_on_failure boolean NOT NULL,
    finished_at timestamptz,
    CONSTRAINT replay_plans_pk PRIMARY KEY (plan_id),
    CONSTRAINT replay_plans_id_form CHECK (plan_id ~ '^[A-Za-z0-9_.-]{1,64}$'),
    CONSTRAINT replay_plans_pace CHECK (canary >= 0 AND per_second > 0)
);

CREATE TABLE replay_items (
    tenant_id bigint NOT NULL,
    plan_id text NOT NULL,
    subject uuid NOT NULL,
    -- The order of release.
    turn int NOT NULL,
    released_at timestamptz,
    -- The stage it was released to; NULL when it was no dead letter any more by then.
    released_to text,
    CONSTRAINT replay_items_pk PRIMARY KEY (tenant_id, plan_id, subject),
    CONSTRAINT replay_items_plan_fk FOREIGN KEY (plan_id) REFERENCES replay_plans (plan_id)
);

CREATE INDEX replay_items_by_turn ON replay_items (plan_id, turn);

CREATE INDEX replay_items_waiting ON replay_items (plan_id, turn) WHERE released_at IS NULL;

-- Set a dead letter going again, attempts afresh. Where bytes may have gone out the authority is asked first; signed
-- bytes are never made again; only what was never signed goes back to the signer. NULL: there is no such dead letter.
CREATE FUNCTION replay_dead_letter(p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text)
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

-- Give a dead letter up: `error` to its client. The number is free again only if certainly nothing went out.
CREATE FUNCTION discard_dead_letter(p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    last_error text;
    fate text;
BEGIN
    DELETE FROM dead_letters AS d
     WHERE d.tenant_id = p_tenant AND d.subject = p_subject
    RETURNING d.error INTO last_error;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    fate := CASE WHEN EXISTS (
        SELECT 1 FROM sends AS x
         WHERE x.tenant_id = p_tenant AND x.submission_id = p_subject AND x.outcome <> 'not_sent')
        THEN 'unknown' ELSE 'reusable' END;
    UPDATE submissions AS s
       SET status = 'error', number_fate = fate, updated_at = p_at,
           response = coalesce(s.response, '{}'::jsonb)
                      || jsonb_build_object('status', 'error', 'dgiiResponse', s.response -> 'dgiiResponse',
                                            'error', 'given up by an operator: ' || p_reason || ' (' || last_error || ')')
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'discarded',
                         jsonb_build_object('by', p_by, 'reason', p_reason, 'numberFate', fate));
    RETURN fate;
END
$$;
