"""Entries of Claude Code transcripts, as the importers read them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from reverie.importers.chunks import plan_chunk
from reverie.importers.join import main_line
from reverie.models import Entry


def thread_entries(data: bytes) -> list[Entry]:
    """Return the entries of a whole transcript, numbered as in a thread of its own."""
    plan = plan_chunk(data, first_line=1, final=True)
    return [replace(entry, seq=seq) for seq, entry in enumerate(plan.entries, 1)]


def main_line_messages(data: bytes) -> list[tuple[str, Any]]:
    """Return role and content of every message in a transcript, read by the library alone."""
    return [(message.role, message.content) for message in main_line(thread_entries(data))]


def bad_line_bytes(entry: Entry) -> bytes:
    """Return the bytes of a `bad` entry's line, or its stored beginning if it was too long."""
    return (entry.raw or "").encode(entry.extra.get("encoding", "utf-8"))
