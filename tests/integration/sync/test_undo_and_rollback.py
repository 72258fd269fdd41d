"""Undo and rollback of file changes and conflicts, through a daemon."""

from __future__ import annotations

import pytest

from reverie import wire
from reverie.errors import NotFound, ReverieError, ValidationError
from reverie.usecases.conflicts import Keep
from support.daemon_folder import Tree
from support.pages import newest_operation

TEXT = "# Facts\n\n- Name: Ada\n- Role: engineer\n"


def disputed(shared: Tree, name: str) -> wire.Conflict:
    """Create and return a conflict: an agent and a person changed the same word of a document."""
    shared.client.put_document(name, TEXT)
    buffer = shared.read(name)
    shared.client.patch_document(name, [("engineer", "cook")])
    shared.save(name, buffer.replace("engineer", "pilot"))
    shared.agree()
    [found] = of(shared, name)
    return found


def of(shared: Tree, name: str) -> list[wire.Conflict]:
    """Return the open conflicts of a document."""
    return [item for item in shared.client.conflicts().items if item.path == name]


def assert_open(shared: Tree, name: str, found: wire.Conflict) -> None:
    """Assert that a conflict is open: the person's text in the file, the agent's in the conflict copy."""
    assert of(shared, name) == [found]
    assert "Role: pilot" in shared.read(name)
    assert "Role: cook" in shared.read(str(found.copy))
    conflict = shared.client.conflict(found.id)
    assert ["pilot" in conflict.file_text, "cook" in conflict.store_text] == [True, True]


def is_over(shared: Tree, name: str, found: wire.Conflict, *, text: str) -> None:
    """Assert that a document has no open conflict, its conflict copy is deleted, and its text contains `text`."""
    assert of(shared, name) == []
    assert shared.stored(str(found.copy)) is None
    assert not shared.path(str(found.copy)).exists()
    assert text in shared.read(name)


def test_a_write_without_a_change_has_no_operation(shared: Tree) -> None:
    """An undo or rollback that changes nothing returns no operation and adds none."""
    client, name = shared.client, "facts/twice.md"
    client.put_document(name, "- Name: Ada\n")
    written = newest_operation(client).id
    client.patch_document(name, [("Ada", "Eve")])
    changed = newest_operation(client).id
    first = client.undo(changed)
    assert first.operation == newest_operation(client).id

    again = client.undo(changed)
    shared.agree()  # the list follows
    last = client.operations(limit=1).items[0].id
    there = [client.rollback(written, path=name), client.rollback(last)]

    assert (again.operation, again.undone, again.changes) == (None, changed, [])
    assert [(done.operation, done.documents, done.records) for done in there] == [(None, [], 0)] * 2
    assert client.operations(limit=1).items[0].id == last
    with pytest.raises(NotFound, match=r"no document 'facts/never\.md'") as caught:
        client.rollback(written, path="facts/never.md")
    assert "reverie log" in str(caught.value.hint)


@pytest.mark.parametrize("keep", ["file", "store", "both"])
def test_undoing_a_settlement_opens_the_conflict_again(shared: Tree, keep: Keep) -> None:
    """Undoing the resolution of a conflict opens the conflict again; undoing that undo resolves it again."""
    name = f"facts/again-{keep}.md"
    found = disputed(shared, name)
    words = {"file": "Role: pilot", "store": "Role: cook", "both": "Role: pilot\n- Role: cook"}

    done = shared.client.resolve(found.id, wire.Resolve(keep=keep)).operation
    back = shared.client.undo(str(done)).operation
    assert_open(shared, name, found)
    redone = shared.client.undo(str(back)).operation
    is_over(shared, name, found, text=words[keep])
    shared.client.undo(str(redone))
    assert_open(shared, name, found)

    shared.client.resolve(found.id, wire.Resolve(keep="store"))
    is_over(shared, name, found, text="Role: cook")
    shared.agree()
    is_over(shared, name, found, text="Role: cook")


def test_a_restored_copy_opens_its_conflict(shared: Tree) -> None:
    """Undoing the deletion of a conflict copy opens its conflict again."""
    name = "facts/copy.md"
    found = disputed(shared, name)
    shared.path(str(found.copy)).unlink()
    shared.agree()
    assert of(shared, name) == []

    [deleted] = [each for each in shared.client.document_history(str(found.copy)).items if each.etag is None]
    shared.client.undo(deleted.operation)

    assert_open(shared, name, found)


