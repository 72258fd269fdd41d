"""Mixed use with errors of every code leaves nothing behind: readers, descriptors, threads and memory stay flat.

The memory is the anonymous one (`RssAnon`): pages of the store's map are the system's page cache, and grow with the
store. What grows beside that are caches with bounds, such as the words of the statements that were compared last.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lmdb

from reverie.redact import Redactor
from reverie.store import SYSTEM_SPACE, Done, Kind, Store, Write, Writer, seal
from reverie.store.versions import Rules
from reveried.http.auth import token_hash
from support.daemon import Answer, Daemon, bearer, compute_processes, environment, request, scratch_home, status_bytes
from support.soak import count
from support.waiting import wait_until

BODY_BYTES = 1 << 20
SETTINGS = {
    "REVERIE_DAEMON_BODY_BYTES": str(BODY_BYTES),
    "REVERIE_DAEMON_HEADER_SECONDS": "0.4",
    "REVERIE_DAEMON_BODY_SECONDS": "0.5",
    "REVERIE_DAEMON_IDLE_SECONDS": "3",
    "REVERIE_DAEMON_WRITE_SECONDS": "0.6",
    "REVERIE_DAEMON_COMPUTE_SECONDS": "4",
    "REVERIE_DAEMON_CONNECTIONS": "96",
    "REVERIE_DAEMON_QUEUE_LENGTH": "8",
    "REVERIE_SYNC_RESCAN_SECONDS": "5",
}
"""Short deadlines and small limits, so that each of them is met often."""

DAMAGED, PRUNED = bearer("token-of-a-damaged-space"), bearer("token-of-a-pruned-space")
BUSY = frozenset({500, 503, 507})  # what any write may be answered while another step fills the disk or the queue
GONE = (ConnectionError, BlockingIOError)  # a connection that is refused or closed; a time-out is a failure
MEMORIES = 40  # at once, so that the index of recall does not grow
WORDS = (
    "deploy",
    "canary",
    "latency",
    "harbour",
    "ledger",
    "marble",
    "quartz",
    "timber",
    "walnut",
    "copper",
    "bronze",
    "violet",
    "saffron",
)
MESSAGES = 24  # of a thread that can be distilled
LEFT_MAX = 12  # threads whose deletion waits for some steps: the call that makes one may be served after it


def plant(home: Path) -> None:
    """Store two spaces while no daemon runs: one with a damaged memory, one whose oldest events were pruned."""
    folder = home / "data" / "store"
    value = {"id": "mem_1", "type": "fact", "content": "the damaged one", "document": "facts/project.md"}
    value |= {"created_at": "2020-01-01T00:00:00.000Z", "updated_at": "2020-01-01T00:00:00.000Z"}
    with Store.open(folder, redactor=Redactor()) as store:

        def tokens(writer: Writer) -> None:
            for header, space in ((DAMAGED, "damaged"), (PRUNED, "pruned")):
                token = header["Authorization"].split()[1]
                writer.put(Kind.TOKEN, (token_hash(token),), {"space": space, "agent": "agent"})

        def memory(writer: Writer) -> None:
            writer.put(Kind.MEMORY, ("mem_1",), value)

        def events(writer: Writer) -> None:
            for _ in range(3):
                writer.event("memory.written", {})

        old = [Write(SYSTEM_SPACE, "test", "token", tokens), Write("damaged", "test", "memory", memory)]
        old.append(Write("pruned", "test", "events", events))
        new = [Write("pruned", "test", "prune", lambda writer: writer.prune(Rules()).removed)]
        for writes, at in ((old, "2020-01-01T00:00:00.000Z"), (new, "2026-11-21T09:30:00.000Z")):
            assert all(isinstance(done, Done) for done in store.commit(writes, at=at))
    data, packed = folder / "data.mdb", seal(value, Redactor()).data
    stored = data.read_bytes()
    assert packed in stored
    data.write_bytes(stored.replace(packed, packed[:-1] + bytes((packed[-1] ^ 1,))))


@dataclass(slots=True)
class Churn:
    """Runs random steps against a daemon, each with the statuses that its requests may be answered with.

    What they make they delete again, so that the content of the store stays level.

    `long` adds steps that wait for a deadline of seconds, or stop everybody's work for a moment.
    """

    daemon: Daemon
    chance: random.Random
    long: bool
    statuses: dict[tuple[str, int], int] = field(default_factory=dict)
    memories: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    number: int = 0
    left: list[str] = field(default_factory=list)  # threads that are not deleted for certain

    def run(self, until: Callable[[], bool]) -> None:
        """Run steps until `until` returns True."""
        while not until():
            self.step(self.chance.choice(self.steps()))

    def steps(self) -> list[Callable[[], None]]:
        """Return the steps to draw from: cheap ones three times, costly ones once, disruptive ones if `long`."""
        cheap = [self.refusals, self.unknown, self.stale, self.remember, self.documents, self.cancelled, self.halves]
        dear = [self.thread, self.budgets, self.events, self.full_queue, self.connections, self.other_spaces]
        return [
            *cheap * 3,
            *dear,
            *([self.killed_compute, self.full_disk, self.unread, self.stalled] if self.long else ()),
        ]

    def step(self, step: Callable[[], None]) -> None:
        """Run one step, then require that the daemon is healthy."""
        if len(self.left) > LEFT_MAX:
            self.delete_thread(self.left.pop(0))
        step()
        self.ask("GET", "/v1/health", {200, 503})

    def ask(
        self, method: str, path: str, expected: set[int] | frozenset[int], body: Any = None, **options: Any
    ) -> Answer | None:
        """Make a request and assert that its status is expected, or one that other steps may cause; None if refused."""
        try:
            answer = self.daemon.ask(method, path, body, **options)
        except (*GONE, AssertionError):
            return None  # the limit of connections is reached
        # While another step fills the disk or the queue, a call before this one may have changed nothing.
        allowed = {*expected, 200, 201, 404, 409, 503, *(BUSY if method != "GET" else ())}
        return self.count(answer, allowed, f"{method} {path}")

    def count(self, answer: Answer | None, allowed: set[int], call: str = "") -> Answer | None:
        """Count an answer by its code and status, assert that the status is in `allowed`, and return the answer."""
        if answer is not None:
            code = str(answer.json()["error"]) if answer.status >= 400 else "ok"
            with self.lock:
                self.statuses[code, answer.status] = self.statuses.get((code, answer.status), 0) + 1
            assert answer.status in allowed, (call, answer.status, answer.body[:300])
        return answer

    def name(self, prefix: str) -> str:
        """Return a name that was not used before."""
        with self.lock:
            self.number += 1
            return f"{prefix}-{self.number}"

    def sentence(self) -> str:
        """Return words that are not remembered yet."""
        return f"{self.name('rule')} {' '.join(self.chance.choices(WORDS, k=8))}"

    def delete_thread(self, name: str) -> None:
        """Delete a thread; if that fails, note it to be deleted in a later step."""
        answer = self.ask("DELETE", f"/v1/threads/{name}?confirm={name}", {200, 404})
        if answer is None or answer.status not in {200, 404}:
            self.left.append(name)

    def forget(self, memory: str) -> None:
        """Delete a memory; if that fails, note it to be deleted in a later step."""
        answer = self.ask("DELETE", f"/v1/memories/{memory}", {200, 404, 409})
        if answer is None or answer.status not in {200, 404}:
            with self.lock:
                self.memories.append(memory)

    # Refusals

    def refusals(self) -> None:
        """Send requests that are refused before a handler runs: 400, 401, 405, 413, 415 and 426."""
        self.ask("POST", "/v1/threads", {400}, b"{half")
        self.ask("POST", "/v1/threads", {400}, {"unknown": 1})
        self.ask("GET", "/v1/threads?limit=x", {400})
        self.ask("GET", "/v1/status", {401}, headers=bearer("unknown"))
        self.ask("POST", "/v1/health", {405}, {})
        self.ask("POST", "/v1/threads", {415}, b"<xml>", headers={"Content-Type": "text/xml"})
        self.ask("GET", "/v1/status", {426}, headers={"Reverie-Protocol": "99"})
        with contextlib.suppress(*GONE), self.daemon.wire() as wire:
            wire.send(b"POST /v1/threads HTTP/1.1\r\nHost: reverie\r\nContent-Length: %d\r\n\r\n" % (BODY_BYTES + 1))
            self.count(wire.answer(), {413, 503})

    def unknown(self) -> None:
        """Send requests for things that do not exist: 404."""
        for path in ("threads/none", "threads/none/context", "memories/none", "documents/none.md", "archives/0", "x"):
            self.ask("GET", f"/v1/{path}", {404})
        self.ask("POST", "/v1/threads/none/distill?wait=true", {404}, {})
        self.ask("POST", "/v1/threads/none/messages", {404}, {"messages": [{"role": "user", "content": "x"}]})
        self.ask("DELETE", "/v1/memories/none", {404})

    def stale(self) -> None:
        """Send requests that conflict (409): a taken id, a stale version, a reused key, too little to distill."""
        name = self.name("thread")
        self.ask("POST", "/v1/threads", {201}, {"id": name})
        self.ask("POST", "/v1/threads", {409, 201}, {"id": name})
        message = {"role": "user", "content": "ship it"}
        self.ask("POST", f"/v1/threads/{name}/messages", {409, 404}, {"messages": [message], "expectedSeq": 7})
        self.ask("POST", f"/v1/threads/{name}/distill?wait=true", {409, 404}, {})
        key = {"Idempotency-Key": name}
        self.ask("POST", f"/v1/threads/{name}/messages", {200, 404}, {"messages": [message]}, headers=key)
        self.ask("POST", f"/v1/threads/{name}/messages", {409, 404, 200}, {"messages": [message] * 2}, headers=key)
        self.ask("PUT", "/v1/documents/none.md", {409}, {"content": "x"}, headers={"If-Match": f'"{"0" * 64}"'})
        self.ask("POST", "/v1/operations/1/undo", {409, 404, 200})
        self.ask("DELETE", f"/v1/threads/{name}", {400, 404})
        self.delete_thread(name)

    def budgets(self) -> None:
        """Ask for a context and a dream with too few tokens: 422."""
        name = self.name("thread")
        long = "a long request that cannot be made shorter " * 60
        self.ask("POST", "/v1/threads", {201}, {"id": name})
        self.ask("POST", f"/v1/threads/{name}/messages", {200, 404}, {"messages": [{"role": "user", "content": long}]})
        for _ in range(4):
            self.ask("GET", f"/v1/threads/{name}/context?maxTokens=100", {422, 404, 500, 400})
        self.ask("POST", "/v1/dreams?wait=true", {422, 200, 409}, {"tokenBudget": 1})
        self.delete_thread(name)

    def other_spaces(self) -> None:
        """Ask for a damaged record (500), for events that were pruned (410), and for a backup with a token (403)."""
        for _ in range(4):
            self.ask("GET", "/v1/memories/mem_1", {500}, headers=DAMAGED)
            self.ask("GET", "/v1/events?after=0", {410}, headers=PRUNED)
            self.ask("POST", "/v1/backups", {403}, {"path": "/x"}, headers=DAMAGED)

    # Calls that are not finished

    def cancelled(self) -> None:
        """Send requests and close each connection before its answer."""
        name = self.name("thread")
        body = json.dumps({"id": name}).encode()
        calls = [request("POST", "/v1/threads", body), request("GET", f"/v1/threads/{name}/context")]
        calls.append(request("POST", "/v1/recall", json.dumps({"query": "deploy"}).encode()))
        calls.append(request("POST", "/v1/dreams?wait=true", b'{"dryRun": true}'))
        for call in calls:
            with contextlib.suppress(*GONE), self.daemon.wire() as wire:
                wire.send(call)
        self.left.append(name)

    def halves(self) -> None:
        """Send half a head and half a body; close most connections at once, and leave some to the daemon's deadline."""
        for data in (b"GET /v1/hea", b"POST /v1/threads HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{"):
            with contextlib.suppress(*GONE), self.daemon.wire() as wire:
                wire.send(data)
                if self.chance.random() < 0.1:
                    wire.answer()

    def unread(self) -> None:
        """Send many requests on one connection without reading an answer."""
        with contextlib.suppress(*GONE, TimeoutError), self.daemon.wire(1.5) as wire:
            for _ in range(200):
                wire.send(request("GET", "/v1/openapi.json"))
            time.sleep(1.0)

    def events(self) -> None:
        """Open an event stream and close it after its first bytes."""
        with contextlib.suppress(*GONE), self.daemon.wire() as wire:
            wire.send(request("GET", "/v1/events"))
            wire.socket.recv(1 << 12)

    # Too much at once

    def full_queue(self) -> None:
        """Send more writes at once than the daemon's queue takes: some are answered 503."""
        body = json.dumps({"id": self.name("burst")}).encode()
        with contextlib.ExitStack() as open_wires:
            wires = []
            for _ in range(40):
                with contextlib.suppress(*GONE):
                    wires.append(open_wires.enter_context(self.daemon.wire()))
            for wire in wires:
                wire.send(request("POST", "/v1/threads", body))
            for wire in wires:
                self.count(wire.answer(), {201, 409, *BUSY})
        name = json.loads(body)["id"]
        self.delete_thread(name)

    def connections(self) -> None:
        """Open more connections than the daemon allows: the next request may be answered 503."""
        with contextlib.ExitStack() as open_wires:
            for _ in range(120):
                with contextlib.suppress(*GONE):
                    open_wires.enter_context(self.daemon.wire())
            self.ask("GET", "/v1/health", {200, 503})

    def full_disk(self) -> None:
        """Forbid the daemon to let files grow, as on a full disk, while it gets writes: 507."""
        resource.prlimit(self.daemon.pid, resource.RLIMIT_FSIZE, (64 << 10, resource.RLIM_INFINITY))
        try:
            for _ in range(8):
                name = self.name("full")
                self.ask("POST", "/v1/threads", {507, 201}, {"id": name})
                self.left.append(name)
                made = self.ask("POST", "/v1/memories", {507, 201, 409}, {"content": self.sentence()})
                if made is not None and made.status == 201:
                    self.memories.append(made.json()["id"])
        finally:
            unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(self.daemon.pid, resource.RLIMIT_FSIZE, unlimited)

    def stalled(self) -> None:
        """In one of ten calls, stop the compute process by SIGSTOP, so that requests pass its time limit."""
        if self.chance.random() < 0.1:
            self.killed_compute(signal.SIGSTOP)

    def killed_compute(self, stop: signal.Signals = signal.SIGKILL) -> None:
        """Kill or stop the compute process between two requests for a context; 200, 404 or 500 may answer."""
        name = self.name("thread")
        self.ask("POST", "/v1/threads", {201}, {"id": name})
        self.ask("GET", f"/v1/threads/{name}/context", {200, 404, 500})
        for pid in compute_processes(self.daemon.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, stop)
        self.ask("GET", f"/v1/threads/{name}/context?query=deploy", {200, 404, 500})
        self.delete_thread(name)

    # What works

    def remember(self) -> None:
        """Remember, recall, change and forget memories, and keep no more than MEMORIES of them."""
        made = self.ask("POST", "/v1/memories", {201}, {"content": self.sentence()})
        self.ask("POST", "/v1/recall", {200}, {"query": "deploy canary"})
        with self.lock:
            if made is not None and made.status == 201:
                self.memories.append(made.json()["id"])
            excess = [self.memories.pop(0) for _ in range(min(2, max(0, len(self.memories) - MEMORIES)))]
        for forgotten in excess:
            self.ask("PATCH", f"/v1/memories/{forgotten}", {200, 404, 409}, {"content": self.sentence()})
            self.forget(forgotten)

    def documents(self) -> None:
        """Write, read and delete a document; save a file as a person does, and delete the conflict copies of it.

        Copies would be more and more documents, also those whose deletion waits for a person, and what the daemon knows
        of each of them more and more memory.
        """
        self.ask("PUT", "/v1/documents/notes/plan.md", {200, 409}, {"content": f"# Plan\n\n{self.sentence()}\n"})
        self.ask("GET", "/v1/documents/notes/plan.md", {200, 404})
        file = self.daemon.folder / "notes" / "saved.md"
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Saved\n\n{self.sentence()}\n", "utf-8")
            for copy in file.parent.glob("saved.sync-conflict-*"):
                copy.unlink(missing_ok=True)
        synced = self.ask("POST", "/v1/sync", {200, 409}, {})
        if synced is not None and synced.status == 200 and synced.json()["status"]["missing"]:
            # So many copies at once are held until a person says that they are not needed.
            self.ask("POST", "/v1/sync", {200, 409}, {"acceptDeletions": True})
        self.ask("DELETE", "/v1/documents/notes/plan.md", {200, 404, 409})

    def thread(self) -> None:
        """Use a thread from its first message to its deletion: messages, note, working state, context, distillation."""
        name = self.name("thread")
        turns = [
            {"role": ("user", "assistant")[turn % 2], "content": f"turn {turn}: {self.sentence()} " * 12}
            for turn in range(MESSAGES)
        ]
        self.ask("POST", "/v1/threads", {201}, {"id": name})
        self.ask("POST", f"/v1/threads/{name}/messages", {200, 404}, {"messages": turns})
        self.ask("POST", f"/v1/threads/{name}/notes", {201, 404}, {"content": self.sentence(), "category": "task"})
        self.ask("PATCH", f"/v1/threads/{name}/working-state", {200, 404, 409}, {"currentTask": self.sentence()})
        self.ask("GET", f"/v1/threads/{name}/context", {200, 404, 500})
        self.ask("POST", f"/v1/threads/{name}/distill?wait=true", {200, 404, 409, 422}, {})
        self.ask("GET", f"/v1/threads/{name}/messages", {200, 404, 500})
        self.delete_thread(name)


