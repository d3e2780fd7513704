-- Packages that wait for a time stamp: the archiver looks for them in every round, among the packages of ten years.
CREATE INDEX archive_packages_unstamped ON archive_packages (tenant_id, environment, number)
WHERE stored_at IS NOT NULL AND stamped_at IS NULL;
