"""Says where everything lives, and which relative names may exist inside a space's folder."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

__all__ = [
    "DOCUMENT_SUFFIXES",
    "SOCKET_PATH_BYTES_MAX",
    "Layout",
    "existing_spelling",
    "fold_name",
    "is_reserved",
    "safe_relative",
    "segment_error",
]

SOCKET_PATH_BYTES_MAX = 107  # sockaddr_un.sun_path holds 108 with its closing zero
PATH_BYTES_MAX = 1024
SEGMENT_BYTES_MAX = 255
DEPTH_MAX = 32
DOCUMENT_SUFFIXES: frozenset[str] = frozenset({".md", ".txt"})

_RUNTIME_BASE = Path("/run/user")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_HIDDEN = re.compile(r"\.(?!\.\w)")  # `..user.md` is an ordinary name; `.x`, `..` and `...` are not
_SHORT_NAME = re.compile(r"[^.]*~[0-9]+(?:\.[^.]*)?")  # FACTS~1: an alias of another name on Windows
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}|%u[0-9A-Fa-f]{4}|&#|&[A-Za-z]+;")
_TEMPORARY = re.compile(r".*(?:~|\.tmp(?:[\d._-].*)?|\.swp|\.swo|\.bak)|#.*#", re.IGNORECASE)
# Letters, digits, `_` and `-`, and one ending: nothing can be wrong with it but a reserved word.
_ORDINARY = re.compile(r"[A-Za-z0-9_-]+(?:\.(?!tmp|swp|swo|bak)[A-Za-z]+)?", re.ASCII | re.IGNORECASE)
_FORBIDDEN = frozenset('\\:<>"|?*')  # what a synced tree could not hold on other systems
_SHELL = frozenset("~$")  # what a shell reads as a home or a variable
_STRUCTURAL = frozenset("./\\:%~")
# Read as `/`, `\` or `.` by people; not all of them are folded by NFKC.
_LOOK_ALIKES = frozenset("\u2215\u2044\u29f8\u29f9\u2216\u2571\u2572\u27cb\u27cd\ufe68\u2024\u2025\u2026")
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


@dataclass(frozen=True, slots=True)
class Layout:
    """Every place on this machine that Reverie uses. All paths are absolute.

    `root` is the folder that holds one folder per space (`root_of`); it is people's, the rest is ours.
    """

    config_file: Path
    data_dir: Path
    store_dir: Path
    state_dir: Path
    socket: Path
    root: Path

    @classmethod
    def current(cls) -> Layout:
        """The layout of this process: its environment, home directory and user."""
        return cls.from_env(os.environ, Path.home(), os.getuid())

    @classmethod
    def from_env(cls, env: Mapping[str, str], home: Path, uid: int, *, runtime_base: Path = _RUNTIME_BASE) -> Layout:
        """The layout by the XDG base directories, or all of it under `REVERIE_HOME`; `REVERIE_SOCKET` wins over both.

        Without XDG_RUNTIME_DIR (a cron job, `su`) the socket is looked for where a login session of `uid` has it,
        and only then in a folder of the state directory, so that all of a user's processes meet at one socket.
        Raises ValidationError for a relative path, or a socket path longer than 107 bytes.
        """
        base = _absolute(env, "REVERIE_HOME")
        if base is not None:
            data, state, config, run = base / "data", base / "state", base / "config.toml", base / "run"
            root = base / "root"
        else:
            data = _xdg(env, "XDG_DATA_HOME", home / ".local" / "share") / "reverie"
            state = _xdg(env, "XDG_STATE_HOME", home / ".local" / "state") / "reverie"
            config = _xdg(env, "XDG_CONFIG_HOME", home / ".config") / "reverie" / "config.toml"
            run = _runtime(env, uid, runtime_base, state)
            root = home / "Reverie"
        socket = _absolute(env, "REVERIE_SOCKET") or run / "reverie.sock"
        _check_socket(socket)
        return cls(
            config_file=config, data_dir=data, store_dir=data / "store", state_dir=state, socket=socket, root=root
        )

    def root_of(self, space: str) -> Path:
        """The folder of one space's documents, which people may open and edit."""
        return self.root / space


def safe_relative(path: str, *, suffixes: Collection[str] | None = DOCUMENT_SUFFIXES) -> PurePosixPath:
    """`path` as a name inside a space's folder that is the same file on every system, or ValidationError.

    Nothing is decoded, cleaned up or resolved: a name that would need it is refused, with `details.reason`.
    `suffixes` are the endings that may be written, and that no folder may have; None lets any through (files that an
    agent hands over for reading). The file system is not looked at: `sync.root` and `files.*_beneath` keep symbolic
    links out when the name is used.
    """
    if not path:
        raise _refused(path, "empty")
    if _bytes_of(path) > PATH_BYTES_MAX:
        raise _refused(path, "too_long")
    segments = path.split("/")
    if len(segments) > DEPTH_MAX:
        raise _refused(path, "too_deep")
    if path[0] == "/" or path[0] in _SHELL:
        raise _refused(path, "absolute")
    if _ENCODED.search(path):
        raise _refused(path, "encoded")
    for segment in segments:
        reason = segment_error(segment)
        if reason is not None:
            raise _refused(path, reason)
    relative = PurePosixPath(path)
    if suffixes is not None and any(folder.endswith(tuple(suffixes)) for folder in segments[:-1]):
        raise _refused(path, "folder")
    if suffixes is not None and relative.suffix not in suffixes:
        raise _refused(path, "suffix")
    if is_reserved(relative):
        raise _refused(path, "reserved")
    return relative


