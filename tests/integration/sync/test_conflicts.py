"""Conflicts: reported with both texts, kept in a copy beside the file, and settled."""

from __future__ import annotations

from typing import Literal

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, Forbidden
from support.daemon_folder import Tree

TEXT = "# User Facts\n\n> Summary: name, role\n\n- Name: Zhang San\n- Role: engineer #job\n- Updated: 2026-02-24\n"


def disputed(shared: Tree, name: str, person: tuple[str, str], agent: tuple[str, str]) -> None:
    """Let an agent and a person change the same words of a document, and sync."""
    shared.client.put_document(name, TEXT)
    buffer = shared.read(name)
    shared.client.patch_document(name, [agent])
    shared.save(name, buffer.replace(*person))
    shared.agree()


def test_the_person_s_text_stays_in_a_conflict(shared: Tree) -> None:
    """The person's text stays, the conflict has both texts, and either can be chosen; undo reverts the choice."""
    name = "facts/both.md"
    disputed(shared, name, ("Role: engineer", "Role: pilot"), ("Role: engineer", "Role: cook"))

    [found] = [item for item in shared.client.conflicts().items if item.path == name]
    assert "Role: pilot" in shared.read(name)
    assert found.copy is not None
    assert "Role: cook" in shared.read(found.copy)
    conflict = shared.client.conflict(found.id)
    assert "Role: pilot" in conflict.file_text
    assert "Role: cook" in conflict.store_text
    assert "sync-conflict" not in shared.client.index().text
    with pytest.raises(Forbidden, match="open conflict"):
        shared.client.delete_document(found.copy)

    done = shared.client.resolve(found.id, wire.Resolve(keep="store"))
    assert "Role: cook" in shared.read(name)
    assert not shared.path(found.copy).exists()
    assert shared.client.conflicts().items == []
    shared.client.undo(str(done.operation))
    assert "Role: pilot" in shared.read(name)


@pytest.mark.parametrize("keep", ["store", "both"])
def test_a_conflict_is_settled_in_its_place_alone(shared: Tree, keep: Literal["store", "both"]) -> None:
    """Choosing the store's text restores only the disputed line, and keeps other edits of the save."""
    name = f"facts/place-{keep}.md"
    begun = "# Facts\n\n- Name: Ada\n- Role: engineer\n- Dog: Rex\n- Cat: Tom\n- City: Oslo\n"
    shared.client.put_document(name, begun)
    buffer = shared.read(name)
    shared.client.patch_document(name, [("Role: engineer", "Role: cook")])
    shared.save(name, buffer.replace("- Role: engineer\n", "").replace("City: Oslo", "City: Oslo, by the water"))
    shared.agree()
    [found] = [item for item in shared.client.conflicts().items if item.path == name]
    assert "Role" not in shared.read(name)

    shared.client.resolve(found.id, wire.Resolve(keep=keep))

    lines = [line for line in shared.read(name).splitlines() if line.startswith("- ")]
    assert lines == ["- Name: Ada", "- Role: cook", "- Dog: Rex", "- Cat: Tom", "- City: Oslo, by the water"]


def test_an_agent_does_not_settle_a_conflict_with_what_a_person_forgot(shared: Tree) -> None:
    """Neither the store's words nor a text of its own bring a forgotten line back; the person may choose it."""
    name, gone = "facts/held.md", "Role: keeper of the north lighthouse"
    disputed(shared, name, ("Role: engineer", "Role: pilot"), ("Role: engineer", gone))
    [found] = [item for item in shared.client.conflicts().items if item.path == name]
    shared.client.forget(shared.client.remember(wire.CreateMemory(gone, type="fact", author="person")).id)
    agent_token = shared.client.create_token("default", agent="coder").token
    with Client(shared.daemon.socket, token=agent_token) as agent:
        for choice in (wire.Resolve(keep="store"), wire.Resolve(content=TEXT.replace("Role: engineer", gone))):
            with pytest.raises(Conflict, match="waits in review"):
                agent.resolve(found.id, choice)
        assert gone not in shared.read(name)
        shared.client.resolve(found.id, wire.Resolve(keep="store"))
    assert gone in shared.read(name)


def test_deleting_the_copy_settles_a_conflict(shared: Tree) -> None:
    """Deleting the conflict copy settles the conflict for the person's text."""
    name = "facts/settled.md"
    disputed(shared, name, ("Zhang San", "Wang Wu"), ("Zhang San", "Li Si"))
    [found] = [item for item in shared.client.conflicts().items if item.path == name]
    shared.path(str(found.copy)).unlink()
    shared.agree()

    assert [item for item in shared.client.conflicts().items if item.path == name] == []
    assert "Wang Wu" in shared.read(name)


def test_a_conflict_goes_along_when_its_folder_gets_another_name(shared: Tree) -> None:
    """A conflict follows document and copy to a renamed folder, and can be settled there."""
    name = "facts/before/moving.md"
    disputed(shared, name, ("Zhang San", "Wang Wu"), ("Zhang San", "Li Si"))
    shared.path("facts/before").rename(shared.path("facts/after"))
    shared.agree()

    [found] = [item for item in shared.client.conflicts().items if item.path.endswith("/moving.md")]
    assert found.path == "facts/after/moving.md"
    assert str(found.copy).startswith("facts/after/")
    shared.client.append_entry(found.path, "- Since: then")
    shared.client.resolve(found.id, wire.Resolve(keep="both"))
    text = shared.read(found.path)
    assert [word in text for word in ("Wang Wu", "Li Si", "Since: then")] == [True, True, True]
    assert not shared.path(str(found.copy)).exists()


@pytest.mark.parametrize("keep", ["file", "store", "both"])
def test_the_other_text_of_a_deleted_document_can_be_chosen(
    shared: Tree, keep: Literal["file", "store", "both"]
) -> None:
    """The other text of a deleted document can be chosen, and an undo opens the conflict again."""
    name = f"facts/gone-{keep}.md"
    disputed(shared, name, ("engineer", "pilot"), ("engineer", "cook"))
    [found] = [item for item in shared.client.conflicts().items if item.path == name]
    other = shared.read(str(found.copy))
    shared.path(name).unlink()
    shared.agree()
    assert shared.stored(name) is None
    conflict = shared.client.conflict(found.id)
    assert (conflict.file_text, conflict.store_text) == ("", other)

    done = shared.client.resolve(found.id, wire.Resolve(keep=keep))

    assert shared.stored(name) == (None if keep == "file" else other)
    assert shared.path(name).exists() == (keep != "file")
    assert (done.etag is None) == (keep == "file")
    assert not shared.path(str(found.copy)).exists()
    shared.client.undo(str(done.operation))
    assert [item for item in shared.client.conflicts().items if item.path == name] == [found]
    assert (shared.stored(name), shared.read(str(found.copy))) == (None, other)
