-- Least version-7 UUID of a moment: its first 48 bits are the milliseconds since 1970, rounded down.
CREATE OR REPLACE FUNCTION uuid_floor(moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT
RETURN (lpad(to_hex(floor(extract(EPOCH FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

GRANT EXECUTE ON FUNCTION uuid_floor TO fe_front, fe_portal, fe_reception, fe_worker, fe_operator, fe_readonly;
