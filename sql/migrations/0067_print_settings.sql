-- A tenant's print settings. Without a row the defaults hold (fe/printing/settings.py).

CREATE TABLE print_settings (
    tenant_id bigint NOT NULL,
    -- A PNG or SVG that fe.printing.read_logo took.
    logo bytea,
    accent text NOT NULL,
    footer text NOT NULL,
    -- A mark for each copy, empty for none.
    marks text[] NOT NULL,
    language text NOT NULL,
    layout text NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT print_settings_pk PRIMARY KEY (tenant_id),
    CONSTRAINT print_settings_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT print_settings_logo_size CHECK (octet_length(logo) BETWEEN 1 AND 262144),
    CONSTRAINT print_settings_accent_form CHECK (accent ~ '^#[0-9a-fA-F]{6}$'),
    CONSTRAINT print_settings_footer_length CHECK (length(footer) <= 400),
    CONSTRAINT print_settings_marks_bounded CHECK (
        cardinality(marks) BETWEEN 1 AND 4
        AND array_position(marks, NULL) IS NULL
        AND length(array_to_string(marks, '')) <= 80
    ),
    CONSTRAINT print_settings_language_known CHECK (language IN ('es', 'en')),
    CONSTRAINT print_settings_layout_known CHECK (layout IN ('letter', 'a4', '80mm', '58mm'))
);

ALTER TABLE print_settings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON print_settings TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON print_settings FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON print_settings TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON print_settings TO fe_front, fe_portal;
GRANT SELECT ON print_settings TO fe_worker, fe_operator, fe_readonly;
