-- Keys of programs that set up companies (docs/providers.md). A key works while its person is an operator.
CREATE TABLE operator_keys (
    operator_key_id text COLLATE "C" NOT NULL,
    person_id uuid NOT NULL,
    name text NOT NULL,
    -- Keyed SHA-256 of the secret, and the id of the pepper, as in api_keys.
    secret_hash bytea NOT NULL,
    pepper_id text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    -- At most one update an hour.
    last_used_at timestamptz,
    CONSTRAINT operator_keys_pk PRIMARY KEY (operator_key_id),
    CONSTRAINT operator_keys_person_fk FOREIGN KEY (person_id) REFERENCES people (person_id),
    CONSTRAINT operator_keys_id_form CHECK (operator_key_id ~ '^fok_[0-9a-f]{12}$'),
    CONSTRAINT operator_keys_name_length CHECK (length(name) BETWEEN 1 AND 100),
    CONSTRAINT operator_keys_hash_length CHECK (octet_length(secret_hash) = 32),
    CONSTRAINT operator_keys_at_most_a_year CHECK (
        expires_at > created_at AND expires_at <= created_at + interval '366 days'
    )
);

CREATE INDEX operator_keys_by_person ON operator_keys (person_id);

-- A use, and a hash that moves to another pepper, are not audited.
CREATE TRIGGER operator_keys_audited AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON operator_keys
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

GRANT SELECT, INSERT ON operator_keys TO fe_operator;
GRANT UPDATE (secret_hash, pepper_id, revoked_at, last_used_at) ON operator_keys TO fe_operator;
GRANT SELECT (operator_key_id, person_id, name, pepper_id, created_at, expires_at, revoked_at, last_used_at)
ON operator_keys TO fe_readonly;

ALTER TABLE operator_actions
DROP CONSTRAINT operator_actions_known,
ADD CONSTRAINT operator_actions_known CHECK (
    action IN (
        'replay', 'discard', 'pause', 'resume', 'plan', 'billing enable', 'billing disable', 'billing price',
        'billing retry', 'tenant disable', 'tenant enable', 'tenant update', 'tenant erase', 'user remove',
        'certificate retire', 'certificate remove', 'plan stop', 'plan go on', 'lockout lift', 'tenant create',
        'owner invite', 'delegation record', 'delegation withdraw', 'archive detach', 'archive restore',
        'operator key create', 'operator key revoke', 'certificate add', 'sequence put', 'key create', 'key revoke',
        'ask replay', 'ask discard', 'ask tenant disable', 'ask billing enable', 'ask billing price',
        'approve replay', 'approve discard', 'approve tenant disable', 'approve billing enable',
        'approve billing price', 'refuse replay', 'refuse discard', 'refuse tenant disable', 'refuse billing enable',
        'refuse billing price'
    )
);
