"""Turns of a conversation, built call by call, in a thread of a real daemon, and the texts of a request with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, Self

from reverie import wire
from reverie.client import Client


class Turns(ABC):
    """Builder of messages; a subclass says where each one goes."""

    _calls = 0
    _name = ""  # in the ids of calls

    @abstractmethod
    def _add(self, role: Literal["user", "assistant"], content: Any, **more: Any) -> Self:
        """Add one message."""

    def user(self, content: Any, **more: Any) -> Self:
        """Add a user message."""
        return self._add("user", content, **more)

    def reply(self, content: Any, **more: Any) -> Self:
        """Add an agent message that ends its turn."""
        return self._add("assistant", content, **more)

    def agent(self, text: str) -> Self:
        """Add an agent message of one text block."""
        return self.reply([{"type": "text", "text": text}])

    def call(
        self, tool: str, tool_input: Any, result: Any = "ok", *, failed: bool = False, thinking: str | None = None
    ) -> Self:
        """Add one tool call and its result."""
        return self.open_call(tool, tool_input, thinking=thinking).tool_result(result, failed=failed)

    def open_call(self, tool: str, tool_input: Any, *, thinking: str | None = None) -> Self:
        """Add one tool call without its result, after a thought if there is one."""
        self._calls += 1
        thought = [{"type": "thinking", "thinking": thinking, "signature": f"sig{self._calls}"}] if thinking else []
        return self.reply([*thought, {"type": "tool_use", "id": self._call_id, "name": tool, "input": tool_input}])

    def tool_result(self, result: Any, *, failed: bool = False) -> Self:
        """Add the result of the last call."""
        answer = {"type": "tool_result", "tool_use_id": self._call_id, "content": result}
        return self.user([{**answer, "is_error": True} if failed else answer])

    def bash(self, command: str, result: str = "", *, failed: bool = False, description: str = "") -> Self:
        return self.call("Bash", {"command": command, "description": description}, result, failed=failed)

    def edit(self, path: str, old: str = "a", new: str = "b") -> Self:
        return self.call("Edit", {"file_path": path, "old_string": old, "new_string": new}, f"{path} was updated")

    def todos(self, **status: str) -> Self:
        """Add a task list: names with underscores, each with its status."""
        items = [
            {"content": name.replace("_", " "), "status": state, "activeForm": name} for name, state in status.items()
        ]
        return self.call("TodoWrite", {"todos": items})

    @property
    def _call_id(self) -> str:
        return f"toolu_{self._name}{self._calls:04}"


class Worker(Turns):
    """Appends turn after turn: `Worker(client, "t").user("fix it").bash("make", "ok").reply("Done.")`."""

    def __init__(self, client: Client, thread: str, **options: Any) -> None:
        self.client = client
        self.thread = thread
        self.answers: list[wire.Appended] = []
        self._name = f"{thread}_"
        client.create_thread(id=thread, **options)

    def _add(self, role: Literal["user", "assistant"], content: Any, **more: Any) -> Self:
        self.answers.append(self.client.append(self.thread, [{"role": role, "content": content}], **more))
        return self


def learn(client: Client, *texts: str) -> wire.MemoryChanges:
    """Append a thread in which the person says these texts, and learn from it."""
    thread = client.create_thread()
    messages: list[dict[str, Any]] = []
    for text in texts:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}]
    client.append(thread.id, messages)
    return client.learn(thread.id)


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
