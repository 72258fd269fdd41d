"""Entries of Claude Code transcripts, as the importers read them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec.structs import replace

from reverie.importers.chunks import ChunkPlan, plan_chunk
from reverie.importers.detect import read_line
from reverie.importers.join import main_line
from reverie.models import Entry


def thread_entries(data: bytes) -> list[Entry]:
    """Return the entries of a whole transcript, numbered as in a thread of its own."""
    plan = plan_chunk(data, first_line=1, final=True)
    return [replace(entry, seq=seq) for seq, entry in enumerate(plan.entries, 1)]


def main_line_messages(data: bytes) -> list[tuple[str, Any]]:
    """Return role and content of every message in a transcript, read by the library alone."""
    return [(message.role, message.content) for message in main_line(thread_entries(data))]


def _concatenated(first: ChunkPlan, rest: ChunkPlan) -> ChunkPlan:
    """Return the plans of two consecutive chunks as the plan of both together."""
    return ChunkPlan(
        first.entries + rest.entries,
        first.consumed + rest.consumed,
        first.lines + rest.lines,
        first.problems + rest.problems,
        dict(Counter(first.counts) + Counter(rest.counts)),
        rest.inside,
    )


def plan_in_chunks(data: bytes, cuts: list[int], *, ends: bool) -> ChunkPlan:
    """Return the plan of a transcript parsed in chunks; with `ends`, every chunk is parsed as the last one."""
    so_far = ChunkPlan((), 0, 0)
    for cut in [*sorted(cuts), len(data)]:
        piece = plan_chunk(
            data[so_far.consumed : cut],
            first_line=1 + so_far.lines,
            final=ends or cut == len(data),
            inside=so_far.inside,
            tokens=False,
        )
        so_far = _concatenated(so_far, piece)
    return so_far


def parse_line(line: bytes, number: int) -> Entry:
    """Return the entry of one line of a transcript."""
    return read_line(line, number)[0]


def bad_line_bytes(entry: Entry) -> bytes:
    """Return the bytes of a `bad` entry's line, or its stored beginning if it was too long."""
    return (entry.raw or "").encode(entry.extra.get("encoding", "utf-8"))
