"""A store of an older release: what it learnt counts as its recorded project, and can be sorted and moved back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.client import Client
from reverie.models import EntryKind, MemoryType
from reverie.redact import Redactor
from reverie.store import EntryRecord, MemoryRecord, ProjectRecord, ProjectsCursor, Store, ThreadRecord, Write, Writer
from reverie.usecases.by import ENGINE
from reverie.usecases.put import NewText, put_texts
from support.daemon import Daemon, running_daemon, scratch_home
from support.projects import repository

AT = "2026-01-21T09:30:00.000Z"
PROCEDURES = "# Procedures\n\n> Summary: tests, lint\n\n- To run the tests: `make`\n- To lint: `tidy`\n- Mine: slowly\n"


def memory(name: str, kind: MemoryType, thread: str, project: str | None, *, person: bool = False) -> MemoryRecord:
    """Return a memory as an older release stored it: its project is in the provenance alone."""
    provenance = {"thread": thread} | ({"project": project} if project else {})
    return MemoryRecord(
        id=name,
        type=kind,
        content="",
        tags=(),
        document="",
        created_at=AT,
        updated_at=AT,
        trust="person" if person else "engine",
        provenance=provenance,
    )


def build(home: Path, folder: Path) -> None:
    """Write a store with two threads of one repository, as older releases named them, and what they taught."""

    def body(writer: Writer) -> None:
        for number, (name, cwd) in enumerate(((".worktrees", folder / ".worktrees" / "1"), ("Harbour", folder))):
            thread = ThreadRecord(id=f"t{number}", source="s", project=name, created_at=AT, updated_at=AT, last_seq=1)
            writer.save(thread, (thread.id,))
            entry = EntryRecord(kind=EntryKind.SPEECH, role="user", content="Hello", extra={"cwd": str(cwd)})
            writer.append_record(entry, (thread.id,))
        kind = MemoryType.PROCEDURE
        records = [
            memory("m1", kind, "t0", ".worktrees"),
            memory("m2", kind, "t1", "Harbour"),
            memory("m3", kind, "t0", ".worktrees", person=True),
            memory("m4", MemoryType.PREFERENCE, "t1", None),
        ]
        texts = {
            "facts/procedures.md": NewText(PROCEDURES, ["m1", "m2", "m3"]),
            "facts/preferences.md": NewText("- Prefers short answers\n", ["m4"]),
        }
        made = {record.id: record for record in records}
        put_texts(writer, texts, ENGINE, records=made)

    with Store.open(home / "data" / "store", redactor=Redactor(())) as store:
        store.commit([Write("default", "import", "build", body)], at=AT)


@pytest.fixture
def older(tmp_path: Path) -> Iterator[tuple[Daemon, Client]]:
    """A daemon over a store of an older release."""
    with scratch_home() as home:
        build(home, repository(tmp_path / "harbour"))
        with running_daemon(home) as daemon, Client(daemon.socket) as client:
            client.sync_now()
            yield daemon, client


def state(client: Client) -> dict[str, tuple[str | None, str]]:
    """Return project and document of each memory."""
    return {memory.id: (memory.project, memory.document) for memory in client.memories(limit=100).items}


BEFORE = {
    "m1": ("worktrees", "facts/procedures.md"),
    "m2": ("harbour", "facts/procedures.md"),
    "m3": ("worktrees", "facts/procedures.md"),
    "m4": (None, "facts/preferences.md"),
}


def test_sorting_and_its_undo(older: tuple[Daemon, Client], tmp_path: Path) -> None:
    """Threads get the project of their folder, memories that of their threads; the undo moves every memory back."""
    daemon, client = older
    root = daemon.folder
    assert state(client) == BEFORE
    assert [thread.project for thread in client.threads().items] == ["worktrees", "harbour"]

    sorted_ = client.sort_projects()

    assert (sorted_.threads, sorted_.memories) == (2, 3)
    assert [(move.before, move.after, move.threads, move.memories) for move in sorted_.moves] == [
        ("worktrees", "harbour", 1, 2)
    ]
    assert [thread.project for thread in client.threads().items] == ["harbour", "harbour"]
    assert state(client) == {
        "m1": ("harbour", "facts/harbour/procedures.md"),
        "m2": ("harbour", "facts/harbour/procedures.md"),
        "m3": ("harbour", "facts/procedures.md"),
        "m4": (None, "facts/preferences.md"),
    }
    assert "- To run the tests: `make`\n- To lint: `tidy`\n" in (root / "facts/harbour/procedures.md").read_text()
    assert "- Mine: slowly\n" in (root / "facts/procedures.md").read_text()
    found = client.recall("run the tests", project=str(tmp_path / "harbour")).hits
    assert found[0].memory.id == "m1"
    again = client.sort_projects()
    assert (again.threads, again.memories, again.operation) == (0, 0, None)

    client.undo(str(sorted_.operation))

    assert state(client) == BEFORE
    assert [thread.project for thread in client.threads().items] == ["worktrees", "harbour"]
    assert (root / "facts/procedures.md").read_text().count("\n- ") == PROCEDURES.count("\n- ")
    assert not (root / "facts/harbour/procedures.md").exists()


def test_a_session_filed_under_another_repository_is_sorted() -> None:
    """A session that an older release filed under a clone it looked into moves to its own, and back by an undo."""
    gone = "/machines/ann/crane"
    extra = {
        "type": "session_meta",
        "payload": {"cwd": gone, "git": {"repository_url": "git@example.org:ann/crane.git"}},
    }

    def body(writer: Writer) -> None:
        mole = ProjectRecord("mole", remotes=["example.org/ben/mole"], folders=[gone])
        writer.save(ProjectsCursor(projects=[mole]), ProjectsCursor.KEY)
        for name, entry in (("t0", extra), ("t1", {"cwd": "/machines/ben/mole"})):
            thread = ThreadRecord(id=name, source="s", project="mole", created_at=AT, updated_at=AT, last_seq=1)
            writer.save(thread, (name,))
            writer.append_record(EntryRecord(kind=EntryKind.OTHER, extra=entry), (name,))

    def projects(client: Client) -> dict[str, str | None]:
        return {thread.id: thread.project for thread in client.threads().items}

    with scratch_home() as home:
        with Store.open(home / "data" / "store", redactor=Redactor(())) as store:
            store.commit([Write("default", "import", "build", body)], at=AT)
        with running_daemon(home) as daemon, Client(daemon.socket) as client:
            answer = client.sort_projects()
            assert projects(client) == {"t0": "crane", "t1": "mole"}
            assert [(move.before, move.after, move.threads) for move in answer.moves] == [("mole", "crane", 1)]
            assert client.operation(str(answer.operation)).undoable
            undone = client.undo(str(answer.operation))
            assert projects(client) == {"t0": "mole", "t1": "mole"}
            client.undo(str(undone.operation))
            assert projects(client) == {"t0": "crane", "t1": "mole"}


def test_a_shared_file_is_listed_without_what_others_know(older: tuple[Daemon, Client], tmp_path: Path) -> None:
    """Before it is sorted, a file with memories of several projects is listed with a summary of the visible ones."""
    _, client = older
    client.create_thread(project="worktrees")
    client.create_thread(project=str(tmp_path / "harbour"))
    client.create_thread(project="quay")
    listed = {item.path: item.summary for item in client.index(project=str(tmp_path / "harbour")).items}
    assert set(listed) == {"facts/preferences.md", "facts/procedures.md"}
    assert "run" not in listed["facts/procedures.md"]
    assert "lint" in listed["facts/procedures.md"]
    assert {item.path for item in client.index(project="quay").items} == {"facts/preferences.md"}
    assert client.search("how to lint and run the tests", where="documents", project="quay").hits == []
    assert client.search("how to lint and run the tests", where="documents").hits
    found = client.recall("tests lint slowly", project="worktrees", min_score=0).hits
    assert {hit.memory.id for hit in found} == {"m1", "m3"}
