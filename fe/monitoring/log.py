"""Structured logs: one JSON line per event on stderr, with the request, submission and stage it belongs to.

Secrets never reach the log: keys that name a secret are blanked, and database errors are logged by their SQLSTATE, also
in tracebacks, because their DETAIL line quotes values of rows.
"""

import logging
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any

import structlog

from fe.monitoring.nonblocking_sink import handlers_of

_SECRET_WORDS = ("secret", "passphrase", "password", "token", "authorization", "p12", "pepper", "kek", "cookie", "jwt")

#: The logger for lines that are JSON already: see fe/monitoring/submission_log.py.
LINES = "fe.lines"

#: Packages whose errors quote values of rows or input. Errors of a failing connection have no secrets and are kept.
_QUOTING = ("psycopg", "pydantic", "pydantic_core")

#: The first keys of every line.
_FIRST = ("event", "level", "timestamp")

#: Most errors of a chain or group in a traceback.
_MAX_ERRORS = 20

#: The current task's work: a function that returns log fields, and its argument. Called only for lines that are
#: written; most tries write none.
task_context: ContextVar[tuple[Callable[[Any], Mapping[str, object]], Any] | None] = ContextVar(
    "task_context", default=None
)


def add_task_context(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the fields of the task's work; fields of the line itself win."""
    if (done := task_context.get()) is not None:
        fields, what = done
        for key, value in fields(what).items():
            event.setdefault(key, value)
    return event


def _blank_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key in event:
        event[key] = _blanked(key, event[key])
    return event


def _blanked(key: object, value: object) -> object:
    if any(word in str(key).lower() for word in _SECRET_WORDS):
        return "[blanked]"
    if isinstance(value, Mapping):
        return {name: _blanked(name, inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_blanked("", inner) for inner in value]
    return value


def order_line(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put `event`, `level` and `timestamp` first: a line is read from its left."""
    return {**{name: event[name] for name in _FIRST if name in event}, **event}


def _name_exception(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    error = event.get("error")
    if isinstance(error, BaseException):
        event["error"] = _name(error)
    return event


def _format_exception(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the traceback in our own format: the usual one ends in the message of a database error."""
    given = event.pop("exc_info", None)
    error = given[1] if isinstance(given, tuple) else given if isinstance(given, BaseException) else None
    if error is None and given:
        error = sys.exc_info()[1]
    if error is not None:
        event["exception"] = "\n".join(_format(error, set()))
    return event


def _format(error: BaseException, seen: set[int]) -> Iterator[str]:
    if id(error) in seen or len(seen) >= _MAX_ERRORS:
        yield f"({_name(error)}, and what led to it)"
        return
    seen.add(id(error))
    if error.__cause__ is not None:
        yield from _format(error.__cause__, seen)
        yield "which was the direct cause of"
    elif error.__context__ is not None and not error.__suppress_context__:
        yield from _format(error.__context__, seen)
        yield "while that was handled, there came"
    yield "".join(["Traceback (most recent call last):\n", *traceback.format_tb(error.__traceback__), _name(error)])
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield textwrap.indent("\n".join(_format(part, seen)), "  | ")


def _name(error: BaseException) -> str:
    """Return type and message of an error; only the type if the message may quote values."""
    kind = type(error).__name__
    if getattr(error, "sqlstate", None):
        return f"{kind} {error.sqlstate}"  # type: ignore[attr-defined]  # looked for in the line above
    is_quoting = type(error).__module__.partition(".")[0] in _QUOTING and not kind.startswith("Operational")
    return kind if is_quoting else f"{kind}: {error}"


def configure_logging(level: str = "info", *, human: bool = False) -> None:
    """Set up logging for the whole process; `human` writes for a terminal instead of JSON."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        add_task_context,
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
    handler, of_lines = handlers_of(sys.stderr)
    if human:  # a terminal may block the process
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _format_exception,
                order_line,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # No format uses source position and thread, and looking them up costs time for each line.
    logging._srcfile = None  # as logging's documentation advises
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    lines = logging.getLogger(LINES)
    lines.handlers[:] = [of_lines]
    lines.propagate = False
    for chatty in ("httpx", "httpcore", "hypercorn.access", "psycopg.pool"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
