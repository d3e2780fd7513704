-- Actions of operators. Each is one transaction with its record.

-- Everything operators did, whole plans too. Append-only: no role that works with it may change or delete.
CREATE TABLE operator_actions (
    action_id uuid NOT NULL,
    at timestamptz NOT NULL,
    by_whom text NOT NULL,
    action text NOT NULL,
    reason text NOT NULL,
    tenant_id bigint,
    subject uuid,
    detail jsonb NOT NULL DEFAULT '{}',
    -- The session's user; `by_whom` is the name that the command was given. NULL: an action older than this column.
    login text DEFAULT session_user,
    CONSTRAINT operator_actions_pk PRIMARY KEY (action_id),
    CONSTRAINT operator_actions_reason_given CHECK (length(reason) BETWEEN 1 AND 1000),
    CONSTRAINT operator_actions_known CHECK (
        action IN (
        'replay', 'discard', 'pause', 'resume', 'plan', 'billing enable', 'billing disable', 'billing price',
        'billing retry', 'tenant disable', 'tenant enable', 'tenant update', 'user remove', 'certificate retire',
        'certificate remove', 'plan stop', 'plan go on', 'lockout lift', 'tenant create', 'owner invite',
        'delegation record', 'delegation withdraw',
        'ask replay', 'ask discard', 'ask tenant disable', 'ask billing enable', 'ask billing price',
        'approve replay', 'approve discard', 'approve tenant disable', 'approve billing enable',
        'approve billing price', 'refuse replay', 'refuse discard', 'refuse tenant disable', 'refuse billing enable',
        'refuse billing price'
        )
        )
);

CREATE INDEX operator_actions_by_time ON operator_actions (at);

-- Replays of many rows. A crash does not end one: the same plan id continues where it stopped.
CREATE TABLE replay_plans (
    plan_id text NOT NULL,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    reason text NOT NULL,
    -- Rows released first; the rest follow when these have ended well.
    canary int NOT NULL,
    canaries_passed boolean NOT NULL,
    per_second numeric NOT NULL,
    -- The pace is kept here, so that it holds however many run the plan, and after whatever crash.
    next_release_at timestamptz NOT NULL DEFAULT '-infinity',
    stop_on_failure boolean NOT NULL,
    finished_at timestamptz,
    -- Canary rows of each host and environment of the authority, also after an operator continues; `canary` is the turn
    -- of the last of them.
    canary_of_lane int,
    -- The service carries on a plan that was begun in the portal. A failure stops it until an operator has seen it.
    carried_on boolean NOT NULL DEFAULT false,
    halted_at timestamptz,
    halted_because text,
    CONSTRAINT replay_plans_pk PRIMARY KEY (plan_id),
    CONSTRAINT replay_plans_id_form CHECK (plan_id ~ '^[A-Za-z0-9_.-]{1,64}$'),
    CONSTRAINT replay_plans_pace CHECK (canary >= 0 AND per_second > 0)
);

CREATE INDEX replay_plans_by_age ON replay_plans (created_at);

CREATE INDEX replay_plans_to_do ON replay_plans (created_at)
WHERE carried_on AND finished_at IS NULL AND halted_at IS NULL;

CREATE TABLE replay_items (
    tenant_id bigint NOT NULL,
    plan_id text NOT NULL,
    subject uuid NOT NULL,
    -- The order of release.
    turn int NOT NULL,
    released_at timestamptz,
    -- The stage it was released to; NULL when it was no dead letter any more by then.
    released_to text,
    -- An operator has seen this failure and continued: it no longer stops the plan.
    passed_over boolean NOT NULL DEFAULT false,
    CONSTRAINT replay_items_pk PRIMARY KEY (tenant_id, plan_id, subject),
    CONSTRAINT replay_items_plan_fk FOREIGN KEY (plan_id) REFERENCES replay_plans (plan_id)
);

CREATE INDEX replay_items_by_turn ON replay_items (plan_id, turn);

CREATE INDEX replay_items_waiting ON replay_items (plan_id, turn) WHERE released_at IS NULL;

