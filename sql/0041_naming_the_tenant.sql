-- One place that names a tenant to row-level security (0008), and whoever does it, does it there: an engine on which a
-- setting has to be made otherwise, so that every node knows of it, has a `name_tenant` of its own and nothing else.

-- Name a tenant for the rest of the transaction, and answer it. Where it stands in a statement it is an expression of that
-- statement, as set_config() was: the row that is checked is the one whose tenant was just named.
CREATE FUNCTION name_tenant(p_tenant bigint) RETURNS bigint
LANGUAGE sql
RETURN set_config('fe.tenant', p_tenant::text, true)::bigint;

-- The same for whoever takes a submission of that tenant in. Here a trigger looks whether the tenant is disabled (0027); an
-- engine that has no such trigger looks in this function.
CREATE FUNCTION name_submitter(p_tenant bigint) RETURNS bigint
LANGUAGE sql
RETURN name_tenant(p_tenant);

GRANT EXECUTE ON FUNCTION name_tenant, name_submitter TO fe_front, fe_portal;

-- The functions that name a tenant, as they were (0012, 0015, 0022, 0006) but for that.

CREATE OR REPLACE FUNCTION accept_submission(
    p_tenant bigint, p_submission uuid, p_at timestamptz, p_environment text, p_api_key text, p_client_request text,
    p_body_digest bytea, p_format text, p_root text, p_type text, p_e_ncf text, p_issuer text, p_buyer text,
    p_as_user text, p_as_user_id uuid, p_original bytea, p_draw_prefix text
) RETURNS TABLE (
    outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
    numbers_left bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    number bigint;
    number_text text := p_e_ncf;
    expected bigint;
    skipped bigint;
    remaining bigint;
BEGIN
    PERFORM name_submitter(p_tenant);
    IF p_client_request IS NOT NULL THEN
        INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
        VALUES (p_tenant, p_environment, p_client_request, p_submission)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN QUERY
            SELECT 'deduped'::text, s.submission_id, s.status::text, s.e_ncf, s.body_digest = p_body_digest,
                   NULL::bigint, NULL::bigint
              FROM client_requests AS c
              JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = c.submission_id
             WHERE c.tenant_id = p_tenant AND c.environment = p_environment
               AND c.client_request_id = p_client_request;
            RETURN;
        END IF;
    END IF;

    IF p_draw_prefix IS NOT NULL THEN
        number := draw_number(p_tenant, p_environment, p_draw_prefix, p_at);
        number_text := p_draw_prefix || lpad(number::text, 10, '0');
    ELSIF p_e_ncf IS NOT NULL AND p_root IN ('ECF', 'RFCE') THEN
        number := substr(p_e_ncf, 4)::bigint;
        -- Without a lock: others may move it on in between, and then a few that they used count as passed over.
        SELECT q.current_number INTO expected
          FROM sequences AS q
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = left(p_e_ncf, 3);
        UPDATE sequences AS q
           SET current_number = number + 1, updated_at = p_at
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = left(p_e_ncf, 3)
           AND number BETWEEN q.current_number AND q.max_number
        RETURNING number - expected, q.max_number - number INTO skipped, remaining;
    END IF;

    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, client_request_id, body_digest, format,
                             root, ecf_type, e_ncf, issuer_rnc, buyer_rnc, as_user, as_user_id, submitted_at,
                             updated_at)
    VALUES (p_tenant, p_submission, p_environment, p_api_key, p_client_request, p_body_digest, p_format,
            p_root, p_type, number_text, p_issuer, p_buyer, p_as_user, p_as_user_id, p_at, p_at);
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    VALUES (p_tenant, p_submission, 'original', p_original);
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at, entered_at)
    VALUES (p_tenant, p_submission, 'sign', p_environment, clock_timestamp(), clock_timestamp());
    PERFORM record_event(p_tenant, p_submission, p_at, 'accepted',
                         jsonb_strip_nulls(jsonb_build_object('root', p_root, 'eNCF', number_text,
                                                              'drawn', p_draw_prefix IS NOT NULL,
                                                              'sha256', encode(sha256(p_original), 'hex'))));
    RETURN QUERY SELECT 'accepted'::text, p_submission, 'queued'::text, number_text, true, skipped, remaining;
