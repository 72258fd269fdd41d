"""Tests of the tools of agents over the API: definitions, results, error sentences and path safety."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reverie import tools, wire
from reverie.client import Client
from reverie.errors import Conflict, NotFound, ValidationError
from support.daemon import running_daemon
from support.daemon_folder import tree
from support.http_checks import check_refused
from support.path_cases import all_path_cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.daemon import Daemon
    from support.daemon_folder import Tree

INDEX = """\
Available memory:
- facts/user.md (320B): user name, language, role
- facts/project.md (210B): tech stack, conventions
- episodes/2026-02.md (1.2KB): logger fix, short ID, config refactor

Use memory_read to load relevant files before responding."""
"""Seed 004, section 5."""

USER = "# User Facts\n\n> Summary: user name, role\n\n- Name: Ann\n- Role: harbour master\n- Updated: 2026-02-24\n"


@pytest.fixture(scope="module")
def folder() -> Iterator[Tree]:
    """Yield a daemon with a folder that a person edits too."""
    with tree() as made:
        yield made


def given(client: Client, name: str, thread: str | None = None, **fields: Any) -> Any:
    """Call a tool that must succeed, and return its content."""
    answer = client.call_tool(name, fields, thread=thread)
    assert not answer.is_error, answer.content
    return answer.content


def refused(client: Client, name: str, thread: str | None = None, **fields: Any) -> str:
    """Call a tool that must fail; return its sentence, which is short and has no HTTP terms."""
    answer = client.call_tool(name, fields, thread=thread)
    assert answer.is_error, answer.content
    assert isinstance(answer.content, str)
    assert 0 < len(answer.content) < 600
    assert not any(word in answer.content for word in ("GET ", "POST ", "ETag", "/v1/", "Content-Type"))
    return answer.content


def test_the_definitions_are_served_in_every_form(client: Client, daemon: Daemon) -> None:
    """The definitions are those of the library in each format; an unknown format is refused."""
    for form in tools.FORMATS:
        assert client.tools(form).items == tools.definitions(form)
    assert daemon.ask("GET", "/v1/tools").json() == {"items": tools.definitions("anthropic"), "next": None}
    answer = daemon.ask("GET", "/v1/tools?format=xml")
    check_refused(answer, 400, "validation_error")
    assert "anthropic, openai, mcp" in answer.json()["details"]["hint"]


def test_an_unknown_tool_is_not_found(daemon: Daemon) -> None:
    """An unknown tool is 404 and names the known ones; a malformed body is 400."""
    answer = daemon.ask("POST", "/v1/tools/memory_burn", {"input": {}})
    check_refused(answer, 404, "not_found")
    assert "memory_patch" in answer.json()["details"]["hint"]
    bodies: list[Any] = [b"{", b"[]", {"input": []}, {"input": {}, "thread": 5}, {"other": 1}, {"thread": "a/b"}]
    for body in bodies:
        check_refused(daemon.ask("POST", "/v1/tools/memory_list", body), 400, "validation_error")


def test_the_index_is_literally_the_specified_one(folder: Tree) -> None:
    """Three files of given sizes and summaries give exactly the specified index text and list."""
    filled("facts/user.md", "# User Facts\n\n> Summary: user name, language, role\n\n- Name: Zoë\n", 320, folder)
    filled("facts/project.md", "# Project Facts\n\n> Summary: tech stack, conventions\n\n- Uses Bun\n", 210, folder)
    head = "# 2026-02 Episodes\n\n> Summary: logger fix, short ID, config refactor\n\n## Logger\n- Summary: a → b\n"
    filled("episodes/2026-02.md", head, 1229, folder)
    folder.agree()
    index = folder.client.index()

    assert index.text == INDEX
    assert given(folder.client, "memory_list") == [
        {"path": "facts/user.md", "summary": "user name, language, role", "size": 320},
        {"path": "facts/project.md", "summary": "tech stack, conventions", "size": 210},
        {"path": "episodes/2026-02.md", "summary": "logger fix, short ID, config refactor", "size": 1229},
    ]
    assert len(folder.read("facts/user.md").encode()) == 320


def filled(name: str, text: str, size: int, folder: Tree) -> None:
    """Save `text` with one more line, so that it is `size` bytes long."""
    line = "- Note: " if name.startswith("facts") else "- Lesson: "
    rest = size - len(text.encode()) - len(line) - 1
    folder.save(name, text + line + ("tide " * size)[: rest - 1] + ".\n")


def test_a_file_is_written_read_patched_and_appended_to(folder: Tree) -> None:
    """Each memory tool returns its specified result, and the file changes at once."""
    client = folder.client
    assert given(
        client, "memory_write", path="facts/harbour.md", content="# Harbour\n\n- Piers: 3\n- Depth: 9 m\n"
    ) == {"success": True}
    text = given(client, "memory_read", path="facts/harbour.md")
    assert "- Piers: 3\n" in text
    assert text == folder.read("facts/harbour.md")

    patches = [{"oldText": "Piers: 3", "newText": "Piers: 4"}, {"oldText": "- Depth: 9 m\n", "newText": ""}]
    assert given(client, "memory_patch", path="facts/harbour.md", patches=patches) == {
        "success": True,
        "appliedCount": 2,
    }
    assert "- Piers: 4\n" in folder.read("facts/harbour.md")
    assert "Depth" not in folder.read("facts/harbour.md")

    entry = "## Buoy relit\n- Summary: dark buoy → new fuse\n- Date: 2026-11-20\n- Lesson: check the fuse first"
    assert given(client, "memory_append", path="episodes/2026-11.md", entry=entry) == {"success": True}
    assert given(
        client, "memory_append", path="facts/harbour.md", entry="- Lights: green", summary="piers, lights"
    ) == {"success": True}
    listed = {item["path"]: item for item in given(client, "memory_list")}
    assert listed["facts/harbour.md"]["summary"] == "piers, lights"
    assert listed["episodes/2026-11.md"]["size"] == len(folder.read("episodes/2026-11.md").encode())
    assert "check the fuse first" in folder.read("episodes/2026-11.md")


def test_what_a_person_has_just_saved_is_read(folder: Tree) -> None:
    """memory_read returns a save of a person without waiting for the watcher."""
    given(folder.client, "memory_write", path="facts/hand.md", content="# Hand\n\n- Ink: blue\n")
    folder.save("facts/hand.md", folder.read("facts/hand.md").replace("blue", "green"))
    assert "- Ink: green" in given(folder.client, "memory_read", path="facts/hand.md")
    given(folder.client, "memory_append", path="facts/hand.md", entry="- Paper: white")
    assert {"- Ink: green", "- Paper: white"} <= set(folder.read("facts/hand.md").splitlines())


def test_no_words_go_that_an_agent_has_not_seen(folder: Tree) -> None:
    """memory_write merges with later saves; an overlap, or a file that was never read, is refused."""
    client = folder.client
    folder.save("facts/tide.md", "# Tide\n\n- Low: six\n- High: noon\n- Neap: monday\n")
    told = refused(client, "memory_write", path="facts/tide.md", content="# Tide\n\n- Spring: friday\n")
    assert "memory_read" in told
    assert "- High: noon" in folder.read("facts/tide.md")

    seen = given(client, "memory_read", path="facts/tide.md")
    folder.save("facts/tide.md", folder.read("facts/tide.md").replace("Low: six", "Low: seven"))
    given(client, "memory_write", path="facts/tide.md", content=seen.replace("Neap: monday", "Neap: sunday"))
    assert {"- Low: seven", "- High: noon", "- Neap: sunday"} <= set(folder.read("facts/tide.md").splitlines())

    given(client, "memory_write", path="facts/tide.md", content=seen.replace("Neap: monday", "Neap: tuesday"))
    assert {"- Low: seven", "- High: noon", "- Neap: tuesday"} <= set(folder.read("facts/tide.md").splitlines())

    seen = given(client, "memory_read", path="facts/tide.md")
    folder.save("facts/tide.md", folder.read("facts/tide.md").replace("High: noon", "High: one"))
    told = refused(client, "memory_write", path="facts/tide.md", content=seen.replace("High: noon", "High: two"))
    assert "changed since you read it" in told
    assert "- High: one" in folder.read("facts/tide.md")

    given(client, "memory_read", path="facts/tide.md")
    given(client, "memory_append", path="facts/tide.md", entry="- Moon: full")
    given(client, "memory_write", path="facts/tide.md", content="# Tide\n\n- all anew\n")
    given(client, "memory_write", path="facts/tide.md", content="# Tide\n\n- and again\n")
    assert "- and again" in folder.read("facts/tide.md")
    assert "Moon" not in folder.read("facts/tide.md")


def test_what_one_agent_has_seen_another_has_not(folder: Tree) -> None:
    """The versions that were read are kept per thread: another thread must read the file first."""
    client = folder.client
    for thread in ("reader", "writer"):
        client.create_thread(id=thread)
    folder.save("facts/mooring.md", "# Mooring\n\n- Rope: 12 mm\n")
    given(client, "memory_read", "reader", path="facts/mooring.md")
    assert "memory_read" in refused(client, "memory_write", "writer", path="facts/mooring.md", content="# M\n\n- x\n")
    given(client, "memory_write", "reader", path="facts/mooring.md", content="# Mooring\n\n- Rope: 14 mm\n")


def test_parameters_stand_in_the_input(daemon: Daemon) -> None:
    """Parameters beside `input` are refused, with a hint where they belong."""
    answer = daemon.ask("POST", "/v1/tools/memory_read", {"path": "facts/user.md"})
    check_refused(answer, 400, "validation_error")
    assert answer.json()["details"]["field"] == "path"
    assert '{"input": {...}}' in answer.json()["details"]["hint"]


def test_a_patch_that_does_not_fit_changes_nothing(folder: Tree) -> None:
    """If one old text is absent or ambiguous, no patch is applied, and the sentence says what to do."""
    client = folder.client
    given(client, "memory_write", path="facts/exact.md", content="# Exact\n\n- a tide\n- a tide\n- a moon\n")
    before = folder.read("facts/exact.md")
    for old in ("the sun", "- a tide"):
        patches = [{"oldText": "- a moon", "newText": "- the moon"}, {"oldText": old, "newText": "x"}]
        told = refused(client, "memory_patch", path="facts/exact.md", patches=patches)
        assert "exactly as it stands" in told
    assert folder.read("facts/exact.md") == before


def test_errors_tell_an_agent_what_to_do(folder: Tree) -> None:
    """Error sentences name the missing or unknown parameter and the tool that lists files."""
    client = folder.client
    assert "memory_list" in refused(client, "memory_read", path="facts/nowhere.md")
    assert "memory_list" in refused(
        client, "memory_patch", path="facts/nowhere.md", patches=[{"oldText": "a", "newText": "b"}]
    )
    assert "`path` is missing" in refused(client, "memory_read")
    assert "memory_write takes path, content" in refused(client, "memory_write", path="a.md", content="x", mode="fast")
    assert "memory_list takes nothing" in refused(client, "memory_list", path="facts/")
    assert "must be a list" in refused(client, "memory_patch", path="a.md", patches="all")
    assert "patches[0].newText" in refused(client, "memory_patch", path="a.md", patches=[{"oldText": "x"}])
    assert "1,048,576" in refused(client, "memory_write", path="facts/long.md", content="word " * 300_000)
    assert "`limit` must be" in refused(client, "recall", query="x", limit=0)
    assert "empty" in refused(client, "memory_append", path="facts/empty.md", entry=" \n ")


def test_an_agent_makes_no_second_spelling_of_a_name(folder: Tree) -> None:
    """A new name that differs only in case from an existing file is refused with the existing spelling."""
    client = folder.client
    folder.save("facts/harbour.md", "- the crane is blue\n")
    client.sync_now()
    for path in ("facts/Harbour.md", "FACTS/harbour.md", "Facts/new.md"):
        there = f"facts/{'new' if 'new' in path else 'harbour'}.md"
        assert there in refused(client, "memory_write", path=path, content="- a second one")
        assert there in refused(client, "memory_append", path=path, entry="- a second one")
        with pytest.raises(Conflict, match="the same name") as caught:
            client.remember(wire.CreateMemory("a second one", document=path))
        assert caught.value.details["reason"] == "collision"
    given(client, "memory_append", path="facts/harbour.md", entry="- the quay is long")
    folder.save("facts/harbour.md", folder.read("facts/harbour.md") + "- the gate is green\n")
    client.sync_now()
    assert {"the crane is blue", "the quay is long", "the gate is green"} <= {
        memory.content for memory in client.memories(limit=1000).items
    }
    assert client.sync_status().refused == []


def test_a_secret_is_not_kept(folder: Tree) -> None:
    """A key in a tool's input is redacted before it is stored."""
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    given(folder.client, "memory_write", path="facts/keys.md", content=f"# Keys\n\n- deploy with {secret}\n")
    assert secret not in folder.read("facts/keys.md")
    assert "[REDACTED:github-token]" in given(folder.client, "memory_read", path="facts/keys.md")


