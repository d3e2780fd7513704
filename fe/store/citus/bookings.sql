-- What follows bookings, and is done from here: every statement names one tenant, and so goes to one node whole.
--
-- No UPDATE sets a column to an element of an array: Citus 14.0.1 on Postgres 18 crashes the server at such a statement
-- (get_update_query_targetlist_def). It goes through a variable first.

-- As in 0029. Who is told, and to whom it goes on, the coordinator knows: only where it is nobody does it stand alone.
CREATE OR REPLACE FUNCTION book_verdict_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[]
) RETURNS uuid[] LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    sends boolean[];
    answers text[];
    mine uuid[] := p_subjects;
    going_on uuid[] := p_subjects;
BEGIN
    IF EXISTS (SELECT FROM webhook_endpoints AS e WHERE e.tenant_id = ANY (p_tenants))
       OR EXISTS (SELECT FROM tenants AS t WHERE t.tenant_id = ANY (p_tenants) AND t.sends_to_receivers) THEN
        PERFORM stand_together();
    END IF;
    IF NOT stands_alone() THEN
        sends := ARRAY(
            SELECT EXISTS (SELECT FROM tenants AS t WHERE t.tenant_id = b.tenant_id AND t.sends_to_receivers)
              FROM unnest(p_tenants) WITH ORDINALITY AS b (tenant_id, n)
             ORDER BY b.n);
    END IF;
    answers := decide_batch(
        p_tenants, p_subjects, p_epochs, p_at, p_statuses, p_track_ids, p_responses, p_number_fates, sends);
    FOR n IN 1 .. cardinality(answers) LOOP
        IF answers[n] IS DISTINCT FROM 'goes on' THEN
            going_on[n] := NULL;
        END IF;
        IF coalesce(answers[n], 'lost') = 'lost' THEN
            mine[n] := NULL;
        END IF;
    END LOOP;
    PERFORM tell_outcomes(p_tenants, mine, p_at);
    IF num_nonnulls(VARIADIC going_on) > 0 THEN
        PERFORM begin_deliveries(p_tenants, going_on, p_statuses, p_at);
    END IF;
    RETURN mine;
END
$$;

