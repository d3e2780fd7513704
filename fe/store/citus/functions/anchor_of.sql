-- Anchor of the shard that a tenant is in. A shard without one (it was split since) gets the tenant's own number.
CREATE OR REPLACE FUNCTION anchor_of(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    here bigint := get_shard_id_for_distribution_column('anchors', p_tenant);
BEGIN
    RETURN coalesce((SELECT a.anchor FROM anchored_shards AS a WHERE a.shard = here), drop_anchor(here, p_tenant));
END
$$;

GRANT EXECUTE ON FUNCTION anchor_of TO fe_front, fe_portal, fe_worker, fe_operator;
