"""Questions that an agent asked through a tool, with the person's choices or answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.distill.sentences import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.distill.steps import ToolCall

__all__ = ["AnsweredQuestion", "answered_questions"]


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


def answered_questions(calls: Iterable[ToolCall]) -> Iterator[AnsweredQuestion]:
    """Yield the questions that the agent asked through a tool and the person answered, oldest first."""
    for call in calls:
        if call.tool != "AskUserQuestion" or not call.answered or call.failed:
            continue
        for question, options in _questions(call):
            marker = f'"{question}"="'
            start = call.result.find(marker)
            if start >= 0:
                answer = call.result[start + len(marker) :].split('"', 1)[0]
                chosen = [about for label, about in options.items() if label in answer or answer in label]
                option = chosen[0] if len(chosen) == 1 else ""
                is_own = bool(options) and not chosen
                yield AnsweredQuestion(
                    one_line(question), clip(answer, 200), call.result_seq, call.at, is_own, one_line(option)
                )


def _questions(call: ToolCall) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each question of a call with the labels of its options and their descriptions."""
    asked = call.input.get("questions")
    for one in asked if isinstance(asked, list) else ():
        if isinstance(one, dict) and isinstance(one.get("question"), str):
            options = one.get("options")
            labels: dict[str, str] = {}
            for option in options if isinstance(options, list) else ():
                label, about = (
                    (option.get("label"), option.get("description")) if isinstance(option, dict) else (option, "")
                )
                if isinstance(label, str) and label:
                    labels[label] = about if isinstance(about, str) else ""
            yield one["question"], labels
