-- Which releases may run on a database, and what an operator's reason is not: the client's to read.

-- The book of what was applied says, beside each migration, from which one on code goes on working with it. The book gets
-- a new name, because the release whose newest migration is 0008 takes anything that it does not know for a reason to stop
-- serving: under the old name it goes on finding what it knows, and so runs beside this one, and can be gone back to.
-- Nobody asks for the old name once that release is gone: the one after this may drop the view.
ALTER TABLE schema_migrations RENAME TO applied_migrations;

ALTER TABLE applied_migrations ADD COLUMN works_from int;

UPDATE applied_migrations SET works_from = least(number, 8);

ALTER TABLE applied_migrations ALTER COLUMN works_from SET NOT NULL;

CREATE VIEW schema_migrations AS
SELECT
    m.number,
    m.name,
    m.digest,
    m.applied_at
FROM applied_migrations AS m
WHERE m.number <= 8;

GRANT SELECT ON schema_migrations TO fe_front, fe_worker, fe_operator, fe_readonly;

-- Give a dead letter up: `error` to its client, with the note that was written for it, if any; the reason stays on our
-- side, in the event and in the operators' book. The number is free again only if certainly nothing went out.
CREATE FUNCTION discard_dead_letter(
    p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text, p_note text
)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    last_error text;
    fate text;
BEGIN
    DELETE FROM dead_letters AS d
     WHERE d.tenant_id = p_tenant AND d.subject = p_subject
    RETURNING d.error INTO last_error;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    fate := CASE WHEN EXISTS (
        SELECT 1 FROM sends AS x
         WHERE x.tenant_id = p_tenant AND x.submission_id = p_subject AND x.outcome <> 'not_sent')
        THEN 'unknown' ELSE 'reusable' END;
    UPDATE submissions AS s
       SET status = 'error', number_fate = fate, updated_at = p_at,
           response = coalesce(s.response, '{}'::jsonb)
                      || jsonb_build_object('status', 'error', 'dgiiResponse', s.response -> 'dgiiResponse',
                                            'error', 'given up by an operator' || coalesce(': ' || p_note, '')
                                                     || ' (' || last_error || ')')
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'discarded',
                         jsonb_build_object('by', p_by, 'reason', p_reason, 'note', p_note, 'numberFate', fate));
    RETURN fate;
END
$$;

-- The release before gives no note, and its reasons are the client's to read no longer either.
CREATE OR REPLACE FUNCTION discard_dead_letter(
    p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text
)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN discard_dead_letter(p_tenant, p_subject, p_at, p_by, p_reason, NULL);
END
$$;

GRANT EXECUTE ON FUNCTION discard_dead_letter(bigint, uuid, timestamptz, text, text, text) TO fe_operator;

-- Of each of the authority's hosts and environments so many rows go first, and again after an operator has seen failures
-- and goes on: `canary` of the plan is the turn of the last of these.
ALTER TABLE replay_plans ADD COLUMN canary_of_lane int;

-- An operator has seen that this one failed, and went on: it stops nothing any more.
ALTER TABLE replay_items ADD COLUMN passed_over boolean NOT NULL DEFAULT false;
