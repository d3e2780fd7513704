"""One's own account: where one is logged in, and the password."""

from hashlib import sha256

from fe.accounts import passwords
from fe.accounts import people as accounts
from fe.ecf.texts import Text
from fe.portal import attempts
from fe.portal.browser_names import browser_name
from fe.portal.cookies import set_cookie
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply
from fe.portal.session import IDLE, LIFE, hash_token, new_token
from fe.portal.visit import Visit
from fe.store.portal import credentials, identities, people, second_factor, sessions
from fe.store.portal.sessions import SessionRecord
from fe.store.postgres.db import Conn
from fe.store.records import throttle

_WRONG = Text("The present password is not right.", "La contraseña actual no es correcta.")
DIFFERENT = Text("The two new passwords are not the same.", "Las dos contraseñas nuevas no son iguales.")


def name_of(record: SessionRecord) -> str:
    """Return a session's name for forms, which does not allow signing in."""
    return sha256(record.token_hash).hexdigest()[:24]


async def account(visit: Visit) -> Reply:
    """Show how one logs in, and where one is logged in."""
    person, db = visit.person.person, visit.portal.db
    oldest, idle = visit.now - LIFE, visit.now - IDLE
    live = [
        one
        for one in await db.run(sessions.of_person, person.person_id)
        if one.created_at > oldest and one.seen_at > idle
    ]
    return visit.page(
        "account/account.html",
        person=person,
        sessions=[(name_of(one), one, one.token_hash == visit.person.record.token_hash) for one in live],
        codes_left=await db.run(second_factor.codes_left, person.person_id),
        identities=await db.run(identities.of_person, person.person_id),
        openid=visit.portal.openid,
        browser_name=browser_name,
        companies=len(await db.run(people.tenants_of, person.person_id)),
    )


async def end_session(visit: Visit) -> Reply:
    """End one session, the others, or all of them."""
    person_id, here = visit.person.person.person_id, visit.person.record.token_hash
    which = visit.form.get("session")
    if which == "all":
        await visit.portal.db.transact(accounts.end_everything, person_id)
    elif which == "others":
        await visit.portal.db.transact(accounts.end_everything, person_id, here)
    else:
        for one in await visit.portal.db.run(sessions.of_person, person_id):
            if name_of(one) == which:
                await visit.portal.db.run(sessions.end, one.token_hash)
                if one.token_hash == here:
                    which = "all"
    if which == "all":
        visit.session = None
        set_cookie(visit, new_token())
        return await visit.go("/sign-in")
    return await visit.go("/account", Text("It is signed out there.", "Allí se cerró la sesión."))


async def password_form(visit: Visit) -> Reply:
    """Ask for a new password."""
    return visit.page("account/password.html", problem=None)


async def change_password(visit: Visit) -> Reply:
    """Change the password, and end all other sessions."""
    person = visit.person.person
    new = visit.form.verbatim("new")
    stored = None
    if person.has_password:
        await attempts.count(visit, "person", throttle.bucket_of_person(person.email))
        stored = await visit.portal.db.run(credentials.of_person, person.person_id)
        if not await accounts.is_password(stored, visit.form.verbatim("present")):
            attempts.was_wrong(visit, person, "password")
            return visit.page("account/password.html", 403, problem=_WRONG)
    problem = password_problem(new, visit.form.verbatim("repeated"), person.name, person.email)
    if problem is not None:
        return visit.page("account/password.html", 400, problem=problem)
    hashed = await accounts.hash_password(new)
    token, here = new_token(), visit.person.record.token_hash

    async def work(conn: Conn) -> None:
        is_kept = await accounts.replace_password(conn, person.person_id, hashed, former=stored, session=here)
        if not (is_kept and await sessions.renew(conn, here, hash_token(token), visit.now)):
            raise _Outrun
        said = {"en": "Your password is changed.", "es": "Su contraseña cambió."}
        await sessions.leave_notice(conn, hash_token(token), said)

    try:
        await visit.commit_form(work)
    except _Outrun:  # the password was changed meanwhile, which ended this session
        visit.session = None
        set_cookie(visit, new_token())
        return await visit.go("/sign-in")
    await attempts.forgive(visit, person)
    set_cookie(visit, token)
    return await visit.go("/account")


class _Outrun(Exception):
    """The password or the session changed since the page was shown."""


def password_problem(new: str, repeated: str, *about: str) -> Text | None:
    """Check a new password that was typed twice."""
    if new != repeated:
        return DIFFERENT
    try:
        passwords.require_good(new, about)
    except passwords.BadPassword as bad:
        return bad.text
    return None


PAGES = (
    Page("GET", "/account", Needs.PERSON, account),
    Page("POST", "/account/sessions/end", Needs.PERSON, end_session),
    Page("GET", "/account/password", Needs.PERSON, password_form, fresh=True),
    Page("POST", "/account/password", Needs.PERSON, change_password, fresh=True),
)
