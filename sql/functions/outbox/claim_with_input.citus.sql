-- The plain form over nodes. A search asks every node; a claim goes only to nodes with tenants to serve, taken from the
-- last search while it is recent. Where that leaves slots free, NULL tenants are reported as due, and the caller claims
-- again at once.
CREATE OR REPLACE FUNCTION claim_with_input(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_rooms int[],
    p_left_to_others int[], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint[], p_busy_in text[],
    p_holder text, p_lease interval
) RETURNS TABLE (
    lane int, due int, tenants bigint[], shares int[], tenant_id bigint, subject uuid, attempt int, epoch bigint,
    deaths int, waited interval, last_error text, format text, root text, ecf_type text, e_ncf text, as_user text,
    as_user_id uuid, issuer_rnc text, buyer_rnc text, certificate_id uuid, track_id text, content bytea,
    is_summary boolean, maybe_adopted boolean, sequence_expires timestamptz, holders uuid[], holders_issuers text[],
    signatory text
)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode TO force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    looks_around_until timestamptz := nullif(current_setting('fe.looks_around_until', true), '');
    found_due jsonb := known_due(p_stage, p_environments, p_hosts, p_afters);
    looks boolean := found_due IS NULL OR coalesce(looks_around_until > clock_timestamp(), false);
    lanes int;
    many int := 0;
    capacity int;
    many_due int;
    first_due timestamptz;
    served bigint[];
    divided int[];
    weighted bigint[];
    weights int[];
    whose bigint[] := '{}';
    fresh int;
    leased bytea[];
BEGIN
    -- A session that was refused because a node was away looks around for a while (fe/store/postgres/engine.py).
    IF looks_around_until > clock_timestamp() THEN
        found_due := due_anywhere('outbox', p_stage, p_environments, p_hosts, p_afters, p_floors, p_scope);
    ELSIF looks THEN
        found_due := due_on_nodes(p_stage, p_environments, p_hosts, p_afters, p_floors, p_scope);
    END IF;
    IF found_due = '[]' THEN
        RETURN;
    END IF;
    -- A claim of one lane may stand alone. Of several either all are made or none: what one has leased would else be left to its
    -- lease when another cannot be made.
    SELECT count(DISTINCT f.value ->> 0) INTO lanes FROM jsonb_array_elements(found_due) AS f (value);
    IF lanes > 1 THEN
        PERFORM stand_together();
    END IF;
    SELECT array_agg(t.tenant_id), array_agg(t.weight) INTO weighted, weights
      FROM tenants AS t
     WHERE t.weight <> 1
       AND t.tenant_id IN (SELECT (f.value ->> 1)::bigint FROM jsonb_array_elements(found_due) AS f (value));
    FOR nth IN 1 .. cardinality(p_hosts) LOOP
        capacity := least(p_slots - many - p_left_to_others[nth], p_rooms[nth], p_at_most - many);
        SELECT * INTO many_due, first_due, served, divided
          FROM served_of(found_due, nth, p_environments[nth], p_hosts[nth], capacity, p_scope, p_most, p_busy, p_busy_in,
                         weighted, weights);
        CONTINUE WHEN many_due = 0;
        leased := claim_lane(p_stage, p_environments[nth], p_hosts[nth], served, divided, first_due, p_holder, p_lease, true);
        RETURN QUERY
        SELECT nth, NULL::int, NULL::bigint[], NULL::int[], r.*, NULL::text FROM rows_of(leased) AS r;
        GET DIAGNOSTICS fresh = ROW_COUNT;
        -- The summary of the lane; without a search there is no other row.
        RETURN QUERY
        SELECT nth, CASE WHEN looks OR fresh = least(p_slots, p_at_most) THEN many_due END, served, divided, NULL::bigint,
               NULL::uuid, NULL::int, NULL::bigint, NULL::int, NULL::interval, NULL::text, NULL::text, NULL::text,
               NULL::text, NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::text, NULL::uuid, NULL::text,
               NULL::bytea, NULL::boolean, NULL::boolean, NULL::timestamptz, NULL::uuid[], NULL::text[], NULL::text;
        CONTINUE WHEN fresh = 0;
        many := many + fresh;
        whose := whose || served;
        IF nth < cardinality(p_hosts) THEN
            p_busy := p_busy || ARRAY(SELECT r.tenant_id FROM rows_of(leased) AS r);
            p_busy_in := p_busy_in || array_fill(p_environments[nth] || ' ' || p_hosts[nth], ARRAY[fresh]);
        END IF;
    END LOOP;
    -- All of a lane, and all of its tenants had their shares: so all of them may have more.
    IF many < least(p_slots, p_at_most) THEN
        PERFORM keep_due(p_stage, p_environments, p_hosts, NULL);
    ELSIF looks AND lanes = 1 AND jsonb_array_length(found_due) < p_scope THEN
        PERFORM keep_due(p_stage, p_environments, p_hosts, found_due);
    END IF;
    IF p_stage = 'sign' AND whose <> '{}' THEN
        RETURN QUERY
        SELECT 0, NULL::int, NULL::bigint[], NULL::int[], t.tenant_id, NULL::uuid, NULL::int, NULL::bigint, NULL::int,
               NULL::interval, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::uuid,
               NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::bytea, NULL::boolean, NULL::boolean,
               NULL::timestamptz, NULL::uuid[], NULL::text[], t.signatory
          FROM signatories_of(whose) AS t;
    END IF;
END
$$;
