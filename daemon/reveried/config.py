"""Settings of this process: one tree of sections; defaults, then the TOML file, then REVERIE_* variables.

The tree is the single declaration. A field with a description is a setting: schema, checks, error texts,
`reverie config` and docs/configuration.md come from it. A field without one is a constant, with its reason beside it;
the environment alone overrides it, which tests do to wait for less.

Names: the field `distil_at` of the section `context` is `context.distilAt` in the file and `REVERIE_CONTEXT_DISTIL_AT`
in the environment.
"""

import difflib
import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from reverie.decode import convert
from reverie.errors import ValidationError
from reverie.places import SOCKET_PATH_BYTES_MAX, Layout

CONFIG_BYTES_MAX = 256 * 1024
SECRET_FILE_BYTES_MAX = 1024 * 1024
SYSTEM_FOLDERS = ("/etc", "/proc", "/sys", "/dev", "/boot", "/usr", "/bin", "/sbin", "/lib", "/run", "/var")
SYSTEM_FOLDERS_WITH_USERS = ("/run/user", "/var/lib", "/var/tmp")  # noqa: S108 - names a path, makes nothing there
TOKENS_MAX = 10_000_000
TEXT_MAX = 4096  # characters: the longest path that Linux takes
LIST_MAX = 10_000
ANYWHERE = "the configuration"
CREDENTIAL_WORDS = ("key", "token", "secret", "password", "credential")
_NEAREST_CUTOFF = 0.5  # of difflib's ratio: `daemon.sokcet` finds `daemon.socket`; `bogus` (0.4) finds nothing

Texts = tuple[Annotated[str, Meta(min_length=1, max_length=TEXT_MAX)], ...]


def number(least: float, most: float, description: str) -> Meta:
    """Return the schema of a number setting: its bounds, which are both allowed values, and its description."""
    return Meta(ge=least, le=most, description=description)


def share(description: str) -> Meta:
    """Return the bounds of a fraction: above 0 and up to 1."""
    return Meta(gt=0, le=1, description=description)


def text(description: str) -> Meta:
    """Return the schema of a setting that is a path, list or choice: its description."""
    return Meta(description=description)


def model_name(description: str) -> Meta:
    """Return the description of a model's name, which may be empty."""
    return Meta(
        pattern=r"\A[A-Za-z0-9._:/@+-]{0,200}\Z",
        description=f"{description} Empty: the transport's own choice.",
        extra={"expected": "the name of a model, without spaces"},
    )


class Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A table of the settings file."""


class Memory(Section, frozen=True):
    """`[memory]`."""

    data_dir: Annotated[Path, text("The folder that holds one folder of markdown per space; empty: ~/Reverie.")]
    embedder: Annotated[
        str, text("A model's folder, or a package with one, for searches by meaning; empty: words alone are searched.")
    ] = ""


class Sync(Section, frozen=True):
    """How the folder is read; constants."""

    debounce_ms: int = 100  # quiet time after a change before a file is read: an editor's save is a few writes
    rescan_seconds: float = 120.0  # between full scans, for what no notification told: NFS, a full queue of inotify
    delete_quiet_seconds: float = 2.0  # that a file must be missing: editors and `git` remove and write again
    grace_seconds: float = 3.0  # that a replaced file is watched for a write of a program that has it open
    file_bytes: int = 1_048_576  # the largest file that is read: a memory is read by people
    files: int = 100_000  # the most in a folder: a scan of them takes seconds
    mass_fraction: float = 0.5  # missing at once, before sync stops and asks: an unmounted disk, an `rm` in error


class Daemon(Section, frozen=True):
    """`[daemon]`; what is not about its addresses is constant."""

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
    queue_length: int = 1024  # writes that wait in a lane before `busy`: seconds of work, not minutes
    connections: int = 512  # at once; a person's agents have some tens, and each costs a descriptor
    body_bytes: int = 33_554_432  # of a request; a chunk of an import has 4 MB, a long message some hundred KB
    header_seconds: float = 5.0  # for the head of a request: a local client sends it in one write
    body_seconds: float = 10.0  # between two parts of a body
    idle_seconds: float = 60.0  # of a connection without a request: as long as clients keep theirs
    write_seconds: float = 30.0  # that a client may leave its answer unread, which is held in memory
    drain_seconds: float = (
        20.0  # for running requests when stopping, and as long again for jobs; systemd kills after 60
    )
    compute_idle_seconds: float = 60.0  # that a compute process stays without work: starting costs a second
    compute_seconds: float = 600.0  # of one job: a hundred times the longest that was measured
    subscribers: int = 64  # event streams at once; each holds a queue


class Context(Section, frozen=True):
    """`[context]`."""

    window: Annotated[int, number(1000, TOKENS_MAX, "The model's context window in tokens.")] = 200_000
    distil_at: Annotated[float, share("Share of the window at which a thread is distilled.")] = 0.70
    clear_at: Annotated[float, share("Share of the window at which old tool results are cleared.")] = 0.60
    absolute_cap: Annotated[int, number(1000, TOKENS_MAX, "Tokens at which any thread is distilled.")] = 140_000
    bootstrap: Annotated[Texts, Meta(max_length=LIST_MAX, description="Documents whose text opens every context.")] = ()


class Compaction(Section, frozen=True):
    """What a distillation keeps word for word; constants: the excerpts choose among all other messages."""

    preserve_recent_messages: int = 10
    preserve_recent_max_tokens: int = 12_000


class Consolidation(Section, frozen=True):
    """How much memory counts as full; constant: the tiers of consolidation were measured with it."""

    window: int = 1_000_000  # tokens


class Brief(Section, frozen=True):
    """`[brief]`."""

    max_tokens: Annotated[int, number(100, TOKENS_MAX, "Tokens of a project's brief at most.")] = 1_300


class Runs(Section, frozen=True):
    """`[runs]`."""

    idle_minutes: Annotated[int, number(1, 525_600, "Minutes without a call or message that end a run.")] = 60


class Workspace(Section, frozen=True):
    """`[workspace]`."""

    paths: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=TEXT_MAX, pattern="^(?:/|~|[A-Za-z]:)")], ...],
        Meta(
            max_length=LIST_MAX,
            description="Folders in which agents work, absolute: files written there while a run is open join the run.",
        ),
    ] = ()


class Dream(Section, frozen=True):
    """`[dream]`."""

    max_token_budget: Annotated[int, number(1, 100 * TOKENS_MAX, "Most tokens that one dream may use.")] = 100_000


class Reflection(Section, frozen=True):
    """Bounds of a model that changes the memory files by calls of tools; constants, below the limits of a day."""

    max_steps: int = 12  # turns: a thread of 40,000 tokens took four to seven
    max_tokens: int = 400_000  # read and written: each turn reads again what the others have
    max_seconds: float = 600.0  # of all turns together


class Distiller(Section, frozen=True, kw_only=True):
    """`[distiller]`: who reads threads and memories. Everything but `extractive` sends redacted text to a model."""

    kind: Annotated[
        Literal["extractive", "command", "anthropic"],
        text(
            "Who decides what is kept: extractive (rules, nothing leaves the machine), command (a program) or "
            "anthropic (an API)."
        ),
    ] = "extractive"
    learning: Annotated[
        Literal["extraction", "reflection"],
        text(
            "What a model does with a thread: extraction (it proposes memories, which are consolidated) or reflection "
            "(it changes the memory files by calls of tools)."
        ),
    ] = "extraction"
    command: Annotated[
        Texts,
        Meta(
            max_length=100,
            description="The program and its arguments for kind command; {model} in them is the role's model.",
        ),
    ] = ()
    command_input: Annotated[
        Literal["json", "text"],
        text(
            "The standard input of the program: json (the request) or text (one prompt, for programs that take that)."
        ),
    ] = "json"
    cheap_model: Annotated[str, model_name("The model that is asked for working states.")] = ""
    strong_model: Annotated[str, model_name("The model that is asked for memories and summaries.")] = ""
    base_url: Annotated[
        str,
        Meta(
            pattern=r"\A(?:https?://[A-Za-z0-9._~:\[\]-]+(?:/[A-Za-z0-9._~/-]*)?)?\Z",
            description="The server of kind anthropic; any that speaks the Messages API. Empty: Anthropic's own.",
            extra={"expected": 'empty, or an address such as "http://127.0.0.1:11434", without a user or query'},
        ),
    ] = ""
    key_file: Annotated[
        Path | None,
        text("A file of mode 0600 with the key of kind anthropic; empty: ANTHROPIC_API_KEY of the daemon."),
    ] = None
    deadline_seconds: Annotated[
        float, number(0.05, 86_400, "Time limit of one request to a model, retries included.")
    ] = 300.0
    wait_seconds: float = 60.0  # the longest pause before another try, also where the provider asks for more
    state_seconds: float = 1.0  # for a working state, which the next prompt waits for
    daily_tokens: Annotated[
        int, number(0, 100 * TOKENS_MAX, "Most tokens, read and written, of one UTC day; 0: nothing is asked.")
    ] = 2_000_000
    daily_calls: Annotated[int, number(0, 1_000_000, "Most requests of one UTC day; 0: nothing is asked.")] = 1_000


class Redact(Section, frozen=True):
    """`[redact]`; `literals` includes those of `literals_file`, and `repr` shows only their number."""

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
    """`[log]`."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], text("What is logged: debug, info, warning or error.")
    ] = "info"


