"""The check of a store, run in a child process, so that a damaged file can crash only that process.

`python -m reverie.store.check PATH [--json] [--offline]` exits with 0 for a sound store; 1 where records are damaged or
missing (the store can be opened and names each that is asked for); 3 where the file is damaged and must not be opened.
"""

from __future__ import annotations

import argparse
import errno
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lmdb
import orjson
from lmdb import verify

from reverie.errors import ReverieError, StorageFailed
from reverie.store.consistency import ConsistencyCheck, Problem
from reverie.store.env import MAP_BYTES, lmdb_options
from reverie.store.guard import RollbackGuardFile, StoreLock, truncated_at, wrong_flags
from reverie.store.kinds import SYSTEM_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SOUND, RECORDS, FILE = 0, 1, 3  # exit statuses; argparse uses 2 for a wrong command line
_STATUSES = (SOUND, RECORDS, FILE)
_FILE_KINDS = ("page", "store")  # kinds of problem that make a file unsafe to open
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
# LMDB asserts, or follows a wild page number in its map: a crash is what damage looks like.
_CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check. `crashed` names the signal that LMDB crashed with when it read the file, or is None."""

    ok: bool
    problems: tuple[Problem, ...]
    counts: dict[str, int]
    crashed: str | None = None

    @property
    def status(self) -> int:
        """SOUND, RECORDS (the store can be opened; reads name what is damaged) or FILE (it should not be opened)."""
        if self.ok:
            return SOUND
        return FILE if any(problem.kind in _FILE_KINDS for problem in self.problems) else RECORDS

    def as_json(self) -> dict[str, Any]:
        """Return the check's report as it is printed with `--json`."""
        return {
            "ok": self.ok,
            "problems": [problem.as_json() for problem in self.problems],
            "counts": self.counts,
            "crashed": self.crashed,
        }


def run_check(path: Path, *, offline: bool = False, timeout_s: float = 3600) -> CheckReport:
    """Check the store in folder `path`, or the backup file `path`, in a child process, and return the report.

    `offline`: the caller has the store's lock and has not opened it, so that the pages can be checked as well.
    A child that crashed is a finding, not an error. Raises StorageFailed where no check could be made.
    """
    command = [sys.executable, "-m", "reverie.store.check", str(path), "--json"]
    if offline:
        command.append("--offline")
    done = _child(command, timeout_s)
    if -done.returncode in _CRASHES:
        pages = _child([*command, "--pages-only"], timeout_s)
        # The pages are checked without LMDB, so this run can say what it was that LMDB crashed on.
        problems = _report(pages.stdout).problems if pages.returncode in _STATUSES else ()
        word = signal.Signals(-done.returncode).name
        crash = Problem("store", "", str(path.name), f"LMDB crashed with {word} when reading the file")
        return CheckReport(ok=False, problems=(*problems, crash), counts={}, crashed=word)
    # Python exits with 1 (RECORDS) after an exception too: only a report on standard output tells the two apart.
    if done.returncode not in _STATUSES or not done.stdout:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise StorageFailed(
            f"the check of {path} ended with {done.returncode}: {lines[-1] if lines else 'it printed nothing'}",
            hint=f"run `{' '.join(command)}`",
        )
    return _report(done.stdout)


def _child(command: Sequence[str], timeout_s: float) -> subprocess.CompletedProcess[bytes]:
    """Run the check in a child process and return what it printed. Raises StorageFailed after `timeout_s`."""
    try:
        return subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603 - our own module
    except subprocess.TimeoutExpired as error:
        raise StorageFailed(f"the check took more than {timeout_s} s", hint="check it by hand") from error


def _report(printed: bytes) -> CheckReport:
    value = orjson.loads(printed)
    problems = tuple(Problem(**problem) for problem in value["problems"])
    return CheckReport(value["ok"], problems, value["counts"], value["crashed"])


