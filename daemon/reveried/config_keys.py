"""The table of settings: name, type, default, bounds and one sentence each; documentation and checks read it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from reverie.errors import ValidationError

__all__ = ["ANYWHERE", "KEYS", "Key", "attribute", "environment_name"]

Kind = Literal["text", "path", "integer", "number", "fraction", "list", "level", "tcp"]

ANYWHERE = "the configuration"
DAY_MAX = 36_500
TOKENS_MAX = 10_000_000
TEXT_MAX = 4096
LIST_MAX = 10_000
_TCP = re.compile(r"(?:127\.0\.0\.1|\[::1\]):(?:[0-9]{1,5})")
_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. `least` and `most` bound integers and numbers; an empty text stands for "not set"."""

    name: str
    kind: Kind
    default: Any
    says: str
    least: float = 0
    most: float = math.inf

    def checked(self, value: Any, where: str = ANYWHERE) -> Any:
        """`value` as the type that the program uses; `where` it was said is named in the error.

        Raises:
            ValidationError: the wrong type, or out of bounds; says what to write.
        """
        match self.kind:
            case "integer":
                fits = isinstance(value, int) and not isinstance(value, bool)
            case "number" | "fraction":
                fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            case "list":
                fits = isinstance(value, list) and len(value) <= LIST_MAX and all(_is_text(item) for item in value)
            case _:
                fits = _is_text(value)
        if not fits:
            raise self.refused(f"it must be {self.expected}", where)
        return self._bounded(value, where)

    def from_text(self, text: str, where: str = ANYWHERE) -> Any:
        """The value that an environment variable says; a list is JSON.

        Raises:
            ValidationError: as `checked`.
        """
        value: Any = text
        try:
            match self.kind:
                case "integer":
                    value = int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
                case "number" | "fraction":
                    value = float(text)
                case "list":
                    value = json.loads(text)
        except ValueError:
            value = None
        return self.checked(value, where)

    @property
    def expected(self) -> str:
        """What may stand there, in words."""
        match self.kind:
            case "integer":
                return f"a whole number of {_plain(self.least)} to {_plain(self.most)}"
            case "number":
                return f"a number of {_plain(self.least)} to {_plain(self.most)}"
            case "fraction":
                return "a number above 0 and up to 1"
            case "list":
                return "a list of texts, none empty"
            case "level":
                return "one of " + ", ".join(_LEVELS)
            case "tcp":
                return 'empty (off), or a loopback address and port such as "127.0.0.1:8377"'
            case _:
                return "a text without control characters"

    @property
    def environment(self) -> str:
        """The variable that overrides it."""
        return environment_name(self.name)

    def refused(self, why: str, where: str = ANYWHERE) -> ValidationError:
        """The error for this key; never shows the value."""
        return ValidationError(
            f"{self.name} in {where}: {why}.",
            hint=f"{self.says} Default: {json.dumps(self.default)}.",
            key=self.name,
        )

    def _bounded(self, value: Any, where: str) -> Any:
        match self.kind:
            case "integer" | "number" if not self.least <= value <= self.most:
                raise self.refused(f"it must be {self.expected}", where)
            case "fraction" if not 0 < value <= 1:
                raise self.refused(f"it must be {self.expected}", where)
            case "level" if value not in _LEVELS:
                raise self.refused(f"it must be {self.expected}", where)
            case "tcp" if value and not _TCP.fullmatch(value):
                raise self.refused(f"it must be {self.expected}", where)
            case "list":
                if not all(value):
                    raise self.refused(f"it must be {self.expected}", where)
                return tuple(value)
            case "number" | "fraction":
                return float(value)
        return value


def _plain(number: float) -> str:
    """A bound as people write it: 10000000 and 0.05, never 1e+07."""
    return str(int(number)) if number == int(number) else str(number)


def _is_text(value: Any) -> bool:
    """A text of reasonable length that the system can be given: no NUL or other control characters."""
    return isinstance(value, str) and len(value) <= TEXT_MAX and value.isprintable()


