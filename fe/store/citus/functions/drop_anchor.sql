-- Drop the anchor of a shard. The next writer adds it again: within a transaction Citus refuses another user's writes
-- to it.
CREATE OR REPLACE FUNCTION drop_anchor(p_shard bigint, p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO anchored_shards (shard, anchor) VALUES (p_shard, p_tenant) ON CONFLICT DO NOTHING;
    INSERT INTO anchors (anchor) VALUES (p_tenant) ON CONFLICT DO NOTHING;
    RETURN (SELECT a.anchor FROM anchored_shards AS a WHERE a.shard = p_shard);
END
$$;

GRANT EXECUTE ON FUNCTION drop_anchor TO fe_front, fe_portal, fe_worker, fe_operator;
