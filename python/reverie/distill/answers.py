"""Questions that an agent asked through a tool, with the person's choices or answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reverie.distill.sentences import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.distill.steps import ToolCall

__all__ = ["AnsweredQuestion", "answered_questions"]


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that the agent asked through a tool, and the person's choice or answer.

    `own_words` is True where options were offered and the answer is none of them.
    """

    question: str
    answer: str
    seq: int
    at: str | None
    own_words: bool = False


def answered_questions(calls: Iterable[ToolCall]) -> Iterator[AnsweredQuestion]:
    """Yield the questions that the agent asked through a tool and the person answered, oldest first."""
    for call in calls:
        if call.tool != "AskUserQuestion" or not call.answered or call.failed:
            continue
        for question, options in _questions(call):
            marker = f'"{question}"="'
            start = call.result.find(marker)
            if start >= 0:
                rest = call.result[start + len(marker) :]
                answer = rest.split('"', 1)[0]
                is_own = bool(options) and not any(option in answer or answer in option for option in options)
                yield AnsweredQuestion(one_line(question), clip(answer, 200), call.result_seq, call.at, is_own)


def _questions(call: ToolCall) -> list[tuple[str, list[str]]]:
    """Return each question of a call with all words of its options."""
    asked = call.input.get("questions")
    return [
        (one["question"], [*_option_texts(one.get("options"))])
        for one in (asked if isinstance(asked, list) else [])
        if isinstance(one, dict) and isinstance(one.get("question"), str)
    ]


def _option_texts(options: Any) -> Iterator[str]:
    for option in options if isinstance(options, list) else []:
        texts = [option] if isinstance(option, str) else option.values() if isinstance(option, dict) else []
        yield from (text for text in texts if isinstance(text, str) and text)
