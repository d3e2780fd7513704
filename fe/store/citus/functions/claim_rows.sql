-- As claim_lane, without the input.
CREATE OR REPLACE FUNCTION claim_rows(
    p_stage text, p_environment text, p_host text, p_scope bigint[], p_shares int[], p_floor timestamptz, p_holder text,
    p_lease interval
) RETURNS TABLE (
    tenant_id bigint, subject uuid, attempt int, epoch bigint, deaths int, waited interval, last_error text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT r.tenant_id, r.subject, r.attempt, r.epoch, r.deaths, r.waited, r.last_error
      FROM rows_of(claim_lane(p_stage, p_environment, p_host, p_scope, p_shares, p_floor, p_holder, p_lease, false)) AS r;
END
$$;

GRANT EXECUTE ON FUNCTION claim_rows TO fe_worker;
