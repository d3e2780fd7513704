"""Every page there is: one module for each part of the portal, each with its own list."""

from fe.portal.deps import Portal
from fe.portal.page_types import Needs, Page
from fe.portal.pages import (
    account,
    again,
    certificates,
    changes,
    home,
    invitations,
    keys,
    new,
    openid,
    people,
    second_factor,
    settings,
    sign_in,
    static,
    users,
)


def every_page(portal: Portal) -> tuple[Page, ...]:
    """List the pages of this portal: those of operators only where they are served."""
    pages = (
        *account.PAGES,
        *again.PAGES,
        *certificates.PAGES,
        *changes.PAGES,
        *home.PAGES,
        *invitations.PAGES,
        *keys.PAGES,
        *new.PAGES,
        *openid.PAGES,
        *people.PAGES,
        *second_factor.PAGES,
        *settings.PAGES,
        *sign_in.PAGES,
        *static.PAGES,
        *users.PAGES,
    )
    return tuple(page for page in pages if page.needs is not Needs.OPERATE or portal.operators is not None)
