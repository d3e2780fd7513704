-- Claims, and what frees them, as Citus can run them. They take the places of the migrations'; what they answer is the same.

-- Lease due rows of one lane, of each tenant at most its share, in one call to each node: the answers of claim_batch, one after the other.
CREATE OR REPLACE FUNCTION claim_lane(
    p_stage text, p_environment text, p_host text, p_scope bigint[], p_shares int[], p_floor timestamptz, p_holder text,
    p_lease interval, p_with_input boolean
) RETURNS bytea[]
LANGUAGE plpgsql AS $$
DECLARE
    one record;
    leased bytea[] := '{}';
BEGIN
    FOR one IN SELECT * FROM enter_shards(p_scope) LOOP
        IF one.places IS NULL THEN
            RETURN claim_batch_by_way(one.way, one.shards, p_scope, p_shares, p_stage, p_environment, p_host, p_floor, p_holder,
                                      clock_timestamp(), p_lease, p_with_input);
        END IF;
        leased := leased || claim_batch_by_way(
            one.way, one.shards, picked(p_scope, one.places), picked(p_shares, one.places), p_stage, p_environment, p_host,
            p_floor, p_holder, clock_timestamp(), p_lease, p_with_input);
    END LOOP;
    RETURN leased;
END
$$;

-- Rows that were leased, and what their next step needs, of the stage it is; their documents are beside it. Columns, because a row of each
-- takes twice as long to be put together and to be read. One with other columns would have to have another name.
DO $$
BEGIN
    IF to_regtype('claimed_columns') IS NULL THEN
        CREATE TYPE claimed_columns AS (
            tenants bigint[], subjects uuid[], attempts int[], epochs bigint[], deaths int[], waited interval[],
            last_errors text[], formats text[], roots text[], ecf_types text[], e_ncfs text[], as_users text[],
            as_user_ids uuid[], issuers text[], buyers text[], certificates uuid[], track_ids text[],
            are_summaries boolean[], maybe_adopted boolean[], sequences_expire timestamptz[],
            -- Of each an array, as text: no two need have the same length.
            holders text[], holders_issuers text[]
        );
    END IF;
END
$$;

-- The rows of one or more answers of claim_batch.
CREATE OR REPLACE FUNCTION rows_of(p_leased bytea[]) RETURNS TABLE (
    tenant_id bigint, subject uuid, attempt int, epoch bigint, deaths int, waited interval, last_error text,
    format text, root text, ecf_type text, e_ncf text, as_user text, as_user_id uuid, issuer_rnc text, buyer_rnc text,
    certificate_id uuid, track_id text, content bytea, is_summary boolean, maybe_adopted boolean,
    sequence_expires timestamptz, holders uuid[], holders_issuers text[]
)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    first int := 1;
    many int;
    told claimed_columns;
BEGIN
    WHILE first <= cardinality(p_leased) LOOP
        told := convert_from(p_leased[first], 'UTF8')::claimed_columns;
        many := cardinality(told.tenants);
        RETURN QUERY
        SELECT told.tenants[n], told.subjects[n], told.attempts[n], told.epochs[n], told.deaths[n], told.waited[n],
               told.last_errors[n], told.formats[n], told.roots[n], told.ecf_types[n], told.e_ncfs[n],
               told.as_users[n], told.as_user_ids[n], told.issuers[n], told.buyers[n], told.certificates[n],
               told.track_ids[n], p_leased[first + n], told.are_summaries[n], told.maybe_adopted[n],
               told.sequences_expire[n], told.holders[n]::uuid[], told.holders_issuers[n]::text[]
          FROM generate_series(1, many) AS n;
        first := first + 1 + many;
    END LOOP;
END
$$;

-- The same without what the next step needs.
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

-- Of those that were found to have work due ([lane, tenant, round, first]): those that are not paused, so many of each lane, in their turn.
CREATE OR REPLACE FUNCTION weights_of(p_due jsonb, p_environments text[], p_limit int)
RETURNS TABLE (lane int, tenant_id bigint, weight int)
LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT turn.lane, turn.tenant_id, turn.weight
      FROM (SELECT d.lane, d.tenant_id, t.weight,
                   row_number() OVER (PARTITION BY d.lane ORDER BY d.round, d.tenant_id) AS n
              FROM (SELECT (f.value ->> 0)::int AS lane, (f.value ->> 1)::bigint AS tenant_id,
                           min((f.value ->> 2)::int) AS round
                      FROM jsonb_array_elements(p_due) AS f (value)
                     GROUP BY 1, 2) AS d
              JOIN tenants AS t ON t.tenant_id = d.tenant_id
             WHERE NOT EXISTS (SELECT FROM pauses AS p
                                WHERE p.tenant_id IN (0, d.tenant_id) AND p.environment IN ('', p_environments[d.lane]))
           ) AS turn
     WHERE turn.n <= p_limit
     ORDER BY turn.lane, turn.n;
