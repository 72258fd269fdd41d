"""Builder of threads for the distiller's tests: messages, tool calls with results, one minute apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from reverie.models import Message, Role


class Thread:
    """Builder of messages: `Thread().user("fix it").bash("make test", "ok").agent("Done.").messages`."""

    def __init__(self, start: str = "2026-03-05T09:00:00") -> None:
        self.messages: list[Message] = []
        self._now = datetime.fromisoformat(start).replace(tzinfo=UTC)

    def user(self, content: Any, *, rewound: bool = False) -> Thread:
        return self._add("user", content, rewound=rewound)

    def agent(self, text: str) -> Thread:
        return self._add("assistant", [{"type": "text", "text": text}])

    def call(self, tool: str, tool_input: dict[str, Any], result: Any = "ok", *, failed: bool = False) -> Thread:
        identity = f"toolu_{len(self.messages):04}"
        self._add("assistant", [{"type": "tool_use", "id": identity, "name": tool, "input": tool_input}])
        answer: dict[str, Any] = {"type": "tool_result", "tool_use_id": identity, "content": result}
        return self._add("user", [{**answer, "is_error": True} if failed else answer])

    def unanswered(self, tool: str, tool_input: dict[str, Any]) -> Thread:
        use = {"type": "tool_use", "id": "toolu_open", "name": tool, "input": tool_input}
        return self._add("assistant", [use])

    def bash(self, command: str, result: str = "", *, failed: bool = False, description: str = "") -> Thread:
        return self.call("Bash", {"command": command, "description": description}, result, failed=failed)

    def edit(self, path: str, old: str = "a", new: str = "b") -> Thread:
        return self.call("Edit", {"file_path": path, "old_string": old, "new_string": new}, f"{path} was updated")

    def todos(self, **status: str) -> Thread:
        todos = [
            {"content": subject.replace("_", " "), "status": state, "activeForm": subject}
            for subject, state in status.items()
        ]
        return self.call("TodoWrite", {"todos": todos})

    def _add(self, role: Role, content: Any, *, rewound: bool = False) -> Thread:
        seq = len(self.messages) + 1
        at = self._now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        self._now += timedelta(minutes=1)
        self.messages.append(Message(role, content, seq, seq, at=at, rewound=rewound))
        return self


def logger_fix() -> Thread:
    """Return a small task from request to commit: a failing test, its cause, a fix, a correction, a preference."""
    return (
        Thread()
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
