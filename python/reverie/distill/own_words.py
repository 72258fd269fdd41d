"""What of a person's message is in their own words, and what is another author's: told by structure alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.distill.steps import user_speech
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable

# What people type at once is short: one paragraph, a few lines. A mail, a page or a ticket is longer, or has marks.
_CHARS_MAX: Final = 400
_LINES_MAX: Final = 3
_LINE_CHARS_MAX: Final = 200  # of a line that is not the last one
# Tags in which a client puts what a file has or a command printed, which may have the end tag itself.
_CLIENT_TAG: Final = lazy_regex(
    r"<(?P<tag>system-reminder|local-command-\w+|command-contents|task-notification|ide_\w+|bash-\w+)>"
)
# Marks of other texts, whatever their language.
_MARKS: Final = (
    r"```|~~~|\^|[\u200b-\u200f\u2060\ufeff]"  # code, a compiler's caret, hidden characters
    r"|^\s*(?:\||\$ |[-+]{3} |@@|#{1,6} |//|[{\[])"  # tables, commands, diffs, headings, code
    r"|^\S{1,20}(?: \S{1,20})?[:\uff1a](?:\s|$)"  # "Ann: …", "Subject: …", "Bug 12: …"
    r"|^\S* ?\[?\d{1,4}[-:.]\d\d|^\S+ +\d{1,2}:\d\d\b"  # "ERROR 2026-03-04 …", "[10:02] …", "ann  10:02"
    r"|\bTraceback\b|\bdiff --git\b|\[Pasted "
    r"|(?:,|\s[-\u2013\u2014]{1,2}|^[-\u2013\u2014]{1,2}) ?[A-Z]\w+(?: [A-Z]\w+)?\.?\Z"  # signed: "Thanks, Ann"
)
_ITEM: Final = r"^\s*(?:>|[-*+\u2022] |\d{1,3}[.)] )"  # of a quotation or a list
_FOREIGN: Final = lazy_regex(rf"{_MARKS}|{_ITEM}|<[a-z!/]|[\U0001f300-\U0001faff]", re.MULTILINE)
# The same for a longer message, of which a model has said what is the person's: what has a form of its own (a block of
# code, a line of a list or quotation, an address) is cut out, and these marks are those of the rest.
_CUT: Final = lazy_regex(rf"{_ITEM}|^\s*https?://\S+\s*$")
_FENCE: Final = lazy_regex(r"^\s*(?:```|~~~)")
_MARKED: Final = lazy_regex(rf"{_MARKS}|</|<!|<[a-z][\w-]*\s[^>]*=", re.MULTILINE)  # `<id>` is a placeholder
_LONG_LINE_CHARS_MAX: Final = 800  # of a line in it
_SENTENCE_END: Final = lazy_regex(r"[.!?\u2026\u3002\uff01\uff1f][)\"'\u201d\u00bb]*\s*\Z")
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
    return _without_quotes(lines)


def _without_quotes(lines: list[str]) -> tuple[str, str]:
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


def typed_words(text: str) -> tuple[str, str]:
    """Return own and other words of a message, for a reader who understands what is said in it, such as a model.

    Such a reader tells a wish from a rule that was pasted, so here a message counts as typed that has several
    paragraphs, lists or a block of code: of it the sentences outside of these are the person's, up to a line with a
    colon at its end, which introduces another text. A message with a mark of another author (a header, a signature,
    a log's time), or with a line that ends in no sentence, is foreign as a whole.

    Example: of "it fails:", a block of code and "Never retry this." the last sentence is the person's.
    """
    if (short := own_words(text))[0]:
        return short
    lines = text.strip().split("\n")
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    # What is between the first and the last fence may have fences of its own, and the end of an odd one is missing.
    block = range(fences[0], len(lines) if len(fences) % 2 else fences[-1] + 1) if fences else range(0)
    own: list[str] = []
    ends = True
    for number, line in enumerate(lines):
        if number in block or not line.strip() or _CUT.match(line):
            ends = ends or bool(line.strip())  # a line before a block or list need be no sentence
        elif not ends:
            return "", text
        elif own and own[-1].rstrip().endswith((":", "\uff1a")) and (not block or number < block.start):
            break
        else:
            own.append(line)
            ends = _SENTENCE_END.search(line) is not None or line.rstrip().endswith((":", "\uff1a"))
    if any(len(line) > _LONG_LINE_CHARS_MAX for line in own) or _MARKED.search("\n".join(own)):
        return "", text
    kept = set(own)
    said, quoted = _without_quotes(own)
    return said, "\n".join([*(line for line in lines if line not in kept), quoted])


def message_words(text: str, words: Callable[[str], tuple[str, str]] = own_words) -> tuple[str, str]:
    """Return own and other words of a message as the client stores it; the client's own text is in neither.

    `words` tells them apart in what was typed.

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
    own, foreign = words(user_speech(text))
    return own, "\n".join(filter(None, (foreign, *between)))


def typed_by_person(text: str) -> str:
    """Return the person's own words of a message as the client stores it, for what a model quotes of it."""
    return message_words(text, typed_words)[0]