class Backup(Section, frozen=True):
    """`[backup]`."""

    folder: Annotated[
        Path,
        text("The folder below which POST /v1/backups writes; empty: backups beside the store; / allows any folder."),
    ]


class Retention(Section, frozen=True):
    """`[retention]`."""

    version_days: Annotated[int, number(1, 36_500, "Days that superseded versions are kept.")] = 365
    event_days: int = 90  # longer than a follower of events is away
    key_days: int = 7  # of idempotency: no client tries the same again after a day
    failure_days: int = 7  # of dreams that failed: the schedule shows the last one


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


class Key(msgspec.Struct, frozen=True):
    """One setting, or a constant (without a description), from a field of its section.

    `default` is "" for an unset path.
    """

    name: str
    section: str
    field: str
    type: Any
    meta: Meta
    default: Any
    description: str

    def checked(self, value: Any, where: str = ANYWHERE) -> Any:
        """Return `value` as the type that the program uses; `where` it was set goes into the error.

        A path stays a text here: it is resolved with the others.

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
        if self.type in {int, float}:
            kind = "a whole number" if self.type is int else "a number"
            if self.meta.gt is not None:
                return f"{kind} above 0 and up to 1"
            most = "or more" if self.meta.le is None else f"to {_plain(self.meta.le)}"
            return f"{kind} of {_plain(self.meta.ge)} {most}"
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


def _key(section: str, field: msgspec.structs.FieldInfo) -> Key:
    """Return the key of one field of a section."""
    kind, meta = get_args(field.type) if get_origin(field.type) is Annotated else (field.type, Meta(ge=0))
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


_FIELDS = {
    key.name: key
    for section in msgspec.structs.fields(Config)
    if isinstance(section.type, type) and issubclass(section.type, Section)
    for field in msgspec.structs.fields(section.type)
    for key in (_key(section.name, field),)
}
KEYS = tuple(key for key in _FIELDS.values() if key.description)
"""Every setting, in the order of the sections."""

BY_NAME = {key.name: key for key in KEYS}

RETIRED: dict[str, str] = {
    **{key.name: f"Remove it: it is {key.default} now." for key in _FIELDS.values() if not key.description},
    "distiller.batches": "Remove it: what a schedule does is asked directly.",
    "distiller.batchPollSeconds": "Remove it: what a schedule does is asked directly.",
    "distiller.kind=spool": "Set it to command; docs/models.md has a program that waits for answers in a folder.",
    "distiller.spoolFolder": "Remove it; docs/models.md has a program that waits for answers in a folder.",
}
"""Keys of earlier releases, and values (`section.key=value`), each with what to do instead: ignored for one release."""


def is_retired(name: str, value: Any) -> bool:
    """Return True for a value that an earlier release knew."""
    return isinstance(value, str) and f"{name}={value}" in RETIRED


def is_credential(name: str) -> bool:
    """Return True for a key that never was one and names a credential: its value must not stay in the file.

    Tokens in the plural are counted: `max_tokens` is a misspelling.
    """
    words = name.lower().replace("tokens", "")
    return not ({name} & {*BY_NAME, *RETIRED}) and any(word in words for word in CREDENTIAL_WORDS)


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


def load(layout: Layout, env: Mapping[str, str], *, home: Path) -> Config:
    """Return the settings of this process: defaults, then the file at `layout.config_file`, then the environment.

    Raises:
        ValidationError: naming the key, what is wrong with it and what to write instead.
    """
    return _first_raised(load_valid(layout, env, home=home))


def load_valid(layout: Layout, env: Mapping[str, str], *, home: Path) -> tuple[Config, tuple[ValidationError, ...]]:
    """Return the settings with defaults in place of invalid ones, and the errors of those.

    For commands that must work beside a wrong setting: those that repair it, and those that stop the daemon.
    """
    try:
        data = read_file(layout.config_file)
    except ValidationError as error:
        config, problems = parse_valid(b"", env, layout=layout, home=home)
        return config, (error, *problems)
    return parse_valid(data, env, layout=layout, home=home)


def parse(data: bytes, env: Mapping[str, str], *, layout: Layout, home: Path, source: Path | None = None) -> Config:
    """Return the settings of these bytes, read from the file `source` (else the layout's), and this environment.

    Raises:
        ValidationError: naming the key, what is wrong with it and what to write instead.
    """
    return _first_raised(parse_valid(data, env, layout=layout, home=home, source=source))


def _first_raised(parsed: tuple[Config, tuple[ValidationError, ...]]) -> Config:
    config, problems = parsed
    if problems:
        raise problems[0]
    return config


def parse_valid(
    data: bytes, env: Mapping[str, str], *, layout: Layout, home: Path, source: Path | None = None
) -> tuple[Config, tuple[ValidationError, ...]]:
    """Return the settings of these bytes and this environment with defaults for invalid ones, and their errors."""
    values, set_by, problems, unused = _merged(data, env, str(source or layout.config_file))
    while True:
        try:
            return _resolved(dict(values), set_by, layout, home, unused), tuple(problems)
        except ValidationError as error:
            # Each value is valid by itself, but not together with others or with the file system. The key that the
            # error names gets its default; if it has that already, the fault is in the others, and all get theirs.
            problems.append(error)
            wrong = error.details.get("key")
            reset = [wrong] if wrong in set_by else list(set_by)
            if not reset:
                raise
            for name in reset:
                values[name] = _FIELDS[name].default
                del set_by[name]


def read_file(path: Path) -> bytes:
    """Return the bytes of a settings file; empty bytes if it does not exist.

    Raises:
        ValidationError: too large, no regular file, or not readable.
    """
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValidationError(f"{path} is not a file.", hint="reverie config path shows where it belongs.")
            data = file.read(CONFIG_BYTES_MAX + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ValidationError(f"{path} cannot be read: {error.strerror}.", hint="Check its permissions.") from error
    if len(data) > CONFIG_BYTES_MAX:
        raise ValidationError(f"{path} is larger than {CONFIG_BYTES_MAX} bytes.", hint=f"Edit {path}, or remove it.")
    return data


def _merged(
    data: bytes, env: Mapping[str, str], where: str
) -> tuple[dict[str, Any], dict[str, str], list[ValidationError], list[ValidationError]]:
    """Return the value of every key, the source of each that is set, the errors, and a warning for each unused key."""
    values: dict[str, Any] = {name: key.default for name, key in _FIELDS.items()}
    set_by: dict[str, str] = {}
    problems: list[ValidationError] = []
    unused: list[ValidationError] = []
    try:
        file_values = _flat(_parse_toml(data, where))
    except ValidationError as error:
        file_values, problems = {}, [error]
    for name, value in file_values.items():
        if name not in BY_NAME or is_retired(name, value):
            (problems if is_credential(name) else unused).append(unused_key(name, value, where))
            continue
        try:
            values[name], set_by[name] = BY_NAME[name].checked(value, where), "file"
        except ValidationError as error:
            problems.append(error)
    for key in _FIELDS.values():
        text = env.get(key.environment)
        if text is None:
            continue
        environment = f"the environment ({key.environment})"
        if is_retired(key.name, text):
            unused.append(unused_key(key.name, text, environment))
            continue
        try:
            values[key.name] = key.from_text(text, environment)
            set_by[key.name] = "environment"
        except ValidationError as error:
            problems.append(error)
    return values, set_by, problems, unused


def _resolved(
    values: dict[str, Any], set_by: dict[str, str], layout: Layout, home: Path, unused: list[ValidationError]
) -> Config:
    """Return the settings with paths resolved, after the checks that no single key can make.

    Raises:
        ValidationError: naming the key.
    """
    values["memory.dataDir"] = _document_root(values["memory.dataDir"], layout, home)
    values["daemon.socket"] = _socket_path(values["daemon.socket"], layout, home)
    backups = values["backup.folder"]
    values["backup.folder"] = _absolute("backup.folder", backups, home) if backups else layout.data_dir / "backups"
    key_file = values["distiller.keyFile"]
    values["distiller.keyFile"] = _absolute("distiller.keyFile", key_file, home) if key_file else None
    if values["distiller.kind"] == "command" and not values["distiller.command"]:
        raise _refused(
            "distiller.command",
            "it is empty, and distiller.kind is command",
            'name the program first: reverie config set distiller.command \'["claude", "-p"]\'',
        )
    if values["distiller.learning"] == "reflection" and values["distiller.kind"] == "extractive":
        raise ValidationError(
            "distiller.learning is reflection, which needs a model that calls tools, and distiller.kind is extractive.",
            hint="Choose distiller.kind anthropic or command, or distiller.learning extraction.",
            key="distiller.learning",
        )
    literals_file = values["redact.literalsFile"]
    values["redact.literalsFile"] = None
    if literals_file:
        path, literals = _read_literals(literals_file, home)
        values["redact.literalsFile"] = path
        values["redact.literals"] = (*values["redact.literals"], *literals)
    if values["context.clearAt"] > values["context.distilAt"]:
        raise ValidationError(
            "context.clearAt is above context.distilAt: nothing would be cleared before the thread is distilled.",
            hint="Make context.clearAt the smaller one (0.60 and 0.70 by default).",
            key="context.clearAt",
        )
    sections: dict[str, dict[str, Any]] = {}
    for key in _FIELDS.values():
        sections.setdefault(key.section, {})[key.field] = values[key.name]
    types = {field.name: field.type for field in msgspec.structs.fields(Config)}
    tables = {name: types[name](**fields) for name, fields in sections.items()}
    return Config(**tables, set_by=set_by, unused=tuple(unused))


def _parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises:
        ValidationError: a byte order mark, another encoding than UTF-8, or a syntax error with its line and column.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise ValidationError(f"{where} begins with a byte order mark.", hint="Save it as plain UTF-8.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValidationError(f"{where} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from error
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # tomllib's message gives line and column; of a value, which may be a secret, it repeats one character at most.
        position = f" at line {line}" if (line := _line_of(error, text)) else ""
        raise ValidationError(f"{where} is not TOML: {error}.", hint=f"Edit {where}{position}.") from error


def _line_of(error: Exception, text: str) -> int | None:
    """Return the line number in the message of a TOML error, that of the last line for the document's end, or None."""
    if match := re.search(r"\(at line (\d+), column \d+\)$", str(error)):
        return int(match[1])
    return max(1, len(text.splitlines())) if str(error).endswith("(at end of document)") else None


def _flat(tables: dict[str, Any]) -> dict[str, Any]:
    """Flatten `{"daemon": {"socket": …}}` to `{"daemon.socket": …}`: two levels and no more."""
    flat: dict[str, Any] = {}
    for section, content in tables.items():
        if isinstance(content, dict):
            flat |= {f"{section}.{name}": value for name, value in content.items()}
        else:
            flat[section] = content
    return flat


def _document_root(text: str, layout: Layout, home: Path) -> Path:
    """Return the folder of `memory.dataDir`; the layout's if it is empty.

    Raises:
        ValidationError: it is relative, `/`, the home folder, a system folder, or overlaps Reverie's own folders.
    """
    root = _absolute("memory.dataDir", text, home) if text else layout.root
    real = root.resolve()
    if real == Path("/") or real == home.resolve():
        raise _refused("memory.dataDir", f"{root} is too wide", "Name a folder of its own, such as ~/Reverie.")
    if _in_system(real):
        raise _refused("memory.dataDir", f"{root} belongs to the system", "Name a folder such as ~/Reverie.")
    for own in (layout.store_dir, layout.state_dir, layout.data_dir, layout.socket.parent, layout.config_file):
        if _overlap(real, own.resolve()):
            raise _refused(
                "memory.dataDir",
                f"{root} overlaps {own}, which Reverie uses for its own files",
                "Keep the documents in a folder of their own.",
            )
    return root


def _socket_path(text: str, layout: Layout, home: Path) -> Path:
    """Return the path of `daemon.socket`; the layout's if it is empty.

    Raises:
        ValidationError: it is relative, or longer than a socket address may be.
    """
    path = _absolute("daemon.socket", text, home) if text else layout.socket
    length = len(os.fsencode(path))
    if length > SOCKET_PATH_BYTES_MAX:
        raise _refused(
            "daemon.socket",
            f"the path has {length} bytes, a socket address at most {SOCKET_PATH_BYTES_MAX}",
            "Choose a shorter one.",
        )
    return path


def _read_literals(text: str, home: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the path of `redact.literalsFile` and its lines without empty ones.

    Raises:
        ValidationError: it does not exist, is too large or not UTF-8, or others may read it.
    """
    path = _absolute("redact.literalsFile", text, home)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode) or mode & 0o077:
                raise _refused("redact.literalsFile", f"{path} can be read by others", f"chmod 600 {path}")
            data = file.read(SECRET_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise _refused("redact.literalsFile", f"{path}: {error.strerror}", "Check the path.") from error
    if len(data) > SECRET_FILE_BYTES_MAX:
        raise _refused("redact.literalsFile", f"{path} is larger than 1 MiB", "Keep only secrets in it.")
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise _refused("redact.literalsFile", f"{path} is not UTF-8", "Save it as UTF-8.") from error
    return path, tuple(line.strip() for line in lines if line.strip())


def _absolute(key: str, text: str, home: Path) -> Path:
    """Return `~/x` or `/x` as an absolute path; one with `..` is refused."""
    path = home / text[2:] if text.startswith("~/") else Path(text)
    if not path.is_absolute() or ".." in path.parts:
        raise _refused(key, "the path must be absolute, or begin with ~/", f'Write {key} = "~/…".')
    return path


def _in_system(path: Path) -> bool:
    """Return True if the path is in a system folder, except those below which users have folders."""
    inside = any(path.is_relative_to(folder) for folder in SYSTEM_FOLDERS)
    allowed = any(path.is_relative_to(folder) and path != Path(folder) for folder in SYSTEM_FOLDERS_WITH_USERS)
    return inside and not allowed


def _overlap(one: Path, other: Path) -> bool:
    """Return True if one path is inside the other, or both are the same."""
    return one.is_relative_to(other) or other.is_relative_to(one)


def _refused(key: str, why: str, hint: str) -> ValidationError:
    """Return the error for a path that cannot be used."""
    return ValidationError(f"{key} in the configuration: {why}.", hint=hint, key=key)
