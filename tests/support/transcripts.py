"""Builder of small Claude Code transcripts: one method call per line, each line's parent being the one before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import orjson
from msgspec.structs import replace

from reverie.importers.chunks import ChunkPlan, plan_chunk
from reverie.importers.detect import read_line
from reverie.importers.join import main_line
from reverie.models import Entry


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, **tool_input: Any) -> dict[str, Any]:
    """Return a tool call whose id is the tool's name, for readable tests."""
    return {"type": "tool_use", "id": name, "name": "Bash", "input": tool_input}


def result(name: str, content: Any = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


@dataclass(slots=True)
class Transcript:
    """Lines in order; a line's parent is the one before it unless `parent` names another (`None`: a root)."""

    lines: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: str, *, parent: str | None = "", uuid: str | None = None, **rest: Any) -> str:
        number = len(self.lines) + 1
        last = next((line["uuid"] for line in reversed(self.lines) if "uuid" in line), None)
        line = {
            "parentUuid": last if parent == "" else parent,
            "isSidechain": False,
            "sessionId": "s1",
            "type": kind,
            "uuid": uuid or f"u{number}",
            "timestamp": f"2026-01-02T03:04:05.{number:03d}Z",
        }
        self.lines.append(line | rest)
        return str(line["uuid"])

    def user(self, content: Any, **rest: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **rest)

    def assistant(self, *blocks: dict[str, Any], reply: str | None = None, **rest: Any) -> str:
        usage = {"input_tokens": 7, "output_tokens": len(self.lines)}
        message = {"id": reply or f"msg{len(self.lines) + 1}", "type": "message", "role": "assistant"}
        return self.add("assistant", message=message | {"content": list(blocks), "usage": usage}, **rest)

    def compaction(self, summary: str, *, before: int = 1000) -> None:
        """Add a compaction boundary, which has only a logical parent, and the compaction's summary."""
        self.add(
            "system",
            parent=None,
            subtype="compact_boundary",
            logicalParentUuid=self.lines[-1]["uuid"],
            compactMetadata={"trigger": "auto", "preTokens": before},
        )
        self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def bytes(self) -> bytes:
        return b"".join(orjson.dumps(line) + b"\n" for line in self.lines)

    def entries(self) -> list[Entry]:
        return thread_entries(self.bytes())


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
