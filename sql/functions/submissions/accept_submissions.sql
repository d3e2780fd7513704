-- Accept submissions of several requests in one statement and one commit, each as accept_submission would, in their
-- order:
--   outcome 'accepted'  as there
--           'deduped'   as there; also where the first use of the clientRequestId is in the same call
--           'refused'   no number could be drawn, and nothing is kept; `refusal`: none, expired, paused, used up;
--                       e_ncf: the key of the sequence
-- `place` is the row's place in the arrays, from 1. A row with a lease is leased to `p_holder` as the first attempt of
-- epoch 1, unless its work is paused; `leased` tells.
--
-- If it raises, nothing was kept, and the caller accepts the rows one by one. It raises FE010 where a sequence ends
-- between two rows. It waits for locks only briefly, so that a held lock delays one client and not all.
--
-- One INSERT writes rows of many tenants: the expression that becomes tenant_id names the tenant to row-level security,
-- so each row is checked against its own tenant. Reads are made under one tenant's name at a time. Another order of
-- evaluation would have rows refused, never shown.
CREATE OR REPLACE FUNCTION accept_submissions(
    p_tenants bigint [], p_submissions uuid [], p_ats timestamptz [], p_environments text [], p_api_keys text [],
    p_client_requests text [], p_body_digests bytea [], p_formats text [], p_roots text [], p_types text [],
    p_e_ncfs text [], p_issuers text [], p_buyers text [], p_as_users text [], p_as_user_ids uuid [],
    p_originals bytea [], p_draw_prefixes text [], p_holder text DEFAULT NULL, p_leases interval [] DEFAULT NULL,
    p_issued_ons date [] DEFAULT NULL
) RETURNS TABLE (
    place int, outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
    numbers_left bigint, refusal text, leased boolean
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
    leases interval[] := array_fill(NULL::interval, ARRAY[every]);
    firsts uuid[] := '{}';
    elsewhere int[];
    wanted record;
    found record;
    one int;
    drawn bigint;
    returned boolean;
    next bigint;
    moved_at timestamptz;
BEGIN
    PERFORM set_config('lock_timeout', '250ms', true);

    IF num_nonnulls(VARIADIC p_as_users) + num_nonnulls(VARIADIC p_as_user_ids) > 0 THEN
        FOR one IN
            SELECT x.place
              FROM unnest(p_draw_prefixes, p_as_users, p_as_user_ids) WITH ORDINALITY
                   AS x (prefix, as_user, as_user_id, place)
             WHERE length(x.prefix) = 3 AND num_nonnulls(x.as_user, x.as_user_id) > 0
        LOOP
            PERFORM name_tenant(p_tenants[one]);
            p_draw_prefixes[one] := sequence_to_draw_from(
                p_tenants[one], p_environments[one], p_draw_prefixes[one], p_as_users[one], p_as_user_ids[one]);
        END LOOP;
    END IF;

    -- Refuse rows of a sequence that gives no number before anything is written, except repeats.
    FOR wanted IN
        SELECT x.tenant, x.environment, x.prefix, array_agg(x.place::int) AS places
          FROM unnest(p_tenants, p_environments, p_draw_prefixes) WITH ORDINALITY
               AS x (tenant, environment, prefix, place)
         WHERE x.prefix IS NOT NULL
         GROUP BY x.tenant, x.environment, x.prefix
    LOOP
        PERFORM name_tenant(wanted.tenant);
        SELECT q.is_active, q.expire_at, q.next_min, q.next_expire_at, q.paused_at IS NOT NULL AS is_paused,
               q.current_number > q.max_number AND NOT EXISTS (
                   SELECT 1
                     FROM returned_numbers AS r
                    WHERE r.tenant_id = wanted.tenant AND r.environment = wanted.environment
                      AND r.prefix = left(wanted.prefix, 3) AND r.number BETWEEN q.min_number AND q.max_number
                   ) AS used_up INTO found
          FROM sequences AS q
         WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix;
        FOREACH one IN ARRAY wanted.places LOOP
            refusals[one] := CASE
                WHEN found.is_active IS NULL OR NOT found.is_active THEN 'none'
                -- At the end of its range the rows are accepted one by one (FE010), and a draw begins the next range.
                WHEN found.next_min IS NOT NULL AND NOT sequence_is_over(found.next_expire_at, p_ats[one])
                     AND NOT found.is_paused THEN NULL
                WHEN sequence_is_over(found.expire_at, p_ats[one]) THEN 'expired'
                WHEN found.is_paused THEN 'paused'
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
            numbers[one] := p_draw_prefixes[one];
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
             WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment
               AND left(q.prefix, 3) = wanted.prefix
               AND (q.current_number <= wanted.highest OR q.next_min <= wanted.highest));
        elsewhere := '{}';
        SELECT q.is_active AND q.paused_at IS NULL AS gives, q.expire_at, q.min_number, q.current_number, q.max_number, q.set_at INTO found
          FROM sequences AS q
         WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix
           FOR NO KEY UPDATE;
        next := found.current_number;
        returned := wanted.draws AND EXISTS (
            SELECT 1
              FROM returned_numbers AS r
             WHERE r.tenant_id = wanted.tenant AND r.environment = wanted.environment
               AND r.prefix = left(wanted.prefix, 3));
        FOREACH one IN ARRAY wanted.places LOOP
            IF p_draw_prefixes[one] IS NULL THEN
                drawn := substr(p_e_ncfs[one], 4)::bigint;
                IF drawn BETWEEN next AND found.max_number THEN
                    skipped[one] := drawn - next;
                    remaining[one] := found.max_number - drawn;
                    next := drawn + 1;
                    moved_at := p_ats[one];
                ELSIF (drawn BETWEEN found.min_number AND found.max_number) IS NOT TRUE THEN
                    elsewhere := elsewhere || one;
                END IF;
                CONTINUE;
            END IF;
            IF found.gives IS NOT TRUE OR sequence_is_over(found.expire_at, p_ats[one]) THEN
                RAISE EXCEPTION 'a sequence ended among several draws' USING ERRCODE = 'FE010';
            END IF;
            IF returned THEN
                drawn := take_returned_number(
                    wanted.tenant, wanted.environment, left(wanted.prefix, 3), found.min_number, found.current_number);
                returned := drawn IS NOT NULL;
                IF returned THEN
                    numbers[one] := left(wanted.prefix, 3) || lpad(drawn::text, 10, '0');
                    CONTINUE;
                END IF;
            END IF;
            next := first_free_number(
                wanted.tenant, wanted.environment, left(wanted.prefix, 3), next, found.set_at, p_ats[one]);
            IF next > found.max_number THEN
                RAISE EXCEPTION 'a sequence ended among several draws' USING ERRCODE = 'FE010';
            END IF;
            numbers[one] := left(wanted.prefix, 3) || lpad(next::text, 10, '0');
            next := next + 1;
            moved_at := p_ats[one];
        END LOOP;
        IF next > found.current_number THEN
            UPDATE sequences AS q
               SET current_number = next, updated_at = moved_at
             WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix;
        END IF;
        -- Numbers outside the range may lie in a sequence with a name, or in a next range.
        FOREACH one IN ARRAY elsewhere LOOP
            drawn := substr(p_e_ncfs[one], 4)::bigint;
            PERFORM begin_next_range(wanted.tenant, wanted.environment, wanted.prefix, drawn, p_ats[one]);
            SELECT q.prefix, q.current_number, q.max_number INTO found
              FROM sequences AS q
             WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment
               AND left(q.prefix, 3) = wanted.prefix AND drawn BETWEEN q.current_number AND q.max_number
               FOR NO KEY UPDATE;
            CONTINUE WHEN found.prefix IS NULL;
            skipped[one] := drawn - found.current_number;
            remaining[one] := found.max_number - drawn;
            UPDATE sequences AS q
               SET current_number = drawn + 1, updated_at = p_ats[one]
             WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = found.prefix;
        END LOOP;
    END LOOP;

    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, client_request_id, body_digest, format,
                             root, ecf_type, e_ncf, issuer_rnc, buyer_rnc, as_user, as_user_id, submitted_at,
                             updated_at, issued_on)
    SELECT name_tenant(x.tenant), x.submission, x.environment, x.api_key,
           x.client_request, x.body_digest, x.format, x.root, x.type, x.e_ncf, x.issuer, x.buyer, x.as_user,
           x.as_user_id, x.at, x.at, x.issued_on
      FROM unnest(p_tenants, p_submissions, p_environments, p_api_keys, p_client_requests, p_body_digests, p_formats,
                  p_roots, p_types, numbers, p_issuers, p_buyers, p_as_users, p_as_user_ids, p_ats, outcomes,
                  p_issued_ons)
           AS x (tenant, submission, environment, api_key, client_request, body_digest, format, root, type, e_ncf,
                 issuer, buyer, as_user, as_user_id, at, outcome, issued_on)
     WHERE x.outcome = 'accepted';
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    SELECT name_tenant(x.tenant), x.submission, 'original', x.original
      FROM unnest(p_tenants, p_submissions, p_originals, outcomes) AS x (tenant, submission, original, outcome)
     WHERE x.outcome = 'accepted';
    IF num_nonnulls(VARIADIC p_leases) > 0 THEN
        leases := ARRAY(
            SELECT CASE WHEN x.outcome = 'accepted'
                         AND NOT EXISTS (
                            SELECT 1
                              FROM pauses AS p
                             WHERE p.tenant_id IN (0, x.tenant) AND p.environment IN ('', x.environment))
                        THEN x.lease END
              FROM unnest(p_tenants, p_environments, outcomes, p_leases) WITH ORDINALITY
                   AS x (tenant, environment, outcome, lease, place)
             ORDER BY x.place);
    END IF;
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at, attempt, epoch, holder, entered_at)
    SELECT name_tenant(x.tenant), x.submission, 'sign', x.environment,
           clock_timestamp() + coalesce(x.lease, interval '0'), (x.lease IS NOT NULL)::int, (x.lease IS NOT NULL)::int,
           CASE WHEN x.lease IS NOT NULL THEN p_holder END, clock_timestamp()
      FROM unnest(p_tenants, p_submissions, p_environments, outcomes, leases)
           AS x (tenant, submission, environment, outcome, lease)
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
           x.refusal, x.lease IS NOT NULL
      FROM unnest(p_submissions, outcomes, numbers, skipped, remaining, refusals, leases) WITH ORDINALITY
           AS x (submission, outcome, e_ncf, numbers_skipped, numbers_left, refusal, lease, place)
     WHERE x.outcome <> 'deduped';
    IF 'deduped' = ANY (outcomes) THEN
        PERFORM pg_logical_emit_message(true, 'fe', '');
    END IF;
    FOR one IN SELECT x.place FROM unnest(outcomes) WITH ORDINALITY AS x (outcome, place) WHERE x.outcome = 'deduped'
    LOOP
        PERFORM name_tenant(p_tenants[one]);
        RETURN QUERY
        SELECT one, 'deduped'::text, s.submission_id, s.status::text, s.e_ncf, s.body_digest = p_body_digests[one],
               NULL::bigint, NULL::bigint, NULL::text, false
          FROM client_requests AS c
          JOIN submissions AS s ON s.tenant_id = p_tenants[one] AND s.submission_id = c.submission_id
         WHERE c.tenant_id = p_tenants[one] AND c.environment = p_environments[one]
           AND c.client_request_id = p_client_requests[one];
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION accept_submissions TO fe_front, fe_portal;