@dataclass(frozen=True, slots=True)
class Sample:
    """The resources that a daemon has open at one moment."""

    second: float
    readers: int  # slots in LMDB's table
    descriptors: int
    threads: int
    rss: int  # bytes of anonymous memory
    store: int  # bytes of data.mdb


def sample(daemon: Daemon, began: float) -> Sample:
    """Return the resources of a daemon now."""
    folder = daemon.store
    with contextlib.closing(lmdb.open(str(folder), readonly=True, create=False, lib_version=0)) as env:
        readers = env.readers().count("\n") - 1
    return Sample(
        round(time.monotonic() - began, 1),
        max(0, readers),
        daemon.open_files(),
        len(list(Path(f"/proc/{daemon.pid}/task").iterdir())),
        status_bytes(daemon.pid, "RssAnon"),
        (folder / "data.mdb").stat().st_size,
    )


LONG = bool(count(0, 1))
SECONDS = count(2, 30 * 60)
CLIENTS = 4
WARM_UP = 0.2  # share of the time, in which caches and pools fill
RSS_SHARE = 0.05  # by which memory may differ between the first and the last third after the warm-up
CODES = {
    *("validation_error", "unauthenticated", "forbidden", "not_found", "conflict", "cursor_expired", "too_large"),
    *("unsupported_media_type", "token_budget_exceeded", "protocol_mismatch", "storage_failed", "busy", "disk_full"),
    *(("internal_error",) if LONG else ()),  # a compute process that is killed while it works, which takes luck
}
COMPUTE = 8  # descriptors of the two compute processes, which come and go
RESTING = 8  # snapshots that LMDB keeps ready after their end


