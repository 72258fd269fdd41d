"""Extraction with a model: a request for each page of a thread, and the candidates of its answer.

A candidate must quote the words that it rests on, and a quote that is not in the page is refused, and with it the
candidate. A wish must quote the person. What rests on the output of a tool or on pasted text alone, which may be a web
page's words, waits for a person; so does advice that could do harm, and what names a host, an address or a path that
neither the person nor the agent wrote.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from reverie.language_model.answers import answer_schema, read_outcome
from reverie.language_model.foreign import foreign_address, listed_names, one_spelling, without_json_escapes
from reverie.language_model.pages import FOREIGN, Quotable, clip, plain, words_of_quote
from reverie.language_model.prompts import EXTRACT, prompt
from reverie.language_model.requests import ModelMessage, ModelRequest, Outcome, new_request
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.language_model.pages import Page, SourceEntry
    from reverie.models import Memory
    from reverie.redact import Redactor

CONTENT_CHARS_MAX: Final = 1_000
FIELD_CHARS_MAX: Final = 1_200
TITLE_CHARS_MAX: Final = 120
TAGS_MAX: Final = 8
MEMORIES_MAX: Final = 60  # of one page; more are padding
OUTPUT_TOKENS: Final = 12_000
KNOWN_CHARS: Final = 500  # shown of a known memory

_TAG: Final = lazy_regex(r"[^\w./-]+")
_DAY: Final = lazy_regex(r"\d{4}-\d{2}-\d{2}")
UNSAFE: Final = lazy_regex(
    r"\b(?:curl|wget|iwr|irm|Invoke-WebRequest)\b[^\n]*\|\s*(?:sudo\s+)?(?:\w*sh|python[\d.]*|perl|ruby|node|iex)\b"
    r"|\b(?:ba|z|da)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)\b|\brm\s+-\w*r\w*f?\w*\s+(?:/|~|\$HOME)(?:\s|$)"
    r"|\bignore (?:all |any )?(?:previous|prior|earlier) (?:instructions|rules)\b"
    r"|\b(?:disable|skip|bypass)\w* (?:the )?(?:redaction|sandbox|permission checks?)\b",
    re.IGNORECASE,
)
"""Advice that would do harm where it is followed: it becomes a memory only if a person gave it."""


class Quote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words of the entry with this number."""

    entry: int
    text: str


class NewMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A proposed memory as a model writes it."""

    type: Literal["skill", "fact", "procedure", "observation", "mistake", "preference"]
    content: str
    quotes: list[Quote]
    tags: list[str] = []
    scope: Literal["person", "project"] = "project"
    status: Literal["none", "open", "fixed"] = "none"


class NewEpisode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A proposed episode as a model writes it."""

    title: str
    task: str
    outcome: str
    quotes: list[Quote]
    lesson: str = ""
    next: str = ""
    date: str = ""
    tags: list[str] = []


class WrongMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An existing memory that the source shows to be wrong now."""

    id: str
    why: str
    quotes: list[Quote]


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole answer to an extraction request."""

    memories: list[NewMemory]
    episodes: list[NewEpisode] = []
    wrong: list[WrongMemory] = []


class Extracted(NamedTuple):
    """Candidates and wrong memories of the answer about one page; `refused` has a line for each refused item.

    `waiting` are candidates that only a person may accept, each with the reason.
    """

    candidates: tuple[Candidate, ...]
    wrong: tuple[WrongMemory, ...]
    refused: tuple[str, ...]
    waiting: tuple[tuple[Candidate, str], ...] = ()


def extract_request(page: Page, known: Sequence[Memory], *, number: int, of: int) -> ModelRequest:
    """Return the request about one page of a thread; `known` are memories that it may repeat, or show to be wrong."""
    parts = []
    if known:
        lines = "\n".join(
            f"- {memory.id} ({memory.type.value}) {clip(memory.content, KNOWN_CHARS)}" for memory in known
        )
        parts.append(f"Memories from before, with their ids:\n\n{lines}")
    part = f", part {number} of {of}" if of > 1 else ""
    parts.append(f"The record{part}:\n\n<record>\n{_closed(page.text)}\n</record>")
    return new_request(
        purpose="extract",
        role="strong",
        system=prompt(EXTRACT),
        messages=[ModelMessage("user", "\n\n".join(parts))],
        schema=answer_schema(Answer),
        max_output_tokens=OUTPUT_TOKENS,
        prompt_version=EXTRACT,
        # Other memories may have changed when an answer comes or a commit is tried again; it is about the page.
        about=page.text,
    )


