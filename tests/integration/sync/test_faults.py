"""Fault injection at every system call of an exchange session: files stay whole, and no save is lost.

Run as a program with a folder, it is that session, and says `did N` after each step.
"""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from reverie import syscalls
from reverie.errors import Conflict, DiskFull, Forbidden, ReverieError, StorageFailed
from reverie.sync.displaced import DisplacedFile, recover
from reverie.sync.root import Root
from reverie.sync.swap import Mismatch, Removed, Written, remove_file, write_file
from support.soak import count
from support.spaces import digest, open_root, swap_files, tracer

NOTE, OTHER = "facts/deep/user.md", "notes.txt"
ONE, TWO, THREE, FOUR = (f"- Version {number}\n".encode() * 50 for number in ("one", "two", "three", "four"))
SAVED = b"- Somebody's own words\n"

# What the two files hold after each step; step 0 is the beginning.
AFTER: list[tuple[bytes | None, bytes | None]] = [
    (None, None),
    (ONE, None),
    (ONE, ONE),
    (TWO, ONE),
    (SAVED, ONE),
    (SAVED + FOUR, ONE),
    (SAVED + FOUR, ONE),
    (SAVED + FOUR, None),
    (SAVED + FOUR, None),
]

Step: TypeAlias = Callable[[int], None]


class Stopped(Exception):
    """A file that could not be checked and was left as it was: a result, not an error."""


def session(root: Root, did: Step, *, person: Callable[[Path], None]) -> None:
    """Run all steps; `person` saves SAVED over the file just before our bytes are exchanged with it."""
    out: list[DisplacedFile] = []
    keep(out, write_file(root, NOTE, ONE, expected=None))
    did(1)
    keep(out, write_file(root, OTHER, ONE, expected=None))
    did(2)
    keep(out, write_file(root, NOTE, TWO, expected=digest(ONE)))
    did(3)
    with just_before_exchange(lambda: person(root.real / NOTE)):
        overtaken = write_file(root, NOTE, THREE, expected=digest(TWO))
    if not isinstance(overtaken, Mismatch) or overtaken.saves != (SAVED,) or overtaken.actual != digest(SAVED):
        raise Stopped
    assert overtaken.exposed
    assert overtaken.displaced is not None
    out.append(overtaken.displaced)
    did(4)
    keep(out, write_file(root, NOTE, SAVED + FOUR, expected=digest(SAVED)))
    did(5)
    settle(out)
    did(6)
    keep(out, remove_file(root, OTHER, expected=digest(ONE)))
    did(7)
    settle(out)
    did(8)


def keep(out: list[DisplacedFile], done: Written | Removed | Mismatch) -> None:
    if isinstance(done, Mismatch):
        raise Stopped
    if done.displaced is not None:
        out.append(done.displaced)


def settle(out: list[DisplacedFile]) -> None:
    for displaced in out:
        if displaced.settle() is not None or not displaced.settled:
            raise Stopped
    out.clear()


def saves(path: Path) -> None:
    """Save by rename, as most editors do."""
    path.with_name(".draft").write_bytes(SAVED)
    path.with_name(".draft").replace(path)


@contextmanager
def just_before_exchange(act: Callable[[], None]) -> Iterator[None]:
    """Run an act once, between our check of the file and the exchange."""
    real, waiting = syscalls.exchange, [act]

    def exchange(first: str, first_folder: int, second: str, second_folder: int) -> None:
        while waiting:
            waiting.pop()()
        real(first, first_folder, second, second_folder)

    syscalls.exchange = exchange
    try:
        yield
    finally:
        syscalls.exchange = real


TESTS = Path(__file__).resolve().parents[2]
OF_OS = "open close write pread fsync fchmod fchown fstat stat lstat mkdir rename replace link unlink dup scandir"
OF_KERNEL = "exchange rename_new open_beneath"


def held(root: Root, path: str) -> bytes | None:
    file = root.real / path
    return file.read_bytes() if file.exists() else None


def check(root: Root, step: int) -> None:
    """Assert what a restart finds after `step`, or after the next one: whole files, and no lost save."""
    found = held(root, NOTE), held(root, OTHER)
    root.displaced_names.clear()
    left = {each.path: each for each in recover(root, [NOTE, OTHER])}
    after = held(root, NOTE), held(root, OTHER)
    near = AFTER[step : step + 2]
    saved = any(SAVED in (data or b"") for data in (after[0], *(each.data for each in left.values())))
    assert after[1] in {state[1] for state in near}
    assert found[1] == after[1]
    if step == 3:  # the step in which somebody saves: theirs is there, or is handed over, or was not made yet
        assert after[0] in {AFTER[3][0], SAVED} or left[NOTE].data == SAVED
    else:
        assert after[0] in {state[0] for state in near}
        assert not left
        assert saved == (step > 3)
    for each in left.values():
        assert each.path == NOTE
        each.discard()
    assert recover(root, [NOTE, OTHER]) == []
    assert swap_files(root) == []
    assert isinstance(write_file(root, "later.md", b"x", expected=None), Written)


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


