"""Sign-in flow: from the first factor, over the second one if set up, to a session."""

from urllib.parse import quote

from fe.portal import attempts
from fe.portal.cookies import set_cookie
from fe.portal.replies import Reply
from fe.portal.session import hash_token, new_token
from fe.portal.visit import Visit
from fe.store.portal import credentials, logins, sessions
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn


def next_page(visit: Visit) -> str:
    """Where to go afterwards: a path of ours, else the first page."""
    return own_path(visit.form.get("next") or visit.query.get("next", ""))


def own_path(wanted: str) -> str:
    """Take a path only where it leads nowhere else than to us."""
    is_ours = wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted and wanted.isprintable()
    return wanted if is_ours and wanted.isascii() else "/"


def with_next(path: str, following: str) -> str:
    """Put where to go afterwards behind a path."""
    return path if following == "/" else f"{path}?next={quote(following, safe='/')}"


async def enter(visit: Visit, person: Person, way: str, following: str, *, password: str | None = None) -> Reply:
    """Go on after the first factor: to the second, or to a session.

    `password` is the hash that was compared with, if one was. Set anew meanwhile, it has shown nothing.
    """
    if person.totp_since is None:
        return await begin_session(visit, person, way, following, password=password)
    token = new_token()

    async def begin(conn: Conn) -> bool:
        if not await credentials.hold(conn, person.person_id, password):
            return False
        await logins.end(conn, hash_token(visit.token))
        await logins.begin(conn, hash_token(token), person.person_id, way, visit.now)
        return True

    if not await visit.portal.db.transact(begin):
        return await _begin_anew(visit, person, way, following)
    await _leave(visit)
    set_cookie(visit, token)
    return await visit.go(with_next("/sign-in/code", following))


async def begin_session(
    visit: Visit, person: Person, way: str, following: str, *, password: str | None = None, half_way: bool = False
) -> Reply:
    """Begin a session under a new token after all factors were shown, and redirect.

    `half_way`: this browser showed the first factor before, and that is still valid. `password` as in `enter`.
    """
    token = new_token()

    async def begin(conn: Conn) -> bool:
        # A password that is set ends all there is of its person: it waits for this, or this for it.
        if not await credentials.hold(conn, person.person_id, password):
            return False
        was_half_way = await logins.end(conn, hash_token(visit.token))
        if half_way and not was_half_way:
            return False
        await sessions.begin(
            conn,
            hash_token(token),
            person.person_id,
            address=visit.address,
            user_agent=visit.user_agent,
            at=visit.now,
        )
        return True

    if not await visit.portal.db.transact(begin):
        return await _begin_anew(visit, person, way, following)
    await _leave(visit)
    set_cookie(visit, token)
    await attempts.forgive(visit, person)
    attempts.was_right(visit, person, way)
    return await visit.go(following)


async def _begin_anew(visit: Visit, person: Person, way: str, following: str) -> Reply:
    attempts.was_wrong(visit, person, way)
    return await visit.go(with_next("/sign-in", following))


async def _leave(visit: Visit) -> None:
    """End the session that this browser had."""
    if visit.session is not None:
        await visit.portal.db.run(sessions.end, visit.session.record.token_hash)
        visit.session = None


async def renew_session(visit: Visit, way: str, following: str) -> Reply:
    """Renew the session under a new token after the identity was confirmed."""
    token = new_token()
    is_there = await visit.portal.db.run(sessions.renew, visit.person.record.token_hash, hash_token(token), visit.now)
    await attempts.forgive(visit, visit.person.person)
    attempts.was_right(visit, visit.person.person, way)
    if is_there:
        set_cookie(visit, token)
    visit.session = None
    return await visit.go(following)