def extracted(
    outcome: Outcome,
    page: Page,
    known: Sequence[Memory],
    *,
    at: str,
    redactor: Redactor,
    typed: Callable[[str], str],
) -> Extracted:
    """Return candidates and wrong memories of an answer; items with a quote that is not in the page are refused.

    `typed` returns what a person typed of one of their entries, without what they pasted.

    Raises:
        ModelFailed: the request failed, or its answer cannot be read; then nothing of it is used.
    """
    answer = read_outcome(outcome, Answer)
    reader = _Reader(page, at, redactor, typed, outcome.answer.model if outcome.answer else "")
    for memory in answer.memories[:MEMORIES_MAX]:
        reader.take_memory(memory)
    if len(answer.memories) > MEMORIES_MAX:
        reader.refused.append(f"{len(answer.memories) - MEMORIES_MAX} memories more than the {MEMORIES_MAX} of a page")
    for episode in answer.episodes:
        reader.take_episode(episode)
    ids = {memory.id for memory in known}
    wrong = []
    for item in answer.wrong:
        if item.id not in ids:
            reader.refused.append("a memory that was not shown was said to be wrong")
        elif reader.sources(item.quotes, "a memory said to be wrong"):
            wrong.append(item)
    return Extracted(tuple(reader.candidates), tuple(wrong), tuple(reader.refused), tuple(reader.waiting))


class _Reader:
    """Converts one answer's items into candidates, and lists the refused items with reasons."""

    def __init__(self, page: Page, at: str, redactor: Redactor, typed: Callable[[str], str], model: str) -> None:
        self.candidates: list[Candidate] = []
        self.refused: list[str] = []
        self.waiting: list[tuple[Candidate, str]] = []
        self._quotable = Quotable(page.entries)
        self._typed = cache(lambda text: plain(typed(text)))
        self._own = cache(lambda: _own_text(page, self._typed))
        self._at = at
        self._redactor = redactor
        self._model = model
        self._seen: set[str] = set()

    def take_memory(self, memory: NewMemory) -> None:
        """Add the candidate of a memory, or note the reason why it is refused."""
        what = f"a {memory.type}"
        sources = self.sources(memory.quotes, what)
        if not sources or not self._is_usable(memory.content, CONTENT_CHARS_MAX, what):
            return
        content = " ".join(memory.content.split())
        if memory.type == "preference" and not any(entry.speaker in {"person", "paste"} for entry in sources):
            self.refused.append("a preference that quotes no words of the person")
            return
        # What no person said is not for all of their projects.
        is_personal = memory.scope == "person" and any(entry.speaker == "person" for entry in sources)
        status = () if memory.status == "none" else (memory.status,)
        self._add(
            Candidate(
                type=MemoryType(memory.type),
                content=content,
                tags=(*clean_tags(memory.tags), *status),
                subject="user" if is_personal else "project",
                at=time_of(sources, self._at),
                provenance=self._provenance(sources),
            ),
            sources,
        )

    def take_episode(self, episode: NewEpisode) -> None:
        """Add the candidate of an episode, or note the reason why it is refused."""
        title = " ".join(episode.title.split())
        sources = self.sources(episode.quotes, "an episode")
        body = f"{episode.task} {episode.outcome} {episode.lesson} {episode.next}"
        texts = ((title, TITLE_CHARS_MAX), (body, 4 * FIELD_CHARS_MAX))
        if not sources or not all(self._is_usable(text, limit, "an episode") for text, limit in texts):
            return
        at = time_of(sources, self._at)
        fields = [
            # A day to come would stand before all others for ever.
            ("Date", episode.date if _DAY.fullmatch(episode.date) and episode.date <= self._at[:10] else at[:10]),
            ("Task", episode.task),
            ("Outcome", episode.outcome),
            ("Lesson", episode.lesson),
            ("Next", episode.next),
        ]
        kept = tuple((key, " ".join(text.split())[:FIELD_CHARS_MAX]) for key, text in fields if text.strip())
        self._add(
            Candidate(
                type=MemoryType.EPISODE,
                content="\n".join(f"- {key}: {text}" for key, text in kept),
                tags=clean_tags(episode.tags),
                title=title,
                fields=kept,
                at=at,
                provenance=self._provenance(sources),
            ),
            sources,
        )

    def sources(self, quotes: Sequence[Quote], what: str) -> list[SourceEntry]:
        """Return the entries that contain the quotes; none, with the reason noted, if one quote is in no entry.

        A quote under a wrong number is found in its entry all the same.
        """
        entries = []
        for quote in quotes:
            entry = self._quotable.entry_with(quote.text, quote.entry)
            if entry is None:
                self.refused.append(f"{what} with a quote that is not in the source")
                return []
            is_pasted = entry.speaker == "person" and words_of_quote(quote.text) not in self._typed(entry.text)
            entries.append(entry._replace(speaker="paste") if is_pasted else entry)
        if not entries:
            self.refused.append(f"{what} without a quote")
        return entries

    def _is_usable(self, text: str, limit: int, what: str) -> bool:
        """Return True for a text of an allowed length without a hidden secret."""
        if not text.strip() or len(text) > limit:
            self.refused.append(f"{what} of {len(text):,} characters")
            return False
        if self._redactor.suspects([text]) or self._redactor.suspects(text.split("\n")):
            self.refused.append(f"{what} that may hide a secret")
            return False
        return True

    def _add(self, candidate: Candidate, sources: Sequence[SourceEntry]) -> None:
        """Add a candidate that is no repetition; with words that are not safe it waits for a person."""
        key = plain(f"{candidate.title or ''} {candidate.content}")
        if key not in self._seen and self._redactor.text(candidate.content).strip():
            self._seen.add(key)
            text = f"{candidate.title or ''} {candidate.content}"
            if why := why_waiting(text, sources) or self._why_foreign(candidate):
                self.waiting.append((candidate, why))
            else:
                self.candidates.append(candidate)

    def _why_foreign(self, candidate: Candidate) -> str:
        """Return the reason to wait of a memory with a host, address or path that is only in foreign text, else ""."""
        if candidate.type is MemoryType.EPISODE:
            return ""
        foreign = foreign_address(candidate.content, *self._own())
        return f"it names {foreign}, which neither the person nor the agent wrote" if foreign else ""

    def _provenance(self, sources: Sequence[SourceEntry]) -> dict[str, object]:
        """Return where a candidate comes from: the entries that hold its words, the prompt and the model."""
        seqs = sorted({entry.seq for entry in sources if entry.seq > 0})
        return {"seqs": seqs, "prompt": EXTRACT, "model": self._redactor.text(self._model)[:200]}