def check(path: Path, *, offline: bool, pages_only: bool = False) -> CheckReport:
    """Return the report of a check in this process, which a damaged file may crash; `run_check` is the safe way."""
    file = path if path.is_file() else path / "data.mdb"
    if path.is_dir() and file.stat().st_size == 0 and RollbackGuardFile.read(path) is None:
        return CheckReport(ok=True, problems=(), counts={})  # made, and nothing written yet
    problems = _pages(path) if offline or path.is_file() else []
    counts: dict[str, int] = {}
    if not pages_only:
        try:
            counts = _records(path, offline, problems)
        except (lmdb.Error, ReverieError) as error:
            problems.append(Problem("store", "", path.name, f"cannot be read: {error}"))
    return CheckReport(not problems, tuple(problems), counts)


def _pages(path: Path) -> list[Problem]:
    """Return the damage of the file's pages, read without LMDB; only valid while no process writes to it."""
    data = path if path.is_file() else path / "data.mdb"
    try:
        messages = [*_structure(path), *wrong_flags(data)]
    except (verify.VerifyError, OSError) as error:
        messages = [str(error)]
    truncated = truncated_at(data) if messages else None
    if truncated is not None:
        # First, because it is the cause of all others.
        messages.insert(0, f"the file is truncated: it has {truncated[0]:,} of {truncated[1]:,} bytes")
    return [Problem("page", "", path.name, what) for what in messages]


def _structure(path: Path) -> list[str]:
    """Return what lmdb's verifier, written in Python, finds wrong with the pages."""
    messages: list[str] = verify.verify(str(path))  # type: ignore[no-untyped-call] # lmdb ships no types for this module
    return messages


def _records(path: Path, offline: bool, problems: list[Problem]) -> dict[str, int]:  # noqa: FBT001 - passed through
    """Check every record, add to `problems`, and return the number of records by kind."""
    # Read before the snapshot is taken: a daemon that goes on writing may commit, and write the guard, during the walk.
    guard = RollbackGuardFile.read(path) if path.is_dir() else None
    settings: dict[str, Any] = {**lmdb_options(MAP_BYTES, readonly=True), "subdir": path.is_dir(), "lock": not offline}
    with lmdb.open(str(path), **settings) as env, env.begin() as txn:
        walk = ConsistencyCheck(txn)
        try:
            walk.run()
        finally:
            problems += walk.problems  # those found before an error count too
    if guard is not None and walk.commits < guard.commits:
        what = f"the store is at commit {walk.commits}; commit {guard.commits} was acknowledged"
        problems.append(Problem("header", SYSTEM_SPACE, "", what))
    return {kind.value: count for kind, count in walk.counts.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m reverie.store.check", description="Check a store.")
    parser.add_argument("path", type=Path, help="the folder of a store, or a backup file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--offline", action="store_true", help="the caller has the store's lock")
    parser.add_argument("--pages-only", action="store_true", help="check the file's pages without opening it")
    chosen = parser.parse_args(arguments)
    path: Path = chosen.path
    if not (path.is_file() or (path / "data.mdb").exists()):
        parser.error(f"there is no store at {path}")
    if chosen.offline or path.is_file() or StoreLock.is_held(path):
        report = check(path, offline=chosen.offline or path.is_file(), pages_only=chosen.pages_only)
    else:
        with _locked(path):
            report = check(path, offline=True, pages_only=chosen.pages_only)
    if chosen.json:
        sys.stdout.buffer.write(orjson.dumps(report.as_json()) + b"\n")
    else:
        sys.stdout.write(_text(report))
    return report.status


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    """Lock the store for the duration of a check, so that no process opens it; in a read-only folder without a lock.

    Neither can a daemon of this user open a store in a folder that is read-only.
    """
    try:
        lock = StoreLock.take(store)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
        yield
        return
    with lock:
        yield


def _text(report: CheckReport) -> str:
    lines = [f"{problem.kind} {problem.key} in {problem.space}: {problem.what}" for problem in report.problems]
    total = sum(report.counts.values())
    verdict = f"{total} records, all sound" if report.ok else f"{total} records, {len(lines)} problems"
    return "\n".join([*lines, verdict, ""])


if __name__ == "__main__":
    sys.exit(main())
