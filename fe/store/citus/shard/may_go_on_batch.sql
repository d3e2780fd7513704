-- The receipts with a verdict that may go to a counterparty; p_sends: whether the tenant sends to receivers or sends mail.
CREATE FUNCTION may_go_on_batch(p_tenants bigint[], p_subjects uuid[], p_sends boolean[]) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_subjects);
BEGIN
    RETURN ARRAY(
        SELECT CASE WHEN s.root = 'ACECF' OR (s.root = 'ECF' AND b.sends) THEN b.subject END
          FROM unnest(p_tenants, p_subjects, p_sends) WITH ORDINALITY AS b (tenant_id, subject, sends, n)
          LEFT JOIN submissions AS s
            ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
           AND s.submission_id BETWEEN span.first AND span.last
         ORDER BY b.n);
END
$$;
