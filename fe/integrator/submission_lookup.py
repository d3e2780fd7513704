"""Find a submission by taxLogId, trackId, e-NCF or clientRequestId.

The API takes the first two in its path; the others are filters of its list. Several submissions may have used one
number, since a rejected one frees it: prefer the one that holds it, else the newest.
"""

import re
from collections.abc import Callable
from typing import Any

from fe.cli.failures import NOT_THERE, Failure
from fe.ecf.identity import E_NCF_FORM
from fe.integrator.api import ApiSession
from fe.integrator.language import say
from fe.lifecycle import Status

_TRACK_OR_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_E_NCF = re.compile(E_NCF_FORM)
#: Longer, the API refuses a clientRequestId.
_LONGEST = 120
#: States that free the number again.
_WITHOUT_NUMBER = frozenset({Status.REJECTED, Status.ERROR})

Remark = Callable[[str], None]


def ask(api: ApiSession, wanted: str, below: str = "", *, remark: Remark, **params: int) -> dict[str, Any]:
    """GET a submission, or the path `below` it. `remark` receives a note about an ambiguous name.

    Raises Failure (NOT_THERE) when nothing has that name.
    """
    if _TRACK_OR_ID.fullmatch(wanted) and not _E_NCF.fullmatch(wanted):
        answer = api.get(f"/invoices/{wanted}{below}", **params)
        if answer.get("found") is not False:
            return answer
    return api.get(f"/invoices/{_in_the_list(api, wanted, remark)}{below}", **params)


def _in_the_list(api: ApiSession, wanted: str, remark: Remark) -> str:
    found: list[dict[str, Any]] = []
    if _E_NCF.fullmatch(wanted):
        found = api.get("/invoices", encf=wanted, limit=200)["items"]
    if not found and 0 < len(wanted) <= _LONGEST:
        found = api.get("/invoices", clientRequestId=wanted, limit=200)["items"]
    # The list is of all environments; a key issues in one.
    found = [one for one in found if one["environment"] == api.profile.environment] or found
    if not found:
        raise Failure(
            say(
                f"nothing was handed in under {wanted!r} (taxLogId, trackId, e-NCF or clientRequestId)",
                f"no se ha enviado nada con {wanted!r} (taxLogId, trackId, e-NCF o clientRequestId)",
            ),
            NOT_THERE,
        )
    chosen = next((one for one in found if one["status"] not in _WITHOUT_NUMBER), found[0])
    if len(found) > 1:
        others = ", ".join(f"{one['taxLogId']} {one['status']}" for one in found if one is not chosen)
        remark(
            say(
                f"{wanted} was handed in {len(found)} times; the others: {others}",
                f"{wanted} se envió {len(found)} veces; las otras: {others}",
            )
        )
    return str(chosen["taxLogId"])
