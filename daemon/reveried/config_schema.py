"""Settings schema: one field per setting, with its type, default, bounds and description, as msgspec structs.

The structs are the single declaration: `KEYS`, the checks, the error texts, `reverie config` and docs/configuration.md
are derived from them.

Names: the field `queue_length` of the section `daemon` is `daemon.queueLength` in the file and
`REVERIE_DAEMON_QUEUE_LENGTH` in the environment.
"""

import difflib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from reverie.decode import convert
from reverie.errors import ValidationError
from reveried.config_sections import (
    DAY_MAX,
    LIST_MAX,
    TEXT_MAX,
    TOKENS_MAX,
    Distiller,
    Reflection,
    Section,
    Texts,
    number,
    share,
    text,
)

ANYWHERE = "the configuration"


@dataclass(frozen=True, slots=True)
class Key:
    """One setting of the file, derived from a field of its section; `default` is "" for an unset path."""

    name: str
    section: str
    field: str
    type: Any
    meta: Meta
    default: Any
    description: str

    def checked(self, value: Any, where: str = ANYWHERE) -> Any:
        """Return `value` as the type that the program uses; `where` it was set goes into the error.

        A path stays a text here: only `reveried.config` knows the home folder.

        Raises:
            ValidationError: the wrong type, or out of bounds; says what to write.
        """
        try:
            checked = convert(value, Annotated[self.type, self.meta])
        except (ValueError, OverflowError):
            # msgspec's ValidationError, or what it raises for undecodable bytes in a variable (UnicodeEncodeError).
            # Not chained: its message repeats the value, which may be a secret.
            raise self.refused(f"it must be {self.expected}", where) from None
        texts = checked if isinstance(checked, tuple) else (checked,)
        if not all(text.isprintable() for text in texts if isinstance(text, str)):
            raise self.refused(f"it must be {self.expected}", where)
        return checked

    def from_text(self, text: str, where: str = ANYWHERE) -> Any:
        """Return the value of an environment variable; a list is JSON.

        Raises:
            ValidationError: as `checked`.
        """
        value: Any = text
        try:
            if self.type is int:
                value = int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
            elif self.type is float:
                value = float(text)
            elif get_origin(self.type) is tuple:
                value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        return self.checked(value, where)

    @property
    def expected(self) -> str:
        """The allowed values in words: `a whole number of 1 to 1000`."""
        if self.type is int:
            return f"a whole number of {_plain(self.meta.ge)} to {_plain(self.meta.le)}"
        if self.type is float and self.meta.gt is not None:
            return "a number above 0 and up to 1"
        if self.type is float:
            return f"a number of {_plain(self.meta.ge)} to {_plain(self.meta.le)}"
        if get_origin(self.type) is tuple:
            return "a list of texts, none empty"
        if get_origin(self.type) is Literal:
            return "one of " + ", ".join(get_args(self.type))
        return str((self.meta.extra or {}).get("expected", "a text without control characters"))

    @property
    def environment(self) -> str:
        """The name of the environment variable that overrides the setting; that of the socket has a short name."""
        if self.name == "daemon.socket":
            return "REVERIE_SOCKET"
        return f"REVERIE_{self.section.upper()}_{self.field.upper()}"

    def refused(self, why: str, where: str = ANYWHERE) -> ValidationError:
        """Return the error for a wrong value of this key; it never shows the value."""
        return ValidationError(
            f"{self.name} in {where}: {why}.",
            hint=f"Give {self.expected}; the default is {json.dumps(self.default)}. {self.description}",
            key=self.name,
        )


def _plain(number: float | None) -> str:
    """Format a bound as people write it: 10000000 and 0.05, never 1e+07."""
    assert number is not None
    return str(int(number)) if number == int(number) else str(number)


RETIRED: dict[str, str] = {
    "distiller.batches": "Remove it: what a schedule does is asked directly.",
    "distiller.batchPollSeconds": "Remove it: what a schedule does is asked directly.",
    "distiller.kind=spool": "Set it to command; docs/models.md has a program that waits for answers in a folder.",
    "distiller.spoolFolder": "Remove it; docs/models.md has a program that waits for answers in a folder.",
}
"""Keys of earlier releases, and values (`section.key=value`), each with what to do instead: ignored for one release."""

CREDENTIAL_WORDS = ("key", "token", "secret", "password", "credential")
_NEAREST_CUTOFF = 0.5  # of difflib's ratio: `daemon.sokcet` finds `daemon.socket`; `bogus` (0.4) finds nothing

LogLevel = Literal["debug", "info", "warning", "error"]


class Memory(Section, frozen=True):
    """Settings of the section `[memory]`."""

    data_dir: Annotated[Path, text("The folder that holds one folder of markdown per space; empty: ~/Reverie.")]
    embedder: Annotated[
        str, text("A model's folder, or a package with one, for searches by meaning; empty: words alone are searched.")
    ] = ""


