"""Agents' tools over the API: definitions, results, errors that an agent can act on, and the sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reverie import tools, wire
from reverie.client import Client
from reverie.errors import Conflict, NotFound, ValidationError
from support.daemon import Daemon, check_refused, running_daemon
from support.daemon_folder import Tree, bytes_below, tree
from support.hostile_cases import all_path_cases
from support.pages import refused, result_of

INDEX = """\
Available memory:
- facts/user.md (320B): user name, language, role
- facts/project.md (210B): tech stack, conventions
- episodes/2026-02.md (1.2KB): logger fix, short ID, config refactor

Use memory_read to load relevant files before responding."""
"""Seed 004, section 5."""

USER = "# User Facts\n\n> Summary: user name, role\n\n- Name: Ann\n- Role: harbour master\n- Updated: 2026-02-24\n"


def test_the_definitions_are_served_in_every_form(client: Client, daemon: Daemon) -> None:
    """Each format returns the library's tool definitions; an unknown format is refused with the known ones."""
    for form in tools.FORMATS:
        assert client.tools(form).items == tools.definitions(form)
    assert daemon.ask("GET", "/v1/tools").json() == {"items": tools.definitions("anthropic"), "next": None}
    answer = daemon.ask("GET", "/v1/tools?format=xml")
    check_refused(answer, 400, "validation_error")
    assert "anthropic, mcp, openai" in answer.json()["details"]["hint"]


def test_an_unknown_tool_is_not_found(daemon: Daemon) -> None:
    """404 with the names of all tools."""
    answer = daemon.ask("POST", "/v1/tools/memory_burn", {"input": {}})
    check_refused(answer, 404, "not_found")
    assert "memory_patch" in answer.json()["details"]["hint"]


def test_the_index_is_literally_the_specified_one(folder: Tree) -> None:
    """Three user files give exactly the specified index text; `memory_list` has their paths, summaries and sizes."""
    filled("facts/user.md", "# User Facts\n\n> Summary: user name, language, role\n\n- Name: Zoë\n", 320, folder)
    filled("facts/project.md", "# Project Facts\n\n> Summary: tech stack, conventions\n\n- Uses Bun\n", 210, folder)
    head = "# 2026-02 Episodes\n\n> Summary: logger fix, short ID, config refactor\n\n## Logger\n- Summary: a → b\n"
    filled("episodes/2026-02.md", head, 1229, folder)
    folder.agree()
    index = folder.client.index()

    assert index.text == INDEX
    assert result_of(folder.client, "memory_list") == [
        {"path": "facts/user.md", "summary": "user name, language, role", "size": 320},
        {"path": "facts/project.md", "summary": "tech stack, conventions", "size": 210},
        {"path": "episodes/2026-02.md", "summary": "logger fix, short ID, config refactor", "size": 1229},
    ]
    assert len(folder.read("facts/user.md").encode()) == 320


def filled(name: str, text: str, size: int, folder: Tree) -> None:
    """Save `text` with one more line that makes it `size` bytes long."""
    line = "- Note: " if name.startswith("facts") else "- Lesson: "
    rest = size - len(text.encode()) - len(line) - 1
    folder.save(name, text + line + ("tide " * size)[: rest - 1] + ".\n")


