-- Have a change of a coordinator's table commit in two phases with the nodes. Citus does so only for tables that it
-- knows: this changes one of those in name. Runs with its owner's rights, so no role needs any to that table.
CREATE OR REPLACE FUNCTION commit_in_two_phases() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    UPDATE two_phases SET one = one WHERE one = 0;
    RETURN NULL;
END
$$;
