"""Match the blocks of changed documents with their old ones, so that memories keep their ids across edits and moves."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reverie.markdown_blocks import align

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.documents.layout import DocumentKind
    from reverie.models import MemoryType


def match_ids(
    before: Mapping[str, Sequence[tuple[str, str]]], after: Mapping[str, Sequence[str]]
) -> dict[str, list[str | None]]:
    """Return, for each document of `after`, the id that each of its blocks keeps, or None for a new block.

    `before` has the old blocks of the documents that changed, each as (id, text); a path that is not in `after` is a
    document that was deleted. No id appears twice. In this order, from certain to uncertain:

    1. A block whose text is new in its document takes the id of an equal one whose text left another document: it was
       moved. So two files that were swapped keep their ids, however much alike their lines are.
    2. A block keeps the id of one in its own document (aligned by text, position and similarity).
    3. A new block takes the id of an equal one that is gone from another document.
    4. What is still new takes an id of the documents from which blocks moved here: it was edited while its document was
       renamed.
    """
    matches: dict[str, list[str | None]] = {path: [None] * len(texts) for path, texts in after.items()}
    left, came = _moved_texts(before, after)
    _keep_edited(before, after, came)
    moved = _match_equal_blocks(matches, came, left)
    taken = {name for names in matches.values() for name in names}
    gone = {path: {name: text for name, text in blocks if name not in taken} for path, blocks in before.items()}
    for path, texts in after.items():
        _match_edited_blocks(matches[path], texts, gone.setdefault(path, {}))
    sources = _match_equal_blocks(matches, after, gone)
    for path in after:
        for origin in dict.fromkeys((*moved.get(path, ()), *sources.get(path, ()))):
            _match_edited_blocks(matches[path], after[path], gone[origin])
    return matches


def _keep_edited(
    before: Mapping[str, Sequence[tuple[str, str]]],
    after: Mapping[str, Sequence[str]],
    came: Mapping[str, list[str]],
) -> None:
    """Take out of `came` what an edit made of a block whose words are nowhere now, unless half of a document is new.

    Example: somebody corrects a line to the words of one in another file, and deletes that.
    """
    for path, texts in after.items():
        if not 0 < 2 * sum(map(bool, came[path])) <= len(texts):
            continue
        old = dict(before.get(path, ()))
        anywhere = {text.strip() for others in after.values() for text in others}
        for index, name in enumerate(align(list(old.items()), list(texts)).old_ids):
            if name is not None and old[name].strip() not in anywhere:
                came[path][index] = ""


def _moved_texts(
    before: Mapping[str, Sequence[tuple[str, str]]], after: Mapping[str, Sequence[str]]
) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Return the blocks whose text left each document, by id, and the texts that came to each; "" for one that did not.

    Nothing came to a copy, a document of whose new texts more stay where they were than leave. Example: `cp a.md b.md`,
    and an edit of one line of a.md, which keeps its id.
    """
    had = {path: {text.strip() for _, text in blocks} for path, blocks in before.items()}
    has = {path: {text.strip() for text in texts} for path, texts in after.items()}
    left = {
        path: {name: text for name, text in blocks if text.strip() not in has.get(path, ())}
        for path, blocks in before.items()
    }
    leaving = {text.strip() for blocks in left.values() for text in blocks.values()}
    staying = {text for path, texts in had.items() for text in texts & has.get(path, set())}
    came = {}
    for path, texts in after.items():
        new = has[path] - had.get(path, set())
        is_copy = len(new & staying) >= len(new & leaving)
        came[path] = ["" if is_copy or text.strip() not in new else text for text in texts]
    return left, came


def _match_equal_blocks(
    matches: Mapping[str, list[str | None]], after: Mapping[str, Sequence[str]], gone: dict[str, dict[str, str]]
) -> dict[str, list[str]]:
    """Give new blocks the ids of equal blocks that left other documents; return these documents for each path."""
    origins_by_text: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(gone, reverse=True):
        for name, text in reversed(gone[path].items()):
            origins_by_text[text.strip()].append((path, name))
    sources: dict[str, Counter[str]] = {}
    for path, texts in after.items():
        for index, text in enumerate(texts):
            origins = origins_by_text.get(text.strip()) if matches[path][index] is None else None
            if origins:
                origin, name = origins.pop()
                matches[path][index] = name
                del gone[origin][name]
                sources.setdefault(path, Counter())[origin] += 1
    return {path: [origin for origin, _ in counts.most_common()] for path, counts in sources.items()}


def _match_edited_blocks(matches: list[str | None], texts: Sequence[str], gone: dict[str, str]) -> None:
    """Give new blocks the ids of the same or similar blocks that are gone from a document."""
    new = [index for index, name in enumerate(matches) if name is None]
    alignment = align(list(gone.items()), [texts[index] for index in new])
    for index, name in zip(new, alignment.old_ids, strict=True):
        if name is not None:
            matches[index] = name
            del gone[name]


class Item(NamedTuple):
    """One memory in a document: the bytes `start` to before `end`, which are `text`, line ending included.

    `content` is its words without marks, tags and indentation, its lines joined by a newline. A bullet has no title and
    no fields. A section's title is its heading, its content all that is below, `fields` its `- Key: value` lines. A
    whole file has the name in its front matter as its title, and the other values there as its fields.

    A tuple, since every write makes one of each memory in its document.
    """

    start: int
    end: int
    text: str
    type: MemoryType
    content: str
    tags: tuple[str, ...] = ()
    title: str | None = None
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A parsed document. `summary` is one line of at most ten words or ten topics, empty if there is none."""

    kind: DocumentKind
    items: tuple[Item, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The words that an item shall have. `title`, `fields` and `day` are for episodes.

    `day` (`YYYY-MM-DD`) is when an episode happened; a field `Date` takes precedence. In an update the content is all
    that the item shall have, and `fields` are those that the episode had before.
    """

    content: str
    tags: tuple[str, ...] = ()
    title: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    day: str | None = None


@dataclass(frozen=True, slots=True)
class Add:
    """A change that adds a new item with this id to a document."""

    id: str
    words: Wording


@dataclass(frozen=True, slots=True)
class Update:
    """A change that replaces the words of a document's item."""

    id: str
    words: Wording


@dataclass(frozen=True, slots=True)
class Delete:
    """A change that deletes an item of a document."""

    id: str


Change: TypeAlias = Add | Update | Delete


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document after changes: `ids[i]` is the id of item `i`.

    `text` is None if nothing is left but what is written around items: then the document itself is to be deleted.
    """

    text: str | None
    ids: tuple[str, ...]
