"""One flipped bit in the store: every answer is right or names the damage, and no restart loop follows."""

from __future__ import annotations

import json
import random
import shutil
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reverie.client import Client
from reverie.store.check import FILE, CheckReport, run_check
from reveried.app import EXIT_CONFIG
from reveried.cli.send_sessions import import_file
from support.daemon import Answer, Daemon, environment, running_daemon, scratch_home
from support.soak import count
from support.story import session_file

PAGE_BYTES = 4096
HEAD_BYTES = 16  # of a page: number, flags, and the bounds of its free space
META_BYTES = HEAD_BYTES + 136  # magic, form, address, size of the map, the two databases, last page, transaction
FREE_ROOT = HEAD_BYTES + 24 + 40  # where a meta page names the root of the tree of free pages
MAIN_ROOT = FREE_ROOT + 48  # and that of everything else
LAST_PAGE = HEAD_BYTES + 24 + 96
TRANSACTION = LAST_PAGE + 8
NO_PAGE = 2**64 - 1
BRANCH = 0x01


def flip(path: Path, bit: int) -> None:
    """Flip one bit of a file, counted from its beginning."""
    with path.open("r+b") as file:
        file.seek(bit // 8)
        (byte,) = file.read(1)
        file.seek(bit // 8)
        file.write(bytes((byte ^ (1 << (bit % 8)),)))


def target_bit(data: bytes, chance: random.Random, number: int) -> tuple[str, int]:
    """Return the region and the bit that trial `number` flips: by turns meta page, free list, page head, anywhere."""
    match number % 8:
        case 0:
            return "meta", 8 * (_meta(data) + chance.randrange(META_BYTES)) + chance.randrange(8)
        case 1:
            return "free list", _used_bit(data, chance.choice(_tree(data, FREE_ROOT)), chance)
        case 2:
            page = chance.choice(_tree(data, MAIN_ROOT))
            return "page head", 8 * (page * PAGE_BYTES + chance.randrange(64)) + chance.randrange(8)
        case 3 | 4 | 5:
            return "page", _used_bit(data, chance.choice(_tree(data, MAIN_ROOT)), chance)
        case _:
            return "anywhere", chance.randrange(8 * len(data))


def last_page_bits(bit: int) -> list[int]:
    """Return the positions of bit `bit` of the last page's number in both meta pages, which LMDB maps by."""
    return [8 * (page * PAGE_BYTES + LAST_PAGE) + bit for page in (0, 1)]


def bits_within(data: bytes, wanted: bytes) -> list[int]:
    """Return the lowest bit of the last byte of each occurrence of `wanted`, in free pages as well."""
    found, at = [], -1
    while (at := data.find(wanted, at + 1)) >= 0:
        found.append(8 * (at + len(wanted) - 1))
    return found


def _meta(data: bytes) -> int:
    """Return the offset of the valid meta page: the one of the later transaction."""
    return max((0, PAGE_BYTES), key=lambda at: struct.unpack_from("<Q", data, at + TRANSACTION)[0])


def _tree(data: bytes, root_at: int) -> list[int]:
    """Return the numbers of every branch and leaf page of a tree."""
    (root,) = struct.unpack_from("<Q", data, _meta(data) + root_at)
    found, waiting = [], [root] if root != NO_PAGE else []
    while waiting:
        page = waiting.pop()
        found.append(page)
        start = page * PAGE_BYTES
        flags, lower = struct.unpack_from("<HH", data, start + 10)
        if flags & BRANCH:
            nodes = struct.unpack_from(f"<{(lower - HEAD_BYTES) // 2}H", data, start + HEAD_BYTES)
            waiting += [int.from_bytes(data[start + node : start + node + 6], "little") for node in nodes]
    assert found, "the tree is empty"
    return found


def _used_bit(data: bytes, page: int, chance: random.Random) -> int:
    """Return a random bit of a page outside its free space."""
    start = page * PAGE_BYTES
    lower, upper = struct.unpack_from("<HH", data, start + 12)
    byte = chance.choice([*range(lower), *range(upper, PAGE_BYTES)])
    return int(8 * (start + byte) + chance.randrange(8))


TRIALS = count(10, 300)
CONTEXT_EVERY = count(5, 1)  # trials; a context needs a second process, which takes half a second to start
EXIT_S = 60
CODES = {"archives": b"default\0\x0b\x02", "memories": b"default\0\x09\x02", "threads": b"default\0\x02\x02"}


@dataclass(slots=True)
class Prepared:
    """A store with records of every kind, and the answers of an undamaged daemon to every read."""

    data: Path
    answers: dict[str, bytes]
    contexts: dict[str, bytes]


@dataclass(slots=True)
class Trial:
    """One flipped bit and its outcome."""

    number: int
    where: str
    bit: int
    noticed: dict[str, str] = field(default_factory=dict)  # path -> the message that named the damage
    verdict: str = "unnoticed"

    def __str__(self) -> str:
        return f"trial {self.number}: bit {self.bit} ({self.where})"


class Disconnected(Exception):
    """The daemon closed the connection without an answer."""


@pytest.fixture(scope="module")
def prepared() -> Iterator[Prepared]:
    """Threads, imports, distillations, notes, memories, documents, archives, a dream, an undo and a schedule."""
    with scratch_home() as home:
        with running_daemon(home) as daemon:
            with Client(daemon.socket) as client:
                fill(client, home)
            paths = reads(daemon)
            answers = {path: ask(daemon, path).body for path in paths}
            contexts = {path: ask(daemon, path).body for path in context_reads(daemon)}
            assert {path: ask(daemon, path).body for path in paths} == answers
            assert daemon.stop() == 0
        assert run_check(home / "data" / "store").ok
        yield Prepared(home / "data", answers, contexts)


def fill(client: Client, home: Path) -> None:
    """Fill a store as some days of work do."""
    for number in range(3):
        report = import_file(client, session_file(home, number, turns=5, noise=60), program="claude-code")
        client.distill(str(report.thread))
    client.create_thread(id="talk", title="Talk")
    for number in range(40):
        client.append("talk", [{"role": "user", "content": f"question {number}"}], key=f"key-{number}")
        client.append("talk", [{"role": "assistant", "content": [{"type": "text", "text": f"answer {number} " * 40}]}])
    client.append("talk", [{"role": "user", "content": "a long body " * 8_000}])
    for number in range(5):
        client.add_note("talk", f"note {number}", "decision")
    client.delete_note("talk", client.notes("talk").items[0].id)
    client.recall("flush the handle")
    client.dream()
    client.undo(next(operation.id for operation in client.operations().items if operation.undoable))
    client.add_schedule("30 2 * * *")
    client.create_thread(id="gone")
    client.append("gone", [{"role": "user", "content": "x" * 200}] * 50)
    client.delete_thread("gone", confirm="gone")


def ask(daemon: Daemon, path: str, body: Any = None) -> Answer:
    """Make one read, or with a body one write. Raises Disconnected if there is no answer."""
    try:
        return daemon.ask("GET" if body is None else "POST", path, body)
    except (OSError, AssertionError) as error:
        raise Disconnected(path) from error


def reads(daemon: Daemon) -> list[str]:
    """Return every read that a caller could make of this store, each list in one page and in small pages."""
    lists = ("threads", "memories", "documents", "operations", "archives", "dreams", "schedules", "index")
    paths = [f"/v1/{name}" for name in lists] + [f"/v1/{name}?limit=3" for name in lists[:6]]
    ids = {name: list(ask(daemon, f"/v1/{name}?limit=1000").json()["items"]) for name in lists[:6]}
    for thread in (item["id"] for item in ids["threads"]):
        parts = ("", "/messages?limit=1000", "/messages?limit=5&after=20", "/notes", "/summaries", "/digest")
        paths += [f"/v1/threads/{thread}{part}" for part in parts]
    for memory in (item["id"] for item in ids["memories"]):
        paths += [f"/v1/memories/{memory}", f"/v1/memories/{memory}/history"]
    paths += [f"/v1/documents/{item['path']}" for item in ids["documents"]]
    paths += [f"/v1/operations/{item['id']}" for item in ids["operations"]]
    paths += [f"/v1/archives/{item['sha256']}" for item in ids["archives"]]
    paths += [f"/v1/dreams/{item['id']}" for item in ids["dreams"]]
    return paths


def context_reads(daemon: Daemon) -> list[str]:
    """Return the reads that a compute process answers."""
    threads = [item["id"] for item in ask(daemon, "/v1/threads").json()["items"]]
    return [f"/v1/threads/{thread}/{part}" for thread in threads for part in ("context", "working-state")]


def judge(trial: Trial, daemon: Daemon, expected: dict[str, bytes]) -> None:
    """Make every read on one connection: each answer is right, or an error that names the damage."""
    for path, right in expected.items():
        answer = ask(daemon, path)
        if answer.body == right:
            assert path not in trial.noticed, f"{trial}: {path} was damaged and is answered again"
            continue
        error: dict[str, Any] = answer.json()
        assert answer.status == 500, f"{trial}: {path} answers {answer.status} {answer.body[:300]!r}"
        assert error["error"] == "storage_failed", f"{trial}: {path} {error}"
        assert "reverie check" in error["details"].get("hint", ""), f"{trial}: {path} {error}"
        trial.noticed[path] = error["message"]


def write_afterwards(trial: Trial, daemon: Daemon) -> None:
    """Write to a new thread, which may be refused for the damage; acknowledged messages are stored."""
    created = ask(daemon, "/v1/threads", {"id": "after"})
    if created.status != 201:
        assert created.json()["error"] == "storage_failed", f"{trial}: {created.body[:300]!r}"
        return
    for number in range(20):
        appended = ask(daemon, "/v1/threads/after/messages", {"messages": [{"role": "user", "content": f"{number}"}]})
        if appended.status != 200:
            assert appended.json()["error"] == "storage_failed", f"{trial}: {appended.body[:300]!r}"
            return
    stored = ask(daemon, "/v1/threads/after/messages")
    if stored.status == 200:
        assert [item["content"] for item in stored.json()["items"]] == [str(number) for number in range(20)], str(trial)


def unchanged(path: str) -> bool:
    """Return True if the answer to a read does not depend on writes made later: no list of threads or operations."""
    return not path.startswith(("/v1/threads?", "/v1/operations?")) and path not in ("/v1/threads", "/v1/operations")


def started(daemon: Daemon) -> int | None:
    """Return None once the daemon is ready, else its exit status."""
    daemon.launch()
    assert daemon.process is not None
    try:
        daemon.wait_ready()
    except AssertionError:
        return daemon.process.wait(EXIT_S)
    return None


def ended(daemon: Daemon) -> int:
    """Return the exit status of a daemon that stopped answering."""
    assert daemon.process is not None
    return daemon.process.wait(EXIT_S)


def restarted(trial: Trial, daemon: Daemon, expected: dict[str, bytes]) -> None:
    """Start once after a crash, with the store check: the store is refused, or all reads are right."""
    status = started(daemon)
    trial.verdict = "crashed, then refused"
    if status is not None:
        assert status == EXIT_CONFIG, f"{trial}: the restart ended with {status}:\n{daemon.log_text()}"
        return
    trial.verdict = "crashed, then served"
    trial.noticed.clear()
    judge(trial, daemon, expected)


def run(trial: Trial, daemon: Daemon, expected: dict[str, bytes]) -> None:
    """Run one daemon on one damaged store."""
    status = started(daemon)
    if status is not None:
        assert status == EXIT_CONFIG, f"{trial}: the start ended with {status}:\n{daemon.log_text()}"
        trial.verdict = "refused at start"
        return
    try:
        judge(trial, daemon, expected)
        if trial.noticed:
            trial.verdict = "named"
        write_afterwards(trial, daemon)
        judge(trial, daemon, {path: right for path, right in expected.items() if unchanged(path)})
    except Disconnected:
        status = ended(daemon)
        assert status < 0, f"{trial}: ended with {status}:\n{daemon.log_text()}"
        restarted(trial, daemon, expected)


def compare(trial: Trial, report: CheckReport) -> None:
    """Assert that `check` reports all damage that the reads met."""
    assert not report.ok, f"{trial}: {trial.verdict} {trial.noticed}, and check finds nothing"
    if report.status == FILE:
        return
    report_text = json.dumps([problem.as_json() for problem in report.problems])
    for path, message in trial.noticed.items():
        kind = message.split(" ", 2)[1 if message.startswith("collection ") else 0]
        # A long body stands apart from its record, and is what `check` names then.
        assert kind in report_text or '"blob"' in report_text, (
            f"{trial}: {path} says {message!r}, check says {report_text[:1000]}"
        )


def damaged(prepared: Prepared, home: Path, bits: list[int]) -> Daemon:
    """Return a daemon, not started, on a copy with these bits flipped."""
    shutil.copytree(prepared.data, home / "data")
    for bit in bits:
        flip(home / "data" / "store" / "data.mdb", bit)
    return Daemon(home, environment(home))


@pytest.mark.parametrize("kind", ["archives", "memories", "threads"])
def test_a_record_under_another_key_is_not_absent(prepared: Prepared, kind: str) -> None:
    """With a flipped bit in the key, a read by the right key reports damage, not absence."""
    listed = json.loads(prepared.answers[f"/v1/{kind}"])["items"][0]
    name = listed["sha256" if kind == "archives" else "id"]
    data = (prepared.data / "store" / "data.mdb").read_bytes()
    with scratch_home() as home:
        daemon = damaged(prepared, home, bits_within(data, CODES[kind] + name.encode()))
        try:
            assert started(daemon) is None
            answer = ask(daemon, f"/v1/{kind}/{name}")
            assert (answer.status, answer.json()["error"]) == (500, "storage_failed"), answer.body
        finally:
            daemon.kill()


@pytest.mark.parametrize("bit", [36, 41, 50])
def test_a_map_beyond_all_memory_is_damage(prepared: Prepared, bit: int) -> None:
    """With a flipped bit in the last page number the daemon either starts or exits with the damage status."""
    with scratch_home() as home:
        daemon = damaged(prepared, home, last_page_bits(bit))
        status = started(daemon)
        if status is None:
            daemon.kill()
        assert status in {None, EXIT_CONFIG}, daemon.log_text()


@pytest.mark.timeout(3600)
def test_no_wrong_answer_after_a_flipped_bit(prepared: Prepared, capsys: pytest.CaptureFixture[str]) -> None:
    """After a random flipped bit in the store every read is right or an error, and `check` reports the damage."""
    chance = random.Random(20261121)
    data = (prepared.data / "store" / "data.mdb").read_bytes()
    verdicts: Counter[tuple[str, str]] = Counter()
    for number in range(TRIALS):
        trial = Trial(number, *target_bit(data, chance, number))
        with scratch_home() as home:
            for folder in ("data", "as it was"):
                shutil.copytree(prepared.data, home / folder)
                flip(home / folder / "store" / "data.mdb", trial.bit)
            daemon = Daemon(home, environment(home))
            expected = prepared.answers | (prepared.contexts if number % CONTEXT_EVERY == 0 else {})
            try:
                run(trial, daemon, expected)
            finally:
                if daemon.process is not None and daemon.process.poll() is None:
                    daemon.kill()
            # After a crash that one restart mended, every answer was right: nothing was lost that a check could name.
            if trial.verdict not in {"unnoticed", "crashed, then served"} or trial.noticed:
                compare(trial, run_check(home / "as it was" / "store"))
        verdicts[trial.where, trial.verdict] += 1
    with capsys.disabled():
        print(f"\n{TRIALS} flipped bits, 0 wrong answers")
        for (where, verdict), trials in sorted(verdicts.items()):
            print(f"  {where:10s} {verdict:22s} {trials}")
