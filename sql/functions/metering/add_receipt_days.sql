-- Add submissions that have ended to the sums of their days of issue. The caller holds the lock on the tenant's mark.
CREATE OR REPLACE FUNCTION add_receipt_days(p_tenant bigint, p_ended uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_ended);
BEGIN
    INSERT INTO receipt_days AS d (tenant_id, environment, issued_on, ecf_type, status, receipts, total, itbis, base18,
                                   base16, base0, exempt, itbis18, itbis16, itbis_withheld, isr_withheld,
                                   without_amounts, first_number, last_number)
    SELECT p_tenant, s.environment, s.issued_on, s.ecf_type, s.status, count(*), sum(s.total), sum(s.itbis),
           coalesce(sum((s.amounts ->> 'base18')::numeric), 0), coalesce(sum((s.amounts ->> 'base16')::numeric), 0),
           coalesce(sum((s.amounts ->> 'base0')::numeric), 0), coalesce(sum((s.amounts ->> 'exempt')::numeric), 0),
           coalesce(sum((s.amounts ->> 'itbis18')::numeric), 0), coalesce(sum((s.amounts ->> 'itbis16')::numeric), 0),
           coalesce(sum((s.amounts ->> 'itbisWithheld')::numeric), 0),
           coalesce(sum((s.amounts ->> 'isrWithheld')::numeric), 0),
           count(*) FILTER (WHERE s.amounts IS NULL), min(s.e_ncf), max(s.e_ncf)
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_ended)
       AND s.submission_id BETWEEN span.first AND span.last AND s.root IN ('ECF', 'RFCE')
       AND s.issued_on IS NOT NULL AND s.total IS NOT NULL AND s.ecf_type IS NOT NULL AND s.e_ncf IS NOT NULL
     GROUP BY s.environment, s.issued_on, s.ecf_type, s.status
     ORDER BY s.environment, s.issued_on, s.ecf_type, s.status
    ON CONFLICT (tenant_id, environment, issued_on, ecf_type, status) DO UPDATE
       SET receipts = d.receipts + EXCLUDED.receipts, total = d.total + EXCLUDED.total,
           itbis = d.itbis + EXCLUDED.itbis, base18 = d.base18 + EXCLUDED.base18, base16 = d.base16 + EXCLUDED.base16,
           base0 = d.base0 + EXCLUDED.base0, exempt = d.exempt + EXCLUDED.exempt,
           itbis18 = d.itbis18 + EXCLUDED.itbis18, itbis16 = d.itbis16 + EXCLUDED.itbis16,
           itbis_withheld = d.itbis_withheld + EXCLUDED.itbis_withheld,
           isr_withheld = d.isr_withheld + EXCLUDED.isr_withheld,
           without_amounts = d.without_amounts + EXCLUDED.without_amounts,
           first_number = least(d.first_number, EXCLUDED.first_number),
           last_number = greatest(d.last_number, EXCLUDED.last_number);
END
$$;

GRANT EXECUTE ON FUNCTION add_receipt_days TO fe_worker, fe_operator;
