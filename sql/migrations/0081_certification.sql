-- The certification of tenants by the tax authority (docs/decisions/certification.md).

CREATE TABLE certifications (
    tenant_id bigint NOT NULL,
    path text COLLATE "C" NOT NULL,
    begun_at timestamptz NOT NULL,
    begun_by text NOT NULL,
    CONSTRAINT certifications_pk PRIMARY KEY (tenant_id),
    CONSTRAINT certifications_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT certifications_path_known CHECK (path IN ('own', 'provider'))
);

-- Steps that are done, each with who said so and when.
CREATE TABLE certification_steps (
    tenant_id bigint NOT NULL,
    step int NOT NULL,
    done_at timestamptz NOT NULL,
    done_by text NOT NULL,
    note text NOT NULL,
    CONSTRAINT certification_steps_pk PRIMARY KEY (tenant_id, step),
    CONSTRAINT certification_steps_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT certification_steps_known CHECK (step BETWEEN 1 AND 14)
);

-- Sets of tests, each a file of the authority's portal. A front reads of all tenants which are being sent.
CREATE TABLE certification_runs (
    tenant_id bigint NOT NULL,
    run_id uuid NOT NULL,
    state text COLLATE "C" NOT NULL,
    loaded_at timestamptz NOT NULL,
    loaded_by text NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    content bytea NOT NULL,
    -- Why it stopped, in English and in Spanish.
    stopped_en text,
    stopped_es text,
    CONSTRAINT certification_runs_pk PRIMARY KEY (tenant_id, run_id),
    CONSTRAINT certification_runs_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT certification_runs_once UNIQUE (tenant_id, digest),
    CONSTRAINT certification_runs_state_known CHECK (state IN ('loaded', 'sending', 'stopped', 'sent', 'replaced')),
    CONSTRAINT certification_runs_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT certification_runs_bounded CHECK (octet_length(content) <= 4194304)
);

-- One set of a tenant at a time.
CREATE UNIQUE INDEX certification_runs_open ON certification_runs (tenant_id) WHERE state <> 'replaced';

-- The documents of a set in the order in which they are sent.
CREATE TABLE certification_cases (
    tenant_id bigint NOT NULL,
    run_id uuid NOT NULL,
    place int NOT NULL,
    name text NOT NULL,
    e_ncf text NOT NULL,
    -- The summary is sent, and a person uploads the invoice.
    is_summary boolean NOT NULL,
    -- The document without signature; NULL until a rehearsal found nothing wrong with the set.
    original bytea,
    attempt int NOT NULL DEFAULT 1,
    submission_id uuid,
    -- A person saw in the portal that the authority counts it.
    is_confirmed boolean NOT NULL DEFAULT false,
    CONSTRAINT certification_cases_pk PRIMARY KEY (tenant_id, run_id, place),
    CONSTRAINT certification_cases_of_run
    FOREIGN KEY (tenant_id, run_id) REFERENCES certification_runs (tenant_id, run_id),
    CONSTRAINT certification_cases_once UNIQUE (tenant_id, run_id, name)
);

ALTER TABLE certifications ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON certifications TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON certifications FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON certifications TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON certifications TO fe_operator;
GRANT SELECT ON certifications TO fe_readonly;

ALTER TABLE certification_steps ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON certification_steps TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON certification_steps FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON certification_steps TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, DELETE ON certification_steps TO fe_operator;
GRANT SELECT ON certification_steps TO fe_readonly;

ALTER TABLE certification_runs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON certification_runs TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON certification_runs FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON certification_runs TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY at_work ON certification_runs FOR SELECT TO fe_front USING (state = 'sending');
GRANT SELECT, INSERT, UPDATE ON certification_runs TO fe_operator;
GRANT SELECT ON certification_runs TO fe_readonly;
GRANT SELECT (tenant_id, run_id, state), UPDATE (state, stopped_en, stopped_es) ON certification_runs TO fe_front;

ALTER TABLE certification_cases ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON certification_cases TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON certification_cases FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON certification_cases TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON certification_cases TO fe_operator;
GRANT SELECT ON certification_cases TO fe_readonly;
GRANT SELECT, UPDATE (submission_id) ON certification_cases TO fe_front;
