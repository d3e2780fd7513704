-- Claims by whoever is connected to the node that the rows lie on (fe/store/queue/near.py). The coordinator has no part in them: what it
-- alone knows, who is paused and how much each may have, was asked there before.

-- Who has work due in this node's shards of the outbox: as due_on_node, which anybody's way leads to.
CREATE OR REPLACE FUNCTION due_here(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_paused bigint[],
    p_paused_in text[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN due_on_node(0, p_stage, p_environments, p_hosts, p_afters, p_floors, p_paused, p_paused_in, p_scope);
END
$$;

-- Lease due rows of one lane that lie here, of each tenant at most its share, and bring what their next step needs.
--
-- Each shard is entered first, as from the coordinator (shards.sql): to Citus that is a write of this shard, by this node, so that none is
-- moved away meanwhile. What is not here any more is refused, and looked for anew.
CREATE OR REPLACE FUNCTION claim_here(
    p_stage text, p_environment text, p_host text, p_scope bigint[], p_shares int[], p_floor timestamptz, p_holder text,
    p_lease interval
) RETURNS TABLE (
    tenant_id bigint, subject uuid, attempt int, epoch bigint, deaths int, waited interval, last_error text,
    format text, root text, ecf_type text, e_ncf text, as_user text, as_user_id uuid, issuer_rnc text, buyer_rnc text,
    certificate_id uuid, track_id text, content bytea, is_summary boolean, maybe_adopted boolean,
    sequence_expires timestamptz, holders uuid[], holders_issuers text[]
)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode TO force_generic_plan
SET "citus.enable_manual_changes_to_shards" TO on AS $$
#variable_conflict use_column
DECLARE
    whose bigint[] := outbox_shards(p_scope);
    one bigint;
BEGIN
    FOR one IN
        SELECT min(t.tenant_id) FROM unnest(p_scope, whose) AS t (tenant_id, shard) GROUP BY t.shard ORDER BY t.shard
    LOOP
        UPDATE anchors AS a SET entered = a.entered WHERE a.anchor = one AND a.entered < 0;
    END LOOP;
    PERFORM require_way(whose = outbox_shards(p_scope));
    RETURN QUERY
    SELECT r.*
      FROM rows_of(p_stage, claim_batch_there(NULL, whose, p_scope, p_shares, p_stage, p_environment, p_host, p_floor,
                                              p_holder, clock_timestamp(), p_lease, true)) AS r;
END
$$;

GRANT EXECUTE ON FUNCTION due_here, claim_here TO fe_worker;
