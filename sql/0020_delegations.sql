-- For whom a tenant may issue besides itself: what operators recorded, and whether an RNC is another tenant's. And with an
-- operator's act, who the server knows has logged in.

-- An operator saw that this issuer, a tenant too, lets this tenant issue in its name.
CREATE TABLE issuer_delegations (
    tenant_id bigint NOT NULL,
    rnc text NOT NULL,
    recorded_at timestamptz NOT NULL,
    recorded_by text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT issuer_delegations_pk PRIMARY KEY (tenant_id, rnc),
    CONSTRAINT issuer_delegations_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT issuer_delegations_rnc_form CHECK (rnc ~ '^([0-9]{9}|[0-9]{11})$'),
    CONSTRAINT issuer_delegations_reason_given CHECK (length(reason) BETWEEN 1 AND 1000)
);

-- Which tenant has which RNC, for a function that must see those of all tenants and is bound by row-level security as the
-- owner of the tables is (0008). It has no wall because no role has a right to it.
CREATE TABLE tenant_rncs (
    rnc text NOT NULL,
    holder bigint NOT NULL,
    CONSTRAINT tenant_rncs_pk PRIMARY KEY (rnc, holder)
);

-- The owner sees its own tables' rows only without FORCE; it is put back in the same transaction.
ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY;

INSERT INTO tenant_rncs (rnc, holder)
SELECT
    t.issuer ->> 'RNCEmisor' AS rnc,
    t.tenant_id AS holder
FROM tenants AS t
WHERE t.issuer ->> 'RNCEmisor' IS NOT NULL;

ALTER TABLE tenants FORCE ROW LEVEL SECURITY;

CREATE FUNCTION note_tenant_rnc() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM tenant_rncs WHERE holder = OLD.tenant_id;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.issuer ->> 'RNCEmisor' IS NOT NULL THEN
        INSERT INTO tenant_rncs (rnc, holder) VALUES (NEW.issuer ->> 'RNCEmisor', NEW.tenant_id);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER tenants_rncs_noted AFTER INSERT OR UPDATE OF issuer OR DELETE ON tenants
FOR EACH ROW EXECUTE FUNCTION note_tenant_rnc();

-- Whether an RNC is that of a tenant other than this one: yes or no, and never whose.
CREATE FUNCTION is_rnc_of_another(p_tenant bigint, p_rnc text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT EXISTS (SELECT 1 FROM tenant_rncs AS r WHERE r.rnc = p_rnc AND r.holder <> p_tenant)
$$;

-- A fixed path, so that no name in them can be slipped under.
DO $$
DECLARE
    here text := current_schema();
BEGIN
    EXECUTE format('ALTER FUNCTION note_tenant_rnc() SET search_path = %I, pg_temp', here);
    EXECUTE format('ALTER FUNCTION is_rnc_of_another(bigint, text) SET search_path = %I, pg_temp', here);
END
$$;

ALTER TABLE issuer_delegations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY every_tenant ON issuer_delegations TO fe_worker, fe_operator USING (true);

CREATE POLICY every_tenant_read ON issuer_delegations FOR SELECT TO fe_readonly USING (true);

CREATE POLICY own_tenant ON issuer_delegations TO fe_front
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);

CREATE TRIGGER issuer_delegations_audited AFTER INSERT OR UPDATE OR DELETE ON issuer_delegations
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

GRANT SELECT ON issuer_delegations TO fe_front, fe_readonly;

GRANT SELECT, INSERT, DELETE ON issuer_delegations TO fe_operator;

GRANT EXECUTE ON FUNCTION is_rnc_of_another TO fe_front;

-- `by_whom` is what the command line says; this is what the server knows. Of acts before it nobody knows.
ALTER TABLE operator_actions ADD COLUMN login text;

ALTER TABLE operator_actions ALTER COLUMN login SET DEFAULT session_user;

-- A client's sequences too, when it is an operator who changes them: drawing a number is the front's, and no act.
CREATE TRIGGER sequences_audited AFTER INSERT OR UPDATE OR DELETE ON sequences
FOR EACH ROW WHEN (current_user = 'fe_operator') EXECUTE FUNCTION note_in_audit_trail();
