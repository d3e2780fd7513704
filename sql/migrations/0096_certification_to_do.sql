-- The act that mends a run that stopped, by its code in fe/certification/to_do.py. NULL where a release before wrote it
-- into the reason.
ALTER TABLE certification_runs ADD COLUMN to_do text COLLATE "C";
GRANT UPDATE (to_do) ON certification_runs TO fe_front, fe_worker;

-- `fe certification sign` keeps its files beside those that were signed in the portal.
GRANT INSERT ON certification_tasks TO fe_operator;
