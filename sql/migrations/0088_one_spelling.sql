-- Names of sequences that differ only in capitals are one name.
CREATE UNIQUE INDEX sequences_one_spelling ON sequences (tenant_id, environment, lower(prefix));
