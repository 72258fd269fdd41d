"""Takes documents back: one operation's edits by a three-way merge, or all of them to what they were at some point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.documents import Add, Change, Delete, Update, Wording, apply_changes, new_document, revert_change
from reverie.errors import Conflict, NotFound
from reverie.store import Kind
from reverie.usecases.writing import Author, Given, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from reverie.store import Reader, Writer

__all__ = ["return_documents", "return_memory", "text_at", "texts_at", "undo_documents"]

LIST = "MEMORY.md"


def undo_documents(
    writer: Writer, operation: Mapping[str, Any], *, author: Author, new_id: Callable[[], str]
) -> list[str]:
    """Takes back what `operation` did to documents; what others wrote since stays. The paths that changed.

    Each text is merged: its base is what the operation wrote, the two sides are what stands there now and what stood
    there before. Raises Conflict naming the documents where the same words were changed since; nothing is written then.
    """
    texts: dict[str, Given | None] = {}
    torn: list[str] = []
    for change in operation["changes"]:
        if change["kind"] != Kind.DOCUMENT.value:
            continue
        path = str(change["key"][0])
        before, after = _record(writer, path, change["before"]), _record(writer, path, change["after"])
        now = writer.get(Kind.DOCUMENT, (path,))
        merged = _merged(path, before, after, now, day=writer.at[:10])
        if merged is _TORN:
            torn.append(path)
        elif merged is not _SAME:
            texts[path] = merged  # type: ignore[assignment]
    if texts and torn == [LIST]:
        torn = []  # its own lines follow the documents by themselves
    if torn:
        raise Conflict(
            f"operation {operation['seq']} cannot be undone: {', '.join(sorted(torn))} changed since in its places",
            hint="undo the later operations first, or edit the document; reverie diff shows both",
            paths=sorted(torn),
        )
    return put_texts(
        writer,
        texts,
        author=author,
        at=writer.at,
        new_id=new_id,
        known=_memories_at(writer, texts, operation["seq"] - 1, only=_memories_of(operation)),
        provenance={"undoes": operation["seq"]},
    )


def return_documents(
    writer: Writer,
    operation: int,
    *,
    author: Author,
    new_id: Callable[[], str],
    paths: Iterable[str] | None = None,
) -> list[str]:
    """Brings every document (or those at `paths`) back to what it was after `operation`; the paths that changed.

    Raises NotFound where a version of that time is no longer kept.
    """
    texts = texts_at(writer, operation, paths=paths)
    return put_texts(
        writer,
        texts,
        author=author,
        at=writer.at,
        new_id=new_id,
        known=_memories_at(writer, texts, operation),
        provenance={"returnsTo": operation},
    )


def return_memory(writer: Writer, memory_id: str, operation: int, *, author: Author) -> list[str]:
    """Brings one memory back to what it said after `operation`, in its document as it is now; the paths that changed.

    A memory that was not there then goes, one that went since comes back where it was.
    Raises NotFound for a memory that never was.
    """
    versions = writer.history(Kind.MEMORY, (memory_id,))
    if not versions:
        raise NotFound(f"no memory is called {memory_id!r}", hint="reverie memories lists them")
    past = [version.value for version in versions if version.operation <= operation]
    then = past[-1] if past else None
    now = writer.get(Kind.MEMORY, (memory_id,))
    if then is None and now is None:
        return []
    path = str((now or then or {})["document"])
    held = writer.get(Kind.DOCUMENT, (path,))
    change = _back(memory_id, then, now)
    day = writer.at[:10]
    if held is not None:
        made = apply_changes(path, held["content"], held["ids"], [change], day=day)
    else:
        made = new_document(path, [(change.id, change.words)] if isinstance(change, Add) else [], day=day)
    texts = {path: None if made.text is None else Given(made.text, made.ids)}
    known = {} if then is None else {memory_id: then}
    return put_texts(writer, texts, author=author, at=writer.at, new_id=_none_new, known=known)


def _back(memory_id: str, then: dict[str, Any] | None, now: dict[str, Any] | None) -> Change:
    if then is None:
        return Delete(memory_id)
    words = Wording(
        then["content"], tuple(then["tags"]), then["title"], tuple((key, value) for key, value in then["fields"])
    )
    return Add(memory_id, words) if now is None else Update(memory_id, words)


def texts_at(
    reader: Reader, operation: int, *, paths: Iterable[str] | None = None, since: int | None = None
) -> dict[str, Given | None]:
    """The documents at `paths` as they were when `operation` was committed; None for one that was not there.

    Without `paths` those that changed after `since` (without it: after `operation`).
    """
    if paths is None:
        paths = reader.touched(Kind.DOCUMENT, operation if since is None else since)
    return {path: text_at(reader, path, operation) for path in paths}


def text_at(reader: Reader, path: str, operation: int) -> Given | None:
    """A document as it was when `operation` was committed, with the ids of its blocks; None: it was not there.

    Raises:
        NotFound: its versions of that time are no longer kept.
    """
    versions = reader.history(Kind.DOCUMENT, (path,))
    past = [version for version in versions if version.operation <= operation]
    if not past:
        first = versions[0].value if versions else None
        if first is not None and first["version"] > 1:
            raise NotFound(
                f"the version of {path} at operation {operation} is no longer kept",
                hint="superseded versions are pruned after retention.versionDays",
            )
        return None
    value = past[-1].value
    return None if value is None else Given(value["content"], value["ids"])


class _Answer:
    """What a merge may say besides a text."""


_SAME = _Answer()
_TORN = _Answer()


def _merged(
    path: str, before: dict[str, Any] | None, after: dict[str, Any] | None, now: dict[str, Any] | None, *, day: str
) -> Given | _Answer | None:
    """What becomes of a document: its text, None to delete it, or that it stays, or that it cannot be decided."""
    if _text(now) == _text(before):
        return _SAME
    if _text(now) == _text(after):
        return None if before is None else Given(before["content"], before["ids"])
    if after is None or now is None:
        return _TORN
    found = revert_change(path, None if before is None else _stood(before), _stood(after), _stood(now), day=day)
    if found is None:
        return _TORN
    text, ids = found
    return None if text is None else Given(text, ids)


def _stood(record: dict[str, Any]) -> tuple[str, list[str]]:
    return record["content"], record["ids"]


def _text(record: dict[str, Any] | None) -> str | None:
    return None if record is None else str(record["content"])


def _record(reader: Reader, path: str, operation: int | None) -> dict[str, Any] | None:
    """A document as one operation wrote it."""
    if operation is None:
        return None
    for version in reader.past(Kind.DOCUMENT, (path,)):
        if version.operation == operation:
            return version.value
    raise NotFound(
        f"the version of {path} of operation {operation} is no longer kept",
        hint="superseded versions are pruned after retention.versionDays",
    )


def _none_new() -> str:
    raise AssertionError("every block of this write has its id")


def _memories_of(operation: Mapping[str, Any]) -> set[str]:
    """The ids of the memories that an operation changed."""
    return {str(each["key"][0]) for each in operation["changes"] if each["kind"] == Kind.MEMORY.value}


def _memories_at(
    reader: Reader, texts: Mapping[str, Given | None], operation: int, *, only: Collection[str] | None = None
) -> dict[str, dict[str, Any]]:
    """The memories of texts that come back as they were, as they were then: their authors come back with them.

    `only` says which may: others were changed since, and are what they are now.
    """
    found = {}
    for given in texts.values():
        for name in given.ids if given is not None and given.ids is not None else ():
            past = [each for each in reader.history(Kind.MEMORY, (name,)) if each.operation <= operation]
            if past and past[-1].value is not None and (only is None or name in only):
                found[name] = past[-1].value
    return found
