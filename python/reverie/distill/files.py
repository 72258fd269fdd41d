"""Candidate memories from files that an agent wrote: sections of documents, documented definitions of code."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final

from reverie.distill.extractive.build_candidates_with_dates_and_tags import file_tag
from reverie.distill.extractive.labelled_lines_of_files import is_of_work, labelled_lines, without_tasks
from reverie.distill.sentences import clip, one_line, sentences, word_count
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["file_candidates", "is_prose"]

# Memories from one file, in its own order.
_MAX_OF_FILE = 12
_HEADING = lazy_regex(r"^(#{1,3})\s+(.+?)\s*#*$")
_FENCE = lazy_regex(r"^\s*(?:```|~~~)")
_PROSE = (".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".org", ".html", ".htm")
_PAGES = (".html", ".htm")
_HEADINGS: Final = {"h1": "# ", "h2": "## ", "h3": "### "}
_LINES: Final = frozenset({"p", "li", "div", "section", "article", "td", "th", "tr", "br", "dt", "dd", "blockquote"})
# Elements of a page that are no text of the author.
_NO_TEXT: Final = frozenset({"script", "style", "nav", "footer", "template", "svg", "pre", "button", "form", "title"})
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "source", "wbr", "col", "area", "base", "embed"})
_PROSE_NAMES = frozenset({"readme", "notes", "guide"})  # of files without a suffix
# Documented definitions in Python, Go, Rust and JavaScript. Blanks before them are of their own line: `^\s*` would read
# from every blank line to the next word, which takes a second of processor time for 20,000 blank lines.
_DOCUMENTED = (
    lazy_regex(
        r'^[^\S\n]*(?:async )?(?:def|class) (?P<name>\w+)[^\n]*:\s*\n\s*[rRuU]?"""(?P<text>[^\n"]+)', re.MULTILINE
    ),
    lazy_regex(r"^(?P<text>// (?P<name>\w+) [^\n]+)\n(?://[^\n]*\n)*(?:func|type|var|const)\b", re.MULTILINE),
    lazy_regex(
        r"^[^\S\n]*///? ?(?P<text>[^\n]+)\n(?:\s*///?[^\n]*\n)*\s*(?:pub )?(?:fn|struct|enum|trait) (?P<name>\w+)",
        re.MULTILINE,
    ),
    lazy_regex(
        r"/\*\*\s*\n?\s*\*?\s*(?P<text>[^\n*]+)[^/]*?\*/\s*\n\s*(?:export )?(?:async )?"
        r"(?:function|class|const|interface) (?P<name>\w+)"
    ),
)
_ADVICE = lazy_regex(r"^(?:avoid|never|do not|don'?t|beware)\b|\b(?:pitfall|gotcha|mistake)\b", re.IGNORECASE)
_STEPS = lazy_regex(r"^[^\S\n]*1[.)]\s+\S", re.MULTILINE)


