-- Record the use of a key, naming its tenant to row-level security.
CREATE OR REPLACE FUNCTION note_key_use(p_tenant bigint, p_api_key text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM name_tenant(p_tenant);
    INSERT INTO api_key_uses AS u (tenant_id, api_key_id, last_used_at)
    VALUES (p_tenant, p_api_key, p_at)
    ON CONFLICT (tenant_id, api_key_id) DO UPDATE
       SET last_used_at = greatest(u.last_used_at, EXCLUDED.last_used_at);
END
$$;

GRANT EXECUTE ON FUNCTION note_key_use TO fe_front, fe_portal;
