"""The folder of a space: writes by users and by sync, and operations that need root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from reverie.sync.root import Root
from reverie.sync.scan import FileContent, Limits, Refusal, Scan, read_file, scan
from reverie.sync.swap import Written, write_file


def open_root(path: Path, *, fresh: bool = True) -> Root:
    return Root.open(path, space="default", store_id="store", fresh=fresh)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def user_write(root: Root, path: str, data: bytes = b"- A fact\n") -> Path:
    """Write a file as a user does, outside of Reverie."""
    file = root.real / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def sync_write(root: Root, path: str, data: bytes, before: bytes | None = None) -> Written:
    """Write a file as sync does; `before` is the content that it replaces."""
    outcome = write_file(root, path, data, expected=None if before is None else digest(before))
    assert isinstance(outcome, Written), outcome
    return outcome


def refusal_reason(outcome: object) -> str:
    """Return the reason of a refusal; assert that it has a hint."""
    assert isinstance(outcome, Refusal), outcome
    assert outcome.hint
    return outcome.reason


def file_content(root: Root, path: str) -> bytes:
    """Return the content of a file."""
    content = read_file(root, path, limit=1 << 20)
    assert isinstance(content, FileContent), content
    return content.data


def rescan(root: Root, before: Scan | None = None) -> Scan:
    """Scan the folder, with the stamps of an earlier scan."""
    return scan(root, known=before.stamps if before else {})


def scan_and_read(root: Root, known: Collection[str] = ()) -> tuple[Scan, dict[str, str]]:
    """Return a scan in which every file was read and unreadable ones are refused, and the SHA-256 of each by path."""
    result, digests = scan(root, known=known), {}
    for path in list(result.stamps):
        content = read_file(root, path, limit=Limits().file_bytes)
        if isinstance(content, FileContent):
            result.stamps[path], digests[path] = content.stamp, content.sha256
            continue
        del result.stamps[path]
        if content is not None:
            result.refused[path] = content
    return result, digests


def swap_files(root: Root) -> list[str]:
    """Return the names of files in the swap folder."""
    folder = root.real / ".reverie/swap"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def run_or_skip(*command: str | Path) -> None:
    """Run a system command; skip the test, naming the command, if it is missing or not permitted."""
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip(f"needs `{command[0]}`")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"may not run here: `{' '.join(map(str, command))}`: {error.stderr.strip()}")


@contextmanager
def mounted(path: Path, *options: str) -> Iterator[None]:
    """Mount at `path` by `mount OPTIONS path` and unmount at the end; skip the test if it is not permitted."""
    run_or_skip("mount", *options, path)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def tracer() -> str:
    """Return the path of strace; skip the test if it is missing or not permitted to trace."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace to inject faults: `apt-get install strace`")
    probe = subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("strace may not trace here (ptrace is not permitted)")
    return strace
