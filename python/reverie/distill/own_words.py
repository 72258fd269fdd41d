"""What of a person's message is in their own words, and what is another author's: told by structure alone."""

from __future__ import annotations

import re
from typing import Final

from reverie.distill.steps import user_speech
from reverie.lazy_regex import lazy_regex

# What people type at once is short: one paragraph, a few lines. A mail, a page or a ticket is longer, or has marks.
_CHARS_MAX: Final = 400
_LINES_MAX: Final = 3
_LINE_CHARS_MAX: Final = 200  # of a line that is not the last one
# Tags in which a client puts what a file has or a command printed, which may have the end tag itself.
_CLIENT_TAG: Final = lazy_regex(
    r"<(?P<tag>system-reminder|local-command-\w+|command-contents|task-notification|ide_\w+|bash-\w+)>"
)
# Marks of other texts, whatever their language.
_FOREIGN: Final = lazy_regex(
    r"```|~~~|<[a-z!/]|\^|[\u200b-\u200f\u2060\ufeff]|[\U0001f300-\U0001faff]"  # code, tags, hidden characters, emoji
    r"|^\s*(?:>|\||\$ |[-+]{3} |@@|#{1,6} |[-*+\u2022] |\d{1,3}[.)] |//|[{\[])"  # quotes, tables, diffs, lists, code
    r"|^\S{1,20}(?: \S{1,20})?[:\uff1a](?:\s|$)"  # "Ann: …", "Subject: …", "Bug 12: …"
    r"|^\S* ?\[?\d{1,4}[-:.]\d\d|^\S+ +\d{1,2}:\d\d\b"  # "ERROR 2026-03-04 …", "[10:02] …", "ann  10:02"
    r"|\bTraceback\b|\bdiff --git\b|\[Pasted "
    r"|(?:,|\s[-\u2013\u2014]{1,2}|^[-\u2013\u2014]{1,2}) ?[A-Z]\w+(?: [A-Z]\w+)?\.?\Z",  # signed: "Thanks, Ann"
    re.MULTILINE,
)
_QUOTE: Final = lazy_regex(
    r"[\"“„«]([^\"“”„«»\n]{16,})[\"”“»]|\u2018([^\u2018\u2019\n]{16,})\u2019(?!\w)|(?<!\w)'(\w[^'\n]{15,})'(?!\w)|[「『]([^「」『』\n]{6,})[」』]"
)
_COLON: Final = lazy_regex(r"(?<=\S)(?::\s|\uff1a)")


def own_words(text: str) -> tuple[str, str]:
    """Return the person's own words of what they typed, and the other ones, line by line.

    A message is the person's own if it is one short paragraph without any mark of another text, each line but the last
    a whole sentence. Of it what stands in quotes or behind a colon is another author's. Anything else is foreign as a
    whole: what rests on it waits for the person, and is not lost. Example: of "Ann says: always use tabs" the own words
    are "Ann says".
    """
    lines = text.strip().split("\n")
    if not _is_own(text.strip(), lines):
        return "", text
    own, foreign = [], []
    for line in lines:
        unquoted = _QUOTE.sub(" ", line)
        foreign += [next(filter(None, match.groups())) for match in _QUOTE.finditer(line)]
        said, *behind = _COLON.split(unquoted, maxsplit=1)
        own.append(said)
        foreign += behind
    return "\n".join(own), "\n".join(foreign)


def _is_own(text: str, lines: list[str]) -> bool:
    return (
        0 < len(text) <= _CHARS_MAX
        and len(lines) <= _LINES_MAX
        and all(len(line) <= _LINE_CHARS_MAX and line.rstrip().endswith((".", "!", "?")) for line in lines[:-1])
        and not text.endswith((":", "\uff1a"))
        and _FOREIGN.search(text) is None
    )


def message_words(text: str) -> tuple[str, str]:
    """Return own and other words of a message as the client stores it; the client's own text is in neither.

    A file or an output in a tag of the client may have the end tag, and words behind it as if the person went on; so
    what is between the first begin and the last end of a tag is foreign.
    """
    between = []
    for tag in dict.fromkeys(match["tag"] for match in _CLIENT_TAG.finditer(text)):
        end = f"</{tag}>"
        begin, last = text.find(f"<{tag}>"), text.rfind(end)
        if 0 <= begin < last and text.find(end, begin) < last:
            between.append(user_speech(text[begin : last + len(end)]))
            text = f"{text[:begin]}\n{text[last + len(end) :]}"
    own, foreign = own_words(user_speech(text))
    return own, "\n".join(filter(None, (foreign, *between)))


def typed_by_person(text: str) -> str:
    """Return the person's own words of a message as the client stores it."""
    return message_words(text)[0]
