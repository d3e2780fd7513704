-- Nodes, by their groups, that this session was told do not answer, while that is recent (fe/store/postgres/nodes.py).
CREATE OR REPLACE FUNCTION away_nodes() RETURNS int[]
LANGUAGE plpgsql AS $$
DECLARE
    told text := coalesce(current_setting('fe.nodes_away', true), '');
BEGIN
    IF told = '' OR substr(told, strpos(told, ' ') + 1)::timestamptz < clock_timestamp() THEN
        RETURN '{}';
    END IF;
    RETURN split_part(told, ' ', 1);
END
$$;

GRANT EXECUTE ON FUNCTION away_nodes TO fe_front, fe_portal, fe_worker, fe_operator, fe_reception;
