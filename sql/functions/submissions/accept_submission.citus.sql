-- The plain form on the tenant's node.
CREATE OR REPLACE FUNCTION accept_submission(
    p_tenant bigint, p_submission uuid, p_at timestamptz, p_environment text, p_api_key text, p_client_request text,
    p_body_digest bytea, p_format text, p_root text, p_type text, p_e_ncf text, p_issuer text, p_buyer text,
    p_as_user text, p_as_user_id uuid, p_original bytea, p_draw_prefix text,
    p_issued_on date DEFAULT NULL
) RETURNS TABLE (
    outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
    numbers_left bigint
)
LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    here bigint;
    disabled boolean := any_disabled(ARRAY[p_tenant]);
    taken jsonb;
BEGIN
    here := enter_shard_of(p_tenant);
    taken := accept_submission_by_way(
        here, NULL, p_tenant, p_submission, p_at, p_environment, p_api_key, p_client_request, p_body_digest, p_format, p_root,
        p_type, p_e_ncf, p_issuer, p_buyer, p_as_user, p_as_user_id, p_original, p_draw_prefix, p_issued_on);
    IF disabled THEN
        PERFORM refuse_of_disabled(ARRAY[p_tenant], taken);
    END IF;
    RETURN QUERY
    SELECT x.outcome, x.submission_id, x.status, x.e_ncf, x.body_matched, x.numbers_skipped, x.numbers_left
      FROM jsonb_to_recordset(taken) AS x (
          outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
          numbers_left bigint);
END
$$;
