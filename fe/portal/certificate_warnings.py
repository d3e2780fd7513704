"""What every page of a company may say about certificates that are about to end.

A page gives `warnings=await certificate_warnings(visit)` and includes `company/certificate_warnings.html`.
"""

from fe.accounts.expiry import ExpiryWarning, warnings
from fe.portal.visit import Visit
from fe.store import certificates


async def certificate_warnings(visit: Visit) -> list[ExpiryWarning]:
    """Find what is to be said, the most urgent first."""
    return warnings(await visit.read(certificates.in_use), visit.now)
