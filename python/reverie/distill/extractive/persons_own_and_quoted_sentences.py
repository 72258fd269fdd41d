"""The person's own words in a message: without what they quote, paste or forward, and without an agent's plan."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

from reverie.distill.extractive.introductions_of_pasted_text import (
    announced_at,
    announces_text,
    asks_about_text_above,
    heads_chat_message,
    is_disguised,
    is_separator,
)
from reverie.distill.sentences import sentences
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["own_sentences", "quoted_sentences"]

# Blank lines are in no pattern's beginning: each of them would be one, and all that follow would be tried for each.
_FENCE = lazy_regex(r"^[^\S\n]*(?:```|~~~).*?(?:^[^\S\n]*(?:```|~~~)[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_FENCED: Final = "\n\ue000\n"  # in the place of a fence; a private character, which no message has
_TAG = lazy_regex(r"<(?P<tag>[a-z][\w-]*)(?:\s[^<>]*)?>")
_TAG_END = lazy_regex(r"</(?P<tag>[a-z][\w-]*)>")
_QUOTE_ENDS: Final = {
    "“": "”",
    "„": "“”",
    "«": "»",
    '"': '"',
    "'": "'",
    "「": "」",
    "『": "』",
    "\u2018": "\u2019",
}
_QUOTE_MARKS: Final = "".join({*_QUOTE_ENDS, *_QUOTE_ENDS.values()})
_CJK_QUOTES: Final = "「『"  # around words without spaces
_CJK_QUOTED_MIN: Final = 6  # characters
_SPACE = lazy_regex(r"\s")
_QUOTED_SPACES_MIN: Final = 2  # a name or a label of one or two words may stay
# A line that nobody types as an instruction: quotes, terminals, logs, diffs, tables, mail headers, list items of a
# pasted review, "Anna: ..." of a chat log.
_FOREIGN_LINE = lazy_regex(
    r"^\s*(?:>|\||[❯⏺⎿│╭╰▶✗✓●$%]|\d{4}-\d\d-\d\d|\d\d?:\d\d|[A-Z][a-z]{2} +\d+ \d\d:|@@|diff --git|[-+]{3} |[-+] ?[{}(]"
    r"|(?:From|To|Subject|Date|Re|Cc|Von|An|Betreff): |[A-Z][\w .-]{0,30} (?:wrote|said|commented|schrieb|écrit"
    r"|escribió)\b"
    r"|\[[^\]]*\d[^\]]*\]|#+ |at \w+[.(]|File \")",
    re.IGNORECASE,
)
# A line of a program's output; those below it are output as well, up to a blank line.
_OUTPUT_LINE = lazy_regex(
    r"^\s*(?:(?i:(?:npm|pnpm|yarn|pip|cargo|bun) (?:warn(?:ing)?|err!|error|notice|info)\b"
    r"|(?:error|warning|warn|info|hint|fatal|debug|notice|panic|remote|usage|exception|caused by)\b(?:\[[^\]]*\]"
    r"|\([^)]*\))?: )|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]?[:\s]|[$%] \w|Traceback \(|(?:FAIL|PASS)\b"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d|\[\d\d:\d\d)"
)
# "Here is what the reviewer wrote:" and a reviewer's "Low severity" open what others said, up to the message's end.
_SEVERITY = lazy_regex(r"^\W*(?:High|Medium|Low|Critical|Minor|Major) (?:severity|priority)\b", re.IGNORECASE)
_OPENS_FOREIGN = lazy_regex(
    r"\b(?:feedback|review|comments?|says?|said|wrote|writes|reads|email|e-mail|message|ticket|issue|error|output"
    r"|logs?|readme"
    r"|docs?|documentation|article|transcript|following|plan|spec|prompt|this|these|from|paste\w*|quote\w*|schreibt"
    r"|sagt"
    r"|meint|folgende\w*|dice|escribió|siguiente|dit|écrit|suivant\w*)\b[^.!?]*:\s*$",
    re.IGNORECASE,
)
# "Here are my rules for this repo:" announces the person's own words, unless they are from somewhere.
_OWN_RULES: Final = lazy_regex(
    r"^(?!.*\b(?:from|says?|said|wrote|reads?|aus|laut|sagt|schreibt|schrieb|según|dice|d'après|selon|dit|écrit)\b)"
    r".*\b(?:my|our|meine|unsere|mis|nuestr[ao]s|mes|nos)\s(?:\w+\s){0,2}(?:rules|preferences|conventions|guidelines"
    r"|wishes|habits|standards|regeln|vorlieben|konventionen|wünsche|reglas|preferencias|convenciones|règles"
    r"|préférences)\b[^.!?:]*:\s*$|(?:我的|我们的)(?:规则|约定|偏好|规范)[^。：:]*[：:]$"
    r"|(?:私の|うちの)(?:ルール|規約|好み)[^。：:]*[：:]$",
    re.IGNORECASE,
)
_HEADING_CHARS_MAX: Final = 200  # of a line above a list; in a longer one the pattern would be tried too often
_OPENS_FOREIGN_CJK = lazy_regex(r"(?:说|写道|如下|内容|以下)[：:]$|(?:次の|以下の).*[：:。]$")
# A letter, to its end: "Dear Mr Smith, please always lock the gate."
_LETTER = lazy_regex(
    r"^\s*(?:Dear|Sehr geehrte[rs]?|Liebe[rs]?|Estimad[oa]s?|Querid[oa]s?|Chère?|Hi all|Hello (?:all"
    r"|team))\b[^.!?]{0,40}[,:]"
)
# Several people who speak in turn, each behind their name; a label of the person's own is no name.
_SPEAKER = lazy_regex(r"^[^\S\n]*(?P<who>[A-Z][\w.-]{1,20}): +\S", re.MULTILINE)
_LABELS_TEXT: Final = (
    "Task Goal Rule Rules Note Notes Context Step Steps Todo Input Output Expected Actual Constraints "
    "Style Problem Fix Solution Important Also Question Answer Bug Issue Example Reminder Wichtig Aufgabe "
    "Regel FYI PS Update Format Tests Test Docs Code Project Q A Title Summary Description Background "
    "Requirements"
)
_LABELS: Final = frozenset(_LABELS_TEXT.split())
_SPEAKERS_MIN: Final = 2
_HEADING = lazy_regex(r"^#{1,4} ", re.MULTILINE)
_BULLET = lazy_regex(r"^[^\S\n]*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
# What the engine itself writes: recalled text that comes back in a message is not said again.
_RECALLED = lazy_regex(
    r"^(?:Wants agents |The user (?:wants|said|corrected|asked to remember)\b|To (?:run|lint|build|format"
    r"|check)\b.* (?:this|the)"
    r" project\b|Asked “|- (?:Summary|Solution|Lesson): )"
)
# Quoted by its form: "> always use tabs", and a fence without the name of a language.
_QUOTE_LINE = lazy_regex(r"^\s*(?:>\s?|[A-Z][\w .-]{0,30} (?:wrote|said|commented|schrieb|escribió)\s*:\s+)")
_PLAIN_FENCE = lazy_regex(
    r"^[^\S\n]*(?:```|~~~)[ \t]*\n(?P<text>.*?)(?:^[^\S\n]*(?:```|~~~)[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
# What stands for a private part in front of a sentence: "[REDACTED:private] Remember that the build is slow."
_PRIVATE: Final = lazy_regex(r"^(?:\[REDACTED:private\]\s*)+")
_SENTENCES_MAX: Final = 15  # of a message; more are a document, not the person talking
_BULLETS_MAX: Final = 6


def quoted_sentences(text: str) -> list[str]:
    """Return the sentences of a message that it quotes or that were pasted into it; none of a pasted document."""
    if _is_document(text):
        return []
    all_sentences = [sentence for fence in _PLAIN_FENCE.finditer(text) for sentence in sentences(fence["text"])]
    lines = _cut(_FENCE.sub(_FENCED, text), _tagged, "\n").split("\n")
    above = _end_of_text_above(lines)
    until = -1
    for number, line in enumerate(lines):
        if number <= until or number < above or _QUOTE_LINE.match(line) or is_disguised(line):
            all_sentences += sentences(_QUOTE_LINE.sub("", line))
        elif (begin := announced_at(line)) > 0:
            all_sentences += sentences(line[begin:])
            until = len(lines)
        else:
            all_sentences += [line[begin:end].strip(_QUOTE_MARKS) for begin, end in _quotes(line)]
        if number > until and _opens_foreign(line):
            until = _end_of_announced(lines, number)
    quoted = [sentence for sentence in all_sentences if not _RECALLED.match(sentence)]
    return quoted if len(quoted) <= _SENTENCES_MAX else []


def _is_document(text: str) -> bool:
    """Return True for a plan, or a text with headings."""
    return "Implement the following plan" in text or len(_HEADING.findall(text)) > 1


def own_sentences(text: str) -> list[str]:
    """Return the sentences of a message that the person said in their own words; none of a pasted document."""
    if _is_document(text):
        return []
    plain = _cut(_FENCE.sub(_FENCED, text), _tagged, "\n")
    kept: list[str] = []
    is_output = False
    speakers = {match["who"] for match in _SPEAKER.finditer(plain)} - _LABELS
    lines = plain.split("\n")
    until = _end_of_text_above(lines) - 1
    for number, line in enumerate(lines):
        if number <= until or line == _FENCED.strip("\n"):
            continue
        if _LETTER.match(line):
            break
        if len(speakers) >= _SPEAKERS_MIN and _SPEAKER.match(line):
            continue
        is_output = bool(line.strip()) and (is_output or _OUTPUT_LINE.match(line) is not None)
        if is_output:
            continue
        if _opens_foreign(line):
            kept += [_cut(sentence, _quotes, "“…”") for sentence in sentences(line)[:-1]]
            until = _end_of_announced(lines, number)
            continue
        if announced_at(line) > 0:
            break
        if not _FOREIGN_LINE.match(line) and not is_disguised(line):
            kept.append(_cut(line, _quotes, "“…”"))
    own = "\n".join(kept)
    spoken = (_PRIVATE.sub("", sentence) for sentence in sentences(own))
    own_parts = [sentence for sentence in spoken if sentence and not _RECALLED.match(sentence)]
    return own_parts if len(own_parts) <= _SENTENCES_MAX and len(_BULLET.findall(own)) <= _BULLETS_MAX else []


def _end_of_text_above(lines: list[str]) -> int:
    """Return the number of lines before a last line such as "Can you translate the above?", which asks about them."""
    last = next((number for number in range(len(lines) - 1, -1, -1) if lines[number].strip()), 0)
    return last if asks_about_text_above(lines[last]) else 0


def _end_of_announced(lines: list[str], number: int) -> int:
    """Return the last line of what a line announces: the last fence if one is next, else the end of the message.

    "Here is the log:", a fence with the log, and then the person's own words.
    """
    fence = _FENCED.strip("\n")
    following = next((line for line in lines[number + 1 :] if line.strip()), "")
    if following != fence:
        return len(lines)
    return max(at for at in range(number + 1, len(lines)) if lines[at] == fence)


def _opens_foreign(line: str) -> bool:
    """Return True for a line that announces a quotation or a chat: the lines after it are another person's words."""
    if len(line) <= _HEADING_CHARS_MAX and _OWN_RULES.search(line):
        return False
    if _SEVERITY.search(line) or is_separator(line) or announces_text(line) or heads_chat_message(line):
        return True
    plain = line.rstrip()
    if not plain.endswith((":", "：", "。")):
        return False
    # No sentence ends behind the announcement: where one does, the pattern would be tried from each word before it.
    last = max(plain.rfind(mark) for mark in ".!?")
    return _OPENS_FOREIGN.search(plain, last + 1) is not None or _OPENS_FOREIGN_CJK.search(plain) is not None


