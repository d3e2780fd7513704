"""Lockouts after failed logins, of keys, addresses and people, and lifting them."""

from ipaddress import ip_address

from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import ApiKeyId
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import FormProblem, acting
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.queue import audit
from fe.store.queue.audit import OperatorAction
from fe.store.records import throttle

_SHOWN = 200
_NOT_LOCKED = Text("It is not locked out, or no longer.", "No está bloqueado (o ya no lo está).")
_NOT_AN_ADDRESS = Text(
    "Type an IP address or the id of a key (fak_...).", "Escriba una dirección IP o el id de una clave (fak_...)."
)
_LONGEST = 100


async def index(visit: Visit) -> Reply:
    """List lockouts that hold."""
    return await _show(visit)


async def _show(visit: Visit, problem: Text | None = None) -> Reply:
    return visit.page(
        "operators/lockouts.html",
        409 if problem else 200,
        found=await visit.operators.run(throttle.every_lockout, _SHOWN),
        problem=problem,
        typed=visit.form,
    )


async def lift(visit: Visit) -> Reply:
    """End a lockout, chosen in the list or typed."""
    try:
        by = acting(visit)
        bucket, who = _meant(visit.form.get("bucket"), visit.form.get("who"))
        await visit.run_operation(_lift, by, bucket, who)
    except LocalizedError as wrong:
        return await _show(visit, wrong.text)
    return await visit.go("/operators/lockouts", Text("The lockout is lifted.", "El bloqueo se levantó."))


def _meant(bucket: str, who: str) -> tuple[bytes, str]:
    if bucket:
        try:
            return bytes.fromhex(bucket), bucket[:16]
        except ValueError:
            raise FormProblem(_NOT_LOCKED) from None
    if who.startswith("fak_") and len(who) <= _LONGEST:
        return throttle.bucket_of_key(ApiKeyId(who)), who
    try:
        return throttle.bucket_of_address(ip_address(who)), who
    except ValueError:
        raise FormProblem(_NOT_AN_ADDRESS) from None


async def _lift(conn: Conn, by: OperatorAction, bucket: bytes, who: str) -> None:
    if not await throttle.lift(conn, bucket):
        raise FormProblem(_NOT_LOCKED)
    await audit.record(conn, by, "lockout lift", None, None, {"who": who})


PAGES = (
    Page("GET", "/operators/lockouts", Needs.OPERATE, index),
    Page("POST", "/operators/lockouts", Needs.OPERATE, lift),
)
