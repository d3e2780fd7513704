-- Mails to owners about certificates, sequences and rejected receipts (docs/decisions/mail.md). Without a row an owner gets
-- them and got none yet.
CREATE TABLE notice_mails (
    tenant_id bigint NOT NULL,
    person_id uuid NOT NULL,
    is_on boolean NOT NULL DEFAULT true,
    -- Day of the country of the last mail.
    sent_on date,
    -- The notices of that mail, by key: one with none but these is not sent.
    told text [] NOT NULL DEFAULT '{}',
    CONSTRAINT notice_mails_pk PRIMARY KEY (tenant_id, person_id)
);

ALTER TABLE notice_mails ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON notice_mails TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON notice_mails TO fe_portal;
