-- Lease due rows of all lanes on this node, with their input, as claim_with_input does for all nodes, for a process
-- that is connected to the node (fe/store/queue/near.py). Parameters tell what only the coordinator knows: pauses and
-- weights. Each shard is entered, so that it stays on the node until the transaction ends; if it has left, the claim is
-- refused.
CREATE OR REPLACE FUNCTION claim_on_node(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_rooms int[],
    p_left_to_others int[], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint[], p_busy_in text[],
    p_holder text, p_lease interval, p_paused bigint[], p_paused_in text[], p_weighted bigint[], p_weights int[]
) RETURNS TABLE (
    lane int, due int, tenants bigint[], shares int[], tenant_id bigint, subject uuid, attempt int, epoch bigint,
    deaths int, waited interval, last_error text, format text, root text, ecf_type text, e_ncf text, as_user text,
    as_user_id uuid, issuer_rnc text, buyer_rnc text, certificate_id uuid, track_id text, content bytea,
    is_summary boolean, maybe_adopted boolean, sequence_expires timestamptz, holders uuid[], holders_issuers text[]
)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode TO force_generic_plan
SET "citus.enable_manual_changes_to_shards" TO on AS $$
#variable_conflict use_column
DECLARE
    found_due jsonb := due_on_node(
        0, p_stage, p_environments, p_hosts, p_afters, p_floors, p_paused, p_paused_in, p_scope);
    many int := 0;
    capacity int;
    many_due int;
    first_due timestamptz;
    served bigint[];
    divided int[];
    fresh int;
    leased bytea[];
BEGIN
    IF found_due = '[]' THEN
        RETURN;
    END IF;
    FOR nth IN 1 .. cardinality(p_hosts) LOOP
        capacity := least(p_slots - many - p_left_to_others[nth], p_rooms[nth], p_at_most - many);
        SELECT * INTO many_due, first_due, served, divided
          FROM served_of(
              found_due, nth, p_environments[nth], p_hosts[nth], capacity, p_scope, p_most, p_busy, p_busy_in, p_weighted, p_weights);
        CONTINUE WHEN many_due = 0;
        -- The summary of the lane; then its rows.
        RETURN QUERY
        SELECT nth, many_due, served, divided, NULL::bigint, NULL::uuid, NULL::int, NULL::bigint, NULL::int,
               NULL::interval, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::uuid,
               NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::bytea, NULL::boolean, NULL::boolean,
               NULL::timestamptz, NULL::uuid[], NULL::text[];
        CONTINUE WHEN served = '{}';
        leased := claim_batch_there(
            NULL, outbox_shards(served), served, divided, p_stage, p_environments[nth], p_hosts[nth], first_due, p_holder,
            clock_timestamp(), p_lease, true);
        RETURN QUERY
        SELECT nth, NULL::int, NULL::bigint[], NULL::int[], r.* FROM rows_of(leased) AS r;
        GET DIAGNOSTICS fresh = ROW_COUNT;
        CONTINUE WHEN fresh = 0;
        many := many + fresh;
        IF nth < cardinality(p_hosts) THEN
            p_busy := p_busy || ARRAY(SELECT r.tenant_id FROM rows_of(leased) AS r);
            p_busy_in := p_busy_in || array_fill(p_environments[nth] || ' ' || p_hosts[nth], ARRAY[fresh]);
        END IF;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION claim_on_node TO fe_worker;