def test_nothing_is_left_by_errors() -> None:
    """Clients use the daemon and provoke every error; it stays healthy, and has no more open at the end than before."""
    with scratch_home() as home:
        Daemon(home, environment(home, **SETTINGS)).start().stop()
        plant(home)
        daemon = Daemon(home, environment(home, **SETTINGS)).start()
        try:
            churn = Churn(daemon, random.Random(12), LONG)
            began = time.monotonic()
            for step in dict.fromkeys([*churn.steps(), churn.killed_compute, churn.full_disk]):  # then pools are there
                churn.step(step)
            before = sample(daemon, began)
            samples = []
            for now in _run(churn, began):
                samples.append(now)
                if LONG and len(samples) % 12 == 0:
                    print(_line(now), flush=True)
            wait_until(lambda: _settled(sample(daemon, began), before), "the close of everything")
            _works(daemon)
            _report([before, *samples, sample(daemon, began)], churn)
            seen = {code for code, _ in churn.statuses}
            assert seen >= CODES
            if LONG:
                _require_flat(samples)
        finally:
            daemon.kill()


def _run(churn: Churn, began: float) -> Iterator[Sample]:
    """Run clients for SECONDS; yield a sample every so often, and fail where a client did."""
    ends = time.monotonic() + SECONDS
    failures: list[BaseException] = []

    def client(seed: int) -> None:
        try:
            own = Churn(
                churn.daemon, random.Random(seed), LONG, churn.statuses, churn.memories, churn.lock, seed * 10**6
            )
            own.run(lambda: time.monotonic() > ends or bool(failures))
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread of the test
            failures.append(error)

    clients = [threading.Thread(target=client, args=(seed,)) for seed in range(1, CLIENTS + 1)]
    for thread in clients:
        thread.start()
    while any(thread.is_alive() for thread in clients):
        time.sleep(min(5.0, SECONDS / 8))
        yield sample(churn.daemon, began)
    for thread in clients:
        thread.join()
    if failures:
        raise failures[0]


