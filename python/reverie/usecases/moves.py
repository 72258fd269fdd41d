"""Documents moved, folders deleted, lines inserted: each one operation, which an undo takes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.documents.project_paths import PERSON
from reverie.errors import Conflict, Forbidden, NotFound, ValidationError
from reverie.paths import existing_spelling
from reverie.store import DocumentRecord, Write
from reverie.usecases import documents
from reverie.usecases.conflicts import open_conflicts
from reverie.usecases.forgotten_writes import hold_forgotten
from reverie.usecases.put import Author, NewText, no_new_ids, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reverie.store import Reader, Writer


def below(reader: Reader, folder: str) -> list[DocumentRecord]:
    """Return the documents below a folder, by path.

    Raises:
        NotFound: there is none.
    """
    prefix = folder.strip("/") + "/"
    records = [record for _, record in reader.records(DocumentRecord) if record.path.startswith(prefix)]
    if not records:
        raise NotFound(
            f"there is no document below {prefix!r}", hint="GET /v1/documents?prefix= lists those that begin so"
        )
    return records


def moved_paths(reader: Reader, path: str, to: str) -> dict[str, str]:
    """Return the new path of each document that a move of `path` (a document or a folder) moves, by its old one.

    Raises:
        NotFound: there is neither a document nor a folder at `path`.
        Conflict: a document is at a new path, or one that is the same name on other systems.
        ValidationError: a new path is no name for a document, or is inside the folder that is moved.
    """
    path, to = path.strip("/"), to.strip("/")
    if reader.load(DocumentRecord, (path,)) is not None:
        moved = {path: documents.writable_path(to)}
    else:
        records = below(reader, path)
        if f"{to}/".startswith(f"{path}/"):
            raise ValidationError(f"{to} is inside {path}", hint="move it to another folder", field="to")
        moved = {record.path: documents.writable_path(to + record.path[len(path) :]) for record in records}
    others = [record.path for _, record in reader.records(DocumentRecord) if record.path not in moved]
    for new in moved.values():
        if new in others or existing_spelling(new, others) is not None:
            raise Conflict(
                f"there is a document {existing_spelling(new, others) or new!r} already",
                hint="choose another path, or delete that document first",
                reason="exists",
            )
    return moved


def move(
    space: str,
    path: str,
    to: str,
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    idempotency: tuple[str, str] | None = None,
    origin: Mapping[str, str] | None = None,
) -> Write[wire.DocumentsMoved]:
    """Return the write that moves a document, or a folder with its documents; memories keep ids and history.

    A text that becomes memories at its new path is written there: its body raises HeldForPerson where an agent moves
    what a person forgot, and what an agent makes memories in this way has an agent's trust.
    """

    def body(writer: Writer) -> wire.DocumentsMoved:
        moved = moved_paths(writer, path, to)
        in_conflict = {name for conflict in open_conflicts(writer) for name in (conflict.path, conflict.copy)}
        if old := next((old for old in moved if old in in_conflict), None):
            raise Forbidden(f"{old} has an open conflict", hint="reverie sync resolve settles it")
        texts: dict[str, NewText | None] = {}
        for old, new in moved.items():
            text = documents.get(writer, old).content
            documents.check_storable(new, text)
            texts |= {old: None, new: NewText(text)} if old != new else {}
        put_texts(writer, texts, author=author, at=writer.at, new_id=new_id, provenance={"by": who, **(origin or {})})
        for new in moved.values():
            hold_forgotten(writer, documents.get(writer, new), who=who)
        return wire.DocumentsMoved(path=path, to=to, operation=str(writer.number), documents=sorted(moved.values()))

    return Write(
        space=space, who=who, why="document.move", body=body, idempotency=idempotency, answers=wire.DocumentsMoved
    )


def delete_folder(
    space: str, path: str, *, who: str, author: Author, origin: Mapping[str, str] | None = None
) -> Write[wire.DocumentDeleted]:
    """Return the write that deletes every document below a folder with its memories; `undo` restores them."""

    def body(writer: Writer) -> wire.DocumentDeleted:
        records = below(writer, path)
        copies = {conflict.copy for conflict in open_conflicts(writer)}
        if between := sorted(copies.intersection(record.path for record in records)):
            raise Forbidden(
                f"{between[0]} is the other text of an open conflict", hint="reverie sync resolve settles it"
            )
        put_texts(
            writer,
            dict.fromkeys(record.path for record in records),
            author=author,
            at=writer.at,
            new_id=no_new_ids,
            provenance={"by": who, **(origin or {})},
            forgotten_by=who,
        )
        return wire.DocumentDeleted(
            path=path,
            operation=str(writer.number),
            memories=sum(len(record.ids) for record in records),
            documents=len(records),
        )

    return Write(space=space, who=who, why="document.delete", body=body)


def insert(
    space: str,
    path: str,
    line: int,
    text: str,
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    if_match: str | None = None,
    idempotency: tuple[str, str] | None = None,
    project: str = PERSON,
    origin: Mapping[str, str] | None = None,
) -> Write[DocumentRecord]:
    """Return the write that inserts lines after line `line` of a document (0: at its beginning).

    `text` has passed the redactor.

    The body raises ValidationError if the document has fewer lines.
    """
    path = documents.writable_path(path)

    def body(writer: Writer) -> DocumentRecord:
        documents.require_version(writer, path, if_match)
        document = documents.get(writer, path)
        lines = document.content.split("\n")
        if lines[-1] == "":
            lines.pop()
        if line > len(lines):
            raise ValidationError(
                f"{path} has {len(lines)} lines, and none after which line {line + 1} could come",
                hint=f"give a line from 0 to {len(lines)}",
                field="line",
                reason="out_of_range",
                lines=len(lines),
            )
        lines.insert(line, text.rstrip("\n"))
        after = "\n".join(lines)
        after += "" if after.endswith("\n") else "\n"
        return documents.write_text(
            writer, path, after, who=who, author=author, new_id=new_id, summary=None, project=project, origin=origin
        )

    return Write(
        space=space, who=who, why="document.insert", body=body, idempotency=idempotency, answers=DocumentRecord
    )
