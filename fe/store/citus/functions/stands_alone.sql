-- Whether the call stands alone: it is the whole transaction, on one node, and the node has committed when it answers.
CREATE OR REPLACE FUNCTION stands_alone() RETURNS boolean LANGUAGE sql STABLE
RETURN current_setting('fe.alone', true) IS NOT DISTINCT FROM 'on';

GRANT EXECUTE ON FUNCTION stands_alone TO fe_front, fe_portal, fe_worker, fe_operator;
