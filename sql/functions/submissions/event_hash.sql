-- Hash of an event, over the hash of the event before it.
CREATE OR REPLACE FUNCTION event_hash(
    p_previous bytea, p_tenant bigint, p_submission uuid, p_seq int, p_at timestamptz, p_kind text, p_detail jsonb
) RETURNS bytea
LANGUAGE sql STABLE
RETURN sha256(
    coalesce(p_previous, '\x'::bytea) || convert_to(
        concat_ws(E'\n', p_tenant, p_submission, p_seq,
                  to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), p_kind, p_detail::text),
        'UTF8'
    )
);

GRANT EXECUTE ON FUNCTION event_hash TO fe_front, fe_portal, fe_worker, fe_operator;
