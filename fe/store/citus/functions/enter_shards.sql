-- Enter the shards of a batch, and return the ways to their nodes.
CREATE OR REPLACE FUNCTION enter_shards(p_tenants bigint[]) RETURNS TABLE (way bigint, places int[], shards bigint[])
LANGUAGE plpgsql AS $$
DECLARE
    whose bigint[];
    entries bigint[];
    first record;
    many int := 0;
BEGIN
    IF cardinality(p_tenants) > 0 AND p_tenants[1] = ALL (p_tenants) THEN
        way := enter_shard_of(p_tenants[1]);
        RETURN NEXT;
        RETURN;
    END IF;
    whose := outbox_shards(p_tenants);
    IF stands_alone() THEN
        FOR first IN SELECT * FROM ways_to(p_tenants, whose) LOOP
            many := many + 1;
            way := first.way;
            places := first.places;
            shards := first.shards;
        END LOOP;
        IF many = 1 THEN
            RETURN NEXT;
            RETURN;
        END IF;
        PERFORM stand_together();
    END IF;
    WHILE whose <> '{}' LOOP
        SELECT array_agg(anchor_of(x.tenant_id)) INTO entries
          FROM (SELECT min(t.tenant_id) AS tenant_id
                  FROM unnest(p_tenants, whose) AS t (tenant_id, shard)
                 GROUP BY t.shard
                 ORDER BY t.shard) AS x;
        PERFORM enter_shards_of(entries);
        EXIT WHEN whose = outbox_shards(p_tenants);
        whose := outbox_shards(p_tenants);
    END LOOP;
    RETURN QUERY SELECT * FROM ways_to(p_tenants, whose);
END
$$;

GRANT EXECUTE ON FUNCTION enter_shards TO fe_front, fe_portal, fe_worker, fe_operator;
