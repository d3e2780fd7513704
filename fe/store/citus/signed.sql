-- Keeping what was signed and announcing what is to be sent, on Citus: the batches of 0042, by shard as in batches.sql.

-- Put the sends that are about to be made on record, of one scope, and that they are; p_seqs and p_hashes are those of the last
-- event of each. One that was announced before stays as it is.
CREATE OR REPLACE FUNCTION announce_sends(
    p_scope bigint[], p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_digests bytea[], p_seqs int[],
    p_hashes bytea[], p_at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_subjects);
    announced uuid[] := '{}';
    one uuid;
    kept int;
    new record;
BEGIN
    FOR one IN
        INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at)
        SELECT s.tenant_id, s.submission_id, b.epoch, b.digest, p_at
          FROM submissions AS s
          JOIN unnest(p_tenants, p_subjects, p_epochs, p_digests) AS b (tenant_id, subject, epoch, digest)
            ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
         WHERE s.tenant_id = ANY (p_scope) AND s.submission_id BETWEEN span.first AND span.last
        ON CONFLICT DO NOTHING
        RETURNING submission_id
    LOOP
        announced := announced || one;
    END LOOP;
    IF cardinality(announced) < cardinality(p_subjects) THEN
        SELECT count(*) INTO kept
          FROM sends AS d
          JOIN unnest(p_tenants, p_subjects, p_epochs) AS b (tenant_id, subject, epoch)
            ON d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.epoch = b.epoch
         WHERE d.tenant_id = ANY (p_scope) AND d.submission_id BETWEEN span.first AND span.last;
        PERFORM demand_all(kept, cardinality(p_subjects), 'sends');
    END IF;
    IF announced = '{}' THEN
        RETURN;
    END IF;
    SELECT array_agg(b.tenant_id ORDER BY b.n) AS tenants, array_agg(b.subject ORDER BY b.n) AS subjects,
           array_agg(b.seq ORDER BY b.n) AS seqs, array_agg(b.hash ORDER BY b.n) AS hashes,
           array_agg(jsonb_build_object('epoch', b.epoch, 'sha256', encode(b.digest, 'hex')) ORDER BY b.n) AS details
      INTO new
      FROM unnest(p_tenants, p_subjects, p_epochs, p_digests, p_seqs, p_hashes) WITH ORDINALITY
           AS b (tenant_id, subject, epoch, digest, seq, hash, n)
     WHERE b.subject = ANY (announced);
    PERFORM follow_events(p_scope, new.tenants, new.subjects, new.seqs, new.hashes, p_at, 'sending', new.details);
END
$$;

