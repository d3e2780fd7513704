-- Book submissions whose number another submission or a voiding holds: they end as `error` and are not sent.
CREATE OR REPLACE FUNCTION book_number_taken_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_holders uuid[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN book_failure_batch(
        p_tenants, p_subjects, p_epochs, p_at,
        ARRAY(SELECT CASE WHEN EXISTS (SELECT 1 FROM voided_ranges AS v
                                        WHERE v.tenant_id = b.tenant_id AND v.voiding_id = b.holder)
                     THEN jsonb_build_object(
                         'status', 'error', 'dgiiResponse', NULL, 'voidingId', b.holder,
                         'error', 'the number is being voided, or is void, by the voiding ' || b.holder::text
                                  || ': nothing was sent, issue it with another number')
                     ELSE jsonb_build_object(
                         'status', 'error', 'dgiiResponse', NULL, 'otherTaxLogId', b.holder,
                         'error', 'the number is that of another submission already, taxLogId ' || b.holder::text
                                  || ': nothing was sent') END
                FROM unnest(p_tenants, p_holders) WITH ORDINALITY AS b (tenant_id, holder, n)
               ORDER BY b.n),
        array_fill('used'::text, ARRAY[cardinality(p_subjects)]));
END
$$;

GRANT EXECUTE ON FUNCTION book_number_taken_batch TO fe_worker;
