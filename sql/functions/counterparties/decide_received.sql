-- Decide about a received document: write the round and accept the ACECF, in one transaction.
--   outcome 'accepted'   the submission is new
--           'again'      the same was decided before, by the submission in the answer
--           'contrary'   the opposite was decided before, and is accepted or still may be
--           'elsewhere'  a submission about the document that came through POST /invoices has not ended: its decision is not known
--           'taken'      another submission has the clientRequestId
-- A round whose submission was rejected or ended as an error is no decision: the next round is open. Of two concurrent
-- calls the second waits at the key for the first and fails with a serialization failure: the caller repeats it. A
-- submission that a decision made is left out of 'elsewhere': it may be committed between two statements of this
-- function. `Estado` may be written as `01` or `+1` in an ACECF, and is compared as a number.
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

    -- Submitted through POST /invoices. Accepted, so `Estado` is a number.
    SELECT s.submission_id, s.status,
           CASE WHEN s.status IN ('Aceptado', 'Aceptado Condicional')
                THEN (SELECT convert_from(d.content, 'UTF8') ~ '<Estado>[+]?0*1</Estado>'
                        FROM submission_documents AS d
                       WHERE d.tenant_id = p_tenant AND d.submission_id = s.submission_id AND d.kind = 'signed')
           END AS approved INTO before
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.e_ncf = p_e_ncf AND s.root = 'ACECF' AND s.environment = p_environment
       AND s.issuer_rnc = p_issuer AND s.status NOT IN ('Rechazado', 'error')
       AND NOT EXISTS (
               SELECT 1
                 FROM approvals AS a
                WHERE a.tenant_id = p_tenant AND a.submission_id = s.submission_id AND a.received_id = p_received)
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

GRANT EXECUTE ON FUNCTION decide_received TO fe_front, fe_portal;
