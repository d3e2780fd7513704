-- Book submissions whose number another submission holds: they end as `error` and are not sent.
CREATE OR REPLACE FUNCTION book_number_taken_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_holders uuid[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN book_failure_batch(
        p_tenants, p_subjects, p_epochs, p_at,
        ARRAY(SELECT jsonb_build_object(
                         'status', 'error', 'dgiiResponse', NULL, 'otherTaxLogId', b.holder,
                         'error', 'the number is that of another submission already, taxLogId ' || b.holder::text
                                  || ': nothing was sent')
                FROM unnest(p_holders) WITH ORDINALITY AS b (holder, n)
               ORDER BY b.n),
        array_fill('used'::text, ARRAY[cardinality(p_subjects)]));
END
$$;

GRANT EXECUTE ON FUNCTION book_number_taken_batch TO fe_worker;
