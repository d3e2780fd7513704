"""The log of a process of tests: what one test sets up, the next must not find."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import structlog

from fe.monitoring.log import LINES


@contextmanager
def log_as_found() -> Iterator[None]:
    """Put logging back, afterwards, as it was: structlog's configuration, and levels and handlers of our loggers.

    Within it no logger of a module is kept as configured at its first use, as the product has it: it would stay so
    for the life of the process, whatever is configured afterwards.
    """
    config = structlog.get_config()
    loggers = [logging.getLogger(), logging.getLogger(LINES)]
    found = [(logger, logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    configure = structlog.configure

    def configure_for_now(**kwargs: Any) -> None:
        configure(**kwargs | {"cache_logger_on_first_use": False})

    try:
        with patch.object(structlog, "configure", configure_for_now):
            yield
    finally:
        structlog.configure(**config)
        for logger, handlers, level, propagate in found:
            logger.handlers[:] = handlers
            logger.setLevel(level)
            logger.propagate = propagate
