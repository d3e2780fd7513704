-- One number, one receipt: whose a fiscal number is, when a sequence ends, and how it is put back.

-- Which submission a number belongs to, from the moment it is signed: the key decides between two that come at once. It is
-- the issuer's number, and a tenant may issue for several. The row stays for ever, as the number does; it goes over to
-- another submission only when the first one's fate is `reusable`.
CREATE TABLE held_numbers (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    -- Compared byte by byte, so that numbers of one prefix are in their order.
    e_ncf text COLLATE "C" NOT NULL,
    issuer_rnc text NOT NULL,
    submission_id uuid NOT NULL,
    CONSTRAINT held_numbers_pk PRIMARY KEY (tenant_id, environment, e_ncf, issuer_rnc)
);

ALTER TABLE held_numbers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY every_tenant ON held_numbers TO fe_worker, fe_operator USING (true);

CREATE POLICY every_tenant_read ON held_numbers FOR SELECT TO fe_readonly USING (true);

CREATE POLICY own_tenant ON held_numbers TO fe_front
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);

GRANT SELECT ON held_numbers TO fe_front, fe_operator, fe_readonly;

GRANT SELECT, INSERT, UPDATE ON held_numbers TO fe_worker;

-- Whether a submission was sent, for who puts a sequence back.
GRANT SELECT (tenant_id, submission_id, outcome) ON sends TO fe_front;

-- The day a sequence ends on, by the rule of fe/ecf/dates.py `last_day`: the day of the moment in Santo Domingo, except
-- that midnight UTC is its own calendar day.
CREATE FUNCTION sequence_last_day(p_expire_at timestamptz) RETURNS date
LANGUAGE sql IMMUTABLE STRICT
RETURN CASE
    WHEN (p_expire_at AT TIME ZONE 'UTC')::time = time '00:00' THEN (p_expire_at AT TIME ZONE 'UTC')::date
    ELSE (p_expire_at AT TIME ZONE interval '-04:00')::date
END;

