"""By the OpenID provider: logging in, showing again who one is, linking an account, accepting an invitation.

A browser is sent there by a link and not by a form: browsers do not let a form lead to another host here.
"""

from fe.accounts import identities as accounts
from fe.accounts.id_token import Subject
from fe.accounts.openid import CALLBACK, OpenId, ProviderAway, ProviderRefused
from fe.accounts.people import PersonRefused, hash_token, new_token
from fe.ecf.texts import Text
from fe.portal import attempts
from fe.portal.entering import enter, next_page, own_path, renew_session
from fe.portal.page_types import Needs, Page
from fe.portal.pages import invitations
from fe.portal.pages.again import again_page
from fe.portal.pages.sign_in import sign_in_page
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.session import HALFWAY
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
    "This account is linked with nobody here. Sign in with your password and link it under your account, or ask for an "
    "invitation.",
    "Esta cuenta no está vinculada a nadie aquí. Entre con su contraseña y vincúlela en su cuenta, o pida una "
    "invitación.",
)


def _provider(visit: Visit) -> OpenId:
    if visit.portal.openid is None:
        raise not_found()
    return visit.portal.openid


async def _address(visit: Visit, purpose: str, following: str, invitation_hash: bytes | None = None) -> str:
    """Where the provider asks who it is; what it is for is kept here, for this browser."""
    provider = _provider(visit)
    await attempts.count(visit, "address")
    state = new_token()
    address = await provider.address(state, again=purpose == "again")
    # A link that lets somebody in is not kept, not even for minutes.
    kept = following if not following.startswith(("/invitation/", "/reset/")) else "/"
    request = OpenIdRequest(purpose, kept, invitation_hash)
    await visit.portal.db.run(logins.ask, hash_token(state), hash_token(visit.token), request, visit.now)
    return address


def _send(visit: Visit, address: str) -> Reply:
    return Reply(303, b"", (("Location", address), *visit.headers))


async def sign_in(visit: Visit) -> Reply:
    """Send somebody to the provider to log in."""
    try:
        return _send(visit, await _address(visit, "sign in", next_page(visit)))
    except ProviderAway as away:
        return sign_in_page(visit, 503, away.text)


async def again(visit: Visit) -> Reply:
    """Send whoever is here to the provider to log in there anew."""
    try:
        return _send(visit, await _address(visit, "again", next_page(visit)))
    except ProviderAway as away:
        return await again_page(visit, 503, away.text)


async def invitation(visit: Visit) -> Reply:
    """Send somebody who is invited to the provider."""
    token_hash = hash_token(visit.params["token"])
    await invitations.find(visit, token_hash)
    return _send(visit, await _address(visit, "invitation", "/", token_hash))


async def link(visit: Visit) -> Reply:
    """Lead whoever is here to the provider, to link an account there. From a form: nobody else begins it."""
    address = await _address(visit, "link", "/account")
    return visit.page("openid_go.html", address=address, name=_provider(visit).name)


async def unlink(visit: Visit) -> Reply:
    """Link one's account with none there any more. Whoever has no password could not log in then."""
    if not visit.person.person.has_password:
        raise Refused(409, Text("Set a password first.", "Primero ponga una contraseña."))
    await visit.settle(identities.unlink, visit.person.person.person_id)
    return await visit.go("/account", Text("The account is unlinked.", "La cuenta se desvinculó."))


async def answer(visit: Visit) -> Reply:
    """Take what the browser brings back from the provider: once, in this browser, and soon."""
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
    """The same person, who has logged in there just now: the provider says when."""
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
    """Let in by an invitation whoever the subject is, or somebody new that is linked with it."""
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
