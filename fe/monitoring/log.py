"""Structured logs: one JSON line per event on stderr, with the request, submission and stage it belongs to.

Secrets never reach a log: what is bound is named here or by the caller, keys that name a secret are blanked whatever
they hold, and database errors are logged by their SQLSTATE, in tracebacks too: their DETAIL line quotes values of rows.
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

#: The logger of lines that are JSON already: see fe/monitoring/submission_log.py.
LINES = "fe.lines"

#: Their errors quote values: of rows, of input. What a failing connection says has no secret in it, and is needed.
_QUOTING = ("psycopg", "pydantic", "pydantic_core")

#: What every line begins with.
_FIRST = ("event", "level", "timestamp")

#: How many errors of a chain or group are told.
_MAX_ERRORS = 20

#: What the task is at: what tells of it, and what that is called with. Only a line that is written has it told, and
#: most of what is done writes none.
task_context: ContextVar[tuple[Callable[[Any], Mapping[str, object]], Any] | None] = ContextVar(
    "task_context", default=None
)


def add_task_context(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put in what the task is at; what the line says itself stands."""
    if (done := task_context.get()) is not None:
        tell, what = done
        for key, value in tell(what).items():
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
    """Put the traceback in, told by our own rules: the usual formatting ends in the message of a database error."""
    given = event.pop("exc_info", None)
    error = given[1] if isinstance(given, tuple) else given if isinstance(given, BaseException) else None
    if error is None and given:
        error = sys.exc_info()[1]
    if error is not None:
        event["exception"] = "\n".join(_tell(error, set()))
    return event


def _tell(error: BaseException, seen: set[int]) -> Iterator[str]:
    if id(error) in seen or len(seen) >= _MAX_ERRORS:
        yield f"({_name(error)}, and what led to it)"
        return
    seen.add(id(error))
    if error.__cause__ is not None:
        yield from _tell(error.__cause__, seen)
        yield "which was the direct cause of"
    elif error.__context__ is not None and not error.__suppress_context__:
        yield from _tell(error.__context__, seen)
        yield "while that was handled, there came"
    yield "".join(["Traceback (most recent call last):\n", *traceback.format_tb(error.__traceback__), _name(error)])
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield textwrap.indent("\n".join(_tell(part, seen)), "  | ")


def _name(error: BaseException) -> str:
    """The type and message of an error; of one that may quote what it is about, only what kind it is."""
    kind = type(error).__name__
    if getattr(error, "sqlstate", None):
        return f"{kind} {error.sqlstate}"  # type: ignore[attr-defined]  # looked for in the line above
    is_quoting = type(error).__module__.partition(".")[0] in _QUOTING and not kind.startswith("Operational")
    return kind if is_quoting else f"{kind}: {error}"


def configure_logging(level: str = "info", *, human: bool = False) -> None:
    """Set logging up for the whole process; `human` writes for a terminal instead of for a machine."""
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
    if human:  # whoever holds a terminal's output still is waited for
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
    # Where in the source a line was written, and by which thread, is asked for by no format, and looked up for each.
    logging._srcfile = None  # as logging's documentation advises
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    lines = logging.getLogger(LINES)
    lines.handlers[:] = [of_lines]
    lines.propagate = False
    for chatty in ("httpx", "httpcore", "hypercorn.access", "psycopg.pool"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
