"""What decided changes make of the documents: edits of their texts as they are, so that all else in them stays."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.documents import Add, Changed, Delete, Update, Wording, changed, fresh
from reverie.errors import ValidationError
from reverie.usecases.consolidation import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reverie.documents import Change
    from reverie.models import Memory

__all__ = ["edited"]


def edited(
    documents: Mapping[str, Text], put: Iterable[Memory], deleted: Iterable[Memory], *, day: str
) -> tuple[dict[str, Text], list[Memory]]:
    """The documents after `put` (new and changed memories) and `deleted`; and `put`, each with the document it is in.

    A new memory whose document has no place for it (something in it is left open to its end) goes into the first of
    `<name>-2.md`, `<name>-3.md`, … that has one. A memory that its document does not hold is written into it.
    """
    changes: dict[str, list[Change]] = defaultdict(list)
    memories = {memory.id: memory for memory in put}
    held = {path: set(text.ids) for path, text in documents.items()}
    for memory in memories.values():
        is_there = memory.id in held.get(memory.document, ())
        changes[memory.document].append((Update if is_there else Add)(memory.id, _wording(memory)))
    for memory in deleted:
        if memory.id in held.get(memory.document, ()):
            changes[memory.document].append(Delete(memory.id))
    texts: dict[str, Text] = {}
    for path, wanted in sorted(changes.items()):
        texts |= _taking({**documents, **texts}, path, wanted, day)
    places = {name: path for path, text in texts.items() for name in text.ids}
    return texts, [replace(memory, document=places[memory.id]) for memory in memories.values()]


def _taking(
    documents: Mapping[str, Text], path: str, wanted: Sequence[Change], day: str, number: int = 1
) -> dict[str, Text]:
    """The document after its changes; where new items find no place, without them and with the next one that has it."""
    place = path if number == 1 else f"{path.removesuffix('.md')}-{number}.md"
    try:
        return {place: _text(documents, place, wanted, day)}
    except ValidationError as refused:
        added = [change for change in wanted if isinstance(change, Add)]
        if refused.details.get("reason") != "breaks_out" or not added:
            raise
    rest = [change for change in wanted if not isinstance(change, Add)]
    kept = {place: _text(documents, place, rest, day)} if rest else {}
    return kept | _taking(documents, path, added, day, number + 1)


def _text(documents: Mapping[str, Text], path: str, wanted: Sequence[Change], day: str) -> Text:
    held = documents.get(path)
    if held is None or held.text is None:
        made: Changed = fresh(path, [(each.id, each.words) for each in wanted if isinstance(each, Add)], day=day)
    else:
        made = changed(path, held.text, held.ids, wanted, day=day)
    return Text(made.text, list(made.ids), "" if held is None else held.basis)


def _wording(memory: Memory) -> Wording:
    day = str(memory.provenance.get("at") or memory.created_at)[:10]
    return Wording(memory.content, memory.tags, memory.title, memory.fields, day)
