-- Sequence that a submission draws from: the named one; else the one that its user is assigned to; else the one without
-- a name. `p_wanted` is a prefix, or a prefix, a slash and a name.
CREATE OR REPLACE FUNCTION sequence_to_draw_from(
    p_tenant bigint, p_environment text, p_wanted text, p_as_user text, p_as_user_id uuid
) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    assigned text;
BEGIN
    IF length(p_wanted) > 3 OR (p_as_user IS NULL AND p_as_user_id IS NULL) THEN
        RETURN p_wanted;
    END IF;
    SELECT min(q.prefix) INTO assigned
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND left(q.prefix, 3) = p_wanted
       AND CASE WHEN p_as_user_id IS NOT NULL THEN p_as_user_id = ANY (q.user_ids)
                ELSE lower(p_as_user) = ANY (q.user_emails) END;
    RETURN coalesce(assigned, p_wanted);
END
$$;

GRANT EXECUTE ON FUNCTION sequence_to_draw_from TO fe_front, fe_portal;
