"""Every page there is: one module for each part of the portal, each with its own list."""

from fe.portal.deps import Portal
from fe.portal.page_types import Needs, Page
from fe.portal.pages import (
    account,
    again,
    billing,
    catalogue,
    certificates,
    changes,
    home,
    imports,
    invitations,
    keys,
    mail,
    months,
    openid,
    operators,
    people,
    printing,
    purchases,
    received,
    returns,
    second_factor,
    sequences,
    settings,
    sign_in,
    static,
    submission,
    submissions,
    usage,
    users,
    webhook_deliveries,
    webhook_secret,
    webhooks,
)
from fe.portal.pages import (
    new_receipt as new,
)


def every_page(portal: Portal) -> tuple[Page, ...]:
    """List the pages of this portal: those of operators only where they are served."""
    pages = (
        *account.PAGES,
        *again.PAGES,
        *billing.PAGES,
        *catalogue.PAGES,
        *certificates.PAGES,
        *changes.PAGES,
        *home.PAGES,
        *imports.PAGES,
        *invitations.PAGES,
        *keys.PAGES,
        *mail.PAGES,
        *months.PAGES,
        *new.PAGES,
        *openid.PAGES,
        *operators.PAGES,
        *people.PAGES,
        *printing.PAGES,
        *purchases.PAGES,
        *received.PAGES,
        *returns.PAGES,
        *second_factor.PAGES,
        *sequences.PAGES,
        *settings.PAGES,
        *sign_in.PAGES,
        *static.PAGES,
        *submission.PAGES,
        *submissions.PAGES,
        *usage.PAGES,
        *users.PAGES,
        *webhook_deliveries.PAGES,
        *webhook_secret.PAGES,
        *webhooks.PAGES,
    )
    return tuple(page for page in pages if page.needs is not Needs.OPERATE or portal.operators is not None)
