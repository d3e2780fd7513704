-- Add to a day's request counts, naming the tenant of each row to row-level security.
CREATE OR REPLACE FUNCTION count_requests(
    p_tenant bigint, p_environment text, p_day date, p_succeeded bigint, p_failed bigint, p_bytes_in bigint,
    p_bytes_out bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM name_tenant(p_tenant);
    INSERT INTO request_counts AS r (tenant_id, environment, utc_day, succeeded, failed, bytes_in, bytes_out)
    VALUES (p_tenant, p_environment, p_day, p_succeeded, p_failed, p_bytes_in, p_bytes_out)
    ON CONFLICT (tenant_id, environment, utc_day) DO UPDATE
       SET succeeded = r.succeeded + EXCLUDED.succeeded, failed = r.failed + EXCLUDED.failed,
           bytes_in = r.bytes_in + EXCLUDED.bytes_in, bytes_out = r.bytes_out + EXCLUDED.bytes_out;
END
$$;

GRANT EXECUTE ON FUNCTION count_requests TO fe_front, fe_portal;
