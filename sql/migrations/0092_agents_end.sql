-- A person retires an agent, and the alerts of terms look at agents (docs/contingency.md).

ALTER TABLE agents ADD COLUMN retired_at timestamptz;
ALTER TABLE agents ADD COLUMN retired_by text;
ALTER TABLE agents ADD CONSTRAINT agents_retired_by_someone CHECK ((retired_at IS NULL) = (retired_by IS NULL));

CREATE POLICY every_tenant_of_worker ON agents FOR SELECT TO fe_worker USING (true);
GRANT SELECT ON agents TO fe_worker;
GRANT SELECT, UPDATE ON agents TO fe_portal;
