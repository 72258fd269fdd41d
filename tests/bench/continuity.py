"""Threads: appending a turn, assembling a context, distilling a session, each as its input grows.

Goals: an append at most a durable commit + 3 ms; a context at most 5 ms, of a thread of 5,000 messages beside 100,000
memories; 150,000 tokens distilled in at most 300 ms; all of it growing with what is new, not with the thread. Appends
and bare durable commits take turns; times of the engine alone are processor time.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import lmdb

from bench.run import DATA, in_turns, ms_of, row, spread, table
from reverie.client import Client
from reverie.context.units import tail_start
from reverie.distill.distiller import Extractive
from reverie.evals.frequency import one_thread
from reverie.importers.find import read_entries
from reverie.importers.join import main_line
from reverie.models import Memory, MemoryType, Message
from reverie.redact import Redactor
from reverie.store import Store, Write, Writer, seal
from reverie.store.env import lmdb_options
from reverie.usecases import threads, working_state
from reverie.usecases.entries import entry_record
from reverie.usecases.memories import record_of
from reveried.cli.send_sessions import import_file
from support.daemon import running_daemon, scratch_home
from support.story import generated_session, session_file
from support.talk import thread_entries

DISTIL_TOKENS = 150_000
MEMORIES = 100_000
TURNS = 2_500
SAMPLES = 60
AT = "2026-11-21T09:30:00.000Z"
ASKED = "please look at part {} of the exporter again, its retry comes late"
SAID = "Part {} of the exporter retries once more now; the buffer is read twice when its request is late."
VOCABULARY = 20_000  # made-up words; the n-th is about n times rarer than the first, as words are


def appends() -> None:
    """Print the milliseconds to append a turn as a thread grows to 5,000 messages, beside bare commits."""
    sizes = [100, 500, 1_000, 1_500, 2_000, TURNS]
    columns = []
    with tempfile.TemporaryDirectory() as scratch, running_daemon() as daemon, Client(daemon.socket) as client:
        client.create_thread(id="growing")
        with lmdb.open(str(Path(scratch) / "floor"), **lmdb_options(1 << 30)) as env:  # type: ignore[arg-type]

            def bare(number: int) -> None:
                with env.begin(write=True) as txn:
                    txn.put(f"{number:09}".encode(), SAID.encode())

            for begun, until in pairwise((0, *sizes)):
                for turn in range(begun, until - SAMPLES):
                    _append(client, turn)
                turns = range(until - SAMPLES, until)
                pairs = [(ms_of(partial(_append, client, turn)), ms_of(partial(bare, turn))) for turn in turns]
                ours, least = (statistics.median(side) for side in zip(*pairs, strict=True))
                columns.append({"append, p50": ours, "a bare commit": least, "beyond the commit": ours - least})
    goals = {"append, p50": ("ms", None), "a bare commit": ("ms", None), "beyond the commit": ("ms", 3.0)}
    table("turns", sizes, columns, goals)


def states() -> None:
    """Print processor milliseconds of the working state after a turn, as an undistilled thread grows.

    Followed from turn to turn, which stays level, and read again from the thread's beginning.
    """
    sizes = [10, 100, 1_000]
    columns = []
    rows: list[tuple[int, bytes]] = []
    plan: working_state.StatePlan | None = None
    for begun, until in pairwise((0, *sizes)):
        times = []
        for turn in range(begun, until):
            rows += list(enumerate(_turn(turn), len(rows) + 1))
            job = _state_job(rows, plan.checkpoint if plan is not None else None)
            started = time.process_time()
            plan = working_state.decide(job)
            times.append(1_000 * (time.process_time() - started))
        again = min(in_turns({"": partial(working_state.decide, _state_job(rows, None))}, 3)[""])
        assert plan is not None
        assert plan.checkpoint is not None
        size = len(plan.checkpoint.fold) + len(plan.checkpoint.calls)
        columns.append({"from turn to turn": statistics.median(times[-10:]), "read again": again, "carried": size})
    goals = {"from turn to turn": ("ms", None), "read again": ("ms", None), "carried": ("bytes", None)}
    table("turns", sizes, columns, goals)


def contexts() -> None:
    """Print milliseconds of a context at 5,000 messages, and as the thread grows after its distillation."""
    with scratch_home() as home:
        with running_daemon(home) as daemon, Client(daemon.socket) as client:
            thread = str(import_file(client, session_file(home, 5, turns=263, noise=90), program="claude-code").thread)
            client.distill(thread)
        fill_memories(next(home.rglob("data.mdb")).parent)
        with running_daemon(home) as daemon, Client(daemon.socket) as client:
            print(f"a context of {client.thread(thread).message_count:,} messages beside {MEMORIES:,} memories")
            for grown in (0, 10_000, 20_000, 40_000):
                _grow(client, thread, grown)
                for name, most in {"": None, ", at most 8,000": 8_000}.items():
                    ask = partial(client.context, thread, max_tokens=most)
                    title = f"GET /context, {grown:,} tokens later{name} ({ask().tokens.total:,})"
                    spread(title, _times(ask), most=None if grown else 5.0)
            spread("the same, each after an append", [_after_append(client, thread, turn) for turn in range(SAMPLES)])
            spread("GET /working-state", _times(partial(client.working_state, thread)))
            spread("POST /recall", _times(partial(client.recall, ASKED.format(7))))
            spread("GET /v1/health", _times(client.health))


def _times(ask: Callable[[], object]) -> list[float]:
    return [ms_of(ask) for _ in range(SAMPLES)]


def distillations() -> None:
    """Print processor milliseconds of distilling generated sessions of growing size, and real ones where they are."""
    sizes, columns = [], []
    for turns in (15, 30, 60, 120, 240):
        messages = main_line(thread_entries(generated_session(3, turns=turns, noise=600)))
        sizes.append(sum(message.tokens for message in messages))
        columns.append({"distill, extractive": min(in_turns({"": partial(_distil, messages)}, 5)[""])})
    table("tokens", sizes, columns, {"distill, extractive": ("ms", None)})
    if real := [min(in_turns({"": partial(_distil, messages)}, 3)[""]) for messages in _real()]:
        title = f"{len(real)} stretches of {DISTIL_TOKENS:,} tokens of real sessions, p50"
        row(title, statistics.median(real), "ms", most=300, note=f"most {max(real):.1f}")


def fill_memories(store: Path) -> None:
    """Fill a store that no process has open with memories."""
    chance = random.Random(7)
    with Store.open(store, redactor=Redactor()) as opened:
        for start in range(0, MEMORIES, 5_000):
            opened.commit([Write("default", "bench", "fill", _put(chance, start, 5_000))], at=AT)


def _put(chance: random.Random, start: int, number: int) -> Callable[[Writer], None]:
    def body(writer: Writer) -> None:
        for index in range(start, start + number):
            statement = " ".join(f"word{int(VOCABULARY ** chance.random())}" for _ in range(14))
            memory = Memory(
                id=f"mem_{index:08}",
                type=MemoryType.FACT,
                content=f"Part {index} of the exporter: {statement}" if index % 500 == 0 else statement,
                tags=("bench",),
                document="facts/project.md",
                created_at=AT,
                updated_at=AT,
                order=index,
            )
            writer.save(record_of(memory), (memory.id,))

    return body


def _append(client: Client, turn: int) -> None:
    client.append(
        "growing",
        [
            {"role": "user", "content": ASKED.format(turn)},
            {"role": "assistant", "content": SAID.format(turn)},
        ],
    )


def _turn(number: int) -> Iterator[bytes]:
    """Return the redacted messages of one turn: a request, an edit, a test run, the agent's report."""
    calls = (
        ("Edit", {"file_path": f"/home/ann/harbour/src/part_{number % 40}.py", "old_string": "a", "new_string": "b"}),
        ("Bash", {"command": f"pytest -q tests/test_{number}.py"}),
    )
    messages: list[tuple[str, Any]] = [("user", ASKED.format(number))]
    for index, (name, args) in enumerate(calls):
        call_id = f"toolu_{number}_{index}"
        messages.append(("assistant", [{"type": "tool_use", "id": call_id, "name": name, "input": args}]))
        messages.append(
            ("user", [{"type": "tool_result", "tool_use_id": call_id, "content": "12 passed in 0.31s\n" * 20}])
        )
    messages.append(("assistant", SAID.format(number)))
    return (seal(entry_record(entry), Redactor()).data for entry in threads.entries_of(messages, None, AT))


