-- Book signed documents. From here on these bytes are what is sent, and the number is the document's. Of each:
--   'lost'      the claim was lost
--   'taken'     another document holds the number: this one has ended, and its bytes are not kept
--   'signed'    the row is due in `send`
--   'going on'  the same holder may send now: the row is leased to it as a claim of `send` (attempt 1, the next epoch) with the intent, where
--               p_leases has a duration and the work is not paused
-- p_remarks has of each an object: `problems` for an event of their own, `facts` and `amounts` for columns of the
-- submission. The release before gives the list of problems alone.
-- The event names the process that signed, for `fe outbox signed-by`.
CREATE OR REPLACE FUNCTION book_signed_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_certificates uuid[], p_signed bytea[],
    p_sent bytea[], p_hosts text[], p_types text[], p_issuers text[], p_buyers text[], p_security_codes text[],
    p_qr_code_urls text[], p_ncf_expirations date[], p_signed_ats timestamptz[], p_remarks jsonb[],
    p_leases interval[]
) RETURNS text[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    going uuid[];
    holders uuid[];
    environments text[];
    numbers text[];
    issuers text[];
    is_taken boolean;
    signers text[];
    span record := span_of(p_subjects);
BEGIN
    -- The claim is looked at first, so that a worker that was relieved takes no number.
    SELECT array_agg(o.subject ORDER BY b.n), array_agg(s.environment::text ORDER BY b.n),
           array_agg(CASE WHEN s.root IN ('ECF', 'RFCE') THEN s.e_ncf END ORDER BY b.n),
           array_agg(coalesce(b.issuer_rnc, '') ORDER BY b.n), array_agg(o.holder ORDER BY b.n)
      INTO mine, environments, numbers, issuers, signers
      FROM unnest(p_tenants, p_subjects, p_epochs, p_issuers) WITH ORDINALITY
                   AS b (tenant_id, subject, epoch, issuer_rnc, n)
      LEFT JOIN LATERAL (SELECT w.tenant_id, w.subject, w.holder
                           FROM outbox AS w
                          WHERE w.tenant_id = b.tenant_id AND w.subject = b.subject AND w.epoch = b.epoch
                            AND w.holder IS NOT NULL
                            FOR UPDATE) AS o ON true
      LEFT JOIN submissions AS s
        ON s.tenant_id = o.tenant_id AND s.submission_id = o.subject
       AND s.submission_id BETWEEN span.first AND span.last;
    holders := hold_number_batch(p_tenants, environments, numbers, issuers, mine);
    SELECT coalesce(bool_or(b.subject <> b.holder), false) INTO is_taken
      FROM unnest(mine, holders) AS b (subject, holder);
    IF is_taken THEN
        PERFORM book_number_taken_batch(
            p_tenants,
            ARRAY(SELECT CASE WHEN b.subject <> b.holder THEN b.subject END
                    FROM unnest(mine, holders) WITH ORDINALITY AS b (subject, holder, n)
                   ORDER BY b.n),
            p_epochs, p_at, holders);
        mine := ARRAY(SELECT CASE WHEN b.holder IS NULL OR b.subject = b.holder THEN b.subject END
                        FROM unnest(mine, holders) WITH ORDINALITY AS b (subject, holder, n)
                       ORDER BY b.n);
    END IF;
    WITH moved AS (
        UPDATE outbox AS o
           SET stage = 'send', host = b.host, run_at = moment + coalesce(b.lease, interval '0'),
               attempt = CASE WHEN b.lease IS NULL THEN 0 ELSE 1 END, deaths = 0,
               epoch = CASE WHEN b.lease IS NULL THEN o.epoch ELSE o.epoch + 1 END,
               holder = CASE WHEN b.lease IS NULL THEN NULL ELSE o.holder END, entered_at = moment, last_error = NULL
          FROM (SELECT a.tenant_id, a.subject, a.epoch, a.host, a.n,
                       CASE WHEN NOT EXISTS (
                           SELECT 1
                             FROM pauses AS p
                            WHERE p.tenant_id IN (0, a.tenant_id) AND p.environment IN ('', a.environment))
                           THEN a.lease END AS lease
                  FROM unnest(p_tenants, mine, p_epochs, p_hosts, environments, p_leases) WITH ORDINALITY
                               AS a (tenant_id, subject, epoch, host, environment, lease, n)) AS b
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject AND o.epoch = b.epoch
        RETURNING b.n, b.lease
    )
    SELECT array_agg(CASE WHEN moved.lease IS NOT NULL THEN b.subject END ORDER BY b.n) INTO going
      FROM unnest(mine) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN moved ON moved.n = b.n;
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    SELECT b.tenant_id, b.subject, d.kind, d.content
      FROM unnest(p_tenants, mine, p_signed, p_sent) AS b (tenant_id, subject, signed, sent)
     CROSS JOIN LATERAL (VALUES ('signed', b.signed), ('sent', b.sent)) AS d (kind, content)
     WHERE b.subject IS NOT NULL AND d.content IS NOT NULL;
    UPDATE submissions AS s
       SET certificate_id = b.certificate_id, ecf_type = b.ecf_type, issuer_rnc = b.issuer_rnc,
           buyer_rnc = b.buyer_rnc, security_code = b.security_code, qr_code_url = b.qr_code_url,
           ncf_expiration = b.ncf_expiration, signed_at = b.signed_at,
           total = (b.remarks #>> '{facts,total}')::numeric, itbis = (b.remarks #>> '{facts,itbis}')::numeric,
           buyer_name = b.remarks #>> '{facts,buyer_name}', issued_on = (b.remarks #>> '{facts,issued_on}')::date,
           amounts = b.remarks -> 'amounts', updated_at = p_at
      FROM unnest(p_tenants, mine, p_certificates, p_types, p_issuers, p_buyers, p_security_codes, p_qr_code_urls,
                  p_ncf_expirations, p_signed_ats, p_remarks)
                   AS b (tenant_id, subject, certificate_id, ecf_type, issuer_rnc, buyer_rnc, security_code,
                         qr_code_url, ncf_expiration, signed_at, remarks)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject
       AND s.submission_id BETWEEN span.first AND span.last;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'signed', ARRAY(
        SELECT jsonb_strip_nulls(jsonb_build_object(
                   'certificateId', b.certificate_id, 'securityCode', b.security_code,
                   'sha256', encode(sha256(b.signed), 'hex'), 'summarySha256', encode(sha256(b.sent), 'hex'),
                   'process', b.process))
          FROM unnest(p_certificates, p_security_codes, p_signed, p_sent, signers) WITH ORDINALITY
                       AS b (certificate_id, security_code, signed, sent, process, n)
         ORDER BY b.n));
    p_remarks := ARRAY(
        SELECT CASE jsonb_typeof(b.remarks) WHEN 'array' THEN b.remarks ELSE b.remarks -> 'problems' END
          FROM unnest(p_remarks) WITH ORDINALITY AS b (remarks, n)
         ORDER BY b.n);
    IF num_nonnulls(VARIADIC p_remarks) > 0 THEN
        PERFORM record_event_batch(
            p_tenants,
            ARRAY(SELECT CASE WHEN b.remarks IS NOT NULL THEN b.subject END
                    FROM unnest(mine, p_remarks) WITH ORDINALITY AS b (subject, remarks, n)
                   ORDER BY b.n),
            p_at, 'remarked',
            ARRAY(SELECT jsonb_build_object('problems', b.remarks)
                    FROM unnest(p_remarks) WITH ORDINALITY AS b (remarks, n)
                   ORDER BY b.n));
    END IF;
    IF num_nonnulls(VARIADIC going) > 0 THEN
        PERFORM announce_batch(
            p_tenants, going,
            ARRAY(SELECT b.epoch + 1 FROM unnest(p_epochs) WITH ORDINALITY AS b (epoch, n) ORDER BY b.n),
            p_at,
            ARRAY(SELECT sha256(coalesce(b.sent, b.signed))
                    FROM unnest(p_signed, p_sent) WITH ORDINALITY AS b (signed, sent, n)
                   ORDER BY b.n));
    END IF;
    RETURN ARRAY(
        SELECT CASE
               WHEN b.going IS NOT NULL THEN 'going on'
               WHEN b.subject IS NOT NULL THEN 'signed'
               WHEN b.holder IS NOT NULL THEN 'taken'
               ELSE 'lost'
               END
          FROM unnest(mine, going, holders) WITH ORDINALITY AS b (subject, going, holder, n)
         ORDER BY b.n);
END
$$;

GRANT EXECUTE ON FUNCTION book_signed_batch TO fe_worker;
