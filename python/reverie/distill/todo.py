"""The agent's to-do list, followed through the tool calls that maintain it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reverie.distill.extractive.done_but_unticked_todo_items import mark_touched, mark_written
from reverie.distill.sentences import clip
from reverie.distill.tools import EDITS
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.distill.steps import ToolCall

__all__ = ["TodoItem", "TodoList", "closed_labels", "todo_items"]

_ENDED = ("completed", "deleted")
_TASK_ID = lazy_regex(r"[Tt]ask #?(\d+)")
# A line of the whole list, as the tool prints it: "#3 [pending] Measure the tide (ann) [blocked by #2]".
_LISTED = lazy_regex(
    r"^#(?P<number>\d+)\.? \[(?P<status>pending|in_progress|completed)\] (?P<subject>.+?)(?: \[blocked by [^\]]*\])?$",
    re.MULTILINE,
)
_NONE_LISTED = lazy_regex(r"^no tasks\b", re.IGNORECASE)


@dataclass(slots=True)
class TodoItem:
    """One entry of the to-do list; `status` is pending, in_progress, completed or deleted.

    `written` is True where edits show that the item is done and nobody ticked it off: one defined the code that a
    pending item asks for, or of several in progress a later one is edited. `touched` is True where one in progress was.
    """

    subject: str
    status: str
    seq: int  # where it last changed
    detail: str = ""
    task: str = ""  # the number that later updates call it by
    written: bool = False
    touched: bool = False

    def label(self, length: int) -> str:
        """Return the subject clipped to `length`, plus the task number by which later calls refer to it."""
        return clip(self.subject, length) + (_mark(self.task) if self.task else "")


@dataclass(slots=True)
class TodoList:
    """The to-do list so far: finished items of earlier lists, the current list, and numbered tasks.

    `ended` are the numbers of tasks that were finished or given up here and made before.
    """

    finished: dict[str, TodoItem] = field(default_factory=dict)
    current: list[TodoItem] = field(default_factory=list)
    tasks: dict[str, TodoItem] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def follow(self, calls: Iterable[ToolCall]) -> TodoList:
        """Apply the next tool calls of the thread to the to-do list; returns self."""
        for call in calls:
            match call.tool:
                case "TodoWrite":
                    self._write(call)
                case "TaskCreate":
                    number = _created_id(call, len(self.tasks) + 1)
                    made = TodoItem(call.word("subject"), "pending", call.seq, call.word("description"), number)
                    self.tasks[number] = made
                case "TaskUpdate":
                    self._update(str(call.input.get("taskId")), call)
                case "TaskList":
                    self._compare(call)
                case tool if tool in EDITS:
                    mark_written([*self.current, *self.tasks.values()], call)
                    mark_touched([*self.current, *self.tasks.values()], call)
                case _:
                    continue
        return self

    def items(self) -> list[TodoItem]:
        """Return the current to-do items in order, finished items of earlier lists first."""
        listed = {item.subject for item in self.current}
        earlier = [item for item in self.finished.values() if item.subject not in listed]
        everything = [*earlier, *self.current, *self.tasks.values()]
        return [item for item in everything if item.subject and item.status != "deleted"]

    def closed(self) -> frozenset[str]:
        """Return the label suffixes of older tasks that these calls completed or deleted."""
        return frozenset(map(_mark, self.ended))

    def _write(self, call: ToolCall) -> None:
        fresh = _written(call)
        for item in self.current:
            if item.status == "completed":
                self.finished.setdefault(item.subject, item)
        self.current = _dated(fresh, self.current)

    def _update(self, number: str, call: ToolCall) -> None:
        item = self.tasks.get(number)
        if item is not None:
            _update(item, call)
        elif call.input.get("status") in _ENDED:
            self.ended.add(number)

    def _compare(self, call: ToolCall) -> None:
        """Update all tasks from the result of the tool that lists them, as subagents change tasks too."""
        listed = {match["number"]: match for match in _LISTED.finditer(call.result)}
        if call.failed or not (listed or _NONE_LISTED.match(call.result)):
            return
        for number, match in listed.items():
            item = self.tasks.get(number)
            if item is not None:
                _set_status(item, match["status"], call)
                item.written = item.touched = False
            elif match["status"] in _ENDED:
                self.ended.add(number)
            else:
                self.tasks[number] = TodoItem(match["subject"], match["status"], call.seq, "", number)
        for number, item in self.tasks.items():
            if number not in listed and item.status not in _ENDED:
                _set_status(item, "deleted", call)


def todo_items(calls: Iterable[ToolCall]) -> list[TodoItem]:
    """Return the to-do list that these calls leave behind."""
    return TodoList().follow(calls).items()


def closed_labels(calls: Iterable[ToolCall]) -> frozenset[str]:
    """Return the label suffixes of older tasks that these calls completed or deleted."""
    return TodoList().follow(calls).closed()


def _mark(number: str) -> str:
    return f" (task #{number})"


def _written(call: ToolCall) -> list[TodoItem]:
    todos = call.input.get("todos")
    return [
        TodoItem(todo["content"], _status(todo.get("status")), call.seq)
        for todo in (todos if isinstance(todos, list) else [])
        if isinstance(todo, dict) and isinstance(todo.get("content"), str)
    ]


def _dated(fresh: list[TodoItem], before: list[TodoItem]) -> list[TodoItem]:
    """Return the items of a new list; those in the last list with the same status keep their entry number."""
    seqs = {(item.subject, item.status): item.seq for item in before}
    for item in fresh:
        item.seq = seqs.get((item.subject, item.status), item.seq)
    return fresh


def _created_id(call: ToolCall, fallback: int) -> str:
    match = _TASK_ID.search(call.result)
    return match.group(1) if match else str(fallback)


def _update(item: TodoItem, call: ToolCall) -> None:
    if call.input.get("status") is not None:
        item.status = _status(call.input["status"])
        item.seq = call.seq
        item.written = item.touched = False
    item.subject = call.word("subject") or item.subject


def _set_status(item: TodoItem, status: str, call: ToolCall) -> None:
    """Set an item's status, and its entry number to that of the call; an item that has this status stays as it is."""
    if item.status != status:
        item.status, item.seq = status, call.seq


def _status(value: Any) -> str:
    return value if isinstance(value, str) else "pending"
