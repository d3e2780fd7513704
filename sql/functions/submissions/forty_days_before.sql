-- Least id of forty days before another: no submission waits longer to be signed.
CREATE OR REPLACE FUNCTION forty_days_before(p_id uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    lpad(to_hex(('x' || replace(left(p_id::text, 13), '-', ''))::bit(48)::bigint - 3456000000), 12, '0')
    || repeat('0', 20)
)::uuid;

GRANT EXECUTE ON FUNCTION forty_days_before TO fe_worker;