def _quotes(line: str) -> list[tuple[int, int]]:
    """Return begin and end of each quotation of a line that contains at least two spaces.

    The time grows with the length of the line, also where marks have no end.
    """
    ranges: list[tuple[int, int]] = []
    if not any(mark in line for mark in _QUOTE_ENDS):
        return ranges
    spaces = [space.start() for space in _SPACE.finditer(line)]
    ends = {
        mark: [at for at, char in enumerate(line) if char in of] for mark, of in _QUOTE_ENDS.items() if mark in line
    }
    for mark in {"'", "\u2018"} & ends.keys():  # else an apostrophe
        ends[mark] = [
            at for at in ends[mark] if not line[at + 1 : at + 2].isalnum() and not line[at - 1 : at].isspace()
        ]
    after = 0
    for begin, mark in enumerate(line):
        if begin < after or mark not in ends or (mark == "'" and not _opens_quote(line, begin)):
            continue
        of, number = ends[mark], bisect_right(ends[mark], begin)
        if number < len(of) and (
            _between(spaces, begin, of[number]) >= _QUOTED_SPACES_MIN
            or (mark in _CJK_QUOTES and of[number] - begin > _CJK_QUOTED_MIN)
        ):
            after = of[number] + 1
            ranges.append((begin, after))
    return ranges


