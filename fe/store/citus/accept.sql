-- Taking submissions in on Citus: the migrations' functions, done where the tenant's rows are (by_shard.py). Who is disabled is known here.

-- As the trigger of 0027: nothing new of a disabled tenant is taken in; a repeat of what was taken in before is answered.
CREATE OR REPLACE FUNCTION refuse_of_disabled(p_tenants bigint[], p_taken jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT
          FROM jsonb_to_recordset(p_taken) AS x (place int, outcome text)
          JOIN disabled_tenants AS d ON d.tenant_id = p_tenants[coalesce(x.place, 1)]
         WHERE x.outcome = 'accepted') THEN
        RAISE EXCEPTION 'the tenant is disabled' USING ERRCODE = 'FE004';
    END IF;
END
$$;

-- Whether one of these tenants is disabled. Whether something new came of it is known afterwards, and then it is taken back: so what is
-- done does not stand alone.
CREATE OR REPLACE FUNCTION any_disabled(p_tenants bigint[]) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM disabled_tenants AS d WHERE d.tenant_id = ANY (p_tenants)) THEN
        RETURN false;
    END IF;
    PERFORM stand_together();
    RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION accept_submission(
    p_tenant bigint, p_submission uuid, p_at timestamptz, p_environment text, p_api_key text, p_client_request text,
    p_body_digest bytea, p_format text, p_root text, p_type text, p_e_ncf text, p_issuer text, p_buyer text,
    p_as_user text, p_as_user_id uuid, p_original bytea, p_draw_prefix text
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
        p_type, p_e_ncf, p_issuer, p_buyer, p_as_user, p_as_user_id, p_original, p_draw_prefix);
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

-- Of each node together. Whatever is paused is not leased; of that, too, the nodes know nothing.
CREATE OR REPLACE FUNCTION accept_submissions(
    p_tenants bigint[], p_submissions uuid[], p_ats timestamptz[], p_environments text[], p_api_keys text[],
    p_client_requests text[], p_body_digests bytea[], p_formats text[], p_roots text[], p_types text[],
    p_e_ncfs text[], p_issuers text[], p_buyers text[], p_as_users text[], p_as_user_ids uuid[],
    p_originals bytea[], p_draw_prefixes text[], p_holder text DEFAULT NULL, p_leases interval[] DEFAULT NULL
) RETURNS TABLE (
    place int, outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
    numbers_left bigint, refusal text, leased boolean
)
LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    one record;
    leases interval[] := leases_unless_paused(p_tenants, p_environments, p_leases);
    disabled boolean := any_disabled(p_tenants);
    taken jsonb;
BEGIN
    FOR one IN SELECT * FROM enter_shards(p_tenants) LOOP
        IF one.places IS NULL THEN
            taken := accept_submissions_by_way(
                one.way, one.shards, p_tenants, p_submissions, p_ats, p_environments, p_api_keys, p_client_requests,
                p_body_digests, p_formats, p_roots, p_types, p_e_ncfs, p_issuers, p_buyers, p_as_users, p_as_user_ids,
                p_originals, p_draw_prefixes, p_holder, leases);
        ELSE
            taken := accept_submissions_by_way(
                one.way, one.shards, picked(p_tenants, one.places), picked(p_submissions, one.places),
                picked(p_ats, one.places), picked(p_environments, one.places), picked(p_api_keys, one.places),
                picked(p_client_requests, one.places), picked(p_body_digests, one.places), picked(p_formats, one.places),
                picked(p_roots, one.places), picked(p_types, one.places), picked(p_e_ncfs, one.places),
                picked(p_issuers, one.places), picked(p_buyers, one.places), picked(p_as_users, one.places),
                picked(p_as_user_ids, one.places), picked(p_originals, one.places),
                picked(p_draw_prefixes, one.places), p_holder, picked(leases, one.places));
        END IF;
        IF disabled THEN
            PERFORM refuse_of_disabled(picked(p_tenants, one.places), taken);
        END IF;
        RETURN QUERY
        SELECT coalesce(one.places[x.place], x.place), x.outcome, x.submission_id, x.status, x.e_ncf, x.body_matched,
               x.numbers_skipped, x.numbers_left, x.refusal, x.leased
          FROM jsonb_to_recordset(taken) AS x (
              place int, outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean,
              numbers_skipped bigint, numbers_left bigint, refusal text, leased boolean);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION refuse_of_disabled, any_disabled TO fe_front, fe_portal, fe_worker, fe_operator;