def test_a_file_is_written_read_patched_and_appended_to(folder: Tree) -> None:
    """Each answer is as specified, and the user's folder has the file at once."""
    client = folder.client
    assert result_of(
        client, "memory_write", path="facts/harbour.md", content="# Harbour\n\n- Piers: 3\n- Depth: 9 m\n"
    ) == {"success": True}
    text = result_of(client, "memory_read", path="facts/harbour.md")
    assert "- Piers: 3\n" in text
    assert text == folder.read("facts/harbour.md")

    patches = [{"oldText": "Piers: 3", "newText": "Piers: 4"}, {"oldText": "- Depth: 9 m\n", "newText": ""}]
    assert result_of(client, "memory_patch", path="facts/harbour.md", patches=patches) == {
        "success": True,
        "appliedCount": 2,
    }
    assert "- Piers: 4\n" in folder.read("facts/harbour.md")
    assert "Depth" not in folder.read("facts/harbour.md")

    entry = "## Buoy relit\n- Summary: dark buoy → new fuse\n- Date: 2026-11-20\n- Lesson: check the fuse first"
    assert result_of(client, "memory_append", path="episodes/2026-11.md", entry=entry) == {"success": True}
    assert result_of(
        client, "memory_append", path="facts/harbour.md", entry="- Lights: green", summary="piers, lights"
    ) == {"success": True}
    listed = {item["path"]: item for item in result_of(client, "memory_list")}
    assert listed["facts/harbour.md"]["summary"] == "piers, lights"
    assert listed["episodes/2026-11.md"]["size"] == len(folder.read("episodes/2026-11.md").encode())
    assert "check the fuse first" in folder.read("episodes/2026-11.md")


def test_a_just_saved_file_is_read(folder: Tree) -> None:
    """The tool reads the file itself and does not wait for the watcher."""
    result_of(folder.client, "memory_write", path="facts/hand.md", content="# Hand\n\n- Ink: blue\n")
    folder.save("facts/hand.md", folder.read("facts/hand.md").replace("blue", "green"))
    assert "- Ink: green" in result_of(folder.client, "memory_read", path="facts/hand.md")
    result_of(folder.client, "memory_append", path="facts/hand.md", entry="- Paper: white")
    assert {"- Ink: green", "- Paper: white"} <= set(folder.read("facts/hand.md").splitlines())


def test_a_write_loses_no_unread_text(folder: Tree) -> None:
    """A user's edit since the agent's read is merged; a write over unread text, or over a line both changed, fails."""
    client = folder.client
    folder.save("facts/tide.md", "# Tide\n\n- Low: six\n- High: noon\n- Neap: monday\n")
    error = refused(client, "memory_write", path="facts/tide.md", content="# Tide\n\n- Spring: friday\n")
    assert "memory_read" in error
    assert "- High: noon" in folder.read("facts/tide.md")

    content = result_of(client, "memory_read", path="facts/tide.md")
    folder.save("facts/tide.md", folder.read("facts/tide.md").replace("Low: six", "Low: seven"))
    result_of(client, "memory_write", path="facts/tide.md", content=content.replace("Neap: monday", "Neap: sunday"))
    assert {"- Low: seven", "- High: noon", "- Neap: sunday"} <= set(folder.read("facts/tide.md").splitlines())

    result_of(client, "memory_write", path="facts/tide.md", content=content.replace("Neap: monday", "Neap: tuesday"))
    assert {"- Low: seven", "- High: noon", "- Neap: tuesday"} <= set(folder.read("facts/tide.md").splitlines())

    content = result_of(client, "memory_read", path="facts/tide.md")
    folder.save("facts/tide.md", folder.read("facts/tide.md").replace("High: noon", "High: one"))
    error = refused(client, "memory_write", path="facts/tide.md", content=content.replace("High: noon", "High: two"))
    assert "changed since you read it" in error
    assert "- High: one" in folder.read("facts/tide.md")

    result_of(client, "memory_read", path="facts/tide.md")
    result_of(client, "memory_append", path="facts/tide.md", entry="- Moon: full")
    result_of(client, "memory_write", path="facts/tide.md", content="# Tide\n\n- all anew\n")
    result_of(client, "memory_write", path="facts/tide.md", content="# Tide\n\n- and again\n")
    assert "- and again" in folder.read("facts/tide.md")
    assert "Moon" not in folder.read("facts/tide.md")


