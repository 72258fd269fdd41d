"""The demo's sample session, an invented bug that is found and fixed, and a writer of Claude Code transcripts."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from reveried.demo import texts

SESSION = "7d1f6a52-0c44-4b7e-9a63-2f5f0e8b1c90"

_START = datetime(2026, 3, 30, 8, 2, 11, tzinfo=UTC)
_STEP = timedelta(seconds=41)
_UUID_NAMESPACE = uuid.UUID("5c0c9d0e-4a38-4c0e-9f5d-3c1a6f1f7b20")


@dataclass(slots=True)
class Transcript:
    """Writer of a Claude Code transcript. Ids and times are counted: the same calls give the same bytes."""

    session: str
    folder: str
    branch: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    _last: str | None = None
    _replies: int = 0
    _calls: int = 0

    def user(self, text: str) -> None:
        """Add a message of the user to the transcript."""
        self._line("user", {"role": "user", "content": text})

    def agent(self, *blocks: dict[str, Any]) -> None:
        """Add a reply of the agent: one line per block, all with the id of one message, as Claude Code writes them."""
        self._replies += 1
        for block in blocks:
            message = {
                "id": f"msg_demo{self._replies:04}",
                "type": "message",
                "role": "assistant",
                "model": "claude-demo",
                "content": [block],
                "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
                "usage": {"input_tokens": 900 + 310 * self._replies, "output_tokens": 140},
            }
            self._line("assistant", message, requestId=f"req_demo{self._replies:04}")

    def text(self, text: str) -> dict[str, Any]:
        """Return a text block for a reply."""
        return {"type": "text", "text": text}

    def tool_use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a tool_use block for a reply; `result` adds the result of the latest."""
        self._calls += 1
        return {"type": "tool_use", "id": f"toolu_demo{self._calls:04}", "name": tool, "input": arguments}

    def result(self, text: str, *, failed: bool = False) -> None:
        """Add the result of the latest tool call."""
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": f"toolu_demo{self._calls:04}",
            "content": text,
        }
        if failed:
            block["is_error"] = True
        self._line("user", {"role": "user", "content": [block]}, toolUseResult=text)

    def to_bytes(self) -> bytes:
        """Return the bytes of the transcript file."""
        return b"".join(orjson.dumps(line) + b"\n" for line in self.lines)

    def _line(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        """Add a transcript line around a message, with `more` top-level fields."""
        number = len(self.lines)
        identity = str(uuid.uuid5(_UUID_NAMESPACE, f"{self.session}/{number}"))
        at = (_START + number * _STEP).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append(
            {
                "parentUuid": self._last,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.folder,
                "sessionId": self.session,
                "version": "2.1.0",
                "gitBranch": self.branch,
                "type": kind,
                "message": message,
                "uuid": identity,
                "timestamp": at,
                **more,
            }
        )
        self._last = identity


def sample() -> bytes:
    """Return the sample transcript, the same bytes every time."""
    transcript = Transcript(session=SESSION, folder="/home/mira/tidetable", branch="fix-clock-change")
    _read_code(transcript)
    _reproduce(transcript)
    _try_wrong_fix(transcript)
    _fix(transcript)
    _finish(transcript)
    return transcript.to_bytes()


def _todo(transcript: Transcript, done: int, *, doing: bool = True) -> None:
    """Add a TodoWrite call with the first `done` steps completed; `doing` marks the next as in progress."""
    steps = []
    for number, (step, form) in enumerate(texts.STEPS):
        state = "completed" if number < done else "in_progress" if doing and number == done else "pending"
        steps.append({"content": step, "status": state, "activeForm": form})
    transcript.agent(transcript.tool_use("TodoWrite", todos=steps))
    transcript.result("Todos have been modified successfully.")


def _read_code(transcript: Transcript) -> None:
    """Add the request, and the agent reading the code."""
    transcript.user(texts.REQUEST)
    transcript.agent(
        transcript.text("I'll look at where a harbour's times are computed, then try the day you name."),
        transcript.tool_use("Grep", pattern="local|utcoffset|timezone", path="tidetable"),
    )
    transcript.result(texts.GREP)
    transcript.agent(transcript.tool_use("Read", file_path="/home/mira/tidetable/tidetable/times.py"))
    transcript.result(texts.TIMES_BEFORE)
    transcript.agent(transcript.tool_use("Read", file_path="/home/mira/tidetable/tidetable/harbours.py"))
    transcript.result(texts.harbours())


def _reproduce(transcript: Transcript) -> None:
    """Add a failing test that shows the bug."""
    _todo(transcript, 0)
    transcript.agent(
        transcript.text("No test covers a day on which the clock changes. I'll write one that shows the bug first."),
        transcript.tool_use(
            "Write", file_path="/home/mira/tidetable/tests/test_clock_change.py", content=texts.TEST_CLOCK_CHANGE
        ),
    )
    transcript.result("File created successfully at: /home/mira/tidetable/tests/test_clock_change.py")
    transcript.agent(
        transcript.tool_use("Bash", command="pytest -q tests/test_clock_change.py", description="Run the new test")
    )
    transcript.result(texts.FAILS_FIRST, failed=True)
    _todo(transcript, 1)


def _try_wrong_fix(transcript: Transcript) -> None:
    """Add a first fix that breaks another test, and the user's correction."""
    transcript.agent(
        transcript.text("The test fails as reported. I'll add an hour when summer time is in force."),
        transcript.tool_use(
            "Edit",
            file_path="/home/mira/tidetable/tidetable/times.py",
            old_string="    return stored",
            new_string="    return stored + (timedelta(hours=1) if is_summer(stored) else timedelta())",
        ),
    )
    transcript.result("The file /home/mira/tidetable/tidetable/times.py has been updated.")
    transcript.agent(transcript.tool_use("Bash", command="pytest -q", description="Run all tests"))
    transcript.result(texts.fails_south(), failed=True)
    transcript.agent(
        transcript.text(
            "That does not work: adding an hour mends Port Ellery and breaks Cape Sorrow, where summer is in January. "
            "pytz knows the rules of each place, so I would add it and use `localize`."
        ),
        transcript.tool_use("Bash", command="pip install pytz", description="Install pytz"),
    )
    transcript.result("[Request interrupted by user for tool use]", failed=True)
    transcript.user(texts.CORRECTION)


def _fix(transcript: Transcript) -> None:
    """Add the right fix, a preference of the user, and a lint error with its fix."""
    transcript.agent(
        transcript.text(texts.DECISION),
        transcript.tool_use(
            "Edit",
            file_path="/home/mira/tidetable/tidetable/times.py",
            old_string="    return stored + (timedelta(hours=1) if is_summer(stored) else timedelta())",
            new_string="    return stored.replace(tzinfo=UTC).astimezone(ZoneInfo(harbour.zone))",
        ),
    )
    transcript.result("The file /home/mira/tidetable/tidetable/times.py has been updated.")
    transcript.agent(transcript.tool_use("Read", file_path="/home/mira/tidetable/tidetable/printing.py"))
    transcript.result(texts.PRINTING)
    transcript.agent(
        transcript.text(
            "`print_table` in tidetable/printing.py is the only place that calls `local_time`. "
            "I'll add the hour that comes twice to tests/test_clock_change.py."
        ),
        transcript.tool_use(
            "Edit",
            file_path="/home/mira/tidetable/tests/test_clock_change.py",
            old_string=texts.SOUTH,
            new_string=f"{texts.TWICE}\n\n{texts.SOUTH}",
        ),
    )
    transcript.result("The file /home/mira/tidetable/tests/test_clock_change.py has been updated.")
    transcript.agent(transcript.tool_use("Bash", command="pytest -q", description="Run all tests"))
    transcript.result(texts.PASSES)
    _todo(transcript, 3)
    transcript.user(texts.PREFERENCE)
    transcript.agent(transcript.tool_use("Bash", command="make check", description="Run linter and tests"))
    transcript.result(texts.LINT_FAILS, failed=True)
    transcript.agent(
        transcript.text("The import that the wrong turn left behind is not used any more; I'll take it out."),
        transcript.tool_use(
            "Edit",
            file_path="/home/mira/tidetable/tidetable/times.py",
            old_string="from datetime import UTC, datetime, timedelta",
            new_string="from datetime import UTC, datetime",
        ),
    )
    transcript.result("The file /home/mira/tidetable/tidetable/times.py has been updated.")
    transcript.agent(transcript.tool_use("Bash", command="make check", description="Run linter and tests"))
    transcript.result(texts.CHECK_PASSES)


def _finish(transcript: Transcript) -> None:
    """Add changelog, commit, a question with its answer, and the next task."""
    transcript.agent(
        transcript.text("All green. Now the changelog, in short sentences."),
        transcript.tool_use(
            "Edit",
            file_path="/home/mira/tidetable/CHANGELOG.md",
            old_string="## Unreleased\n",
            new_string="## Unreleased\n\n- Times are right on days when the clock changes.\n",
        ),
    )
    transcript.result("The file /home/mira/tidetable/CHANGELOG.md has been updated.")
    transcript.agent(
        transcript.tool_use(
            "Bash",
            command='git commit -am "times: keep UTC, convert when printing" -m "A stored local time is ambiguous in'
            ' the hour that comes twice, so tides are converted only when a table is printed."',
            description="Commit the fix",
        )
    )
    transcript.result(
        "[fix-clock-change 4be1d07] times: keep UTC, convert when printing\n 4 files changed, 61 insertions(+)"
    )
    _todo(transcript, 4, doing=False)
    transcript.agent(transcript.text(texts.REPORT))
    transcript.user(texts.QUESTION)
    transcript.agent(transcript.tool_use("Bash", command="ls -l cache | head -4", description="Look at the cache"))
    transcript.result(texts.CACHE)
    transcript.agent(transcript.text(texts.OPEN))
    transcript.user(texts.NEXT_TASK)
    _todo(transcript, 4)
