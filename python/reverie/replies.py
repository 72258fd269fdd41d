"""What a person said in the results of tools: words in refusing a call, answers to questions that the agent asked.

Claude Code has no message for either: the words stand in a result, between words of the client.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A refused call's result: the words are behind it, and behind them may be a note of the client to the agent.
_REFUSED: Final = lazy_regex(r"The user does(?:n't| not) want.{0,400}?\bthe user said:\s*(?=\S)", re.DOTALL)
_CLIENT_BEHIND: Final = ("\n\nNote: The user's next message", "\n\n[Request interrupted")
# Of questions that were not answered to the end: "- "Which store?"\n  Answer: LMDB", below the client's words.
_ASKED: Final = "Questions asked:\n- "
_BETWEEN: Final = '"\n  Answer: '
# Behind an answered question: '"Which store?"="LMDB" user notes: one file. You can now continue ...'
_NOTES: Final = '" user notes: '
_PREVIEW: Final = '" selected preview:\n'
_CLIENT_END: Final = ". You can now continue"


@dataclass(frozen=True, slots=True)
class Reply:
    """Words of a person: in refusing a call where `question` is empty, else an answer, with its option's description.

    `is_own`: options were offered, and the answer is none of them.
    """

    words: str
    question: str = ""
    option: str = ""
    is_own: bool = True

    @property
    def text(self) -> str:
        """Return the words, those of an answer with its question: "Which store? → LMDB: one file, no server"."""
        if not self.question:
            return self.words
        return f"{' '.join(self.question.split())} → {self.words}{f': {self.option}' if self.option else ''}"


def with_replies(content: Any, extra: Mapping[str, Any]) -> Any:
    """Return message content with the person's words in place of each result that has them, as a text block.

    `extra` is the rest of the message's line; Claude Code has there the questions and answers (`toolUseResult`),
    whatever the tool is called. Content without such words is returned as it is.
    """
    if not isinstance(content, list):
        return content
    found = [_replies(block, extra) if block.get("type") == "tool_result" else [] for block in content]
    if not any(found):
        return content
    return [
        {"type": "text", "text": "\n".join(reply.text for reply in said)} if said else block
        for block, said in zip(content, found, strict=True)
    ]


def refusal(text: str) -> list[Reply]:
    """Return what a person said in refusing a call, from the text of its result; also what they had answered so far."""
    begin = _REFUSED.match(text)
    if begin is None:
        return []
    words = text[begin.end() :]
    for mark in _CLIENT_BEHIND:
        words = words.partition(mark)[0]
    _, is_question, asked = words.partition(_ASKED)
    if not is_question:
        return [Reply(words.strip())]
    parts = [part.partition(_BETWEEN) for part in asked.split("\n- ")]
    return [Reply(answer.strip(), question[1:], is_own=False) for question, _, answer in parts if answer.strip()]


def answers(asked: Any, text: str) -> Iterator[Reply]:
    """Yield the answers in a result's text to the questions of `asked`, a call's input; those not in it are left out.

    An answer ends where the next question of the same call begins: it may have lines and quotation marks of its own.
    """
    given = asked.get("questions") if isinstance(asked, dict) else None
    questions = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    places: dict[int, tuple[int, dict[str, Any]]] = {}
    for one in questions:
        marker = f'"{one.get("question")}"="'
        begin = text.find(marker)
        if begin >= 0:
            places[begin] = begin + len(marker), one
    begins = sorted(places)
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=False):
        start, one = places[begin]
        words = _answer(text[start:end])
        chosen = [option for option in _options(one.get("options")) if option[0] and option[0] in words]
        labels = [label for label, _ in _options(one.get("options"))]
        is_own = bool(labels) and not chosen and not any(words in label for label in labels)
        yield Reply(words, str(one["question"]), chosen[0][1] if len(chosen) == 1 else "", is_own)


def _replies(block: Mapping[str, Any], extra: Mapping[str, Any]) -> list[Reply]:
    text = _text(block)
    if block.get("is_error") is True:
        return refusal(text)
    outcome = extra.get("toolUseResult")
    return [*answers(outcome, text)] if isinstance(outcome, dict) and isinstance(outcome.get("answers"), dict) else []


def _text(block: Mapping[str, Any]) -> str:
    """Return the text of a tool's result, text blocks on lines."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in content or [] if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _answer(text: str) -> str:
    """Return the answer at the beginning of a text, with the person's notes where they say something else."""
    head, has_notes, notes = text.partition(_NOTES)
    words = head.partition(_PREVIEW)[0] if has_notes or _PREVIEW in head else head.rpartition('"')[0]
    notes = notes.rpartition(_CLIENT_END)[0].strip() if _CLIENT_END in notes else notes.rstrip(', "').strip()
    return words if not notes or notes == words.strip() else f"{words}\n{notes}"


def _options(given: Any) -> list[tuple[str, str]]:
    """Return label and description of each option."""
    found = []
    for option in given if isinstance(given, list) else []:
        one = {"label": option} if isinstance(option, str) else option if isinstance(option, dict) else {}
        label, description = (one.get(key) for key in ("label", "description"))
        found.append((label if isinstance(label, str) else "", description if isinstance(description, str) else ""))
    return found