class Faults:
    """A counter of calls; call number `fails` raises."""

    def __init__(self, fails: int, number: int) -> None:
        self.fails = fails
        self.number = number
        self.calls = 0
        self.name = ""
        self.asleep = True

    def wrapped(self, name: str, real: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self.asleep:
                self.calls += 1
                if self.calls == self.fails:
                    self.name = name
                    if name == "close":  # the system lets the handle go, whatever it says
                        real(*args, **kwargs)
                    raise OSError(self.number, os.strerror(self.number))
            return real(*args, **kwargs)

        return call

    @contextmanager
    def around(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        with monkeypatch.context() as patch:
            for module, names in ((os, OF_OS), (syscalls, OF_KERNEL)):
                for name in names.split():
                    patch.setattr(module, name, self.wrapped(name, getattr(module, name)))
            self.asleep = False
            try:
                yield
            finally:
                self.asleep = True

    def person(self, path: Path) -> None:
        """Run an act of another process, whose calls do not fail."""
        self.asleep = True
        saves(path)
        self.asleep = False


def life(root: Root, faults: Faults, monkeypatch: pytest.MonkeyPatch) -> tuple[int, ReverieError | None]:
    """Run the session; return the last step that was done, and the error that ended it."""
    done = [0]
    try:
        with faults.around(monkeypatch):
            session(root, done.append, person=faults.person)
    except Stopped:
        return done[-1], None
    except ReverieError as error:
        return done[-1], error
    return done[-1], None


KINDS = {
    errno.EIO: (StorageFailed,),
    errno.ENOSPC: (DiskFull,),
    errno.EACCES: (Forbidden,),
    errno.EROFS: (StorageFailed,),
    errno.EPERM: (Forbidden, StorageFailed),
}


@pytest.mark.timeout(count(240, 3600))
@pytest.mark.parametrize("number", KINDS, ids=[errno.errorcode[number] for number in KINDS])
def test_any_call_may_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """With each call of the session failing in turn the error has a hint, and the folder is consistent."""
    counted = Faults(0, number)
    with open_root(tmp_path / "counted") as root:
        assert life(root, counted, monkeypatch) == (8, None)
    points = list(range(1, counted.calls + 1))
    default = 70 if number == errno.EIO else 12
    points = random.Random(number).sample(points, count(default, len(points)))
    failed: dict[str, int] = {}
    for point in points:
        with open_root(tmp_path / f"space{point}") as root:
            before = handles()
            faults = Faults(point, number)
            step, error = life(root, faults, monkeypatch)
            assert handles() == before, faults.name
            if error is not None:
                failed[faults.name] = failed.get(faults.name, 0) + 1
                assert isinstance(error, (*KINDS[number], Conflict)), faults.name
                assert error.hint
            check(root, step)
        shutil.rmtree(tmp_path / f"space{point}")
    print(f"{errno.errorcode[number]}: {len(points)} points, {sum(failed.values())} errors: {failed}")
    assert failed


def _run(space: Path, log: Path, *what: str) -> int:
    """Run the session in a traced process of its own; return the last step that it reported."""
    env = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'python'}", "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("COVERAGE_PROCESS_START", None)
    command = [tracer(), "-f", "-qq", "--seccomp-bpf", "-o", str(log), "-e", *what]
    command += [sys.executable, __file__, str(space)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    said = [line.split()[1] for line in done.stdout.splitlines()]
    return int(said[-1]) if said else -1


CALLS = ("renameat2", "rename", "renameat", "fsync", "unlink", "unlinkat", "fchmod")


@pytest.mark.timeout(count(240, 3600))
def test_killed_at_any_call(tmp_path: Path) -> None:
    """A session killed as its N-th rename, flush or removal begins leaves whole files, and loses no save."""
    log = tmp_path / "log"
    assert _run(tmp_path / "counted", log, f"trace={','.join(CALLS)}") == 8
    made = Counter(re.findall(r"^\d+ +(\w+)\(", log.read_text(), re.MULTILINE))
    points = [(call, number) for call, times in made.items() for number in range(1, times + 1)]
    assert len(points) > 30
    for call, number in random.Random(4).sample(points, count(6, len(points))):
        space = tmp_path / f"{call}{number}"
        step = _run(space, log, f"inject={call}:signal=KILL:when={number}")
        assert "SIGKILL" in log.read_text()
        with open_root(space, fresh=step < 0) as root:  # below 0: killed before the root was marked
            check(root, max(step, 0))


@pytest.mark.parametrize("error", ["ENOSYS", "EINVAL"])
def test_a_kernel_without_these_calls(tmp_path: Path, error: str) -> None:
    """Without renameat2 and openat2 files are written, replaced and removed, and the swap folder is empty after it."""
    space = tmp_path / "space"
    env = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'python'}"}
    code = (
        "import sys; from pathlib import Path; from support.spaces import *\n"
        "from reverie.sync.swap import *\n"
        "with open_root(Path(sys.argv[1])) as root:\n"
        "    sync_write(root, 'facts/x.md', b'one'); done = sync_write(root, 'facts/x.md', b'two', b'one')\n"
        "    assert done.displaced.settle() is None and done.displaced.settled\n"
        "    assert remove_file(root, 'facts/x.md', expected=digest(b'two')).displaced.settle() is None\n"
        "    sync_write(root, 'facts/x.md', b'three'); assert swap_files(root) == []\n"
    )
    command = [tracer(), "-f", "-qq", "-o", str(tmp_path / "log"), "-e", f"inject=renameat2,openat2:error={error}"]
    done = subprocess.run(
        [*command, sys.executable, "-c", code, space], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (space / "facts/x.md").read_bytes() == b"three"
    assert "(INJECTED)" in (tmp_path / "log").read_text()


if __name__ == "__main__":  # the session that a test ends
    with open_root(Path(sys.argv[1])) as space:
        print("did 0", flush=True)
        session(space, lambda step: print(f"did {step}", flush=True), person=saves)
