"""What `reverie doctor` looks at: each check gives one finding, and none changes anything."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from reverie.errors import DaemonNotRunning, ReverieError
from reveried import PROTOCOL, __version__
from reveried.cli import daemon_handle
from reveried.cli.output import size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["Finding", "examine"]

Verdict: TypeAlias = Literal["good", "note", "bad"]
ROOM_MIN_BYTES = 512 * 1024 * 1024
_SAMPLES = (
    "",
    "Hello, world!",
    "def f(x):\n    return x + 1\n",
    "Grüße, 你好, 🙂🙂",
    "a" * 300,
    "<|endoftext|>",
    "1234567 \t\n\n x",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. `hint` says what to type where something is to be done."""

    check: str
    verdict: Verdict
    says: str
    hint: str | None = None


def examine() -> Iterator[Finding]:
    """Each finding as soon as it is there."""
    checks: tuple[Callable[[], Finding], ...] = (_settings, _folders, _room, _daemon, _store, _native)
    if os.environ.get("TIKTOKEN_CACHE_DIR"):
        checks = (*checks, _tokens)  # nothing needs tiktoken; where its vocabulary is at hand, it is a second opinion
    for check in checks:
        try:
            yield check()
        except ReverieError as error:
            yield Finding(check.__name__.strip("_"), "bad", error.message, error.hint)
        except OSError as error:
            yield Finding(check.__name__.strip("_"), "bad", f"{error.filename}: {error.strerror}", "check the path")


def _settings() -> Finding:
    found = daemon_handle.settings()
    path = daemon_handle.layout().config_file
    there = str(path) if path.exists() else f"no file at {path}, defaults"
    return Finding("settings", "good", f"{there}; {len(found.set_by)} changed")


def _folders() -> Finding:
    """Our folders are ours alone; the folder of documents can be written."""
    places = daemon_handle.layout()
    for folder in (places.data_dir, places.store_dir, places.state_dir, daemon_handle.socket_path().parent):
        if not folder.exists():
            continue
        found = folder.stat()
        if found.st_uid != os.getuid():
            return Finding("folders", "bad", f"{folder} belongs to another user", f"sudo chown -R $USER {folder}")
        if stat.S_IMODE(found.st_mode) & 0o077 and folder != places.data_dir:
            return Finding("folders", "bad", f"{folder} is open to other users", f"chmod 700 {folder}")
    root = daemon_handle.root()
    if root.exists() and not os.access(root, os.W_OK):
        return Finding("folders", "bad", f"{root} cannot be written", f"chmod u+w {root}")
    return Finding("folders", "good", f"documents in {root}, store in {places.store_dir}")


def _room() -> Finding:
    free = shutil.disk_usage(_existing(daemon_handle.layout().data_dir)).free
    if free < ROOM_MIN_BYTES:
        return Finding("room", "bad", f"only {size(free)} free on the disk of the store", "make room on that disk")
    return Finding("room", "good", f"{size(free)} free")


def _daemon() -> Finding:
    socket = daemon_handle.socket_path()
    try:
        with daemon_handle.client() as client:
            health = client.health()
    except DaemonNotRunning as error:
        left = " (a socket file of an earlier one is still there)" if socket.exists() else ""
        return Finding("daemon", "note", f"not running{left}", error.hint)
    mode = stat.S_IMODE(socket.stat().st_mode)
    if mode & 0o077:
        return Finding("daemon", "bad", f"{socket} has mode {mode:o}, not 600", f"chmod 600 {socket}")
    if (health.version, health.protocol) != (__version__, PROTOCOL):
        return Finding(
            "daemon",
            "bad",
            f"runs version {health.version}, this command is {__version__}",
            "reverie down, then reverie up",
        )
    return Finding("daemon", "good", f"version {health.version} answers at {socket}")


def _store() -> Finding:
    store = daemon_handle.layout().store_dir
    if not (store / "data.mdb").exists():
        return Finding("store", "note", "nothing stored yet", "reverie import claude-code ~/.claude/projects")
    from reverie.store.check import run_check  # noqa: PLC0415 - only a stored thing is read

    report = run_check(store)
    if not report.ok:
        first = report.problems[0]
        return Finding("store", "bad", f"{first.kind} {first.key}: {first.what}", "reverie check names all of it")
    return Finding("store", "good", f"{sum(report.counts.values()):,} records, every one is what was written")


def _native() -> Finding:
    from reverie import canonical, tokens  # noqa: PLC0415 - its failing to load is what is looked for

    counted, written = tokens.count("Hello, world!"), canonical.canonical({"b": 1, "a": "é"})
    if (counted, written) != (4, '{"a":"é","b":1}'.encode()):
        return Finding("native core", "bad", "gives wrong answers", "install reverie again")
    return Finding("native core", "good", f"loads and counts ({tokens.TOKENIZER})")


def _tokens() -> Finding:
    """The native counter against tiktoken itself."""
    import tiktoken  # noqa: PLC0415 - loaded for this check alone

    from reverie import tokens  # noqa: PLC0415 - as above

    encoding = tiktoken.get_encoding(tokens.TOKENIZER)
    for sample in _SAMPLES:
        theirs, ours = len(encoding.encode_ordinary(sample)), tokens.count(sample)
        if theirs != ours:
            return Finding("token counts", "bad", f"{ours} where tiktoken counts {theirs}", "install reverie again")
    return Finding("token counts", "good", f"equal to tiktoken's on {len(_SAMPLES)} samples")


def _existing(path: Path) -> Path:
    """The nearest folder above that is there."""
    return path if path.exists() else _existing(path.parent)
