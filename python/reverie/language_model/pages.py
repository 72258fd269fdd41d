"""The source of an extraction: the entries of a thread as numbered text, cut into pages that a request has room for.

The speech of person and agent is what knowledge is read from, so it is clipped last; what tools printed is clipped
first. What is clipped says so in its place. A page is shown as data, each entry below a line such as `[12] person`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from reverie import tokenizer
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

Speaker: TypeAlias = Literal["person", "agent", "other", "call", "result", "file", "paste"]
"""Who says an entry: "other" is another agent or a task in the background, "paste" stands inside a person's words."""

FOREIGN: Final[frozenset[Speaker]] = frozenset({"result", "other"})
"""What neither the person nor the agent said."""

PAGE_TOKENS: Final = 60_000  # of source; with the prompt, known memories and candidates a request stays below 100,000
PAGES_MAX: Final = 8  # of one run; the entries behind them are read by the next one
_PAGES_WANTED: Final = 3  # of a thread; one that needs more is clipped harder

# Characters that are shown of one entry, from generous to strict.
_LEVELS: Final[tuple[dict[Speaker, int], ...]] = (
    {"person": 20_000, "agent": 8_000, "other": 8_000, "call": 500, "result": 1_200, "file": 100_000},
    {"person": 12_000, "agent": 4_000, "other": 4_000, "call": 250, "result": 400, "file": 100_000},
    {"person": 8_000, "agent": 1_500, "other": 1_500, "call": 150, "result": 150, "file": 100_000},
)
_HEAD_SHARE: Final = 0.65  # of a clipped entry; the rest is its end, where errors and conclusions are

# A quote has to be long enough to be no accident. "read t" is in "Please read the guide", and says nothing of it.
QUOTE_WORDS_MIN: Final = 3  # "I use vim"
QUOTE_CHARS_MIN: Final = 12  # or as many without white space: "table-driven tests", a path
QUOTE_CJK_MIN: Final = 6  # or as many characters of a script without spaces: 常に日本語で
QUOTE_CLAUSE_MIN: Final = 4  # or a whole clause of the entry, from as many characters on: "Use tabs.", 用中文回答

_LABEL: Final[dict[Speaker, str]] = {
    "person": "person",
    "agent": "agent",
    "other": "another agent, or a task in the background",
    "call": "agent calls a tool",
    "result": "result of a tool",
    "file": "file that the agent wrote",
}
_SAME_CHARACTERS: Final = str.maketrans("“”„‟«»‘’‚‛‐‑‒–—―…", '""""""\'\'\'\'------.')  # noqa: RUF001 - those are the point
_CJK: Final = lazy_regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f\uf900-\ufaff]")
_CLAUSE_END: Final = lazy_regex(r"[.!?;:,\n。！？；：，、،؛؟]+")  # noqa: RUF001 - those are the point
_DOTS: Final = lazy_regex(r"\.{2,}")
_SPACE: Final = lazy_regex(r"\s+")
# The input of a call is shown as JSON, and models quote it either way: `grep \"DEV\" log` and `grep "DEV" log`.
_JSON_ESCAPE: Final = lazy_regex(r"\\(?:[nrt]|([\"/\\]))")


class SourceEntry(NamedTuple):
    """One entry of a thread, or one file, redacted; `seq` is its number in the thread, from 1.

    `is_listing`: the result of a tool or command that prints paths of files, and nothing of what is in them.
    """

    seq: int
    speaker: Speaker
    text: str
    at: str | None = None
    is_listing: bool = False


class Page(NamedTuple):
    """A page of a thread for a model: `text` is shown, `entries` are those in it, with the text that is shown."""

    text: str
    entries: tuple[SourceEntry, ...]

    @property
    def last_seq(self) -> int:
        """The number of the last entry on this page."""
        return max(entry.seq for entry in self.entries)


class Quotable:
    """The entries of a thread in the form in which a model's quotes are looked up in them."""

    def __init__(self, entries: Sequence[SourceEntry]) -> None:
        """Prepare the comparable text of each entry once."""
        self._texts = [
            (entry, plain(_unescaped(entry.text) if entry.speaker == "call" else entry.text)) for entry in entries
        ]

    def entry_with(self, quote: str, seq: int = 0) -> SourceEntry | None:
        """Return the entry that contains a quote, or None: entry `seq` before others, a person's before an agent's.

        The quote must begin and end at words of the entry, and be long enough, or one of its clauses.
        """
        words = words_of_quote(quote)
        in_call = words_of_quote(_unescaped(quote))
        if len(words.replace(" ", "")) < QUOTE_CLAUSE_MIN:
            return None
        if _is_long(words):
            matches = [
                entry for entry, text in self._texts if _has_words(text, in_call if entry.speaker == "call" else words)
            ]
        else:
            clause = _CLAUSE_END.sub("", words)
            matches = [entry for entry, text in self._texts if words in text and clause in _clauses(entry.text)]
        order = ("person", "agent", "file", "call", "other", "result")
        return min(matches, default=None, key=lambda entry: (entry.seq != seq, order.index(entry.speaker), entry.seq))


