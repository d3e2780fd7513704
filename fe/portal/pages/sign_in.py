"""Logging in and out."""

from fe.accounts import people as accounts
from fe.ecf.texts import Text
from fe.identifiers import PersonId
from fe.portal.cookies import set_cookie
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, redirect
from fe.portal.session import hash_token, new_token
from fe.portal.visit import Visit
from fe.store.portal import people, sessions

_WRONG = Text("Address or password is not right.", "El correo o la contraseña no es correcto.")


def next_page(visit: Visit) -> str:
    """Where to go after logging in: a path of ours, else the first page."""
    wanted = visit.form.get("next") or visit.query.get("next", "")
    is_ours = wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted and wanted.isprintable()
    return wanted if is_ours else "/"


async def form(visit: Visit) -> Reply:
    """Ask who it is."""
    if visit.session is not None:
        return redirect("/")
    return visit.page("sign_in.html", next=next_page(visit), email="", problem=None)


async def sign_in(visit: Visit) -> Reply:
    """Look at address and password, and begin a session under a new token."""
    email = visit.form.get("email")
    found = await visit.portal.db.run(people.by_email, email)
    stored = None if found is None else await visit.portal.db.run(people.password_hash, found.person_id)
    is_right = await accounts.is_password(stored, visit.form.get("password"))
    if found is None or found.disabled_at is not None or not is_right:
        return visit.page("sign_in.html", 403, next=next_page(visit), email=email, problem=_WRONG)
    return await begin_session(visit, found.person_id)


async def begin_session(visit: Visit, person_id: PersonId) -> Reply:
    """Begin a session of somebody who has shown who it is, and go on."""
    token = new_token()
    await visit.portal.db.run(
        sessions.begin,
        hash_token(token),
        person_id,
        address=visit.address,
        user_agent=visit.user_agent,
        at=visit.now,
    )
    set_cookie(visit, token)
    return await visit.go(next_page(visit))


async def sign_out(visit: Visit) -> Reply:
    """End the session here and in the browser."""
    await visit.portal.db.run(sessions.end, visit.person.record.token_hash)
    visit.session = None
    set_cookie(visit, new_token())
    return await visit.go("/sign-in")


async def language(visit: Visit) -> Reply:
    """Keep which language whoever is here reads."""
    wanted = "en" if visit.form.get("language") == "en" else "es"
    if visit.session is not None:
        await visit.portal.db.run(people.set_language, visit.session.person.person_id, wanted)
    secure = "; Secure" if visit.portal.is_https else ""
    visit.headers.append(("Set-Cookie", f"language={wanted}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000{secure}"))
    return await visit.go(next_page(visit))


PAGES = (
    Page("GET", "/sign-in", Needs.NOTHING, form),
    Page("POST", "/sign-in", Needs.NOTHING, sign_in),
    Page("POST", "/sign-out", Needs.PERSON, sign_out),
    Page("POST", "/language", Needs.NOTHING, language),
)
