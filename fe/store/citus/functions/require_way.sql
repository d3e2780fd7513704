-- Refuse a call whose way, or whose rows, are not where it led, so that it is tried again: a node may see a new anchor
-- a moment later than the coordinator, and shards may have moved.
CREATE OR REPLACE FUNCTION require_way(p_found boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_found IS NOT TRUE THEN
        RAISE EXCEPTION 'the way to a shard is not there yet' USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION require_way TO fe_front, fe_portal, fe_worker, fe_operator;
