"""Files that were written in a watched folder since a moment: what `.gitignore` leaves out is not read.

The folder is listed by git with an empty repository of its own, so that no setting of the folder's repository, which
may name programs to be run, is read. Without git nothing is read. All work is bounded; what was left out is counted.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from msgspec.structs import replace

from reverie.errors import ValidationError
from reverie.usecases.runs import FILE_BYTES_MAX, file_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.store import RunFileRecord

LISTED_MAX: Final = 100_000  # files of a folder that are looked at
FILES_MAX: Final = 200  # files of a folder that join a run
READ_MAX: Final = 100 * FILE_BYTES_MAX  # bytes that are read in all
GIT_SECONDS: Final = 30.0
LISTING_SECONDS: Final = 60.0
_SLACK_S: Final = 0.01  # a file's time is that of the system's last tick, which may be before the run's beginning
_BLOCK: Final = 1 << 20


@dataclass(slots=True)
class Found:
    """Result of a search for new files: their records; `left_out` counts more of them, `why` says why some are missing.

    `why` is empty where the folder was read whole.
    """

    files: list[RunFileRecord] = field(default_factory=list)
    left_out: int = 0
    why: str = ""


def written_since(
    folder: Path, since: float, *, skip: Callable[[str], bool], agent: str | None, at: Callable[[float], str]
) -> Found:
    """Return the files below a folder that were created or written since a time, in seconds since 1970; newest first.

    Files behind symbolic links, those that git ignores, and those for whose absolute path `skip` is true are left out.
    `agent` is their author where it is known; `at` formats a time.
    """
    result = Found()
    git = shutil.which("git")
    if git is None:
        result.why = "git is not installed"
        return result
    try:
        base = folder.expanduser().resolve(strict=True)
        listed = _listed(git, base, result)
        new = sorted(
            ((time, path) for path in listed if (time := _written(base, path)) >= since - _SLACK_S), reverse=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        result.why = f"the folder cannot be listed: {error}"
        return result
    new = [(time, path) for time, path in new if not skip(str(base / path))]
    result.left_out = max(0, len(new) - FILES_MAX)
    room = READ_MAX
    for time, path in new[:FILES_MAX]:
        record = _record(base, path, agent, at(time), room)
        if record is None:
            result.left_out += 1
        else:
            result.files.append(record)
            room -= record.size
    return result


def _listed(git: str, folder: Path, found: Found) -> list[str]:
    """Return the paths in a folder that git does not ignore, at most `LISTED_MAX`; with the rules of folders above."""
    top = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
    with tempfile.TemporaryDirectory(prefix="reverie-") as scratch:
        repository = Path(scratch) / "git"
        settings = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            settings.pop(name, None)
        subprocess.run(  # noqa: S603 - git, with arguments of this module
            [git, "init", "--quiet", "--bare", "--template=", str(repository)],
            check=True,
            capture_output=True,
            timeout=GIT_SECONDS,
            env=settings,
        )
        arguments = [git, f"--git-dir={repository}", f"--work-tree={top}", "-c", "core.bare=false"]
        arguments += ["ls-files", "-z", "--others", "--exclude-standard"]
        if (own := top / ".git" / "info" / "exclude").is_file():
            arguments.append(f"--exclude-from={own}")
        with subprocess.Popen(  # noqa: S603 - as above
            [*arguments, "--", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=top, env=settings
        ) as process:
            assert process.stdout is not None
            late = threading.Timer(LISTING_SECONDS, process.kill)
            late.start()
            try:
                paths = list(_paths(process.stdout))
                if len(paths) > LISTED_MAX:
                    found.why = f"it has more than {LISTED_MAX:,} files"
                elif process.wait() != 0:
                    hung = process.returncode == -signal.SIGKILL
                    found.why = f"git takes longer than {LISTING_SECONDS:g} s" if hung else "git cannot list it"
            finally:
                late.cancel()
                process.kill()
    below = [os.path.relpath(top / path, folder) for path in paths[:LISTED_MAX]]
    return [path for path in below if not path.startswith("..")]


def _paths(output: IO[bytes]) -> Iterator[str]:
    """Yield the paths in zero-terminated output, at most LISTED_MAX + 1; those that are not UTF-8 are left out."""
    rest, count = b"", 0
    while block := output.read(_BLOCK):
        *whole, rest = (rest + block).split(b"\0")
        for path in whole:
            try:
                yield path.decode("utf-8")
            except UnicodeDecodeError:
                continue
            count += 1
            if count > LISTED_MAX:
                return


def _written(base: Path, path: str) -> float:
    """Return when a regular file was last written or moved here (s since 1970); 0 for a missing or other file."""
    try:
        status = os.lstat(base / path)
    except OSError:
        return 0.0
    return max(status.st_ctime, status.st_mtime) if stat.S_ISREG(status.st_mode) else 0.0


def _record(base: Path, path: str, agent: str | None, at: str, room: int) -> RunFileRecord | None:
    """Return the record of a file; None if it cannot be read, leads out of the folder, or has over `room` bytes."""
    name = path.replace(os.sep, "/")
    try:
        if not Path(os.path.realpath(base / path)).is_relative_to(base):
            return None
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(base / path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > room:
                return None
            if status.st_size <= FILE_BYTES_MAX:
                return file_record(name, file.read(FILE_BYTES_MAX + 1), agent=agent, source="folder", at=at)
            whole = hashlib.sha256()
            size = 0
            while size <= room and (block := file.read(_BLOCK)):
                whole.update(block)
                size += len(block)
    except (OSError, ValidationError):  # gone meanwhile, or a name that is none on every system
        return None
    return _large(name, size, whole.hexdigest(), agent, at)


def _large(name: str, size: int, sha256: str, agent: str | None, at: str) -> RunFileRecord | None:
    """Return the record of a file above the size that is stored, without its content."""
    try:
        noted = file_record(name, b"", agent=agent, source="folder", at=at)
    except ValidationError:
        return None
    return replace(noted, content=None, size=size, sha256=sha256, omitted="large")
