-- What is taken in by a process that signs, too, may go straight to its signer: the row that says that it is to be signed is
-- leased to that process in the statement that accepts it, as its first claim would have leased it. No claim is made then, no
-- version of the row dies for one, and nobody is notified. See docs/decisions/group-commit.md.

-- Who accepts looks whether a tenant is paused, as a claim does: which are, and nothing else of it.
GRANT SELECT (tenant_id, environment) ON pauses TO fe_front, fe_portal;

CREATE POLICY which_are_paused ON pauses FOR SELECT TO fe_front, fe_portal USING (true);

-- The release before calls it with the parameters that it knows, and asks for the columns that it knows.
DROP FUNCTION accept_submissions(
    bigint [], uuid [], timestamptz [], text [], text [], text [], bytea [], text [], text [], text [], text [],
    text [], text [], text [], uuid [], bytea [], text []
);

-- As it was (0015, 0041), and: a row with a lease, unless it is paused, is leased for so long to `p_holder`, as the claim of
-- epoch 1 and its first attempt. `leased` says whether it is.
CREATE FUNCTION accept_submissions(
    p_tenants bigint [], p_submissions uuid [], p_ats timestamptz [], p_environments text [], p_api_keys text [],
    p_client_requests text [], p_body_digests bytea [], p_formats text [], p_roots text [], p_types text [],
    p_e_ncfs text [], p_issuers text [], p_buyers text [], p_as_users text [], p_as_user_ids uuid [],
    p_originals bytea [], p_draw_prefixes text [], p_holder text DEFAULT NULL, p_leases interval [] DEFAULT NULL
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

-- What signing needs of submissions that were just taken in, beside what the caller has in memory: a row for each with its
-- place in the arrays, from 1, and after those one for each tenant with what is the same for all its documents. As
-- claim_with_input says it (0029) of what it claims; `p_owned` tells of which a number is nobody else's.
CREATE FUNCTION input_to_sign(
    p_tenants bigint [], p_subjects uuid [], p_environments text [], p_e_ncfs text [], p_owned boolean []
) RETURNS TABLE (
    place int, tenant_id bigint, sequence_expires timestamptz, holders uuid [], holders_issuers text [], signatory text
)
LANGUAGE plpgsql STABLE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    span record := span_of(p_subjects);
    since uuid := forty_days_before(span.first);
BEGIN
    RETURN QUERY
    SELECT c.place::int, c.tenant_id, q.expire_at, same.holders, same.issuers, NULL::text
      FROM unnest(p_tenants, p_subjects, p_environments, p_e_ncfs, p_owned) WITH ORDINALITY
           AS c (tenant_id, subject, environment, e_ncf, owned, place)
      LEFT JOIN sequences AS q
        ON q.tenant_id = c.tenant_id AND q.environment = c.environment AND q.prefix = left(c.e_ncf, 3) AND q.is_active
      LEFT JOIN LATERAL (
            -- Held, or on its way to be signed: see fe/store/records/numbers.py.
            SELECT array_agg(one.submission_id) AS holders, array_agg(one.issuer_rnc) AS issuers
              FROM (SELECT h.submission_id, h.issuer_rnc
                      FROM held_numbers AS h
                      JOIN submissions AS other
                        ON other.tenant_id = c.tenant_id AND other.submission_id = h.submission_id
                       AND other.number_fate <> 'reusable'
                     WHERE h.tenant_id = c.tenant_id AND h.environment = c.environment
                       AND h.e_ncf = c.e_ncf AND h.submission_id <> c.subject
                     UNION ALL
                    SELECT other.submission_id, other.issuer_rnc
                      FROM submissions AS other
                     WHERE other.tenant_id = c.tenant_id AND other.environment = c.environment
                       AND other.e_ncf = c.e_ncf AND other.submission_id >= forty_days_before(c.subject)
                       AND other.submission_id >= since AND other.submission_id <= span.last
                       AND other.submission_id < c.subject AND other.root IN ('ECF', 'RFCE')
                       AND other.status <> 'error' AND other.number_fate <> 'reusable') AS one
             WHERE c.owned
           ) AS same ON c.e_ncf IS NOT NULL;
    RETURN QUERY
    SELECT 0, t.tenant_id, NULL::timestamptz, NULL::uuid[], NULL::text[],
           jsonb_build_object(
               'issuer', t.issuer, 'consumerSummary', t.consumer_summary,
               'candidates', (SELECT jsonb_agg(jsonb_build_array(c.certificate_id, c.user_id, u.email,
                                                                 u.issuer_override, c.not_before, c.not_after))
                                FROM certificates AS c
                                LEFT JOIN users AS u ON u.tenant_id = c.tenant_id AND u.user_id = c.user_id
                               WHERE c.tenant_id = t.tenant_id AND c.retired_at IS NULL))::text
      FROM tenants AS t
     WHERE t.tenant_id = ANY (ARRAY(SELECT DISTINCT c.tenant FROM unnest(p_tenants) AS c (tenant)));
END
$$;

GRANT EXECUTE ON FUNCTION input_to_sign TO fe_worker;
