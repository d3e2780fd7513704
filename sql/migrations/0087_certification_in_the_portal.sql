-- The certification in the portal (docs/decisions/certification.md).

-- Acts that need a key, which the portal does not open: a worker does them. Doing one twice is harmless.
CREATE TABLE certification_tasks (
    tenant_id bigint NOT NULL,
    task_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    asked_at timestamptz NOT NULL,
    asked_by text NOT NULL,
    -- The file to be signed, and its name.
    name text NOT NULL DEFAULT '',
    content bytea,
    -- The person's choices: {"despite_doubts", "counted"}.
    choices jsonb NOT NULL DEFAULT '{}',
    -- No other worker takes it before.
    held_until timestamptz,
    done_at timestamptz,
    -- The signed file.
    result bytea,
    -- Why it was not done: [[English, Spanish]]; empty when it was.
    faults jsonb,
    CONSTRAINT certification_tasks_pk PRIMARY KEY (tenant_id, task_id),
    CONSTRAINT certification_tasks_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT certification_tasks_bounded CHECK (octet_length(content) <= 4194304),
    CONSTRAINT certification_tasks_done CHECK ((done_at IS NULL) = (faults IS NULL))
);

CREATE INDEX certification_tasks_open ON certification_tasks (asked_at) WHERE done_at IS NULL;

ALTER TABLE certification_tasks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON certification_tasks TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON certification_tasks FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON certification_tasks TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT ON certification_tasks TO fe_portal;
GRANT SELECT, UPDATE (held_until, done_at, result, faults) ON certification_tasks TO fe_worker;
GRANT SELECT ON certification_tasks TO fe_operator, fe_readonly;

-- Rights for the acts of people in the portal, and for those of the worker.
CREATE POLICY every_tenant_at_work ON certification_runs TO fe_worker USING (true);
CREATE POLICY every_tenant_at_work ON certification_cases TO fe_worker USING (true);
GRANT SELECT, INSERT, UPDATE ON certifications TO fe_portal;
GRANT SELECT, INSERT, DELETE ON certification_steps TO fe_portal;
GRANT SELECT, INSERT, UPDATE (state) ON certification_runs TO fe_portal;
GRANT SELECT, INSERT ON certification_cases TO fe_portal;
GRANT SELECT, UPDATE (state, stopped_en, stopped_es) ON certification_runs TO fe_worker;
GRANT SELECT, UPDATE (original, attempt, submission_id, is_confirmed) ON certification_cases TO fe_worker;

-- Step 15: the delegation of who signs in production.
ALTER TABLE certification_steps DROP CONSTRAINT certification_steps_known;
ALTER TABLE certification_steps ADD CONSTRAINT certification_steps_known CHECK (step BETWEEN 1 AND 15);
