"""Questions that an agent asked through its client's question tool, with the person's choices or answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reverie.distill.sentences import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.distill.steps import ToolCall

__all__ = ["QUESTION_TOOLS", "AnsweredQuestion", "answered_questions"]

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
    def text(self) -> str:
        """Return question, answer and the chosen option's description: "Which store? → LMDB: one file, no server"."""
        described = f": {clip(self.option, 200)}" if self.option else ""
        return f"{clip(self.question, 160)} → {self.answer}{described}"


def answered_questions(calls: Iterable[ToolCall]) -> Iterator[AnsweredQuestion]:
    """Yield the questions that the agent asked through a tool and the person answered, oldest first."""
    for call in calls:
        if call.tool not in QUESTION_TOOLS or not call.answered or call.failed:
            continue
        asked = call.input.get("questions")
        for one in asked if isinstance(asked, list) else []:
            if not isinstance(one, dict) or not isinstance(one.get("question"), str):
                continue
            marker = f'"{one["question"]}"="'
            start = call.result.find(marker)
            if start >= 0:
                answer = call.result[start + len(marker) :].split('"', 1)[0]
                yield _answered(call, one["question"], answer, [*_options(one.get("options"))])


def _answered(call: ToolCall, question: str, answer: str, options: list[tuple[str, str]]) -> AnsweredQuestion:
    chosen = [option for option in options if option[0] and option[0] in answer]
    is_own = bool(options) and not chosen and not any(answer in label for label, _ in options)
    option = one_line(chosen[0][1]) if len(chosen) == 1 else ""
    return AnsweredQuestion(one_line(question), clip(answer, 200), call.result_seq, call.at, is_own, option)


def _options(given: Any) -> Iterator[tuple[str, str]]:
    """Yield label and description of each option."""
    for option in given if isinstance(given, list) else []:
        found = {"label": option} if isinstance(option, str) else option if isinstance(option, dict) else {}
        label, description = (found.get(key) for key in ("label", "description"))
        yield (label if isinstance(label, str) else ""), (description if isinstance(description, str) else "")
