"""Settings: one documented table of keys, read once from TOML and REVERIE_* into a frozen value."""

from __future__ import annotations

import difflib
import os
import stat
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reverie.errors import ValidationError
from reveried.config_keys import ANYWHERE, KEYS, Key, attribute
from reveried.config_paths import check_root, check_secret_file, check_socket

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reverie.paths import Layout

__all__ = ["CONFIG_BYTES_MAX", "KEYS", "Config", "Key", "forgiving", "load", "parse", "read_file", "salvage"]

CONFIG_BYTES_MAX = 256 * 1024
BY_NAME = {key.name: key for key in KEYS}
CREDENTIAL_WORDS = ("key", "token", "secret", "password", "credential")


@dataclass(frozen=True, slots=True)
class Memory:
    """`[memory]`."""

    data_dir: Path


@dataclass(frozen=True, slots=True)
class Sync:
    """`[sync]`."""

    debounce_ms: int
    rescan_seconds: float
    delete_quiet_seconds: float
    grace_seconds: float
    file_bytes: int
    files: int
    mass_fraction: float


@dataclass(frozen=True, slots=True)
class Daemon:
    """`[daemon]`."""

    socket: Path
    tcp: str
    queue_length: int
    connections: int
    body_bytes: int
    header_seconds: float
    body_seconds: float
    idle_seconds: float
    write_seconds: float
    drain_seconds: float
    compute_idle_seconds: float
    compute_seconds: float
    subscribers: int


@dataclass(frozen=True, slots=True)
class Context:
    """`[context]`."""

    window: int
    distil_at: float
    clear_at: float
    absolute_cap: int
    bootstrap: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compaction:
    """`[compaction]`."""

    preserve_recent_messages: int
    preserve_recent_max_tokens: int


@dataclass(frozen=True, slots=True)
class Consolidation:
    """`[consolidation]`."""

    window: int


@dataclass(frozen=True, slots=True)
class Dream:
    """`[dream]`."""

    max_token_budget: int


@dataclass(frozen=True, slots=True)
class Redact:
    """`[redact]`. `literals` holds those of the file too; they are never shown."""

    literals: tuple[str, ...]
    literals_file: Path | None

    def __repr__(self) -> str:
        return f"Redact({len(self.literals)} literals)"


@dataclass(frozen=True, slots=True)
class Log:
    """`[log]`."""

    level: str


@dataclass(frozen=True, slots=True)
class Retention:
    """`[retention]`."""

    version_days: int
    event_days: int
    key_days: int
    job_days: int


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting, checked. `set_by` says where each that is not a default came from."""

    memory: Memory
    sync: Sync
    daemon: Daemon
    context: Context
    compaction: Compaction
    consolidation: Consolidation
    dream: Dream
    redact: Redact
    log: Log
    retention: Retention
    set_by: Mapping[str, str]

    def value(self, name: str) -> Any:
        """The value of a key by its name in the file, such as `daemon.socket`.

        Raises:
            ValidationError: there is no such key; names the nearest.
        """
        if name not in BY_NAME:
            raise _unknown(name)
        section, field = attribute(name)
        return getattr(getattr(self, section), field)


_SECTIONS: dict[str, type[Any]] = {
    "memory": Memory,
    "sync": Sync,
    "daemon": Daemon,
    "context": Context,
    "compaction": Compaction,
    "consolidation": Consolidation,
    "dream": Dream,
    "redact": Redact,
    "log": Log,
    "retention": Retention,
}


def load(layout: Layout, env: Mapping[str, str], *, home: Path) -> Config:
    """The settings of this process: defaults, then the file at `layout.config_file`, then the environment.

    Raises:
        ValidationError: naming the key, what is wrong with it and what to write instead.
    """
    return parse(read_file(layout.config_file), env, layout=layout, home=home)


def forgiving(layout: Layout, env: Mapping[str, str], *, home: Path) -> tuple[Config, tuple[ValidationError, ...]]:
    """The settings as far as they are good, and what is wrong with the others, which have their defaults.

    For commands that must work beside a wrong setting: those that mend it, and those that stop the daemon.
    """
    try:
        data = read_file(layout.config_file)
    except ValidationError as error:
        found, problems = salvage(b"", env, layout=layout, home=home)
        return found, (error, *problems)
    return salvage(data, env, layout=layout, home=home)


def salvage(
    data: bytes, env: Mapping[str, str], *, layout: Layout, home: Path
) -> tuple[Config, tuple[ValidationError, ...]]:
    """What is good in these bytes and this environment, and what is wrong with the rest."""
    values, set_by, problems = _gathered(data, env, str(layout.config_file))
    while True:
        try:
            return _config(dict(values), set_by, layout, home), tuple(problems)
        except ValidationError as error:
            problems.append(error)
            wrong = error.details.get("key")
            named = [wrong] if wrong in set_by else list(set_by)
            if not named:
                raise
            for name in named:
                values[name] = BY_NAME[name].default
                del set_by[name]


def read_file(path: Path) -> bytes:
    """The file's bytes; none where there is no file.

    Raises:
        ValidationError: too large, or not to be read.
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
        raise ValidationError(f"{path} is larger than {CONFIG_BYTES_MAX} bytes.", hint="reverie config validate")
    return data


