-- The record of the function sets that were applied, and the end of what earlier migrations kept for earlier releases.

CREATE TABLE applied_functions (
    -- SHA-256 of the set (fe/store/postgres/functions.py).
    digest bytea NOT NULL,
    -- SHA-256 of each file, by its path. Those of the newest row are in force.
    files jsonb NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT applied_functions_pk PRIMARY KEY (digest)
);

GRANT SELECT ON applied_functions TO fe_front, fe_worker, fe_operator, fe_readonly, fe_reception, fe_portal;

-- Only databases that are older than the baseline have what follows. Nothing calls it any more.
DROP VIEW IF EXISTS schema_migrations;

ALTER INDEX IF EXISTS schema_migrations_pkey RENAME TO applied_migrations_pkey;

DO $$
DECLARE
    dead text;
BEGIN
    FOR dead IN
        SELECT p.oid::regprocedure::text
          FROM pg_proc AS p
         WHERE p.pronamespace = current_schema()::regnamespace
           AND (p.proname IN ('advance_batch', 'attempts_after', 'book_dead_letter', 'book_doubt', 'book_failure',
                              'book_not_sent', 'book_number_taken', 'book_processing', 'book_received', 'book_resend',
                              'book_retry', 'book_signed', 'book_verdict', 'close_sends', 'hold_number', 'intend_to_send',
                              'step_off', 'step_on')
                OR (p.proname = 'discard_dead_letter' AND p.pronargs = 5))
    LOOP
        EXECUTE format('DROP FUNCTION %s', dead);
    END LOOP;
END
$$;
