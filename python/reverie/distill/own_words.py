"""The lines of a person's message that they typed, and those that they pasted or quoted, by form and announcement."""

from __future__ import annotations

import re
from typing import Final

from reverie.distill.extractive.forms_of_pasted_text import (
    asks_for_opinion,
    enclosed_lines,
    end_of_blocks_below,
    heads_text_to_its_end,
    lines_above_a_signature,
    lines_below_an_address,
    lines_of_blocks,
    lines_of_speakers,
)
from reverie.distill.extractive.introductions_of_pasted_text import (
    announced_at,
    announces_own,
    announces_text,
    asks_about_text_above,
    heads_chat_message,
    is_disguised,
    is_separator,
)
from reverie.distill.steps import user_speech
from reverie.lazy_regex import lazy_regex

__all__ = ["message_typed_and_pasted", "typed_and_pasted", "typed_by_person"]

_LONG_CHARS: Final = 6_000  # of a message: so much is not typed, and only its first and last paragraph count as typed
_QUOTE_WORDS: Final = 6  # of a quotation inside a line
_DOCUMENT_LINES: Final = 12  # of a message with headings, from which on it is a document and not a request
_SPEAKERS: Final = 3  # lines such as "Bob: …" that make a chat

# Tags in which a client puts what a file has or a command printed, which may have the end tag itself.
_CLIENT_TAG: Final = lazy_regex(
    r"<(?P<tag>system-reminder|local-command-\w+|command-contents|task-notification|ide_\w+|bash-\w+)>"
)

# A line that announces text of somebody else: "here is the mail from Bob:", "the readme says:".
_ANNOUNCES: Final = lazy_regex(
    r"\b(?:from|says?|said|sent|wrote|writes|reads|received|copied|pasted?|e?-?mails?|messages?|reviews?|tickets?|issues?"
    r"|articles?|pages?|posts?|logs?|outputs?|docs?|documents?|readme|transcripts?|quotes?|chat|slack|snippets?)\b.*:\s*$",
    re.IGNORECASE,
)
# A line that may announce either, and one of these that announces the person's own: "Here are my preferences:".
_MAY_ANNOUNCE: Final = lazy_regex(
    r"\b(?:here(?:'s| is| are)|this is|got|comments?|notes?|specs?|text|answers?)\b.*:\s*$", re.IGNORECASE
)
_HEADER: Final = lazy_regex(
    r"^(?:from|to|subject|date|sent|cc|reply-to|von|an|betreff|datum|gesendet|de|para|asunto|fecha|à|objet|da|oggetto"
    r"|assunto|от|кому|тема|от кого|van|aan|onderwerp|från|till|ämne|skickat|fra|til|emne|dato|sendt|od|komu|předmět"
    r"|temat|kimden|kime|konu|από|προς|θέμα|ημερομηνία|प्रेषक|विषय|दिनांक|từ|đến|người gửi|chủ đề|tiêu đề|보낸 사람"
    r"|받는 사람|제목|من|إلى|الموضوع|发件人|收件人|主题|日期|差出人|宛先|件名)\s?[:：]\s*\S|^on .{5,80} wrote:\s*$",
    re.IGNORECASE,
)
_PASTED: Final = lazy_regex(r"\[Pasted (?:text|content)", re.IGNORECASE)
_HEADING: Final = lazy_regex(r"^#{1,4}\s+\S")
_SPEAKER: Final = lazy_regex(
    r"^(?:\[[^\]]{3,30}\]\s*)?(?P<who>[A-Z@][\w .@-]{0,30}?)(?:\s*[\[(][^\])]{3,30}[\])])?:\s+\S"
)
_QUOTE: Final = lazy_regex(
    r"[\"“«„]([^\"“”«»„]{20,})[\"”»“]|\u2018([^\u2018\u2019]{20,})\u2019(?!\w)|(?<!\w)'(\w[^'\n]{20,})'(?!\w)"
    r"|[「『]([^「」『』]{6,})[」』]"
)


