-- Input for signing submissions that were just accepted, beside what the caller has in memory: a row for each with its
-- place in the arrays, from 1; then one for each tenant, as claim_with_input returns it. `p_owned`: the number came
-- from a sequence of the tenant.
CREATE OR REPLACE FUNCTION input_to_sign(
    p_tenants bigint [], p_subjects uuid [], p_environments text [], p_e_ncfs text [], p_owned boolean []
) RETURNS TABLE (
    place int, tenant_id bigint, sequence_expires timestamptz, holders uuid [], holders_issuers text [], signatory text
)
LANGUAGE plpgsql STABLE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    span record := span_of(p_subjects);
    since uuid := forty_days_before(span.first);
BEGIN
    RETURN QUERY
    SELECT c.place::int, c.tenant_id,
           (SELECT (array_agg(
                        expiry_of_number(c.e_ncf, q.min_number, q.max_number, q.expire_at, q.former_ranges)
                        ORDER BY number_lies(c.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges)))[1]
              FROM sequences AS q
             WHERE q.tenant_id = c.tenant_id AND q.environment = c.environment AND q.is_active
               AND left(q.prefix, 3) = left(c.e_ncf, 3)
               AND number_lies(c.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges) IS NOT NULL),
           same.holders, same.issuers, NULL::text
      FROM unnest(p_tenants, p_subjects, p_environments, p_e_ncfs, p_owned) WITH ORDINALITY
           AS c (tenant_id, subject, environment, e_ncf, owned, place)
      LEFT JOIN LATERAL (
            -- Held, or on its way to be signed: see fe/store/records/numbers.py.
            SELECT array_agg(one.submission_id) AS holders, array_agg(one.issuer_rnc) AS issuers
              FROM (SELECT h.submission_id, h.issuer_rnc
                      FROM held_numbers AS h
                      JOIN submissions AS other
                        ON other.tenant_id = c.tenant_id AND other.submission_id = h.submission_id
                       AND other.number_fate <> 'reusable'
                     WHERE h.tenant_id = c.tenant_id AND h.environment = c.environment
                       AND h.e_ncf = c.e_ncf AND h.submission_id <> c.subject
                     UNION ALL
                    SELECT other.submission_id, other.issuer_rnc
                      FROM submissions AS other
                     WHERE other.tenant_id = c.tenant_id AND other.environment = c.environment
                       AND other.e_ncf = c.e_ncf AND other.submission_id >= forty_days_before(c.subject)
                       AND other.submission_id >= since AND other.submission_id <= span.last
                       AND other.submission_id < c.subject AND other.root IN ('ECF', 'RFCE')
                       AND other.status <> 'error' AND other.number_fate <> 'reusable') AS one
             WHERE c.owned
           ) AS same ON c.e_ncf IS NOT NULL;
    RETURN QUERY
    SELECT 0, t.tenant_id, NULL::timestamptz, NULL::uuid[], NULL::text[], t.signatory
      FROM signatories_of(p_tenants) AS t;
END
$$;

GRANT EXECUTE ON FUNCTION input_to_sign TO fe_worker;
