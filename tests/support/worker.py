"""Builder of a thread in a real daemon: user messages, tool calls with results, agent messages."""

from __future__ import annotations

from typing import Any

from reverie.client import Client
from reverie.wire import Appended


class Worker:
    """Appends turn after turn: `Worker(client, "t").user("fix it").bash("make", "ok").reply("Done.")`."""

    def __init__(self, client: Client, thread: str, **options: Any) -> None:
        self.client = client
        self.thread = thread
        self.answers: list[Appended] = []
        self._calls = 0
        client.create_thread(id=thread, **options)

    def user(self, words: str) -> Worker:
        """Append a user message."""
        return self._append("user", words)

    def reply(self, words: str, *, usage: dict[str, Any] | None = None) -> Worker:
        """Append an agent message that ends its turn."""
        return self._append("assistant", words, usage=usage)

    def call(self, name: str, result: Any, *, failed: bool = False, **tool_input: Any) -> Worker:
        """Append one tool call and its result."""
        return self.open_call(name, **tool_input).tool_result(result, failed=failed)

    def open_call(self, name: str, **tool_input: Any) -> Worker:
        """Append one tool call without its result."""
        self._calls += 1
        return self._append("assistant", [{"type": "tool_use", "id": self._call_id, "name": name, "input": tool_input}])

    def tool_result(self, result: Any, *, failed: bool = False) -> Worker:
        """Append the result of the last call."""
        answer = {"type": "tool_result", "tool_use_id": self._call_id, "content": result}
        return self._append("user", [{**answer, "is_error": True} if failed else answer])

    def bash(self, command: str, result: str, *, failed: bool = False) -> Worker:
        return self.call("Bash", result, failed=failed, command=command)

    def edit(self, path: str) -> Worker:
        return self.call("Edit", f"{path} was updated", file_path=path, old_string="a", new_string="b")

    def plan(self, **status: str) -> Worker:
        """Append a task list: names with underscores, each with its status."""
        items = [
            {"content": name.replace("_", " "), "status": state, "activeForm": name} for name, state in status.items()
        ]
        return self.call("TodoWrite", "noted", todos=items)

    @property
    def _call_id(self) -> str:
        return f"toolu_{self.thread}_{self._calls}"

    def _append(self, role: str, content: Any, *, usage: dict[str, Any] | None = None) -> Worker:
        self.answers.append(self.client.append(self.thread, [{"role": role, "content": content}], usage=usage))
        return self


def texts_of(request: Any) -> dict[str, str]:
    """Return the texts of a request: `system`, `opening` (before the conversation), `tail` and `late`."""
    messages = list(request.messages)
    late = messages.pop() if messages[-1]["role"] == "system" else {"content": []}
    head, *rest = messages
    distilled = [block for block in head["content"] if block["type"] == "text" and _is_opening(block["text"])]
    tail = [block for block in head["content"] if block not in distilled]
    return {
        "system": _text(request.system),
        "opening": _text(distilled),
        "tail": "\n".join(_text(content) for content in (tail, *(message["content"] for message in rest))),
        "late": _text(late["content"]),
    }


def _is_opening(text: str) -> bool:
    return "# Conversation Summary (Distillation #" in text or text.startswith("## Excerpts")


def _text(content: Any) -> str:
    return "\n".join(str(block.get("text") or block.get("input") or block.get("content")) for block in content)
