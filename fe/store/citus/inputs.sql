-- What the next step of claimed rows needs, as in 0029: read where the rows are, of all shards of a node in one call to it. What
-- is read are the shards' own tables, which saves planning it twice more for each. They stay where they are meanwhile: the
-- rows were claimed by the same transaction.

-- On a node: of the rows that are in one shard, an array of what was found, [place, ...] by the stage. p_names are the shard's tables.
CREATE OR REPLACE FUNCTION input_in_shard(
    p_names jsonb, p_stage text, p_tenants bigint[], p_subjects uuid[], p_environments text[]
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_subjects);
    since uuid := forty_days_before(span.first);
    found jsonb;
BEGIN
    EXECUTE format(
        CASE p_stage
        WHEN 'sign' THEN $sign$
            SELECT jsonb_agg(jsonb_build_array(
                       b.n, s.format, s.root, s.ecf_type, s.e_ncf, s.as_user, s.as_user_id,
                       CASE WHEN octet_length(d.content) <= 65536 THEN d.content::text END,
                       q.expire_at, same.holders::text, same.issuers::text))
              FROM unnest($1, $2, $3) WITH ORDINALITY AS b (tenant_id, subject, environment, n)
              JOIN %1$s AS s
                ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject AND s.submission_id BETWEEN $4 AND $5
              LEFT JOIN %2$s AS d
                ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'original'
               AND d.submission_id BETWEEN $4 AND $5
              LEFT JOIN %3$s AS q
                ON q.tenant_id = s.tenant_id AND q.environment = b.environment AND q.prefix = left(s.e_ncf, 3)
               AND q.is_active
              LEFT JOIN LATERAL (
                    -- Held, or on its way to be signed: see fe/store/numbers.py.
                    SELECT array_agg(one.submission_id) AS holders, array_agg(one.issuer_rnc) AS issuers
                      FROM (SELECT h.submission_id, h.issuer_rnc
                              FROM %4$s AS h
                              JOIN %1$s AS other
                                ON other.tenant_id = h.tenant_id AND other.submission_id = h.submission_id
                               AND other.number_fate <> 'reusable'
                             WHERE h.tenant_id = b.tenant_id AND h.environment = b.environment
                               AND h.e_ncf = s.e_ncf AND h.submission_id <> b.subject
                             UNION ALL
                            SELECT other.submission_id, other.issuer_rnc
                              FROM %1$s AS other
                             WHERE other.tenant_id = b.tenant_id AND other.environment = b.environment
                               AND other.e_ncf = s.e_ncf AND other.submission_id >= forty_days_before(b.subject)
                               AND other.submission_id >= $6 AND other.submission_id <= $5
                               AND other.submission_id < b.subject AND other.root IN ('ECF', 'RFCE')
                               AND other.status <> 'error' AND other.number_fate <> 'reusable') AS one
                     WHERE s.root IN ('ECF', 'RFCE')
                   ) AS same ON s.e_ncf IS NOT NULL
            $sign$
        WHEN 'send' THEN $send$
            SELECT jsonb_agg(jsonb_build_array(
                       b.n, s.root, s.e_ncf, s.issuer_rnc, s.buyer_rnc, s.certificate_id, outgoing.content,
                       outgoing.kind = 'sent'))
              FROM unnest($1, $2, $3) WITH ORDINALITY AS b (tenant_id, subject, environment, n)
              JOIN %1$s AS s
                ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject AND s.submission_id BETWEEN $4 AND $5
              -- `sent` is there when the authority gets something other than `signed`; it comes first in the alphabet.
              LEFT JOIN LATERAL (
                    SELECT d.kind, CASE WHEN octet_length(d.content) <= 65536 THEN d.content::text END AS content
                      FROM %2$s AS d
                     WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.kind IN ('sent', 'signed')
                       AND d.submission_id BETWEEN $4 AND $5
                     ORDER BY d.kind
                     LIMIT 1) AS outgoing ON true
            $send$
        WHEN 'track' THEN $track$
            SELECT jsonb_agg(jsonb_build_array(
                       b.n, s.e_ncf, s.certificate_id, s.track_id, s.number_fate = 'unknown'))
              FROM unnest($1, $2, $3) WITH ORDINALITY AS b (tenant_id, subject, environment, n)
              JOIN %1$s AS s
                ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject AND s.submission_id BETWEEN $4 AND $5
            $track$
        END,
        p_names ->> 'submissions', p_names ->> 'submission_documents', p_names ->> 'sequences', p_names ->> 'held_numbers')
       INTO found
      USING p_tenants, p_subjects, p_environments, span.first, span.last, since;
    RETURN coalesce(found, '[]');
