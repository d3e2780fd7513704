-- What the HTTP front keeps: attempts to log in, counts of requests, and what a tenant is billed under.
--
-- All of it changes often, so none of it may live in the read-mostly tables of 0001.

-- Attempts to log in, by address and by key id. In the database, because every process must count the same attempts
-- and a restart must not forget them. A bucket is the SHA-256 of what it stands for: ids that exist and ids that do not look
-- alike here, are of one length, and no address of a person is kept.
CREATE TABLE login_attempts (
    bucket bytea NOT NULL,
    kind text NOT NULL,
    -- The attempts of the last window, oldest first: never more than the limit and one.
    recent timestamptz[] NOT NULL,
    locked_until timestamptz,
    last_at timestamptz NOT NULL,
    CONSTRAINT login_attempts_pk PRIMARY KEY (bucket),
    CONSTRAINT login_attempts_kind_known CHECK (kind IN ('address', 'key')),
    CONSTRAINT login_attempts_bucket_length CHECK (octet_length(bucket) = 32)
) WITH (fillfactor = 50);

CREATE FUNCTION attempts_after(p_recent timestamptz[], p_after timestamptz) RETURNS timestamptz[]
LANGUAGE sql IMMUTABLE
RETURN (
    SELECT coalesce(array_agg(r ORDER BY r), '{}')
      FROM unnest(p_recent) AS r
     WHERE r > p_after
);

-- Count one attempt in one bucket; the single statement is what makes it atomic between processes. During a lockout
-- nothing is counted, so knocking does not prolong it; when one begins the window is emptied, so that it ends for good.
CREATE FUNCTION count_attempt(
    p_bucket bytea, p_kind text, p_limit int, p_window interval, p_lockout interval,
    OUT retry_after double precision, OUT began boolean
)
LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    until timestamptz;
BEGIN
    INSERT INTO login_attempts AS a (bucket, kind, recent, last_at)
    VALUES (p_bucket, p_kind, ARRAY[moment], moment)
    ON CONFLICT (bucket) DO UPDATE
       SET last_at = EXCLUDED.last_at,
           recent = CASE
               WHEN a.locked_until > EXCLUDED.last_at THEN a.recent
               WHEN cardinality(attempts_after(a.recent, EXCLUDED.last_at - p_window)) >= p_limit THEN '{}'
               ELSE attempts_after(a.recent, EXCLUDED.last_at - p_window) || EXCLUDED.last_at
           END,
           locked_until = CASE
               WHEN a.locked_until > EXCLUDED.last_at THEN a.locked_until
               WHEN cardinality(attempts_after(a.recent, EXCLUDED.last_at - p_window)) >= p_limit
                   THEN EXCLUDED.last_at + p_lockout
           END
    RETURNING a.locked_until INTO until;
    retry_after := extract(EPOCH FROM until - moment);
    began := coalesce(until = moment + p_lockout, false);
END
$$;

-- Count an attempt for its address and then, unless that is locked out, for its key id (NULL: only the address counts).
-- Always in this order, so that two attempts never wait for each other's rows.
CREATE FUNCTION login_attempt(
    p_address bytea, p_address_limit int, p_key bytea, p_key_limit int, p_window interval, p_lockout interval
) RETURNS TABLE (kind text, retry_after double precision, began boolean)
LANGUAGE plpgsql AS $$
DECLARE
    counted record;
BEGIN
    SELECT * INTO counted FROM count_attempt(p_address, 'address', p_address_limit, p_window, p_lockout);
    IF counted.retry_after IS NOT NULL THEN
        RETURN QUERY SELECT 'address'::text, counted.retry_after, counted.began;
        RETURN;
    END IF;
    IF p_key IS NOT NULL THEN
        SELECT * INTO counted FROM count_attempt(p_key, 'key', p_key_limit, p_window, p_lockout);
        IF counted.retry_after IS NOT NULL THEN
            RETURN QUERY SELECT 'key'::text, counted.retry_after, counted.began;
        END IF;
    END IF;
END
$$;

-- Requests by tenant, environment and UTC day. Counted in memory and added here every few seconds: a crash may lose the
-- last seconds of these counts, never of emissions, which are counted from the submissions themselves.
CREATE TABLE request_counts (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    utc_day date NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    CONSTRAINT request_counts_pk PRIMARY KEY (tenant_id, environment, utc_day),
    CONSTRAINT request_counts_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
) WITH (fillfactor = 50);

-- Add to a day's counts. It names the tenant to the wall (0008), row by row: one flush is of many tenants.
CREATE FUNCTION count_requests(
    p_tenant bigint, p_environment text, p_day date, p_succeeded bigint, p_failed bigint, p_bytes_in bigint,
    p_bytes_out bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('fe.tenant', p_tenant::text, true);
    INSERT INTO request_counts AS r (tenant_id, environment, utc_day, succeeded, failed, bytes_in, bytes_out)
    VALUES (p_tenant, p_environment, p_day, p_succeeded, p_failed, p_bytes_in, p_bytes_out)
    ON CONFLICT (tenant_id, environment, utc_day) DO UPDATE
       SET succeeded = r.succeeded + EXCLUDED.succeeded, failed = r.failed + EXCLUDED.failed,
           bytes_in = r.bytes_in + EXCLUDED.bytes_in, bytes_out = r.bytes_out + EXCLUDED.bytes_out;
END
$$;

-- When a key was last used. Not a column of api_keys, which is read-mostly.
CREATE TABLE api_key_uses (
    tenant_id bigint NOT NULL,
    api_key_id text NOT NULL,
    last_used_at timestamptz NOT NULL,
    CONSTRAINT api_key_uses_pk PRIMARY KEY (tenant_id, api_key_id),
    CONSTRAINT api_key_uses_key_fk FOREIGN KEY (api_key_id) REFERENCES api_keys (api_key_id)
) WITH (fillfactor = 50);

-- Note a use of a key, naming its tenant to the wall as count_requests does.
CREATE FUNCTION note_key_use(p_tenant bigint, p_api_key text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('fe.tenant', p_tenant::text, true);
    INSERT INTO api_key_uses AS u (tenant_id, api_key_id, last_used_at)
    VALUES (p_tenant, p_api_key, p_at)
    ON CONFLICT (tenant_id, api_key_id) DO UPDATE
       SET last_used_at = greatest(u.last_used_at, EXCLUDED.last_used_at);
END
$$;

-- What a tenant is billed under. A tenant without a row does not have the API enabled as far as billing goes.
CREATE TABLE billing_accounts (
    tenant_id bigint NOT NULL,
    enabled boolean NOT NULL DEFAULT false,
    subscription_id text,
    unit_price numeric(12, 4),
    currency text NOT NULL DEFAULT 'USD',
    pricing_tier text NOT NULL DEFAULT 'standard',
    CONSTRAINT billing_accounts_pk PRIMARY KEY (tenant_id),
    CONSTRAINT billing_accounts_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT billing_accounts_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT billing_accounts_tier_known CHECK (pricing_tier IN ('standard', 'volume', 'enterprise')),
    CONSTRAINT billing_accounts_price_positive CHECK (unit_price >= 0)
);

-- Verdicts of a month or of days, without walking the history.
CREATE INDEX submissions_by_verdict ON submissions (tenant_id, environment, verdict_at)
WHERE verdict_at IS NOT null;

-- A buyer's receipts, newest first, for the `rnc` filter of the list.
CREATE INDEX submissions_by_buyer ON submissions (tenant_id, buyer_rnc, submission_id)
WHERE buyer_rnc IS NOT null;