def why_waiting(text: str, sources: Sequence[SourceEntry]) -> str:
    """Return why a person has to accept a text first, empty where it may be consolidated."""
    if all(entry.speaker in FOREIGN for entry in sources):
        return "its words are in the output of a tool alone"
    if all(entry.speaker in {"paste", *FOREIGN} for entry in sources):
        return "its words are from pasted or quoted text"
    if UNSAFE.search(text) and not any(entry.speaker == "person" and UNSAFE.search(entry.text) for entry in sources):
        return "its advice could do harm where it is followed"
    return ""


def _own_text(page: Page, typed: Callable[[str], str]) -> tuple[str, str]:
    """Return what the person typed or the agent wrote of a page, and the names of the files that a listing printed.

    In the spelling in which addresses are compared, and as it was written.
    """
    texts: dict[str, Callable[[str], str]] = {
        "person": typed,
        "agent": str,
        "call": without_json_escapes,
        "file": str,
    }
    own = [texts[entry.speaker](entry.text) for entry in page.entries if entry.speaker in texts]
    listed = [listed_names(entry.text) for entry in page.entries if entry.is_listing]
    written = "\n".join([*own, *listed])
    return one_spelling(written), written


def time_of(sources: Sequence[SourceEntry], at: str) -> str:
    """Return the time of the newest source but at most `at`, since a time in the future would win for ever."""
    return min(at, max((entry.at for entry in sources if entry.at), default=at))


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags in lower case without characters that a tag cannot have."""
    cleaned = (_TAG.sub("-", tag.strip().lower()).strip("-")[:40] for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))[:TAGS_MAX]


def _closed(text: str) -> str:
    """Return a page's text with each `</record` broken up, so that it cannot end the element around it."""
    return text.replace("</record", "< /record")
