"""Documents by prefix, moved, and deleted by the folder, and lines inserted: one operation each, which undo reverts."""

from __future__ import annotations

import pytest

from reverie.client import Client
from reverie.errors import Conflict, NotFound, ValidationError
from support.daemon import Daemon

CRANES = "# Cranes\n\n> Summary: the tall crane\n\n- The tall crane lifts nine tonnes\n"
SHIPS = "# Ships\n\n> Summary: the grey ship\n\n- The grey ship leaves on Friday\n"


@pytest.fixture
def harbour(client: Client) -> str:
    """Create two documents below `facts/quay` and one named `facts/quayside.md` beside it; return `facts/quay`."""
    for path, text in (("cranes", CRANES), ("deep/ships", SHIPS)):
        client.put_document(f"facts/quay/{path}.md", text)
    client.put_document("facts/quayside.md", "# Quayside\n\n- The quayside is wet\n")
    return "facts/quay"


def _paths(client: Client, prefix: str) -> list[str]:
    return [document.path for document in client.documents(prefix=prefix).items]


def test_documents_are_listed_by_prefix(client: Client, harbour: str) -> None:
    """Documents are listed by the beginning of their path, page by page; an unknown prefix gives an empty page."""
    assert _paths(client, harbour + "/") == ["facts/quay/cranes.md", "facts/quay/deep/ships.md"]
    assert len(_paths(client, harbour)) == 3
    first = client.documents(prefix=harbour, limit=1)
    assert first.next is not None
    assert client.documents(prefix=harbour, limit=1, after=first.next).items[0].path == "facts/quay/deep/ships.md"
    assert _paths(client, "nowhere/") == []


def test_a_moved_document_keeps_its_memories(daemon: Daemon, client: Client, harbour: str) -> None:
    """A moved document keeps its memories' ids and its old file is gone; undo moves both back."""
    path = f"{harbour}/cranes.md"
    memory = next(memory for memory in client.memories(limit=1000).items if memory.document == path)
    moved = client.move_document(path, "facts/yard/lifting.md")
    assert moved.documents == ["facts/yard/lifting.md"]
    assert client.memory(memory.id).document == "facts/yard/lifting.md"
    assert (daemon.folder / "facts/yard/lifting.md").exists()
    assert not (daemon.folder / path).exists()
    client.undo(moved.operation)
    assert client.memory(memory.id).document == path
    assert (daemon.folder / path).read_text() == client.document(path).content
    assert _paths(client, "facts/yard") == []


def test_a_folder_is_moved_in_one_operation(client: Client, harbour: str) -> None:
    """A folder is moved with all documents below it in one operation; the same key again returns the first answer."""
    moved = client.move_document(harbour, "facts/port", key="move-1")
    assert moved.documents == ["facts/port/cranes.md", "facts/port/deep/ships.md"]
    assert client.move_document(harbour, "facts/port", key="move-1") == moved
    assert _paths(client, harbour) == ["facts/quayside.md"]
    assert client.document("facts/port/deep/ships.md").content.count("grey ship") >= 1
    client.undo(moved.operation)
    assert _paths(client, harbour + "/") == ["facts/quay/cranes.md", "facts/quay/deep/ships.md"]
    client.delete_folder(harbour)


def test_a_move_that_cannot_be_is_refused(client: Client, harbour: str) -> None:
    """Moves onto a document, into itself, of a missing path or to an invalid name are refused; nothing is moved."""
    for error, path, to in (
        (Conflict, f"{harbour}/cranes.md", "facts/quayside.md"),
        (Conflict, f"{harbour}/cranes.md", "facts/QUAYSIDE.md"),
        (ValidationError, harbour, f"{harbour}/inner"),
        (NotFound, "facts/nowhere", "facts/here"),
        (ValidationError, harbour, "../outside"),
        (ValidationError, f"{harbour}/cranes.md", "facts/cranes.exe"),
    ):
        with pytest.raises(error):
            client.move_document(path, to)
    assert len(_paths(client, harbour + "/")) == 2


def test_a_folder_is_deleted_in_one_operation(daemon: Daemon, client: Client, harbour: str) -> None:
    """Deleting a folder deletes its documents and files in one operation; undo restores them."""
    before = {document.path: document.etag for document in client.documents(prefix=harbour + "/").items}
    deleted = client.delete_folder(harbour)
    assert (deleted.documents, deleted.memories) == (2, 2)
    assert _paths(client, harbour) == ["facts/quayside.md"]
    assert not (daemon.folder / harbour / "cranes.md").exists()
    client.undo(deleted.operation)
    assert {document.path: document.etag for document in client.documents(prefix=harbour + "/").items} == before
    assert (daemon.folder / harbour / "deep/ships.md").exists()
    with pytest.raises(NotFound):
        client.delete_folder("facts/nowhere")
    refused = daemon.ask("DELETE", f"/v1/documents/{harbour}").json()
    assert (refused["error"], refused["details"]["reason"]) == ("validation_error", "suffix")
    assert "?folder=true" in refused["details"]["hint"]
    answer = daemon.ask("DELETE", f"/v1/documents/{harbour}?folder=true&purge=true")
    assert (answer.status, answer.json()["error"]) == (400, "validation_error")


def test_lines_are_inserted(client: Client, harbour: str) -> None:
    """Lines are inserted behind a line, at the beginning or the end; a line number out of range is refused."""
    path = "notes.txt"
    client.put_document(path, "one\nthree\n")
    inserted = client.insert_lines(path, 1, "two\n")
    assert client.document(path).content == "one\ntwo\nthree\n"
    assert inserted.etag == client.document(path).etag
    client.insert_lines(path, 3, "four")
    client.insert_lines(path, 0, "zero", etag=client.document(path).etag)
    assert client.document(path).content == "zero\none\ntwo\nthree\nfour\n"
    with pytest.raises(ValidationError, match="5 lines") as refused:
        client.insert_lines(path, 6, "six")
    assert refused.value.hint == "give a line from 0 to 5"
    with pytest.raises(Conflict):
        client.insert_lines(path, 0, "stale", etag=inserted.etag)
    client.delete_folder(harbour)
