-- Shard of the outbox of each tenant.
CREATE OR REPLACE FUNCTION outbox_shards(p_tenants bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(p_tenants) > 0 AND p_tenants[1] = ALL (p_tenants) THEN
        RETURN array_fill(get_shard_id_for_distribution_column('outbox', p_tenants[1]), ARRAY[cardinality(p_tenants)]);
    END IF;
    RETURN ARRAY(SELECT get_shard_id_for_distribution_column('outbox', t.tenant_id)
                   FROM unnest(p_tenants) WITH ORDINALITY AS t (tenant_id, n)
                  ORDER BY t.n);
END
$$;

GRANT EXECUTE ON FUNCTION outbox_shards TO fe_front, fe_portal, fe_worker, fe_operator;
