"""Every page there is: one module for each part of the portal, each with its own list."""

from fe.portal.deps import Portal
from fe.portal.page_types import Needs, Page
from fe.portal.pages import home, operators, sign_in, static


def every_page(portal: Portal) -> tuple[Page, ...]:
    """List the pages of this portal: those of operators only where they are served."""
    pages = (*static.PAGES, *sign_in.PAGES, *home.PAGES, *operators.PAGES)
    return tuple(page for page in pages if page.needs is not Needs.OPERATE or portal.operators is not None)