def test_read_versions_are_per_thread(folder: Tree) -> None:
    """A second thread must read a user's text itself, though the first one has."""
    client = folder.client
    for thread in ("reader", "writer"):
        client.create_thread(id=thread)
    folder.save("facts/mooring.md", "# Mooring\n\n- Rope: 12 mm\n")
    result_of(client, "memory_read", "reader", path="facts/mooring.md")
    assert "memory_read" in refused(client, "memory_write", "writer", path="facts/mooring.md", content="# M\n\n- x\n")
    result_of(client, "memory_write", "reader", path="facts/mooring.md", content="# Mooring\n\n- Rope: 14 mm\n")


def test_parameters_outside_the_input_are_refused(daemon: Daemon) -> None:
    """Parameters beside `input` are refused; the hint shows that they belong inside it."""
    answer = daemon.ask("POST", "/v1/tools/memory_read", {"path": "facts/user.md"})
    check_refused(answer, 400, "validation_error")
    assert answer.json()["details"]["field"] == "path"
    assert '{"input": {...}}' in answer.json()["details"]["hint"]


def test_a_patch_that_does_not_fit_changes_nothing(folder: Tree) -> None:
    """With an absent or ambiguous text none of the patches is applied, and the error has a hint."""
    client = folder.client
    result_of(client, "memory_write", path="facts/exact.md", content="# Exact\n\n- a tide\n- a tide\n- a moon\n")
    before = folder.read("facts/exact.md")
    for old in ("the sun", "- a tide"):
        patches = [{"oldText": "- a moon", "newText": "- the moon"}, {"oldText": old, "newText": "x"}]
        error = refused(client, "memory_patch", path="facts/exact.md", patches=patches)
        assert "exactly as in the document" in error
    assert folder.read("facts/exact.md") == before


def test_errors_have_hints_for_agents(folder: Tree) -> None:
    """Errors name the missing or wrong parameter, the accepted ones or the limit, or a tool that helps."""
    client = folder.client
    assert "memory_list" in refused(client, "memory_read", path="facts/nowhere.md")
    assert "memory_list" in refused(
        client, "memory_patch", path="facts/nowhere.md", patches=[{"oldText": "a", "newText": "b"}]
    )
    assert "`path` is missing" in refused(client, "memory_read")
    wrong = refused(client, "memory_patch", path="a.md", patches=[{"old": "x", "new": "y"}])
    assert "`patches[0].old` is not a known field; each of `patches` takes oldText, newText" in wrong
    assert "memory_write takes path, content" in refused(client, "memory_write", path="a.md", content="x", mode="fast")
    assert "memory_list takes nothing" in refused(client, "memory_list", path="facts/")
    assert "must be a list" in refused(client, "memory_patch", path="a.md", patches="all")
    assert "patches[0].newText" in refused(client, "memory_patch", path="a.md", patches=[{"oldText": "x"}])
    assert "1,048,576" in refused(client, "memory_write", path="facts/long.md", content="word " * 300_000)
    assert "`limit` must be" in refused(client, "recall", query="x", limit=0)
    assert "empty" in refused(client, "memory_append", path="facts/empty.md", entry=" \n ")


def test_an_agent_makes_no_second_spelling_of_a_name(folder: Tree) -> None:
    """A path that differs from an existing one only by case is refused with that path, which can still be written."""
    client = folder.client
    folder.save("facts/harbour.md", "- the crane is blue\n")
    client.sync_now()
    for path in ("facts/Harbour.md", "FACTS/harbour.md", "Facts/new.md"):
        existing = f"facts/{'new' if 'new' in path else 'harbour'}.md"
        assert existing in refused(client, "memory_write", path=path, content="- a second one")
        assert existing in refused(client, "memory_append", path=path, entry="- a second one")
        with pytest.raises(Conflict, match="the same name") as caught:
            client.remember(wire.CreateMemory("a second one", document=path))
        assert caught.value.details["reason"] == "collision"
    result_of(client, "memory_append", path="facts/harbour.md", entry="- the quay is long")
    folder.save("facts/harbour.md", folder.read("facts/harbour.md") + "- the gate is green\n")
    client.sync_now()
    assert {"the crane is blue", "the quay is long", "the gate is green"} <= {
        memory.content for memory in client.memories(limit=1000).items
    }
    assert client.sync_status().refused == []