def _unescaped(text: str) -> str:
    """Return a text with the characters that escapes of JSON stand for, white space as a blank."""
    return _JSON_ESCAPE.sub(lambda found: found[1] or " ", text)


def _is_long(words: str) -> bool:
    """Return True for a quote that is long enough wherever it is in an entry."""
    return (
        sum(any(map(str.isalnum, word)) for word in words.split()) >= QUOTE_WORDS_MIN
        or len(words.replace(" ", "")) >= QUOTE_CHARS_MIN
        or len(_CJK.findall(words)) >= QUOTE_CJK_MIN
    )


def _has_words(text: str, words: str) -> bool:
    """Return True if the words are somewhere in a text, from the beginning of a word to the end of one."""
    at = text.find(words)
    while at >= 0:
        if not _is_in_word(text, at) and not _is_in_word(text, at + len(words)):
            return True
        at = text.find(words, at + 1)
    return False


def _clauses(text: str) -> set[str]:
    """Return the clauses of a text as quotes are compared: what is between two marks of punctuation or lines."""
    return {words_of_quote(clause) for clause in _CLAUSE_END.split(text)}


def _is_in_word(text: str, at: int) -> bool:
    """Return True if a position is inside of a word; False between characters of a script without spaces."""
    if not 0 < at < len(text):
        return False
    one, other = text[at - 1], text[at]
    return one.isalnum() and other.isalnum() and not _CJK.match(one) and not _CJK.match(other)


def words_of_quote(quote: str) -> str:
    """Return the words of a quote as they are looked up in an entry."""
    return plain(quote).strip("\"' ")


def pages_of(entries: Sequence[SourceEntry], *, page_tokens: int = PAGE_TOKENS) -> list[Page]:
    """Return the pages of a source, oldest first: as much of each entry as lets the whole fit into a few pages.

    An entry is never on two pages. An entry longer than a page (a file) is cut into several of the same number.
    """
    pages: list[Page] = []
    for level in _LEVELS:
        pages = _split([entry._replace(text=clip(entry.text, level[entry.speaker])) for entry in entries], page_tokens)
        if len(pages) <= _PAGES_WANTED:
            break
    return pages


def newest_page(entries: Sequence[SourceEntry], page_tokens: int) -> tuple[Page, bool]:
    """Return one page, and True if it shows all entries: clipped as needed, else only the newest that fit."""
    pages: list[Page] = []
    for level in _LEVELS:
        pages = _split([entry._replace(text=clip(entry.text, level[entry.speaker])) for entry in entries], page_tokens)
        if len(pages) <= 1:
            return pages[0] if pages else Page("", ()), True
    shown = [entry for page in pages for entry in page.entries]
    texts = [_shown(entry) for entry in shown]
    used = 0
    begin = len(shown)
    for size in reversed(tokenizer.count_many(texts)):
        used += size
        if used > page_tokens:
            break
        begin -= 1
    begin = min(begin, len(shown) - 1)
    return Page("\n".join(texts[begin:]), tuple(shown[begin:])), False


def _split(entries: Sequence[SourceEntry], page_tokens: int) -> list[Page]:
    """Return pages of whole entries, each within `page_tokens`; an entry longer than that is cut."""
    shown = [piece for entry in entries if entry.text.strip() for piece in _pieces(entry, page_tokens)]
    texts = [_shown(entry) for entry in shown]
    pages: list[Page] = []
    begin = used = 0
    for position, size in enumerate(tokenizer.count_many(texts)):
        if position > begin and used + size > page_tokens:
            pages.append(Page("\n".join(texts[begin:position]), tuple(shown[begin:position])))
            begin, used = position, 0
        used += size
    if shown:
        pages.append(Page("\n".join(texts[begin:]), tuple(shown[begin:])))
    return pages


def _pieces(entry: SourceEntry, page_tokens: int) -> list[SourceEntry]:
    """Return the entry in parts that each fit a page together with a label; one part if it is short enough."""
    room = max(1, page_tokens - 50)
    pieces = []
    text = entry.text
    while text:
        part = text if tokenizer.fits(text, room) else tokenizer.truncate(text, room) or text[:1]
        pieces.append(entry._replace(text=part))
        text = text[len(part) :]
    return pieces


def _shown(entry: SourceEntry) -> str:
    """Return an entry with its label; a line of its text that looks like a label is indented by a space."""
    text = re.sub(r"(?m)^\[(?=\d+\] )", " [", entry.text)
    day = f", {entry.at[:16].replace('T', ' ')}" if entry.at else ""
    return f"[{entry.seq}] {_LABEL[entry.speaker]}{day}\n{text.rstrip()}\n"


def clip(text: str, limit: int) -> str:
    """Return `text` with at most about `limit` characters: its beginning and its end, and how much is left out."""
    if len(text) <= limit:
        return text
    head = int(limit * _HEAD_SHARE)
    return f"{text[:head]}\n[… {len(text) - limit:,} characters …]\n{text[head - limit :]}"


def plain(text: str) -> str:
    """Return `text` as quotes are compared: one space for any white space, one form of quotation marks and dashes."""
    same = _DOTS.sub(".", unicodedata.normalize("NFC", text).translate(_SAME_CHARACTERS))
    return _SPACE.sub(" ", same).strip().casefold()
