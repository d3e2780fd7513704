-- Pages say that the DGII does not answer: circuits belong to no tenant.
GRANT SELECT (environment, host, is_open) ON circuits TO fe_portal;

-- An accountant reads; with `answers`, one also approves and rejects received receipts.
ALTER TABLE memberships ADD COLUMN answers boolean NOT NULL DEFAULT false;
