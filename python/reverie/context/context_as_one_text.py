"""A context as one text, for an agent whose client takes a text and no messages: chosen tiers, within a size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie import count_and_truncate_tokens
from reverie.context.assemble import BEGINNING, WAITING
from reverie.context.context_request_as_readable_text import block_text, content_blocks
from reverie.context.neutralize_markup import neutralize_markup
from reverie.context.render_context_tiers import FRAME

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from reverie.context.assembly_inputs_and_token_ceilings import Context

__all__ = ["TEXT_TIERS", "text_of", "text_of_tokens"]

TEXT_TIERS: Final = (
    "bootstrap",
    "index",
    "digest",
    "workingState",
    "notes",
    "recall",
    "summary",
    "excerpts",
    "tail",
)
"""The tiers in the order of the text; without a choice it has all of them."""

_REQUESTS: Final = "requests"

_GIVES_WAY: Final = (
    "bootstrap",
    "index",
    "recall",
    "excerpts",
    "digest",
    "tail",
    "summary",
    "notes",
    _REQUESTS,
    "workingState",
)
"""The order in which tiers are shortened: what an agent needs first to go on with its work is last."""

_CUT: Final = "[… shortened …]"
_CONVERSATION: Final = "## The last messages"


def text_of(
    context: Context, *, tiers: Collection[str] | None = None, chars_max: int | None = None, requests: str = ""
) -> str:
    """Return the chosen tiers of a context as one text of at most `chars_max` characters, all without a choice.

    It begins with the sentence that what follows is data; `requests` are put behind the notes. Where it has to be
    shorter, tiers give way one after the other: the last messages lose their beginning, every other tier its end.
    Empty where there is nothing to say.
    """
    of_tiers = {**context.texts, _REQUESTS: [requests]}
    chosen = TEXT_TIERS if tiers is None else [name for name in TEXT_TIERS if name in tiers]
    texts = {name: "\n\n".join(of_tiers.get(name, ())) for name in _with_requests(chosen)}
    if "tail" in texts:
        texts["tail"] = _conversation(context)
    texts = {name: _unframed(text) for name, text in texts.items()}
    if chars_max is not None:
        texts = _fitted(texts, chars_max - len(FRAME))
    shown = [text for text in texts.values() if text]
    if not shown or (chars_max is not None and chars_max < len(FRAME)):
        return ""
    return "\n\n".join([FRAME, *shown])


def text_of_tokens(context: Context, requests: str, *, tiers: Collection[str], max_tokens: int) -> str:
    """Return the chosen tiers of a context, and the person's requests, as one text of about `max_tokens` tokens."""
    text = text_of(context, tiers=tiers, requests=requests)
    size = count_and_truncate_tokens.count(text)
    if size <= max_tokens:
        return text
    return text_of(context, tiers=tiers, chars_max=len(text) * max_tokens // size, requests=requests)


def _with_requests(tiers: Sequence[str]) -> list[str]:
    """Insert the tier of the person's requests into tier names, after those that come before the summary."""
    index = sum(TEXT_TIERS.index(name) <= TEXT_TIERS.index("notes") for name in tiers)
    return [*tiers[:index], _REQUESTS, *tiers[index:]]


def _unframed(text: str) -> str:
    """Return a tier's text without the framing sentence, of which one is enough, and without a client's markup."""
    return neutralize_markup(text.replace(FRAME, "")).strip()


def _fitted(texts: dict[str, str], room: int) -> dict[str, str]:
    """Return the tiers' texts, shortened so that they have at most `room` characters together, blank lines included."""
    for name in _GIVES_WAY:
        over = sum(len(text) + 2 for text in texts.values() if text) - room
        if over <= 0:
            break
        if text := texts.get(name):
            texts = {**texts, name: _shorter(text, len(text) - over, from_start=name == "tail")}
    return texts


def _shorter(text: str, chars_max: int, *, from_start: bool) -> str:
    """Return a text cut to `chars_max` characters, at its end or (`from_start`) after its heading, with a mark there.

    Whole lines, but for a single one that is too long; an empty text if nothing fits.
    """
    room = chars_max - len(_CUT) - 1
    lines: Sequence[str] = text.split("\n")
    heading = lines[0] if from_start else ""
    kept: list[str] = []
    size = len(heading) + 1 if heading else 0
    for line in reversed(lines[1:]) if from_start else lines:
        if size + len(line) + 1 > room:
            rest = room - size - 1
            if rest > len(line) // 2:  # of one long line the half that is nearer to what is shown
                kept.append(line[-rest:] if from_start else line[:rest])
            break
        kept.append(line)
        size += len(line) + 1
    if not any(line.strip() for line in kept):
        return ""
    if from_start:
        return "\n".join([heading, _CUT, *reversed(kept)])
    return "\n".join([*kept, _CUT])


def _conversation(context: Context) -> str:
    """Return the conversation as text, without the text blocks that are tiers of the context."""
    of_tiers = {text for texts in context.texts.values() for text in texts} | {WAITING, BEGINNING}
    said = []
    for message in context.request["messages"]:
        texts = (block_text(block) for block in content_blocks(message))
        shown = [text.strip() for text in texts if text.strip() and text not in of_tiers]
        if shown and message["role"] != "system":
            said.append(f"{message['role']}:\n" + "\n\n".join(shown))
    return "\n\n".join([_CONVERSATION, *said]) if said else ""
