-- Operators' record of the erasure of a tenant's receipts (sql/functions/tenants/erase_tenant.sql), and of months that
-- leave the database or come back (`fe archive detach`, `fe archive restore`).

ALTER TABLE operator_actions
DROP CONSTRAINT operator_actions_known,
ADD CONSTRAINT operator_actions_known CHECK (
    action IN (
        'replay', 'discard', 'pause', 'resume', 'plan', 'billing enable', 'billing disable', 'billing price',
        'billing retry', 'tenant disable', 'tenant enable', 'tenant update', 'tenant erase', 'user remove',
        'certificate retire', 'certificate remove', 'plan stop', 'plan go on', 'lockout lift', 'tenant create',
        'owner invite', 'delegation record', 'delegation withdraw', 'archive detach', 'archive restore',
        'ask replay', 'ask discard', 'ask tenant disable', 'ask billing enable', 'ask billing price',
        'approve replay', 'approve discard', 'approve tenant disable', 'approve billing enable',
        'approve billing price', 'refuse replay', 'refuse discard', 'refuse tenant disable', 'refuse billing enable',
        'refuse billing price'
    )
);