def file_candidates(files: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    """Yield memories from `files` (path to whole content), ordered by path."""
    for path in sorted(files):
        candidates = _from_prose(path, files[path], at) if is_prose(path) else _from_code(path, files[path], at)
        for _, candidate in zip(range(_MAX_OF_FILE), candidates, strict=False):
            yield candidate


def is_prose(path: str) -> bool:
    """Return True for a file of text for people, by its name."""
    return path.lower().endswith(_PROSE) or path.lower().rpartition("/")[2] in _PROSE_NAMES


def _from_prose(path: str, text: str, at: str | None) -> Iterator[Candidate]:
    """Yield the labelled lines of each section, its steps as a procedure, or its first sentence.

    What is to be done, and what was, is no knowledge.
    """
    plain = _text_of_page(text) if path.lower().endswith(_PAGES) else text
    for trail, body in _sections(plain, file_tag(path)):
        name = " — ".join(dict.fromkeys(trail))
        labelled = list(labelled_lines(trail, body))
        for line in labelled:
            yield _made(line.type, f"{line.text} (from {path})", path, at)
        if is_of_work(trail, body):
            continue
        if _STEPS.search(body):
            steps = [clip(step, 120) for step in re.findall(r"^[^\S\n]*\d+[.)]\s+(.+)$", body, re.MULTILINE)]
            if not labelled:
                yield _made(MemoryType.PROCEDURE, f"{name}: {' → '.join(steps[:8])} (from {path})", path, at)
            continue
        first = next((sentence for sentence in sentences(without_tasks(body)) if word_count(sentence) >= 4), "")
        if len(first) < 30 or any(first in line.text for line in labelled):
            continue
        kind = MemoryType.MISTAKE if _ADVICE.search(first) else MemoryType.FACT
        yield _made(kind, f"{name}: {clip(first, 300)} (from {path})", path, at)


def _sections(text: str, title: str) -> list[tuple[list[str], str]]:
    """Return each heading, after its parent headings, with the text below it; `title` if there is no heading."""
    trail: list[str] = []
    sections: list[tuple[list[str], list[str]]] = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= _FENCE.match(line) is not None
        head = None if fenced else _HEADING.match(line)
        if head is None:
            if sections:
                sections[-1][1].append(line)
            continue
        level = len(head[1])
        trail = [*trail[: level - 1], head[2]]
        sections.append((trail, []))
    if not sections:
        return [([title], text)] if text.strip() else []
    return [(name, "\n".join(body)) for name, body in sections]


def _from_code(path: str, text: str, at: str | None) -> Iterator[Candidate]:
    for pattern in _DOCUMENTED:
        for match in pattern.finditer(text):
            said = match["text"].strip().removeprefix("// ").strip()
            if word_count(said) >= 4:
                yield _made(MemoryType.FACT, f"`{match['name']}` in {path}: {clip(said, 240)}", path, at)


def _made(kind: MemoryType, content: str, path: str, at: str | None) -> Candidate:
    tag = file_tag(path)
    return Candidate(type=kind, content=content, tags=(tag,) if tag else (), at=at, provenance={"path": path})


class _PageText(HTMLParser):
    """Collector of a page's headings and lines, as Markdown; numbered items keep their numbers."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = [""]
        self._skipped: list[str] = []  # open elements without text, with what is inside them
        self._lists: list[int] = []  # of each open list the number of its last item; negative where it has no numbers

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - as called
        """Begin a line, or skip an element without text."""
        if tag in _NO_TEXT or self._skipped:
            self._skipped += [] if tag in _VOID else [tag]
        elif tag in {"ol", "ul"}:
            self._lists.append(0 if tag == "ol" else -1)
        elif tag == "li" and self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            self.lines.append(f"{self._lists[-1]}. ")
        elif tag in _HEADINGS or tag in _LINES:
            self.lines.append(_HEADINGS.get(tag, ""))
        elif tag == "code":
            self.lines[-1] += "`"

    def handle_endtag(self, tag: str) -> None:
        """End a line, or an element that is skipped."""
        if self._skipped:
            if tag in self._skipped:
                del self._skipped[len(self._skipped) - 1 - self._skipped[::-1].index(tag) :]
        elif tag in {"ol", "ul"} and self._lists:
            self._lists.pop()
        elif tag in _HEADINGS or tag in _LINES:
            self.lines.append("")
        elif tag == "code":
            self.lines[-1] += "`"

    def handle_data(self, data: str) -> None:
        """Add text to the line."""
        if not self._skipped:
            before = " " if data[:1].isspace() else ""
            after = " " if data[-1:].isspace() else ""
            self.lines[-1] += f"{before}{one_line(data)}{after}"


def _text_of_page(page: str) -> str:
    """Return headings, paragraphs and numbered steps of an HTML page as Markdown."""
    reader = _PageText()
    reader.feed(page)
    reader.close()
    return "\n".join(line for line in map(str.rstrip, map(one_line, reader.lines)) if line.strip("#. 0123456789"))