def _settled(now: Sample, before: Sample) -> bool:
    """Return True if no more readers, descriptors and threads are open than before, apart from idle ones."""
    return (
        now.readers <= max(before.readers, RESTING) + 1
        and now.descriptors <= before.descriptors + COMPUTE
        and now.threads <= max(before.threads, 24)
    )


def _works(daemon: Daemon) -> None:
    """Require health, and that a write succeeds and is read."""
    assert daemon.ask("GET", "/v1/health").status == 200
    made = daemon.ask("POST", "/v1/memories", {"content": "the last words"})
    assert made.status == 201, made.body
    assert daemon.ask("GET", f"/v1/memories/{made.json()['id']}").json()["content"] == "the last words"


def _require_flat(samples: list[Sample]) -> None:
    """Require that memory, after the warm-up, is the same in its first and its last third."""
    steady = samples[int(len(samples) * WARM_UP) :]
    third = len(steady) // 3
    first = statistics.median(sample.rss for sample in steady[:third])
    last = statistics.median(sample.rss for sample in steady[-third:])
    stored = steady[-1].store - steady[0].store
    print(f"memory {first / 1e6:.1f} -> {last / 1e6:.1f} MB ({last / first - 1:+.1%}), store {stored / 1e6:+.1f} MB")
    assert abs(last - first) <= RSS_SHARE * first, (first, last)


def _report(samples: list[Sample], churn: Churn) -> None:
    """Print the resources over time, and how often each code was answered."""
    for now in samples[:: max(1, len(samples) // 24)]:
        print(_line(now))
    for (code, status), times in sorted(churn.statuses.items(), key=lambda item: item[0][1]):
        print(f"{status} {code}: {times}")


def _line(now: Sample) -> str:
    """Return a sample as a line of a table."""
    return (
        f"{now.second:8.1f} s  readers {now.readers:3}  descriptors {now.descriptors:3}  threads {now.threads:3}  "
        f"RSS {now.rss / 1e6:6.1f} MB  store {now.store / 1e6:6.1f} MB"
    )
