"""Logging in, by a password and where there is one by a second factor, and out."""

from fe.accounts import people as accounts
from fe.accounts import totp
from fe.ecf.texts import Text
from fe.portal import attempts
from fe.portal.cookies import set_cookie
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, redirect
from fe.portal.session import HALFWAY, hash_token, new_token
from fe.portal.sign_in_flow import begin_session, enter, next_page
from fe.portal.visit import Visit
from fe.store.portal import credentials, logins, people, sessions
from fe.store.portal.people import Person
from fe.store.records import throttle

_WRONG = Text("Address or password is not right.", "El correo o la contraseña no son correctos.")
WRONG_CODE = Text(
    "This code is not right, or was used before. Wait for the next one.",
    "Este código no es correcto o ya se usó. Espere el siguiente.",
)


async def form(visit: Visit) -> Reply:
    """Show the sign-in page."""
    if visit.session is not None:
        return redirect("/")
    return sign_in_page(visit, 200)


def sign_in_page(visit: Visit, status: int, problem: Text | None = None, following: str | None = None) -> Reply:
    """Return the sign-in page with an error."""
    going = next_page(visit) if following is None else following
    email = visit.form.get("email")[:254]
    return visit.page("sign_in.html", status, next=going, email=email, problem=problem, openid=visit.portal.openid)


async def sign_in(visit: Visit) -> Reply:
    """Check address and password. For an unknown address time and answer are those of a wrong password."""
    email = visit.form.get("email")
    await attempts.count(visit, "person", throttle.bucket_of_person(email))
    found, stored = await visit.portal.db.run(credentials.by_email, email if email.isprintable() else "")
    is_right = await accounts.is_password(stored, visit.form.verbatim("password"))
    if found is None or found.disabled_at is not None or not is_right:
        attempts.was_wrong(visit, found, "password")
        return sign_in_page(visit, 403, _WRONG)
    return await enter(visit, found, "password", next_page(visit), password=stored)


async def code_form(visit: Visit) -> Reply:
    """Ask for the second factor after the first one."""
    if await _half_way(visit) is None:
        return redirect("/sign-in")
    return visit.page("sign_in_code.html", next=next_page(visit), problem=None)


async def code(visit: Visit) -> Reply:
    """Look at a one-time password or a recovery code, each of which is good once, and begin the session."""
    person = await _half_way(visit)
    if person is None:
        return redirect("/sign-in")
    await attempts.count(visit, "second factor", throttle.bucket_of_second_factor(person.person_id))
    given = visit.form.get("code")
    is_right = await visit.portal.db.transact(totp.is_right, visit.portal.vault, person.person_id, given, visit.now)
    if not is_right:
        attempts.was_wrong(visit, person, "second factor")
        return visit.page("sign_in_code.html", 403, next=next_page(visit), problem=WRONG_CODE)
    return await begin_session(visit, person, "second factor", next_page(visit), half_way=True)


async def _half_way(visit: Visit) -> Person | None:
    return await visit.portal.db.run(logins.find, hash_token(visit.token), visit.now - HALFWAY)


async def sign_out(visit: Visit) -> Reply:
    """End the session here and in the browser."""
    await visit.portal.db.run(sessions.end, visit.person.record.token_hash)
    visit.session = None
    set_cookie(visit, new_token())
    return await visit.go("/sign-in")


async def language(visit: Visit) -> Reply:
    """Switch the language, and go back to the page."""
    await set_language(visit, visit.form.get("language"))
    return await visit.go(next_page(visit))


async def set_language(visit: Visit, asked: str) -> None:
    """Keep the language that a person reads, with the account and in this browser."""
    wanted = "en" if asked == "en" else "es"
    if visit.session is not None:
        await visit.portal.db.run(people.set_language, visit.session.person.person_id, wanted)
    secure = "; Secure" if visit.portal.is_https else ""
    visit.headers.append(("Set-Cookie", f"language={wanted}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000{secure}"))


PAGES = (
    Page("GET", "/sign-in", Needs.NOTHING, form),
    Page("POST", "/sign-in", Needs.NOTHING, sign_in),
    Page("GET", "/sign-in/code", Needs.NOTHING, code_form),
    Page("POST", "/sign-in/code", Needs.NOTHING, code),
    Page("POST", "/sign-out", Needs.PERSON, sign_out),
    Page("POST", "/language", Needs.NOTHING, language),
)
