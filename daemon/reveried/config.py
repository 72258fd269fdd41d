"""Settings of this process: defaults, then the TOML file, then REVERIE_* variables, checked into one frozen value."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from reverie.errors import ValidationError
from reverie.places import SOCKET_PATH_BYTES_MAX
from reveried.config_schema import BY_NAME, KEYS, Config, Key, Sync, is_credential, is_retired, unused_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.places import Layout

__all__ = [
    "CONFIG_BYTES_MAX",
    "KEYS",
    "Config",
    "Key",
    "Sync",
    "load",
    "load_valid",
    "parse",
    "parse_valid",
    "read_file",
]

CONFIG_BYTES_MAX = 256 * 1024
SECRET_FILE_BYTES_MAX = 1024 * 1024
SYSTEM_FOLDERS = ("/etc", "/proc", "/sys", "/dev", "/boot", "/usr", "/bin", "/sbin", "/lib", "/run", "/var")
SYSTEM_FOLDERS_WITH_USERS = ("/run/user", "/var/lib", "/var/tmp")  # noqa: S108 - names a path, makes nothing there


def load(layout: Layout, env: Mapping[str, str], *, home: Path) -> Config:
    """Return the settings of this process: defaults, then the file at `layout.config_file`, then the environment.

    Raises:
        ValidationError: naming the key, what is wrong with it and what to write instead.
    """
    return parse(read_file(layout.config_file), env, layout=layout, home=home)


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
    values, set_by, problems, unused = _merged(data, env, str(source or layout.config_file))
    if problems:
        raise problems[0]
    return _resolved(values, set_by, layout, home, unused)


def parse_valid(
    data: bytes, env: Mapping[str, str], *, layout: Layout, home: Path
) -> tuple[Config, tuple[ValidationError, ...]]:
    """Return the settings of these bytes and this environment with defaults for invalid ones, and their errors."""
    values, set_by, problems, unused = _merged(data, env, str(layout.config_file))
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
                values[name] = BY_NAME[name].default
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
    values: dict[str, Any] = {key.name: key.default for key in KEYS}
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
    for key in KEYS:
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
    for key in KEYS:
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
