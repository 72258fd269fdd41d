"""Logging: JSON lines when nobody watches, readable lines on a terminal; never bodies, never secrets."""

from __future__ import annotations

import contextlib
import logging
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, Any, TextIO

if "structlog" not in sys.modules and "rich" not in sys.modules:
    # structlog would load rich for pretty traces, which takes longer than the rest of the start together. An entry of
    # None makes `import rich` fail, structlog then does without, and the entry is taken back.
    sys.modules["rich"] = None  # type: ignore[assignment] # the documented way to make an import fail
    import structlog

    del sys.modules["rich"]
else:
    import structlog

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from structlog.typing import FilteringBoundLogger

__all__ = ["configure", "logger"]

VALUE_CHARS_MAX = 500
FRAMES_MAX = 20
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure(level: str, stream: TextIO | None = None) -> None:
    """Sets up structlog, and sends the standard library's warnings (of asyncio) the same way."""
    target = stream if stream is not None else sys.stderr
    renderer: Any = structlog.dev.ConsoleRenderer() if target.isatty() else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _where_it_failed,
            _bounded,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(_Forgiving(target)),  # type: ignore[arg-type] # writes and flushes
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not isinstance(handler, _Bridge)]
    root.addHandler(_Bridge(level=logging.WARNING))
    warnings.showwarning = _warned


def logger(name: str) -> FilteringBoundLogger:
    """The log of one part. Everybody asks here, so that structlog is imported in one place and without rich."""
    made: FilteringBoundLogger = structlog.get_logger(name)
    return made


class _Forgiving:
    """A stream that a full disk may cost lines, and nothing else: what a line tells of must go on."""

    def __init__(self, target: TextIO) -> None:
        self._target = target

    def write(self, text: str) -> int:
        """As many characters as were taken; 0 where there is no room."""
        try:
            return self._target.write(text)
        except OSError:
            return 0

    def flush(self) -> None:
        """Sends on what was written, if it can be."""
        with contextlib.suppress(OSError):
            self._target.flush()


class _Bridge(logging.Handler):
    """Hands a record of the standard library to structlog: its template, never its arguments."""

    def emit(self, record: logging.LogRecord) -> None:
        """One record. The template is the program's own text; arguments may hold a caller's."""
        failure = record.exc_info[1] if record.exc_info else None
        log = logger(record.name)
        log.log(record.levelno, str(record.msg), **({"exc_info": failure} if failure else {}))


def _warned(  # noqa: PLR0917 - as Python calls it
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning of Python's as its kind and the line of code it came from; its message may hold anything."""
    del message, file, line
    logger("warnings").warning("Python warned", kind=category.__name__, where=f"{filename}:{lineno}")


def _where_it_failed(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """An exception as its kind and the lines of code it passed; its message and values may hold a caller's words."""
    failure = event.pop("exc_info", None)
    if isinstance(failure, BaseException):
        event["kind"] = type(failure).__name__
        frames = traceback.extract_tb(failure.__traceback__)[-FRAMES_MAX:]
        event["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return event


def _bounded(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """No value fills the log; no value breaks a line in two."""
    for name, value in event.items():
        if isinstance(value, str) and len(value) > VALUE_CHARS_MAX:
            event[name] = value[:VALUE_CHARS_MAX] + "…"
    return event
