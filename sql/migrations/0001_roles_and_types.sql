-- The roles of the service, what each may do by default, and the types that tables share.
--
-- Six roles without a login; a process takes one when it connects:
--   fe_front      the HTTP front: sees the rows of the tenant that its transaction names, and none without a name
--   fe_portal     the portal: the same, and what people set up
--   fe_reception  what suppliers call: adds what it receives, for one tenant at a time
--   fe_worker     the actors, which serve all tenants
--   fe_operator   the command line: provisioning, dead letters, evidence
--   fe_readonly   reports
-- The owner changes tables and, under FORCE ROW LEVEL SECURITY, sees no tenant's rows.

-- Roles belong to the server: another database may have created them before, or is creating them now.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['fe_front', 'fe_worker', 'fe_operator', 'fe_readonly', 'fe_reception', 'fe_portal'] LOOP
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
                                       'fe_operator, fe_readonly, fe_reception and fe_portal, all NOLOGIN, '
                                       'then migrate again';
            END;
        END IF;
    END LOOP;
END
$$;

-- A role has no right that is not granted, neither now nor to what the same owner creates later.
DO $$
BEGIN
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', current_schema());
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO fe_front, fe_worker, fe_operator, fe_readonly, fe_reception, fe_portal',
                   current_schema());
END
$$;

ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM public;

-- For the gauge of the oldest open transaction. Where the owner may not grant it, an administrator may do so later.
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

-- Temporary tables and large objects can fill the disk, and a large object lies outside every policy. Only the owner of the
-- database and an administrator may revoke these rights. Where `fe migrate` runs as neither, `fe doctor` reports what is left
-- to do (docs/operations.md).
DO $$
DECLARE
    made_of text;
BEGIN
    IF EXISTS (
        SELECT 1 FROM pg_database AS d WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'USAGE')
    ) THEN
        EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    END IF;
    FOR made_of IN
        SELECT p.oid::regprocedure::text
          FROM pg_proc AS p
         WHERE p.pronamespace = 'pg_catalog'::regnamespace
           AND (p.proname LIKE 'lo\_%' OR p.proname IN ('loread', 'lowrite'))
           AND pg_has_role(p.proowner, 'USAGE')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION pg_catalog.%s FROM PUBLIC', made_of);
    END LOOP;
END
$$;

-- Every key of a tenant's data begins with tenant_id, so that all of a tenant can live on one node. `tenants`, `users`
-- and `api_keys` are read-mostly and are looked up before the tenant is known: keep columns that change often out of
-- them.

-- The codes that columns hold. A domain's rule is looked at when a value is put in, and is read and compiled once for a
-- session; a CHECK of a table would be read from its text and compiled again by every statement that touches a row,
-- whichever column it changes. Compared byte by byte: no language's order is wanted in the indexes that they stand in.
CREATE DOMAIN environment AS text COLLATE "C"
CONSTRAINT environment_known CHECK (value IN ('ecf', 'certecf', 'testecf'));

CREATE DOMAIN submission_format AS text COLLATE "C"
CONSTRAINT submission_format_known CHECK (value IN ('xml', 'structured'));

CREATE DOMAIN document_root AS text COLLATE "C"
CONSTRAINT document_root_known CHECK (value IN ('ECF', 'RFCE', 'ACECF', 'ANECF'));

CREATE DOMAIN document_kind AS text COLLATE "C"
CONSTRAINT document_kind_known CHECK (value IN ('original', 'signed', 'sent'));

CREATE DOMAIN submission_status AS text COLLATE "C"
CONSTRAINT submission_status_known CHECK (
    value IN ('queued', 'En Proceso', 'Aceptado', 'Aceptado Condicional', 'Rechazado', 'error')
);

CREATE DOMAIN number_fate AS text COLLATE "C"
CONSTRAINT number_fate_known CHECK (value IN ('reserved', 'used', 'reusable', 'unknown', 'void'));

CREATE DOMAIN send_outcome AS text COLLATE "C"
CONSTRAINT send_outcome_known CHECK (
    value IN ('intended', 'received', 'refused', 'not_sent', 'unknown', 'not_known')
);

CREATE DOMAIN stage AS text COLLATE "C"
CONSTRAINT stage_known CHECK (value IN ('sign', 'send', 'track', 'reconcile'));

-- Which of the authority's hosts a step needs; '' before that is known.
CREATE DOMAIN host AS text COLLATE "C"
CONSTRAINT host_known CHECK (value IN ('', 'ecf', 'fc'));

-- Claiming in one call: which tenants are served, the claim for all lanes of a stage, and what their next step needs.

-- A claimed row, or, where tenant_id is NULL, the summary of a lane.
CREATE TYPE claimed AS (
    -- Which of the lanes that were asked for, from 1.
    lane int,
    -- Of the lane: how many tenants have work due, as far as one look goes; who of them was served, and each one's share.
    due int,
    tenants bigint [],
    shares int [],
    tenant_id bigint,
    subject uuid,
    attempt int,
    epoch bigint,
    deaths int,
    waited interval,
    last_error text
);

CREATE TYPE portal_role AS ENUM ('owner', 'member', 'accountant');

-- A range that a sequence had: documents with its numbers may still wait when the next range is entered.

-- 1. There is one row for each prefix, and the next range is entered into it while documents wait with numbers of the one before: these
-- were dated by the end of the next, which the authority refuses. So a sequence remembers the ranges that it had.
CREATE TYPE former_range AS (min_number bigint, max_number bigint, expire_at timestamptz);
