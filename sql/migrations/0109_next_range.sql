-- The range that the authority authorised ahead: a sequence goes on with it by itself once its own is used up or
-- expired (docs/decisions/ranges-of-a-number.md). Until then former_ranges names it too, so that its numbers have its
-- expiry.
ALTER TABLE sequences ADD COLUMN next_min bigint;
ALTER TABLE sequences ADD COLUMN next_max bigint;
ALTER TABLE sequences ADD COLUMN next_expire_at timestamptz;
ALTER TABLE sequences ADD CONSTRAINT sequences_next_range CHECK (
    num_nulls(next_min, next_max) IN (0, 2) AND (next_min IS NOT NULL OR next_expire_at IS NULL)
    AND next_min >= 1 AND next_min <= next_max AND next_max <= 9999999999
);
ALTER TABLE sequences ADD CONSTRAINT sequences_next_apart CHECK (next_min > max_number OR next_max < min_number);
-- An agent has the numbers of one range: it knows of no other.
ALTER TABLE sequences ADD CONSTRAINT sequences_of_agents_end CHECK (agent_id IS NULL OR next_min IS NULL);

-- As sequences_apart of 0085_named_sequences.sql, which this replaces, and over both ranges.
DO $$
BEGIN
    ALTER TABLE sequences ADD CONSTRAINT sequences_ranges_apart EXCLUDE USING gist (
        int8range(tenant_id, tenant_id, '[]') WITH =,
        int4range(
            substr(prefix, 2, 2)::int * 10 + (environment = 'certecf')::int + (environment = 'testecf')::int * 2,
            substr(prefix, 2, 2)::int * 10 + (environment = 'certecf')::int + (environment = 'testecf')::int * 2, '[]') WITH =,
        (CASE WHEN next_min IS NULL THEN int8multirange(int8range(min_number, max_number, '[]'))
              ELSE int8multirange(int8range(min_number, max_number, '[]'), int8range(next_min, next_max, '[]')) END)
            WITH &&);
    ALTER TABLE sequences DROP CONSTRAINT sequences_apart;
EXCEPTION
    WHEN invalid_object_definition OR feature_not_supported THEN NULL;
END
$$;
