-- A form of a receipt as it was last typed, so that going back, reloading, or switching the language or environment does
-- not lose it. It ends when its receipt is issued, or with its age (fe/store/portal/drafts.py).
CREATE TABLE portal_drafts (
    tenant_id bigint NOT NULL,
    person_id uuid NOT NULL,
    draft_id uuid NOT NULL,
    saved_at timestamptz NOT NULL,
    -- JSON; jsonb refuses characters that people paste.
    content bytea NOT NULL,
    CONSTRAINT portal_drafts_pk PRIMARY KEY (tenant_id, person_id, draft_id)
);
CREATE INDEX portal_drafts_by_age ON portal_drafts (saved_at);

-- Until when a person has looked at a company's rejected and failed receipts: the overview shows later ones.
CREATE TABLE portal_troubles_seen (
    tenant_id bigint NOT NULL,
    person_id uuid NOT NULL,
    seen_at timestamptz NOT NULL,
    CONSTRAINT portal_troubles_seen_pk PRIMARY KEY (tenant_id, person_id)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON portal_drafts TO fe_portal;
GRANT SELECT, INSERT, UPDATE ON portal_troubles_seen TO fe_portal;
GRANT SELECT, DELETE ON portal_drafts TO fe_worker;

ALTER TABLE portal_drafts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE portal_troubles_seen ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON portal_drafts TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant ON portal_troubles_seen TO fe_worker, fe_operator USING (true);
CREATE POLICY own_tenant ON portal_drafts TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY own_tenant ON portal_troubles_seen TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
