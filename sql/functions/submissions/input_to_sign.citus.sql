-- The plain form over nodes. It writes nothing, so no shard is entered: during a split the call is refused, and
-- repeated.
CREATE OR REPLACE FUNCTION input_to_sign(
    p_tenants bigint[], p_subjects uuid[], p_environments text[], p_e_ncfs text[], p_owned boolean[]
) RETURNS TABLE (
    place int, tenant_id bigint, sequence_expires timestamptz, holders uuid[], holders_issuers text[], signatory text
)
LANGUAGE plpgsql ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    whose bigint[] := outbox_shards(p_tenants);
    one record;
    numbers jsonb;
    many int := 0;
BEGIN
    FOR one IN SELECT * FROM ways_to(p_tenants, whose) LOOP
        numbers := input_to_sign_by_way(
            one.way, one.shards, picked(p_tenants, one.places), picked(p_subjects, one.places),
            picked(p_environments, one.places), picked(p_e_ncfs, one.places), picked(p_owned, one.places));
        many := many + jsonb_array_length(numbers);
        RETURN QUERY
        SELECT coalesce(one.places[x.place], x.place), p_tenants[coalesce(one.places[x.place], x.place)],
               x.sequence_expires, x.holders, x.holders_issuers, NULL::text
          FROM jsonb_to_recordset(numbers) AS x (
              place int, sequence_expires timestamptz, holders uuid[], holders_issuers text[]);
    END LOOP;
    PERFORM require_way(many = cardinality(p_tenants) AND whose = outbox_shards(p_tenants));
    RETURN QUERY
    SELECT 0, t.tenant_id, NULL::timestamptz, NULL::uuid[], NULL::text[], t.signatory FROM signatories_of(p_tenants) AS t;
END
$$;
