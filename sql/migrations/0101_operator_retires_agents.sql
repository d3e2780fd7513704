-- An operator retires the agent of a till that was lost, as a person of the company does.
CREATE POLICY every_tenant_of_operator ON agents FOR UPDATE TO fe_operator USING (true);
GRANT UPDATE (epoch, retired_at, retired_by) ON agents TO fe_operator;
