-- Discard a dead letter: status `error` for its client, with the note if there is one. The reason goes to the event and
-- the operators' record alone. The number is free again only if certainly nothing was sent and
-- it was not voided meanwhile.
CREATE OR REPLACE FUNCTION discard_dead_letter(
    p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text, p_note text
)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    last_error text;
    fate text;
    given_up record;
    is_void boolean;
    said jsonb;
BEGIN
    DELETE FROM dead_letters AS d
     WHERE d.tenant_id = p_tenant AND d.subject = p_subject
    RETURNING d.error INTO last_error;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT s.environment, s.e_ncf, s.root, s.response INTO given_up
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject
       FOR UPDATE;
    is_void := given_up.root IN ('ECF', 'RFCE')
               AND voiding_of(p_tenant, given_up.environment, given_up.e_ncf) IS NOT NULL;
    fate := CASE WHEN EXISTS (
        SELECT 1 FROM sends AS x
         WHERE x.tenant_id = p_tenant AND x.submission_id = p_subject AND x.outcome <> 'not_sent')
        THEN 'unknown' WHEN is_void THEN 'used' ELSE 'reusable' END;
    -- Built here: Citus does not push jsonb_build_object() of a column to a node.
    said := coalesce(given_up.response, '{}'::jsonb)
            || jsonb_build_object('status', 'error', 'dgiiResponse', given_up.response -> 'dgiiResponse',
                                  'error', 'given up by an operator' || coalesce(': ' || p_note, '')
                                           || ' (' || last_error || ')');
    UPDATE submissions AS s
       SET status = 'error', number_fate = fate, updated_at = p_at, response = said
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'discarded',
                         jsonb_build_object('by', p_by, 'reason', p_reason, 'note', p_note, 'numberFate', fate));
    PERFORM return_numbers(ARRAY[p_tenant], ARRAY[p_subject]);
    PERFORM note_ends(ARRAY[p_tenant], ARRAY[p_subject], p_at);
    RETURN fate;
END
$$;

GRANT EXECUTE ON FUNCTION discard_dead_letter TO fe_operator;
