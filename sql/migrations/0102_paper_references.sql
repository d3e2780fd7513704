-- Submissions of a client's own with code 4 for a number on paper that was not entered then. Entering it later looks
-- here, so that the number gets no second e-CF (docs/contingency.md).

CREATE TABLE paper_references (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    ncf text COLLATE "C" NOT NULL,
    submission_id uuid NOT NULL,
    CONSTRAINT paper_references_pk PRIMARY KEY (tenant_id, environment, ncf, submission_id)
);

ALTER TABLE paper_references ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON paper_references FOR SELECT TO fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON paper_references TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, DELETE ON paper_references TO fe_front, fe_portal;
GRANT SELECT ON paper_references TO fe_operator, fe_readonly;