def message_typed_and_pasted(text: str) -> tuple[str, str]:
    """Return what a person typed of a message as the client stores it, and what they or the client put into it.

    The client's own text is in neither. A file or an output in a tag of the client may have the end tag, and words
    behind it as if the person went on; so what is between the first begin and the last end of a tag counts as pasted.
    """
    between = []
    for tag in dict.fromkeys(match["tag"] for match in _CLIENT_TAG.finditer(text)):
        end = f"</{tag}>"
        begin, last = text.find(f"<{tag}>"), text.rfind(end)
        if 0 <= begin < last and text.find(end, begin) < last:
            between.append(user_speech(text[begin : last + len(end)]))
            text = f"{text[:begin]}\n{text[last + len(end) :]}"
    typed, pasted = typed_and_pasted(user_speech(text))
    return typed, "\n".join(filter(None, (pasted, *between)))


def typed_by_person(text: str) -> str:
    """Return what a person typed of a message, without what they pasted into it and what their client added."""
    return message_typed_and_pasted(text)[0]


def typed_and_pasted(text: str) -> tuple[str, str]:
    """Return the lines of a person's message that they typed, and those that they pasted or quoted.

    In doubt a line counts as pasted: what rests on it waits for the person and is not lost.
    """
    lines = text.splitlines()
    foreign = _foreign_lines(lines)
    typed: list[str] = []
    pasted: list[str] = []
    for line, is_foreign in zip(lines, foreign, strict=True):
        begin = announced_at(line)
        if is_foreign:
            pasted.append(line)
        else:
            typed.append(_unquoted(line[:begin] if begin > 0 else line, pasted))
            pasted += [line[begin:]] if begin > 0 else []
    if len(text) > _LONG_CHARS:
        paragraphs = "\n".join(typed).split("\n\n")
        pasted += paragraphs[1:-1]
        typed = paragraphs[:1] + paragraphs[1:][-1:]
    return "\n".join(typed), "\n".join(pasted)


def _foreign_lines(lines: list[str]) -> list[bool]:
    """Return for each line whether it is another author's."""
    speakers = [match["who"] for line in lines if (match := _SPEAKER.match(line))]
    is_chat = len(speakers) >= _SPEAKERS and len(set(speakers)) > 1
    is_document = len(lines) >= _DOCUMENT_LINES and sum(bool(_HEADING.match(line)) for line in lines) > 1
    inside = enclosed_lines(lines)
    open_lines = ["" if enclosed else line for line, enclosed in zip(lines, inside, strict=True)]
    single = lines_below_an_address(open_lines) | lines_of_blocks(open_lines) | lines_above_a_signature(open_lines)
    single |= lines_of_speakers(open_lines)
    last = next((number for number in range(len(lines) - 1, -1, -1) if lines[number].strip()), 0)
    above = last if lines and (asks_about_text_above(lines[last]) or asks_for_opinion(lines[last])) else 0
    until = -1  # the last line of what was announced
    foreign = []
    for number, line in enumerate(lines):
        if (
            number > until
            and not inside[number]
            and (
                _HEADER.match(line)
                or _PASTED.search(line)
                or (is_document and _HEADING.match(line))
                or (is_separator(line) and number > 0)
                or heads_chat_message(line)
                or heads_text_to_its_end(lines, number)
            )
        ):
            until = len(lines)
        quoted = line.lstrip().startswith(">") or (is_chat and bool(_SPEAKER.match(line)))
        foreign.append(
            inside[number] or number <= until or quoted or number < above or number in single or is_disguised(line)
        )
        # What follows an announcement on lines of its own is somebody else's.
        if number > until and not inside[number] and _announces(line):
            end = end_of_blocks_below(lines, inside, number)
            until = len(lines) if end < 0 else end
    return foreign


def _announces(line: str) -> bool:
    if line.rstrip().endswith(":") and (
        _ANNOUNCES.search(line) or (_MAY_ANNOUNCE.search(line) and not announces_own(line))
    ):
        return True
    return announced_at(line) > 0 or announces_text(line)


def _unquoted(line: str, pasted: list[str]) -> str:
    """Return a line without its longer quotations, which are moved to `pasted`."""
    return _QUOTE.sub(lambda match: _aside(match, pasted), line)


def _aside(found: re.Match[str], pasted: list[str]) -> str:
    """Move a longer quotation to `pasted` and return a blank in its place; return a short quotation unchanged."""
    words = next(group for group in found.groups() if group)
    if len(words.split()) < _QUOTE_WORDS and found[4] is None:
        return found[0]
    pasted.append(words)
    return " "
