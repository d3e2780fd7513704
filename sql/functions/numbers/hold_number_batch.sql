-- Hold numbers for submissions. Returns the holder of each: the submission itself if no other holds the number, or if
-- the other's number is free again; the voiding that a number is in. NULL has no holder. Of two submissions with one
-- number in a batch the first gets it.
CREATE OR REPLACE FUNCTION hold_number_batch(
    p_tenants bigint[], p_environments text[], p_e_ncfs text[], p_issuers text[], p_subjects uuid[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    holders uuid[];
    voidings uuid[];
BEGIN
    IF EXISTS (SELECT 1 FROM voided_ranges AS v WHERE v.tenant_id = ANY (p_tenants)) THEN
        voidings := ARRAY(
            SELECT voiding_of(b.tenant_id, b.environment, b.e_ncf)
              FROM unnest(p_tenants, p_environments, p_e_ncfs) WITH ORDINALITY AS b (tenant_id, environment, e_ncf, n)
             ORDER BY b.n);
        IF num_nonnulls(VARIADIC voidings) > 0 THEN
            holders := hold_number_batch(
                p_tenants, p_environments,
                ARRAY(SELECT CASE WHEN b.voiding IS NULL THEN b.e_ncf END
                        FROM unnest(p_e_ncfs, voidings) WITH ORDINALITY AS b (e_ncf, voiding, n)
                       ORDER BY b.n),
                p_issuers, p_subjects);
            RETURN ARRAY(
                SELECT CASE WHEN b.subject IS NOT NULL AND b.voiding IS NOT NULL THEN b.voiding ELSE b.holder END
                  FROM unnest(p_subjects, voidings, holders) WITH ORDINALITY AS b (subject, voiding, holder, n)
                 ORDER BY b.n);
        END IF;
    END IF;
    -- In the order of the key, so that two transactions cannot deadlock.
    INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
    SELECT b.tenant_id, b.environment, b.e_ncf, b.issuer_rnc, b.subject
      FROM unnest(p_tenants, p_environments, p_e_ncfs, p_issuers, p_subjects)
                   AS b (tenant_id, environment, e_ncf, issuer_rnc, subject)
     WHERE b.e_ncf IS NOT NULL AND b.subject IS NOT NULL
     ORDER BY b.tenant_id, b.environment, b.e_ncf, b.issuer_rnc, b.subject
    ON CONFLICT DO NOTHING;
    holders := holders_of_batch(p_tenants, p_environments, p_e_ncfs, p_issuers);
    IF NOT EXISTS (SELECT 1
                     FROM unnest(p_subjects, holders) AS b (subject, holder)
                    WHERE b.subject <> b.holder) THEN
        RETURN holders;
    END IF;
    PERFORM 1
       FROM unnest(p_tenants, p_environments, p_e_ncfs, p_issuers, p_subjects)
                    AS b (tenant_id, environment, e_ncf, issuer_rnc, subject)
       JOIN held_numbers AS n
         ON n.tenant_id = b.tenant_id AND n.environment = b.environment AND n.e_ncf = b.e_ncf
        AND n.issuer_rnc = b.issuer_rnc AND n.submission_id <> b.subject
      ORDER BY n.tenant_id, n.environment, n.e_ncf, n.issuer_rnc
        FOR UPDATE OF n;
    UPDATE held_numbers AS n
       SET submission_id = b.subject
      FROM (SELECT DISTINCT ON (a.tenant_id, a.environment, a.e_ncf, a.issuer_rnc)
                   a.tenant_id, a.environment, a.e_ncf, a.issuer_rnc, a.subject
              FROM unnest(p_tenants, p_environments, p_e_ncfs, p_issuers, p_subjects)
                           AS a (tenant_id, environment, e_ncf, issuer_rnc, subject)
             WHERE a.e_ncf IS NOT NULL AND a.subject IS NOT NULL
             ORDER BY a.tenant_id, a.environment, a.e_ncf, a.issuer_rnc, a.subject) AS b
     WHERE n.tenant_id = b.tenant_id AND n.environment = b.environment AND n.e_ncf = b.e_ncf
       AND n.issuer_rnc = b.issuer_rnc AND n.submission_id <> b.subject
       AND EXISTS (SELECT 1
                     FROM submissions AS s
                    WHERE s.tenant_id = n.tenant_id AND s.submission_id = n.submission_id
                      AND s.number_fate = 'reusable');
    RETURN holders_of_batch(p_tenants, p_environments, p_e_ncfs, p_issuers);
END
$$;

GRANT EXECUTE ON FUNCTION hold_number_batch TO fe_worker;
