-- How many documents of a tenant are to be signed by a user (NULL: by none), or also by none in particular. Dead
-- letters count, because an operator may replay them.
CREATE OR REPLACE FUNCTION unsigned_work(
    p_tenant bigint, p_user uuid, p_email text, p_and_nobody_s boolean
) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT count(*)
          FROM (SELECT o.subject FROM outbox AS o WHERE o.tenant_id = p_tenant AND o.stage = 'sign'
                UNION ALL
                SELECT d.subject FROM dead_letters AS d WHERE d.tenant_id = p_tenant AND d.stage = 'sign') AS w
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = w.subject
         WHERE CASE WHEN s.as_user_id IS NOT NULL THEN s.as_user_id = p_user
                    WHEN s.as_user IS NOT NULL THEN lower(s.as_user) = lower(p_email)
                    ELSE p_and_nobody_s END);
END
$$;

GRANT EXECUTE ON FUNCTION unsigned_work TO fe_portal, fe_operator;
