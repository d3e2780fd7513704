-- Who may do what, and the second wall between tenants: row-level security, behind the `tenant_id` of every statement.
--
-- Four roles without a login; logins are made members of them, and each process takes one at connecting:
--   fe_front     the HTTP front: sees the tenant that its transaction names, and without a name nobody's rows
--   fe_worker    the actors, which serve all tenants
--   fe_operator  the command line: provisioning, dead letters, evidence
--   fe_readonly  reports, and people who look
-- The owner changes the shape of the tables and, under FORCE, sees no tenant's rows either.

-- Roles belong to the whole server: another database of it may have made them before, or makes them right now.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['fe_front', 'fe_worker', 'fe_operator', 'fe_readonly'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION
                WHEN duplicate_object OR unique_violation THEN
                    NULL;
                WHEN insufficient_privilege THEN
                    RAISE EXCEPTION 'the role % is missing and % may not create roles', wanted, current_user
                          USING ERRCODE = 'insufficient_privilege',
                                HINT = 'let an administrator of the server run CREATE ROLE for fe_front, fe_worker, '
                                       'fe_operator and fe_readonly, all NOLOGIN, then migrate again';
            END;
        END IF;
    END LOOP;
END
$$;

-- Nobody has a right that was not granted below, today or by a later migration of the same owner.
DO $$
DECLARE
    here text := current_schema();
BEGIN
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM PUBLIC', here);
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA %I FROM PUBLIC', here);
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM PUBLIC', here);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', here);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO fe_front, fe_worker, fe_operator, fe_readonly', here);
    -- Months are made by whoever comes first, as the owner; a fixed path, so that no name in it can be slipped under.
    EXECUTE format('ALTER FUNCTION ensure_month(timestamptz) SECURITY DEFINER SET search_path = %I, pg_temp', here);
END
$$;

ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM public;

-- How long the oldest transaction of any session has been open is shown to those who may read statistics. That gauge
-- is not worth a migration that fails: an administrator may grant it later.
DO $$
BEGIN
    IF NOT pg_has_role('fe_worker', 'pg_read_all_stats', 'MEMBER') THEN
        GRANT pg_read_all_stats TO fe_worker;
    END IF;
EXCEPTION
    WHEN insufficient_privilege OR unique_violation THEN
        NULL;
END
$$;

GRANT SELECT ON schema_migrations TO fe_front, fe_worker, fe_operator, fe_readonly;

-- Rights are granted on the partitioned tables alone: a partition asked directly would be a way around the wall.

GRANT SELECT ON tenants, users, api_keys, billing_accounts TO fe_front;
GRANT SELECT, INSERT, UPDATE, DELETE ON sequences, login_attempts TO fe_front;
GRANT SELECT, INSERT ON submissions, client_requests, submission_documents, submission_events TO fe_front;
GRANT SELECT, INSERT, UPDATE ON request_counts, api_key_uses TO fe_front;
-- It hands work in and counts what waits, for the gauges; whose work it is it cannot ask.
GRANT INSERT, SELECT (stage, environment, run_at) ON outbox TO fe_front;

GRANT SELECT ON tenants, users, certificates, sequences, pauses, api_key_uses TO fe_worker;
GRANT SELECT, UPDATE ON submissions TO fe_worker;
GRANT SELECT, INSERT ON submission_documents, submission_events, dead_letters TO fe_worker;
GRANT SELECT, INSERT, UPDATE ON sends, circuits TO fe_worker;
GRANT SELECT, UPDATE, DELETE ON outbox TO fe_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON workers TO fe_worker;

GRANT SELECT, INSERT ON tenants, users, api_keys, outbox, submission_events, operator_actions TO fe_operator;
GRANT UPDATE (revoked_at) ON api_keys TO fe_operator;
-- The sealed bytes too: who asks the authority about a dead letter does so with the tenant's certificate.
GRANT SELECT, INSERT, UPDATE (retired_at) ON certificates TO fe_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON sequences TO fe_operator;
GRANT SELECT, INSERT, UPDATE ON billing_accounts, replay_plans, replay_items TO fe_operator;
GRANT SELECT, UPDATE ON submissions TO fe_operator;
GRANT SELECT ON submission_documents, sends, workers, circuits TO fe_operator;
GRANT SELECT, DELETE ON dead_letters, login_attempts TO fe_operator;
GRANT SELECT, INSERT, DELETE ON pauses TO fe_operator;

GRANT SELECT ON
tenants, users, sequences, submissions, client_requests, submission_documents, submission_events, sends, outbox,
dead_letters, workers, circuits, pauses, request_counts, api_key_uses, billing_accounts, operator_actions, replay_plans,
replay_items
TO fe_readonly;
GRANT SELECT (
    tenant_id, certificate_id, user_id, holder, holder_id, serial_number, not_before, not_after, created_at, retired_at
) ON certificates TO fe_readonly;
GRANT SELECT (
    api_key_id, tenant_id, environment, scopes, name, created_at, expires_at, revoked_at
) ON api_keys TO fe_readonly;

GRANT EXECUTE ON FUNCTION uuid_floor TO fe_front, fe_worker, fe_operator, fe_readonly;
GRANT EXECUTE ON FUNCTION record_event, event_hash TO fe_front, fe_worker, fe_operator;
GRANT EXECUTE ON FUNCTION accept_submission, refuse_to_draw, attempts_after, count_attempt, login_attempt TO fe_front;
GRANT EXECUTE ON FUNCTION count_requests, note_key_use TO fe_front;
GRANT EXECUTE ON FUNCTION ensure_month, step_on, step_off, close_sends, intend_to_send TO fe_worker;
GRANT EXECUTE ON FUNCTION book_retry, book_dead_letter, book_failure, book_signed, book_not_sent TO fe_worker;
GRANT EXECUTE ON FUNCTION book_received, book_doubt, book_resend, book_processing, book_verdict TO fe_worker;
GRANT EXECUTE ON FUNCTION replay_dead_letter, discard_dead_letter TO fe_operator;

-- The wall: around every table that has a tenant, so that none is forgotten.
DO $$
DECLARE
    walled text;
BEGIN
    FOR walled IN
        SELECT c.relname
          FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format('CREATE POLICY every_tenant ON %I TO fe_worker, fe_operator USING (true)', walled);
        EXECUTE format('CREATE POLICY every_tenant_read ON %I FOR SELECT TO fe_readonly USING (true)', walled);
        -- A setting that was made once and forgotten reads as empty, not as missing.
        EXECUTE format('CREATE POLICY own_tenant ON %I TO fe_front
                        USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)', walled);
    END LOOP;
END
$$;

-- Two gates in it. A key is looked up by its id before anybody knows whose it is.
CREATE POLICY before_the_tenant_is_known ON api_keys FOR SELECT TO fe_front USING (true);

-- Of the rows that wait the front may read three columns, none of which tells whose they are.
CREATE POLICY counted ON outbox FOR SELECT TO fe_front USING (true);
