-- Commits on the coordinator and on a node are one commit, in two phases: prepared on the node, decided by the coordinator's own.
--
-- Citus does so by itself where a transaction changes rows on several nodes, or in several tables that it knows. A table that is
-- the coordinator's alone it does not know; so each of these has a trigger that changes, in name, a table that it does. Nothing
-- is written by that, and a transaction that is all on the coordinator is committed as ever.

CREATE TABLE IF NOT EXISTS two_phases (
    one int NOT NULL,
    CONSTRAINT two_phases_pk PRIMARY KEY (one)
);

-- With the rights of its owner, so that no role needs any to the table.
CREATE OR REPLACE FUNCTION commit_in_two_phases() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    UPDATE two_phases SET one = one WHERE one = 0;
    RETURN NULL;
END
$$;
