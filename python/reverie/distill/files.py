"""Candidate memories from what an agent wrote in a run: sections of documents, and entries of working memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.distill.build import dated, file_tag, tags_of
from reverie.distill.sentences import clip, one_line, sentences, words_of
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_OF_FILE: Final = 12  # memories, in the file's own order
_WORDS_MIN: Final = 3  # of a statement: "Lesson: never use npm", and not "Lesson: flaky"
_SENTENCE_CHARS_MIN: Final = 30  # of the sentence that stands for a section
_PROSE: Final = (".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".org")
_PROSE_NAMES: Final = frozenset({"readme", "notes", "guide"})  # of files without a suffix
_HEADING: Final = lazy_regex(r"^(#{1,3})\s+(.+?)\s*#*$")
_FENCE: Final = lazy_regex(r"^\s*(?:```|~~~)")
_LABELS: Final = (
    r"(?P<mistake>mistakes?|pitfalls?|gotchas?)"
    r"|lessons?(?: learn(?:ed|t))?|decisions?|findings?|facts?|rules?|conventions?|root causes?"
)
_LABELLED: Final = lazy_regex(rf"^(?:{_LABELS}) ?(?:#?\d+ ?)?:[*_]*\s*(?P<text>\S.*)$", re.IGNORECASE)
_LABEL_HEADING: Final = lazy_regex(rf"(?:{_LABELS}):?", re.IGNORECASE)
_MARKS: Final = lazy_regex(r"^\s*(?:[-*+\u2022]\s+|\d{1,3}[.)]\s+|>\s+)*[*_]{0,2}(?=\w)")
_BULLET: Final = lazy_regex(r"^(?:[-*+\u2022]|\d{1,3}[.)])\s")
_STEP: Final = lazy_regex(r"^[^\S\n]*\d+[.)]\s+(?P<text>\S.*)$", re.MULTILINE)
# What is to be done, and what was, is no knowledge: headings of plans and reports, ticked or open tasks.
_OF_WORK: Final = lazy_regex(
    r"\b(?:to-?do|next steps?|plans?|tasks?|backlog|pending|done|progress|status|roadmap|changelog|history|open"
    r" (?:questions?|points?|items?))\b",
    re.IGNORECASE,
)
_ADVICE: Final = lazy_regex(r"^(?:avoid|never|do not|don'?t|beware)\b", re.IGNORECASE)
_TASK: Final = lazy_regex(r"^\W*(?:TO-?DO|FIX-?ME|WIP)\b|^\s*(?:[-*+]\s+)?(?:\[[ xX~-]\]|[✅✔☑✓❌])")


def file_candidates(files: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    """Yield memories from `files` (path to whole content), ordered by path; only documents for people give any."""
    for path in sorted(files):
        if path.lower().endswith(_PROSE) or path.lower().rpartition("/")[2] in _PROSE_NAMES:
            found = (pair for section in _sections(files[path]) for pair in _statements(*section))
            for _, (kind, text) in zip(range(_MAX_OF_FILE), found, strict=False):
                tag = file_tag(path)
                yield Candidate(kind, f"{text} (from {path})", (tag,) if tag else (), at=at, provenance={"path": path})


def working_memory_candidates(entries: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    """Yield a fact for each entry of working memory that says something and is no task, ordered by key."""
    for key in sorted(entries):
        value = clip(one_line(entries[key]), 400)
        # A flag or a counter is of no use later.
        if words_of(value) >= _WORDS_MIN and not _OF_WORK.search(re.sub(r"[_-]", " ", key)) and not _TASK.match(value):
            content = value if _LABELLED.match(value) and _LABEL_HEADING.fullmatch(key) else f"{key}: {value}"
            yield Candidate(
                MemoryType.FACT,
                dated(content, at),
                tags_of(value, key.lower()),
                at=at,
                provenance={"workingMemory": key},
            )


def _statements(trail: list[str], body: list[str]) -> Iterator[tuple[MemoryType, str]]:
    """Yield a section's labelled lines, then its steps as one procedure, or its first sentence, behind its headings.

    Below a heading that is a label itself ("Lessons learned") every bullet is such a line.
    """
    name = " — ".join(dict.fromkeys(trail))
    subject = f"{name}: " if name else ""
    over = _LABEL_HEADING.fullmatch(trail[-1]) if trail else None
    rest: list[str] = []
    for line in body:
        said = _MARKS.sub("", line)
        match = _LABELLED.match(said) or (over if _BULLET.match(line) else None)
        if match is None or _TASK.match(line):
            rest += [] if _TASK.match(line) else [line]
        elif words_of(match.groupdict().get("text") or said) >= _WORDS_MIN and not said.rstrip("*_ ").endswith("?"):
            kind = MemoryType.MISTAKE if match["mistake"] else MemoryType.FACT
            yield kind, subject + clip(one_line(said).replace("**", ""), 300)
    if any(_OF_WORK.search(heading) for heading in trail):
        return
    steps = [clip(match["text"], 120) for match in _STEP.finditer("\n".join(rest))]
    first = next((sentence for sentence in sentences("\n".join(rest)) if words_of(sentence) > _WORDS_MIN), "")
    if steps:
        yield MemoryType.PROCEDURE, f"{subject}{' → '.join(steps[:8])}"
    elif len(first) >= _SENTENCE_CHARS_MIN:
        yield MemoryType.MISTAKE if _ADVICE.match(first) else MemoryType.FACT, subject + clip(first, 300)


def _sections(text: str) -> list[tuple[list[str], list[str]]]:
    """Return the lines below each heading, with that heading and those above it; lines in fences are left out."""
    trail: list[str] = []
    sections: list[tuple[list[str], list[str]]] = [([], [])]
    fenced = False
    for line in text.split("\n"):
        is_fence = _FENCE.match(line) is not None
        fenced ^= is_fence
        head = None if fenced else _HEADING.match(line)
        if head is not None:
            trail = [*trail[: len(head[1]) - 1], head[2].strip(" :")]
            sections.append((trail, []))
        elif not fenced and not is_fence:
            sections[-1][1].append(line)
    return sections
