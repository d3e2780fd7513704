"""One's second factor: set up by a QR code, taken away again, and the codes for when the device is lost."""

from markupsafe import Markup

from fe.accounts import totp
from fe.ecf.texts import Text
from fe.portal import attempts
from fe.portal.page_types import Needs, Page
from fe.portal.pages.sign_in import WRONG_CODE
from fe.portal.replies import CHANGED_MEANWHILE, Refused, Reply, redirect
from fe.portal.visit import Visit
from fe.store.portal import second_factor
from fe.store.postgres.db import Conn
from fe.store.records import throttle

_AT = "/account/second-factor"


async def page(visit: Visit) -> Reply:
    """Show whether there is one, or the QR code of the one that is being set up."""
    return await _page(visit, 200)


async def _page(visit: Visit, status: int, problem: Text | None = None) -> Reply:
    person, db = visit.person.person, visit.portal.db
    if person.totp_since is not None:
        left = await db.run(second_factor.codes_left, person.person_id)
        return visit.page("account/second_factor.html", status, problem=problem, codes_left=left)
    kept = await db.run(second_factor.seed_of, person.person_id)
    if kept is None:
        return visit.page("account/second_factor_none.html", status, problem=problem)
    seed = totp.decrypt_seed(visit.portal.vault, person.person_id, kept.secret)
    return visit.page(
        "account/second_factor_new.html",
        status,
        problem=problem,
        picture=Markup(totp.picture(seed, person.email)),  # noqa: S704  (made here, of the seed)
        typed=totp.shown(seed),
    )


async def begin(visit: Visit) -> Reply:
    """Make a seed; it is of use once a code of it was shown."""
    person_id = visit.person.person.person_id
    encrypted = totp.encrypt_seed(visit.portal.vault, person_id, totp.new_seed())
    await visit.commit_form(second_factor.offer, person_id, encrypted)
    return await visit.go(_AT)


async def confirm(visit: Visit) -> Reply:
    """Take the seed into use by its first code, and show the recovery codes, this once."""
    person = visit.person.person
    kept = await visit.portal.db.run(second_factor.seed_of, person.person_id)
    if kept is None or kept.since is not None:
        return redirect(_AT)
    await _count(visit)
    seed = totp.decrypt_seed(visit.portal.vault, person.person_id, kept.secret)
    step = totp.step_of(seed, visit.form.get("code"), visit.now)
    if step is None:
        return await _page(visit, 400, WRONG_CODE)
    codes = totp.new_codes()

    async def work(conn: Conn) -> None:
        if not await second_factor.enrol(conn, person.person_id, kept.secret, step, visit.now):
            raise Refused(409, CHANGED_MEANWHILE)
        await second_factor.replace_codes(conn, person.person_id, [totp.hash_code(person.person_id, c) for c in codes])

    await visit.commit_form(work)
    await attempts.forgive(visit, person)
    return visit.page("account/recovery_codes.html", codes=codes)


async def new_codes(visit: Visit) -> Reply:
    """Make new recovery codes instead of those before, and show them, this once."""
    person_id, codes = visit.person.person.person_id, totp.new_codes()
    if not await _is_shown(visit):
        return await _page(visit, 403, WRONG_CODE)
    await visit.commit_form(second_factor.replace_codes, person_id, [totp.hash_code(person_id, one) for one in codes])
    return visit.page("account/recovery_codes.html", codes=codes)


async def remove(visit: Visit) -> Reply:
    """Ask for no second factor any more; one that is still there has to be shown for it."""
    if not await _is_shown(visit):
        return await _page(visit, 403, WRONG_CODE)
    await visit.commit_form(second_factor.remove, visit.person.person.person_id)
    return await visit.go(
        "/account",
        Text(
            "The second factor is removed.",
            "Ya no se le pedirá un segundo factor.",
        ),
    )


async def _is_shown(visit: Visit) -> bool:
    """Take the second factor that came with a form."""
    person = visit.person.person
    await _count(visit)
    given = visit.form.get("code")
    is_right = await visit.portal.db.transact(totp.is_right, visit.portal.vault, person.person_id, given, visit.now)
    if is_right:
        await attempts.forgive(visit, person)
    else:
        attempts.was_wrong(visit, person, "second factor")
    return is_right


async def _count(visit: Visit) -> None:
    bucket = throttle.bucket_of_second_factor(visit.person.person.person_id)
    await attempts.count(visit, "second factor", bucket)


PAGES = (
    Page("GET", _AT, Needs.PERSON, page, fresh=True),
    Page("POST", f"{_AT}/begin", Needs.PERSON, begin, fresh=True),
    Page("POST", f"{_AT}/confirm", Needs.PERSON, confirm, fresh=True),
    Page("POST", f"{_AT}/codes", Needs.PERSON, new_codes, fresh=True),
    Page("POST", f"{_AT}/remove", Needs.PERSON, remove, fresh=True),
)
