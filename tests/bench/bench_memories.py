"""Memories that the engine learns from recorded sessions: counts by type, and a sample beside its source to be graded.

    python tests/bench/bench_memories.py [--other] [--step N] [--sample N] [--seed N] [--locomo] [FILE ...]

The sessions are imported into a daemon and learnt from one after the other, as `reverie import` does. A sheet of
`--sample` memories, drawn at random, shows each with the words it was drawn from. The cost of learning is printed for
the first and the last tenth of the sessions. `--locomo` reads conversations between people, without any tool, and
counts what they would oblige an agent to. The sessions are beside the project; without them there is nothing to print.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie.client import Client
from reverie.distill import steps as parse_messages_into_steps
from reverie.distill.distiller import Extractive
from reverie.importers.find import oldest_first
from reverie.models import MemoryType, Message
from reveried.cli.send_sessions import import_file
from support.daemon import running_daemon
from support.shared import SHARED, real_sessions, shared_files

if TYPE_CHECKING:
    from reverie.wire import Memory

DUTIES = {MemoryType.PREFERENCE, MemoryType.MISTAKE, MemoryType.PROCEDURE, MemoryType.SKILL}
SHOWN = 700  # characters of one source entry
GOAL_DUTIES = 0.5  # per 1,000 turns


def main() -> None:
    """Learn from recorded sessions and print counts and a sample; with --locomo learn from people's conversations."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--other", action="store_true", help="the sessions of other projects")
    parser.add_argument("--step", type=int, default=1, help="every N-th session")
    parser.add_argument("--first", type=int, default=0, help="of which session on")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--locomo", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    if given.locomo:
        return conversations()
    found = given.files or (shared_files("data/transcripts/other", "*.jsonl.gz") if given.other else real_sessions())
    paths = found[given.first :: given.step]
    if not paths:
        print("needs recorded sessions: ../shared is not here")
        return None
    return sessions(paths, given.sample, random.Random(given.seed))


def sessions(paths: list[Path], sample: int, chance: random.Random) -> None:
    """Import and learn from `paths`, the oldest first; print counts, costs and the sheet."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        threads, times = [], []
        for path in oldest_first(paths):
            threads.append(str(import_file(client, path).thread))
            before = time.perf_counter()
            client.learn(threads[-1])
            times.append(time.perf_counter() - before)
        memories = all_memories(client)
        tenth = max(1, len(times) // 10)
        print(f"{len(paths)} sessions, {len(memories)} memories: {dict(Counter(one.type for one in memories))}")
        print(f"threads that left none: {len(set(threads) - {one.provenance.get('thread') for one in memories})}")
        print(
            f"one session learnt in {1000 * statistics.median(times[:tenth]):.0f} ms at first,"
            f" {1000 * statistics.median(times[-tenth:]):.0f} ms at the end"
        )
        for number, memory in enumerate(chance.sample(memories, min(sample, len(memories)))):
            show(number, memory, client)


def all_memories(client: Client) -> list[Memory]:
    """Return every memory of the default space."""
    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = client.memories(after=cursor, limit=100)
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


def show(number: int, memory: Memory, client: Client) -> None:
    """Print one memory with the texts of the entries it was drawn from."""
    print(f"\n=== {number} {memory.type} {memory.title or ''}\n{memory.content}")
    thread, seqs = memory.provenance.get("thread"), memory.provenance.get("seqs") or []
    for seq in seqs:
        page = client.messages(str(thread), after=str(max(0, seq - 1)), limit=1)
        for message in page.items:
            print(f"  [{seq} {message.role}] {text_of(message.content)[:SHOWN]}")


def text_of(content: Any) -> str:
    """Return text, tool inputs and results of a message on one line."""
    if isinstance(content, str):
        return " ".join(content.split())
    pieces = [
        block.get("text")
        or parse_messages_into_steps.text_of(block.get("content"))
        or json.dumps(block.get("input", ""))
        for block in content
    ]
    return " ".join(" ".join(pieces).split())


def conversations() -> None:
    """Print the memories learnt from conversations between people, each side in turn taken as the user."""
    path = SHARED / "data" / "locomo" / "locomo5.json"
    if not path.exists():
        print("needs the conversations: ../shared is not here")
        return
    turns = duties = others = 0
    for conversation in json.loads(path.read_text("utf-8")):
        talk = conversation["conversation"]
        names = sorted((name for name in talk if name.startswith("session_") and "date" not in name), key=number_of)
        said = [turn for name in names for turn in talk[name]]
        for person in (talk["speaker_a"], talk["speaker_b"]):
            messages = [
                Message("user" if turn["speaker"] == person else "assistant", turn["text"], seq, seq)
                for seq, turn in enumerate(said, 1)
            ]
            turns += len(messages)
            for one in Extractive().candidates(messages):
                duties += one.type in DUTIES
                others += one.type not in DUTIES
                print(f"  {one.type.value}: {one.content}")
    print(f"{turns:,} turns: {duties} duties, {1000 * duties / turns:.2f} per 1,000 (goal: at most {GOAL_DUTIES});")
    print(f"{others} other memories")


def number_of(name: str) -> int:
    """Return the number at the end of a name such as `session_12`."""
    return int(name.rsplit("_", 1)[1])


if __name__ == "__main__":
    main()
