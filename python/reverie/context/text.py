"""A context as text: the whole request as it is served and measured, or chosen tiers for a client that takes a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, get_args

from reverie import tokenizer
from reverie.context.tiers import FRAME
from reverie.context.tokens import compact, result_text
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reverie.context.inputs import Context


WAITING: Final = "[… nothing new was said since …]"
"""Closes a conversation that ends with the assistant: the API refuses a list whose last turn is the assistant's."""

BEGINNING: Final = "[… the beginning is not here …]"
"""Opens a conversation whose first message is the assistant's: the API wants a user message first."""

TEXT_TIERS: Final = ("bootstrap", "index", "digest", "workingState", "notes", "recall", "summary", "excerpts", "tail")
"""The tiers in the order of the text; without a choice it has all of them."""

_REQUESTS: Final = "requests"
_ENCODINGS: Final = get_args(tokenizer.Encoding)

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


def render(request: Mapping[str, Any]) -> str:
    """Return a request fragment as text: its system texts, then its messages below their roles, inputs as JSON.

    It is what `reverie context` prints, what `reverie eval` measures, and what `max_tokens` bounds.
    """
    pieces = [block["text"] for block in request["system"]]
    for message in request["messages"]:
        body = "\n\n".join(shown for block in content_blocks(message) if (shown := block_text(block)))
        pieces.append(f"{message['role']}:\n{body}")
    return "\n\n".join(pieces)


def largest_count(text: str) -> int:
    """Return the tokens of a text in the encoding that has the most: no reader's count is above its budget."""
    return max(tokenizer.count(text, encoding) for encoding in _ENCODINGS)


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
    """Return the chosen tiers of a context, and the person's requests, as one text of at most `max_tokens` tokens."""
    text = text_of(context, tiers=tiers, requests=requests)
    while text and (size := largest_count(text)) > max_tokens:
        text = text_of(context, tiers=tiers, chars_max=len(text) * max_tokens // size, requests=requests)
    return text


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


def content_blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content blocks of a request's message; a content that is a text is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def block_text(block: dict[str, Any]) -> str:
    """Return a content block as text; empty for one that only the API can read."""
    match block["type"]:
        case "text":
            return str(block["text"])
        case "thinking":
            return str(block["thinking"])
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return f"{block.get('name', '')} " + compact(block.get("input", {})).replace("\\n", "\n")
        case "tool_result":
            return result_text(block.get("content") or "")
        case "redacted_thinking":
            return ""
        case kind:
            return f"[{kind}]"


# The tags of Claude Code, Codex and the chat formats: `<system-reminder>`, `</environment_context>`, `<|im_start|>`.
_TAG: Final = lazy_regex(
    r"<(?P<tag>/?\s*(?:system(?:[_-]\w+)*|assistant|human|user[_-]\w[\w-]*|(?:user_)?instructions|environment_context"
    r"|function_(?:calls|results)|tool_(?:use|result)s?|command-\w+|local-command-\w+|antml:\w+|\|[\w ]{1,30}\|)"
    r"(?:\s[^<>\n]{0,200})?)>",
    re.IGNORECASE,
)
# Soft hyphen, zero-width space, marks of direction, word joiner, tag characters. The zero-width joiners stay: Persian,
# Indic scripts and emoji are written with them.
_INVISIBLE: Final = lazy_regex(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)


def neutralize_markup(text: str) -> str:
    """Return a text with the tags of clients in square brackets, `[system-reminder]`, and no invisible characters."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    return _TAG.sub(r"[\g<tag>]", text) if "<" in text else text
