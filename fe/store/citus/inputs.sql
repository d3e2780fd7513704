-- What the next step of claimed rows needs, as in 0029: read where the rows are, of all rows of a shard in one call there.

CREATE OR REPLACE FUNCTION input_of(p_stage text, p_claims claimed[], p_environments text[])
RETURNS TABLE (
    place int, format text, root text, ecf_type text, e_ncf text, as_user text, as_user_id uuid, issuer_rnc text,
    buyer_rnc text, certificate_id uuid, track_id text, content bytea, is_summary boolean, maybe_adopted boolean,
    sequence_expires timestamptz, holders uuid[], holders_issuers text[]
)
LANGUAGE plpgsql ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    asked record;
    one record;
    tenants bigint[];
    subjects uuid[];
    environments text[];
    answer jsonb;
    v jsonb;
BEGIN
    SELECT array_agg(x.tenant_id ORDER BY x.n) AS tenants, array_agg(x.subject ORDER BY x.n) AS subjects,
           array_agg(p_environments[x.lane] ORDER BY x.n) AS environments, array_agg(x.n::int ORDER BY x.n) AS places
      INTO asked
      FROM unnest(p_claims) WITH ORDINALITY
           AS x (lane, due, tenants, shares, tenant_id, subject, attempt, epoch, deaths, waited, last_error, n)
     WHERE x.tenant_id IS NOT NULL;
    FOR one IN SELECT * FROM shards_of(coalesce(asked.tenants, '{}')) LOOP
        IF one.places IS NULL THEN
            tenants := asked.tenants; subjects := asked.subjects; environments := asked.environments;
        ELSE
            tenants := picked(asked.tenants, one.places);
            subjects := picked(asked.subjects, one.places);
            environments := picked(asked.environments, one.places);
        END IF;
        IF p_stage = 'sign' THEN
            SELECT sign_input_batch_there(a.anchor, tenants, subjects, environments) INTO answer
              FROM anchors AS a WHERE a.anchor = one.anchor;
        ELSIF p_stage = 'send' THEN
            SELECT send_input_batch_there(a.anchor, tenants, subjects, environments) INTO answer
              FROM anchors AS a WHERE a.anchor = one.anchor;
        ELSE
            SELECT track_input_batch_there(a.anchor, tenants, subjects, environments) INTO answer
              FROM anchors AS a WHERE a.anchor = one.anchor;
        END IF;
        FOR v IN SELECT jsonb_array_elements(coalesce(answer, '[]')) LOOP
            place := (v ->> 0)::int;
            place := asked.places[coalesce(one.places[place], place)];
            IF p_stage = 'sign' THEN
                format := v ->> 1; root := v ->> 2; ecf_type := v ->> 3; e_ncf := v ->> 4; as_user := v ->> 5;
                as_user_id := v ->> 6; content := v ->> 7; sequence_expires := v ->> 8; holders := v ->> 9;
                holders_issuers := v ->> 10;
            ELSIF p_stage = 'send' THEN
                root := v ->> 1; e_ncf := v ->> 2; issuer_rnc := v ->> 3; buyer_rnc := v ->> 4; certificate_id := v ->> 5;
                content := v ->> 6; is_summary := v ->> 7;
            ELSE
                e_ncf := v ->> 1; certificate_id := v ->> 2; track_id := v ->> 3; maybe_adopted := v ->> 4;
            END IF;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION input_of TO fe_worker;
