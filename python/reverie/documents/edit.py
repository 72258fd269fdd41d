"""Makes changes of items as edits of their document, and makes sure that they do nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie import apply
from reverie.documents.changes import Add, Change, Delete, Update
from reverie.documents.form import Form
from reverie.documents.lines import bullet, ending_of
from reverie.documents.place import place_of
from reverie.documents.read import blocks_of, read
from reverie.documents.render import day_of, section, section_again
from reverie.documents.splice import inserted, replaced, top_of
from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reverie.documents.page import Page

__all__ = ["Standing", "edited"]

_HINDERED = frozenset({"breaks_out", "not_one_block"})

_TRIED = 4


@dataclass(frozen=True, slots=True)
class Standing:
    """A document of facts or episodes, and the ids of its items in their order."""

    path: str
    text: str
    ids: tuple[str, ...]

    @property
    def page(self) -> Page:
        """What it says."""
        return read(self.path, self.text)


def edited(given: Standing, changes: Sequence[Change], day: str) -> Standing:
    """The document after changes that fit it: all at once, or one after the other where something stands in their way.

    Raises ValidationError with the reason `breaks_out` if there is no place where an item stays one.
    """
    page = given.page
    if page.form is Form.EPISODES:  # those of one place stand in the order of their days
        changes = sorted(changes, key=lambda change: day_of(change.words, day) if isinstance(change, Add) else "")
    try:
        return _at_once(given, page, changes, day)
    except ValidationError as refused:
        if refused.details.get("reason") not in _HINDERED:
            raise
    for change in changes:
        given = _alone(given, change, day)
    return given


def _at_once(given: Standing, page: Page, changes: Sequence[Change], day: str) -> Standing:
    blocks = blocks_of(page.form, given.text.encode())
    held = {item.start: identity for identity, item in zip(given.ids, page.items, strict=True)}
    names = [held.get(block.start, "") for block in blocks]
    texts = _texts(page.form, changes, day)
    told: list[apply.Change] = []
    added: dict[int | None, list[str]] = {}
    for change in changes:
        match change:
            case Add(identity, words):
                at = place_of(page, blocks, day_of(words, day))
                if at is not None and not names[at]:
                    names[at] = f"\0{at}"  # no item, but what goes behind it must be able to name it
                added.setdefault(at, []).append(identity)
                told.append(apply.Add(texts[identity], after=None if at is None else names[at]))
            case Update(identity):
                told.append(apply.Update(identity, texts[identity]))
            case Delete(identity):
                told.append(apply.Delete(identity))
    spans = [(name, block.start, block.end) for name, block in zip(names, blocks, strict=True) if name]
    done = apply.apply_changes(given.text.encode(), spans, told, sections=page.form is Form.EPISODES)
    gone = {change.id for change in changes if isinstance(change, Delete)}
    order: list[str] = []
    for index, block in enumerate(blocks):
        order += [held[block.start]] if block.start in held and held[block.start] not in gone else []
        order += added.get(index, [])
    after = Standing(given.path, done.document.decode(), (*order, *added.get(None, [])))
    if not _checking(given, page, after.ids, texts)(after.text):
        raise _breaks_out(given, changes[-1])
    return after


def _alone(given: Standing, change: Change, day: str) -> Standing:
    """One change, parted from what stands around it as far as it has to be."""
    page = given.page
    try:
        return _at_once(given, page, [change], day)
    except ValidationError as refused:
        if refused.details.get("reason") not in _HINDERED:
            raise
    data, ending = given.text.encode(), ending_of(given.text)
    texts = _texts(page.form, [change], day)
    match change:
        case Add(identity, words):
            for place in _places(page, data, day_of(words, day)):
                before = sum(item.end <= place for item in page.items)
                order = (*given.ids[:before], identity, *given.ids[before:])
                text = inserted(data, place, texts[identity], ending, _checking(given, page, order, texts))
                if text is not None:
                    return Standing(given.path, text, order)
        case Update(identity) | Delete(identity):
            item = page.items[given.ids.index(identity)]
            new = texts.get(identity, "")
            order = tuple(name for name in given.ids if new or name != identity)
            text = replaced(data, (item.start, item.end), new, ending, _checking(given, page, order, texts))
            if text is not None:
                return Standing(given.path, text, order)
    raise _breaks_out(given, change)


def _places(page: Page, data: bytes, day: str) -> list[int]:
    """The bytes where a new item may go, the best first: its place, the end, before an item, the top."""
    blocks = blocks_of(page.form, data)
    at = place_of(page, blocks, day)
    starts = [item.start for item in reversed(page.items)]
    return [
        len(data) if at is None else blocks[at].end,
        len(data),
        *starts[:_TRIED],
        *starts[-1:],
        top_of(blocks, data),
    ]


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


def _checking(given: Standing, page: Page, order: Sequence[str], texts: Mapping[str, str]) -> Callable[[str], bool]:
    """Whether a text says under these ids what was said before, or for those in `texts` what they say alone."""
    wanted = dict(zip(given.ids, page.items, strict=True))
    wanted |= {name: read(given.path, text).items[0] for name, text in texts.items()}

    def holds(text: str) -> bool:
        items = read(given.path, text).items
        return len(items) == len(order) and all(
            (item.content, item.tags, item.title) == (wanted[name].content, wanted[name].tags, wanted[name].title)
            for name, item in zip(order, items, strict=True)
        )

    return holds


def _breaks_out(given: Standing, change: Change) -> ValidationError:
    return ValidationError(
        f"{given.path} has no place where {change.id} stays one memory",
        hint="close what is left open in it: a code fence, an HTML block",
        reason="breaks_out",
        names=[change.id],
    )
