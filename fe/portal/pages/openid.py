"""OpenID Connect pages: sign in, confirm the identity, link an account, accept an invitation.

Redirects to the provider follow a link, not a form: the content security policy forbids forms to other hosts.
"""

from fe.accounts import identities as accounts
from fe.accounts.id_token import Subject
from fe.accounts.openid import CALLBACK, OpenId, ProviderAway, ProviderRefused
from fe.accounts.people import PersonRefused, hash_token, new_token
from fe.ecf.texts import Text
from fe.portal import attempts
from fe.portal.page_types import Needs, Page
from fe.portal.pages import invitations
from fe.portal.pages.again import again_page
from fe.portal.pages.sign_in import sign_in_page
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.session import HALFWAY
from fe.portal.sign_in_flow import enter, next_page, own_path, renew_session
from fe.portal.visit import Visit
from fe.store.portal import identities, logins
from fe.store.portal.logins import OpenIdRequest

_STALE = Text(
    "This answer belongs to no login that began here lately. Begin again.",
    "Esta respuesta no corresponde a ningún inicio de sesión reciente. Comience de nuevo.",
)
_NOT_CONFIRMED = Text("You did not sign in there.", "Usted no inició sesión allí.")
_SOMEBODY_ELSE = Text(
    "This is not the account that is linked with yours here.",
    "Esta no es la cuenta que está vinculada a la suya aquí.",
)
_UNKNOWN = Text(
    "This account is not linked to any person here. Sign in with your password and link it under your account, or "
    "ask for an invitation.",
    "Esta cuenta no está vinculada a ninguna persona aquí. Inicie sesión con su contraseña y vincúlela en su cuenta, "
    "o pida una invitación.",
)


def _provider(visit: Visit) -> OpenId:
    if visit.portal.openid is None:
        raise not_found()
    return visit.portal.openid


async def _address(visit: Visit, purpose: str, following: str, invitation_hash: bytes | None = None) -> str:
    """Return the provider's address and store the purpose for this browser."""
    provider = _provider(visit)
    await attempts.count(visit, "address")
    state = new_token()
    address = await provider.address(state, again=purpose == "again")
    # The token of an invitation is not stored.
    kept = following if not following.startswith(("/invitation/", "/reset/")) else "/"
    request = OpenIdRequest(purpose, kept, invitation_hash)
    await visit.portal.db.run(logins.ask, hash_token(state), hash_token(visit.token), request, visit.now)
    return address


def _send(visit: Visit, address: str) -> Reply:
    return Reply(303, b"", (("Location", address), *visit.headers))


async def sign_in(visit: Visit) -> Reply:
    """Redirect to the provider to sign in."""
    try:
        return _send(visit, await _address(visit, "sign in", next_page(visit)))
    except ProviderAway as away:
        return sign_in_page(visit, 503, away.text)


async def again(visit: Visit) -> Reply:
    """Redirect to the provider to confirm the identity."""
    try:
        return _send(visit, await _address(visit, "again", next_page(visit)))
    except ProviderAway as away:
        return await again_page(visit, 503, away.text)


async def invitation(visit: Visit) -> Reply:
    """Redirect an invited person to the provider."""
    token_hash = hash_token(visit.params["token"])
    await invitations.find(visit, token_hash)
    return _send(visit, await _address(visit, "invitation", "/", token_hash))


async def link(visit: Visit) -> Reply:
    """Redirect to the provider to link an account. Needs a form, so that no other site can start it."""
    address = await _address(visit, "link", "/account")
    return visit.page("openid_go.html", address=address, name=_provider(visit).name)


async def unlink(visit: Visit) -> Reply:
    """Remove the link to the provider. Impossible without a password."""
    if not visit.person.person.has_password:
        raise Refused(409, Text("Set a password first.", "Primero ponga una contraseña."))
    await visit.commit_form(identities.unlink, visit.person.person.person_id)
    return await visit.go("/account", Text("The account is unlinked.", "La cuenta se desvinculó."))


