"""Lists of documents: `MEMORY.md`, the index text of an agent, and the JSON projections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import unquote

import orjson

from reverie.documents.escape import ending_of
from reverie.documents.layout import folder_of, front_matter_of
from reverie.documents.parts import numbered
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind, parse
from reverie.words import strip_markers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from reverie.models import MemoryType


LINES_MAX: Final = 200  # of the whole file: what Claude Code loads
BYTES_MAX: Final = 25_000
_FIRST_FACTS: Final = ("user", "preferences", "project", "mistakes", "procedures", "skills", "observations")
_PASSES_MAX: Final = 4  # a bound of the passes until nothing changes any more
_PLAIN_LINK: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")
_LINK: Final = lazy_regex(
    r"(?P<mark> {0,3}[-*+][ \t]+)\[(?:\\.|[^\]\\])*\]\((?:<(?P<angled>[^>]*)>|(?P<plain>[^)\s]*))\)"
)
_MORE: Final = lazy_regex(r"(?P<mark> {0,3}[-*+][ \t]+)… and \d+ more: memory_list names them all[ \t]*")
_LINE: Final = lazy_regex(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BOM: Final = "\ufeff"
_HEAD: Final = "# Memory"
_REST: Final = ""  # the path of the line that counts what is left out


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A document's entry in an index: its path, its size in bytes, its summary line, and when it changed last."""

    path: str
    size: int
    summary: str
    updated_at: str = ""


def update_memory_list(text: str, entries: Sequence[DocumentEntry], owned_before: Collection[str] = ()) -> str:
    """Return `MEMORY.md` with one line for each of `entries`, and all its other lines byte for byte as they are.

    Ours are list items of one line that link to a path of `entries` or of `owned_before` (what was listed earlier):
    they are updated in their place, removed, or added behind the one that comes before them in the order, and those
    that stand together are put in order (`newest_first`); none moves across a line of somebody else. An item with
    further lines is a person's, and lists its document as well as ours would; so is one with a redaction marker, which
    ours never have: its secret is in the file alone, where sync keeps it, so the line would come back for ever.
    The whole has at most 200 lines and 25,000 bytes, which is what Claude Code loads: the last of ours are left out and
    counted. What people wrote is never cut. A text that is up to date stays as it is.
    """
    owned = {entry.path for entry in entries} | set(owned_before)
    for _ in range(_PASSES_MAX):
        before, text = text, _updated_once(text, entries, owned)
        if text == before:
            break
    return text


def without_list(text: str, owned: Collection[str]) -> str:
    """Return `MEMORY.md` without the lines that Reverie keeps up to date, which link to a path of `owned`.

    "" where the heading of a new list is all that is left.
    """
    rest = update_memory_list(text, (), owned)
    return "" if rest.strip() == _HEAD else rest


def _updated_once(text: str, entries: Sequence[DocumentEntry], owned: Collection[str]) -> str:
    """Return the text after one pass; a removed line may change how others parse, as when `---` becomes first."""
    listed_by_people = {row.path for row in _rows(text.removeprefix(_BOM), owned) if not row.ours}
    wanted = [(entry.path, _link(entry)) for entry in newest_first(entries) if entry.path not in listed_by_people]

    def with_first(count: int) -> str:
        """Return MEMORY.md with the first `count` of Reverie's lines, and a line that counts the others."""
        rest = [(_REST, f"… and {len(wanted) - count} more: memory_list names them all")] if count < len(wanted) else []
        return _composed(text, owned, [*wanted[:count], *rest])

    if len(wanted) <= LINES_MAX and _fits(everything := with_first(len(wanted))):
        return everything
    most = _most(-1, min(len(wanted), LINES_MAX) - 1, lambda count: _fits(with_first(count)))
    return with_first(most) if most >= 0 else _composed(text, owned, [])


