"""Logging: readable lines on a terminal, JSON lines elsewhere; never request bodies, never secrets."""

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

from reverie.texts import masked

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from structlog.typing import FilteringBoundLogger

VALUE_CHARS_MAX = 500
FRAMES_MAX = 20
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure(level: str, stream: TextIO | None = None) -> None:
    """Set up structlog, and route the standard library's log records and Python's warnings into it."""
    target = stream if stream is not None else sys.stderr
    renderer: Any = structlog.dev.ConsoleRenderer() if target.isatty() else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _without_exception_text,
            _cut_values,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(_LossyStream(target)),  # type: ignore[arg-type] # writes and flushes
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not isinstance(handler, _StructlogHandler)]
    root.addHandler(_StructlogHandler(level=logging.WARNING))
    warnings.showwarning = _log_warning


def logger(name: str) -> FilteringBoundLogger:
    """Return a logger by name; all modules get theirs here, so that structlog is imported once, and without rich."""
    log: FilteringBoundLogger = structlog.get_logger(name)
    return log


class _LossyStream:
    """A stream that drops lines it cannot write: a full disk must not stop the work that is logged."""

    def __init__(self, target: TextIO) -> None:
        self._target = target

    def write(self, text: str) -> int:
        """Return the number of characters written; 0 on an error."""
        try:
            return self._target.write(text)
        except OSError:
            return 0

    def flush(self) -> None:
        """Flush what was written, if that is possible."""
        with contextlib.suppress(OSError):
            self._target.flush()


class _StructlogHandler(logging.Handler):
    """Handler that passes the standard library's records to structlog: their template, never their arguments."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record; the template is the program's own text, while arguments may be a caller's."""
        failure = record.exc_info[1] if record.exc_info else None
        log = logger(record.name)
        log.log(record.levelno, str(record.msg), **({"exc_info": failure} if failure else {}))


def _log_warning(  # noqa: PLR0917 - as Python calls it
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log a Python warning by its kind and line of code; its message may contain anything."""
    del message, file, line
    logger("warnings").warning("Python warned", kind=category.__name__, where=f"{filename}:{lineno}")


def _without_exception_text(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace an exception by its kind and its lines of code; its message and values may contain a caller's words."""
    failure = event.pop("exc_info", None)
    if isinstance(failure, BaseException):
        event["kind"] = type(failure).__name__
        frames = traceback.extract_tb(failure.__traceback__)[-FRAMES_MAX:]
        event["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return event


def _cut_values(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Mask the texts of records and requests, and cut long values, so that no single one fills the log."""
    for name, given in event.items():
        event[name] = value = masked(given)
        if isinstance(value, str) and len(value) > VALUE_CHARS_MAX:
            event[name] = value[:VALUE_CHARS_MAX] + "…"
    return event