def parse(data: bytes, env: Mapping[str, str], *, layout: Layout, home: Path, source: Path | None = None) -> Config:
    """The settings that these bytes, of the file `source` (else the layout's), and this environment say.

    Raises:
        ValidationError: naming the key, what is wrong with it and what to write instead.
    """
    values, set_by, problems = _gathered(data, env, str(source or layout.config_file))
    if problems:
        raise problems[0]
    return _config(values, set_by, layout, home)


def _gathered(
    data: bytes, env: Mapping[str, str], where: str
) -> tuple[dict[str, Any], dict[str, str], list[ValidationError]]:
    """Every value that is good by itself, where it came from, and an error for each that is not."""
    values: dict[str, Any] = {key.name: key.default for key in KEYS}
    set_by: dict[str, str] = {}
    problems: list[ValidationError] = []
    try:
        said = _flat(_tables(data, where), where)
    except ValidationError as error:
        said, problems = {}, [error]
    for name, value in said.items():
        try:
            if name not in BY_NAME:
                raise _unknown(name, where)
            values[name], set_by[name] = BY_NAME[name].checked(value, where), "file"
        except ValidationError as error:
            problems.append(error)
    for key in KEYS:
        text = env.get(key.environment)
        if text is None:
            continue
        try:
            values[key.name] = key.from_text(text, f"the environment ({key.environment})")
            set_by[key.name] = "environment"
        except ValidationError as error:
            problems.append(error)
    return values, set_by, problems


def _config(values: dict[str, Any], set_by: dict[str, str], layout: Layout, home: Path) -> Config:
    """The checked values as one frozen value; what no single key can say is checked here."""
    values["memory.dataDir"] = check_root(values["memory.dataDir"], layout, home)
    values["daemon.socket"] = check_socket(values["daemon.socket"], layout, home)
    literals_file = values["redact.literalsFile"]
    values["redact.literalsFile"] = None
    if literals_file:
        path, found = check_secret_file(literals_file, home)
        values["redact.literalsFile"] = path
        values["redact.literals"] = (*values["redact.literals"], *found)
    if values["context.clearAt"] > values["context.distilAt"]:
        raise ValidationError(
            "context.clearAt is above context.distilAt: nothing would be cleared before the thread is distilled.",
            hint="Make context.clearAt the smaller one (0.60 and 0.70 by default).",
            key="context.clearAt",
        )
    sections: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    for name, value in values.items():
        section, field = attribute(name)
        sections[section][field] = value
    made = {section: kind(**sections[section]) for section, kind in _SECTIONS.items()}
    return Config(**made, set_by=set_by)


def _tables(data: bytes, where: str) -> dict[str, Any]:
    if data.startswith(b"\xef\xbb\xbf"):
        raise ValidationError(f"{where} begins with a byte order mark.", hint="Save it as plain UTF-8.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValidationError(f"{where} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from error
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # tomllib's sentence names line and column; of a value it repeats at most one character.
        raise ValidationError(f"{where} is not TOML: {error}.", hint="reverie config validate") from error


def _flat(tables: dict[str, Any], where: str) -> dict[str, Any]:
    """`{"daemon": {"socket": …}}` as `{"daemon.socket": …}`: two levels and no more."""
    flat = {}
    for section, content in tables.items():
        if not isinstance(content, dict):
            raise _unknown(section, where)
        for name, value in content.items():
            flat[f"{section}.{name}"] = value
    return flat


def _unknown(name: str, where: str = ANYWHERE) -> ValidationError:
    """No such key: names the nearest. The value is not shown, it may be a secret."""
    shown = name[:80]
    if any(word in name.lower() for word in CREDENTIAL_WORDS):
        return ValidationError(
            f"There is no key {shown!r}, and a credential does not belong in the configuration.",
            hint="Keep it in a file of mode 0600, or in the environment.",
            key=shown,
        )
    nearest = difflib.get_close_matches(shown, BY_NAME, n=1, cutoff=0.4)
    said = f"Did you mean {nearest[0]!r}?" if nearest else "reverie config get lists all keys."
    return ValidationError(f"There is no key {shown!r} in {where}.", hint=said, key=shown)
