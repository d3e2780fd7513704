-- Functions that Citus would refuse, or would ask every node for, as it can run them: each statement names one tenant. They
-- take the places of those of the migrations; what they answer is the same.

-- Lease due rows of one lane: of each tenant at most its share, shard by shard.
CREATE OR REPLACE FUNCTION claim_rows(
    p_stage text, p_environment text, p_host text, p_scope bigint[], p_shares int[], p_floor timestamptz, p_holder text,
    p_lease interval
) RETURNS TABLE (
    tenant_id bigint, subject uuid, attempt int, epoch bigint, deaths int, waited interval, last_error text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz;
    one record;
    scope bigint[];
    shares int[];
    leased jsonb;
BEGIN
    FOR one IN SELECT * FROM shards_of(p_scope) LOOP
        scope := CASE WHEN one.places IS NULL THEN p_scope ELSE picked(p_scope, one.places) END;
        shares := CASE WHEN one.places IS NULL THEN p_shares ELSE picked(p_shares, one.places) END;
        moment := clock_timestamp();
        PERFORM enter_shard(one.anchor);
        SELECT claim_rows_batch_there(a.anchor, scope, shares, p_stage, p_environment, p_host, p_floor, p_holder, moment,
                                      p_lease)
          INTO leased
          FROM anchors AS a
         WHERE a.anchor = one.anchor;
        RETURN QUERY
        SELECT x.tenant_id, x.subject, x.attempt, x.epoch, x.deaths, x.waited, x.last_error
          FROM jsonb_to_recordset(leased) AS x (
              tenant_id bigint, subject uuid, attempt int, epoch bigint, deaths int, waited interval, last_error text);
    END LOOP;
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
    SELECT p_environments[turn.lane], p_hosts[turn.lane], t.tenant_id, t.weight
      FROM (SELECT d.lane, d.tenant_id, d.round,
                   row_number() OVER (PARTITION BY d.lane ORDER BY d.round, d.tenant_id) AS n
              FROM (SELECT (f.value ->> 0)::int AS lane, (f.value ->> 1)::bigint AS tenant_id,
                           (f.value ->> 2)::int AS round
                      FROM jsonb_array_elements(due_anywhere(
                          p_table, p_stage, p_environments, p_hosts, p_afters, p_floors, p_limit)) AS f) AS d) AS turn
      JOIN tenants AS t ON t.tenant_id = turn.tenant_id
     WHERE turn.n <= p_limit
     ORDER BY turn.lane, turn.n;
END
$$;

-- Lease due rows: as in 0014.
CREATE OR REPLACE FUNCTION claim_due(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_rooms int[],
    p_left_to_others int[], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint[], p_busy_in text[],
    p_holder text, p_lease interval
) RETURNS claimed[]
LANGUAGE plpgsql AS $$
DECLARE
    claims claimed[] := '{}';
    many int := 0;
    found_due jsonb;
    capacity int;
    due int;
    served bigint[];
    weights int[];
    most int[];
    shares int[];
    leased record;
BEGIN
    found_due := due_anywhere('outbox', p_stage, p_environments, p_hosts, p_afters, p_floors, p_scope);
    IF found_due = '[]' THEN
        RETURN claims;
    END IF;
    FOR nth IN 1 .. cardinality(p_hosts) LOOP
        capacity := least(least(p_slots - many, p_rooms[nth]) - p_left_to_others[nth], p_at_most - many);
        WITH known AS (
            SELECT t.tenant_id, t.weight, turn.round,
                   p_most - (SELECT count(*)
                               FROM unnest(p_busy, p_busy_in) AS busy (tenant_id, environment)
                              WHERE busy.tenant_id = t.tenant_id AND busy.environment = p_environments[nth])::int AS most
              FROM (SELECT (f.value ->> 1)::bigint AS tenant_id, min((f.value ->> 2)::int) AS round
                      FROM jsonb_array_elements(found_due) AS f (value)
                     WHERE (f.value ->> 0)::int = nth
                     GROUP BY 1) AS turn
              JOIN tenants AS t ON t.tenant_id = turn.tenant_id
             WHERE NOT EXISTS (SELECT FROM pauses AS p
                                WHERE p.tenant_id IN (0, t.tenant_id) AND p.environment IN ('', p_environments[nth]))
             ORDER BY turn.round, t.tenant_id
             LIMIT least(p_scope, greatest(capacity, 0) + cardinality(p_busy) / p_most + 1)
        )
        SELECT count(*), array_agg(k.tenant_id ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0),
               array_agg(k.weight ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0),
               array_agg(k.most ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0)
          INTO due, served, weights, most
          FROM known AS k;
        CONTINUE WHEN due = 0;
        served := coalesce(served[1:greatest(capacity, 0)], '{}');
        shares := '{}';
        IF served <> '{}' THEN
            shares := divide_by_weight(weights[1:capacity], capacity, most);
        END IF;
        claims := claims || ROW(nth, due, served, shares, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::claimed;
        FOR leased IN
            SELECT * FROM claim_rows(p_stage, p_environments[nth], p_hosts[nth], served, shares, p_floors[nth],
                                     p_holder, p_lease)
        LOOP
            claims := claims || ROW(nth, NULL, NULL, NULL, leased.tenant_id, leased.subject, leased.attempt,
                                    leased.epoch, leased.deaths, leased.waited, leased.last_error)::claimed;
            many := many + 1;
            p_busy := p_busy || leased.tenant_id;
            p_busy_in := p_busy_in || p_environments[nth];
        END LOOP;
    END LOOP;
    RETURN claims;
END
$$;

-- The same as claim_due, and beside each claimed row what its next step needs: as in 0029.
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
LANGUAGE plpgsql ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    claims claimed[] := claim_due(
        p_stage, p_environments, p_hosts, p_afters, p_floors, p_rooms, p_left_to_others, p_slots, p_at_most, p_scope,
        p_most, p_busy, p_busy_in, p_holder, p_lease);
    told boolean[] := array_fill(false, ARRAY[cardinality(claims)]);
    c claimed;
    i record;
BEGIN
    IF claims = '{}' THEN
        RETURN;
    END IF;
    IF p_stage IN ('sign', 'send', 'track') THEN
        FOR i IN SELECT * FROM input_of(p_stage, claims, p_environments) LOOP
            -- Two nodes may answer for the same row where a shard moves meanwhile; a claim is told once.
            CONTINUE WHEN told[i.place];
            c := claims[i.place];
            lane := c.lane; tenant_id := c.tenant_id; subject := c.subject; attempt := c.attempt; epoch := c.epoch;
            deaths := c.deaths; waited := c.waited; last_error := c.last_error; format := i.format; root := i.root;
            ecf_type := i.ecf_type; e_ncf := i.e_ncf; as_user := i.as_user; as_user_id := i.as_user_id;
            issuer_rnc := i.issuer_rnc; buyer_rnc := i.buyer_rnc; certificate_id := i.certificate_id;
            track_id := i.track_id; content := i.content; is_summary := i.is_summary;
            maybe_adopted := i.maybe_adopted; sequence_expires := i.sequence_expires; holders := i.holders;
            holders_issuers := i.holders_issuers;
            told[i.place] := true;
            RETURN NEXT;
        END LOOP;
    END IF;
    -- What is said of the lanes, and the rows that nothing was found of.
    RETURN QUERY
    SELECT x.lane, x.due, x.tenants, x.shares, x.tenant_id, x.subject, x.attempt, x.epoch, x.deaths, x.waited,
           x.last_error, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::text,
           NULL::uuid, NULL::text, NULL::bytea, NULL::boolean, NULL::boolean, NULL::timestamptz, NULL::uuid[],
           NULL::text[], NULL::text
      FROM unnest(claims) WITH ORDINALITY
           AS x (lane, due, tenants, shares, tenant_id, subject, attempt, epoch, deaths, waited, last_error, n)
     WHERE NOT told[x.n];
    IF p_stage = 'sign' THEN
        RETURN QUERY
        SELECT 0, NULL::int, NULL::bigint[], NULL::int[], t.tenant_id, NULL::uuid, NULL::int, NULL::bigint, NULL::int,
               NULL::interval, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::uuid,
               NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::bytea, NULL::boolean, NULL::boolean,
               NULL::timestamptz, NULL::uuid[], NULL::text[],
               jsonb_build_object(
                   'issuer', t.issuer, 'consumerSummary', t.consumer_summary,
                   'candidates', (SELECT jsonb_agg(jsonb_build_array(x.certificate_id, x.user_id, u.email,
                                                                     u.issuer_override, x.not_before, x.not_after))
                                    FROM certificates AS x
                                    LEFT JOIN users AS u ON u.tenant_id = x.tenant_id AND u.user_id = x.user_id
                                   WHERE x.tenant_id = t.tenant_id AND x.retired_at IS NULL))::text
          FROM tenants AS t
         WHERE t.tenant_id = ANY (ARRAY(SELECT DISTINCT one.tenant_id FROM unnest(claims) AS one));
    END IF;
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

GRANT EXECUTE ON FUNCTION claim_rows, due_tenants_of, free_held TO fe_worker;