-- Changes of the installation, as a hash chain that no role can write or change.
--
-- Each hash covers the link before, and constraints of the table enforce it: only its owner could change, remove or
-- insert a link. A cut-off end shows against any hash that was noted before.
CREATE TABLE audit_trail (
    number bigint NOT NULL,
    -- The entry as JSON, kept as the text that was hashed, without secrets or their hashes.
    entry text NOT NULL,
    previous bytea,
    hash bytea NOT NULL,
    CONSTRAINT audit_trail_pk PRIMARY KEY (number),
    CONSTRAINT audit_trail_hash_unique UNIQUE (hash),
    CONSTRAINT audit_trail_one_follows UNIQUE (previous),
    CONSTRAINT audit_trail_chain FOREIGN KEY (previous) REFERENCES audit_trail (hash),
    CONSTRAINT audit_trail_begins_once CHECK ((previous IS NULL) = (number = 0)),
    CONSTRAINT audit_trail_hash_right CHECK (hash = sha256(coalesce(previous, '') || convert_to(entry, 'UTF8')))
);

-- The first link.
INSERT INTO audit_trail (number, entry, hash)
SELECT
    0 AS number,
    b.entry,
    sha256(convert_to(b.entry, 'UTF8')) AS hash
FROM (SELECT jsonb_build_object('number', 0, 'act', 'begin', 'at', now())::text AS entry) AS b;

-- Actions on many rows, and costly ones: recorded before they are done, so that a second operator can approve exactly
-- that, and a crash leaves them to be continued (docs/operators.md).
CREATE TABLE pending_actions (
    action_id uuid NOT NULL,
    -- `replay`, `discard`, `tenant disable`, `billing enable` or `billing price`.
    kind text NOT NULL,
    -- The one tenant that it is about, where it is about one.
    tenant_id bigint,
    -- The request as JSON, whose digest is taken. Dead letters are named with the moment they died.
    request text NOT NULL,
    digest bytea NOT NULL,
    row_count int NOT NULL,
    asked_by text NOT NULL,
    -- `portal` or `cli`: the same name is another operator there.
    asked_through text NOT NULL,
    asked_at timestamptz NOT NULL,
    reason text NOT NULL,
    expires_at timestamptz NOT NULL,
    -- `approved`, `refused`, or `alone`: the installation asks for no second person.
    decision text,
    decided_by text,
    decided_at timestamptz,
    -- Rows done so far; `outcome` at the end.
    rows_done int NOT NULL DEFAULT 0,
    outcome jsonb NOT NULL DEFAULT '{}',
    executed_at timestamptz,
    CONSTRAINT pending_actions_pk PRIMARY KEY (action_id),
    CONSTRAINT pending_actions_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT pending_actions_decision_known CHECK (decision IN ('approved', 'refused', 'alone')),
    CONSTRAINT pending_actions_decided CHECK (
        (decision IS NULL) = (decided_by IS NULL) AND (decision IS NULL) = (decided_at IS NULL)
        ),
    CONSTRAINT pending_actions_second_person CHECK (decision <> 'approved' OR decided_by <> asked_by),
    CONSTRAINT pending_actions_executed CHECK (executed_at IS NULL OR decision IN ('approved', 'alone')),
    CONSTRAINT pending_actions_reason_length CHECK (length(reason) BETWEEN 1 AND 1000)
);

CREATE INDEX pending_actions_by_age ON pending_actions (asked_at);

CREATE INDEX pending_actions_to_do ON pending_actions (asked_at) WHERE executed_at IS NULL AND decision <> 'refused';

-- How much one operator may do alone: kept here, and not in a setting of those whom it binds. Only the owner of the tables
-- changes it (`fe approval limit`). 0: everything may be done alone.
CREATE TABLE second_person (
    only_row boolean NOT NULL DEFAULT true,
    -- Replays and discards of more dead letters than this take two; with any limit, disabling a tenant and prices do.
    more_than int NOT NULL DEFAULT 0,
    CONSTRAINT second_person_pk PRIMARY KEY (only_row),
    CONSTRAINT second_person_one_row CHECK (only_row),
    CONSTRAINT second_person_not_negative CHECK (more_than >= 0)
);

INSERT INTO second_person (more_than) VALUES (0);
