-- Claims by whoever is connected to the node that the rows lie on (fe/store/queue/near.py). The coordinator has no part in them: what it
-- alone knows, who is paused and how much each may have, was asked there before. Who has work due here, due_on_node tells.

-- Lease due rows of one lane that lie here, of each tenant at most its share, and bring what their next step needs: for
-- rows_of to read.
--
-- Each shard is entered first, as from the coordinator (shards.sql): to Citus that is a write of this shard, by this node, so that none is
-- moved away meanwhile. What is not here any more is refused, and looked for anew.
CREATE OR REPLACE FUNCTION claim_here(
    p_stage text, p_environment text, p_host text, p_scope bigint[], p_shares int[], p_floor timestamptz, p_holder text,
    p_lease interval
) RETURNS bytea[]
LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan SET "citus.enable_manual_changes_to_shards" TO on AS $$
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
    RETURN claim_batch_there(NULL, whose, p_scope, p_shares, p_stage, p_environment, p_host, p_floor, p_holder,
                             clock_timestamp(), p_lease, true);
END
$$;

GRANT EXECUTE ON FUNCTION claim_here TO fe_worker;
