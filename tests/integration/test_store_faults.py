"""Acknowledged writes survive a killed process, a failing disk and a full one; damage is never returned."""

from __future__ import annotations

import base64
import faulthandler
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from reverie.errors import Damaged, DiskFull, ReverieError
from reverie.store import RULES, SYSTEM_SPACE, Kind, Reader, Store, Writer, needs_check
from reverie.store.check import CheckReport, check
from reverie.store.codec import verified_sealed
from support.soak import count
from support.spaces import tracer
from support.store_load import AGENTS, LONG, writes
from support.stores import AT, SPACE, opened, put, write


def complete_commits(store: Store) -> int:
    """Return how many commits the store has; raise AssertionError where one of them is incomplete."""
    with store.reader("load") as reader:
        commits = reader.last_seq(Kind.ENTRY, ("thread_0",))
        for agent in range(AGENTS):
            entries = [value["commit"] for _, value in reader.scan(Kind.ENTRY, (f"thread_{agent}",))]
            assert entries == list(range(1, commits + 1))
            state: dict[str, Any] | None = reader.get(Kind.STATE, (f"thread_{agent}",))
            assert (state or {"commit": 0})["commit"] == commits
            assert len(reader.history(Kind.STATE, (f"thread_{agent}",))) == commits
        assert reader.operation() == reader.count(Kind.OPERATION) == commits * AGENTS
        assert reader.last_seq(Kind.EVENT) == sum(1 for _ in reader.scan(Kind.EVENT)) == commits * AGENTS
        for _, value in reader.scan(Kind.DOCUMENT):
            assert value["text"] == LONG
        assert all(value["commit"] <= commits for _, value in reader.scan(Kind.MEMORY))
    return commits


TESTS = Path(__file__).resolve().parents[1]


