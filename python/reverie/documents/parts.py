"""The parts of a document that has become long: `facts/project.md`, `facts/project-2.md`, `facts/project-3.md`.

What agents and engines add goes into the newest part. A document is full long before it could not be read any more, so
that an agent can load it, a person can find something in it, and writing one line costs the same whatever is known.
People are free to write files of any length, up to the limit of one document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PART_BYTES_MAX: Final = 32 * 1024
"""Bytes from which on a document is full: some 8,000 tokens, which an agent can load beside other things."""
PART_ITEMS_MAX: Final = 128
"""Memories from which on a document is full: as many as a person can look through, and are parsed in a millisecond."""

_NUMBERED: Final = lazy_regex(r"(?P<stem>.+(?<!/\d{4}))-(?P<number>[1-9]\d{0,5})\.md")  # not the month of `2026-11.md`
_MONTH: Final = lazy_regex(r"episodes/.+-\d{4}-\d{2}\.md")  # nor that of a project: `episodes/harbour-2026-11.md`


def numbered(path: str) -> tuple[str, int]:
    """Return the path of a document's first part and the number of the part at `path`, as its name has them.

    Example: `facts/project-3.md` is `facts/project.md` and 3. A name without a number from 2 on is itself and 1; so
    may a name be that was not meant as one of a part, such as `facts/iso-9001.md`.
    """
    match = _NUMBERED.fullmatch(path)
    if match is None or int(match["number"]) < 2 or _MONTH.fullmatch(path) is not None:
        return path, 1
    return f"{match['stem']}.md", int(match["number"])


def _part(first: str, number: int) -> str:
    return first if number == 1 else f"{first.removesuffix('.md')}-{number}.md"


def is_full(size: int, items: int) -> bool:
    """Return True if a document of so many bytes with so many memories takes no new ones from agents and engines."""
    return size >= PART_BYTES_MAX or items >= PART_ITEMS_MAX


def room(size: int, items: int, additions: Sequence[int]) -> int:
    """Return how many of the additions (their sizes in bytes) a document takes before it is full; at least one."""
    count = 0
    while count < len(additions) and not is_full(size, items + count):
        size += additions[count]
        count += 1
    return max(1, count)


def next_part(path: str, exists: Callable[[str], bool]) -> str:
    """Return the path of the part after the one at `path`.

    A number at the end of a name counts if the part before it exists too: after `facts/iso-9001.md` alone comes
    `facts/iso-9001-2.md`.
    """
    first, number = numbered(path)
    if number > 1 and exists(_part(first, number - 1)):
        return _part(first, number + 1)
    return _part(path, 2)


def parts_of(path: str, exists: Callable[[str], bool]) -> list[str]:
    """Return the paths of all parts of the document that `path` is one of, in their order; none if none exists."""
    first, number = numbered(path)
    if number > 1 and not exists(_part(first, number - 1)):
        first = path
    paths = [first] if exists(first) else []
    while exists(following := _part(first, len(paths) + 1)) if paths else False:
        paths.append(following)
    return paths


def open_part(path: str, exists: Callable[[str], bool], full: Callable[[str], bool]) -> str:
    """Return the path of the part that takes new memories, for a document named by the path of any of its parts.

    It is the last of the parts that follow each other, or the one after it where that is full. Parts are searched for
    by doubling the number and then halving the interval, so a document of a thousand parts costs twenty lookups.
    """
    if not exists(path) or not full(path):
        return path
    following = next_part(path, exists)
    first, number = numbered(following)
    step = 1
    while exists(_part(first, number + step - 1)):
        step *= 2
    low, high = number + step // 2 - 1, number + step - 1  # the part `low` exists, or is the one given; `high` does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if exists(_part(first, middle)) else (low, middle)
    newest = path if low < number else _part(first, low)
    return _part(first, low + 1) if full(newest) else newest
