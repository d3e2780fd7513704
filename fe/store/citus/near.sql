-- Claims by whoever is connected to the node that the rows lie on (fe/store/queue/near.py). The coordinator has no part in them: what it
-- alone knows, who is paused and how much each may have, was asked there before. Who has work due here, due_on_node tells.

-- Lease due rows of one lane that lie here, of each tenant at most its share, and bring what their next step needs: for
-- rows_of to read. What is not here any more is refused, and looked for anew.
CREATE OR REPLACE FUNCTION claim_here(
    p_stage text, p_environment text, p_host text, p_scope bigint[], p_shares int[], p_floor timestamptz, p_holder text,
    p_lease interval
) RETURNS bytea[]
LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan SET "citus.enable_manual_changes_to_shards" TO on AS $$
BEGIN
    RETURN claim_batch_there(NULL, outbox_shards(p_scope), p_scope, p_shares, p_stage, p_environment, p_host, p_floor,
                             p_holder, clock_timestamp(), p_lease, true);
END
$$;

GRANT EXECUTE ON FUNCTION claim_here TO fe_worker;
