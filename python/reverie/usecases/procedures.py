"""Counts of the commands that passed, by thread: the evidence for a project's commands over all its sessions.

Each thread's record has its own counts, so that they go when the thread is deleted or purged. One thread alone cannot
say how a project is tested: most of what it runs are parts of the tests.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from reverie.models import CommandUse
from reverie.store import Reader, RecordCache, ThreadRecord

if TYPE_CHECKING:
    from reverie.distill.facts import ThreadFacts
    from reverie.redact import Redactor


class CommandCounts(msgspec.Struct):
    """Commands that passed in a thread so far (`own`), and in the other threads of its project."""

    own: list[CommandUse] = []
    others: list[CommandUse] = []


class _OfThread(NamedTuple):
    """A thread's project, and the commands that passed in it."""

    thread: str
    project: str | None
    commands: tuple[CommandUse, ...]


_SPACES_MAX: Final = 8  # whose counts are kept: some hundred bytes for each thread

_kept: OrderedDict[str, RecordCache[ThreadRecord, _OfThread]] = OrderedDict()
_lock = threading.Lock()


def snapshot(reader: Reader, thread: ThreadRecord) -> CommandCounts:
    """Return the counts of a thread and of the other threads of its project, if it has one.

    Of threads that did not change since the last call the record is not opened again.
    """
    others: list[CommandUse] = []
    if thread.project is not None:
        with _lock:
            counts = _kept.setdefault(reader.space, RecordCache(ThreadRecord, _of_thread))
            _kept.move_to_end(reader.space)
            while len(_kept) > _SPACES_MAX:
                _kept.popitem(last=False)
            for one in counts.values(reader):
                if one.project == thread.project and one.thread != thread.id:
                    others += one.commands
    return CommandCounts(own=list(thread.commands or []), others=others)


def _of_thread(thread: ThreadRecord) -> _OfThread:
    return _OfThread(thread.id, thread.project, tuple(thread.commands or ()))


def counted(counts: CommandCounts, facts: ThreadFacts, redactor: Redactor) -> CommandCounts:
    """Return the counts increased by the commands that passed in `facts`; secrets in them are redacted."""
    from reverie.distill.procedures import command_uses, merged_uses

    new = [
        replace(use, command=redactor.text(use.command), description=redactor.text(use.description))
        for use in command_uses(facts)
    ]
    return CommandCounts(own=list(merged_uses(counts.own, new)), others=counts.others)
