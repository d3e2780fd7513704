-- Lease due rows of lanes in order, from the tenants of each lane in turn by weight (docs/decisions/micro-performance.md).
--
-- Each lane has its environment and host, the tenant to begin after, the moment before which nothing is due (floors_of
-- in fe/store/queue/outbox.py), how many more rows may be in flight (p_rooms), and how many of the free slots it leaves
-- to other lanes. p_slots are free in all; p_at_most rows are claimed. A search visits p_scope tenants at most, and
-- stops there while claims are full or rows are in flight; the last tenant visited is returned with a share of 0, and
-- the next claim begins after it. Only where every one of the earliest tenants is paused does the search go to the end.
-- A tenant gets p_most rows of a lane at most, those in flight included: p_busy and p_busy_in name tenant and lane
-- ('environment host') of each row in flight. Processes of the release before name the environment alone: then the row
-- counts in each of its lanes.
CREATE OR REPLACE FUNCTION claim_due(
    p_stage text, p_environments text [], p_hosts text [], p_afters bigint [], p_floors timestamptz [], p_rooms int [],
    p_left_to_others int [], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint [], p_busy_in text [],
    p_holder text, p_lease interval
) RETURNS claimed []
LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    -- Due rows that are looked at, more of them while the lane keeps up; where there are more, tenants that are visited.
    few CONSTANT int[] := ARRAY[100, 400];
    steps CONSTANT int := 256;
    claims claimed[] := '{}';
    fresh claimed[];
    many int := 0;
    in_environment text;
    at_host text;
    in_lane text;
    past bigint;
    since timestamptz;
    capacity int;
    enough int;
    looked_at int;
    due_rows int;
    first_due timestamptz;
    last_due timestamptz;
    -- Tenants of the due rows that were looked at, without paused ones; and whether there is one.
    earliest bigint[];
    any_goes_on boolean;
    everybody_paused boolean;
    -- The tenants with work due in their turn.
    turn bigint[];
    seen int;
    at_tenant bigint;
    next_tenant bigint;
    is_due boolean;
    again boolean;
    stopped_at bigint;
    in_turn int;
    due int;
    served bigint[];
    weights int[];
    most int[];
    shares int[];