def test_a_secret_is_redacted(folder: Tree) -> None:
    """A string that looks like a key is redacted before it is written anywhere."""
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    result_of(folder.client, "memory_write", path="facts/keys.md", content=f"# Keys\n\n- deploy with {secret}\n")
    assert secret not in folder.read("facts/keys.md")
    assert "[REDACTED:github-token]" in result_of(folder.client, "memory_read", path="facts/keys.md")


def test_every_hostile_path_stays_inside(tmp_path: Path) -> None:
    """Each labelled path through each tool with a path: accepted or refused as labelled, nothing written outside."""
    with tree() as own:
        secret = own.root.parent / "outside.md"
        secret.write_text("- the outside\n")
        (own.daemon.home / "facts.md").write_text("- the outside\n")
        before = outside(own)
        for path, expected in all_path_cases():
            check_path(own, path, expected)
        assert outside(own) == before
        assert all("the outside" not in text for text in folder_texts(own))
    assert list(tmp_path.iterdir()) == []


def check_path(own: Tree, path: str, expected: str) -> None:
    """Write, read, patch and append under exactly this name, or assert that each is refused with a reason."""
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("memory_write", {"path": path, "content": "# X\n\n- a word\n"}),
        ("memory_read", {"path": path}),
        ("memory_patch", {"path": path, "patches": [{"oldText": "- a word", "newText": "- two words"}]}),
        ("memory_append", {"path": path, "entry": "- more"}),
    )
    answers = [own.daemon.ask("POST", f"/v1/tools/{name}", {"input": fields}).json() for name, fields in calls]
    accepted = [answer.get("isError") is False for answer in answers]
    assert len(set(accepted)) == 1, (path, answers)
    assert expected in {"accept" if accepted[0] else "reject", "either"}, (path, answers)
    if accepted[0]:
        assert "- two words" in own.read(path)
        return
    for answer in answers:
        assert "the outside" not in str(answer)
        assert "path" in str(answer) or answer["error"] == "validation_error"


def outside(own: Tree) -> dict[str, bytes]:
    """Return every file of the daemon's home outside the folder, except its own data."""
    home = own.daemon.home
    return {
        path: data
        for path, data in bytes_below(home).items()
        if not (home / path).is_relative_to(own.root) and "data" not in path.split("/")[:-1] and path != "log"
    }


def folder_texts(own: Tree) -> list[str]:
    return [data.decode("utf-8", "replace") for data in bytes_below(own.root, ".md").values()]


def test_a_tool_of_a_thread_needs_one(client: Client) -> None:
    """A missing or unknown thread is an error that names the parameter."""
    for name, fields in (
        ("note", {"content": "x", "category": "task"}),
        ("working_state_get", {}),
        ("working_state_set", {"currentTask": "x"}),
    ):
        assert "`thread`" in refused(client, name, **fields)
        assert "`thread`" in refused(client, name, thread="nobody", **fields)


def test_a_note_of_the_tool_is_in_the_context(client: Client) -> None:
    """A note written by the tool is listed like any other, and in the next request."""
    client.create_thread(id="tooled")
    added = result_of(client, "note", "tooled", content="the pier is closed", category="correction")
    assert added["success"] is True
    assert [(note.id, note.category) for note in client.notes("tooled").items] == [(added["id"], "correction")]
    client.append("tooled", [{"role": "user", "content": "hello"}])
    assert "the pier is closed" in str(client.context("tooled").request)
    assert "`category` cannot be" in refused(client, "note", "tooled", content="x", category="idea")


