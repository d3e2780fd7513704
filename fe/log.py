"""Structured logs: one JSON line per event on stderr, with the request, submission and stage it belongs to.

Secrets never reach a log: what is bound is named here or by the caller, keys that name a secret are blanked whatever
they hold, and database errors are logged by their SQLSTATE, because their DETAIL line quotes values of rows.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

_SECRET_WORDS = ("secret", "passphrase", "password", "token", "authorization", "p12", "pepper", "kek", "cookie", "jwt")


def _blank_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key in event:
        if any(word in key.lower() for word in _SECRET_WORDS):
            event[key] = "[blanked]"
    return event


def _name_exception(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace an exception from the database by its type and SQLSTATE."""
    error = event.get("error")
    if isinstance(error, BaseException):
        state = getattr(error, "sqlstate", None)
        event["error"] = f"{type(error).__name__} {state}" if state else f"{type(error).__name__}: {error}"
    return event


def configure_logging(level: str = "info", *, human: bool = False) -> None:
    """Set logging up for the whole process; `human` writes for a terminal instead of for a machine."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _name_exception,
        _blank_secrets,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if human else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for chatty in ("httpx", "httpcore", "hypercorn.access", "psycopg.pool"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Get a logger for a module."""
    logger: structlog.stdlib.BoundLogger = structlog.get_logger(name)
    return logger