def segment_error(segment: str, *, first: bool = False) -> str | None:
    """Why one segment of a path may not be, as a reason of `safe_relative` (such as `hidden`, `temporary`), or None.

    `first`: it is the first of the path, which a shell must not take for a home or a variable.
    """
    if first and segment[:1] in _SHELL:
        return "absolute"
    if _ORDINARY.fullmatch(segment) and len(segment) <= SEGMENT_BYTES_MAX and not _RESERVED.fullmatch(segment):
        return None
    if segment == "":
        return "not_canonical"
    if _bytes_of(segment) > SEGMENT_BYTES_MAX:
        return "too_long"
    if _ENCODED.search(segment):
        return "encoded"
    if _HIDDEN.match(segment):
        return "hidden"
    if segment != segment.strip() or segment.endswith("."):
        return "not_portable"
    if unicodedata.normalize("NFC", segment) != segment:
        return "not_nfc"
    if any(char != " " and unicodedata.category(char) in _REFUSED_CATEGORIES for char in segment):
        return "control"
    if any(_looks_structural(char) for char in segment if not char.isascii()):
        return "look_alike"
    if not _FORBIDDEN.isdisjoint(segment) or _RESERVED.fullmatch(segment) or _SHORT_NAME.fullmatch(segment):
        return "not_portable"
    if _TEMPORARY.fullmatch(segment):
        return "temporary"
    return None


def fold_name(name: str) -> str:
    """What a name is where large letters and ways to write an accent make no difference; equal is one file there."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())


def existing_spelling(path: str, others: Iterable[str]) -> str | None:
    """`path` as those of `others` are spelled that are the same name on other systems; None where there are none.

    A folder counts as the file does: FACTS/user.md beside facts/project.md is spelled facts/user.md.
    """
    steps = path.split("/")
    wanted = [fold_name(step) for step in steps]
    for other in others:
        for number, (there, here, same) in enumerate(zip(other.split("/"), steps, wanted, strict=False)):
            if there == here:
                continue
            if fold_name(there) == same:
                return "/".join([*steps[:number], there, *steps[number + 1 :]])
            break
    return None


def is_reserved(relative: PurePosixPath) -> bool:
    """Whether only Reverie itself writes this name: the machine index, archives, the JSON projection, its mark."""
    return relative.parts[0].casefold() in {"archives", "memory-index.json", ".reverie"} or (
        relative.as_posix().casefold() == "memory/long-term-memory.json"
    )


def _looks_structural(char: str) -> bool:
    return char in _LOOK_ALIKES or not _STRUCTURAL.isdisjoint(unicodedata.normalize("NFKC", char))


def _refused(path: str, reason: str) -> ValidationError:
    shown = ascii(path if len(path) <= 80 else path[:80] + "...")
    return ValidationError(
        f"{shown} cannot be a path in a space ({reason})",
        hint="use a plain relative name such as facts/user.md",
        reason=reason,
    )


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _xdg(env: Mapping[str, str], name: str, default: Path) -> Path:
    """The base directory specification says that a relative value is to be ignored."""
    value = Path(env.get(name, ""))
    return value if value.is_absolute() else default


def _absolute(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name)
    if not value:
        return None
    path = Path(value)
    if not path.is_absolute():
        raise ValidationError(f"{name}={value} is not an absolute path", hint=f"set {name} to a path from /")
    return path


def _runtime(env: Mapping[str, str], uid: int, runtime_base: Path, state: Path) -> Path:
    given = env.get("XDG_RUNTIME_DIR", "")
    if Path(given).is_absolute():
        return Path(given) / "reverie"
    session = runtime_base / str(uid)
    try:
        found = session.lstat()
    except OSError:
        return state / "run"
    if stat.S_ISDIR(found.st_mode) and found.st_uid == uid:
        return session / "reverie"
    return state / "run"


def _check_socket(socket: Path) -> None:
    size = len(os.fsencode(socket))
    if size > SOCKET_PATH_BYTES_MAX:
        raise ValidationError(
            f"the socket path {socket} has {size} bytes; a Unix socket takes at most {SOCKET_PATH_BYTES_MAX}",
            hint="set REVERIE_SOCKET to a shorter path",
        )