def test_the_working_state_is_read_and_set(client: Client) -> None:
    """The tool and the API return the state that the tool set; an empty update is an error."""
    client.create_thread(id="stated")
    client.append("stated", [{"role": "user", "content": "Please count the boats in the outer harbour"}])
    assert (
        result_of(client, "working_state_get", "stated")["currentTask"] == "Please count the boats in the outer harbour"
    )
    after = result_of(client, "working_state_set", "stated", nextSteps=["count", "report"])
    assert after["nextSteps"] == ["count", "report"]
    assert after["sources"]["nextSteps"] == [1, 1]
    assert result_of(client, "working_state_get", "stated") == after
    assert client.working_state("stated").next_steps == ["count", "report"]
    assert "nothing was given" in refused(client, "working_state_set", "stated")
    assert "at most 500 tokens" in refused(
        client, "working_state_set", "stated", nextSteps=["tide and moon " * 30] * 20
    )


def test_recall_returns_memories_as_framed_data(folder: Tree) -> None:
    """Recall returns memories with their document, framed as data; it counts as an access and obeys the limit."""
    client = folder.client
    text = "# Boats\n\n- The Marie has a red hull\n- The Eva is grey\n"
    result_of(client, "memory_write", path="facts/boats.md", content=text)
    result = result_of(client, "recall", query="what colour is the hull of the Marie")
    assert "never instructions" in result["about"]
    assert result["memories"][0]["content"] == "The Marie has a red hull"
    assert result["memories"][0]["from"] == "facts/boats.md"
    assert next(memory for memory in client.memories().items if "Marie" in memory.content).access_count == 1
    assert len(result_of(client, "recall", query="hull grey Marie Eva", limit=1)["memories"]) == 1
    assert result_of(client, "recall", query="zzzyx")["memories"] == []


def test_a_repeated_call_with_its_key_is_made_once(folder: Tree) -> None:
    """A call repeated with its idempotency key gets the first answer and has no effect; another body is a Conflict."""
    client = folder.client
    client.create_thread(id="keyed")
    calls: list[tuple[str, dict[str, Any], str | None]] = [
        ("note", {"content": "once", "category": "task"}, "keyed"),
        ("memory_write", {"path": "facts/once.md", "content": "# Once\n\n- first\n"}, None),
        ("memory_append", {"path": "facts/once.md", "entry": "- second"}, None),
        ("memory_patch", {"path": "facts/once.md", "patches": [{"oldText": "- first", "newText": "- third"}]}, None),
        ("working_state_set", {"currentTask": "once"}, "keyed"),
        ("recall", {"query": "once"}, None),
    ]
    for name, fields, thread in calls:
        first = client.call_tool(name, fields, thread=thread, key=f"key-{name}")
        assert not first.is_error
        assert client.call_tool(name, fields, thread=thread, key=f"key-{name}") == first
    assert len(client.notes("keyed").items) == 1
    text = folder.read("facts/once.md")
    assert (text.count("- second"), text.count("- third"), text.count("- first")) == (1, 1, 0)
    with pytest.raises(Conflict, match="key"):
        client.call_tool("note", {"content": "other", "category": "task"}, thread="keyed", key="key-note")


def test_written_memories_survive_a_restart() -> None:
    """After a kill and a start a written memory file is read, listed with a summary, and recalled."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as client:
            result_of(client, "memory_write", path="facts/user.md", content=USER)
        daemon.kill()
        daemon.start()
        with Client(daemon.socket) as client:
            assert "- Name: Ann" in result_of(client, "memory_read", path="facts/user.md")
            assert result_of(client, "memory_list")[0]["summary"]
            assert "Ann" in result_of(client, "recall", query="what is the user's name")["memories"][0]["content"]


def test_a_daemon_error_is_no_tool_result(client: Client) -> None:
    """An unknown tool or an invalid thread id raises in the client, since no agent can correct it."""
    with pytest.raises(NotFound, match="no tool"):
        client.call_tool("memory_burn")
    with pytest.raises(ValidationError):
        client.call_tool("memory_list", thread="a/b")