class Sync(Section, frozen=True):
    """Settings of the section `[sync]` of the settings file."""

    debounce_ms: Annotated[int, number(1, 60_000, "Quiet time after a change of a file before it is read.")] = 100
    rescan_seconds: Annotated[float, number(0.1, 86_400, "Interval of full scans of the folder.")] = 120.0
    delete_quiet_seconds: Annotated[
        float, number(0, 86_400, "How long a file must be missing to count as deleted.")
    ] = 2.0
    grace_seconds: Annotated[float, number(0, 600, "How long a replaced file is watched for a late write.")] = 3.0
    file_bytes: Annotated[int, number(1024, 67_108_864, "Largest file that is read.")] = 1_048_576
    files: Annotated[int, number(1, 10_000_000, "Most files that a folder may have.")] = 100_000
    mass_fraction: Annotated[
        float, share("Share of the files that may be missing at once before sync stops and asks.")
    ] = 0.5


class Daemon(Section, frozen=True):
    """Settings of the section `[daemon]`."""

    socket: Annotated[Path, text("Where the daemon listens; empty: the runtime directory of the user.")]
    tcp: Annotated[
        str,
        Meta(
            pattern=r"\A(?:(?:127\.0\.0\.1|\[::1\]):[0-9]{1,5})?\Z",
            description="A second, loopback listener on which every request needs a token (`reverie token create`); "
            "empty: off.",
            extra={"expected": 'empty (off), or a loopback address and port such as "127.0.0.1:8377"'},
        ),
    ] = ""
    queue_length: Annotated[int, number(1, 100_000, "Writes that may wait in each lane before `busy`.")] = 1024
    connections: Annotated[int, number(1, 10_000, "Connections at once; more are answered 503.")] = 512
    body_bytes: Annotated[int, number(1024, 1_073_741_824, "Largest body of a request.")] = 33_554_432
    header_seconds: Annotated[float, number(0.05, 600, "Time limit for the head of a request.")] = 5.0
    body_seconds: Annotated[float, number(0.05, 600, "Time limit between two parts of a body.")] = 10.0
    idle_seconds: Annotated[float, number(0.05, 86_400, "How long a connection may be idle.")] = 60.0
    write_seconds: Annotated[float, number(0.05, 600, "How long a client may leave its answer unread.")] = 30.0
    drain_seconds: Annotated[float, number(0, 600, "Time to finish running requests when stopping.")] = 20.0
    compute_idle_seconds: Annotated[float, number(0.05, 86_400, "How long a compute process without work stays.")] = (
        60.0
    )
    compute_seconds: Annotated[float, number(0.05, 86_400, "Time limit of one job in a compute process.")] = 600.0
    subscribers: Annotated[int, number(1, 10_000, "Event streams at once.")] = 64


class Context(Section, frozen=True):
    """Settings of the section `[context]`."""

    window: Annotated[int, number(1000, TOKENS_MAX, "The model's context window in tokens.")] = 200_000
    distil_at: Annotated[float, share("Share of the window at which a thread is distilled.")] = 0.70
    clear_at: Annotated[float, share("Share of the window at which old tool results are cleared.")] = 0.60
    absolute_cap: Annotated[int, number(1000, TOKENS_MAX, "Tokens at which any thread is distilled.")] = 140_000
    bootstrap: Annotated[Texts, Meta(max_length=LIST_MAX, description="Documents whose text opens every context.")] = ()


class Compaction(Section, frozen=True):
    """Settings of the section `[compaction]`."""

    preserve_recent_messages: Annotated[int, number(1, 1000, "Last messages kept word for word.")] = 10
    preserve_recent_max_tokens: Annotated[int, number(100, TOKENS_MAX, "Most tokens of those messages.")] = 12_000


class Consolidation(Section, frozen=True):
    """Settings of the section `[consolidation]`."""

    window: Annotated[int, number(1000, 100 * TOKENS_MAX, "Tokens of memory that count as full.")] = 1_000_000


class Brief(Section, frozen=True):
    """Settings of the section `[brief]`."""

    max_tokens: Annotated[int, number(100, TOKENS_MAX, "Tokens of a project's brief at most.")] = 1_300


class Runs(Section, frozen=True):
    """Settings of the section `[runs]`."""

    idle_minutes: Annotated[int, number(1, 525_600, "Minutes without a call or message that end a run.")] = 60


class Workspace(Section, frozen=True):
    """Settings of the section `[workspace]`."""

    paths: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=TEXT_MAX, pattern="^(?:/|~|[A-Za-z]:)")], ...],
        Meta(
            max_length=LIST_MAX,
            description="Folders in which agents work, absolute: files written there while a run is open join the run.",
        ),
    ] = ()


class Dream(Section, frozen=True):
    """Settings of the section `[dream]`."""

    max_token_budget: Annotated[int, number(1, 100 * TOKENS_MAX, "Most tokens that one dream may use.")] = 100_000