-- As in 0029: what may go on to whom it is about. Of each the submission is read where it is, the rest here; nothing is written here,
-- nor committed in two phases, for one that goes to nobody.
CREATE OR REPLACE FUNCTION begin_deliveries(p_tenants bigint[], p_subjects uuid[], p_statuses text[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan AS $$
DECLARE
    s record;
BEGIN
    FOR n IN 1 .. coalesce(cardinality(p_subjects), 0) LOOP
        CONTINUE WHEN p_subjects[n] IS NULL OR p_statuses[n] NOT IN ('Aceptado', 'Aceptado Condicional');
        SELECT r.root::text AS root, r.ecf_type, r.environment::text AS environment, r.issuer_rnc, r.buyer_rnc INTO s
          FROM submissions AS r
         WHERE r.tenant_id = p_tenants[n] AND r.submission_id = p_subjects[n];
        IF s.root = 'ACECF' THEN
            CONTINUE WHEN NOT EXISTS (SELECT 1
                                        FROM approvals AS a
                                       WHERE a.tenant_id = p_tenants[n] AND a.submission_id = p_subjects[n]);
        ELSE
            CONTINUE WHEN s.root <> 'ECF' OR s.buyer_rnc IS NULL OR s.ecf_type IS NULL
                       OR s.ecf_type NOT IN ('31', '33', '34', '44')
                       OR NOT EXISTS (SELECT 1
                                        FROM tenants AS t
                                       WHERE t.tenant_id = p_tenants[n] AND t.sends_to_receivers);
        END IF;
        INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, since,
                                             changed_at)
        VALUES (p_tenants[n], p_subjects[n], CASE WHEN s.root = 'ACECF' THEN 'approval' ELSE 'receipt' END,
                s.environment, CASE WHEN s.root = 'ACECF' THEN s.issuer_rnc ELSE s.buyer_rnc END, p_at, p_at)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at)
            VALUES (p_tenants[n], p_subjects[n], 'address', s.environment, 'ecf', clock_timestamp())
            ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION note_ends(p_tenants bigint[], p_subjects uuid[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    this_month date := utc_month(p_at);
    is_billed boolean;
    month_billed date;
BEGIN
    FOR n IN 1 .. coalesce(cardinality(p_subjects), 0) LOOP
        SELECT s.environment = 'ecf' AND s.status IN ('Aceptado', 'Aceptado Condicional') INTO is_billed
          FROM submissions AS s
         WHERE s.tenant_id = p_tenants[n] AND s.submission_id = p_subjects[n];
        CONTINUE WHEN NOT FOUND;
        month_billed := CASE WHEN is_billed AND (SELECT t.enabled
                                                   FROM billing_terms AS t
                                                  WHERE t.tenant_id = p_tenants[n] AND t.since <= p_at
                                                  ORDER BY t.since DESC
                                                  LIMIT 1) THEN this_month END;
        INSERT INTO usage_ends (tenant_id, submission_id, noted_at, billed_in)
        VALUES (p_tenants[n], p_subjects[n], clock_timestamp(), month_billed)
        ON CONFLICT DO NOTHING;
        IF FOUND AND month_billed IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM billing_months AS m WHERE m.tenant_id = p_tenants[n] AND m.month = this_month) THEN
            PERFORM freeze_month(p_tenants[n], this_month, p_at);
        END IF;
    END LOOP;
END
$$;

-- Mostly nobody is to be told, and to see that is planned once.
CREATE OR REPLACE FUNCTION tell_outcomes(p_tenants bigint[], p_submissions uuid[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM webhook_endpoints AS e WHERE e.tenant_id = ANY (p_tenants)) THEN
        PERFORM tell_outcomes_to_webhooks(p_tenants, p_submissions, p_at);
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION tell_outcomes_to_webhooks(p_tenants bigint[], p_submissions uuid[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan AS $$
DECLARE
    ended record;
    kind text;
BEGIN
    FOR n IN 1 .. coalesce(cardinality(p_submissions), 0) LOOP
        CONTINUE WHEN p_submissions[n] IS NULL OR NOT EXISTS (
            SELECT 1
              FROM webhook_endpoints AS e
             WHERE e.tenant_id = p_tenants[n] AND e.enabled AND e.removed_at IS NULL
               AND e.events && ARRAY['submission.accepted', 'submission.conditional', 'submission.rejected',
                                     'submission.error']);
        SELECT s.* INTO ended
          FROM submissions AS s
         WHERE s.tenant_id = p_tenants[n] AND s.submission_id = p_submissions[n];
        kind := CASE ended.status::text
            WHEN 'Aceptado' THEN 'submission.accepted'
            WHEN 'Aceptado Condicional' THEN 'submission.conditional'
            WHEN 'Rechazado' THEN 'submission.rejected'
            WHEN 'error' THEN 'submission.error'
        END;
        CONTINUE WHEN kind IS NULL OR NOT webhook_wanted(p_tenants[n], ended.environment, kind);
        PERFORM tell_webhooks(
            ended.tenant_id, webhook_id(p_at, kind || ' ' || ended.submission_id::text), ended.environment,
            kind, ended.submission_id::text, p_at,
            (SELECT row_to_json(told)::text
               FROM (SELECT kind AS event, webhook_moment(p_at) AS "sentAt",
                            (SELECT row_to_json(submission)
                               FROM (SELECT ended.submission_id AS "taxLogId",
                                            ended.client_request_id AS "clientRequestId",
                                            ended.environment AS environment, ended.status AS status,
                                            ended.e_ncf AS "eNCF", ended.number_fate AS "numberFate",
                                            ended.track_id AS "trackId", ended.security_code AS "securityCode",
                                            ended.qr_code_url AS "qrCodeUrl", ended.response AS response,
                                            webhook_moment(p_at) AS "updatedAt") AS submission) AS submission) AS told),
            NULL);
    END LOOP;
END
$$;

-- As in 0023: what its client reads is put together here, since jsonb_build_object() is not handed to a node with a column.
CREATE OR REPLACE FUNCTION discard_dead_letter(
    p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text, p_note text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    last_error text;
    fate text;
    said jsonb;
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
    SELECT s.response INTO said
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject
       FOR UPDATE;
    said := coalesce(said, '{}'::jsonb)
            || jsonb_build_object('status', 'error', 'dgiiResponse', said -> 'dgiiResponse',
                                  'error', 'given up by an operator' || coalesce(': ' || p_note, '')
                                           || ' (' || last_error || ')');
    UPDATE submissions AS s
       SET status = 'error', number_fate = fate, updated_at = p_at, response = said
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'discarded',
                         jsonb_build_object('by', p_by, 'reason', p_reason, 'note', p_note, 'numberFate', fate));
    PERFORM return_numbers(ARRAY[p_tenant], ARRAY[p_subject]);
    PERFORM note_ends(ARRAY[p_tenant], ARRAY[p_subject], p_at);
    RETURN fate;
END
$$;

-- As in 0024, with what count_month does in the one statement: a function that asks for rows is not handed to a node.
CREATE OR REPLACE FUNCTION reconcile_month(p_tenant bigint, p_month date) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    begins timestamptz := month_begins(p_month);
    ends timestamptz := month_begins((p_month + interval '1 month')::date);
    moment timestamptz := clock_timestamp();
    found record;
    wrong bigint;
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    SELECT coalesce(sum(x.many), 0)::bigint AS many, min(x.first_at) AS first_at,
           (SELECT m.counted FROM billing_months AS m WHERE m.tenant_id = p_tenant AND m.month = p_month) AS counted,
           (SELECT count(*) FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.billed_in = p_month) AS noted
      INTO found
      FROM (SELECT t.since, lead(t.since) OVER (ORDER BY t.since) AS until, t.enabled
              FROM billing_terms AS t
             WHERE t.tenant_id = p_tenant) AS term
     CROSS JOIN LATERAL (
           SELECT count(*) AS many, min(s.verdict_at) AS first_at
             FROM submissions AS s
            WHERE s.tenant_id = p_tenant AND s.environment = 'ecf'
              AND s.verdict_at >= greatest(term.since, begins) AND s.verdict_at < least(term.until, ends)
              AND s.status IN ('Aceptado', 'Aceptado Condicional')) AS x
     WHERE term.enabled;
    IF found.many = 0 AND found.counted IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM freeze_month(p_tenant, p_month, found.first_at);
    wrong := coalesce(found.counted, 0) + found.noted - found.many;
    UPDATE billing_months AS m
       SET counted = found.many - found.noted, checked_at = moment, drift = wrong
     WHERE m.tenant_id = p_tenant AND m.month = p_month;
    RETURN wrong;
END
$$;

GRANT EXECUTE ON FUNCTION decide_batch TO fe_worker;

GRANT EXECUTE ON FUNCTION tell_outcomes_to_webhooks TO fe_front, fe_portal, fe_worker, fe_operator;
