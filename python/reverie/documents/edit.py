"""Makes changes of items as edits of their document, and makes sure that they do nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie import apply
from reverie.blocks import BlockKind
from reverie.documents.changes import Add, Change, Delete, Update
from reverie.documents.document_kind import Form
from reverie.documents.lines import bullet, ending_of
from reverie.documents.place import place_of
from reverie.documents.read import is_updated_line, parsed, read
from reverie.documents.render import day_of, section, section_again, told_again
from reverie.documents.splice import inserted, replaced, top_of
from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reverie.documents.read import Parsed

__all__ = ["Standing", "edited"]

_HINDERED: Final = frozenset({"breaks_out", "not_one_block"})
_TRIED: Final = 4


@dataclass(frozen=True, slots=True)
class Standing:
    """A document of facts or episodes, taken apart, and the ids of its items in their order."""

    path: str
    text: str
    ids: tuple[str, ...]
    parts: Parsed


def edited(given: Standing, changes: Sequence[Change], day: str) -> Standing:
    """The document after changes that fit it: all at once, or one after the other where something stands in their way.

    Raises ValidationError with the reason `breaks_out` if there is no place where an item stays one.
    """
    if given.parts.page.form is Form.EPISODES:  # those of one place stand in the order of their days
        changes = sorted(changes, key=lambda change: day_of(change.words, day) if isinstance(change, Add) else "")
    after = _unhindered(given, changes, day)
    if after is not None:
        return after
    for change in changes:
        given = _unhindered(given, [change], day) or _parted(given, change, day)
    return given


def _unhindered(given: Standing, changes: Sequence[Change], day: str) -> Standing | None:
    """The document after changes that are edits of their own blocks; None where these would run into others."""
    parts = given.parts
    held = {item.start: identity for identity, item in zip(given.ids, parts.page.items, strict=True)}
    names = [held.get(block.start, "") for block in parts.blocks]
    texts = _texts(parts.page.form, changes, day)
    told: list[apply.Change] = []
    added: dict[int | None, list[str]] = {}
    places: dict[str, int | None] = {}
    for change in changes:
        match change:
            case Add(identity, words):
                happened = day_of(words, day)
                at = places[happened] if happened in places else places.setdefault(happened, place_of(parts, happened))
                if at is not None and not names[at]:
                    names[at] = f"\0{at}"  # no item, but what goes behind it must be able to name it
                added.setdefault(at, []).append(identity)
                told.append(apply.Add(texts[identity], after=None if at is None else names[at]))
            case Update(identity):
                told.append(apply.Update(identity, texts[identity]))
            case Delete(identity):
                told.append(apply.Delete(identity))
    spans = [(name, block.start, block.end) for name, block in zip(names, parts.blocks, strict=True) if name]
    try:
        done = apply.apply_changes(parts.data, spans, told, sections=parts.page.form is Form.EPISODES)
    except ValidationError as refused:
        if refused.details.get("reason") in _HINDERED:
            return None
        raise
    gone = {change.id for change in changes if isinstance(change, Delete)}
    order: list[str] = []
    for index, block in enumerate(parts.blocks):
        order += [held[block.start]] if block.start in held and held[block.start] not in gone else []
        order += added.get(index, [])
    return _standing(given, [done.document.decode()], (*order, *added.get(None, [])), texts)


def _parted(given: Standing, change: Change, day: str) -> Standing:
    """The document after one change, parted from what stands around it as far as it has to be."""
    parts, ending = given.parts, ending_of(given.text)
    texts = _texts(parts.page.form, [change], day)
    after: Standing | None = None
    if isinstance(change, Add):
        for place in _places(parts, day_of(change.words, day)):
            before = sum(item.end <= place for item in parts.page.items)
            order = (*given.ids[:before], change.id, *given.ids[before:])
            after = _standing(given, inserted(parts.data, place, texts[change.id], ending), order, texts)
            if after is not None:
                break
    else:
        item = parts.page.items[given.ids.index(change.id)]
        order = tuple(name for name in given.ids if name in texts or name != change.id)
        tried = replaced(parts.data, (item.start, item.end), texts.get(change.id, ""), ending)
        after = _standing(given, tried, order, texts)
        if after is None and isinstance(change, Update):  # its words would close what stands open before it
            return edited(edited(given, [Delete(change.id)], day), [Add(change.id, told_again(change.words))], day)
    if after is None:
        raise ValidationError(
            f"{given.path} has no place where {change.id} stays one memory",
            hint="close what is left open in it: a code fence, an HTML block",
            reason="breaks_out",
            names=[change.id],
        )
    return after


def _places(parts: Parsed, day: str) -> list[int]:
    """The bytes where a new item may go, the best first: its place, the end, before an item, the top."""
    at = place_of(parts, day)
    end, top = len(parts.data), top_of(parts.blocks, parts.data)
    starts = [item.start for item in reversed(parts.page.items)]
    return [end if at is None else parts.blocks[at].end, end, *starts[:_TRIED], *starts[-1:], top]


def _texts(form: Form, changes: Sequence[Change], day: str) -> dict[str, str]:
    """What each change writes, by the id of its item."""
    texts: dict[str, str] = {}
    for change in changes:
        match change:
            case Add(identity, words) | Update(identity, words) if form is Form.FACTS:
                texts[identity] = bullet(words.content, words.tags)
            case Add(identity, words):
                texts[identity] = section(words, day)
            case Update(identity, words):
                texts[identity] = section_again(words, day)
            case Delete():
                pass
    return texts


def _standing(
    given: Standing, candidates: Iterable[str], order: Sequence[str], texts: Mapping[str, str]
) -> Standing | None:
    """The first of some texts that says under these ids what was said before, or for those in `texts` what they say.

    What the document says of itself must still be read as that, and not be closed in by what a change closes.
    """
    wanted = dict(zip(given.ids, given.parts.page.items, strict=True))
    wanted |= {name: read(given.path, text).items[0] for name, text in texts.items()}
    said = [(wanted[name].content, wanted[name].tags, wanted[name].title) for name in order]
    for text in candidates:
        parts = parsed(given.path, text)
        if _of_itself(parts) == _of_itself(given.parts) and said == [
            (item.content, item.tags, item.title) for item in parts.page.items
        ]:
            return Standing(given.path, text, tuple(order), parts)
    return None


def _of_itself(parts: Parsed) -> list[str]:
    """The summary and the days of a file."""
    return [block.text for block in parts.blocks if block.kind is BlockKind.SUMMARY or is_updated_line(block)]