BEGIN
    FOR nth IN 1 .. cardinality(p_hosts) LOOP
        in_environment := p_environments[nth];
        at_host := p_hosts[nth];
        in_lane := in_environment || ' ' || at_host;
        past := p_afters[nth];
        since := p_floors[nth];
        capacity := least(p_slots - many - p_left_to_others[nth], p_rooms[nth], p_at_most - many);
        -- One more than can be served shows that not all are, however many of those found may get no more.
        enough := least(p_scope, greatest(capacity, 0) + cardinality(p_busy) / p_most + 1);

        FOREACH looked_at IN ARRAY few LOOP
            SELECT sum(d.due_rows), min(d.first_due), max(d.last_due),
                   array_agg(d.tenant_id ORDER BY d.tenant_id <= past, d.tenant_id) FILTER (WHERE NOT p.paused),
                   bool_or(NOT p.paused), bool_or(p.everybody)
              INTO due_rows, first_due, last_due, earliest, any_goes_on, everybody_paused
              FROM (SELECT o.tenant_id, count(*) AS due_rows, min(o.run_at) AS first_due, max(o.run_at) AS last_due
                      FROM earliest_due_rows(p_stage, in_environment, at_host, since, looked_at) AS o (tenant_id, run_at)
                     GROUP BY o.tenant_id) AS d
             CROSS JOIN LATERAL (SELECT count(*) > 0 AS paused, bool_or(p.tenant_id = 0) AS everybody
                                   FROM pauses AS p
                                  WHERE p.tenant_id IN (0, d.tenant_id) AND p.environment IN ('', in_environment)) AS p;
            EXIT WHEN coalesce(due_rows, 0) < looked_at OR last_due < statement_timestamp() - interval '1 s';
        END LOOP;
        CONTINUE WHEN due_rows IS NULL OR everybody_paused;
        since := first_due;
        earliest := coalesce(earliest, '{}');
        turn := earliest;
        stopped_at := NULL;
        in_turn := NULL;
        IF due_rows = looked_at THEN
            -- From tenant to tenant in the index, to the earliest row of each, so that a tenant's million rows cost one
            -- step, whether they are due or not; ordering by run_at too leaves the planner no other index. It goes on
            -- from the tenant before which the last claim stopped, then round from the first, and stops when it has
            -- enough. It takes no locks and may be wrong: the claim looks again.
            turn := '{}';
            seen := 0;
            at_tenant := past;
            again := false;
            LOOP
                SELECT o.tenant_id,
                       o.run_at <= statement_timestamp()
                       AND (SELECT count(*)
                              FROM pauses AS p
                             WHERE p.tenant_id IN (0, o.tenant_id) AND p.environment IN ('', in_environment)) = 0
                  INTO next_tenant, is_due
                  FROM outbox AS o
                 WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                   AND o.tenant_id > at_tenant AND o.run_at >= since AND o.run_at < 'infinity'
                 ORDER BY o.tenant_id, o.run_at
                 LIMIT 1;
                IF NOT FOUND THEN
                    EXIT WHEN again;
                    again := true;
                    at_tenant := 0;
                    CONTINUE;
                END IF;
                EXIT WHEN again AND next_tenant > past;
                at_tenant := next_tenant;
                seen := seen + 1;
                IF is_due THEN
                    turn := turn || at_tenant;
                    EXIT WHEN cardinality(turn) >= enough;
                ELSIF any_goes_on AND seen >= steps THEN
                    stopped_at := at_tenant;
                    EXIT;
                END IF;
            END LOOP;
            IF stopped_at IS NOT NULL THEN
                in_turn := cardinality(turn);
                turn := turn || ARRAY(
                    SELECT e.tenant_id
                      FROM unnest(earliest) WITH ORDINALITY AS e (tenant_id, n)
                     WHERE e.tenant_id <> ALL (turn || stopped_at)
                     ORDER BY e.n);
            END IF;
        END IF;

        SELECT count(*), array_agg(k.tenant_id ORDER BY k.n) FILTER (WHERE k.most > 0),
               array_agg(k.weight ORDER BY k.n) FILTER (WHERE k.most > 0),
               array_agg(k.most ORDER BY k.n) FILTER (WHERE k.most > 0),
               count(*) FILTER (WHERE k.most > 0 AND k.n <= in_turn)
          INTO due, served, weights, most, in_turn
          FROM (SELECT t.tenant_id, t.weight, whose.n,
                       p_most - (SELECT count(*)
                                   FROM unnest(p_busy, p_busy_in) AS busy (tenant_id, lane)
                                  WHERE busy.tenant_id = t.tenant_id
                                    AND busy.lane IN (in_lane, in_environment))::int AS most
                  FROM unnest(turn[1:enough]) WITH ORDINALITY AS whose (tenant_id, n)
                  JOIN tenants AS t ON t.tenant_id = whose.tenant_id) AS k;
        CONTINUE WHEN due = 0;
        served := coalesce(served[1:greatest(capacity, 0)], '{}');
        shares := '{}';
        IF served <> '{}' THEN
            shares := divide_by_weight(weights[1:capacity], capacity, most);
        END IF;
        -- Else the next claim begins after the last of those in turn that was served.
        IF stopped_at IS NOT NULL AND capacity > 0 AND capacity >= in_turn THEN
            claims := claims || ROW(nth, due + 1, served || stopped_at, shares || 0, NULL, NULL, NULL, NULL, NULL, NULL,
                                    NULL)::claimed;
        ELSE
            claims := claims || ROW(nth, due, served, shares, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::claimed;
        END IF;
        CONTINUE WHEN served = '{}';

        -- Arrays, because the planner expects ten elements of an array, and a tenth of the table of a LIMIT that it
        -- cannot see: then it would read the whole table for each claim.
        WITH picked AS (
            SELECT o.tenant_id, o.subject
              FROM unnest(served, shares) AS scope (tenant_id, share)
             CROSS JOIN LATERAL (SELECT w.tenant_id, w.subject
                                   FROM outbox AS w
                                  WHERE w.tenant_id = scope.tenant_id AND w.stage = p_stage
                                    AND w.environment = in_environment AND w.host = at_host
                                    AND w.run_at >= since AND w.run_at <= statement_timestamp()
                                    AND w.run_at < 'infinity'
                                  ORDER BY w.run_at
                                  LIMIT scope.share
                                    FOR UPDATE SKIP LOCKED) AS o
        ), leased AS (
            UPDATE outbox AS o
               SET attempt = o.attempt + 1, epoch = o.epoch + 1, holder = p_holder,
                   deaths = o.deaths + (o.holder IS NOT NULL)::int, run_at = now() + p_lease
              FROM unnest(ARRAY(SELECT tenant_id FROM picked), ARRAY(SELECT subject FROM picked))
                   AS mine (tenant_id, subject)
             WHERE o.tenant_id = ANY (ARRAY[mine.tenant_id]) AND o.subject = mine.subject
            RETURNING o.tenant_id, o.subject, o.attempt, o.epoch, o.deaths, now() - o.entered_at AS waited, o.last_error
        )
        SELECT array_agg(ROW(nth, NULL, NULL, NULL, l.tenant_id, l.subject, l.attempt, l.epoch, l.deaths, l.waited,
                             l.last_error)::claimed)
          INTO fresh
          FROM leased AS l;
        IF fresh IS NOT NULL THEN
            claims := claims || fresh;
            many := many + cardinality(fresh);
            IF nth < cardinality(p_hosts) THEN
                p_busy := p_busy || ARRAY(SELECT f.tenant_id FROM unnest(fresh) AS f);
                p_busy_in := p_busy_in || array_fill(in_lane, ARRAY[cardinality(fresh)]);
            END IF;
        END IF;
    END LOOP;
    RETURN claims;
END
$$;

GRANT EXECUTE ON FUNCTION claim_due TO fe_worker;
