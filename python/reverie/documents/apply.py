"""Turn changes of items into the smallest edits of their document, and check that they change nothing else.

Markdown has context: an open code fence takes in what is written below it, a list item ends a paragraph, `---` below a
line makes a heading of it. So no edit is trusted. Each candidate text is parsed again, and accepted only if exactly the
expected items come out of it; else the next way to separate the new text from its neighbours is tried.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from reverie import markdown_blocks
from reverie.documents.episodes import day_of, section, section_of_update, updated_wording
from reverie.documents.escape import bullet, ending_of
from reverie.documents.items import Add, Change, Delete, Update
from reverie.documents.layout import DocumentKind
from reverie.documents.parse import header_texts, is_updated_line, parse_items, parse_source
from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from reverie.documents.items import Item
    from reverie.documents.parse import ParsedSource
    from reverie.markdown_blocks import Block

_NEEDS_SEPARATION: Final = frozenset({"breaks_out", "not_one_block"})
_ITEMS_TRIED: Final = 4  # of the last items, before which a new one is tried: what is left open is mostly near the end

_COMMENT: Final = "<!-- -->\n"  # ends a list or a paragraph, whatever is above it
_BLANK: Final = lazy_regex(r"(?:\n|\r\n?)[ \t]*(?:\n|\r\n?)\Z")
# The separators that are tried, the least intrusive first: an empty line, nothing, a comment.
_BEFORE: Final = ("\n", "", f"\n{_COMMENT}")
_BEFORE_AFTER_BLANK: Final = ("", _COMMENT)
_BEHIND: Final = ("\n", "", f"\n{_COMMENT}\n")
_AROUND: Final = ("", "\n", _COMMENT, f"\n{_COMMENT}\n")
_BOM: Final = "\ufeff".encode()
_START: Final = attrgetter("start")


@dataclass(frozen=True, slots=True)
class EditState:
    """A parsed document of facts or episodes, and the ids of its items in their order."""

    path: str
    text: str
    ids: tuple[str, ...]
    source: ParsedSource


def edit_items(state: EditState, changes: Sequence[Change], day: str) -> EditState:
    """Return the document after valid changes: all at once, or one by one if something is in their way.

    Raises ValidationError with the reason `breaks_out` if there is no place where an item stays one.
    """
    if state.source.document.kind is DocumentKind.EPISODES:  # those of one place are in the order of their days
        changes = sorted(changes, key=lambda change: day_of(change.words, day) if isinstance(change, Add) else "")
    after = _edited_in_place(state, changes, day)
    if after is not None:
        return after
    for change in changes:
        state = _edited_in_place(state, [change], day) or _edited_with_separators(state, change, day)
    return state


def _edited_in_place(state: EditState, changes: Sequence[Change], day: str) -> EditState | None:
    """Apply each addition, edit and deletion alone; None if a new text would merge with the blocks around it."""
    source, items = state.source, state.source.document.items
    texts = _new_texts(source.document.kind, changes, day)
    edits: list[tuple[str, str, str]] = []
    added: dict[int | None, list[str]] = {}
    places: dict[str, int | None] = {}
    spans = _spans(state, {change.id for change in changes if not isinstance(change, Add)})  # that the edits name
    for change in changes:
        match change:
            case Add(identity, words):
                happened = day_of(words, day)
                if happened not in places:
                    places[happened] = _block_before_new(source, happened)
                at = places[happened]
                name = None
                if at is not None:
                    block = source.blocks[at]
                    number = bisect_left(items, block.start, key=_START)
                    is_item = number < len(items) and items[number].start == block.start
                    name = state.ids[number] if is_item else f"\0{at}"  # the edit must be able to name it
                    spans[name] = block.start, block.end
                added.setdefault(at, []).append(identity)
                edits.append(("add_end" if name is None else "add_after", name or "", texts[identity]))
            case Update(identity):
                edits.append(("update", identity, texts[identity]))
            case Delete(identity):
                edits.append(("delete", identity, ""))
    blocks = [(name, start, end) for name, (start, end) in spans.items()]
    is_episodes = source.document.kind is DocumentKind.EPISODES
    try:
        after = markdown_blocks.apply_changes(source.data, blocks, edits, sections=is_episodes)
    except ValidationError as error:
        if error.details.get("reason") in _NEEDS_SEPARATION:
            return None
        raise
    deleted = {change.id for change in changes if isinstance(change, Delete)}
    return _first_valid(state, [after.decode()], _order(state, added, deleted), texts)


def _spans(state: EditState, names: Collection[str]) -> dict[str, tuple[int, int]]:
    if not names:
        return {}
    items = zip(state.ids, state.source.document.items, strict=True)
    return {name: (item.start, item.end) for name, item in items if name in names}


def _order(state: EditState, added: Mapping[int | None, Sequence[str]], deleted: Collection[str]) -> list[str]:
    """Return the ids of items in order after additions (by the block before them, None: the end) and deletions."""
    order = list(state.ids)
    for at in sorted((at for at in added if at is not None), reverse=True):
        index = bisect_right(state.source.document.items, state.source.blocks[at].start, key=_START)
        order[index:index] = added[at]
    return [*(name for name in order if name not in deleted), *added.get(None, ())]


def _edited_with_separators(state: EditState, change: Change, day: str) -> EditState:
    """Return the document after one change, separated from its neighbours as far as necessary."""
    source, ending = state.source, ending_of(state.text)
    texts = _new_texts(source.document.kind, [change], day)
    after: EditState | None = None
    if isinstance(change, Add):
        for offset in _offsets_for_new(source, day_of(change.words, day)):
            before = sum(item.end <= offset for item in source.document.items)
            order = (*state.ids[:before], change.id, *state.ids[before:])
            after = _first_valid(state, inserted(source.data, offset, texts[change.id], ending), order, texts)
            if after is not None:
                break
    else:
        item = source.document.items[state.ids.index(change.id)]
        order = tuple(name for name in state.ids if name in texts or name != change.id)
        candidates = _replaced(source.data, (item.start, item.end), texts.get(change.id, ""), ending)
        after = _first_valid(state, candidates, order, texts)
        if after is None and isinstance(change, Update):  # its words would close what is left open before it
            without = edit_items(state, [Delete(change.id)], day)
            return edit_items(without, [Add(change.id, updated_wording(change.words))], day)
    if after is None:
        raise ValidationError(
            f"{state.path} has no place where {change.id} stays one memory",
            hint="close what is left open in it: a code fence, an HTML block",
            reason="breaks_out",
            names=[change.id],
        )
    return after


def _block_before_new(source: ParsedSource, day: str) -> int | None:
    """Return the index of the block after which a new item dated `day` is inserted; None for the end."""
    if source.document.kind is DocumentKind.EPISODES:
        items = source.document.items
        return _block_before_episode(items, [_block_at(source.blocks, item.start) for item in items], day)
    return _block_before_fact(source.blocks, source.document.items)


def _block_at(blocks: Sequence[Block], start: int) -> int:
    return bisect_left(blocks, start, key=_START)


def _block_before_fact(blocks: Sequence[Block], items: Sequence[Item]) -> int | None:
    """Return the index of the block after which a new fact is inserted: the last item before the Updated line."""
    updated = next((index for index in reversed(range(len(blocks))) if is_updated_line(blocks[index])), None)
    if items:
        before = len(items) if updated is None else bisect_left(items, blocks[updated].start, key=_START)
        return _block_at(blocks, items[before - 1].start)  # the last of all if none is before
    return None if updated is None else max(0, updated - 1)


def _block_before_episode(items: Sequence[Item], indexes: Sequence[int], day: str) -> int | None:
    """Return the index of the block after which an episode of `day` is inserted: the last one not of a later day."""
    at: int | None = None
    last = ""
    for item, index in zip(items, indexes, strict=True):
        last = next((value[:10] for key, value in item.fields if key == "Date" and value), last)
        if last <= day:
            at = index
    if at is not None or not indexes:
        return at
    return indexes[0] - 1 if indexes[0] > 0 else indexes[-1]


def _offsets_for_new(source: ParsedSource, day: str) -> list[int]:
    """Return byte offsets to try for a new item: where it belongs, then the end, before other items, the top."""
    at = _block_before_new(source, day)
    end, top = len(source.data), start_of_body(source.blocks, source.data)
    starts = [item.start for item in reversed(source.document.items)]
    return [end if at is None else source.blocks[at].end, end, *starts[:_ITEMS_TRIED], *starts[-1:], top]


def _new_texts(kind: DocumentKind, changes: Sequence[Change], day: str) -> dict[str, str]:
    """Return the markdown that each change writes, by the id of its item."""
    texts: dict[str, str] = {}
    for change in changes:
        match change:
            case Add(identity, words) | Update(identity, words) if kind is DocumentKind.FACTS:
                texts[identity] = bullet(words.content, words.tags)
            case Add(identity, words):
                texts[identity] = section(words, day)
            case Update(identity, words):
                texts[identity] = section_of_update(words, day)
            case Delete():
                pass
    return texts


def _first_valid(
    state: EditState, candidates: Iterable[str], order: Sequence[str], texts: Mapping[str, str]
) -> EditState | None:
    """Return the edit state of the first candidate text that re-parses to exactly the expected items, or None.

    Expected are the items of `order`: with the words of `texts` if they are there, else unchanged. The file's summary
    and Updated lines must be parsed as such too, and not end up inside of something that a change leaves open.
    """
    items_by_name = dict(zip(state.ids, state.source.document.items, strict=True))
    items_by_name |= {name: parse_items(state.path, text)[0] for name, text in texts.items()}
    expected = [items_by_name[name] for name in order]
    for text in candidates:
        source = parse_source(state.path, text)
        items = source.document.items
        if (
            len(items) == len(expected)
            and header_texts(source) == header_texts(state.source)
            and all(item is other or _same_words(item, other) for item, other in zip(items, expected, strict=True))
        ):
            return EditState(state.path, text, tuple(order), source)
    return None


def _same_words(item: Item, other: Item) -> bool:
    return (item.content, item.tags, item.title) == (other.content, other.tags, other.title)


def inserted(data: bytes, at: int, new: str, ending: str) -> Iterator[str]:
    """Yield the document with `new` at byte `at`, with more and more separation from its neighbours.

    The lines of `new` end by a newline.
    """
    head, tail = data[:at].decode(), data[at:].decode()
    above = head.removeprefix("\ufeff")
    missing_ending = ending if above and not above.endswith(("\n", "\r")) else ""
    befores = (_BEFORE_AFTER_BLANK if _BLANK.search(above) else _BEFORE) if above else ("",)
    behinds = (("", *_BEHIND) if tail[0] in "\r\n" else _BEHIND) if tail else ("",)
    for before, behind in product(befores, behinds):
        yield head + missing_ending + (before + new + behind).replace("\n", ending) + tail


def _replaced(data: bytes, span: tuple[int, int], new: str, ending: str) -> Iterator[str]:
    """Yield the document with `new` in place of a span of bytes, each time separated more from its neighbours."""
    start, end = span
    head, tail = data[:start].decode(), data[end:].decode()
    for before, behind in product(_AROUND, _AROUND if new else ("",)):
        yield head + (before + new + behind).replace("\n", ending) + tail


def start_of_body(blocks: Sequence[Block], data: bytes) -> int:
    """Return the byte offset after a byte order mark and front matter."""
    front_matter_end = next((block.end for block in blocks[:2] if block.kind is BlockKind.FRONT_MATTER), 0)
    return front_matter_end or (len(_BOM) if data.startswith(_BOM) else 0)