def _state_job(rows: list[tuple[int, bytes]], checkpoint: working_state.Checkpoint | None) -> working_state.StateJob:
    first = checkpoint.seq if checkpoint is not None else 0
    return working_state.StateJob(
        thread="t",
        project=None,
        created_at=AT,
        distilled_through=0,
        last_seq=len(rows),
        entries=rows[first:],
        checkpoint=checkpoint,
        previous=None,
        state_seq=0,
        version=None,
    )


def _real() -> Iterator[list[Message]]:
    """Return recorded sessions, where present, joined to threads of 150,000 tokens each."""
    thread: list[Message] = []
    size = 0
    for path in sorted((DATA / "transcripts" / "claude-code").glob("*.jsonl.gz")):
        for message in one_thread([thread[-1:], main_line(read_entries(path))])[len(thread[-1:]) :]:
            thread.append(message)
            size += message.tokens
            if size >= DISTIL_TOKENS:
                yield thread
                thread, size = [], 0


def _distil(messages: list[Message]) -> None:
    cut = tail_start(messages)
    Extractive().distill(messages, number=1, previous=None, tail_from_seq=messages[cut].first_seq)


def _grow(client: Client, thread: str, tokens: int) -> None:
    """Append turns until the thread's context has `tokens` more than right after its distillation."""
    goal = client.context(thread).tokens.total - client.context(thread).tokens.tail + tokens
    number = 0
    while client.context(thread).tokens.total < goal:
        number += 1
        call_id = f"toolu_{tokens}_{number}"
        use = {
            "type": "tool_use",
            "id": call_id,
            "name": "Bash",
            "input": {"command": f"pytest -q tests/test_{number}.py"},
        }
        output = "".join(f"tests/test_{number}.py::test_part_{line} PASSED in 0.01s\n" for line in range(60))
        client.append(
            thread,
            [
                {"role": "user", "content": ASKED.format(number)},
                {"role": "assistant", "content": [use]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": output}]},
                {"role": "assistant", "content": SAID.format(number)},
            ],
        )


def _after_append(client: Client, thread: str, number: int) -> float:
    """Time one context right after a message was appended."""
    client.append(thread, [{"role": "user", "content": ASKED.format(number)}])
    return ms_of(partial(client.context, thread))


CASES = {"appends": appends, "states": states, "contexts": contexts, "distillations": distillations}
