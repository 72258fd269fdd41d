"""The agent's to-do list, followed through the tool calls that maintain it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reverie.distill.sentences import clip
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.distill.steps import ToolCall

OPEN = ("in_progress", "pending")
"""The states of an item that is to be done, nearest first."""

_TASK_ID = lazy_regex(r"[Tt]ask #?(\d+)")
_LISTED = lazy_regex(
    r"^#(?P<number>\d+)\.? \[(?P<status>pending|in_progress|completed)\] (?P<subject>.+?)(?: \((?P<owner>[\w.@-]+)\))?"
    r"(?: \[blocked by [^\]]*\])?$"
)
"""A line of the whole list, as the client's tool prints it: "#3 [pending] Measure the tide (ann) [blocked by #2]"."""


@dataclass(slots=True)
class TodoItem:
    """One entry of the to-do list; `status` is pending, in_progress, completed or deleted.

    `owner` is the agent of a team that has it. An item that another agent has is not one's own, unless this thread
    itself began it (`begun`).
    """

    subject: str
    status: str
    seq: int  # where it last changed
    task: str = ""  # the number that later updates call it by
    owner: str = ""
    begun: bool = False

    def label(self, length: int) -> str:
        """Return the subject clipped to `length`, plus the task number by which later calls refer to it."""
        return clip(self.subject, length) + (_mark(self.task) if self.task else "")

    def set_status(self, status: str, seq: int) -> None:
        """Set the status; the entry number changes with it alone."""
        if self.status != status:
            self.status, self.seq = status, seq


@dataclass(slots=True)
class TodoList:
    """The to-do list so far: finished items of earlier lists, the current list, and numbered tasks.

    `ended` are the numbers of tasks that were finished or given up here and made before.
    """

    finished: dict[str, TodoItem] = field(default_factory=dict)
    current: list[TodoItem] = field(default_factory=list)
    tasks: dict[str, TodoItem] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)

    def follow(self, calls: Iterable[ToolCall]) -> TodoList:
        """Apply the next tool calls of the thread to the to-do list; returns self."""
        for call in calls:
            match call.tool:
                case "TodoWrite":
                    self._write(call)
                case "TaskCreate":
                    found = _TASK_ID.search(call.result)
                    number = found[1] if found else str(len(self.tasks) + 1)
                    self.tasks[number] = TodoItem(call.word("subject"), "pending", call.seq, number)
                case "TaskUpdate":
                    self._update(str(call.input.get("taskId")), call)
                case "TaskList":
                    self._compare(call)
                case _:
                    continue
        return self

    def items(self) -> list[TodoItem]:
        """Return the to-do items in order, finished items of earlier lists first; without those of other agents."""
        listed = {item.subject for item in self.current}
        earlier = [item for item in self.finished.values() if item.subject not in listed]
        everything = [*earlier, *self.current, *self.tasks.values()]
        return [
            item for item in everything if item.subject and item.status != "deleted" and (item.begun or not item.owner)
        ]

    def closed(self) -> tuple[str, ...]:
        """Return how the labels of older tasks end that these calls completed or deleted."""
        return tuple(map(_mark, self.ended))

    def _write(self, call: ToolCall) -> None:
        """Take over a new list; items of the last list with the same status keep their entry number."""
        for item in self.current:
            if item.status == "completed":
                self.finished.setdefault(item.subject, item)
        seqs = {(item.subject, item.status): item.seq for item in self.current}
        todos = call.input.get("todos")
        self.current = [
            TodoItem(subject, status, seqs.get((subject, status), call.seq))
            for todo in (todos if isinstance(todos, list) else [])
            if isinstance(todo, dict)
            and isinstance(subject := todo.get("content"), str)
            and (status := _status(todo.get("status")))
        ]

    def _update(self, number: str, call: ToolCall) -> None:
        status = _status(call.input.get("status"), default="")
        item = self.tasks.get(number)
        if item is None:
            if status in {"completed", "deleted"} and number not in self.ended:
                self.ended.append(number)
            return
        if status:
            item.set_status(status, call.seq)
            item.begun = item.begun or status == "in_progress"
        item.subject = call.word("subject") or item.subject
        item.owner = call.word("owner") or item.owner

    def _compare(self, call: ToolCall) -> None:
        """Take over the whole list as the tool printed it; tasks that it does not have any more are over."""
        lines = call.result.strip().split("\n")
        found = [match for match in map(_LISTED.match, lines) if match]
        if not found and not lines[0].lower().startswith("no tasks"):
            return
        listed = {match["number"] for match in found}
        for match in found:
            number, status = match["number"], match["status"]
            if number not in self.tasks and status == "completed":
                if number not in self.ended:
                    self.ended.append(number)
                continue
            item = self.tasks.setdefault(number, TodoItem(match["subject"], status, call.seq, number))
            item.set_status(status, call.seq)
            if match["owner"] and not item.subject.endswith(f"({match['owner']})"):
                item.owner = match["owner"]
        for number, item in self.tasks.items():
            if number not in listed and item.status in OPEN:
                item.set_status("deleted", call.seq)


def _mark(number: str) -> str:
    return f" (task #{number})"


def _status(value: Any, default: str = "pending") -> str:
    return value if isinstance(value, str) and value else default