def _opens_quote(line: str, at: int) -> bool:
    """Return True for an apostrophe that opens a quotation: before a word, and after none."""
    return not line[at - 1 : at].isalnum() and line[at + 1 : at + 2].isalnum() if at else line[1:2].isalnum()


def _tagged(text: str) -> list[tuple[int, int]]:
    """Return begin and end of each element of a text that has a begin tag and an end tag of the same name."""
    ends: dict[str, list[int]] = {}
    for end in _TAG_END.finditer(text):
        ends.setdefault(end["tag"], []).append(end.start())
    ranges: list[tuple[int, int]] = []
    after = 0
    for tag in _TAG.finditer(text):
        of = ends.get(tag["tag"], [])
        number = bisect_left(of, tag.end())
        if tag.start() >= after and number < len(of):
            after = of[number] + len(f"</{tag['tag']}>")
            ranges.append((tag.start(), after))
    return ranges


def _between(places: list[int], begin: int, end: int) -> int:
    """Return how many of the sorted `places` lie between `begin` and `end`."""
    return bisect_left(places, end) - bisect_right(places, begin)


def _cut(text: str, parts: Callable[[str], Iterable[tuple[int, int]]], instead: str) -> str:
    """Return a text with `instead` in the place of each part that `parts` finds."""
    kept: list[str] = []
    at = 0
    for begin, end in parts(text):
        kept += (text[at:begin], instead)
        at = end
    return "".join((*kept, text[at:]))