END
$$;

-- Which tenants have work due in each lane of a table, as the search of fe/store/queue/tables.py.
CREATE OR REPLACE FUNCTION due_tenants_of(
    p_table text, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
    p_limit int
) RETURNS TABLE (environment text, host text, tenant_id bigint, weight int)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT p_environments[w.lane], p_hosts[w.lane], w.tenant_id, w.weight
      FROM weights_of(due_anywhere(p_table, p_stage, p_environments, p_hosts, p_afters, p_floors, p_limit),
                      p_environments, p_limit) WITH ORDINALITY AS w (lane, tenant_id, weight, n)
     ORDER BY w.n;
END
$$;

-- Of one lane, of those that were found to have work due ([lane, tenant, round, first]): how many they are, and since when; who is served, in
-- their turn, and with how many rows each, by their weights. Who is not among p_weighted has the weight 1.
CREATE OR REPLACE FUNCTION served_of(
    p_due jsonb, p_lane int, p_environment text, p_host text, p_capacity int, p_scope int, p_most int, p_busy bigint[],
    p_busy_in text[], p_weighted bigint[], p_weights int[],
    OUT due int, OUT first_due timestamptz, OUT tenants bigint[], OUT shares int[]
)
LANGUAGE plpgsql AS $$
DECLARE
    weights int[];
    most int[];
BEGIN
    WITH known AS (
        SELECT turn.tenant_id, coalesce(w.weight, 1) AS weight, turn.round, turn.first_due,
               p_most - (SELECT count(*)
                           FROM unnest(p_busy, p_busy_in) AS busy (tenant_id, lane)
                          WHERE busy.tenant_id = turn.tenant_id
                            AND busy.lane IN (p_environment || ' ' || p_host, p_environment))::int AS most
          FROM (SELECT (f.value ->> 1)::bigint AS tenant_id, min((f.value ->> 2)::int) AS round,
                       min((f.value ->> 3)::timestamptz) AS first_due
                  FROM jsonb_array_elements(p_due) AS f (value)
                 WHERE (f.value ->> 0)::int = p_lane
                 GROUP BY 1) AS turn
          LEFT JOIN unnest(p_weighted, p_weights) AS w (tenant_id, weight) ON w.tenant_id = turn.tenant_id
         ORDER BY turn.round, turn.tenant_id
         LIMIT least(p_scope, greatest(p_capacity, 0) + cardinality(p_busy) / p_most + 1)
    )
    SELECT count(*), min(k.first_due), array_agg(k.tenant_id ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0),
           array_agg(k.weight ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0),
           array_agg(k.most ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0)
      INTO due, first_due, tenants, weights, most
      FROM known AS k;
    tenants := coalesce(tenants[1:greatest(p_capacity, 0)], '{}');
    shares := CASE WHEN tenants = '{}' THEN '{}' ELSE divide_by_weight(weights[1:p_capacity], p_capacity, most) END;
END
$$;

