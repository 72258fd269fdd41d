"""A space's folder for tests, somebody outside of it, and what only an administrator can do to it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import traceback
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from reverie.errors import Conflict
from reverie.sync.exchange import Written, write_file
from reverie.sync.root import Root
from reverie.sync.scan import FileContent, Limits, Refusal, Scan, read_file, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

__all__ = [
    "as_nobody",
    "digest",
    "looked",
    "mounted",
    "opened",
    "scan_and_read",
    "stopped_by",
    "swapped",
    "system",
    "whole",
    "why",
    "write",
    "written",
]

NOBODY = 65534


def opened(path: Path, *, fresh: bool = True) -> Root:
    return Root.open(path, space="default", store_id="store", fresh=fresh)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def write(root: Root, path: str, data: bytes = b"- A fact\n") -> Path:
    """As a person does it, who knows nothing of us."""
    file = root.real / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def written(root: Root, path: str, data: bytes, before: bytes | None = None) -> Written:
    """As we do it: `before` is what is replaced."""
    done = write_file(root, path, data, expected=None if before is None else digest(before))
    assert isinstance(done, Written), done
    return done


def why(found: object) -> str:
    """The reason of a refusal, which has a hint."""
    assert isinstance(found, Refusal), found
    assert found.hint
    return found.reason


def whole(root: Root, path: str) -> bytes:
    """What a reading gives."""
    found = read_file(root, path, limit=1 << 20)
    assert isinstance(found, FileContent), found
    return found.data


def looked(root: Root, before: Scan | None = None) -> Scan:
    """A look at all, after an earlier one."""
    return scan(root, known=before.stamps if before else {})


def scan_and_read(root: Root, known: Collection[str] = ()) -> tuple[Scan, dict[str, str]]:
    """A scan whose files were all read: what cannot be read is refused; and the SHA-256 of what can, by path."""
    found, digests = scan(root, known=known), {}
    for path in list(found.stamps):
        content = read_file(root, path, limit=Limits().file_bytes)
        if isinstance(content, FileContent):
            found.stamps[path], digests[path] = content.stamp, content.sha256
            continue
        del found.stamps[path]
        if content is not None:
            found.refused[path] = content
    return found, digests


def stopped_by(root: Root) -> str:
    """Why the root is not what it was."""
    with pytest.raises(Conflict) as stopped:
        root.verify()
    return str(stopped.value.details["reason"])


def swapped(root: Root) -> list[str]:
    """What is in the swap folder."""
    folder = root.real / ".reverie/swap"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def system(*command: str | Path) -> None:
    """Runs a command of the system; skips the test, saying which, where it is not allowed."""
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip(f"needs `{command[0]}`")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"may not run here: `{' '.join(map(str, command))}`: {error.stderr.strip()}")


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    """A mount at `place`, made by `mount OPTIONS place`, and gone at the end; skips where that is not allowed."""
    system("mount", *options, place)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def as_nobody(work: Callable[[], object]) -> None:
    """Runs `work` in a child without any rights; what fails there fails here. Skips where we have none to give up."""
    if os.getuid() != 0:
        pytest.skip("needs to be root, to run as another user")
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)

    def run() -> None:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        try:
            work()
            there.send(None)
        except BaseException:  # noqa: BLE001 - the parent reports it
            there.send(traceback.format_exc())
        os._exit(0)

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    there.close()
    said = here.recv()
    child.join()
    assert said is None, said
