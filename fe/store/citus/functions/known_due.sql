-- Due work that the session's last search found, in turn, without what is paused by now; NULL: ask all nodes again. Valid
-- for a tenth of a second and for claims that it fills: while every slot is taken a search could only queue more. Lanes
-- are known by name, because their places change from claim to claim.
CREATE OR REPLACE FUNCTION known_due(p_stage text, p_environments text[], p_hosts text[], p_afters bigint[])
RETURNS jsonb LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    known jsonb := nullif(current_setting('fe.due_to_' || p_stage, true), '');
    lanes jsonb := lanes_named(p_environments, p_hosts);
BEGIN
    IF known IS NULL OR (known ->> 'until')::timestamptz NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '1 minute'
       OR NOT coalesce(known -> 'lanes' @> lanes AND known -> 'lanes' <@ lanes, false) THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT jsonb_agg(jsonb_build_array(d.lane, d.tenant_id, CASE WHEN d.tenant_id > p_afters[d.lane] THEN 1 ELSE 2 END,
                                           d.first_due))
          FROM (SELECT l.lane::int AS lane, (f.value ->> 1)::bigint AS tenant_id, f.value -> 3 AS first_due
                  FROM jsonb_array_elements(known -> 'due') AS f (value)
                  JOIN jsonb_array_elements(lanes) WITH ORDINALITY AS l (name, lane)
                    ON l.name = known -> 'lanes' -> ((f.value ->> 0)::int - 1)) AS d
         WHERE NOT EXISTS (SELECT FROM pauses AS p
                            WHERE p.tenant_id IN (0, d.tenant_id) AND p.environment IN ('', p_environments[d.lane])));
END
$$;

GRANT EXECUTE ON FUNCTION known_due TO fe_worker;
