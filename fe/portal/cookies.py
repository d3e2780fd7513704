"""The cookie of the portal: which browser it is."""

from fe.portal.visit import Visit


def set_cookie(visit: Visit, token: str) -> None:
    """Give the browser a new token, which invalidates its forms and its session."""
    visit.token = token
    visit.headers.append(
        ("Set-Cookie", f"{visit.portal.cookie}={token}; Path=/; HttpOnly; SameSite=Lax{_secure(visit)}")
    )


def _secure(visit: Visit) -> str:
    return "; Secure" if visit.portal.is_https else ""
