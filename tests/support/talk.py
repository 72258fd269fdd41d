"""Conversations without a daemon: messages with dense numbers, one minute apart, and the entries of transcripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Self

from msgspec.structs import replace

from reverie.importers.chunks import plan_chunk
from reverie.importers.join import main_line
from reverie.models import Entry, Message
from support.turns import Turns


class Talk(Turns):
    """Builder of messages: `Talk().user("fix it").bash("make test", "ok").agent("Done.").messages`."""

    def __init__(self, before: tuple[Message, ...] = ()) -> None:
        self.messages: list[Message] = list(before)
        self._calls = len(before)
        self._now = datetime(2026, 3, 5, 9, tzinfo=UTC)

    def done(self) -> tuple[Message, ...]:
        return tuple(self.messages)

    def _add(self, role: Literal["user", "assistant"], content: Any, **more: Any) -> Self:
        seq = len(self.messages) + 1
        at = self._now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        self._now += timedelta(minutes=1)
        self.messages.append(Message(role, content, seq, seq, at=at, **more))
        return self


def logger_fix() -> Talk:
    """Return a small task from request to commit: a failing test, its cause, a fix, a correction, a preference."""
    return (
        Talk()
        .user("The logger writes to stdout in worker mode, please fix it. We always use conventional commits.")
        .agent("I'll look at the logger first.")
        .call("Read", {"file_path": "/home/ann/app/src/logger.ts"}, "     1\texport function makeLogger() {}")
        .todos(Find_the_cause_of_the_leak="in_progress", Write_a_regression_test="pending")
        .bash("npm test", "FAIL src/logger.test.ts\nError: expected stdout to be empty", failed=True)
        .agent(
            "The root cause is that `pinoPretty` runs as a pipeline and its worker thread writes to stdout by itself."
        )
        .edit("/home/ann/app/src/logger.ts", "pipeline()", "makeTransport()")
        .user("no, don't touch the public makeLogger signature in src/logger.ts")
        .agent("You're right, I will keep the signature of `makeLogger` as it was.")
        .edit("/home/ann/app/src/lineTransport.ts", "", "export const lineTransport = 1")
        .bash("npm test", "Tests: 12 passed", description="Run the tests")
        .todos(Find_the_cause_of_the_leak="completed", Write_a_regression_test="in_progress")
        .bash(
            'git commit -m "fix(logger): replace the pipeline by lineTransport"',
            "[main 1a2b3c4] fix(logger): replace the pipeline by lineTransport\n 2 files changed",
        )
        .agent("Replaced the pino pipeline by `lineTransport` in `src/lineTransport.ts`. Shall I open a pull request?")
    )


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