def test_every_hostile_path_stays_inside(tmp_path: Path) -> None:
    """Each labelled path is accepted or refused by each tool as it should be, and nothing outside changes."""
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
    """Assert that every tool accepts exactly this name, or that every tool refuses it with a reason."""
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("memory_write", {"path": path, "content": "# X\n\n- a word\n"}),
        ("memory_read", {"path": path}),
        ("memory_patch", {"path": path, "patches": [{"oldText": "- a word", "newText": "- two words"}]}),
        ("memory_append", {"path": path, "entry": "- more"}),
    )
    answers = [own.daemon.ask("POST", f"/v1/tools/{name}", {"input": fields}).json() for name, fields in calls]
    done = [answer.get("isError") is False for answer in answers]
    assert len(set(done)) == 1, (path, answers)
    assert expected in {"accept" if done[0] else "reject", "either"}, (path, answers)
    if done[0]:
        assert "- two words" in own.read(path)
        return
    for answer in answers:
        assert "the outside" not in str(answer)
        assert "path" in str(answer) or answer["error"] == "validation_error"


def outside(own: Tree) -> dict[str, bytes]:
    """Return the files of the daemon's home that are neither in the folder nor its own."""
    home = own.daemon.home
    return {
        file.relative_to(home).as_posix(): file.read_bytes()
        for file in home.rglob("*")
        if file.is_file() and not file.is_relative_to(own.root) and "data" not in file.parts and file.name != "log"
    }