END
$$;

-- On a node: the same of those shards of the outbox that are here. The anchor is only the way there (due.sql).
CREATE OR REPLACE FUNCTION input_on_node(
    p_anchor bigint, p_stage text, p_shards bigint[], p_tenants bigint[], p_subjects uuid[], p_environments text[]
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    names jsonb;
    found jsonb := '[]';
BEGIN
    FOR names IN
        SELECT jsonb_object_agg(c.logicalrelid::text, format('%I', c.logicalrelid::text || '_' || c.shardid))
          FROM pg_dist_shard AS s
          JOIN pg_dist_placement AS p ON p.shardid = s.shardid
          JOIN pg_dist_local_group AS here ON here.groupid = p.groupid
          JOIN pg_dist_shard AS c ON c.shardminvalue = s.shardminvalue
         WHERE s.shardid = ANY (p_shards)
           AND c.logicalrelid = ANY (ARRAY['submissions', 'submission_documents', 'sequences', 'held_numbers']::regclass[])
         GROUP BY s.shardid
    LOOP
        found := found || input_in_shard(names, p_stage, p_tenants, p_subjects, p_environments);
    END LOOP;
    RETURN found;
END
$$;

-- The same of all nodes that have rows of these claims: of each that was found its place among them, from 1, and what there is.
CREATE OR REPLACE FUNCTION input_of(p_stage text, p_claims claimed[], p_environments text[])
RETURNS TABLE (
    place int, format text, root text, ecf_type text, e_ncf text, as_user text, as_user_id uuid, issuer_rnc text,
    buyer_rnc text, certificate_id uuid, track_id text, content bytea, is_summary boolean, maybe_adopted boolean,
    sequence_expires timestamptz, holders uuid[], holders_issuers text[]
)
LANGUAGE plpgsql ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    asked record;
    nodes bigint[];
    answer jsonb;
    v jsonb;
BEGIN
    SELECT array_agg(x.tenant_id ORDER BY x.n) AS tenants, array_agg(x.subject ORDER BY x.n) AS subjects,
           array_agg(p_environments[x.lane] ORDER BY x.n) AS environments, array_agg(x.n::int ORDER BY x.n) AS places,
           array_agg(DISTINCT get_shard_id_for_distribution_column('outbox', x.tenant_id)) AS shards
      INTO asked
      FROM unnest(p_claims) WITH ORDINALITY
           AS x (lane, due, tenants, shares, tenant_id, subject, attempt, epoch, deaths, waited, last_error, n)
     WHERE x.tenant_id IS NOT NULL;
    -- Of each node that has one of these shards an anchor. A node without one is not asked: handlers read for themselves.
    SELECT array_agg(n.anchor) INTO nodes
      FROM (SELECT min(a.anchor) AS anchor
              FROM anchored_shards AS a
              JOIN pg_dist_placement AS p ON p.shardid = a.shard
             WHERE p.groupid IN (SELECT q.groupid FROM pg_dist_placement AS q WHERE q.shardid = ANY (asked.shards))
             GROUP BY p.groupid) AS n;
    IF nodes IS NULL THEN
        RETURN;
    END IF;
    FOR answer IN
        SELECT input_on_node(a.anchor, p_stage, asked.shards, asked.tenants, asked.subjects, asked.environments)
          FROM anchors AS a
         WHERE a.anchor = ANY (nodes)
    LOOP
        FOR v IN SELECT jsonb_array_elements(answer) LOOP
            place := asked.places[(v ->> 0)::int];
            IF p_stage = 'sign' THEN
                format := v ->> 1; root := v ->> 2; ecf_type := v ->> 3; e_ncf := v ->> 4; as_user := v ->> 5;
                as_user_id := v ->> 6; content := v ->> 7; sequence_expires := v ->> 8; holders := v ->> 9;
                holders_issuers := v ->> 10;
            ELSIF p_stage = 'send' THEN
                root := v ->> 1; e_ncf := v ->> 2; issuer_rnc := v ->> 3; buyer_rnc := v ->> 4; certificate_id := v ->> 5;
                content := v ->> 6; is_summary := v ->> 7;
            ELSE
                e_ncf := v ->> 1; certificate_id := v ->> 2; track_id := v ->> 3; maybe_adopted := v ->> 4;
            END IF;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION input_in_shard, input_on_node, input_of TO fe_worker;
