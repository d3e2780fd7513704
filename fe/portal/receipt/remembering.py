"""The catalogue remembers the buyer and the lines of a receipt that was issued here."""

import structlog

from fe.catalogue.remembered import customer_of, products_of
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS, CatalogueFull

_log = structlog.get_logger(__name__)


async def remember(visit: Visit, entry: ReceiptEntry) -> None:
    """Remember them, or nothing where the catalogue is full. Raises DatabaseUnavailable."""
    payload, kind = entry.payload(), entry.layout.type
    customer, products = customer_of(payload, kind), products_of(payload, kind)
    tenant_id, now, by = visit.tenant_id, visit.now, visit.by_whom

    async def write(conn: Conn) -> None:
        await CUSTOMERS.remember(conn, tenant_id, [] if customer is None else [customer], now, by)
        await PRODUCTS.remember(conn, tenant_id, products, now, by)

    try:
        await visit.portal.db.transact_for(tenant_id, write)
    except CatalogueFull:
        _log.info("receipt not remembered: the catalogue is full", tenant_id=tenant_id)
