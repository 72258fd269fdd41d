"""Memories of projects: what belongs to one is never recalled, listed or opened with in another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, running_daemon
from support.projects import repository, session
from support.waiting import wait_until

TOPICS = tuple(
    f"{adjective} {noun}"
    for adjective in ("nightly", "staging", "mobile", "public", "internal")
    for noun in ("build", "release", "deployment", "cache", "queue", "invoice", "report", "backup", "login", "search")
)
ASKED = (
    "how do we run the {}",
    "what is the rule for the {}",
    "which port has the {}",
    "{}",
    "why did the {} fail",
    "where is the {} configured",
    "who looks after the {}",
    "the {} takes how long",
    "can I change the {}",
    "before the {} what has to be done",
)


@pytest.fixture(scope="module")
def filled(daemon: Daemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, dict[str, Path]]]:
    """A client, and two repositories whose projects have a memory about each topic; the person has some as well."""
    folder = tmp_path_factory.mktemp("repositories")
    places = {name: repository(folder / name, f"https://example.org/ann/{name}") for name in ("harbour", "quay")}
    with Client(daemon.socket) as client:
        for number, topic in enumerate(TOPICS):
            for name, place in places.items():
                words = f"The {topic} of {name} runs on port {8000 + number} before the tests"
                client.remember(wire.CreateMemory(words, project=str(place)))
        client.remember(wire.CreateMemory("Prefers short answers about any build", type="preference"))
        yield client, places


def test_a_thousand_asks_in_two_projects(filled: tuple[Client, dict[str, Path]]) -> None:
    """Of 1,000 questions in two projects none finds the other's memories, and at least 900 find the right one first."""
    client, places = filled
    other = {"harbour": "quay", "quay": "harbour"}
    asks = [(name, topic, ask.format(topic)) for topic in TOPICS for ask in ASKED for name in places]
    assert len(asks) == 1_000
    first = 0
    for name, topic, query in asks:
        answer = client.recall(query, project=name, limit=5)
        assert answer.project == name
        assert answer.hits
        assert [hit.memory.content for hit in answer.hits if hit.memory.project == other[name]] == []
        assert not any(f" of {other[name]} " in hit.memory.content for hit in answer.hits)
        first += answer.hits[0].memory.content.startswith(f"The {topic} of {name} ")
    assert first >= 900


def test_the_person_s_own_are_recalled_in_every_project(filled: tuple[Client, dict[str, Path]]) -> None:
    """A recall in a project finds its memories and the person's; without a known project, or with all, every memory."""
    client, places = filled

    def found(**options: Any) -> set[str | None]:
        return {hit.memory.project for hit in client.recall("short answers nightly build", limit=9, **options).hits}

    assert found(project="quay") == {"quay", None}
    assert found() == {"harbour", "quay", None}
    assert found(project="quay", all_projects=True) == {"harbour", "quay", None}
    assert found(folder=str(places["harbour"] / "src")) == {"harbour", None}
    assert found(folder="/nowhere/at/all") == {"harbour", "quay", None}
    assert found(project="/nowhere/at/all") == {None}
    with pytest.raises(NotFound, match="no project is called 'pier'"):
        client.recall("x", project="pier")


def test_lists_and_the_index_of_a_project(filled: tuple[Client, dict[str, Path]]) -> None:
    """Memories and documents of a project are listed with the person's; without a project all are."""
    client, _ = filled
    listed = client.memories(project="harbour", limit=1000)
    assert {memory.project for memory in listed.items} == {"harbour", None}
    assert listed.project == "harbour"
    assert {memory.project for memory in client.memories(limit=1000).items} == {"harbour", "quay", None}
    paths = {item.path for item in client.index(project="quay").items}
    assert paths == {"facts/preferences.md", "facts/quay/project.md"}
    assert "harbour" not in client.index(project="quay").text
    assert {"facts/harbour/project.md", *paths} <= {item.path for item in client.index().items}
    assert {item.path for item in client.index(project="/nowhere").items} == {"facts/preferences.md"}


def test_a_thread_sees_its_project(filled: tuple[Client, dict[str, Path]]) -> None:
    """The opening index, the recalled memories and the tools of a thread are its project's and the person's."""
    client, places = filled
    thread = client.create_thread(project=str(places["quay"])).id
    client.append(thread, [{"role": "user", "content": "How do we run the nightly build?"}])
    context = client.context(thread)
    text = str(context.request)
    assert context.tokens.index > 0
    assert context.tokens.recall > 0
    assert "facts/quay/project.md" in text
    assert "of quay" in text
    assert "harbour" not in text
    assert "harbour" not in client.call_tool("recall", {"query": "nightly build"}, thread=thread).content
    assert "harbour" not in client.call_tool("memory_list", {}, thread=thread).content
    assert "harbour" in client.call_tool("memory_list", {}).content


