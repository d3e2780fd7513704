-- A replay plan has one canary (`canary` is 1) or none. Rows that failed before an operator went on are released last.
--
-- `canary_of_lane` is for the release before; the next one drops it.

DROP INDEX replay_items_waiting;

CREATE INDEX replay_items_waiting ON replay_items (plan_id, passed_over, turn) WHERE released_at IS NULL;
