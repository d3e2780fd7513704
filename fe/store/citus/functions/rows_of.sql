-- Rows of one or more answers of claim_batch.
CREATE OR REPLACE FUNCTION rows_of(p_leased bytea[]) RETURNS TABLE (
    tenant_id bigint, subject uuid, attempt int, epoch bigint, deaths int, waited interval, last_error text,
    format text, root text, ecf_type text, e_ncf text, as_user text, as_user_id uuid, issuer_rnc text, buyer_rnc text,
    certificate_id uuid, track_id text, content bytea, is_summary boolean, maybe_adopted boolean,
    sequence_expires timestamptz, holders uuid[], holders_issuers text[]
)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    first int := 1;
    many int;
    told claimed_columns;
BEGIN
    WHILE first <= cardinality(p_leased) LOOP
        told := convert_from(p_leased[first], 'UTF8')::claimed_columns;
        many := cardinality(told.tenants);
        RETURN QUERY
        SELECT told.tenants[n], told.subjects[n], told.attempts[n], told.epochs[n], told.deaths[n], told.waited[n],
               told.last_errors[n], told.formats[n], told.roots[n], told.ecf_types[n], told.e_ncfs[n],
               told.as_users[n], told.as_user_ids[n], told.issuers[n], told.buyers[n], told.certificates[n],
               told.track_ids[n], p_leased[first + n], told.are_summaries[n], told.maybe_adopted[n],
               told.sequences_expire[n], told.holders[n]::uuid[], told.holders_issuers[n]::text[]
          FROM generate_series(1, many) AS n;
        first := first + 1 + many;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION rows_of TO fe_worker;
