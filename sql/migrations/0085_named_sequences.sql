-- Several sequences of one type and environment. `prefix` is the key of a sequence: its prefix, and of a named one a
-- slash and the name behind it (docs/decisions/named-sequences.md).
ALTER TABLE sequences DROP CONSTRAINT sequences_prefix_known;
ALTER TABLE sequences ADD CONSTRAINT sequences_prefix_known CHECK (
    left(prefix, 3) IN ('E31', 'E32', 'E33', 'E34', 'E41', 'E43', 'E44', 'E45', 'E46', 'E47')
    AND (length(prefix) = 3 OR (substr(prefix, 4, 1) = '/' AND length(prefix) BETWEEN 5 AND 44))
);

-- The users who draw from it when a submission names no sequence: ids, and their addresses in lower case.
ALTER TABLE sequences ADD COLUMN user_ids uuid [] NOT NULL DEFAULT '{}';
ALTER TABLE sequences ADD COLUMN user_emails text [] NOT NULL DEFAULT '{}';
ALTER TABLE sequences ADD CONSTRAINT sequences_users_alike CHECK (cardinality(user_ids) = cardinality(user_emails));

-- No number lies in two sequences. Each column is a range, because an index of ranges needs no extension. An engine that
-- spreads the table over nodes refuses this form and adds its own (fe/store/citus/distribution.py).
DO $$
BEGIN
    ALTER TABLE sequences ADD CONSTRAINT sequences_apart EXCLUDE USING gist (
        int8range(tenant_id, tenant_id, '[]') WITH =,
        int4range(
            substr(prefix, 2, 2)::int * 10 + (environment = 'certecf')::int + (environment = 'testecf')::int * 2,
            substr(prefix, 2, 2)::int * 10 + (environment = 'certecf')::int + (environment = 'testecf')::int * 2, '[]') WITH =,
        int8range(min_number, max_number, '[]') WITH &&);
EXCEPTION
    WHEN invalid_object_definition OR feature_not_supported THEN NULL;
END
$$;
