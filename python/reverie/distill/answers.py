"""Questions that an agent asked through its client's question tool, with the person's choices or answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie import replies
from reverie.distill.cues import NO_CHOICE, OF_STEP
from reverie.distill.sentences import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.distill.steps import ToolCall

QUESTION_TOOLS: Final = frozenset({"AskUserQuestion"})
"""Tools whose results are the person's answers."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that the agent asked through a tool, and the person's choice or answer.

    `option` is the chosen option's description, empty where it has none. `own_words` is True where options were offered
    and the answer is none of them.
    """

    question: str
    answer: str
    seq: int
    at: str | None
    own_words: bool = False
    option: str = ""

    @property
    def decides(self) -> bool:
        """True if it chooses something about the work: no step at hand, no counter-question, no "you decide"."""
        is_step = OF_STEP.search(self.question) is not None
        return not (is_step or "?" in self.answer or NO_CHOICE.match(self.answer))

    @property
    def text(self) -> str:
        """Return question, answer and the chosen option's description: "Which store? → LMDB: one file, no server"."""
        described = f": {clip(self.option, 200)}" if self.option else ""
        return f"{clip(self.question, 160)} → {self.answer}{described}"


def answered_questions(calls: Iterable[ToolCall]) -> Iterator[AnsweredQuestion]:
    """Yield the questions that the agent asked through a tool and the person answered, oldest first."""
    for call in calls:
        if call.tool not in QUESTION_TOOLS or not call.answered or call.failed:
            continue
        for one in replies.answers(call.input, call.result):
            yield AnsweredQuestion(
                one_line(one.question), one.words, call.result_seq, call.at, one.is_own, one_line(one.option)
            )
