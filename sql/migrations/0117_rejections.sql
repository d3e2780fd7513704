-- A month leaves out what the tenant rejected: few receipts among many answers.
CREATE INDEX approvals_rejected ON approvals (tenant_id, received_id) WHERE NOT approved;
