"""Keeps `MEMORY.md`, which has two writers: the lines that link to listed documents are ours, all else is not."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from reverie.blocks import BlockKind, parse
from reverie.documents.front import front_of
from reverie.documents.lines import ending_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = ["BYTES_MAX", "LINES_MAX", "DocumentEntry", "flat", "ordered", "relisted"]

LINES_MAX: Final = 200
BYTES_MAX: Final = 25_000
_FIRST: Final = ("user", "preferences", "project", "mistakes", "procedures", "skills", "observations")
_PASSES_MAX: Final = 4
_PLAIN_LINK: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")
_LINK: Final = re.compile(
    r"(?P<mark> {0,3}[-*+][ \t]+)\[(?:\\.|[^\]\\])*\]\((?:<(?P<angled>[^>]*)>|(?P<plain>[^)\s]*))\)"
)
_MORE: Final = re.compile(r"(?P<mark> {0,3}[-*+][ \t]+)… and \d+ more: memory_list names them all[ \t]*")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BOM: Final = "\ufeff"
_HEAD: Final = "# Memory"
_REST: Final = ""  # stands for the line that counts what is left out


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """One document as an index names it: `size` in bytes, `summary` its file-level summary."""

    path: str
    size: int
    summary: str


def relisted(text: str, entries: Sequence[DocumentEntry], owned_before: Collection[str] = ()) -> str:
    """`MEMORY.md` with one line for each of `entries`, all its other lines byte for byte as they are.

    Ours are list items of one line that link to a path of `entries` or of `owned_before` (what was listed earlier):
    they are brought up to date where they stand, removed, or added behind the one that comes before them in the order.
    An item with further lines is its writer's, and lists its document as well as ours would. The whole has at most 200
    lines and 25,000 bytes, what Claude Code loads: the last of ours give way and are counted. What others wrote is
    never cut. A text that says this already stays as it is.
    """
    owned = {entry.path for entry in entries} | set(owned_before)
    for _ in range(_PASSES_MAX):
        before, text = text, _once(text, entries, owned)
        if text == before:
            break
    return text


def _once(text: str, entries: Sequence[DocumentEntry], owned: Collection[str]) -> str:
    """One pass; a line that goes may change what those around it are, as when `---` comes to stand first."""
    taken = {row.path for row in _rows(text.removeprefix(_BOM), owned) if not row.ours}
    wanted = [(entry.path, _link(entry)) for entry in ordered(entries) if entry.path not in taken]

    def first(kept: int) -> str:
        rest = [(_REST, f"… and {len(wanted) - kept} more: memory_list names them all")] if kept < len(wanted) else []
        return _composed(text, owned, [*wanted[:kept], *rest])

    if len(wanted) <= LINES_MAX and _fits(everything := first(len(wanted))):
        return everything
    low, high = -1, min(len(wanted), LINES_MAX) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _fits(first(middle)) else (low, middle - 1)
    return first(low) if low >= 0 else _composed(text, owned, [])


def ordered(documents: Sequence[DocumentEntry]) -> list[DocumentEntry]:
    """Facts in a fixed order, other facts by name, episodes newest first, the rest by name."""
    episodes = [entry for entry in documents if entry.path.startswith("episodes/")]
    others = [entry for entry in documents if not entry.path.startswith("episodes/")]
    others.sort(key=_rank)
    episodes.sort(key=lambda entry: entry.path, reverse=True)
    facts = [entry for entry in others if entry.path.startswith("facts/")]
    return [*facts, *episodes, *(entry for entry in others if not entry.path.startswith("facts/"))]


def flat(summary: str) -> str:
    """A summary on one line."""
    return " ".join(summary.split())


@dataclass(slots=True)
class _Row:
    """One line with its ending: the path that it lists, if any, and whether it is ours; `item` if it is of a list."""

    line: str
    path: str | None = None
    ours: bool = False
    item: bool = False


def _rows(text: str, owned: Collection[str]) -> list[_Row]:
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
                rows[first].path, rows[first].ours = path, size == 1
    return rows


def _composed(text: str, owned: Collection[str], wanted: Sequence[tuple[str, str]]) -> str:
    """The text with exactly these of our lines: the path of each, and what stands behind its mark."""
    body = text.removeprefix(_BOM)
    ending = ending_of(body)
    told = dict(wanted)
    kept: list[_Row] = []
    for row in _rows(body, owned):
        if not row.ours:
            kept.append(row)
        elif row.path in told and row.path not in _listed(kept):
            kept.append(replace(row, line=_again(row.line, told[row.path], ending)))
    unended = bool(body) and not body.endswith(("\n", "\r"))
    # What is open to the end would take our lines in; then they stand before it.
    tried = [
        _joined(_completed(list(kept), wanted, place, ending), ending, unended=unended)
        for place in (_behind_all, _before_all, _parted_from_all)
    ]
    after = next((each for each in tried if _listed(_rows(each, owned)) == told.keys()), tried[0])
    return text[: len(text) - len(body)] + after


def _completed(
    rows: list[_Row], wanted: Sequence[tuple[str, str]], place: Callable[[list[_Row], _Row, str], None], ending: str
) -> list[_Row]:
    """The rows with those that are missing: behind the one before in the order, else before the next one."""
    for number, (path, body) in enumerate(wanted):
        if path in _listed(rows):
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


def _behind_all(rows: list[_Row], new: _Row, ending: str) -> None:
    """Puts the first of our lines behind everything, under a heading where there is nothing else."""
    if not rows:
        rows += [_Row(_HEAD + ending), _Row(ending)]
    at = next((index + 1 for index in reversed(range(len(rows))) if rows[index].line.strip()), 0)
    parting = [_Row(ending)] if at > 0 and not rows[at - 1].item else []
    if parting and at < len(rows):  # by the empty line that is there
        at, parting = at + 1, []
    rows[at:at] = [*parting, new]


def _before_all(rows: list[_Row], new: _Row, ending: str) -> None:
    """Puts the first of our lines before everything but front matter."""
    front = front_of("".join(row.line for row in rows))
    at = 0
    size = 0
    while front is not None and size < front.end:
        size += len(rows[at].line.encode("utf-8", "replace"))
        at += 1
    rows[at:at] = [new, _Row(ending)]


def _parted_from_all(rows: list[_Row], new: _Row, ending: str) -> None:
    """The same, where what follows would be taken for more of our line."""
    _before_all(rows, new, ending)
    at = rows.index(new) + 2
    rows[at:at] = [_Row(f"<!-- -->{ending}"), _Row(ending)]


def _listed(rows: Sequence[_Row]) -> set[str]:
    return {row.path for row in rows if row.ours and row.path is not None}


def _joined(rows: Sequence[_Row], ending: str, *, unended: bool) -> str:
    """The lines as a text: each has an ending, but for the last one where the text had none."""
    lines = [row.line if row.line.endswith(("\n", "\r")) else row.line + ending for row in rows]
    if unended and rows and (rows[-1].ours or lines[-1] != rows[-1].line):
        lines[-1] = lines[-1].rstrip("\r\n")
    return "".join(lines)


def _again(line: str, body: str, ending: str) -> str:
    """One of our lines brought up to date; its mark and its own ending stay."""
    found = _LINK.match(line) or _MORE.match(line)
    assert found is not None
    own = line[len(line.rstrip("\r\n")) :]
    return f"{found['mark']}{body}{own or ending}"


def _link(entry: DocumentEntry) -> str:
    label = "".join(f"\\{char}" if char in "[]\\" else char for char in entry.path)
    target = entry.path if _PLAIN_LINK.issuperset(entry.path) else f"<{entry.path}>"
    return f"[{label}]({target}) — {flat(entry.summary)}".rstrip(" —")


def _path(line: str) -> str | None:
    """What a list item links to at its beginning, the mark for the line that counts the rest, None for another line."""
    if _MORE.fullmatch(line.rstrip("\r\n")) is not None:
        return _REST
    found = _LINK.match(line)
    if found is None:
        return None
    target = found["plain"] if found["angled"] is None else found["angled"]
    return unquote(target).removeprefix("./")


def _fits(text: str) -> bool:
    return len(_LINE.findall(text)) <= LINES_MAX and len(text.encode("utf-8", "replace")) <= BYTES_MAX


def _rank(entry: DocumentEntry) -> tuple[int, str]:
    stem = entry.path.removeprefix("facts/").removesuffix(".md")
    return (_FIRST.index(stem) if stem in _FIRST else len(_FIRST), entry.path)
