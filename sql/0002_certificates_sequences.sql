-- What a tenant signs with, and the numbers the authority gave it.

CREATE TABLE certificates (
    tenant_id bigint NOT NULL,
    certificate_id uuid NOT NULL,
    -- NULL: the company's; otherwise the user it belongs to.
    user_id uuid,
    -- Both sealed (fe/secrets/vault.py): ciphertext, nonce, wrapped data key and the id of the key-encryption key in one value.
    p12 bytea NOT NULL,
    passphrase bytea,
    -- Read off the certificate when it was stored, so that choosing and warning need no key.
    holder text NOT NULL,
    holder_id text,
    serial_number text NOT NULL,
    not_before timestamptz NOT NULL,
    not_after timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    retired_at timestamptz,
    CONSTRAINT certificates_pk PRIMARY KEY (tenant_id, certificate_id),
    CONSTRAINT certificates_user_fk FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, user_id),
    CONSTRAINT certificates_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
);

-- One certificate in use per holder: the company, or a user. A new one retires the old one in the same transaction.
CREATE UNIQUE INDEX certificates_in_use ON certificates (tenant_id, user_id) NULLS NOT DISTINCT
WHERE retired_at IS NULL;

CREATE TABLE sequences (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    prefix text NOT NULL,
    sequence_id uuid NOT NULL,
    min_number bigint NOT NULL,
    max_number bigint NOT NULL,
    -- The next number to consume; max_number + 1 says that the range is used up.
    current_number bigint NOT NULL,
    is_active boolean NOT NULL DEFAULT true,
    expire_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT sequences_pk PRIMARY KEY (tenant_id, environment, prefix),
    CONSTRAINT sequences_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT sequences_prefix_known CHECK (
        prefix IN ('E31', 'E32', 'E33', 'E34', 'E41', 'E43', 'E44', 'E45', 'E46', 'E47')
    ),
    CONSTRAINT sequences_range CHECK (min_number BETWEEN 1 AND max_number AND max_number <= 9999999999),
    CONSTRAINT sequences_current CHECK (current_number BETWEEN min_number AND max_number + 1)
) WITH (fillfactor = 50);
