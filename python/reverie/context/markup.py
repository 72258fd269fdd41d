"""Remembered text without markup that only an agent's client may use, and without characters that show nothing.

A client puts its own words to the model into tags such as `<system-reminder>`, and remembered text inside them. A
memory with the end tag would end that, and what follows would read as the client's. Nobody sees an invisible character
in a file, but a model reads it.
"""

from __future__ import annotations

import re
from typing import Final

from reverie.lazy_regex import lazy_regex

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