class Redact(Section, frozen=True):
    """Settings of `[redact]`; `literals` includes those of `literals_file`, and `repr` shows only their number."""

    literals: Annotated[
        Texts, Meta(max_length=LIST_MAX, description="Secrets of your own to be replaced wherever they appear.")
    ] = ()
    literals_file: Annotated[Path | None, text("A file of mode 0600 with one such secret a line; empty: none.")] = None

    allow: Annotated[
        tuple[
            Annotated[str, Meta(max_length=TEXT_MAX, pattern=r"\A(?:rdn_[0-9a-f]{32}|rule:[a-z0-9-]+|like:[\s\S]+)\Z")],
            ...,
        ],
        Meta(
            max_length=LIST_MAX,
            description="What is not taken: ids of redactions, rule:NAME, like:PATTERN (reverie redactions allow).",
        ),
    ] = ()

    def __repr__(self) -> str:
        return f"Redact({len(self.literals)} literals)"


class Log(Section, frozen=True):
    """Settings of the section `[log]`."""

    level: Annotated[LogLevel, text("What is logged: debug, info, warning or error.")] = "info"


class Backup(Section, frozen=True):
    """Settings of the section `[backup]`."""

    folder: Annotated[
        Path,
        text("The folder below which POST /v1/backups writes; empty: backups beside the store; / allows any folder."),
    ]


class Retention(Section, frozen=True):
    """Settings of the section `[retention]`."""

    version_days: Annotated[int, number(1, DAY_MAX, "Days that superseded versions are kept.")] = 365
    event_days: Annotated[int, number(1, DAY_MAX, "Days that events are kept.")] = 90
    key_days: Annotated[int, number(1, DAY_MAX, "Days that idempotency keys are kept.")] = 7
    job_days: Annotated[int, number(1, DAY_MAX, "Days that finished jobs are kept.")] = 7


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """All settings, checked. `set_by` maps each key that is not at its default to `file` or `environment`.

    `unused` has a warning for each key of the file that does not exist, or does not exist any more.
    """

    memory: Memory
    sync: Sync
    daemon: Daemon
    context: Context
    compaction: Compaction
    consolidation: Consolidation
    brief: Brief
    runs: Runs
    workspace: Workspace
    dream: Dream
    reflection: Reflection
    distiller: Distiller
    redact: Redact
    log: Log
    backup: Backup
    retention: Retention
    set_by: dict[str, str]
    unused: tuple[ValidationError, ...] = ()

    def value(self, name: str) -> Any:
        """Return the value of a key by its name in the file, such as `daemon.socket`.

        Raises:
            ValidationError: there is no such key; names the nearest.
        """
        if name not in BY_NAME:
            raise unused_key(name)
        key = BY_NAME[name]
        return getattr(getattr(self, key.section), key.field)


def _key(section: str, field: msgspec.structs.FieldInfo) -> Key:
    """Return the key of one field of a section."""
    kind, meta = get_args(field.type)
    is_path = kind in (Path, Path | None)
    if is_path:
        kind, meta = str, Meta(max_length=TEXT_MAX, description=meta.description)
    elif kind is str:
        meta = Meta(max_length=TEXT_MAX, pattern=meta.pattern, description=meta.description, extra=meta.extra)
    return Key(
        name=f"{section}.{field.encode_name}",
        section=section,
        field=field.name,
        type=kind,
        meta=meta,
        default="" if is_path else field.default,
        description=meta.description or "",
    )


KEYS: tuple[Key, ...] = tuple(
    _key(section.name, field)
    for section in msgspec.structs.fields(Config)
    if isinstance(section.type, type) and issubclass(section.type, Section)
    for field in msgspec.structs.fields(section.type)
)
"""Every setting, in the order of the sections."""

BY_NAME = {key.name: key for key in KEYS}


def is_retired(name: str, value: Any) -> bool:
    """Return True for a value that an earlier release knew."""
    return isinstance(value, str) and f"{name}={value}" in RETIRED


def is_credential(name: str) -> bool:
    """Return True for a key that never was one and names a credential: its value must not stay in the file."""
    return not ({name} & {*BY_NAME, *RETIRED}) and any(word in name.lower() for word in CREDENTIAL_WORDS)


def unused_key(name: str, value: Any = None, where: str = ANYWHERE) -> ValidationError:
    """Return the error for a key, or a value of one, that does not exist (any more); names the nearest key.

    Only a value that an earlier release knew is shown: any other may be a secret.
    """
    shown = name[:80]
    if name in RETIRED:
        return ValidationError(f"{name} in {where} is no setting any more.", hint=RETIRED[name], key=name)
    if is_retired(name, value):
        hint = RETIRED[f"{name}={value}"]
        return ValidationError(f"{name} in {where} cannot be {value} any more.", hint=hint, key=name)
    if is_credential(name):
        return ValidationError(
            f"There is no key {shown!r}, and a credential does not belong in the configuration.",
            hint="Keep it in a file of mode 0600, or in the environment.",
            key=shown,
        )
    nearest = difflib.get_close_matches(shown, BY_NAME, n=1, cutoff=_NEAREST_CUTOFF)
    hint = f"Did you mean {nearest[0]!r}?" if nearest else "reverie config get lists all keys."
    return ValidationError(f"There is no key {shown!r} in {where}.", hint=hint, key=shown)
