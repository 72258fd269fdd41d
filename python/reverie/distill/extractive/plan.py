"""The agent's own list of what to do, followed through the tools that keep it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reverie.distill.extractive.prose import clip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.distill.extractive.trace import Call

__all__ = ["Item", "closed", "items"]

_ENDED = ("completed", "deleted")
_TASK_ID = re.compile(r"[Tt]ask #?(\d+)")


@dataclass(slots=True)
class Item:
    """One entry of the list. `status` is pending, in_progress, completed or deleted."""

    subject: str
    status: str
    seq: int  # where it last changed
    detail: str = ""
    task: str = ""  # the number that later updates call it by

    def label(self, length: int) -> str:
        """The subject in `length` characters, and the number by which a later stretch of the thread may close it."""
        return clip(self.subject, length) + (_mark(self.task) if self.task else "")


def items(calls: Iterable[Call]) -> list[Item]:
    """The list as it stands at the end, in its own order, finished entries of earlier lists first."""
    finished: dict[str, Item] = {}
    current: list[Item] = []
    tasks: dict[str, Item] = {}
    for call in calls:
        match call.tool:
            case "TodoWrite":
                fresh = _written(call)
                for item in current:
                    if item.status == "completed":
                        finished.setdefault(item.subject, item)
                current = _dated(fresh, current)
            case "TaskCreate":
                number = _created_id(call, len(tasks) + 1)
                tasks[number] = Item(call.word("subject"), "pending", call.seq, call.word("description"), number)
            case "TaskUpdate":
                _update(tasks.get(str(call.input.get("taskId"))), call)
            case _:
                continue
    listed = {item.subject for item in current}
    earlier = [item for item in finished.values() if item.subject not in listed]
    everything = [*earlier, *current, *tasks.values()]
    return [item for item in everything if item.subject and item.status != "deleted"]


def closed(calls: Iterable[Call]) -> frozenset[str]:
    """How the labels end of entries that an earlier stretch of the thread made and these calls finished or gave up."""
    made: set[str] = set()
    ended: set[str] = set()
    for call in calls:
        number = str(call.input.get("taskId"))
        if call.tool == "TaskCreate":
            made.add(_created_id(call, len(made) + 1))
        elif call.tool == "TaskUpdate" and call.input.get("status") in _ENDED and number not in made:
            ended.add(number)
    return frozenset(map(_mark, ended))


def _mark(number: str) -> str:
    return f" (task #{number})"


def _written(call: Call) -> list[Item]:
    todos = call.input.get("todos")
    return [
        Item(todo["content"], _status(todo.get("status")), call.seq)
        for todo in (todos if isinstance(todos, list) else [])
        if isinstance(todo, dict) and isinstance(todo.get("content"), str)
    ]


def _dated(fresh: list[Item], before: list[Item]) -> list[Item]:
    """An entry that did not change keeps the place in the thread where it last did."""
    known = {(item.subject, item.status): item.seq for item in before}
    for item in fresh:
        item.seq = known.get((item.subject, item.status), item.seq)
    return fresh


def _created_id(call: Call, fallback: int) -> str:
    found = _TASK_ID.search(call.result)
    return found.group(1) if found else str(fallback)


def _update(item: Item | None, call: Call) -> None:
    if item is None:
        return
    if call.input.get("status") is not None:
        item.status = _status(call.input["status"])
        item.seq = call.seq
    item.subject = call.word("subject") or item.subject


def _status(value: Any) -> str:
    return value if isinstance(value, str) else "pending"