CREATE OR REPLACE FUNCTION intend_to_send_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_leases interval[], p_digests bytea[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    answers text[] := array_fill('lost'::text, ARRAY[cardinality(p_subjects)]);
    span record := span_of(p_subjects);
    scope bigint[];
    held record;
    few record;
    going record;
BEGIN
    FOR scope IN SELECT * FROM scopes_of(p_tenants) LOOP
        -- Locked, so that nobody claims it from here on; written only where too little of its lease is left.
        SELECT array_agg(h.n ORDER BY h.n) AS places, array_agg(h.run_at ORDER BY h.n) AS dues,
               array_agg(h.in_doubt ORDER BY h.n) AS in_doubt, array_agg(h.seq ORDER BY h.n) AS seqs,
               array_agg(h.hash ORDER BY h.n) AS hashes
          INTO held
          FROM (SELECT b.n, o.run_at, last.seq, last.hash,
                       EXISTS (SELECT 1
                                 FROM sends AS x
                                WHERE x.tenant_id = ANY (scope) AND x.tenant_id = o.tenant_id
                                  AND x.submission_id = o.subject AND x.submission_id BETWEEN span.first AND span.last
                                  AND x.epoch <> o.epoch AND x.outcome IN ('intended', 'unknown')) AS in_doubt
                  FROM outbox AS o
                  JOIN unnest(p_tenants, p_subjects, p_epochs) WITH ORDINALITY AS b (tenant_id, subject, epoch, n)
                    ON o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch
                  LEFT JOIN LATERAL (SELECT e.seq, e.hash
                                       FROM submission_events AS e
                                      WHERE e.tenant_id = ANY (scope) AND e.tenant_id = o.tenant_id
                                        AND e.submission_id = o.subject
                                        AND e.submission_id BETWEEN span.first AND span.last
                                      ORDER BY e.seq DESC
                                      LIMIT 1) AS last ON true
                 WHERE o.tenant_id = ANY (scope) AND o.holder IS NOT NULL AND o.stage = 'send'
                   FOR UPDATE OF o) AS h;
        CONTINUE WHEN held.places IS NULL;
        SELECT array_agg(p_tenants[h.n]) AS tenants, array_agg(p_subjects[h.n]) AS subjects,
               array_agg(moment + p_leases[h.n]) AS dues
          INTO few
          FROM unnest(held.places, held.dues) AS h (n, due)
         WHERE h.due < moment + p_leases[h.n] * 0.95;
        IF few.subjects IS NOT NULL THEN
            UPDATE outbox AS o
               SET run_at = b.due
              FROM unnest(few.tenants, few.subjects, few.dues) AS b (tenant_id, subject, due)
             WHERE o.tenant_id = ANY (scope) AND o.tenant_id = b.tenant_id AND o.subject = b.subject;
        END IF;
        FOR n IN 1 .. cardinality(held.places) LOOP
            answers[held.places[n]] := CASE WHEN held.in_doubt[n] THEN 'in doubt' ELSE 'go' END;
        END LOOP;
        SELECT array_agg(p_tenants[h.n] ORDER BY h.n) AS tenants, array_agg(p_subjects[h.n] ORDER BY h.n) AS subjects,
               array_agg(p_epochs[h.n] ORDER BY h.n) AS epochs, array_agg(p_digests[h.n] ORDER BY h.n) AS digests,
               array_agg(h.seq ORDER BY h.n) AS seqs, array_agg(h.hash ORDER BY h.n) AS hashes
          INTO going
          FROM unnest(held.places, held.in_doubt, held.seqs, held.hashes) AS h (n, in_doubt, seq, hash)
         WHERE NOT h.in_doubt;
        IF going.subjects IS NOT NULL THEN
            PERFORM announce_sends(
                scope, going.tenants, going.subjects, going.epochs, going.digests, going.seqs, going.hashes, p_at);
        END IF;
    END LOOP;
    RETURN answers;
END
$$;

CREATE OR REPLACE FUNCTION book_signed_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_certificates uuid[], p_signed bytea[],
    p_sent bytea[], p_hosts text[], p_types text[], p_issuers text[], p_buyers text[], p_security_codes text[],
    p_qr_code_urls text[], p_ncf_expirations date[], p_signed_ats timestamptz[], p_remarks jsonb[],
    p_leases interval[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    answers text[] := array_fill('lost'::text, ARRAY[cardinality(p_subjects)]);
    span record := span_of(p_subjects);
    scope bigint[];
    held record;
    mine record;
    papers record;
    more record;
    firsts uuid[];
    whose uuid;
    hashes bytea[];
    dues timestamptz[];
    leased int[];
    kept int;
BEGIN
    FOR scope IN SELECT * FROM scopes_of(p_tenants) LOOP
        -- The claim is looked at first, so that a worker that was relieved takes no number.
        SELECT array_agg(h.n ORDER BY h.n) AS places, array_agg(h.environment ORDER BY h.n) AS environments,
               array_agg(h.e_ncf ORDER BY h.n) AS numbers, array_agg(h.seq ORDER BY h.n) AS seqs,
               array_agg(h.hash ORDER BY h.n) AS hashes
          INTO held
          FROM (SELECT b.n, s.environment::text AS environment, last.seq, last.hash,
                       CASE WHEN s.root IN ('ECF', 'RFCE') THEN s.e_ncf END AS e_ncf
                  FROM outbox AS o
                  JOIN unnest(p_tenants, p_subjects, p_epochs) WITH ORDINALITY AS b (tenant_id, subject, epoch, n)
                    ON o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch
                  JOIN submissions AS s
                    ON s.tenant_id = ANY (scope) AND s.tenant_id = o.tenant_id AND s.submission_id = o.subject
                   AND s.submission_id BETWEEN span.first AND span.last
                  LEFT JOIN LATERAL (SELECT e.seq, e.hash
                                       FROM submission_events AS e
                                      WHERE e.tenant_id = ANY (scope) AND e.tenant_id = o.tenant_id
                                        AND e.submission_id = o.subject
                                        AND e.submission_id BETWEEN span.first AND span.last
                                      ORDER BY e.seq DESC
                                      LIMIT 1) AS last ON true
                 WHERE o.tenant_id = ANY (scope) AND o.holder IS NOT NULL
                   FOR UPDATE OF o) AS h;
        CONTINUE WHEN held.places IS NULL;
        firsts := '{}';
        IF num_nonnulls(VARIADIC held.numbers) > 0 THEN
            -- In the order of the key: whoever waits for a number here holds none that is waited for there.
            FOR whose IN
                INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
                SELECT s.tenant_id, s.environment, s.e_ncf, coalesce(b.issuer, ''), s.submission_id
                  FROM submissions AS s
                  JOIN unnest(p_tenants, p_subjects, p_issuers) WITH ORDINALITY AS b (tenant_id, subject, issuer, n)
                    ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
                 WHERE s.tenant_id = ANY (scope) AND s.submission_id BETWEEN span.first AND span.last
                   AND b.n = ANY (held.places) AND s.root IN ('ECF', 'RFCE') AND s.e_ncf IS NOT NULL
                 ORDER BY s.tenant_id, s.environment, s.e_ncf, coalesce(b.issuer, ''), s.submission_id
                ON CONFLICT DO NOTHING
                RETURNING submission_id
            LOOP
                firsts := firsts || whose;
            END LOOP;
        END IF;
        FOR h IN 1 .. cardinality(held.places) LOOP
            answers[held.places[h]] := 'signed';
            CONTINUE WHEN held.numbers[h] IS NULL OR p_subjects[held.places[h]] = ANY (firsts);
            whose := hold_number(p_tenants[held.places[h]], held.environments[h], held.numbers[h],
                                 coalesce(p_issuers[held.places[h]], ''), p_subjects[held.places[h]]);
            IF whose <> p_subjects[held.places[h]] THEN
                PERFORM book_number_taken(p_tenants[held.places[h]], p_subjects[held.places[h]],
                                          p_epochs[held.places[h]], p_at, whose);
                answers[held.places[h]] := 'taken';
            END IF;
        END LOOP;
        SELECT array_agg(h.n ORDER BY h.n) AS places, array_agg(p_tenants[h.n] ORDER BY h.n) AS tenants,
               array_agg(p_subjects[h.n] ORDER BY h.n) AS subjects, array_agg(h.environment ORDER BY h.n) AS environments,
               array_agg(p_leases[h.n] ORDER BY h.n) AS leases, array_agg(h.seq ORDER BY h.n) AS seqs,
               array_agg(h.hash ORDER BY h.n) AS hashes,
               array_agg(jsonb_strip_nulls(jsonb_build_object(
                   'certificateId', p_certificates[h.n], 'securityCode', p_security_codes[h.n],
                   'sha256', encode(sha256(p_signed[h.n]), 'hex'),
                   'summarySha256', encode(sha256(p_sent[h.n]), 'hex'))) ORDER BY h.n) AS details
          INTO mine
          FROM unnest(held.places, held.environments, held.seqs, held.hashes) AS h (n, environment, seq, hash)
         WHERE answers[h.n] = 'signed';
        CONTINUE WHEN mine.places IS NULL;
        SELECT array_agg((x.lease IS NOT NULL)::int ORDER BY x.n),
               array_agg(moment + coalesce(x.lease, interval '0') ORDER BY x.n)
          INTO leased, dues
          FROM unnest(leases_unless_paused(mine.tenants, mine.environments, mine.leases)) WITH ORDINALITY AS x (lease, n);
        WITH moved AS (
            UPDATE outbox AS o
               SET stage = 'send', host = coalesce(p.host, o.host), run_at = b.due, attempt = b.leased, deaths = 0,
                   epoch = o.epoch + b.leased, holder = CASE WHEN b.leased = 1 THEN o.holder END, entered_at = moment,
                   last_error = NULL
              FROM unnest(mine.places, dues, leased) AS b (place, due, leased)
              JOIN unnest(p_tenants, p_subjects, p_hosts) WITH ORDINALITY AS p (tenant_id, subject, host, n)
                ON p.n = b.place
             WHERE o.tenant_id = ANY (scope) AND o.tenant_id = p.tenant_id AND o.subject = p.subject
        )
        UPDATE submissions AS s
           SET certificate_id = b.certificate_id, ecf_type = b.ecf_type, issuer_rnc = b.issuer_rnc,
               buyer_rnc = b.buyer_rnc, security_code = b.security_code, qr_code_url = b.qr_code_url,
               ncf_expiration = b.ncf_expiration, signed_at = b.signed_at, updated_at = p_at
          FROM unnest(p_tenants, p_subjects, p_certificates, p_types, p_issuers, p_buyers, p_security_codes,
                      p_qr_code_urls, p_ncf_expirations, p_signed_ats) WITH ORDINALITY
                       AS b (tenant_id, subject, certificate_id, ecf_type, issuer_rnc, buyer_rnc, security_code,
                             qr_code_url, ncf_expiration, signed_at, n)
         WHERE s.tenant_id = ANY (scope) AND s.tenant_id = b.tenant_id AND s.submission_id = b.subject
           AND s.submission_id BETWEEN span.first AND span.last AND b.n = ANY (mine.places);
        SELECT array_agg(x.tenant_id) AS tenants, array_agg(x.subject) AS subjects, array_agg(x.kind) AS kinds,
               array_agg(x.content) AS contents
          INTO papers
          FROM (SELECT p_tenants[m.n] AS tenant_id, p_subjects[m.n] AS subject, d.kind, d.content
                  FROM unnest(mine.places) AS m (n)
                 CROSS JOIN LATERAL (VALUES ('signed', p_signed[m.n]), ('sent', p_sent[m.n])) AS d (kind, content)
                 WHERE d.content IS NOT NULL) AS x;
        INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
        SELECT s.tenant_id, s.submission_id, b.kind, b.content
          FROM submissions AS s
          JOIN unnest(papers.tenants, papers.subjects, papers.kinds, papers.contents)
               AS b (tenant_id, subject, kind, content)
            ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
         WHERE s.tenant_id = ANY (scope) AND s.submission_id BETWEEN span.first AND span.last;
        GET DIAGNOSTICS kept = ROW_COUNT;
        PERFORM demand_all(kept, cardinality(papers.subjects), 'submission_documents');
        hashes := follow_events(
            scope, mine.tenants, mine.subjects, mine.seqs, mine.hashes, p_at, 'signed', mine.details);
        SELECT array_agg(coalesce(m.seq, 0) + 1 ORDER BY m.n) AS seqs, hashes AS hashes INTO more
          FROM unnest(mine.places, mine.seqs) AS m (n, seq);
        FOR m IN 1 .. cardinality(mine.places) LOOP
            IF p_remarks[mine.places[m]] IS NOT NULL THEN
                more.hashes[m] := (follow_events(
                    scope, ARRAY[mine.tenants[m]], ARRAY[mine.subjects[m]], ARRAY[more.seqs[m]], ARRAY[more.hashes[m]],
                    p_at, 'remarked', ARRAY[jsonb_build_object('problems', p_remarks[mine.places[m]])]))[1];
                more.seqs[m] := more.seqs[m] + 1;
            END IF;
            IF leased[m] = 1 THEN
                answers[mine.places[m]] := 'going on';
            END IF;
        END LOOP;
        SELECT array_agg(p_tenants[m.n] ORDER BY m.n) AS tenants, array_agg(p_subjects[m.n] ORDER BY m.n) AS subjects,
               array_agg(p_epochs[m.n] + 1 ORDER BY m.n) AS epochs,
               array_agg(sha256(coalesce(p_sent[m.n], p_signed[m.n])) ORDER BY m.n) AS digests,
               array_agg(m.seq ORDER BY m.n) AS seqs, array_agg(m.hash ORDER BY m.n) AS hashes
          INTO mine
          FROM unnest(mine.places, leased, more.seqs, more.hashes) AS m (n, leased, seq, hash)
         WHERE m.leased = 1;
        IF mine.subjects IS NOT NULL THEN
            PERFORM announce_sends(
                scope, mine.tenants, mine.subjects, mine.epochs, mine.digests, mine.seqs, mine.hashes, p_at);
        END IF;
    END LOOP;
    RETURN answers;
END
$$;

GRANT EXECUTE ON FUNCTION announce_sends TO fe_worker;
