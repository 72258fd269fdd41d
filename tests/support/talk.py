"""Builder of small conversations for context tests."""

from __future__ import annotations

from typing import Any

from reverie.models import Message


class Talk:
    """Builder of messages with dense numbers: `Talk().user("hi").call("Bash", {...}, "output").reply("done")`."""

    def __init__(self, before: tuple[Message, ...] = ()) -> None:
        self.messages: list[Message] = list(before)
        self._calls = len(before)

    def user(self, content: Any) -> Talk:
        return self._add("user", content)

    def reply(self, content: Any) -> Talk:
        return self._add("assistant", content)

    def call(self, name: str, tool_input: dict[str, Any], result: Any, *, thinking: str | None = None) -> Talk:
        self._calls += 1
        use = {"type": "tool_use", "id": f"toolu_{self._calls:04}", "name": name, "input": tool_input}
        before = [{"type": "thinking", "thinking": thinking, "signature": f"sig{self._calls}"}] if thinking else []
        self._add("assistant", [*before, use])
        return self._add("user", [{"type": "tool_result", "tool_use_id": use["id"], "content": result}])

    def open_call(self, name: str, tool_input: dict[str, Any]) -> Talk:
        self._calls += 1
        return self._add(
            "assistant", [{"type": "tool_use", "id": f"toolu_{self._calls:04}", "name": name, "input": tool_input}]
        )

    def done(self) -> tuple[Message, ...]:
        return tuple(self.messages)

    def _add(self, role: Any, content: Any) -> Talk:
        seq = len(self.messages) + 1
        self.messages.append(Message(role, content, seq, seq))
        return self
