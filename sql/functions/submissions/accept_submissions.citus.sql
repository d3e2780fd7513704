-- The plain form, once for each node. The coordinator knows pauses, and asks for no lease where work is paused.
CREATE OR REPLACE FUNCTION accept_submissions(
    p_tenants bigint[], p_submissions uuid[], p_ats timestamptz[], p_environments text[], p_api_keys text[],
    p_client_requests text[], p_body_digests bytea[], p_formats text[], p_roots text[], p_types text[],
    p_e_ncfs text[], p_issuers text[], p_buyers text[], p_as_users text[], p_as_user_ids uuid[],
    p_originals bytea[], p_draw_prefixes text[], p_holder text DEFAULT NULL, p_leases interval[] DEFAULT NULL,
    p_issued_ons date[] DEFAULT NULL
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
                p_originals, p_draw_prefixes, p_holder, leases, p_issued_ons);
        ELSE
            taken := accept_submissions_by_way(
                one.way, one.shards, picked(p_tenants, one.places), picked(p_submissions, one.places),
                picked(p_ats, one.places), picked(p_environments, one.places), picked(p_api_keys, one.places),
                picked(p_client_requests, one.places), picked(p_body_digests, one.places), picked(p_formats, one.places),
                picked(p_roots, one.places), picked(p_types, one.places), picked(p_e_ncfs, one.places),
                picked(p_issuers, one.places), picked(p_buyers, one.places), picked(p_as_users, one.places),
                picked(p_as_user_ids, one.places), picked(p_originals, one.places),
                picked(p_draw_prefixes, one.places), p_holder, picked(leases, one.places),
                picked(p_issued_ons, one.places));
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
