-- Lease due rows of one lane, of each tenant at most its share, in one call to each node. Returns the answers of
-- claim_batch.
CREATE OR REPLACE FUNCTION claim_lane(
    p_stage text, p_environment text, p_host text, p_scope bigint[], p_shares int[], p_floor timestamptz, p_holder text,
    p_lease interval, p_with_input boolean
) RETURNS bytea[]
LANGUAGE plpgsql AS $$
DECLARE
    one record;
    leased bytea[] := '{}';
BEGIN
    FOR one IN SELECT * FROM enter_shards(p_scope) LOOP
        IF one.places IS NULL THEN
            RETURN claim_batch_by_way(one.way, one.shards, p_scope, p_shares, p_stage, p_environment, p_host, p_floor, p_holder,
                                      clock_timestamp(), p_lease, p_with_input);
        END IF;
        leased := leased || claim_batch_by_way(
            one.way, one.shards, picked(p_scope, one.places), picked(p_shares, one.places), p_stage, p_environment, p_host,
            p_floor, p_holder, clock_timestamp(), p_lease, p_with_input);
    END LOOP;
    RETURN leased;
END
$$;

GRANT EXECUTE ON FUNCTION claim_lane TO fe_worker;
