-- Tables, types and indexes that Citus needs beside the migrations. Each statement may be repeated.

-- Weights that claims on a node are told (told_to_node).
CREATE INDEX IF NOT EXISTS tenants_with_a_weight ON tenants (tenant_id) INCLUDE (weight) WHERE weight <> 1;

-- The way to a node: a statement goes there by a row that lies there, so each shard has one row, its anchor, and the coordinator
-- knows the shard of each. Each node is called once for all of its shards, on a connection that is kept. Where a node has no anchor
-- (its shards were all split since the last `fe migrate`) each shard is asked on a connection of its own.
CREATE TABLE IF NOT EXISTS anchors (
    anchor bigint NOT NULL,
    entered int NOT NULL DEFAULT 0,
    CONSTRAINT anchors_pk PRIMARY KEY (anchor)
);

CREATE TABLE IF NOT EXISTS anchored_shards (
    shard bigint NOT NULL,
    anchor bigint NOT NULL,
    CONSTRAINT anchored_shards_pk PRIMARY KEY (shard)
);

GRANT SELECT, INSERT, UPDATE (entered) ON anchors TO fe_front, fe_portal, fe_worker, fe_operator;

GRANT SELECT, INSERT ON anchored_shards TO fe_front, fe_portal, fe_worker, fe_operator;

-- Leased rows with their input, column by column: rows take twice as long to write and read. Another set of columns needs another
-- name.
DO $$
BEGIN
    IF to_regtype('claimed_columns') IS NULL THEN
        CREATE TYPE claimed_columns AS (
            tenants bigint[], subjects uuid[], attempts int[], epochs bigint[], deaths int[], waited interval[],
            last_errors text[], formats text[], roots text[], ecf_types text[], e_ncfs text[], as_users text[],
            as_user_ids uuid[], issuers text[], buyers text[], certificates uuid[], track_ids text[],
            are_summaries boolean[], maybe_adopted boolean[], sequences_expire timestamptz[],
            -- Of each an array, as text: no two need have the same length.
            holders text[], holders_issuers text[]
        );
    END IF;
END
$$;

-- Commits on the coordinator and on a node are one commit in two phases: prepared on the node, decided by the coordinator.
--
-- Citus does so where a transaction changes rows on several nodes, or in several tables that it knows. It does not know tables that
-- are on the coordinator alone, so each has a trigger that changes this table in name (commit_in_two_phases). The change
-- writes nothing, and a transaction on the coordinator alone commits as usual.
CREATE TABLE IF NOT EXISTS two_phases (
    one int NOT NULL,
    CONSTRAINT two_phases_pk PRIMARY KEY (one)
);
