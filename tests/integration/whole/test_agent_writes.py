"""Replies to an agent's writes of memory files, and the writes that are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, ValidationError
from support.daemon import Daemon


def call(client: Client, tool: str, thread: str, **given: Any) -> tuple[Any, bool]:
    """Call a tool; return its result, as JSON where it is no error, and whether it is one."""
    answer = client.call_tool(tool, given, thread=thread)
    return (answer.content if answer.is_error else json.loads(answer.content)), answer.is_error


@pytest.mark.parametrize("tool", ["memory_delete", "memory"])
def test_the_list_of_files_is_not_deleted(client: Client, tool: str) -> None:
    """An agent that deletes MEMORY.md is refused, and what it lists stays; a person may delete it."""
    client.put_document("facts/kept.md", "# Kept\n\n- The beacon is lit at dusk\n")
    client.sync_now()
    thread = client.create_thread().id
    given = {"path": "MEMORY.md"} if tool == "memory_delete" else {"command": "delete", "path": "/memories/MEMORY.md"}
    answer = client.call_tool(tool, given, thread=thread)
    assert answer.is_error
    assert "MEMORY.md lists the memory files" in answer.content
    assert "facts/kept.md" in client.document("MEMORY.md").content


def test_a_write_says_how_many_memories_it_dropped(client: Client) -> None:
    """A whole file written without memories that it had says how many; one that keeps or changes them says nothing."""
    thread = client.create_thread().id
    path = "facts/locks.md"
    two = "# Locks\n\n- The north lock leaks in winter\n- The south lock was rebuilt in 1990\n"
    assert call(client, "memory_write", thread, path=path, content=two) == ({"success": True}, False)
    changed = two.replace("1990", "1991")
    assert call(client, "memory_write", thread, path=path, content=changed) == ({"success": True}, False)
    answer, _ = call(client, "memory_write", thread, path=path, content="# Locks\n")
    assert answer["note"].startswith("2 memories of the file deleted by this")


def test_an_append_says_where_it_went(client: Client) -> None:
    """An append to a file without memories says so, and one to the file of another project names both projects."""
    thread = client.create_thread(project="harbour").id
    client.create_thread(project="ferry")
    answer, _ = call(client, "memory_append", thread, path="notes.md", entry="The tide is late")
    assert "holds no memories" in answer["note"]
    answer, _ = call(client, "memory_append", thread, path="facts/ferry/project.md", entry="- The ferry has two decks")
    assert answer["note"] == "this file is of the project ferry, and you are in harbour"
    for path in ("facts/harbour/project.md", "facts/user.md"):
        answer, _ = call(client, "memory_append", thread, path=path, entry=f"- A line of {path}")
        assert answer == {"success": True}


@pytest.mark.parametrize("way", ["put", "delete"])
def test_a_token_replaces_no_persons_words_unread(daemon: Daemon, client: Client, way: str) -> None:
    """Over HTTP an agent's token needs the ETag of a document with a person's words; other documents need none."""
    path = f"facts/{way}-beacons.md"
    client.remember(wire.CreateMemory(f"The {way} beacon is red", type="fact", author="person", document=path))
    token = str(client.create_token("default", agent="coder").token)
    with Client(daemon.socket, token=token) as agent:

        def write(path: str, etag: str | None = None) -> None:
            if way == "put":
                agent.put_document(path, "# Beacons\n", etag=etag)
            else:
                agent.delete_document(path, etag=etag)

        with pytest.raises(Conflict) as refused:
            write(path)
        assert "If-Match" in (refused.value.hint or "")
        agent.put_document(f"facts/{way}-own.md", "# Own\n\n- The agent wrote this\n")
        write(f"facts/{way}-own.md")
        write(path, client.document(path).etag)


def test_a_token_deletes_no_folder_with_a_persons_words(daemon: Daemon, client: Client) -> None:
    """A folder has no ETag: an agent's token deletes one without a person's words alone."""
    path = "facts/buoys/red.md"
    client.remember(wire.CreateMemory("The buoy is red", type="fact", author="person", document=path))
    token = str(client.create_token("default", agent="coder").token)
    with Client(daemon.socket, token=token) as agent:
        agent.put_document("facts/floats/own.md", "# Own\n\n- The agent wrote this\n")
        with pytest.raises(Conflict, match=path) as refused:
            agent.delete_folder("facts/buoys")
        assert "If-Match" in (refused.value.hint or "")
        assert agent.delete_folder("facts/floats").documents == 1
    assert client.delete_folder("facts/buoys").documents == 1


def test_a_changed_memory_has_the_name_of_who_changed_it(daemon: Daemon, client: Client) -> None:
    """The words are an agent's by then, whoever wrote the first ones."""
    made = client.remember(wire.CreateMemory("The owl lives in the barn", type="fact", author="person"))
    token = str(client.create_token("default", agent="coder").token)
    with Client(daemon.socket, token=token) as agent:
        agent.change_memory(made.id, wire.ChangeMemory(content="The owl lives in the tower"))
    changed = client.memory(made.id)
    assert (changed.trust, changed.provenance["by"]) == ("agent", "coder")


def test_a_document_is_not_moved_to_where_it_is(client: Client) -> None:
    """No operation says that it was."""
    client.put_document("guides/there.md", "# There\n")
    with pytest.raises(ValidationError, match="there already"):
        client.move_document("guides/there.md", "guides/there.md")
