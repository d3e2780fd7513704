"""The cookies of the portal: which browser it is, and which environment was looked at last."""

from fe.ecf.catalogue import Environment
from fe.portal.visit import Visit

ENVIRONMENT = "environment"


def set_cookie(visit: Visit, token: str) -> None:
    """Give the browser a token; with the one before, its forms and its session are nobody's."""
    visit.token = token
    visit.headers.append(
        ("Set-Cookie", f"{visit.portal.cookie}={token}; Path=/; HttpOnly; SameSite=Lax{_secure(visit)}")
    )


def remember_environment(visit: Visit, kept: str | None) -> None:
    """Let the navigation lead to the environment that is looked at, or, on a page of none, to the one before."""
    known = [str(one) for one in Environment]
    looked_at = visit.params.get("environment")
    if looked_at in known and looked_at != kept:
        visit.headers.append(
            (
                "Set-Cookie",
                f"{ENVIRONMENT}={looked_at}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000{_secure(visit)}",
            )
        )
    elif kept in known:
        visit.remembered_environment = kept


def _secure(visit: Visit) -> str:
    return "; Secure" if visit.portal.is_https else ""