END
$$;

CREATE OR REPLACE FUNCTION accept_submissions(
    p_tenants bigint [], p_submissions uuid [], p_ats timestamptz [], p_environments text [], p_api_keys text [],
    p_client_requests text [], p_body_digests bytea [], p_formats text [], p_roots text [], p_types text [],
    p_e_ncfs text [], p_issuers text [], p_buyers text [], p_as_users text [], p_as_user_ids uuid [],
    p_originals bytea [], p_draw_prefixes text []
) RETURNS TABLE (
    place int, outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
    numbers_left bigint, refusal text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    every int := cardinality(p_submissions);
    outcomes text[] := array_fill('accepted'::text, ARRAY[every]);
    refusals text[] := array_fill(NULL::text, ARRAY[every]);
    numbers text[] := p_e_ncfs;
    skipped bigint[] := array_fill(NULL::bigint, ARRAY[every]);
    remaining bigint[] := array_fill(NULL::bigint, ARRAY[every]);
    firsts uuid[] := '{}';
    wanted record;
    found record;
    one int;
    drawn bigint;
    next bigint;
    moved_at timestamptz;
BEGIN
    PERFORM set_config('lock_timeout', '250ms', true);

    -- Who draws from a sequence that gives nothing is refused before anything of it is written, unless it is a repeat.
    FOR wanted IN
        SELECT x.tenant, x.environment, x.prefix, array_agg(x.place::int) AS places
          FROM unnest(p_tenants, p_environments, p_draw_prefixes) WITH ORDINALITY
               AS x (tenant, environment, prefix, place)
         WHERE x.prefix IS NOT NULL
         GROUP BY x.tenant, x.environment, x.prefix
    LOOP
        PERFORM name_tenant(wanted.tenant);
        SELECT q.is_active, q.expire_at, q.current_number > q.max_number AS used_up INTO found
          FROM sequences AS q
         WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix;
        FOREACH one IN ARRAY wanted.places LOOP
            refusals[one] := CASE
                WHEN found.is_active IS NULL OR NOT found.is_active THEN 'none'
                WHEN sequence_is_over(found.expire_at, p_ats[one]) THEN 'expired'
                WHEN found.used_up THEN 'used up'
            END;
        END LOOP;
    END LOOP;
    FOR one IN SELECT x.place FROM unnest(refusals) WITH ORDINALITY AS x (refusal, place) WHERE x.refusal IS NOT NULL
    LOOP
        PERFORM name_tenant(p_tenants[one]);
        IF EXISTS (
            SELECT 1 FROM client_requests AS c
             WHERE c.tenant_id = p_tenants[one] AND c.environment = p_environments[one]
               AND c.client_request_id = p_client_requests[one])
           OR EXISTS (
            SELECT 1
              FROM unnest(p_tenants, p_environments, p_client_requests, outcomes) WITH ORDINALITY
                   AS x (tenant, environment, client_request, outcome, place)
             WHERE x.tenant = p_tenants[one] AND x.environment = p_environments[one]
               AND x.client_request = p_client_requests[one] AND x.place < one AND x.outcome = 'accepted') THEN
            refusals[one] := NULL;
        ELSE
            outcomes[one] := 'refused';
        END IF;
    END LOOP;

    -- Sorted, so that two calls that have ids in common wait for each other in one direction.
    IF array_remove(p_client_requests, NULL) <> '{}' THEN
        FOR found IN
            INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
            SELECT name_tenant(x.tenant), x.environment, x.client_request, x.submission
              FROM (
                SELECT y.tenant, y.environment, y.client_request, y.submission
                  FROM unnest(p_tenants, p_environments, p_client_requests, p_submissions, outcomes) WITH ORDINALITY
                       AS y (tenant, environment, client_request, submission, outcome, place)
                 WHERE y.client_request IS NOT NULL AND y.outcome = 'accepted'
                 ORDER BY y.tenant, y.environment, y.client_request, y.place
              ) AS x
            ON CONFLICT DO NOTHING
            RETURNING submission_id
        LOOP
            firsts := firsts || found.submission_id;
        END LOOP;
        FOR one IN 1 .. every LOOP
            IF outcomes[one] = 'accepted' AND p_client_requests[one] IS NOT NULL
               AND NOT p_submissions[one] = ANY (firsts) THEN
                outcomes[one] := 'deduped';
            END IF;
        END LOOP;
    END IF;

    -- Each sequence once: drawn numbers follow one another in the order of arrival, and it is changed by one statement.
    FOR wanted IN
        SELECT x.tenant, x.environment, x.prefix, array_agg(x.place::int ORDER BY x.place) AS places,
               bool_or(x.draws) AS draws, max(x.number) AS highest
          FROM (
            SELECT y.tenant, y.environment, coalesce(y.draw_prefix, left(y.e_ncf, 3)) AS prefix, y.place,
                   y.draw_prefix IS NOT NULL AS draws,
                   CASE WHEN y.draw_prefix IS NULL THEN substr(y.e_ncf, 4)::bigint END AS number
              FROM unnest(p_tenants, p_environments, p_draw_prefixes, p_e_ncfs, p_roots, outcomes) WITH ORDINALITY
                   AS y (tenant, environment, draw_prefix, e_ncf, root, outcome, place)
             WHERE y.outcome = 'accepted'
               AND (y.draw_prefix IS NOT NULL OR (y.e_ncf IS NOT NULL AND y.root IN ('ECF', 'RFCE')))
          ) AS x
         GROUP BY x.tenant, x.environment, x.prefix
         ORDER BY x.tenant, x.environment, x.prefix
    LOOP
        PERFORM name_tenant(wanted.tenant);
        -- A number that was passed already moves nothing, and locks nothing.
        CONTINUE WHEN NOT wanted.draws AND NOT EXISTS (
            SELECT 1 FROM sequences AS q
             WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix
               AND q.current_number <= wanted.highest);
        SELECT q.is_active, q.expire_at, q.current_number, q.max_number INTO found
          FROM sequences AS q
         WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix
           FOR NO KEY UPDATE;
        next := found.current_number;
        FOREACH one IN ARRAY wanted.places LOOP
            IF p_draw_prefixes[one] IS NULL THEN
                drawn := substr(p_e_ncfs[one], 4)::bigint;
                IF drawn BETWEEN next AND found.max_number THEN
                    skipped[one] := drawn - next;
                    remaining[one] := found.max_number - drawn;
                    next := drawn + 1;
                    moved_at := p_ats[one];
                END IF;
                CONTINUE;
            END IF;
            IF found.is_active IS NOT TRUE OR sequence_is_over(found.expire_at, p_ats[one]) THEN
                RAISE EXCEPTION 'a sequence ended among several draws' USING ERRCODE = 'FE010';
            END IF;
            FOR passed IN 0 .. 1000 LOOP
                IF next > found.max_number THEN
                    RAISE EXCEPTION 'a sequence ended among several draws' USING ERRCODE = 'FE010';
                END IF;
                numbers[one] := wanted.prefix || lpad(next::text, 10, '0');
                next := next + 1;
                EXIT WHEN number_is_free(wanted.tenant, wanted.environment, numbers[one]);
            END LOOP;
            moved_at := p_ats[one];
        END LOOP;
        IF next > found.current_number THEN
            UPDATE sequences AS q
               SET current_number = next, updated_at = moved_at
             WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix;
        END IF;
    END LOOP;

    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, client_request_id, body_digest, format,
                             root, ecf_type, e_ncf, issuer_rnc, buyer_rnc, as_user, as_user_id, submitted_at,
                             updated_at)
    SELECT name_tenant(x.tenant), x.submission, x.environment, x.api_key,
           x.client_request, x.body_digest, x.format, x.root, x.type, x.e_ncf, x.issuer, x.buyer, x.as_user,
           x.as_user_id, x.at, x.at
      FROM unnest(p_tenants, p_submissions, p_environments, p_api_keys, p_client_requests, p_body_digests, p_formats,
                  p_roots, p_types, numbers, p_issuers, p_buyers, p_as_users, p_as_user_ids, p_ats, outcomes)
           AS x (tenant, submission, environment, api_key, client_request, body_digest, format, root, type, e_ncf,
                 issuer, buyer, as_user, as_user_id, at, outcome)
     WHERE x.outcome = 'accepted';
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    SELECT name_tenant(x.tenant), x.submission, 'original', x.original
      FROM unnest(p_tenants, p_submissions, p_originals, outcomes) AS x (tenant, submission, original, outcome)
     WHERE x.outcome = 'accepted';
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at, entered_at)
    SELECT name_tenant(x.tenant), x.submission, 'sign', x.environment,
           clock_timestamp(), clock_timestamp()
      FROM unnest(p_tenants, p_submissions, p_environments, outcomes) AS x (tenant, submission, environment, outcome)
     WHERE x.outcome = 'accepted';
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    SELECT name_tenant(x.tenant), x.submission, 1, x.at, 'accepted', x.detail,
           event_hash(NULL, x.tenant, x.submission, 1, x.at, 'accepted', x.detail)
      FROM (
        SELECT y.tenant, y.submission, y.at,
               jsonb_strip_nulls(jsonb_build_object('root', y.root, 'eNCF', y.e_ncf,
                                                    'drawn', y.draw_prefix IS NOT NULL,
                                                    'sha256', encode(sha256(y.original), 'hex'))) AS detail
          FROM unnest(p_tenants, p_submissions, p_ats, p_roots, numbers, p_draw_prefixes, p_originals, outcomes)
               AS y (tenant, submission, at, root, e_ncf, draw_prefix, original, outcome)
         WHERE y.outcome = 'accepted'
        OFFSET 0  -- once for both places that it goes to
      ) AS x;

    RETURN QUERY
    SELECT x.place::int, x.outcome, x.submission, 'queued'::text, x.e_ncf, true, x.numbers_skipped, x.numbers_left,
           x.refusal
      FROM unnest(p_submissions, outcomes, numbers, skipped, remaining, refusals) WITH ORDINALITY
           AS x (submission, outcome, e_ncf, numbers_skipped, numbers_left, refusal, place)
     WHERE x.outcome <> 'deduped';
    FOR one IN SELECT x.place FROM unnest(outcomes) WITH ORDINALITY AS x (outcome, place) WHERE x.outcome = 'deduped'
    LOOP
        PERFORM name_tenant(p_tenants[one]);
        RETURN QUERY
        SELECT one, 'deduped'::text, s.submission_id, s.status::text, s.e_ncf, s.body_digest = p_body_digests[one],
               NULL::bigint, NULL::bigint, NULL::text
          FROM client_requests AS c
          JOIN submissions AS s ON s.tenant_id = p_tenants[one] AND s.submission_id = c.submission_id
         WHERE c.tenant_id = p_tenants[one] AND c.environment = p_environments[one]
           AND c.client_request_id = p_client_requests[one];
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION decide_received(
    p_tenant bigint, p_received uuid, p_approved boolean, p_reason text, p_submission uuid, p_at timestamptz,
    p_environment text, p_api_key text, p_client_request text, p_body_digest bytea, p_format text, p_e_ncf text,
    p_issuer text, p_buyer text, p_as_user text, p_as_user_id uuid, p_original bytea
) RETURNS TABLE (outcome text, submission_id uuid, status text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before record;
    rounds int := 0;
BEGIN
    PERFORM name_tenant(p_tenant);
    IF p_client_request IS NOT NULL THEN
        SELECT c.submission_id, a.approved, s.status INTO before
          FROM client_requests AS c
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = c.submission_id
          LEFT JOIN approvals AS a
            ON a.tenant_id = p_tenant AND a.submission_id = c.submission_id AND a.received_id = p_received
         WHERE c.tenant_id = p_tenant AND c.environment = p_environment AND c.client_request_id = p_client_request;
        IF FOUND THEN
            RETURN QUERY SELECT CASE WHEN before.approved IS NULL THEN 'taken'
                                     WHEN before.approved = p_approved THEN 'again'
                                     ELSE 'contrary' END,
                                before.submission_id, before.status::text;
            RETURN;
        END IF;
    END IF;

    SELECT a.round, a.submission_id, a.approved, s.status INTO before
      FROM approvals AS a
      JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = a.submission_id
     WHERE a.tenant_id = p_tenant AND a.received_id = p_received
     ORDER BY a.round DESC
     LIMIT 1;
    IF FOUND THEN
        IF before.status NOT IN ('Rechazado', 'error') THEN
            RETURN QUERY SELECT CASE WHEN before.approved = p_approved THEN 'again' ELSE 'contrary' END,
                                before.submission_id, before.status::text;
            RETURN;
        END IF;
        rounds := before.round;
    END IF;

    -- What was handed in through POST /invoices. Accepted, its bytes say what it says.
    SELECT s.submission_id, s.status,
           CASE WHEN s.status IN ('Aceptado', 'Aceptado Condicional')
                THEN (SELECT position('<Estado>1</Estado>'::bytea IN d.content) > 0
                        FROM submission_documents AS d
                       WHERE d.tenant_id = p_tenant AND d.submission_id = s.submission_id AND d.kind = 'signed')
           END AS approved INTO before
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.e_ncf = p_e_ncf AND s.root = 'ACECF' AND s.environment = p_environment
       AND s.issuer_rnc = p_issuer AND s.status NOT IN ('Rechazado', 'error')
     ORDER BY s.submission_id DESC
     LIMIT 1;
    IF FOUND THEN
        RETURN QUERY SELECT CASE WHEN before.approved IS NULL THEN 'elsewhere'
                                 WHEN before.approved = p_approved THEN 'again'
                                 ELSE 'contrary' END,
                            before.submission_id, before.status::text;
        RETURN;
    END IF;

    INSERT INTO approvals (tenant_id, received_id, round, submission_id, approved, reason, decided_at)
    VALUES (p_tenant, p_received, rounds + 1, p_submission, p_approved, p_reason, p_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'decided at the same time' USING ERRCODE = 'serialization_failure';
    END IF;
    SELECT a.outcome INTO before
      FROM accept_submission(p_tenant, p_submission, p_at, p_environment, p_api_key, p_client_request, p_body_digest,
                             p_format, 'ACECF', NULL, p_e_ncf, p_issuer, p_buyer, p_as_user, p_as_user_id, p_original,
                             NULL) AS a;
    IF before.outcome <> 'accepted' THEN
        RAISE EXCEPTION 'a clientRequestId was used at the same time' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN QUERY SELECT 'accepted'::text, p_submission, 'queued'::text;
END
$$;

CREATE OR REPLACE FUNCTION count_requests(
    p_tenant bigint, p_environment text, p_day date, p_succeeded bigint, p_failed bigint, p_bytes_in bigint,
    p_bytes_out bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM name_tenant(p_tenant);
    INSERT INTO request_counts AS r (tenant_id, environment, utc_day, succeeded, failed, bytes_in, bytes_out)
    VALUES (p_tenant, p_environment, p_day, p_succeeded, p_failed, p_bytes_in, p_bytes_out)
    ON CONFLICT (tenant_id, environment, utc_day) DO UPDATE
       SET succeeded = r.succeeded + EXCLUDED.succeeded, failed = r.failed + EXCLUDED.failed,
           bytes_in = r.bytes_in + EXCLUDED.bytes_in, bytes_out = r.bytes_out + EXCLUDED.bytes_out;
END
$$;

CREATE OR REPLACE FUNCTION note_key_use(p_tenant bigint, p_api_key text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM name_tenant(p_tenant);
    INSERT INTO api_key_uses AS u (tenant_id, api_key_id, last_used_at)
    VALUES (p_tenant, p_api_key, p_at)
    ON CONFLICT (tenant_id, api_key_id) DO UPDATE
       SET last_used_at = greatest(u.last_used_at, EXCLUDED.last_used_at);
END
$$;
