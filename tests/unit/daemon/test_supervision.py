"""Supervised loops: an unexpected exception is a line of the log, and the loop continues."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reverie.errors import Busy
from reverie.redact import Redactor
from reverie.store import Done, SessionRecord
from reveried import follower as reveried_follower
from reveried import log
from reveried.follower import Follower
from reveried.supervise import failures_logged, start_supervised, supervise


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """The stream that the test's log is written to."""
    stream = io.StringIO()
    log.configure("info", stream)
    yield stream
    log.configure("info")


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    """Return the lines of the log, decoded from JSON."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_loop_goes_on_after_each_exception(stream: io.StringIO) -> None:
    """A supervised loop restarts after each exception until it returns; the log has loop and kind, not the message."""
    rounds = 0

    async def loop() -> None:
        nonlocal rounds
        rounds += 1
        await asyncio.sleep(0)
        if rounds <= 3:
            raise (
                UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"),
                RecursionError("deep"),
                BaseException("x"),
            )[rounds - 1]

    asyncio.run(supervise("counting", loop, pause_s=0.001))

    assert rounds == 4
    assert [(line["work"], line["kind"]) for line in lines(stream)] == [
        ("counting", "UnicodeEncodeError"),
        ("counting", "RecursionError"),
        ("counting", "BaseException"),
    ]
    assert all(__file__ in line["trace"][-1] for line in lines(stream))
    assert "surrogates" not in stream.getvalue()


def test_a_cancelled_loop_ends(stream: io.StringIO) -> None:
    """Cancelling a supervised loop ends its task, while it works or in the pause after a failure."""

    async def waits() -> None:
        await asyncio.Event().wait()

    async def fails() -> None:
        await asyncio.sleep(0)
        has_failed.set()
        raise ValueError

    has_failed = asyncio.Event()

    async def run() -> list[bool]:
        tasks = [start_supervised("waits", waits), start_supervised("fails", fails)]
        await has_failed.wait()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return [task.cancelled() for task in tasks]

    assert asyncio.run(run()) == [True, True]
    assert [line["work"] for line in lines(stream)] == ["fails"]


def test_following_goes_on_after_an_exception(stream: io.StringIO, tmp_path: Path) -> None:
    """The loop that follows a session continues after an unexpected exception, which is logged."""
    transcript = tmp_path / "s.jsonl"
    transcript.write_text("{}\n")
    session = SessionRecord(
        client="codex",
        session="s",
        thread="t",
        project="p",
        transcript=str(transcript),
        pid=None,
        started_at="2026-11-22T10:00:00Z",
        updated_at="2026-11-22T10:00:00Z",
    )
    asked = 0

    class Broken:
        """Services of which each attribute raises an exception."""

        def __getattr__(self, name: str) -> Any:
            nonlocal asked
            asked += 1
            if asked == 2:
                is_asked_again.set()
            raise RecursionError(name)

    is_asked_again = asyncio.Event()

    async def run() -> None:
        follower = Follower()
        broken: Any = Broken()
        follower.follow(broken, "default", session)
        await is_asked_again.wait()
        await follower.close()

    asyncio.run(run())
    assert (lines(stream)[0]["work"], lines(stream)[0]["kind"]) == ("follower", "RecursionError")


def test_an_ended_session_is_followed_until_there_is_room_to_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the last lines of a session cannot be read because too much is computed, they are read later."""
    done: list[str] = []

    async def read_lines(*_: object) -> int:
        done.append("read")
        if len(done) == 1:
            raise Busy("full", hint="later")
        return 1

    async def learnt(*_: object) -> None:
        done.append("learnt")

    async def submit(_: object, **__: object) -> Done[None]:
        done.append("ended")
        ended.set()
        return Done(None, None)

    ended = asyncio.Event()

    monkeypatch.setattr(reveried_follower, "_import", read_lines)
    monkeypatch.setattr(reveried_follower, "_learn", learnt)
    session = SessionRecord(
        client="claude-code",
        session="s",
        thread="t",
        project="p",
        transcript=str(tmp_path / "s.jsonl"),
        pid=None,
        started_at="2026-11-22T10:00:00Z",
        updated_at="2026-11-22T10:00:00Z",
    )

    async def run() -> None:
        follower = Follower(quick_s=0.01, quiet_s=0.01)
        state = SimpleNamespace(schedule=lambda *_: None)
        services: Any = SimpleNamespace(
            made=lambda _: state, submit=submit, redactor=Redactor(), clock=lambda: session.updated_at
        )
        follower.follow(services, "default", session)
        follower.end(("default", "claude-code", "s"))
        await ended.wait()
        await follower.close()

    asyncio.run(run())
    assert done == ["read", "read", "learnt", "ended"]


def test_one_failure_does_not_end_a_round(stream: io.StringIO) -> None:
    """`failures_logged` ends its block at an exception and logs what failed; the code after the block runs."""
    done = []
    for number in range(3):
        with failures_logged("round", run=f"run_{number}"):
            done.append(1 / (number - 1))
    assert done == [-1.0, 1.0]
    assert [line["run"] for line in lines(stream)] == ["run_1"]
