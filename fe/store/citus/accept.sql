-- Taking submissions in on Citus.

-- As in 0041, and the first event of a story follows none, which nobody need ask the node.
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
    detail jsonb;
    hash bytea;
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
        -- With the lock that the UPDATE takes: what only reads opens no transaction on the node, which then knows no tenant.
        SELECT q.current_number INTO expected
          FROM sequences AS q
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = left(p_e_ncf, 3)
           FOR UPDATE;
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
    detail := jsonb_strip_nulls(jsonb_build_object('root', p_root, 'eNCF', number_text,
                                                   'drawn', p_draw_prefix IS NOT NULL,
                                                   'sha256', encode(sha256(p_original), 'hex')));
    hash := event_hash(NULL, p_tenant, p_submission, 1, p_at, 'accepted', detail);
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    VALUES (p_tenant, p_submission, 1, p_at, 'accepted', detail, hash);
    RETURN QUERY SELECT 'accepted'::text, p_submission, 'queued'::text, number_text, true, skipped, remaining;
END
$$;

-- Take submissions in: as in 0043, one after the other. What one tenant wants with another's statement is no statement of one
-- node, so that what is saved is the commit and the round trip alone. None is leased: each is claimed.
CREATE OR REPLACE FUNCTION accept_submissions(
    p_tenants bigint[], p_submissions uuid[], p_ats timestamptz[], p_environments text[], p_api_keys text[],
    p_client_requests text[], p_body_digests bytea[], p_formats text[], p_roots text[], p_types text[],
    p_e_ncfs text[], p_issuers text[], p_buyers text[], p_as_users text[], p_as_user_ids uuid[],
    p_originals bytea[], p_draw_prefixes text[], p_holder text DEFAULT NULL, p_leases interval[] DEFAULT NULL
) RETURNS TABLE (
    place int, outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
    numbers_left bigint, refusal text, leased boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    one int;
    why text;
    whose bigint;
    prefixes text[];
BEGIN
    SELECT array_agg(DISTINCT coalesce(d.prefix, left(d.e_ncf, 3))) INTO prefixes
      FROM unnest(p_draw_prefixes, p_e_ncfs) AS d (prefix, e_ncf)
     WHERE d.prefix IS NOT NULL OR d.e_ncf IS NOT NULL;
    -- From tenant to tenant in one order whoever asks, and of each first all sequences in theirs: so batches wait for
    -- each other's locks and never crosswise.
    FOR one IN SELECT n FROM generate_series(1, cardinality(p_submissions)) AS n ORDER BY p_tenants[n], n LOOP
        IF whose IS DISTINCT FROM p_tenants[one] THEN
            whose := name_tenant(p_tenants[one]);
            IF prefixes IS NOT NULL THEN
                PERFORM 1
                   FROM sequences AS q
                  WHERE q.tenant_id = whose AND q.environment = ANY (p_environments) AND q.prefix = ANY (prefixes)
                  ORDER BY q.environment, q.prefix
                    FOR UPDATE;
            END IF;
        END IF;
        -- Only who draws can be refused alone; to be undone alone costs two ways to the node more.
        IF p_draw_prefixes[one] IS NULL THEN
            RETURN QUERY
            SELECT one, a.outcome, a.submission_id, a.status, a.e_ncf, a.body_matched, a.numbers_skipped, a.numbers_left,
                   NULL::text, false
              FROM accept_submission(
                  p_tenants[one], p_submissions[one], p_ats[one], p_environments[one], p_api_keys[one],
                  p_client_requests[one], p_body_digests[one], p_formats[one], p_roots[one], p_types[one],
                  p_e_ncfs[one], p_issuers[one], p_buyers[one], p_as_users[one], p_as_user_ids[one],
                  p_originals[one], p_draw_prefixes[one]) AS a;
            CONTINUE;
        END IF;
        BEGIN
            RETURN QUERY
            SELECT one, a.outcome, a.submission_id, a.status, a.e_ncf, a.body_matched, a.numbers_skipped, a.numbers_left,
                   NULL::text, false
              FROM accept_submission(
                  p_tenants[one], p_submissions[one], p_ats[one], p_environments[one], p_api_keys[one],
                  p_client_requests[one], p_body_digests[one], p_formats[one], p_roots[one], p_types[one],
                  p_e_ncfs[one], p_issuers[one], p_buyers[one], p_as_users[one], p_as_user_ids[one],
                  p_originals[one], p_draw_prefixes[one]) AS a;
        EXCEPTION
            WHEN SQLSTATE 'FE001' OR SQLSTATE 'FE002' OR SQLSTATE 'FE003' THEN
                why := CASE SQLSTATE WHEN 'FE001' THEN 'none' WHEN 'FE002' THEN 'expired' ELSE 'used up' END;
                RETURN QUERY
                SELECT one, 'refused'::text, p_submissions[one], 'queued'::text, p_e_ncfs[one], true, NULL::bigint,
                       NULL::bigint, why, false;
        END;
    END LOOP;
END
$$;
