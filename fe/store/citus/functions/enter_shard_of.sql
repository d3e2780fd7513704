-- Enter the shard of a tenant and return its anchor. A writer that waited while the shard was split looks it up again.
-- Entering is a change in name of the anchor's row: Citus then keeps the shard where it is until the transaction ends,
-- and sends the call on the same connection.
CREATE OR REPLACE FUNCTION enter_shard_of(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    here bigint;
BEGIN
    LOOP
        here := anchor_of(p_tenant);
        EXIT WHEN stands_alone();
        UPDATE anchors AS a SET entered = a.entered WHERE a.anchor = here AND a.entered < 0;
        EXIT WHEN get_shard_id_for_distribution_column('anchors', here)
                  = get_shard_id_for_distribution_column('anchors', p_tenant);
    END LOOP;
    RETURN here;
END
$$;

GRANT EXECUTE ON FUNCTION enter_shard_of TO fe_front, fe_portal, fe_worker, fe_operator;
