-- What operators do with many rows at once, or what costs a customer dear: written down as a whole before it is done, so that
-- a second person may look at exactly that, and whoever crashes on the way leaves it to be carried on (docs/operators.md).

CREATE TABLE pending_actions (
    action_id uuid NOT NULL,
    -- `replay`, `discard`, `tenant disable`, `billing enable` or `billing price`.
    kind text NOT NULL,
    -- The one tenant that it is about, where it is about one.
    tenant_id bigint,
    -- What exactly, as JSON text: it is this text that is digested. Dead letters are named with when they died.
    request text NOT NULL,
    digest bytea NOT NULL,
    row_count int NOT NULL,
    asked_by text NOT NULL,
    -- `portal` or `cli`: whoever goes by a name there is nobody by that name here.
    asked_through text NOT NULL,
    asked_at timestamptz NOT NULL,
    reason text NOT NULL,
    expires_at timestamptz NOT NULL,
    -- `approved`, `refused`, or `alone`: the installation asks for no second person.
    decision text,
    decided_by text,
    decided_at timestamptz,
    -- How far it is: so many rows are looked at; at the end what came of it.
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

-- The trail has who asked and who decided; what was asked is there by its digest.
CREATE FUNCTION note_pending_action() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    last record;
    added text;
BEGIN
    PERFORM pg_advisory_xact_lock(7305737267200);
    SELECT a.number, a.hash INTO last FROM audit_trail AS a ORDER BY a.number DESC LIMIT 1;
    added := jsonb_build_object(
        'number', last.number + 1,
        'at', clock_timestamp(),
        'login', session_user,
        'act', TG_TABLE_NAME || ' ' || lower(TG_OP),
        'row', to_jsonb(NEW) - 'request');
    INSERT INTO audit_trail (number, entry, previous, hash)
    VALUES (last.number + 1, added, last.hash, sha256(last.hash || convert_to(added, 'UTF8')));
    RETURN NULL;
END
$$;

CREATE TRIGGER pending_actions_audited AFTER INSERT OR UPDATE OF decision, executed_at ON pending_actions
FOR EACH ROW EXECUTE FUNCTION note_pending_action();

-- A plan that was begun in the portal is carried on by the service. What stopped one keeps it still, whoever runs it,
-- until an operator has seen that.
ALTER TABLE replay_plans ADD COLUMN carried_on boolean NOT NULL DEFAULT false;
ALTER TABLE replay_plans ADD COLUMN halted_at timestamptz;
ALTER TABLE replay_plans ADD COLUMN halted_because text;
CREATE INDEX replay_plans_by_age ON replay_plans (created_at);
CREATE INDEX replay_plans_to_do ON replay_plans (created_at)
WHERE carried_on AND finished_at IS NULL AND halted_at IS NULL;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION note_pending_action() SET search_path = %s, pg_temp', current_schema()::regnamespace);
END
$$;

-- A form of operators takes effect once, in the transaction of what it does.
GRANT SELECT, INSERT ON portal_forms TO fe_operator;
GRANT SELECT, INSERT ON pending_actions TO fe_operator;
GRANT UPDATE (decision, decided_by, decided_at, rows_done, outcome, executed_at) ON pending_actions TO fe_operator;
GRANT SELECT ON pending_actions TO fe_readonly;
-- Which process carries plans on.
GRANT INSERT, UPDATE ON duties TO fe_operator;
GRANT EXECUTE ON FUNCTION take_duty TO fe_operator;

ALTER TABLE pending_actions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON pending_actions TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON pending_actions FOR SELECT TO fe_readonly USING (true);

ALTER TABLE operator_actions DROP CONSTRAINT operator_actions_known;

ALTER TABLE operator_actions ADD CONSTRAINT operator_actions_known CHECK (
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
);

-- Neither has a right to it; the wall stands all the same.
CREATE POLICY own_tenant ON pending_actions TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
