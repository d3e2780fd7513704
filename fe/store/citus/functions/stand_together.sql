-- Give up standing alone: what follows is one transaction.
CREATE OR REPLACE FUNCTION stand_together() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('fe.alone', 'off', true);
    PERFORM set_config('citus.function_opens_transaction_block', 'on', true);
END
$$;

GRANT EXECUTE ON FUNCTION stand_together TO fe_front, fe_portal, fe_worker, fe_operator;
