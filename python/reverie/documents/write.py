"""Writes memories as documents: a new one whole, an existing one by the smallest edits of its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.blocks import BlockKind
from reverie.documents.changes import Add, Change, Changed, Delete, Update, Wording
from reverie.documents.document_kind import Form, form_of
from reverie.documents.edit import Standing, edited
from reverie.documents.front_matter import whole_changed
from reverie.documents.lines import bullet, clean, one_line, tag
from reverie.documents.read import is_updated_line, parsed, read
from reverie.documents.refresh import restated
from reverie.documents.render import day_of, heading_of, section, updated_line
from reverie.documents.topics import summary_line
from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reverie.documents.parsed_document import Item
    from reverie.documents.read import Parsed

__all__ = ["changed", "fresh"]


def fresh(path: str, items: Sequence[tuple[str, Wording]], *, day: str) -> Changed:
    """A new document of facts or episodes with these items, each with its id; episodes are in order of their days.

    `day` (`YYYY-MM-DD`) is that of the write. Raises ValidationError, with `details["reason"]`: `no_memories` for a
    path where no such document can be, `no_words` for an item without a word.
    """
    _refuse_wordless((identity, words) for identity, words in items)
    form = form_of(path, "")
    if form is Form.FACTS:
        body = "".join(bullet(words.content, words.tags) for _, words in items) + updated_line(day)
    elif form is Form.EPISODES:
        items = sorted(items, key=lambda item: day_of(item[1], day))
        body = "\n".join(section(words, day) for _, words in items)
    else:
        raise _no_memories(path)
    summary = summary_line(read(path, body).items)
    text = f"# {heading_of(path)}\n\n> Summary: {summary}\n\n{body}"
    return Changed(text, tuple(identity for identity, _ in items))


def changed(path: str, text: str, ids: Sequence[str], changes: Sequence[Change], *, day: str) -> Changed:
    """A document after changes of its items, which `ids` names in their order.

    Only the bytes of changed items, the value of its `> Summary:` line and that of its `- Updated:` line become others;
    where an item comes or goes, an empty line or comment may be needed to part its neighbours. New facts stand behind
    the last one, new episodes behind those of their day; an item that says the same already stays as it is written.
    `day` (`YYYY-MM-DD`) is that of the write.
    Raises ValidationError, with `details["reason"]`: `stale` if `ids` do not fit the text, `unknown_id`,
    `duplicate_id` or `changed_twice` for changes that cannot be meant, `no_words` for an item without a word,
    `no_memories` for a document that can hold none, `breaks_out` if there is no place where an item stays one.
    """
    parts = parsed(path, text)
    page = parts.page
    if len(ids) != len(page.items):
        raise ValidationError(
            f"{path} has {len(page.items)} memories, not {len(ids)}",
            hint="read the document again and decide from its text as it is",
            reason="stale",
        )
    known = dict(zip(ids, page.items, strict=True))
    _refuse_unknown(known, changes)
    _refuse_wordless((change.id, change.words) for change in changes if not isinstance(change, Delete))
    meant = [each for each in changes if not isinstance(each, Update) or not _says(known[each.id], each.words)]
    if not meant:
        return Changed(text, tuple(ids))
    if page.form is Form.WHOLE:
        return whole_changed(text, ids, meant)
    if page.form is Form.PLAIN:
        raise _no_memories(path)
    if not text.strip("\ufeff \t\r\n"):
        return fresh(path, [(each.id, each.words) for each in meant if isinstance(each, Add)], day=day)
    after = edited(Standing(path, text, tuple(ids), parts), meant, day)
    if not after.ids and _is_bare(path, after.parts):
        return Changed(None, ())
    return Changed(restated(after.parts, day=day), after.ids)


def _says(item: Item, words: Wording) -> bool:
    """Whether an item says these words already, however they are written."""
    tags = tuple(dict.fromkeys(word for word in map(tag, words.tags) if word))
    if clean(item.content) != clean(words.content) or tuple(dict.fromkeys(item.tags)) != tags:
        return False
    told = {(key, one_line(value)) for key, value in item.fields}
    named = words.title is None or one_line(words.title) == one_line(item.title or "")
    return named and {(key, one_line(value)) for key, value in words.fields} <= told


def _is_bare(path: str, parts: Parsed) -> bool:
    """Whether nothing stands in a document but what is written round memories: its title, summary and Updated line."""
    return all(
        block.kind is BlockKind.SUMMARY
        or (block.kind is BlockKind.TITLE and block.text == heading_of(path))
        or is_updated_line(block)
        or (block.kind is BlockKind.OPAQUE and not parts.data[block.start : block.end].decode().strip("\ufeff \t\r\n"))
        for block in parts.blocks
    )


def _refuse_unknown(known: Mapping[str, Item], changes: Sequence[Change]) -> None:
    seen: set[str] = set()
    for change in changes:
        reason = None
        if isinstance(change, Add):
            reason = "duplicate_id" if change.id in known or change.id in seen else None
        elif change.id not in known:
            reason = "unknown_id"
        elif change.id in seen:
            reason = "changed_twice"
        if reason is not None:
            raise ValidationError(
                f"{change.id} cannot be changed like that",
                hint="give one change for each memory of the document, and new ids to new ones",
                reason=reason,
                names=[change.id],
            )
        seen.add(change.id)


def _refuse_wordless(items: Iterable[tuple[str, Wording]]) -> None:
    for identity, words in items:
        if not clean(words.content) and not clean(words.title or ""):
            raise ValidationError(
                f"{identity} would say nothing", hint="delete it instead", reason="no_words", names=[identity]
            )


def _no_memories(path: str) -> ValidationError:
    return ValidationError(
        f"{path} holds no memories",
        hint="choose a path like facts/project.md or episodes/2026-11.md",
        reason="no_memories",
    )
