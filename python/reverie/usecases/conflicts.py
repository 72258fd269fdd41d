"""Conflicts between a person's file and the store: told with both texts, and settled by whoever has seen them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from reverie.documents import is_conflict_copy
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.merge import merge3
from reverie.store import Kind, Write
from reverie.usecases.writing import Author, Given, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from reverie.store import Reader, Writer
    from reverie.sync.plan import ConflictCopy

__all__ = ["Keep", "both_texts", "close_gone", "follow", "get", "open_", "opened", "resolve", "return_to", "take_back"]

Keep: TypeAlias = Literal["file", "store", "both"]


def open_(writer: Writer, copy: ConflictCopy, conflict_id: str, at: str) -> None:
    """Notes that two changed one document: the person's text stands, the other one is at the copy's path."""
    writer.put(
        Kind.CONFLICT,
        (conflict_id,),
        {
            "id": conflict_id,
            "path": copy.path,
            "copy": copy.copy_path,
            "text": copy.text,
            "regions": [{"file": each.person, "store": each.store, "at": each.at} for each in copy.regions],
            "openedAt": at,
            "operation": writer.number,
        },
    )
    writer.event("conflict.opened", {"conflictId": conflict_id, "path": copy.path})


def follow(writer: Writer, moves: Mapping[str, str], written: Iterable[str]) -> None:
    """Lets conflicts go where people put their files: the document by its move, the copy by its name, which is unique.

    `moves` has the new path of each document that was moved, `written` all paths at which people put a file.
    """
    copies = {PurePosixPath(path).name: path for path in written if is_conflict_copy(path)}
    for held in opened(writer) if moves or copies else ():
        path = moves.get(held["path"], held["path"])
        copy = copies.get(PurePosixPath(held["copy"]).name, held["copy"])
        if (path, copy) != (held["path"], held["copy"]):
            begun = held.get("from", held["path"])  # where the text is kept that the conflict was found in
            writer.put(Kind.CONFLICT, (held["id"],), {**held, "path": path, "copy": copy, "from": begun})


def close_gone(writer: Writer, paths: Iterable[str]) -> None:
    """Closes the conflicts whose copies a person has deleted: that says that it is settled."""
    gone = set(paths)
    for held in opened(writer) if gone else ():
        if held["copy"] in gone:
            _close(writer, held)


def take_back(writer: Writer, operation: Mapping[str, Any], paths: Iterable[str]) -> None:
    """Lets conflicts be what they were before `operation`, whose undo changed the documents at `paths`.

    One that it opened is closed, one that it settled is open again, one that it took along goes back. Others are closed
    where the undo took their document or their copy away.
    """
    told = set()
    for change in operation["changes"]:
        if change["kind"] != Kind.CONFLICT.value:
            continue
        name, before = str(change["key"][0]), change["before"]
        if before is None or change["after"] == writer.version(Kind.CONFLICT, (name,)):
            _become(writer, name, None if before is None else _as_of(writer, name, before))
            told.add(name)
    _close_without(writer, paths, but=told)


def return_to(writer: Writer, operation: int, paths: Collection[str], *, whole: bool) -> None:
    """Lets conflicts be what they were after `operation`, to which the documents at `paths` have gone back.

    Where not the `whole` space did: one that was settled since is open again if its copy is there again, and one that
    has lost its document or its copy to this is closed.
    """
    for name in writer.touched(Kind.CONFLICT, operation):
        then = _as_of(writer, name, operation)
        if whole or _is_back(writer, then, paths):
            _become(writer, name, then)
    if not whole:
        _close_without(writer, paths)


def opened(reader: Reader) -> list[dict[str, Any]]:
    """The open conflicts, oldest first."""
    return [held for _, held in reader.scan(Kind.CONFLICT)]


def get(reader: Reader, conflict_id: str) -> dict[str, Any]:
    """One open conflict.

    Raises:
        NotFound: there is none, or it is settled.
    """
    found = reader.get(Kind.CONFLICT, (conflict_id,))
    if found is None:
        raise NotFound(f"no open conflict is called {conflict_id!r}", hint="reverie sync conflicts lists them")
    return found


def both_texts(reader: Reader, held: dict[str, Any]) -> tuple[str, str]:
    """The document as it is now, and its copy: what the store had, and what people wrote into it since."""
    return _content(reader, held["path"]) or "", _other(reader, held)


def resolve(
    space: str,
    conflict_id: str,
    *,
    keep: Keep | None,
    content: str | None,
    who: str,
    author: Author,
    seen: tuple[str, str] | None = None,
    new_id: Callable[[], str],
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Settles a conflict: the file's text stays, the store's comes back in its places, both stand, or `content` does.

    The body answers `{"id", "path", "copy", "etag", "operation"}`; what changed in the document meanwhile stays. It
    raises Conflict where the choice and a later change do not go together, and where the texts are not those that the
    caller could have `seen`.
    """
    if (keep is None) == (content is None):
        raise ValidationError(
            "say either which side to keep or the text", hint='give {"keep": "file"|"store"|"both"} or {"content": …}'
        )

    def body(writer: Writer) -> dict[str, Any]:
        held = get(writer, conflict_id)
        if seen is not None and seen != both_texts(writer, held):
            raise Conflict("one of the texts was changed just now", hint="read both again, then decide")
        texts: dict[str, Given | None] = {}
        if content is not None:
            texts[held["path"]] = Given(content)
        elif keep is not None and keep != "file":
            texts[held["path"]] = Given(_chosen(writer, held, keep))
        if writer.get(Kind.DOCUMENT, (held["copy"],)) is not None:
            texts[held["copy"]] = None
        put_texts(writer, texts, author=author, at=writer.at, new_id=new_id, provenance={"by": who})
        _close(writer, held)
        document = writer.get(Kind.DOCUMENT, (held["path"],))
        return {
            "id": conflict_id,
            "path": held["path"],
            "copy": held["copy"],
            "etag": None if document is None else document["sha256"],
            "operation": str(writer.number),
        }

    return Write(space=space, who=who, why="conflict.resolve", body=body, idempotency=idempotency)