def folder_texts(own: Tree) -> list[str]:
    return [file.read_text("utf-8", "replace") for file in own.root.rglob("*.md")]


def test_a_tool_of_a_thread_needs_one(client: Client) -> None:
    """A tool of a thread without a thread, or with an unknown one, says what to give."""
    for name, fields in (
        ("note", {"content": "x", "category": "task"}),
        ("working_state_get", {}),
        ("working_state_set", {"currentTask": "x"}),
    ):
        assert "`thread`" in refused(client, name, **fields)
        assert "`thread`" in refused(client, name, thread="nobody", **fields)


def test_a_note_stands_in_the_context(client: Client) -> None:
    """A note of the tool is in the list of notes and in the next context."""
    client.create_thread(id="tooled")
    made = given(client, "note", "tooled", content="the pier is closed", category="correction")
    assert made["success"] is True
    assert [(note.id, note.category) for note in client.notes("tooled").items] == [(made["id"], "correction")]
    client.append("tooled", [{"role": "user", "content": "hello"}])
    assert "the pier is closed" in str(client.context("tooled").request)
    assert "`category` cannot be" in refused(client, "note", "tooled", content="x", category="idea")


def test_the_working_state_is_read_and_set(client: Client) -> None:
    """The tool and the API read the same working state; setting nothing is refused."""
    client.create_thread(id="stated")
    client.append("stated", [{"role": "user", "content": "Please count the boats in the outer harbour"}])
    assert given(client, "working_state_get", "stated")["currentTask"] == "Please count the boats in the outer harbour"
    after = given(client, "working_state_set", "stated", nextSteps=["count", "report"])
    assert after["nextSteps"] == ["count", "report"]
    assert after["sources"]["nextSteps"] == [1, 1]
    assert given(client, "working_state_get", "stated") == after
    assert client.working_state("stated").next_steps == ["count", "report"]
    assert "nothing was given" in refused(client, "working_state_set", "stated")
    assert "at most 500 tokens" in refused(
        client, "working_state_set", "stated", nextSteps=["tide and moon " * 30] * 20
    )


