"""The roles of the database: what each kind of process may do there (docs/decisions/row-level-security.md)."""

#: The HTTP front: sees one tenant at a time (fe/store/postgres/tenant_scope.py).
FRONT = "fe_front"
#: The actors, which serve all tenants.
WORKER = "fe_worker"
#: The command line.
OPERATOR = "fe_operator"
#: Reports, and people who look. None of our processes takes it.
READONLY = "fe_readonly"
#: What suppliers talk to: adds what it receives, sees one tenant at a time (sql/0018_received.sql).
RECEPTION = "fe_reception"

#: What people use with a browser: for one tenant at a time what the front may, and setting up (sql/0032_portal.sql).
PORTAL = "fe_portal"

EVERY = (FRONT, WORKER, OPERATOR, READONLY, RECEPTION, PORTAL)