def test_what_an_agent_writes_is_of_its_thread_s_project(filled: tuple[Client, dict[str, Path]]) -> None:
    """Text written in a thread belongs to its project, except in files about the person; without a thread to none."""
    client, _ = filled
    thread = client.create_thread(project="quay").id
    other = client.create_thread(project="harbour").id
    for path, entry in (("facts/crane.md", "- The crane is red"), ("facts/user.md", "- Ann sails at noon")):
        client.call_tool("memory_append", {"path": path, "entry": entry}, thread=thread)
    client.call_tool("memory_write", {"path": "facts/rope.md", "content": "- The rope is blue\n"}, thread=thread)
    client.call_tool("memory_append", {"path": "facts/rope.md", "entry": "- The buoy is green"})
    projects = {memory.content: memory.project for memory in client.memories(limit=1000).items}
    assert projects["The crane is red"] == projects["The rope is blue"] == "quay"
    assert projects["The buoy is green"] is projects["Ann sails at noon"] is None
    listed = client.call_tool("memory_list", {}, thread=other).content
    assert "facts/crane.md" not in listed
    assert "facts/user.md" in listed
    assert "buoy" in listed
    assert "rope is" not in listed


def test_notes_and_digest_are_inherited_in_the_project() -> None:
    """A new thread opens with the notes of its project's threads and of those without one, never of another's."""
    with running_daemon() as own, Client(own.socket) as client:
        for name, project in (("h", "harbour"), ("q", "quay"), ("n", None)):
            client.create_thread(id=name, agent="bot", project=project)
            client.add_note(name, f"note of {name}", "task")

        def inherited(project: str | None) -> set[str]:
            thread = client.create_thread(agent="bot", project=project).id
            notes = {note.content for note in client.notes(thread).items}
            client.delete_thread(thread, confirm=thread)
            return notes

        assert inherited("harbour") == {"note of h", "note of n"}
        assert inherited("quay") == {"note of q", "note of n"}
        assert inherited(None) == {"note of h", "note of q", "note of n"}
        client.delete_thread("q", confirm="q")
        assert inherited("harbour") == {"note of h", "note of n"}


def test_a_person_s_files_in_a_project_s_folder() -> None:
    """A line belongs to the project whose folder it is in: new, edited, moved to another one, or taken out."""
    with running_daemon() as own, Client(own.socket) as client:
        root = own.folder / "facts"
        (root / "quay").mkdir(parents=True)
        (root / "quay" / "rules.md").write_text("- Cranes stop at noon\n- Ropes are wet\n")
        (root / "notes.md").write_text("- Tides are high\n")
        client.sync_now()

        def projects() -> dict[str, str | None]:
            client.sync_now()
            return {memory.content: memory.project for memory in client.memories(limit=1000).items}

        assert projects() == {"Cranes stop at noon": None, "Ropes are wet": None, "Tides are high": None}
        for name in ("harbour", "quay"):
            client.create_thread(project=name)
        assert projects() == {"Cranes stop at noon": "quay", "Ropes are wet": "quay", "Tides are high": None}
        before = {memory.content: memory.id for memory in client.memories(limit=1000).items}

        (root / "harbour").mkdir()
        (root / "harbour" / "rules.md").write_text("- Ropes are wet\n")
        (root / "quay" / "rules.md").write_text("- Cranes stop at one\n")
        assert projects() == {"Cranes stop at one": "quay", "Ropes are wet": "harbour", "Tides are high": None}
        after = {memory.content: memory.id for memory in client.memories(limit=1000).items}
        assert after["Ropes are wet"] == before["Ropes are wet"]

        (root / "notes.md").write_text("- Tides are high\n- Ropes are wet\n")
        (root / "harbour" / "rules.md").unlink()
        (root / "quay" / "tides.md").write_text("- Moored boats turn\n")
        wait_until(lambda: "facts/harbour/rules.md" not in {item.path for item in client.documents().items})
        expected = {"Cranes stop at one": "quay", "Ropes are wet": None, "Tides are high": None}
        assert projects() == {**expected, "Moored boats turn": "quay"}


def test_imported_sessions_teach_their_projects(tmp_path: Path) -> None:
    """Memories from sessions of two projects are in their own folders; a general wish is in the person's."""
    with running_daemon() as own, Client(own.socket) as client:
        for name in ("harbour", "quay"):
            place = repository(tmp_path / name)
            talk = [
                f"From now on, always run `make check-{name}` before you commit.",
                "Understood.",
                "In every project, always answer in plain British English, please.",
                "I will.",
            ]
            path = session(tmp_path / f"{name}.jsonl", str(place), talk)
            client.learn(str(import_file(client, path, program="claude-code").thread))
        memories = client.memories(limit=1000).items
        of_project = {memory.project: memory.document for memory in memories if "make check-" in memory.content}
        assert of_project == {
            "harbour": "facts/harbour/preferences.md",
            "quay": "facts/quay/preferences.md",
        }
        [general] = [memory for memory in memories if "British" in memory.content]
        assert (general.project, general.document) == (None, "facts/preferences.md")
        for name, other in (("harbour", "quay"), ("quay", "harbour")):
            answer = client.recall("what to run before a commit", project=name)
            assert f"check-{name}" in answer.hits[0].memory.content
            assert all(other not in hit.memory.content for hit in answer.hits)
