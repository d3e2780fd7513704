"""Confirming the identity: sensitive pages require a confirmation within the last minutes."""

from fe.accounts import people as accounts
from fe.accounts import totp
from fe.ecf.texts import Text
from fe.portal import attempts
from fe.portal.page_types import Needs, Page
from fe.portal.pages.sign_in import WRONG_CODE
from fe.portal.replies import Reply
from fe.portal.sign_in_flow import next_page, renew_session
from fe.portal.visit import Visit
from fe.store.portal import credentials, identities
from fe.store.records import throttle

_WRONG = Text("The password is not right.", "La contraseña no es correcta.")


async def form(visit: Visit) -> Reply:
    """Ask for the password or a one-time password; the provider is another way."""
    return await again_page(visit, 200)


async def again_page(visit: Visit, status: int, problem: Text | None = None, following: str | None = None) -> Reply:
    """Show the confirmation page with an error."""
    known = await visit.portal.db.run(identities.of_person, visit.person.person.person_id)
    openid = visit.portal.openid
    is_linked = openid is not None and any(one.issuer == openid.issuer for one in known)
    going = next_page(visit) if following is None else following
    return visit.page("again.html", status, next=going, problem=problem, openid=openid if is_linked else None)


async def show_again(visit: Visit) -> Reply:
    """Check the confirmation and renew the session."""
    person = visit.person.person
    if visit.form.get("code"):
        await attempts.count(visit, "second factor", throttle.bucket_of_second_factor(person.person_id))
        given = visit.form.get("code")
        vault = visit.portal.vault
        if await visit.portal.db.transact(totp.is_right, vault, person.person_id, given, visit.now):
            return await renew_session(visit, "second factor", next_page(visit))
        attempts.was_wrong(visit, person, "second factor")
        return await again_page(visit, 403, WRONG_CODE)
    await attempts.count(visit, "person", throttle.bucket_of_person(person.email))
    stored = await visit.portal.db.run(credentials.of_person, person.person_id)
    if await accounts.is_password(stored, visit.form.verbatim("password")):
        return await renew_session(visit, "password", next_page(visit))
    attempts.was_wrong(visit, person, "password")
    return await again_page(visit, 403, _WRONG)


PAGES = (
    Page("GET", "/again", Needs.PERSON, form),
    Page("POST", "/again", Needs.PERSON, show_again),
)
