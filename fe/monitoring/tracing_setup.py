"""Turn tracing on as FE_TRACING_URL says. The recorder (spans.py) is an extra and takes 0.1 s to load."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fe.config import ConfigError, Settings
from fe.monitoring.metrics import Metrics
from fe.monitoring.tracing import OFF, Tracing


def require_tracing(settings: Settings) -> None:
    """Require the recorder to be installed if tracing is on. Raises ConfigError."""
    if settings.tracing_url:
        try:
            import fe.monitoring.spans  # noqa: F401  (looked for, not used)
        except ImportError as error:
            raise ConfigError(
                f"FE_TRACING_URL is set, and {error.name} is not installed: install the `tracing` extra"
            ) from error


@asynccontextmanager
async def open_tracing(settings: Settings, role: str, metrics: Metrics) -> AsyncIterator[Tracing]:
    """Trace as the settings say while the block runs; at its end send recorded spans, within two seconds."""
    if not settings.tracing_url:
        yield OFF
        return
    from fe.monitoring.spans import record_spans  # here, because it is an extra, and takes 0.1 s to load

    async with record_spans(settings, role, metrics) as tracing:
        yield tracing
