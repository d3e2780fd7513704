-- What was given up is listed to the programs of its tenant out of the table that has nothing else, and not by looking at
-- all that the tenant ever handed in. Behind the wall (0008): of the rows of one tenant, which they are.
GRANT SELECT (tenant_id, subject) ON dead_letters TO fe_front;
