"""Benchmark of pages of a thread's messages: processor time of the daemon by the length of the thread.

    python tests/bench/bench_message_pages.py [MESSAGES]

First page, pages from random messages on, the last page, and a page right after an append, each of 100 messages, of
threads with 2,000 messages up to MESSAGES (200,000 by default), then again after a restart. The exponent is that of
growth with the length of the thread: 0 is no growth, 1 is proportional.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.http_checks import cpu_seconds
from support.waiting import wait_until

LONGEST = 200_000
PAGE = 100
BATCH = 500  # messages of one append
REPEATS = 40  # pages per figure: processor time is counted in hundredths of a second
GOAL_MS = 5.0
TOKENS_MAX = "10000000"  # so that no thread is distilled while it is filled
TEXT = "the tests pass now; next I will look at the exporter and its lock " * 2


def main() -> None:
    """Print one table before a restart of the daemon and one after it."""
    longest = int(sys.argv[1]) if len(sys.argv) > 1 else LONGEST
    lengths = [longest // 100, longest // 10, longest]
    with running_daemon(REVERIE_CONTEXT_ABSOLUTE_CAP=TOKENS_MAX) as daemon:
        with Client(daemon.socket) as client:
            for length in lengths:
                fill(client, length)
            wait_until(lambda: settled(daemon), "a daemon at rest", most_s=120)
            table("with the daemon that stored them", daemon, client, lengths)
        daemon.stop()
        daemon.start()
        with Client(daemon.socket) as client:
            table("after a restart", daemon, client, lengths)


def fill(client: Client, length: int) -> None:
    """Append `length` messages to a thread: turns of a prompt, a call, its result and a reply."""
    thread = client.create_thread(id=f"thr-{length}", context_window=int(TOKENS_MAX)).id
    for start in range(0, length, BATCH):
        client.append(thread, [message(number) for number in range(start, min(start + BATCH, length))])


def message(number: int) -> dict[str, object]:
    """Return message `number` of a thread."""
    match number % 4:
        case 0:
            return {"role": "user", "content": f"{number} {TEXT}"}
        case 1:
            block = {"type": "tool_use", "id": f"call-{number}", "name": "Bash", "input": {"command": TEXT}}
            return {"role": "assistant", "content": [block]}
        case 2:
            result = {"type": "tool_result", "tool_use_id": f"call-{number - 1}", "content": TEXT}
            return {"role": "user", "content": [result]}
        case _:
            return {"role": "assistant", "content": f"{number} {TEXT}"}


def settled(daemon: Daemon) -> bool:
    """Return True if daemon and compute processes are at rest."""
    before = processor_s(daemon)
    time.sleep(1.0)
    return processor_s(daemon) - before < 0.03


def table(title: str, daemon: Daemon, client: Client, lengths: list[int]) -> None:
    """Print milliseconds of processor time per page, by thread."""
    print(f"\n{title}: milliseconds of processor time (daemon and compute) per page of {PAGE}; goal {GOAL_MS:g}")
    print(f"  {'':34s}" + "".join(f"{length:>12,}" for length in lengths) + "    exponent   x goal")
    chance = random.Random(1)
    rows: dict[str, Callable[[int], float]] = {
        "the very first one (wall)": lambda length: first_ms(client, length),
        "first page": lambda length: page_ms(daemon, client, length, [0]),
        "from a random message on": lambda length: page_ms(
            daemon, client, length, [chance.randrange(length) for _ in range(REPEATS)]
        ),
        "last page": lambda length: page_ms(daemon, client, length, [length - PAGE]),
        "last page after an append (wall)": lambda length: appended_ms(client, length),
    }
    for name, measure in rows.items():
        times = [measure(length) for length in lengths]
        exponent = math.log(max(times[-1], 0.01) / max(times[0], 0.01)) / math.log(lengths[-1] / lengths[0])
        shown = "".join(f"{spent:12.2f}" for spent in times)
        print(f"  {name:34s}{shown}{exponent:12.2f}{times[-1] / GOAL_MS:9.2f}")


def page_ms(daemon: Daemon, client: Client, length: int, cursors: list[int]) -> float:
    """Return the processor milliseconds of a page, the mean of many."""
    began = processor_s(daemon)
    for number in range(REPEATS):
        client.messages(f"thr-{length}", limit=PAGE, after=str(cursors[number % len(cursors)]))
    return 1000 * (processor_s(daemon) - began) / REPEATS


def appended_ms(client: Client, length: int) -> float:
    """Return the milliseconds on the clock of the last page, right after an append that is not counted."""
    spent = []
    for number in range(REPEATS // 2):
        appended = client.append(f"thr-{length}", [{"role": "user", "content": f"one more, {number}"}])
        began = time.perf_counter()
        client.messages(f"thr-{length}", limit=PAGE, after=str(appended.last_seq - PAGE))
        spent.append(1000 * (time.perf_counter() - began))
    return statistics.median(spent)


def first_ms(client: Client, length: int) -> float:
    """Return the milliseconds of one page on the clock."""
    began = time.perf_counter()
    json.dumps(client.messages(f"thr-{length}", limit=PAGE).next)
    return 1000 * (time.perf_counter() - began)


def processor_s(daemon: Daemon) -> float:
    """Return the processor seconds of the daemon and its children so far."""
    children = Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text("ascii").split()
    return sum(cpu_seconds(pid) for pid in (daemon.pid, *map(int, children)))


if __name__ == "__main__":
    main()
