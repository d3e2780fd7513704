-- Accept a submission: its row, bytes, number and first outbox row, or none of them. p_issued_on is the
-- stated day of issue, or today: the column is in an index, and set by now, the update that signs writes to no index.
--   outcome 'accepted'  a new submission
--           'deduped'   the clientRequestId was used before; the columns describe that submission, and the commit waits
--                       until the standby has it, too: the wait of its own commit may have been cancelled
-- The submission draws from the sequence that sequence_to_draw_from chooses by p_draw_prefix. A number of its own moves
-- the sequence that it lies in, to its next range too where its own has ended. Drawing a number raises FE001 (no active
-- sequence), FE002 (expired) or FE003 (used up), and nothing is kept. Names the tenant to row-level security, which saves
-- the front a statement.
CREATE OR REPLACE FUNCTION accept_submission(
    p_tenant bigint, p_submission uuid, p_at timestamptz, p_environment text, p_api_key text, p_client_request text,
    p_body_digest bytea, p_format text, p_root text, p_type text, p_e_ncf text, p_issuer text, p_buyer text,
    p_as_user text, p_as_user_id uuid, p_original bytea, p_draw_prefix text,
    p_issued_on date DEFAULT NULL
) RETURNS TABLE (
    outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
    numbers_left bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    number bigint;
    number_text text := p_e_ncf;
    its_sequence text;
    is_begun boolean;
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
            PERFORM pg_logical_emit_message(true, 'fe', '');
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
        number := draw_number(
            p_tenant, p_environment,
            sequence_to_draw_from(p_tenant, p_environment, p_draw_prefix, p_as_user, p_as_user_id), p_at);
        number_text := left(p_draw_prefix, 3) || lpad(number::text, 10, '0');
    ELSIF p_e_ncf IS NOT NULL AND p_root IN ('ECF', 'RFCE') THEN
        number := substr(p_e_ncf, 4)::bigint;
        -- Without a lock: others may move it on in between, and then a few that they used count as passed over.
        SELECT q.prefix, q.current_number, number BETWEEN q.min_number AND q.max_number
          INTO its_sequence, expected, is_begun
          FROM sequences AS q
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND left(q.prefix, 3) = left(p_e_ncf, 3)
           AND (number BETWEEN q.min_number AND q.max_number OR number BETWEEN q.next_min AND q.next_max);
        IF NOT is_begun THEN
            -- Also where another submission has just begun it.
            PERFORM begin_next_range(p_tenant, p_environment, left(p_e_ncf, 3), number, p_at);
            SELECT q.prefix, q.current_number INTO its_sequence, expected
              FROM sequences AS q
             WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND left(q.prefix, 3) = left(p_e_ncf, 3)
               AND number BETWEEN q.min_number AND q.max_number;
        END IF;
        IF its_sequence IS NOT NULL THEN
            UPDATE sequences AS q
               SET current_number = number + 1, updated_at = p_at
             WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = its_sequence
               AND number BETWEEN q.current_number AND q.max_number
            RETURNING number - expected, q.max_number - number INTO skipped, remaining;
        END IF;
    END IF;

    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, client_request_id, body_digest, format,
                             root, ecf_type, e_ncf, issuer_rnc, buyer_rnc, as_user, as_user_id, submitted_at,
                             updated_at, issued_on)
    VALUES (p_tenant, p_submission, p_environment, p_api_key, p_client_request, p_body_digest, p_format,
            p_root, p_type, number_text, p_issuer, p_buyer, p_as_user, p_as_user_id, p_at, p_at,
            p_issued_on);
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

GRANT EXECUTE ON FUNCTION accept_submission TO fe_front, fe_portal;
