-- A renewed certificate is stored before it is valid: a holder then has two in use, which begin at different moments.
-- The release before goes on running; it may choose the one that is not valid yet, so upload renewals after the upgrade.
DROP INDEX certificates_in_use;
CREATE UNIQUE INDEX certificates_in_use ON certificates (tenant_id, user_id, not_before) NULLS NOT DISTINCT
WHERE retired_at IS NULL;
