"""Incremental accumulator of a thread's working state: each turn costs only its new messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reverie.distill.facts import CHECKS, Facts, asking
from reverie.distill.next_step import is_task
from reverie.distill.sentences import clip, first_sentence
from reverie.distill.state import request_excerpt, working_state
from reverie.distill.steps import read_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.commands import Run
    from reverie.distill.steps import Utterance
    from reverie.models import Message, WorkingState

_FEW = 24  # of whatever a state shows the newest of: it shows fewer
_COMMAND = 400  # characters


@dataclass(slots=True)
class ThreadFold(Facts):
    """Facts reduced to what a working state can show, in a form that can be stored.

    `ThreadFold().follow(messages).state(before)` is the working state of `messages` on top of `before`. Fed piece by
    piece a thread comes to the same, provided that every piece ends where all its calls are answered.
    """

    def follow(self, messages: Sequence[Message]) -> ThreadFold:
        """Add the messages that follow those added so far; returns self."""
        self.add(read_trace(messages))
        self._forget()
        return self

    def state(self, previous: WorkingState | None = None) -> WorkingState:
        """Return the working state after the messages added so far, on top of `previous`."""
        return working_state(self, previous)

    def _forget(self) -> None:
        self.requests = self._requests()
        self.orders = self.orders[-1:]
        self.runs = tuple({run.purpose: _bare(run) for run in self.runs}.values())
        self.failing = [_bare(run) for run in self.failing if run.purpose in CHECKS]
        self.corrections = []
        self.commits = self.commits[-_FEW:]
        self.answers = self.answers[-_FEW:]
        self.decisions = self.decisions[-_FEW:]
        kinds = ("outcome", "decision", "next")
        newest = {id(mark) for kind in kinds for mark in [m for m in self.said if m.kind == kind][-_FEW:]}
        self.said = [mark for mark in self.said if id(mark) in newest]

    def _requests(self) -> list[Utterance]:
        asked = asking(self.requests)
        tasks: dict[str, Utterance] = {}
        for said in filter(is_task, reversed(asked)):
            tasks.setdefault(first_sentence(said.text), said)
        first = [*asked[:1], *[said for said in asked if said.via in {"", "talk"}][:1]]
        newest = [*list(tasks.values())[:_FEW], *asked[-1:], *self.requests[-1:]]
        kept = {id(said) for said in (*first, *newest)}
        return [replace(said, text=request_excerpt(said.text)) for said in self.requests if id(said) in kept]


def _bare(run: Run) -> Run:
    return replace(run, command=clip(run.command, _COMMAND), description=clip(run.description, _COMMAND))
