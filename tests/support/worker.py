"""An agent at work on a thread of a real daemon: what it is told, the tools it calls, what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reverie.client import Client
    from reverie.wire import Appended

__all__ = ["Worker", "texts_of"]


class Worker:
    """Appends turn after turn: `Worker(client, "t").told("fix it").bash("make", "ok").says("Done.")`."""

    def __init__(self, client: Client, thread: str, **options: Any) -> None:
        self.client = client
        self.thread = thread
        self.answers: list[Appended] = []
        self._calls = 0
        client.create_thread(id=thread, **options)

    def told(self, words: str) -> Worker:
        """What the person says."""
        return self._append("user", words)

    def says(self, words: str, *, usage: dict[str, Any] | None = None) -> Worker:
        """The agent's words that end its turn."""
        return self._append("assistant", words, usage=usage)

    def call(self, name: str, result: Any, *, failed: bool = False, **given: Any) -> Worker:
        """One tool call and its result."""
        return self.calls(name, **given).hears(result, failed=failed)

    def calls(self, name: str, **given: Any) -> Worker:
        """One tool call, whose result is still to come."""
        self._calls += 1
        return self._append("assistant", [{"type": "tool_use", "id": self._made, "name": name, "input": given}])

    def hears(self, result: Any, *, failed: bool = False) -> Worker:
        """The result of the last call."""
        answer = {"type": "tool_result", "tool_use_id": self._made, "content": result}
        return self._append("user", [{**answer, "is_error": True} if failed else answer])

    def bash(self, command: str, result: str, *, failed: bool = False) -> Worker:
        return self.call("Bash", result, failed=failed, command=command)

    def edits(self, path: str) -> Worker:
        return self.call("Edit", f"{path} was updated", file_path=path, old_string="a", new_string="b")

    def plan(self, **status: str) -> Worker:
        """The agent's list of steps: names with underscores, each with its status."""
        items = [
            {"content": name.replace("_", " "), "status": state, "activeForm": name} for name, state in status.items()
        ]
        return self.call("TodoWrite", "noted", todos=items)

    @property
    def _made(self) -> str:
        return f"toolu_{self.thread}_{self._calls}"

    def _append(self, role: str, content: Any, *, usage: dict[str, Any] | None = None) -> Worker:
        self.answers.append(self.client.append(self.thread, [{"role": role, "content": content}], usage=usage))
        return self


def texts_of(request: Any) -> dict[str, str]:
    """What an agent reads: `system`, `opening` (before the conversation), `tail` and `late`, each as one text."""
    messages = list(request.messages)
    late = messages.pop() if messages[-1]["role"] == "system" else {"content": []}
    head, *rest = messages
    distilled = [block for block in head["content"] if block["type"] == "text" and _is_opening(block["text"])]
    kept = [block for block in head["content"] if block not in distilled]
    return {
        "system": _text(request.system),
        "opening": _text(distilled),
        "tail": "\n".join(_text(content) for content in (kept, *(message["content"] for message in rest))),
        "late": _text(late["content"]),
    }


def _is_opening(text: str) -> bool:
    return "# Conversation Summary (Distillation #" in text or text.startswith("## Excerpts")


def _text(content: Any) -> str:
    return "\n".join(str(block.get("text") or block.get("input") or block.get("content")) for block in content)