-- The lanes by their names, in their order.
CREATE OR REPLACE FUNCTION lanes_named(p_environments text[], p_hosts text[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_agg(l.environment || ' ' || l.host ORDER BY l.n)
      FROM unnest(p_environments, p_hosts) WITH ORDINALITY AS l (environment, host, n)
$$;

-- What a session's last look found due, in the order of these turns and without what is paused by now; NULL where all nodes are to be asked
-- again. It is good for a tenth of a second, and for claims that it fills: while every slot is taken, others could only wait for their turn.
-- Lanes change their places from claim to claim, so they are known by their names.
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

-- Keep what a look found due for the next claims of the session; without p_due: forget it. A claim that is undone has done neither.
CREATE OR REPLACE FUNCTION keep_due(p_stage text, p_environments text[], p_hosts text[], p_due jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    name text := 'fe.due_to_' || p_stage;
BEGIN
    IF p_due IS NOT NULL THEN
        PERFORM set_config(name, jsonb_build_object('until', clock_timestamp() + interval '100 ms', 'lanes',
                                                    lanes_named(p_environments, p_hosts), 'due', p_due)::text, false);
    ELSIF current_setting(name, true) <> '' THEN
        PERFORM set_config(name, '', false);
    END IF;
END
$$;

-- Lease due rows of all lanes: as in 0014, and beside each what its next step needs: as in 0029. What it asks the coordinator is planned
-- once; what it calls that cannot be (due_on_nodes, enter_shards_of) says so. A look asks every node, and a claim goes to those alone that have
-- what is served: so who is served is taken from the last look while that is good. Where that leaves slots free, NULL tenants are said to have
-- work due: whoever claims is to look again at once.
CREATE OR REPLACE FUNCTION claim_with_input(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_rooms int[],
    p_left_to_others int[], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint[], p_busy_in text[],
    p_holder text, p_lease interval
) RETURNS TABLE (
    lane int, due int, tenants bigint[], shares int[], tenant_id bigint, subject uuid, attempt int, epoch bigint,
    deaths int, waited interval, last_error text, format text, root text, ecf_type text, e_ncf text, as_user text,
    as_user_id uuid, issuer_rnc text, buyer_rnc text, certificate_id uuid, track_id text, content bytea,
    is_summary boolean, maybe_adopted boolean, sequence_expires timestamptz, holders uuid[], holders_issuers text[],
    signatory text
)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode TO force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    looks_around_until timestamptz := nullif(current_setting('fe.looks_around_until', true), '');
    found_due jsonb := known_due(p_stage, p_environments, p_hosts, p_afters);
    looks boolean := found_due IS NULL OR coalesce(looks_around_until > clock_timestamp(), false);
    lanes int;
    many int := 0;
    capacity int;
    many_due int;
    first_due timestamptz;
    served bigint[];
    divided int[];
    weighted bigint[];
    weights int[];
    whose bigint[] := '{}';
    fresh int;
    leased bytea[];
BEGIN
    -- A session that was refused because a node was away looks around for a while (fe/store/postgres/engine.py).
    IF looks_around_until > clock_timestamp() THEN
        found_due := due_anywhere('outbox', p_stage, p_environments, p_hosts, p_afters, p_floors, p_scope);
    ELSIF looks THEN
        found_due := due_on_nodes(p_stage, p_environments, p_hosts, p_afters, p_floors, p_scope);
    END IF;
    IF found_due = '[]' THEN
        RETURN;
    END IF;
    -- A claim of one lane may stand alone. Of several either all are made or none: what one has leased would else be left to its
    -- lease when another cannot be made.
    SELECT count(DISTINCT f.value ->> 0) INTO lanes FROM jsonb_array_elements(found_due) AS f (value);
    IF lanes > 1 THEN
        PERFORM stand_together();
    END IF;
    SELECT array_agg(t.tenant_id), array_agg(t.weight) INTO weighted, weights
      FROM tenants AS t
     WHERE t.weight <> 1
       AND t.tenant_id IN (SELECT (f.value ->> 1)::bigint FROM jsonb_array_elements(found_due) AS f (value));
    FOR nth IN 1 .. cardinality(p_hosts) LOOP
        capacity := least(p_slots - many - p_left_to_others[nth], p_rooms[nth], p_at_most - many);
        SELECT * INTO many_due, first_due, served, divided
          FROM served_of(found_due, nth, p_environments[nth], p_hosts[nth], capacity, p_scope, p_most, p_busy, p_busy_in,
                         weighted, weights);
        CONTINUE WHEN many_due = 0;
        leased := claim_lane(p_stage, p_environments[nth], p_hosts[nth], served, divided, first_due, p_holder, p_lease, true);
        RETURN QUERY
        SELECT nth, NULL::int, NULL::bigint[], NULL::int[], r.*, NULL::text FROM rows_of(leased) AS r;
        GET DIAGNOSTICS fresh = ROW_COUNT;
        -- What is said of the lane. Where nobody looked it is the only one.
        RETURN QUERY
        SELECT nth, CASE WHEN looks OR fresh = least(p_slots, p_at_most) THEN many_due END, served, divided, NULL::bigint,
               NULL::uuid, NULL::int, NULL::bigint, NULL::int, NULL::interval, NULL::text, NULL::text, NULL::text,
               NULL::text, NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::text, NULL::uuid, NULL::text,
               NULL::bytea, NULL::boolean, NULL::boolean, NULL::timestamptz, NULL::uuid[], NULL::text[], NULL::text;
        CONTINUE WHEN fresh = 0;
        many := many + fresh;
        whose := whose || served;
        IF nth < cardinality(p_hosts) THEN
            p_busy := p_busy || ARRAY(SELECT r.tenant_id FROM rows_of(leased) AS r);
            p_busy_in := p_busy_in || array_fill(p_environments[nth] || ' ' || p_hosts[nth], ARRAY[fresh]);
        END IF;
    END LOOP;
    -- All of a lane, and all of its tenants had their shares: so all of them may have more.
    IF many < least(p_slots, p_at_most) THEN
        PERFORM keep_due(p_stage, p_environments, p_hosts, NULL);
    ELSIF looks AND lanes = 1 AND jsonb_array_length(found_due) < p_scope THEN
        PERFORM keep_due(p_stage, p_environments, p_hosts, found_due);
    END IF;
    IF p_stage = 'sign' AND whose <> '{}' THEN
        RETURN QUERY
        SELECT 0, NULL::int, NULL::bigint[], NULL::int[], t.tenant_id, NULL::uuid, NULL::int, NULL::bigint, NULL::int,
               NULL::interval, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::uuid,
               NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::bytea, NULL::boolean, NULL::boolean,
               NULL::timestamptz, NULL::uuid[], NULL::text[], t.signatory
          FROM signatories_of(whose) AS t;
    END IF;
END
$$;

-- As in 0043. Nothing is written, so no shard is entered: whoever looks while a shard is split is refused, and looks again.
CREATE OR REPLACE FUNCTION input_to_sign(
    p_tenants bigint[], p_subjects uuid[], p_environments text[], p_e_ncfs text[], p_owned boolean[]
) RETURNS TABLE (
    place int, tenant_id bigint, sequence_expires timestamptz, holders uuid[], holders_issuers text[], signatory text
)
LANGUAGE plpgsql ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    whose bigint[] := outbox_shards(p_tenants);
    one record;
    numbers jsonb;
    many int := 0;
BEGIN
    FOR one IN SELECT * FROM ways_to(p_tenants, whose) LOOP
        numbers := input_to_sign_by_way(
            one.way, one.shards, picked(p_tenants, one.places), picked(p_subjects, one.places),
            picked(p_environments, one.places), picked(p_e_ncfs, one.places), picked(p_owned, one.places));
        many := many + jsonb_array_length(numbers);
        RETURN QUERY
        SELECT coalesce(one.places[x.place], x.place), p_tenants[coalesce(one.places[x.place], x.place)],
               x.sequence_expires, x.holders, x.holders_issuers, NULL::text
          FROM jsonb_to_recordset(numbers) AS x (
              place int, sequence_expires timestamptz, holders uuid[], holders_issuers text[]);
    END LOOP;
    PERFORM require_way(many = cardinality(p_tenants) AND whose = outbox_shards(p_tenants));
    RETURN QUERY
    SELECT 0, t.tenant_id, NULL::timestamptz, NULL::uuid[], NULL::text[], t.signatory FROM signatories_of(p_tenants) AS t;
END
$$;

-- Who may sign for each of these tenants, as in 0029.
CREATE OR REPLACE FUNCTION signatories_of(p_tenants bigint[]) RETURNS TABLE (tenant_id bigint, signatory text)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT t.tenant_id,
           jsonb_build_object(
               'issuer', t.issuer, 'consumerSummary', t.consumer_summary,
               'candidates', (SELECT jsonb_agg(jsonb_build_array(x.certificate_id, x.user_id, u.email,
                                                                 u.issuer_override, x.not_before, x.not_after))
                                FROM certificates AS x
                                LEFT JOIN users AS u ON u.tenant_id = x.tenant_id AND u.user_id = x.user_id
                               WHERE x.tenant_id = t.tenant_id AND x.retired_at IS NULL))::text
      FROM tenants AS t
     WHERE t.tenant_id = ANY (p_tenants);
END
$$;

-- Take workers away, those silent for so long or the one that leaves, and free what they held in some tables; answers the
-- stage of each row. As the statement of fe/store/queue/workers.py, row by row: what is in flight is as much as there are slots.
CREATE OR REPLACE FUNCTION free_held(p_tables text[], p_silence interval, p_leaving text, p_apart interval)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    silent text[];
    one text;
    held record;
    due timestamptz;
BEGIN
    WITH gone AS (
        DELETE FROM workers
         WHERE CASE WHEN p_leaving IS NULL THEN seen_at < clock_timestamp() - p_silence ELSE holder = p_leaving END
        RETURNING holder
    )
    SELECT array_agg(gone.holder) INTO silent FROM gone;
    IF silent IS NULL THEN
        RETURN;
    END IF;
    FOREACH one IN ARRAY p_tables LOOP
        FOR held IN EXECUTE format(
            'SELECT tenant_id, subject, epoch, deaths, stage || '''' AS stage FROM %I WHERE holder = ANY ($1) AND run_at > $2',
            one) USING silent, now()
        LOOP
            due := now() + CASE WHEN held.deaths = 0 THEN interval '0'
                                ELSE p_apart * (('x' || left(md5(held.subject::text || held.epoch), 6))::bit(24)::int % 60)
                                     / 60 END;
            EXECUTE format(
                'UPDATE %I SET run_at = $1 WHERE tenant_id = $2 AND subject = $3 AND epoch = $4 AND holder = ANY ($5)',
                one) USING due, held.tenant_id, held.subject, held.epoch, silent;
            RETURN NEXT held.stage;
        END LOOP;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION claim_lane, rows_of, weights_of, served_of, claim_rows, lanes_named, known_due,
keep_due, signatories_of, due_tenants_of, free_held TO fe_worker;
