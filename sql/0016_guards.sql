-- Rights that came with the server and that nobody here needs; and under which pepper a secret's hash is.

-- A session's own tables and large objects fill the disk of all, and a large object lies outside every policy. Who has
-- the right to take that from everybody does: of the database its owner, of the server's functions an administrator.
-- Where `fe migrate` runs as neither, `fe doctor` says what is still to be done, and docs/operations.md how.
DO $$
DECLARE
    made_of text;
BEGIN
    IF EXISTS (
        SELECT 1 FROM pg_database AS d WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'USAGE')
    ) THEN
        EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    END IF;
    FOR made_of IN
        SELECT p.oid::regprocedure::text
          FROM pg_proc AS p
         WHERE p.pronamespace = 'pg_catalog'::regnamespace
           AND (p.proname LIKE 'lo\_%' OR p.proname IN ('loread', 'lowrite'))
           AND pg_has_role(p.proowner, 'USAGE')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION pg_catalog.%s FROM PUBLIC', made_of);
    END LOOP;
END
$$;

-- Several peppers may be in use while one takes over from the other: this says which one a hash is under, so that an
-- operator can see when the older one is needed no more. '' is the pepper that has no id.
ALTER TABLE api_keys ADD COLUMN pepper_id text NOT NULL DEFAULT '';

ALTER TABLE api_keys ADD CONSTRAINT api_keys_pepper_id_length CHECK (length(pepper_id) <= 255) NOT VALID;

GRANT SELECT (pepper_id) ON api_keys TO fe_readonly;

-- A secret is hashed anew when its key logs in, by the front, which alone has it then; the policy keeps it to the tenant
-- that it names.
GRANT UPDATE (secret_hash, pepper_id) ON api_keys TO fe_front;