KEYS: tuple[Key, ...] = (
    Key("memory.dataDir", "path", "", "The folder that holds one folder of markdown per space; empty: ~/Reverie."),
    Key("sync.debounceMs", "integer", 100, "Quiet time after a change of a file before it is read.", 1, 60_000),
    Key("sync.rescanSeconds", "number", 120.0, "How often the whole folder is looked at.", 0.1, 86_400),
    Key("sync.deleteQuietSeconds", "number", 2.0, "How long a file must be gone to count as deleted.", 0, 86_400),
    Key("sync.graceSeconds", "number", 3.0, "How long a replaced file is watched for a late save.", 0, 600),
    Key("sync.fileBytes", "integer", 1_048_576, "Largest file that is read.", 1024, 67_108_864),
    Key("sync.files", "integer", 100_000, "Most files that a folder may hold.", 1, 10_000_000),
    Key("sync.massFraction", "fraction", 0.5, "Share of the files that may vanish at once before sync stops to ask."),
    Key("daemon.socket", "path", "", "Where the daemon listens; empty: the runtime directory of the user."),
    Key("daemon.tcp", "tcp", "", "A second, loopback listener on which every request needs a token; empty: off."),
    Key("daemon.queueLength", "integer", 1024, "Writes that may wait in each lane before `busy`.", 1, 100_000),
    Key("daemon.connections", "integer", 512, "Connections at once; more are answered 503.", 1, 10_000),
    Key("daemon.bodyBytes", "integer", 33_554_432, "Largest body of a request.", 1024, 1_073_741_824),
    Key("daemon.headerSeconds", "number", 5.0, "Time for the head of a request.", 0.05, 600),
    Key("daemon.bodySeconds", "number", 10.0, "Time in which a body must move on.", 0.05, 600),
    Key("daemon.idleSeconds", "number", 60.0, "How long a connection may ask nothing.", 0.05, 86_400),
    Key("daemon.writeSeconds", "number", 30.0, "How long a client may leave its answer unread.", 0.05, 600),
    Key("daemon.drainSeconds", "number", 20.0, "Time to finish running requests when stopping.", 0, 600),
    Key(
        "daemon.computeIdleSeconds",
        "number",
        60.0,
        "When a compute process without work leaves.",
        0.05,
        86_400,
    ),
    Key("daemon.computeSeconds", "number", 600.0, "Longest time for one decision.", 0.05, 86_400),
    Key("daemon.subscribers", "integer", 64, "Event streams at once.", 1, 10_000),
    Key("context.window", "integer", 200_000, "The model's context window in tokens.", 1000, TOKENS_MAX),
    Key("context.distilAt", "fraction", 0.70, "Share of the window at which a thread is distilled."),
    Key("context.clearAt", "fraction", 0.60, "Share of the window at which old tool results are cleared."),
    Key(
        "context.absoluteCap",
        "integer",
        140_000,
        "Tokens at which any thread is distilled.",
        1000,
        TOKENS_MAX,
    ),
    Key("context.bootstrap", "list", (), "Documents whose text opens every context."),
    Key("compaction.preserveRecentMessages", "integer", 10, "Last messages kept word for word.", 1, 1000),
    Key("compaction.preserveRecentMaxTokens", "integer", 12_000, "Tokens that they may take.", 100, TOKENS_MAX),
    Key(
        "consolidation.window",
        "integer",
        1_000_000,
        "Tokens that the memory is measured by.",
        1000,
        100 * TOKENS_MAX,
    ),
    Key("dream.maxTokenBudget", "integer", 100_000, "Most tokens that one dream may use.", 1, 100 * TOKENS_MAX),
    Key("redact.literals", "list", (), "Secrets of your own to be replaced wherever they appear."),
    Key("redact.literalsFile", "path", "", "A file of mode 0600 with one such secret a line; empty: none."),
    Key("log.level", "level", "info", "What is logged: debug, info, warning or error."),
    Key("retention.versionDays", "integer", 365, "Days that superseded versions are kept.", 1, DAY_MAX),
    Key("retention.eventDays", "integer", 90, "Days that events are kept.", 1, DAY_MAX),
    Key("retention.keyDays", "integer", 7, "Days that idempotency keys are kept.", 1, DAY_MAX),
    Key("retention.jobDays", "integer", 7, "Days that finished jobs are kept.", 1, DAY_MAX),
)

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def attribute(name: str) -> tuple[str, str]:
    """Section and attribute of a key: `daemon.queueLength` is `("daemon", "queue_length")`."""
    section, _, field = name.partition(".")
    return section, _CAPITAL.sub("_", field).lower()


def environment_name(name: str) -> str:
    """The variable that overrides a key: REVERIE_DAEMON_QUEUE_LENGTH; the socket's is REVERIE_SOCKET."""
    if name == "daemon.socket":
        return "REVERIE_SOCKET"
    section, field = attribute(name)
    return f"REVERIE_{section.upper()}_{field.upper()}"
