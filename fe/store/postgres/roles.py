"""The roles of the database: what each kind of process may do there (docs/decisions/row-level-security.md)."""

from dataclasses import dataclass

import psycopg

from fe.config import Settings

#: The HTTP front: sees one tenant at a time (fe/store/postgres/tenant_scope.py).
FRONT = "fe_front"
#: The actors, which serve all tenants.
WORKER = "fe_worker"
#: The command line.
OPERATOR = "fe_operator"
#: Reports, and people who look. None of our processes takes it.
READONLY = "fe_readonly"
#: For reception: adds received documents, sees one tenant at a time.
RECEPTION = "fe_reception"

#: For the portal: per tenant the rights of the front, and setting up.
PORTAL = "fe_portal"
#: For the buyers' page: reads the shared receipt whose token it is given.
SHARE = "fe_share"

EVERY = (FRONT, WORKER, OPERATOR, READONLY, RECEPTION, PORTAL, SHARE)

#: The programs of each login role and the files of their settings (docs/operations.md, Who is given what).
WORKS_WITH = {
    FRONT: ("fe run --role http", "http.env"),
    WORKER: ("fe run --role actors", "actors.env"),
    RECEPTION: ("fe run --role receive", "reception.env"),
    PORTAL: ("fe run --role portal", "portal.env"),
    SHARE: ("fe run --role share", "share.env"),
    OPERATOR: ("the command line", "operator.env"),
    READONLY: ("reports", "none of our files"),
}

#: The rights of a process, and the database roles for them.
_ROLES = {
    "http": (FRONT,),
    "actors": (WORKER,),
    "receive": (RECEPTION,),
    "portal": (PORTAL,),
    "share": (SHARE,),
    "all": (FRONT, WORKER),
}

_MAY_TAKE = """
    SELECT ARRAY(SELECT r.rolname::text FROM pg_roles AS r
                  WHERE r.rolname = ANY (%s) AND pg_has_role(l.oid, r.oid, 'MEMBER')),
           coalesce(pg_has_role(l.oid, (SELECT relowner FROM pg_class WHERE oid = to_regclass('tenants')), 'MEMBER'),
                    pg_has_role(l.oid, d.datdba, 'MEMBER')),
           l.rolsuper
      FROM pg_roles AS l, pg_database AS d
     WHERE l.rolname = session_user AND d.datname = current_database()
"""


def database_roles(settings: Settings, role: str) -> tuple[str, ...]:
    """List the database roles of a process; those of reception, portal and buyers only where they are bound."""
    roles = list(_ROLES[role])
    if role == "all" and settings.reception_bind:
        roles.append(RECEPTION)
    if role == "all" and settings.portal_bind:
        roles.append(PORTAL)
    if role == "all" and settings.share_bind:
        roles.append(SHARE)
    if PORTAL in roles and settings.portal_operators:
        roles.append(OPERATOR)
    return tuple(roles)


@dataclass(frozen=True, slots=True)
class LoginRights:
    """The rights of a connection's login: the roles it may take, and whether it owns the tables."""

    roles: frozenset[str]
    is_owner: bool
    is_superuser: bool


def rights_of_login(conn: psycopg.Connection) -> LoginRights:
    """Ask what the login of a connection may take. Before the first migration the owner is that of the database."""
    row = conn.execute(_MAY_TAKE, (list(EVERY),)).fetchone()
    assert row is not None
    return LoginRights(frozenset(row[0]), row[1], row[2])


def why_not(login: str, rights: LoginRights, role: str) -> str:
    """Say why a login may not take a role. A GRANT is advised unless the login is that of one other role."""
    _, file = WORKS_WITH[role]
    if rights.is_owner:
        return f"the login {login} owns the tables: these are the settings of `fe migrate` (owner.env), use {file}"
    if len(rights.roles) == 1:
        work, its_file = WORKS_WITH[next(iter(rights.roles))]
        if role == OPERATOR and PORTAL in rights.roles:
            file = f"{file}; with FE_PORTAL_OPERATORS=1 the portal needs the login fe_portal_operators_login"
        return f"these are the settings of {work} ({its_file}): {login} may not take the role {role}, use {file}"
    return f"the login {login} may not take the role {role}: let an administrator run GRANT {role} TO {login}"
