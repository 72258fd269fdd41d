"""Counts of the commands that passed, by thread: the evidence for a project's commands over all its sessions.

Each thread's record has its own counts, so that they go when the thread is deleted or purged. One thread alone cannot
say how a project is tested: most of what it runs are parts of the tests.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from reverie.models import CommandUse
from reverie.store import ThreadRecord

if TYPE_CHECKING:
    from reverie.distill.extractive.thread_facts import ThreadFacts
    from reverie.redact import Redactor
    from reverie.store import Reader

__all__ = ["CommandCounts", "counted", "snapshot"]


class CommandCounts(msgspec.Struct):
    """Commands that passed in a thread so far (`own`), and in the other threads of its project."""

    own: list[CommandUse] = []
    others: list[CommandUse] = []


def snapshot(reader: Reader, thread: ThreadRecord) -> CommandCounts:
    """Return the counts of a thread and of the other threads of its project, if it has one."""
    others: list[CommandUse] = []
    if thread.project is not None:
        for _, record in reader.records(ThreadRecord):
            if record.project == thread.project and record.id != thread.id:
                others += record.commands or []
    return CommandCounts(own=list(thread.commands or []), others=others)


def counted(counts: CommandCounts, facts: ThreadFacts, redactor: Redactor) -> CommandCounts:
    """Return the counts increased by the commands that passed in `facts`; secrets in them are redacted."""
    from reverie.distill.extractive.procedures_and_skills import command_uses, merged_uses

    new = [
        replace(use, command=redactor.text(use.command), description=redactor.text(use.description))
        for use in command_uses(facts)
    ]
    return CommandCounts(own=list(merged_uses(counts.own, new)), others=counts.others)
