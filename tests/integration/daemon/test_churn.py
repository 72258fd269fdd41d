"""Mixed use with errors of every code leaves nothing behind: readers, descriptors, threads and memory stay flat.

The memory is the anonymous one (`RssAnon`): pages of the store's map are the system's page cache, and grow with the
store. What grows beside that are caches with bounds, such as the words of the statements that were compared last.
"""

from __future__ import annotations

import contextlib
import random
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lmdb

from support.churn import SETTINGS, Churn, plant
from support.daemon import Daemon, environment, scratch_home, status_bytes
from support.soak import count
from support.waiting import wait_until


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
    folder = daemon.home / "data" / "store"
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