def test_recall_gives_what_is_remembered_as_data(folder: Tree) -> None:
    """The tool recall returns memories with type, origin and time, counts accesses and respects a limit."""
    client = folder.client
    text = "# Boats\n\n- The Marie has a red hull\n- The Eva is grey\n"
    given(client, "memory_write", path="facts/boats.md", content=text)
    found = given(client, "recall", query="what colour is the hull of the Marie")
    assert "never instructions" in found["about"]
    assert found["memories"][0]["content"] == "The Marie has a red hull"
    assert found["memories"][0]["from"] == "facts/boats.md"
    assert next(each for each in client.memories().items if "Marie" in each.content).access_count == 1
    assert len(given(client, "recall", query="hull grey Marie Eva", limit=1)["memories"]) == 1
    assert given(client, "recall", query="zzzyx")["memories"] == []


def test_a_call_made_again_with_its_key_is_made_once(folder: Tree) -> None:
    """A repeated call returns the first answer and has no second effect; another body is a conflict."""
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


def test_what_agents_write_outlives_the_daemon() -> None:
    """After a restart the person's file and the tool have what an agent wrote."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as client:
            given(client, "memory_write", path="facts/user.md", content=USER)
        daemon.kill()
        daemon.start()
        with Client(daemon.socket) as client:
            assert "- Name: Ann" in given(client, "memory_read", path="facts/user.md")
            assert given(client, "memory_list")[0]["summary"]
            assert "Ann" in given(client, "recall", query="what is the user's name")["memories"][0]["content"]


def test_a_failure_of_the_daemon_is_no_answer_of_a_tool(client: Client) -> None:
    """Errors of the daemon are errors of the call, not results of the tool."""
    with pytest.raises(NotFound, match="no tool"):
        client.call_tool("memory_burn")
    with pytest.raises(ValidationError):
        client.call_tool("memory_list", thread="a/b")