def _load(path: Path, *commits: int, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start the process that writes to a store, optionally under a tracer."""
    env = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'python'}", "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("COVERAGE_PROCESS_START", None)
    command = [*prefix, sys.executable, "-P", "-m", "support.store_load", str(path), *map(str, commits)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def _acknowledged(said: str) -> int:
    acks = [int(line.split()[1]) for line in said.splitlines() if line.startswith("ack ") and line[4:].isdigit()]
    assert acks == list(range(acks[0], acks[-1] + 1)) if acks else True
    return acks[-1] if acks else 0


def _check_survivor(path: Path, acknowledged: int) -> int:
    """Assert that the store is sound, has every acknowledged commit, and at most the one that was in progress.

    Returns the number of commits after one more, which is acknowledged too.
    """
    if (path / "data.mdb").exists():
        report = check(path, offline=True)
        assert report.ok, report.problems[:5]
    with opened(path) as store:
        commits = complete_commits(store)
        assert acknowledged <= commits <= acknowledged + 1
        store.commit(writes(commits + 1), at=AT)
        assert complete_commits(store) == commits + 1
    return commits + 1


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    """SIGKILL at random moments of a load of eight agents, several times on each store."""
    chance = random.Random(7)
    path, last = tmp_path, 0
    for number in range(count(5, 200)):
        if number % 10 == 0:
            path, last = tmp_path / f"store{number}", 0
        load = _load(path)
        assert load.stdout
        assert load.stdout.readline() == "open\n"
        time.sleep(chance.uniform(0.01, 0.25))
        load.kill()
        said, _ = load.communicate()
        assert needs_check(path)
        last = _check_survivor(path, max(last, _acknowledged(said)))


def _tracing(path: Path, log: Path, words: str) -> tuple[str, ...]:
    """Return the words of a tracer of CALLS on the data file alone."""
    file, calls = str(path / "data.mdb"), f"trace={','.join(CALLS)}"
    return tracer(), "-f", "-qq", "-o", str(log), "-P", file, "-e", calls, "-e", words


def _traced(path: Path, inject: str, commits: int = 6) -> tuple[str, str]:
    """Run the writing process with a fault injected into its calls on the data file; return its output and the log."""
    log = path.with_name("trace")
    path.mkdir(exist_ok=True)
    load = _load(path, commits, prefix=_tracing(path, log, f"inject={inject}"))
    said, complaint = load.communicate(timeout=60)
    assert "Traceback" not in complaint, complaint
    return said, log.read_text() if log.exists() else ""


_CALL = re.compile(r"(\w+)\((\w+)(.*)\) += (\d+)")
_BYTES = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
SECTOR = 512


class Disk:
    """The files of a store as traced calls leave them on a disk: what is flushed, and later writes in order."""

    def __init__(self, folder: Path) -> None:
        self.acknowledged = -1  # commits, -1 before the store is open
        self._paths = {str(folder / name): name for name in ("data.mdb", "anchor")}
        self._flushed = {name: bytearray() for name in self._paths.values()}
        self._pending: dict[str, list[tuple[int, bytes]]] = {name: [] for name in self._flushed}
        self._open: dict[str, tuple[str | None, bool]] = {}  # by descriptor: a file, and whether a write flushes itself
        self._at: Counter[str] = Counter()

    def call(self, line: str) -> None:
        """Carry out one line of strace."""
        match = _CALL.match(line)
        if match is None:
            return
        name, handle, words, result = match.groups()
        data = b"".join(bytes.fromhex(text.replace("\\x", "")) for text in _BYTES.findall(words))
        file, flushes = self._open.get(handle, (None, False))
        if name == "openat":
            self._open[result] = self._paths.get(data.decode()), "O_DSYNC" in words
            self._at[result] = 0
        elif handle == "1":
            self.acknowledged = int(data.split()[1]) if data.startswith(b"ack") else max(self.acknowledged, 0)
        elif file is None:
            return
        elif name == "lseek":
            self._at[handle] = int(result)
        elif name in {"fdatasync", "fsync"}:
            for place, written in self._pending[file]:
                _put(self._flushed[file], place, written)
            self._pending[file].clear()
        elif name.startswith("p"):
            self._write(file, int(re.findall(r"\d+$", words)[0]), data, flushes=flushes)
        else:
            self._write(file, self._at[handle], data, flushes=flushes)
            self._at[handle] += len(data)

    def _write(self, file: str, place: int, data: bytes, *, flushes: bool) -> None:
        if flushes:
            _put(self._flushed[file], place, data)
        else:
            self._pending[file].append((place, data))

    def after_cut(self, folder: Path, chance: random.Random) -> None:
        """Write the files as a power cut leaves them: of what was not flushed any sectors are there."""
        folder.mkdir()
        for file, flushed in self._flushed.items():
            left, share = bytearray(flushed), chance.choice((0.0, 0.5, 1.0))
            for place, data in self._pending[file]:
                for start in range(0, len(data), SECTOR):
                    if chance.random() < share:
                        _put(left, place + start, data[start : start + SECTOR])
            (folder / file).write_bytes(left)


def _put(file: bytearray, place: int, data: bytes) -> None:
    file.extend(bytes(max(0, place + len(data) - len(file))))
    file[place : place + len(data)] = data


def test_nothing_acknowledged_is_lost_when_the_power_is_cut(tmp_path: Path) -> None:
    """Whatever sectors of unflushed writes are on the disk then, the store is sound and has what was answered."""
    log, path = tmp_path / "trace", tmp_path / "load"
    path.mkdir()
    calls = "openat,write,writev,pwrite64,pwritev,lseek,fdatasync,fsync"
    load = _load(path, 40, prefix=(tracer(), "-qq", "-xx", "-s", "16777216", "-o", str(log), "-e", f"trace={calls}"))
    load.communicate(timeout=120)
    lines, chance, disk = log.read_text().splitlines(), random.Random(3), Disk(path)
    opened_at = next(index for index, line in enumerate(lines) if line.startswith("write(1,"))
    cuts = Counter(chance.choices(range(opened_at, len(lines)), k=count(10, 500)))
    for index, line in enumerate(lines):
        disk.call(line)
        for number in range(cuts[index]):
            disk.after_cut(tmp_path / f"{index}-{number}", chance)
            _check_survivor(tmp_path / f"{index}-{number}", disk.acknowledged)
    assert disk.acknowledged == 40
    disk.after_cut(tmp_path / "end", chance)
    assert (tmp_path / "end" / "data.mdb").read_bytes() == (path / "data.mdb").read_bytes()


CALLS = ("pwrite64", "writev", "fdatasync")  # what LMDB makes a commit with


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """How many of each of CALLS the load makes on the data file."""
    path = tmp_path_factory.mktemp("counted") / "load"
    path.mkdir()
    log = path.with_name("count")
    _load(path, 6, prefix=_tracing(path, log, "signal=none")).communicate(timeout=60)
    return Counter(re.findall(r"(\w+)\(", log.read_text()))


@pytest.mark.parametrize("call", CALLS)
def test_killed_at_each_call_on_the_file(tmp_path: Path, points: Counter[str], call: str) -> None:
    """Killed just as the N-th write or flush begins, for each N."""
    if points[call] == 0:
        pytest.skip(f"LMDB does not call {call} here")
    chosen = random.Random(call).sample(range(1, points[call] + 1), min(points[call], count(3, points[call])))
    for number in chosen:
        path = tmp_path / f"store{number}"
        said, log = _traced(path, f"{call}:signal=KILL:when={number}")
        assert "SIGKILL" in log
        _check_survivor(path, _acknowledged(said))


@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EDQUOT"])
@pytest.mark.parametrize("call", CALLS)
def test_a_failing_call_is_never_acknowledged(tmp_path: Path, points: Counter[str], call: str, error: str) -> None:
    """EIO from a flush stops writes until the store is reopened; after ENOSPC the next write works."""
    if points[call] == 0:
        pytest.skip(f"LMDB does not call {call} here")
    later = range(points[call] // 2, points[call] + 1)  # the first calls make the file; those are tested by opening
    for number in random.Random(f"{call}{error}").sample(later, min(len(later), count(1, 40))):
        path = tmp_path / f"store{number}"
        said, log = _traced(path, f"{call}:error={error}:when={number}")
        assert "(INJECTED)" in log
        lines = said.splitlines()
        failed = [line.split()[0] for line in lines if line.startswith(("storage_failed", "disk_full"))]
        assert failed, said
        assert failed[0] == ("storage_failed" if error == "EIO" else "disk_full")
        # After an EIO, and after any failure to write the page that names the newest state, nothing is written until
        # the store has been opened again. After want of room elsewhere, the next write goes through.
        assert failed[1:] in ([], ["storage_failed"] * 4)
        assert error != "EIO" or len(failed) == 5
        refused = lines.index(next(line for line in lines if line.startswith(failed[0])))
        assert len(failed) == 1 or not any(line.startswith("ack") for line in lines[refused:])
        _check_survivor(path, _acknowledged(said))


def test_a_file_size_limit_counts_as_a_full_disk(tmp_path: Path) -> None:
    """A process with a file size limit treats it as a full disk, and writes again once the limit is raised."""
    child = multiprocessing.get_context("fork").Process(target=_limited, args=(tmp_path / "store",))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    _check_sound(tmp_path / "store")


def _limited(path: Path) -> None:
    store = opened(path)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    written = _until_full(store)
    assert written > 5
    _check_full(store, written)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    put(store, Kind.MEMORY, ("after",), {"text": _dense_text(-1)})
    store.close()
    os._exit(0)


def _until_full(store: Store) -> int:
    """Write until the disk is full; return the number of acknowledged writes."""
    for written in range(1000):
        try:
            put(store, Kind.MEMORY, (f"m{written}",), {"text": _dense_text(written)})
        except DiskFull:
            return written
    raise AssertionError("the disk is never full")


def _dense_text(number: int) -> str:
    """Return 30,000 characters that packing makes hardly shorter."""
    return base64.b85encode(random.Random(number).randbytes(24_000)).decode()


def _check_full(store: Store, written: int) -> None:
    """Assert that reads work on a full disk and every acknowledged write is there."""
    with store.reader(SPACE) as reader:
        assert reader.count(Kind.MEMORY) == sum(1 for _ in reader.scan(Kind.MEMORY)) == written
        assert reader.operation() == written


def _check_sound(path: Path) -> None:
    report = check(path, offline=True)
    assert report.ok, report.problems[:5]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A mounted file system of 2 MiB; skips where none can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"needs the right to mount a tmpfs: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_loses_nothing(small_disk: Path) -> None:
    path, ballast = small_disk / "store", small_disk / "ballast"
    with opened(path) as store:
        ballast.write_bytes(b"x" * 1_000_000)
        written = _until_full(store)
        _check_full(store, written)
        ballast.unlink()
        put(store, Kind.MEMORY, ("after",), {"text": _dense_text(-1)})
    _check_sound(path)


def _fill(path: Path) -> None:
    """Write records of every sort in an order that leaves free pages, old pages and pages of every type."""

    def body(w: Writer, turn: int) -> None:
        for number in range(40):
            w.append(Kind.ENTRY, (f"thread_{number % 3}",), {"turn": turn, "text": f"{number} said " * (number % 30)})
            w.put(Kind.MEMORY, (f"memory_{number:03}",), {"turn": turn, "content": f"known {number} " * (turn + 1)})
            w.put(Kind.ACCESS, (f"memory_{number:03}",), {"turn": turn})
        w.put(Kind.DOCUMENT, (f"facts/{turn}.md",), {"text": f"{turn}" * (70_000 if turn % 2 else 900)})
        w.delete(Kind.MEMORY, (f"memory_{turn:03}",))
        w.put(Kind.THREAD, ("thread_0",), {"turn": turn})
        w.put(Kind.NOTE, ("thread_0", f"note_{turn}"), {"text": "remember"})
        w.event("memory.written", {"turn": turn})

    with opened(path) as store:
        for turn in range(8):
            write(store, body, turn, idempotency=(f"key_{turn}", "hash"))
            put(store, Kind.MEMORY, ("m",), {"turn": turn}, space="other")
            put(store, Kind.SPACE, (f"space_{turn}",), {"turn": turn}, space=SYSTEM_SPACE)


Question: TypeAlias = "tuple[Kind, str, Callable[[Reader], Any]]"


def _question(kind: Kind, ask: Callable[..., Any], *given: Any, space: str = SPACE, **how: Any) -> Question:
    return kind, space, lambda reader: ask(reader, *given, **how)


def _questions() -> dict[str, Question]:
    """Return every read that a store supports, by name: its kind, its space, and the call."""
    asked: dict[str, Question] = {}
    for space in (SPACE, "other", SYSTEM_SPACE, "nobody"):
        for kind in set(RULES) - {Kind.CHECKSUM, Kind.ROOT, Kind.HEADER, Kind.VERSION}:
            asked[f"scan {space} {kind}"] = _question(kind, _opened_all, kind, space=space)
        asked[f"operation {space}"] = _question(Kind.OPERATION, Reader.operation, space=space)
    for number in range(42):
        key = (f"memory_{number:03}",)
        asked[f"memory {number}"] = _question(Kind.MEMORY, Reader.get, Kind.MEMORY, key)
        asked[f"access {number}"] = _question(Kind.ACCESS, Reader.get, Kind.ACCESS, key)
        asked[f"history {number}"] = _question(Kind.MEMORY, Reader.history, Kind.MEMORY, key)
    for turn in range(9):
        asked[f"document {turn}"] = _question(Kind.DOCUMENT, Reader.get, Kind.DOCUMENT, (f"facts/{turn}.md",))
    for thread in range(4):
        name = f"thread_{thread}"
        for reverse in (False, True):
            asked[f"entries {thread} {reverse}"] = _question(Kind.ENTRY, _some, (name,), reverse=reverse)
        asked[f"entry {thread}"] = _question(Kind.ENTRY, Reader.get, Kind.ENTRY, (name, 37))
        asked[f"last {thread}"] = _question(Kind.ENTRY, Reader.last_seq, Kind.ENTRY, (name,))
    return asked


def _some(reader: Reader, prefix: tuple[str], *, reverse: bool) -> list[Any]:
    return list(reader.scan(Kind.ENTRY, prefix, reverse=reverse, limit=50))


def _opened_all(reader: Reader, kind: Kind) -> list[Any]:
    """Return all values of a kind, each opened from its sealed bytes."""
    return [(key, verified_sealed(data).body) for key, data in reader.scan_sealed(kind)]


def _answers(path: Path) -> dict[str, Any]:
    """Return the answer of each read: its value, or the text of the Damaged error."""
    answers: dict[str, Any] = {}
    try:
        store = opened(path)
    except ReverieError as error:
        return {"open": ("damaged", str(error))}
    for name, (_, space, ask) in _questions().items():
        with store.reader(space) as reader:
            try:
                answers[name] = ("value", ask(reader))
            except Damaged as error:
                answers[name] = ("damaged", str(error))
    return answers


def _in_child(work: Callable[[Path], Any], path: Path) -> Any:
    """Run `work` in a child process; return its result, or the signal that ended it."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)

    def run() -> None:
        faulthandler.disable()  # a child that LMDB ends is an outcome here, not a failure to report
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            there.send(work(path))
        except BaseException as error:  # noqa: BLE001 - the parent judges it
            there.send(error)
        os._exit(0)

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:
        child.join()
        return signal.Signals(-(child.exitcode or 0))
    child.join()
    if isinstance(found, BaseException):
        raise found
    return found


def _flip(data: bytearray, chance: random.Random) -> str:
    bit = chance.randrange(len(data) * 8)
    data[bit // 8] ^= 1 << bit % 8
    return f"bit {bit}"


def _zero(data: bytearray, chance: random.Random) -> str:
    sector = chance.randrange(len(data) // 512)
    data[sector * 512 : sector * 512 + 512] = bytes(512)
    return f"sector {sector}"


def _check(path: Path) -> CheckReport:
    return check(path, offline=True)


@pytest.mark.parametrize(
    ("harm", "times", "seed"), [(_flip, count(20, 300), 11), (_zero, count(10, 300), 12), (_flip, count(3, 300), 13)]
)
def test_damage_is_never_returned(
    tmp_path: Path, harm: Callable[[bytearray, random.Random], str], times: int, seed: int
) -> None:
    """After a flipped bit or a zeroed sector each read is right or raises Damaged, and the check names it."""
    _fill(tmp_path / "sound")
    truth = _in_child(_answers, _copied(tmp_path))
    assert {kind for kind, _ in truth.values()} == {"value"}
    chance = random.Random(seed)
    tally = {"unseen": 0, "noticed": 0, "crashed": 0}
    for _ in range(times):
        path = _copied(tmp_path)
        data = bytearray((path / "data.mdb").read_bytes())
        what = harm(data, chance)
        (path / "data.mdb").write_bytes(data)
        report = _in_child(_check, path)
        answers = _in_child(_answers, path)
        tally[_judged(truth, answers, report, what)] += 1
    print(f"{harm.__name__[1:]}: {tally}")
    assert tally["noticed"] > 0


def _copied(tmp_path: Path) -> Path:
    path = tmp_path / "copy"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(tmp_path / "sound", path)
    return path


def _judged(truth: dict[str, Any], answers: Any, report: Any, what: str) -> str:
    if isinstance(answers, signal.Signals):
        assert isinstance(report, signal.Signals) or not report.ok, f"{what}: a crash that the check did not foresee"
        return "crashed"
    damaged = {name for name, (how, _) in answers.items() if how == "damaged"}
    wrong = [name for name, answer in answers.items() if name not in damaged and answer != truth[name]]
    assert not wrong, f"{what}: wrong answers to {wrong[:5]}"
    if not damaged:
        return "unseen"
    assert isinstance(report, signal.Signals) or not report.ok, f"{what}: {damaged} noticed, check says sound"
    if isinstance(report, CheckReport) and "open" not in damaged:
        named = {problem.kind for problem in report.problems}
        for name in damaged:
            kind = _questions()[name][0]
            assert named & {kind, "page", "store", "version", "blob", "tally", "root", "header"}, f"{what}: {name}"
    return "noticed"