def _chosen(writer: Writer, held: dict[str, Any], keep: Keep) -> str:
    """The document with the store's words in the places of the conflict, or behind the person's.

    Of a document that is gone nothing is left but the other text.
    """
    now = _content(writer, held["path"])
    other = _other(writer, held)
    if now is None:
        return other
    then = _text_at(writer, held)
    regions = held["regions"] if other == held["text"] else ()  # an edited copy stands as a whole
    wanted = _placed(then, regions, keep) if regions else _behind(then, other) if keep == "both" else other
    merged = merge3(then, now, wanted)
    if not merged.clean:
        raise Conflict(
            f"{held['path']} was changed in the same places since",
            hint="say the text yourself: reverie sync resolve ID --content FILE",
            conflicts=len(merged.conflicts),
        )
    return merged.text


def _content(reader: Reader, path: str) -> str | None:
    document = reader.get(Kind.DOCUMENT, (path,))
    return None if document is None else str(document["content"])


def _other(reader: Reader, held: dict[str, Any]) -> str:
    """The text beside the person's: the copy as it is now."""
    copy = _content(reader, held["copy"])
    return str(held["text"]) if copy is None else copy


def _text_at(reader: Reader, held: dict[str, Any]) -> str:
    """The document as the conflict left it: with the person's words in place."""
    for version in reader.past(Kind.DOCUMENT, (held.get("from", held["path"]),)):
        if version.operation <= held["operation"] and version.value is not None:
            return str(version.value["content"])
    raise Conflict(f"the version of {held['path']} that this is about is no longer kept", hint="give `content`")


def _placed(text: str, regions: Sequence[dict[str, Any]], keep: Keep) -> str:
    """The text with the store's words in each place, instead of the person's or behind them."""
    places = [(_place(text, region), region) for region in regions]
    for begin, region in sorted(places, key=lambda each: each[0], reverse=True):
        end = begin + len(region["file"])
        text = text[: end if keep == "both" else begin] + region["store"] + text[end:]
    return text


def _place(text: str, region: dict[str, Any]) -> int:
    """Where a place of the conflict begins: where it was noted, or where its words are, if they are there once."""
    at, words = region.get("at"), region["file"]
    if at is not None and text.startswith(words, at):
        return int(at)
    found = text.find(words)
    if not words or found < 0 or text.find(words, found + 1) >= 0:
        raise Conflict(
            "it is not known for certain where a place of the conflict is",
            hint="say the text yourself: reverie sync resolve ID --content FILE",
        )
    return found


def _behind(text: str, whole: str) -> str:
    """The whole other text behind this one."""
    return text + ("" if text.endswith("\n") else "\n") + "\n" + whole


def _as_of(reader: Reader, name: str, operation: int) -> dict[str, Any] | None:
    """A conflict as it was after `operation`; None where it was not open, or what it was is no longer kept."""
    past = reader.past(Kind.CONFLICT, (name,))
    return next((version.value for version in past if version.operation <= operation), None)


def _is_back(reader: Reader, then: dict[str, Any] | None, paths: Collection[str]) -> bool:
    """Whether a settled conflict has its copy again, where one of its documents is among `paths`."""
    if then is None or not {then["path"], then["copy"]} & set(paths):
        return False
    return reader.get(Kind.CONFLICT, (then["id"],)) is None and _content(reader, then["copy"]) is not None


def _become(writer: Writer, name: str, then: dict[str, Any] | None) -> None:
    """Opens a conflict again, puts it where it was, or closes it (None)."""
    now = writer.get(Kind.CONFLICT, (name,))
    if then is not None:
        writer.put(Kind.CONFLICT, (name,), then)
        if now is None:
            writer.event("conflict.opened", {"conflictId": name, "path": then["path"]})
    elif now is not None:
        _close(writer, now)


def _close_without(writer: Writer, paths: Iterable[str], *, but: Collection[str] = ()) -> None:
    """Closes the conflicts whose document or copy was among `paths` and is not there any more."""
    gone = {path for path in paths if _content(writer, path) is None}
    for held in opened(writer) if gone else ():
        if held["id"] not in but and {held["path"], held["copy"]} & gone:
            _close(writer, held)


def _close(writer: Writer, held: dict[str, Any]) -> None:
    writer.delete(Kind.CONFLICT, (held["id"],))
    writer.event("conflict.closed", {"conflictId": held["id"], "path": held["path"]})
