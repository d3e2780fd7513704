"""Print settings of tenants (fe/printing/settings.py)."""

from datetime import datetime

import trio

from fe.cache import ExpiringCache
from fe.identifiers import TenantId
from fe.printing.options import PaperSize
from fe.printing.settings import PrintSettings
from fe.store.postgres.db import Conn, Database

#: Seconds after which a change shows in every process.
CACHED_SECONDS = 5.0
#: Each has a logo of up to 256 KiB.
_KEPT = 64

_OF = """
    SELECT x.logo, x.accent, x.footer, x.marks, x.language, x.layout
      FROM print_settings AS x
     WHERE x.tenant_id = %(tenant)s
"""
_PUT = """
    INSERT INTO print_settings (tenant_id, logo, accent, footer, marks, language, layout, changed_at)
    VALUES (
        %(tenant)s, %(logo)s, %(accent)s, %(footer)s, %(marks)s::text[], %(language)s, %(layout)s, %(at)s
    )
    ON CONFLICT (tenant_id) DO UPDATE
       SET logo = EXCLUDED.logo,
           accent = EXCLUDED.accent,
           footer = EXCLUDED.footer,
           marks = EXCLUDED.marks,
           language = EXCLUDED.language,
           layout = EXCLUDED.layout,
           changed_at = EXCLUDED.changed_at
"""


async def of(conn: Conn, tenant_id: TenantId) -> PrintSettings:
    """Return a tenant's settings; the defaults where it has set none."""
    found = await (await conn.execute(_OF, {"tenant": tenant_id})).fetchone()
    if found is None:
        return PrintSettings()
    logo, accent, footer, marks, language, layout = found
    return PrintSettings(
        None if logo is None else bytes(logo),
        accent,
        footer,
        tuple(marks),
        "en" if language == "en" else "es",
        PaperSize(layout),
    )


async def put(conn: Conn, tenant_id: TenantId, settings: PrintSettings, at: datetime) -> None:
    """Set them all."""
    await conn.execute(
        _PUT,
        {
            "tenant": tenant_id,
            "logo": settings.logo,
            "accent": settings.accent,
            "footer": settings.footer,
            "marks": list(settings.marks),
            "language": settings.language,
            "layout": settings.layout.value,
            "at": at,
        },
    )


class CachedPrintSettings:
    """Print settings as prints need them, cached for CACHED_SECONDS."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._cached: ExpiringCache[TenantId, PrintSettings] = ExpiringCache(_KEPT)

    async def of(self, tenant_id: TenantId) -> PrintSettings:
        """Return a tenant's settings. Raises DatabaseUnavailable."""
        now = trio.current_time()
        found = self._cached.get(tenant_id, now)
        if found is None:
            found = await self._db.run_for(tenant_id, of)
            self._cached.put(tenant_id, found, now + CACHED_SECONDS)
        return found

    def forget(self, tenant_id: TenantId) -> None:
        """Read a tenant's settings again next time: they were changed."""
        self._cached.forget(tenant_id)