-- Whether that day is over; false for a sequence without an end.
CREATE FUNCTION sequence_is_over(p_expire_at timestamptz, p_at timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN coalesce((p_at AT TIME ZONE interval '-04:00')::date > sequence_last_day(p_expire_at), false);

-- What is kept becomes the last millisecond of its day, so that every reader of the column sees the same end. (The owner
-- is within the tenant scope itself; it steps out for the one statement.)
ALTER TABLE sequences NO FORCE ROW LEVEL SECURITY;

UPDATE sequences
   SET expire_at = (sequence_last_day(expire_at) + time '23:59:59.999') AT TIME ZONE interval '-04:00'
 WHERE expire_at IS NOT NULL;

ALTER TABLE sequences FORCE ROW LEVEL SECURITY;

-- Who holds a number: p_subject, if nobody else did, or if the one who did is done with it.
CREATE FUNCTION hold_number(p_tenant bigint, p_environment text, p_e_ncf text, p_issuer text, p_subject uuid)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    whose uuid;
BEGIN
    INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
    VALUES (p_tenant, p_environment, p_e_ncf, p_issuer, p_subject)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN p_subject;
    END IF;
    SELECT n.submission_id INTO whose
      FROM held_numbers AS n
     WHERE n.tenant_id = p_tenant AND n.environment = p_environment AND n.e_ncf = p_e_ncf AND n.issuer_rnc = p_issuer
       FOR UPDATE;
    IF whose <> p_subject AND EXISTS (
        SELECT 1 FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = whose AND s.number_fate = 'reusable') THEN
        UPDATE held_numbers AS n
           SET submission_id = p_subject
         WHERE n.tenant_id = p_tenant AND n.environment = p_environment AND n.e_ncf = p_e_ncf
           AND n.issuer_rnc = p_issuer;
        RETURN p_subject;
    END IF;
    RETURN whose;
END
$$;

-- Its number belongs to another submission: this one ends, and is never sent.
CREATE FUNCTION book_number_taken(p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_holder uuid)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN book_failure(
        p_tenant, p_subject, p_epoch, p_at,
        jsonb_build_object(
            'status', 'error', 'dgiiResponse', NULL, 'otherTaxLogId', p_holder,
            'error', 'the number is that of another submission already, taxLogId ' || p_holder::text
                     || ': nothing was sent'),
        'used');
END
$$;

-- The document exists: signed once, for ever. From here on these bytes are what is sent, whatever happens.
-- Its number is its own from here on, too; when it is another's already, the submission ends instead. Whether it has
-- gone on or ended: true. The claim is looked at first, so that a worker that was relieved takes no number.
CREATE OR REPLACE FUNCTION book_signed(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_certificate uuid, p_signed bytea,
    p_sent bytea, p_host text, p_type text, p_issuer text, p_buyer text, p_security_code text, p_qr_code_url text,
    p_ncf_expiration date, p_signed_at timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    mine record;
    whose uuid;
BEGIN
    SELECT s.environment, s.root, s.e_ncf INTO mine
      FROM outbox AS o
      JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = p_subject
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL
       FOR UPDATE OF o;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF mine.e_ncf IS NOT NULL AND mine.root IN ('ECF', 'RFCE') THEN
        whose := hold_number(p_tenant, mine.environment, mine.e_ncf, coalesce(p_issuer, ''), p_subject);
        IF whose <> p_subject THEN
            RETURN book_number_taken(p_tenant, p_subject, p_epoch, p_at, whose);
        END IF;
    END IF;
    IF NOT step_on(p_tenant, p_subject, p_epoch, 'send', p_host, interval '0') THEN
        RETURN false;
    END IF;
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    VALUES (p_tenant, p_subject, 'signed', p_signed);
    IF p_sent IS NOT NULL THEN
        INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
        VALUES (p_tenant, p_subject, 'sent', p_sent);
    END IF;
    UPDATE submissions AS s
       SET certificate_id = p_certificate, ecf_type = p_type, issuer_rnc = p_issuer, buyer_rnc = p_buyer,
           security_code = p_security_code, qr_code_url = p_qr_code_url, ncf_expiration = p_ncf_expiration,
           signed_at = p_signed_at, updated_at = p_at
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'signed',
                         jsonb_strip_nulls(jsonb_build_object(
                             'certificateId', p_certificate, 'securityCode', p_security_code,
                             'sha256', encode(sha256(p_signed), 'hex'),
                             'summarySha256', encode(sha256(p_sent), 'hex'))));
    RETURN true;
END
$$;

-- Whether a number can be drawn: not when it is a submission's, which happens after a sequence was put back, or deleted
-- and made anew.
CREATE FUNCTION number_is_free(p_tenant bigint, p_environment text, p_e_ncf text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN NOT EXISTS (
        SELECT 1
          FROM held_numbers AS n
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = n.submission_id
         WHERE n.tenant_id = p_tenant AND n.environment = p_environment AND n.e_ncf = p_e_ncf
           AND s.number_fate <> 'reusable');
END
$$;

-- Take the next number of a sequence that gives any, one that is nobody's; it passes over at most a thousand at a time,
-- so that a draw takes no longer than that. Raises as accept_submission says.
CREATE FUNCTION draw_number(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
BEGIN
    FOR passed IN 0 .. 1000 LOOP
        UPDATE sequences AS q
           SET current_number = q.current_number + 1, updated_at = p_at
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
           AND q.is_active AND q.current_number <= q.max_number AND NOT sequence_is_over(q.expire_at, p_at)
        RETURNING q.current_number - 1 INTO number;
        IF number IS NULL THEN
            PERFORM refuse_to_draw(p_tenant, p_environment, p_prefix, p_at);
        END IF;
        EXIT WHEN number_is_free(p_tenant, p_environment, p_prefix || lpad(number::text, 10, '0'));
    END LOOP;
    RETURN number;
END
$$;

CREATE OR REPLACE FUNCTION refuse_to_draw(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    SELECT q.is_active, q.expire_at INTO found
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    IF found.is_active IS NULL OR NOT found.is_active THEN
        RAISE EXCEPTION 'no active NCF sequence for %', p_prefix USING ERRCODE = 'FE001';
    ELSIF sequence_is_over(found.expire_at, p_at) THEN
        RAISE EXCEPTION 'the NCF sequence for % has expired', p_prefix USING ERRCODE = 'FE002';
    END IF;
    RAISE EXCEPTION 'the NCF sequence for % is used up', p_prefix USING ERRCODE = 'FE003';
END
$$;

-- Take a submission in: its row, its bytes, its number and its first due step, or none of them.
--   outcome 'accepted'  a new submission
--           'deduped'   this clientRequestId was used before; the columns tell of the first one
-- numbers_skipped and numbers_left tell what a number that came with the document did to its sequence, if it moved it: how
-- many it passed over that nobody had used, and how many are left.
-- Drawing a number raises FE001 (no active sequence), FE002 (expired) or FE003 (used up), and nothing is kept.
-- It names its tenant to row-level security (0008) itself, so that the front needs no second statement for it.
-- (The release before names the columns it reads, so that more of them do not disturb it.)
DROP FUNCTION accept_submission(
    bigint, uuid, timestamptz, text, text, text, bytea, text, text, text, text, text, text, text, uuid, bytea, text
);

CREATE FUNCTION accept_submission(
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
    PERFORM set_config('fe.tenant', p_tenant::text, true);
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

-- The next number of a range that moves: it goes to the nearest bound (one past the old end means used up, and stays
-- so only when the new range ends there too).
CREATE FUNCTION next_number_in(p_next bigint, p_old_max bigint, p_min bigint, p_max bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN p_next = p_old_max + 1 AND p_max = p_old_max THEN p_next
    ELSE least(greatest(p_next, p_min), p_max)
END;

-- Change what is named of a sequence, and leave what is NULL (the expiry: where p_sets_expiry is false).
--   'changed'
--   'none'      there is no such sequence
--   'range'     its least number would be above its greatest
--   'outside'   p_next is not in the range, nor one past its end
--   'sent'      p_next would go back to or below a number that was sent, and is not free again
CREATE FUNCTION change_sequence(
    p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_max bigint, p_next bigint,
    p_sets_expiry boolean, p_expire_at timestamptz, p_is_active boolean, p_at timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    was record;
    new_min bigint;
    new_max bigint;
BEGIN
    SELECT q.min_number, q.max_number, q.current_number INTO was
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'none';
    END IF;
    new_min := coalesce(p_min, was.min_number);
    new_max := coalesce(p_max, was.max_number);
    IF new_min > new_max THEN
        RETURN 'range';
    ELSIF p_next NOT BETWEEN new_min AND new_max + 1 THEN
        RETURN 'outside';
    ELSIF p_next < was.current_number AND EXISTS (
        SELECT 1
          FROM held_numbers AS n
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = n.submission_id
          JOIN sends AS x ON x.tenant_id = p_tenant AND x.submission_id = n.submission_id
         WHERE n.tenant_id = p_tenant AND n.environment = p_environment
           AND n.e_ncf BETWEEN p_prefix || lpad(p_next::text, 10, '0') AND p_prefix || lpad(new_max::text, 10, '0')
           AND s.number_fate <> 'reusable' AND x.outcome <> 'not_sent') THEN
        RETURN 'sent';
    END IF;
    UPDATE sequences AS q
       SET min_number = new_min, max_number = new_max,
           current_number = coalesce(p_next, next_number_in(q.current_number, q.max_number, new_min, new_max)),
           expire_at = CASE WHEN p_sets_expiry THEN p_expire_at ELSE q.expire_at END,
           is_active = coalesce(p_is_active, q.is_active), updated_at = p_at
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    RETURN 'changed';
END
$$;

GRANT EXECUTE ON FUNCTION hold_number, book_number_taken TO fe_worker;
GRANT EXECUTE ON FUNCTION accept_submission, draw_number, number_is_free TO fe_front;
GRANT EXECUTE ON FUNCTION sequence_last_day, sequence_is_over, next_number_in, change_sequence TO fe_front, fe_operator;

-- The numbers of what is signed already. Whoever was accepted under one has it, before whoever came first.
ALTER TABLE submissions NO FORCE ROW LEVEL SECURITY;

ALTER TABLE held_numbers NO FORCE ROW LEVEL SECURITY;

INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
SELECT DISTINCT ON (s.tenant_id, s.environment, s.e_ncf, s.issuer_rnc)
    s.tenant_id,
    s.environment,
    s.e_ncf,
    s.issuer_rnc,
    s.submission_id
  FROM submissions AS s
 WHERE s.signed_at IS NOT NULL AND s.e_ncf IS NOT NULL AND s.issuer_rnc IS NOT NULL AND s.root IN ('ECF', 'RFCE')
   AND s.number_fate <> 'reusable'
 ORDER BY s.tenant_id ASC, s.environment ASC, s.e_ncf ASC, s.issuer_rnc ASC,
          s.status IN ('Aceptado', 'Aceptado Condicional') DESC, s.submission_id ASC
ON CONFLICT DO NOTHING;

ALTER TABLE held_numbers FORCE ROW LEVEL SECURITY;

ALTER TABLE submissions FORCE ROW LEVEL SECURITY;
