"""Turn changes of items into the smallest edits of their document, and check that they change nothing else.

Markdown has context: an open code fence takes in what is written below it, a list item ends a paragraph, `---` below a
line makes a heading of it. So no edit is trusted. Each candidate text is parsed again, and accepted only if exactly the
expected items come out of it; else the next way to separate the new text from its neighbours is tried.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from reverie import markdown_blocks
from reverie.documents.document_kind import DocumentKind
from reverie.documents.escaping import bullet, ending_of
from reverie.documents.items import Add, Change, Delete, Update
from reverie.documents.parser import is_updated_line, parse_items, parse_source
from reverie.documents.render import day_of, section, section_of_update, updated_wording
from reverie.errors import ValidationError
from reverie.markdown_blocks import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reverie.documents.items import Item
    from reverie.documents.parser import ParsedSource
    from reverie.markdown_blocks import Block

__all__ = ["EditState", "edit_items", "inserted", "start_of_body"]

_NEEDS_SEPARATION: Final = frozenset({"breaks_out", "not_one_block"})
_ITEMS_TRIED: Final = 4  # of the last items, before which a new one is tried: what is left open is mostly near the end

_COMMENT: Final = "<!-- -->\n"  # ends a list or a paragraph, whatever is above it
_BLANK: Final = re.compile(r"(?:\n|\r\n?)[ \t]*(?:\n|\r\n?)\Z")
# The separators that are tried, the least intrusive first: an empty line, nothing, a comment.
_BEFORE: Final = ("\n", "", f"\n{_COMMENT}")
_BEFORE_AFTER_BLANK: Final = ("", _COMMENT)
_BEHIND: Final = ("\n", "", f"\n{_COMMENT}\n")
_AROUND: Final = ("", "\n", _COMMENT, f"\n{_COMMENT}\n")
_BOM: Final = "\ufeff".encode()


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
    source = state.source
    id_at = {item.start: identity for identity, item in zip(state.ids, source.document.items, strict=True)}
    names = [id_at.get(block.start, "") for block in source.blocks]
    texts = _new_texts(source.document.kind, changes, day)
    edits: list[markdown_blocks.Change] = []
    added: dict[int | None, list[str]] = {}
    places: dict[str, int | None] = {}
    for change in changes:
        match change:
            case Add(identity, words):
                happened = day_of(words, day)
                if happened not in places:
                    places[happened] = _block_before_new(source, happened)
                at = places[happened]
                if at is not None and not names[at]:
                    names[at] = f"\0{at}"  # no item, but the edit behind it must be able to name it
                added.setdefault(at, []).append(identity)
                edits.append(markdown_blocks.Add(texts[identity], after=None if at is None else names[at]))
            case Update(identity):
                edits.append(markdown_blocks.Update(identity, texts[identity]))
            case Delete(identity):
                edits.append(markdown_blocks.Delete(identity))
    spans = [(name, block.start, block.end) for name, block in zip(names, source.blocks, strict=True) if name]
    is_episodes = source.document.kind is DocumentKind.EPISODES
    try:
        applied = markdown_blocks.apply_changes(source.data, spans, edits, sections=is_episodes)
    except ValidationError as error:
        if error.details.get("reason") in _NEEDS_SEPARATION:
            return None
        raise
    deleted = {change.id for change in changes if isinstance(change, Delete)}
    order: list[str] = []
    for index, block in enumerate(source.blocks):
        order += [id_at[block.start]] if block.start in id_at and id_at[block.start] not in deleted else []
        order += added.get(index, [])
    return _first_valid(state, [applied.document.decode()], (*order, *added.get(None, [])), texts)


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
    starts = {block.start: index for index, block in enumerate(source.blocks)}
    items = source.document.items
    indexes = [starts[item.start] for item in items]
    if source.document.kind is DocumentKind.EPISODES:
        return _block_before_episode(items, indexes, day)
    return _block_before_fact(source.blocks, indexes)


def _block_before_fact(blocks: Sequence[Block], items: Sequence[int]) -> int | None:
    """Return the last item, of those before the Updated line if there are any; else the block before that line."""
    updated = next((index for index in reversed(range(len(blocks))) if is_updated_line(blocks[index])), None)
    before = [index for index in items if updated is None or index < updated]
    if before or items:
        return (before or items)[-1]
    return None if updated is None else max(0, updated - 1)


def _block_before_episode(items: Sequence[Item], indexes: Sequence[int], day: str) -> int | None:
    """Return the last episode that is not of a later day; one without a day counts as of the day before it."""
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
    """Return the byte offsets for a new item, the best first: its place, the end, before an item, the top."""
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
    """Return the first candidate text that re-parses to exactly the expected items, or None.

    Expected are the items of `order`: with the words of `texts` if they are there, else unchanged. The file's summary
    and Updated lines must be parsed as such too, and not end up inside of something that a change leaves open.
    """
    wanted = dict(zip(state.ids, state.source.document.items, strict=True))
    wanted |= {name: parse_items(state.path, text)[0] for name, text in texts.items()}
    expected = [(wanted[name].content, wanted[name].tags, wanted[name].title) for name in order]
    for text in candidates:
        source = parse_source(state.path, text)
        if _header_texts(source) == _header_texts(state.source) and expected == [
            (item.content, item.tags, item.title) for item in source.document.items
        ]:
            return EditState(state.path, text, tuple(order), source)
    return None


def _header_texts(source: ParsedSource) -> list[str]:
    """Return the texts of a file's summary and Updated lines."""
    return [
        block.text
        for block in source.blocks
        if block.kind is BlockKind.SUMMARY or (block.text[:1] == "U" and is_updated_line(block))
    ]


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
    """Yield the document with `new` in place of these bytes, with more and more separation from its neighbours."""
    start, end = span
    head, tail = data[:start].decode(), data[end:].decode()
    for before, behind in product(_AROUND, _AROUND if new else ("",)):
        yield head + (before + new + behind).replace("\n", ending) + tail


def start_of_body(blocks: Sequence[Block], data: bytes) -> int:
    """Return the byte offset behind a byte order mark and front matter."""
    front_matter_end = next((block.end for block in blocks[:2] if block.kind is BlockKind.FRONT_MATTER), 0)
    return front_matter_end or (len(_BOM) if data.startswith(_BOM) else 0)
