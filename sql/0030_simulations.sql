-- What clients ask of a simulated authority (docs/api/testing.md): the outcome of one submission, beside it. It is no part
-- of the document: what is signed and sent is the same with it and without.
--
-- Of production there is no row, whoever would write one. The sender looks for the row of the environment that its work is
-- of, so nothing that goes to production finds any, whatever a process believes of its settings.
CREATE TABLE simulations (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    environment environment NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    code int,
    seconds int,
    CONSTRAINT simulations_pk PRIMARY KEY (tenant_id, submission_id),
    CONSTRAINT simulations_never_in_production CHECK (environment <> 'ecf'),
    CONSTRAINT simulations_outcome_known CHECK (
        outcome IN ('rejected', 'conditional', 'stuck', 'lost-answer', 'slow')
    ),
    CONSTRAINT simulations_code_in_bounds CHECK (code BETWEEN 1 AND 99999),
    CONSTRAINT simulations_seconds_in_bounds CHECK (seconds BETWEEN 1 AND 3600)
);

ALTER TABLE simulations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY every_tenant ON simulations TO fe_worker, fe_operator USING (true);

CREATE POLICY every_tenant_read ON simulations FOR SELECT TO fe_readonly USING (true);

CREATE POLICY own_tenant ON simulations TO fe_front
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);

GRANT INSERT ON simulations TO fe_front;

GRANT SELECT ON simulations TO fe_worker, fe_operator, fe_readonly;

-- What the front needs to say on which day a tenant's certificates are good: nothing of the keys.
GRANT SELECT (tenant_id, certificate_id, user_id, not_before, not_after, retired_at) ON certificates TO fe_front;