def _most(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number that fits, by bisection; `low` where none above it does."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def ordered(documents: Sequence[DocumentEntry]) -> list[DocumentEntry]:
    """Return documents in list order: known facts in a fixed order, other facts, episodes newest first, the rest."""
    episodes = [entry for entry in documents if entry.path.startswith("episodes/")]
    others = [entry for entry in documents if not entry.path.startswith("episodes/")]
    others.sort(key=_rank)
    episodes.sort(key=lambda entry: numbered(entry.path), reverse=True)
    facts = [entry for entry in others if entry.path.startswith("facts/")]
    return [*facts, *episodes, *(entry for entry in others if not entry.path.startswith("facts/"))]


def newest_first(documents: Sequence[DocumentEntry]) -> list[DocumentEntry]:
    """Return documents as an index lists them: the project's that changed last, the person's, other projects'.

    Of each of these the one that changed last is first, the parts of a long one together; of those that changed at once
    the order is that of `ordered`. In a list for one project, with its documents and the person's, its own are first.
    """
    changed: dict[str, str] = {}
    for entry in documents:
        whole, _ = numbered(entry.path)
        changed[whole] = max(changed.get(whole, ""), entry.updated_at)
    ranked = sorted(ordered(documents), key=lambda entry: changed[numbered(entry.path)[0]], reverse=True)
    groups: dict[str | None, list[DocumentEntry]] = {}
    for entry in ranked:
        groups.setdefault(folder_of(entry.path), []).append(entry)
    own = groups.pop(None, [])
    first, *others = groups.values() if groups else [[]]
    return [*first, *own, *(entry for group in others for entry in group)]


def flat(summary: str) -> str:
    """Return a summary on one line."""
    return " ".join(summary.split())


@dataclass(slots=True)
class _Row:
    """A line with its ending: the path that it lists, if any, whether it is ours, and whether it is of a list item."""

    line: str
    path: str | None = None
    ours: bool = False
    item: bool = False


def _rows(text: str, owned: Collection[str]) -> list[_Row]:
    """Return the lines of a text, classified; `owned` are the paths whose list items are ours."""
    rows = [_Row(line) for line in _LINE.findall(text)]
    data = text.encode("utf-8", "replace")
    at = 0
    starts: dict[int, int] = {}
    for index, row in enumerate(rows):
        starts[at] = index
        at += len(row.line.encode("utf-8", "replace"))
    for block in parse(data, sections=False):
        if block.kind is BlockKind.BULLET:
            first = starts[block.start]
            size = len(_LINE.findall(data[block.start : block.end].decode()))
            for row in rows[first : first + size]:
                row.item = True
            path = _path(rows[first].line)
            if path is not None and (path == _REST or path in owned):
                line = rows[first].line
                rows[first].path, rows[first].ours = path, size == 1 and strip_markers(line) == line
    return rows


def _composed(text: str, owned: Collection[str], wanted: Sequence[tuple[str, str]]) -> str:
    """Return the text with exactly these lines of ours: the path of each, and the text after its list mark."""
    body = text.removeprefix(_BOM)
    ending = ending_of(body)
    bodies = dict(wanted)
    rows: list[_Row] = []
    for row in _rows(body, owned):
        if not row.ours:
            rows.append(row)
        elif row.path in bodies and row.path not in _listed_paths(rows):
            rows.append(replace(row, line=_updated_line(row.line, bodies[row.path], ending)))
    lacks_ending = bool(body) and not body.endswith(("\n", "\r"))
    # A code fence or comment that is open to the end would take our lines in: then they go before everything.
    candidates = [
        _joined(_in_order(_with_missing(list(rows), wanted, add, ending), wanted), ending, lacks_ending=lacks_ending)
        for add in (_add_at_end, _add_at_top, _add_at_top_separated)
    ]
    after = next(
        (candidate for candidate in candidates if _listed_paths(_rows(candidate, owned)) == bodies.keys()),
        candidates[0],
    )
    return text[: len(text) - len(body)] + after


def _with_missing(
    rows: list[_Row], wanted: Sequence[tuple[str, str]], place: Callable[[list[_Row], _Row, str], None], ending: str
) -> list[_Row]:
    """Return the rows with the missing ones added: after the previous one in the order, else before the next one."""
    for number, (path, body) in enumerate(wanted):
        if path in _listed_paths(rows):
            continue
        new = _Row(f"- {body}{ending}", path, ours=True, item=True)
        at = {row.path: index for index, row in enumerate(rows) if row.ours}
        following = next((at[other] for other, _ in wanted[number:] if other in at), None)
        if number > 0:
            rows.insert(at[wanted[number - 1][0]] + 1, new)
        elif following is not None:
            rows.insert(following, new)
        else:
            place(rows, new, ending)
    return rows


def _in_order(rows: list[_Row], wanted: Sequence[tuple[str, str]]) -> list[_Row]:
    """Return the rows with each run of our lines in the wanted order; only lines with the same mark change places."""
    place: dict[str | None, int] = {path: number for number, (path, _) in enumerate(wanted)}
    ordered_rows: list[_Row] = []
    for mark, run in groupby(rows, key=lambda row: _mark(row.line) if row.ours else None):
        same = list(run)
        ordered_rows += same if mark is None else sorted(same, key=lambda row: place[row.path])
    return ordered_rows


def _mark(line: str) -> str:
    match = _LINK.match(line) or _MORE.match(line)
    assert match is not None
    return match["mark"]


def _add_at_end(rows: list[_Row], new: _Row, ending: str) -> None:
    """Add our first line after everything, below a heading if the file is empty."""
    if not rows:
        rows += [_Row(_HEAD + ending), _Row(ending)]
    at = next((index + 1 for index in reversed(range(len(rows))) if rows[index].line.strip()), 0)
    separator = [_Row(ending)] if at > 0 and not rows[at - 1].item else []
    if separator and at < len(rows):  # the empty line that is there separates them
        at, separator = at + 1, []
    rows[at:at] = [*separator, new]


def _add_at_top(rows: list[_Row], new: _Row, ending: str) -> None:
    """Add our first line before everything but front matter."""
    front_matter = front_matter_of("".join(row.line for row in rows))
    at = 0
    size = 0
    while front_matter is not None and size < front_matter.end:
        size += len(rows[at].line.encode("utf-8", "replace"))
        at += 1
    rows[at:at] = [new, _Row(ending)]


def _add_at_top_separated(rows: list[_Row], new: _Row, ending: str) -> None:
    """Add our first line at the top with a comment after it, if what follows would parse as more of our line."""
    _add_at_top(rows, new, ending)
    at = rows.index(new) + 2
    rows[at:at] = [_Row(f"<!-- -->{ending}"), _Row(ending)]


def _listed_paths(rows: Sequence[_Row]) -> set[str]:
    return {row.path for row in rows if row.ours and row.path is not None}


def _joined(rows: Sequence[_Row], ending: str, *, lacks_ending: bool) -> str:
    """Return the lines as a text: each has an ending, except the last one if the text lacked it."""
    lines = [row.line if row.line.endswith(("\n", "\r")) else row.line + ending for row in rows]
    if lacks_ending and rows and (rows[-1].ours or lines[-1] != rows[-1].line):
        lines[-1] = lines[-1].rstrip("\r\n")
    return "".join(lines)


def _updated_line(line: str, body: str, ending: str) -> str:
    """Return one of our lines with a new text; its list mark and its ending stay."""
    own = line[len(line.rstrip("\r\n")) :]
    return f"{_mark(line)}{body}{own or ending}"


def _link(entry: DocumentEntry) -> str:
    """Return the text of a document's line: a markdown link, and its summary."""
    label = "".join(f"\\{char}" if char in "[]\\" else char for char in entry.path)
    target = entry.path if _PLAIN_LINK.issuperset(entry.path) else f"<{entry.path}>"
    return f"[{label}]({target}) — {flat(strip_markers(entry.summary))}".rstrip(" —")


def _path(line: str) -> str | None:
    """Return the path that a list item links to, `_REST` for the line that counts the rest, or None."""
    if _MORE.fullmatch(line.rstrip("\r\n")) is not None:
        return _REST
    link = _LINK.match(line)
    if link is None:
        return None
    target = link["plain"] if link["angled"] is None else link["angled"]
    return unquote(target).removeprefix("./")


def _fits(text: str) -> bool:
    return len(_LINE.findall(text)) <= LINES_MAX and len(text.encode("utf-8", "replace")) <= BYTES_MAX


def _rank(entry: DocumentEntry) -> tuple[int, str, int]:
    """Return the sort key of a document that is no episode; parts follow each other by their numbers."""
    first, number = numbered(entry.path)
    stem = first.removeprefix("facts/").removesuffix(".md")
    return (_FIRST_FACTS.index(stem) if stem in _FIRST_FACTS else len(_FIRST_FACTS), first, number)


INDEX_VERSION = 1
_ESCAPED = 6  # bytes that JSON has for a character at most
_FRAME = 256  # bytes of the keys of a memory, with indents and punctuation
_FRAME_OF_TAG = 16
_OPENING_HEAD = "Available memory:"
_OPENING_FOOT = "Use memory_read to load relevant files before responding."


class _ListedMemory(Protocol):
    """The fields of a memory, or of its record, that `long-term-memory.json` has."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> MemoryType: ...
    @property
    def content(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def created_at(self) -> str: ...
    @property
    def updated_at(self) -> str: ...
    @property
    def document(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One archive as MEMORY-INDEX.json lists it; `entries` is the number of its sources."""

    sha256: str
    at: str
    entries: int


def index_text(documents: Sequence[DocumentEntry], fits: Callable[[str], bool] = lambda _: True) -> str:
    """Return the list of documents that opens an agent's first turn (seed 004 section 5).

    `fits` returns True for a text that is small enough; the last documents are left out until it is, and counted.
    """
    lines = [
        f"- {entry.path} ({size_text(entry.size)}): {flat(entry.summary)}".rstrip(": ")
        for entry in newest_first(documents)
    ]
    return _bounded(_OPENING_HEAD, lines, f"\n{_OPENING_FOOT}", fits)


def size_text(size: int) -> str:
    """Return a size in bytes as people read it: `320B`, `1.2KB`, `3.4MB`."""
    for unit, factor in (("MB", 1024 * 1024), ("KB", 1024)):
        if size >= factor:
            return f"{size / factor:.1f}{unit}"
    return f"{size}B"


def memory_index(
    documents: Sequence[DocumentEntry], archives: Sequence[ArchiveEntry], *, updated_at: str | None
) -> bytes:
    """Return `MEMORY-INDEX.json`: the same bytes for the same arguments, with no text but the documents' summaries.

    `archives` are oldest first; `archiveChecksum` is the address of the newest, null when there is none.
    """
    newest = archives[-1] if archives else None
    body = {
        "version": INDEX_VERSION,
        "archiveChecksum": None if newest is None else newest.sha256,
        "entryCount": 0 if newest is None else newest.entries,
        "updatedAt": updated_at,
        "archives": [{"sha256": entry.sha256, "at": entry.at, "entries": entry.entries} for entry in archives],
        "documents": [
            {"path": entry.path, "size": entry.size, "summary": entry.summary} for entry in ordered(documents)
        ],
    }
    return orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def long_term_memory(memories: Sequence[_ListedMemory]) -> bytes:
    """Return `memory/long-term-memory.json`: every memory by id (seed 003).

    Access counts are left out: reading must not change a file that may be kept in git.
    """
    return long_term_memory_of(map(long_term_entry, sorted(memories, key=lambda memory: memory.id)))


def long_term_entry(memory: _ListedMemory) -> bytes:
    """Return one memory as `memory/long-term-memory.json` has it, without the comma after it."""
    entry = {
        "id": memory.id,
        "type": memory.type.value,
        "content": memory.content,
        "tags": list(memory.tags),
        "createdAt": memory.created_at,
        "updatedAt": memory.updated_at,
        "document": memory.document,
    }
    return orjson.dumps([entry], option=orjson.OPT_INDENT_2)[len("[\n") : -len("\n]")]


def long_term_memory_of(entries: Iterable[bytes]) -> bytes:
    """Return `memory/long-term-memory.json` of entries by `long_term_entry`, which are in the order of their ids."""
    body = b",\n".join(entries)
    return b"[\n" + body + b"\n]\n" if body else b"[]\n"


def long_term_memory_bytes_max(memories: Sequence[_ListedMemory]) -> int:
    """Return an upper bound for the bytes of `long_term_memory`, without writing it; it is several times too high."""
    return _FRAME + sum(
        _FRAME
        + _ESCAPED * (len(memory.id) + len(memory.content) + len(memory.document))
        + _ESCAPED * (len(memory.created_at) + len(memory.updated_at))
        + sum(_FRAME_OF_TAG + _ESCAPED * len(tag) for tag in memory.tags)
        for memory in memories
    )


def _bounded(head: str, lines: list[str], foot: str, fits: Callable[[str], bool]) -> str:
    """Return head, as many of the first lines as fit, a line that counts the others, and foot."""

    def text(kept: int) -> str:
        omitted = len(lines) - kept
        more = [f"- … and {omitted} more: memory_list names them all"] if omitted else []
        return "\n".join((head, *lines[:kept], *more)) + "\n" + foot

    if fits(text(len(lines))):
        return text(len(lines))
    return text(_most(0, len(lines) - 1, lambda kept: fits(text(kept))))
