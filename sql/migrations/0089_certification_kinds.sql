-- Runs of the certification beside the set of tests: the set of approvals (step 3) and the simulation (step 4).
ALTER TABLE certification_runs ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'set';
ALTER TABLE certification_runs ADD CONSTRAINT certification_runs_kind_known
CHECK (kind IN ('set', 'approvals', 'simulation'));

-- One of each kind of a tenant at a time.
DROP INDEX certification_runs_open;
CREATE UNIQUE INDEX certification_runs_open ON certification_runs (tenant_id, kind) WHERE state <> 'replaced';

GRANT SELECT (kind) ON certification_runs TO fe_front;
