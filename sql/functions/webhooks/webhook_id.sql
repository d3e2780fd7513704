-- Version-7 UUID derived from a moment and a seed: the same on each call.
CREATE OR REPLACE FUNCTION webhook_id(p_at timestamptz, p_seed text) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    left(replace(uuid_floor(p_at)::text, '-', ''), 12) || '7' || substr(md5(p_seed), 1, 3)
    || '8' || substr(md5(p_seed), 4, 15)
)::uuid;

GRANT EXECUTE ON FUNCTION webhook_id TO fe_front, fe_portal, fe_reception, fe_worker, fe_operator;