async def answer(visit: Visit) -> Reply:
    """Handle the redirect back from the provider: once, in the same browser, and soon."""
    provider, state = _provider(visit), visit.query.get("state", "")
    hashes = hash_token(state), hash_token(visit.token)
    request = await visit.portal.db.run(logins.answer, *hashes, visit.now - HALFWAY)
    if request is None:
        raise Refused(400, _STALE)
    following = own_path(request.next)
    if "code" not in visit.query:
        return await _again_or_in(visit, 403, _NOT_CONFIRMED, following)
    try:
        subject = await provider.identify(visit.query["code"], state, visit.query.get("iss"), visit.now)
        match request.purpose:
            case "link":
                return await _link(visit, subject)
            case "again":
                return await _again(visit, subject, following)
            case "invitation":
                return await _accept(visit, subject, request.invitation_hash or b"")
            case _:
                return await _enter(visit, subject, following)
    except (ProviderAway, ProviderRefused) as refused:
        status = 503 if isinstance(refused, ProviderAway) else 403
        if status == 403:
            attempts.was_wrong(visit, None, "openid")
        return await _again_or_in(visit, status, refused.text, following)


async def _again_or_in(visit: Visit, status: int, problem: Text, following: str) -> Reply:
    if visit.session is not None:
        return await again_page(visit, status, problem, following)
    return sign_in_page(visit, status, problem, following)


async def _enter(visit: Visit, subject: Subject, following: str) -> Reply:
    person = await visit.portal.db.transact(accounts.who_is, subject, visit.now)
    if person is None or person.disabled_at is not None:
        attempts.was_wrong(visit, person, "openid")
        return sign_in_page(visit, 403, _UNKNOWN, following)
    return await enter(visit, person, "openid", following)


async def _again(visit: Visit, subject: Subject, following: str) -> Reply:
    """Check that the same person has just signed in at the provider, by the provider's time."""
    person = await visit.portal.db.run(identities.find, subject.issuer, subject.subject)
    if visit.session is None:
        return sign_in_page(visit, 403, _STALE, following)
    if person is None or person.person_id != visit.session.person.person_id:
        attempts.was_wrong(visit, visit.session.person, "openid")
        return await again_page(visit, 403, _SOMEBODY_ELSE, following)
    shown = subject.authenticated_at
    if shown is None or shown < (visit.now - HALFWAY).timestamp():
        attempts.was_wrong(visit, person, "openid")
        return await again_page(visit, 403, _NOT_CONFIRMED, following)
    return await renew_session(visit, "openid", following)


async def _link(visit: Visit, subject: Subject) -> Reply:
    if visit.session is None:
        raise Refused(400, _STALE)
    try:
        await visit.portal.db.transact(accounts.link, subject, visit.session.person.person_id, visit.now)
    except PersonRefused as refused:
        raise Refused(409, refused.text) from None
    return await visit.go("/account", Text("The account is linked.", "La cuenta quedó vinculada."))


async def _accept(visit: Visit, subject: Subject, invitation_hash: bytes) -> Reply:
    """Accept an invitation as the subject's person, or as a new person linked to it."""
    found = await invitations.find(visit, invitation_hash)
    known = await visit.portal.db.run(identities.find, subject.issuer, subject.subject)
    if known is not None and known.disabled_at is not None:
        return sign_in_page(visit, 403, _UNKNOWN, "/")
    try:
        who = known or (subject.name.strip()[:200] or found.email)
        person = await invitations.let_in(visit, found, who, subject=subject)
    except PersonRefused as refused:
        return sign_in_page(visit, 409, refused.text, "/")
    return await enter(visit, person, "openid", invitations.first_page(found))


PAGES = (
    Page("GET", "/sign-in/openid", Needs.NOTHING, sign_in),
    Page("GET", CALLBACK, Needs.NOTHING, answer),
    Page("GET", "/again/openid", Needs.PERSON, again),
    Page("GET", "/invitation/<token>/openid", Needs.NOTHING, invitation),
    Page("POST", "/account/openid", Needs.PERSON, link, fresh=True),
    Page("POST", "/account/openid/remove", Needs.PERSON, unlink, fresh=True),
)
