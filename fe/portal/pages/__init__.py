"""Every page there is: one module for each part of the portal, each with its own list."""

from fe.portal.deps import Portal
from fe.portal.page_types import Needs, Page
from fe.portal.pages import (
    account,
    again,
    home,
    invitations,
    openid,
    people,
    second_factor,
    sign_in,
    static,
)


def every_page(portal: Portal) -> tuple[Page, ...]:
    """List the pages of this portal: those of operators only where they are served."""
    pages = (
        *static.PAGES,
        *sign_in.PAGES,
        *home.PAGES,
        *account.PAGES,
        *again.PAGES,
        *invitations.PAGES,
        *openid.PAGES,
        *people.PAGES,
        *second_factor.PAGES,
    )
    return tuple(page for page in pages if page.needs is not Needs.OPERATE or portal.operators is not None)
