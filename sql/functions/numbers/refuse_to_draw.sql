-- Raise the reason why a sequence gives no number. `p_prefix` is its key (sequences.prefix).
CREATE OR REPLACE FUNCTION refuse_to_draw(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    SELECT q.is_active, q.expire_at, q.paused_at IS NOT NULL AS is_paused INTO found
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    IF found.is_active IS NULL OR NOT found.is_active THEN
        RAISE EXCEPTION 'no active NCF sequence for %', p_prefix USING ERRCODE = 'FE001';
    ELSIF sequence_is_over(found.expire_at, p_at) THEN
        RAISE EXCEPTION 'the NCF sequence for % has expired', p_prefix USING ERRCODE = 'FE002';
    ELSIF found.is_paused THEN
        RAISE EXCEPTION 'the NCF sequence for % is paused', p_prefix USING ERRCODE = 'FE012';
    END IF;
    RAISE EXCEPTION 'the NCF sequence for % is used up', p_prefix USING ERRCODE = 'FE003';
END
$$;

GRANT EXECUTE ON FUNCTION refuse_to_draw TO fe_front, fe_portal;
