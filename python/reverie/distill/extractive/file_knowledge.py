"""Candidate memories from files that an agent wrote: headings with their first sentence, and definitions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill.extractive.candidate_builder import file_tag
from reverie.distill.extractive.prose import clip, sentences, word_count
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["file_memories"]

# Memories from one file, in its own order.
_MAX_OF_FILE = 12
_HEADING = re.compile(r"^(#{1,3})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_PROSE = (".md", ".markdown", ".txt", ".rst", ".adoc")
# Documented definitions in Python, Go, Rust and JavaScript.
_DOCUMENTED = (
    re.compile(r'^\s*(?:async )?(?:def|class) (?P<name>\w+)[^\n]*:\s*\n\s*[rRuU]?"""(?P<text>[^\n"]+)', re.MULTILINE),
    re.compile(r"^(?P<text>// (?P<name>\w+) [^\n]+)\n(?://[^\n]*\n)*(?:func|type|var|const)\b", re.MULTILINE),
    re.compile(
        r"^\s*///? ?(?P<text>[^\n]+)\n(?:\s*///?[^\n]*\n)*\s*(?:pub )?(?:fn|struct|enum|trait) (?P<name>\w+)",
        re.MULTILINE,
    ),
    re.compile(
        r"/\*\*\s*\n?\s*\*?\s*(?P<text>[^\n*]+)[^/]*?\*/\s*\n\s*(?:export )?(?:async )?"
        r"(?:function|class|const|interface) (?P<name>\w+)"
    ),
)
_ADVICE = re.compile(r"^(?:avoid|never|do not|don'?t|beware)\b|\b(?:pitfall|gotcha|mistake)\b", re.IGNORECASE)
_STEPS = re.compile(r"^\s*1[.)]\s+\S", re.MULTILINE)


def file_memories(files: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    """Yield memories from `files` (path to whole content), ordered by path."""
    for path in sorted(files):
        found = (
            _from_prose(path, files[path], at) if path.lower().endswith(_PROSE) else _from_code(path, files[path], at)
        )
        for _, candidate in zip(range(_MAX_OF_FILE), found, strict=False):
            yield candidate


def _from_prose(path: str, text: str, at: str | None) -> Iterator[Candidate]:
    for trail, body in _sections(text, file_tag(path)):
        if _STEPS.search(body):
            steps = [clip(step, 120) for step in re.findall(r"^\s*\d+[.)]\s+(.+)$", body, re.MULTILINE)]
            yield _made(MemoryType.PROCEDURE, f"{trail}: {' → '.join(steps[:8])} (from {path})", path, at)
            continue
        first = next((sentence for sentence in sentences(body) if word_count(sentence) >= 4), "")
        if len(first) < 30:
            continue
        kind = MemoryType.MISTAKE if _ADVICE.search(first) else MemoryType.FACT
        yield _made(kind, f"{trail}: {clip(first, 300)} (from {path})", path, at)


def _sections(text: str, title: str) -> list[tuple[str, str]]:
    """Yield each heading with its parent headings and the text below it; `title` if there is no heading."""
    trail: list[str] = []
    found: list[tuple[str, list[str]]] = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= _FENCE.match(line) is not None
        head = None if fenced else _HEADING.match(line)
        if head is None:
            if found:
                found[-1][1].append(line)
            continue
        level = len(head[1])
        trail = [*trail[: level - 1], head[2]]
        found.append((" — ".join(dict.fromkeys(trail)), []))
    if not found:
        return [(title, text)] if text.strip() else []
    return [(name, "\n".join(body)) for name, body in found]


def _from_code(path: str, text: str, at: str | None) -> Iterator[Candidate]:
    for pattern in _DOCUMENTED:
        for match in pattern.finditer(text):
            said = match["text"].strip().removeprefix("// ").strip()
            if word_count(said) >= 4:
                yield _made(MemoryType.FACT, f"`{match['name']}` in {path}: {clip(said, 240)}", path, at)


def _made(kind: MemoryType, content: str, path: str, at: str | None) -> Candidate:
    tag = file_tag(path)
    return Candidate(type=kind, content=content, tags=(tag,) if tag else (), at=at, provenance={"path": path})