@pytest.mark.parametrize("back", ["undo", "rollback"])
def test_undoing_the_disputed_save_closes_the_conflict(shared: Tree, back: str) -> None:
    """Undo or rollback of the save that opened a conflict closes it and deletes its copy; undoing that opens it."""
    name = f"facts/opened-{back}.md"
    found = disputed(shared, name)
    if back == "undo":
        done = shared.client.undo(str(found.operation)).operation
    else:
        done = shared.client.rollback(str(int(str(found.operation)) - 1)).operation
    is_over(shared, name, found, text="Role: cook")

    shared.client.undo(str(done))
    assert_open(shared, name, found)


def test_a_rollback_to_before_the_settlement_opens_the_conflict(shared: Tree) -> None:
    """A rollback of the space, or of the copy alone, to before the settling opens the conflict."""
    name = "facts/returned.md"
    found = disputed(shared, name)
    before = newest_operation(shared.client).id
    shared.client.resolve(found.id, wire.Resolve(keep="file"))
    whole = shared.client.rollback(before).operation
    assert_open(shared, name, found)
    shared.client.undo(str(whole))
    is_over(shared, name, found, text="Role: pilot")

    shared.client.rollback(before, path=name)
    is_over(shared, name, found, text="Role: pilot")
    shared.client.rollback(before, path=str(found.copy))
    assert_open(shared, name, found)


def test_a_conflict_follows_the_rollback_of_a_move(shared: Tree) -> None:
    """A conflict follows its document's move and the undo of it; a rollback that deletes the document closes it."""
    name, moved = "facts/here.md", "facts/there.md"
    found = disputed(shared, name)
    before = newest_operation(shared.client).id
    shared.path(name).rename(shared.path(moved))
    shared.agree()
    assert [item.id for item in of(shared, moved)] == [found.id]

    [gone] = [each for each in shared.client.document_history(name).items if each.etag is None]
    back = shared.client.undo(gone.operation).operation
    assert_open(shared, name, found)
    shared.client.undo(str(back))
    assert [item.id for item in of(shared, moved)] == [found.id]
    shared.client.rollback(before, path=moved)
    assert shared.stored(moved) is None
    assert of(shared, moved) == of(shared, name) == []


def test_an_unknown_operation_is_not_found(shared: Tree) -> None:
    """Calls for an unknown operation raise NotFound; operation 0 is the state before the first one."""
    client, name = shared.client, "facts/when.md"
    client.put_document(name, "- Name: Ada\n")
    last = newest_operation(client).id
    asked = (
        lambda: client.difference("99999"),
        lambda: client.difference(last, "99999"),
        lambda: client.document(name, at="99999"),
        lambda: client.document("MEMORY-INDEX.json", at="99999"),
        lambda: client.rollback("99999"),
    )
    for ask in asked:
        with pytest.raises(NotFound, match="no operation 99999") as caught:
            ask()
        assert caught.value.hint == "reverie log lists them"

    with pytest.raises(NotFound, match="no document 'facts/never"):
        client.difference(last, path="facts/never.md")
    with pytest.raises(NotFound, match="at operation"):
        client.document("MEMORY-INDEX.json", at=last)
    [there] = client.difference("0", last, path=name).items
    assert (there.before, there.after) == (None, client.document(name, at=last).content)


@pytest.mark.parametrize("odd", ["zz", "-1", "1.0", "9" * 19, ""])
def test_an_operation_that_is_no_number_is_refused(shared: Tree, odd: str) -> None:
    """An operation that is not a number is refused by every route, with the command that lists the numbers."""
    client, name = shared.client, "facts/odd.md"
    client.put_document(name, TEXT)
    asked = (
        lambda: client.difference(odd),
        lambda: client.difference("1", odd),
        lambda: client.document(name, at=odd),
        lambda: client.rollback(odd),
        lambda: client.rollback(odd, path=name),
    )
    for ask in asked:
        with pytest.raises(ValidationError) as caught:
            ask()
        assert "the number of an operation" in caught.value.message
        assert caught.value.hint == "reverie log lists them"


def test_every_hint_is_a_command(shared: Tree) -> None:
    """Errors about unknown things, and about undo, have hints that begin with an existing command."""
    client = shared.client
    client.create_thread(id="hinted")
    client.add_schedule("0 3 * * *")
    asked = (
        (lambda: client.document("facts/nope.md"), "reverie log"),
        (lambda: client.document_history("facts/nope.md"), "reverie log"),
        (lambda: client.delete_note("hinted", "note_nope"), "reverie note hinted"),
        (lambda: client.dream_record("dream_nope"), "reverie log"),
        (lambda: client.archive("0" * 64), "reverie archives list"),
        (lambda: client.undo(newest_operation(client).id), "`reverie log` says which can be undone"),
    )
    for ask, hint in asked:
        with pytest.raises(ReverieError) as caught:
            ask()
        assert str(caught.value.hint).startswith(hint)
