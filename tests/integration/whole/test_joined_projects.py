"""A repository with two names becomes one project when its remote is seen at the second; undo parts them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from reverie import wire
from reverie.client import Client
from reverie.models import EntryKind, MemoryType
from reverie.redact import Redactor
from reverie.store import EntryRecord, MemoryRecord, ProjectRecord, ProjectsCursor, Store, ThreadRecord, Write, Writer
from reverie.usecases.by import ENGINE
from reverie.usecases.put import NewText, put_texts
from reveried.cli.send_sessions import import_file
from support.daemon import running_daemon, scratch_home
from support.pages import newest_operation
from support.projects import command_run, git, repository, session

AT = "2026-01-21T09:30:00.000Z"
REMOTE = "example.org/ann/harbour"
TESTS = "To run the tests of the project {}: `make test`."
LINT = "To lint the project {}: `make {}`."
SLOW = "The gauge is asked once an hour, as it is slow."
ICE = "The harbour freezes in January."
MEMORIES: dict[str, tuple[str, str, Literal["person", "agent", "engine"]]] = {
    "m1": ("harbour", TESTS.format("harbour"), "engine"),
    "m2": ("harbour", LINT.format("harbour", "lint"), "engine"),
    "m3": ("home-harbour", TESTS.format("home-harbour"), "engine"),
    "m4": ("home-harbour", LINT.format("home-harbour", "tidy"), "engine"),
    "m5": ("home-harbour", "To build the project home-harbour: `make all`.", "engine"),
    "m6": ("home-harbour", ICE, "person"),
    "m7": ("home-harbour", SLOW, "agent"),
    "m8": ("pier", SLOW, "engine"),
}
MOVED = {
    "m1": ("harbour", "facts/harbour/procedures.md", TESTS.format("harbour")),
    "m2": ("harbour", "facts/harbour/procedures.md", LINT.format("harbour", "lint")),
    "m5": ("harbour", "facts/harbour/procedures.md", "To build the project harbour: `make all`."),
    "m6": ("harbour", "facts/home-harbour/procedures.md", ICE),
    "m7": ("harbour", "facts/harbour/procedures.md", SLOW),
    "m8": ("pier", "facts/pier/procedures.md", SLOW),
}


def build(home: Path, folders: dict[str, str]) -> None:
    """Write a store with three projects: one with a remote, one with the folder of `folders`, one by its name."""

    def body(writer: Writer) -> None:
        projects = [ProjectRecord("harbour", remotes=[REMOTE]), ProjectRecord("home-harbour"), ProjectRecord("pier")]
        for place, project in enumerate(projects):
            if project.name in folders:
                projects[place] = ProjectRecord(project.name, folders=[folders[project.name]])
        writer.save(ProjectsCursor(projects=projects), ProjectsCursor.KEY)
        for name in ("harbour", "home-harbour", "pier"):
            writer.save(
                ThreadRecord(id=f"t-{name}", source="s", project=name, created_at=AT, updated_at=AT), (f"t-{name}",)
            )
        for name in ("harbour", "home-harbour", "pier"):
            ids = [key for key, (project, _, _) in MEMORIES.items() if project == name]
            records = {key: record(key) for key in ids}
            text = "# Procedures\n\n" + "".join(f"- {MEMORIES[key][1]}\n" for key in ids)
            texts = {f"facts/{name}/procedures.md": NewText(text, ids)}
            put_texts(writer, texts, ENGINE, records=records)

    with Store.open(home / "data" / "store", redactor=Redactor(())) as store:
        store.commit([Write("default", "import", "build", body)], at=AT)


def record(key: str) -> MemoryRecord:
    project, _, trust = MEMORIES[key]
    return MemoryRecord(
        id=key,
        type=MemoryType.PROCEDURE,
        content="",
        tags=(),
        document="",
        created_at=AT,
        updated_at=AT,
        trust=trust,
        project=project,
        provenance={"thread": f"t-{project}", "project": project},
    )


@pytest.fixture
def home() -> Iterator[Path]:
    with scratch_home() as path:
        yield path


@pytest.fixture
def started(home: Path, tmp_path: Path) -> Iterator[Client]:
    """A daemon over a store whose second project is a checkout of the first from before it had a remote."""
    build(home, {"home-harbour": str(repository(tmp_path / "home" / "harbour"))})
    with running_daemon(home) as daemon, Client(daemon.socket) as client:
        yield client


def state(client: Client) -> dict[str, tuple[str | None, str, str]]:
    """Return project, document and words of each memory."""
    return {one.id: (one.project, one.document, one.content) for one in client.memories(limit=100).items}


def test_a_second_name_is_joined_and_parted(started: Client, tmp_path: Path) -> None:
    """A checkout that gets its remote is joined to the first project with its memories; an undo moves them back."""
    before = state(started)
    folder = tmp_path / "home" / "harbour"
    git(folder, "remote", "add", "origin", f"https://{REMOTE}.git")

    assert started.create_thread(project=str(folder)).project == "harbour"

    assert state(started) == MOVED
    assert {one.project for one in started.threads().items} == {"harbour", "pier"}
    assert started.threads(project="home-harbour").items == started.threads(project="harbour").items
    assert {
        hit.memory.id for hit in started.recall("is the gauge asked once an hour", project="home-harbour").hits
    } >= {"m7"}
    projects = {one.name: one for one in started.projects().items}
    assert (projects["harbour"].memories, projects["home-harbour"].memories) == (5, 0)
    assert projects["home-harbour"].joined == "harbour"
    assert started.create_thread(project="Home-Harbour").project == "harbour"

    started.undo(str(projects["home-harbour"].joined_in))

    assert state(started) == before
    assert "t-home-harbour" in {one.id for one in started.threads(project="home-harbour").items}
    assert {one.name: one.joined for one in started.projects().items}["home-harbour"] is None
    assert started.create_thread(project=str(folder)).project == "harbour"
    assert state(started) == before  # joined once, and parted by hand


def test_a_joined_projects_folder_is_the_projects(started: Client, tmp_path: Path) -> None:
    """What a person edits or adds there is known in the project, and after a rollback past the join all still is."""
    before = newest_operation(started).id
    folder = tmp_path / "home" / "harbour"
    git(folder, "remote", "add", "origin", f"https://{REMOTE}.git")
    assert started.create_thread(project=str(folder)).project == "harbour"
    started.change_memory("m6", wire.ChangeMemory("The harbour freezes in January and in February."))
    started.put_document("facts/home-harbour/fees.md", "# Fees\n\n- The mooring fee is 40 euros\n")

    def known(query: str, project: str) -> bool:
        return any(query in hit.memory.content for hit in started.recall(query, project=project).hits)

    for project in ("harbour", "home-harbour"):
        for words in ("freezes in January and in February", "mooring fee is 40"):
            assert known(words, project), (words, project)
        assert not known("mooring fee is 40", "pier")
    started.rollback(before)
    for project in ("harbour", "home-harbour"):
        assert known("harbour freezes in January", project)


def test_what_was_written_since_a_join_is_parted_with_its_folder(started: Client, tmp_path: Path) -> None:
    """After the undo of the join the folder's project has it, and the other one has not."""
    folder = tmp_path / "home" / "harbour"
    git(folder, "remote", "add", "origin", f"https://{REMOTE}.git")
    assert started.create_thread(project=str(folder)).project == "harbour"
    started.put_document("facts/home-harbour/fees.md", "# Fees\n\n- The mooring fee is 40 euros\n")
    joined = next(one for one in started.projects().items if one.name == "home-harbour")
    started.undo(str(joined.joined_in))
    for project, is_known in (("home-harbour", True), ("harbour", False)):
        hits = started.recall("how much is the mooring fee", project=project).hits
        assert any("40 euros" in hit.memory.content for hit in hits) is is_known


@pytest.mark.parametrize("remote", ["example.org/bob/harbour", ""])
def test_other_repositories_stay_apart(started: Client, tmp_path: Path, remote: str) -> None:
    """A fork with a remote of its own and a checkout without a remote are not joined to the project."""
    before = state(started)
    folder = tmp_path / "home" / "harbour"
    if remote:
        git(folder, "remote", "add", "origin", f"https://{remote}.git")
    assert started.create_thread(project=str(folder)).project == "home-harbour"
    other = repository(tmp_path / "copy" / "harbour", f"https://{REMOTE}.git")
    assert started.create_thread(project=str(other)).project == "harbour"
    assert state(started) == before
    assert all(one.joined is None for one in started.projects().items)


def test_what_was_dropped_from_a_brief_stays_dropped(started: Client, tmp_path: Path) -> None:
    """Under either name: after the join, what was dropped before it; after the undo, what was dropped since."""
    client, other = started, tmp_path / "home" / "harbour"
    before, since = "Pull requests are always opened as drafts.", "Never push to the main branch."
    texts = [before, "I will.", since, "I will not."]
    path = session(tmp_path / "a.jsonl", str(other), texts)
    thread = client.thread(str(import_file(client, path, program="claude-code").thread))

    def drop(text: str) -> None:
        name = client.thread(thread.id).project or ""
        line = next(line.id for line in client.brief(name).lines if text in line.text)
        client.change_brief_line(name, line, "drop")
        assert text not in client.brief_text(name)

    drop(before)
    git(other, "remote", "add", "origin", f"https://{REMOTE}.git")
    assert client.create_thread(project=str(other)).project == "harbour"
    assert client.thread(thread.id).project == "harbour"
    assert before not in client.brief_text("harbour")
    drop(since)
    joined = next(one for one in client.projects().items if one.name == thread.project)
    client.undo(str(joined.joined_in))
    text = client.brief_text(str(thread.project))
    assert text
    assert before not in text
    assert since not in text


def test_a_store_that_lost_the_folder_is_sorted(home: Path, tmp_path: Path) -> None:
    """`projects --sort` joins two projects of one folder of an older release, and a name that was given stays."""
    folder = repository(tmp_path / "home" / "harbour", f"https://{REMOTE}.git")
    build(home, {})

    def body(writer: Writer) -> None:
        for thread in ("t-home-harbour", "t-pier"):
            entry = EntryRecord(kind=EntryKind.SPEECH, role="user", content="Hello", extra={"cwd": str(folder)})
            writer.append_record(entry, (thread,))

    with Store.open(home / "data" / "store", redactor=Redactor(())) as store:
        store.commit([Write("default", "import", "build", body)], at=AT)
    with running_daemon(home) as daemon, Client(daemon.socket) as client:
        answer = client.sort_projects()
        assert state(client) == MOVED
        assert {one.name: one.joined for one in client.projects().items} == {
            "harbour": None,
            "home-harbour": "harbour",
            "pier": None,
        }
        again = client.sort_projects()
        assert (again.threads, again.memories, again.operation) == (0, 0, None)
        client.undo(str(answer.operation))
        assert {one.project for one in client.memories(limit=100).items} == {"harbour", "home-harbour", "pier"}


def test_a_remote_in_a_transcript_joins_a_folder_that_is_gone(client: Client, tmp_path: Path) -> None:
    """Git's output in a transcript shows the remote of a folder that is gone, and its threads and memories move."""
    main = repository(tmp_path / "harbour", f"https://{REMOTE}.git")
    client.create_thread(project=str(main))
    gone = "/home/ann/quay/harbour"
    first = import_file(client, session(tmp_path / "a.jsonl", gone, ["Hello", "Hi"]), program="claude-code")
    second = client.thread(str(first.thread)).project
    assert second == "quay-harbour"
    client.remember(wire.CreateMemory(SLOW, project=second))
    import_file(client, session(tmp_path / "b.jsonl", gone, ["Push it", "To github.com:x\n"]), program="claude-code")
    assert client.thread(str(first.thread)).project == second
    pushed = session(
        tmp_path / "c.jsonl",
        gone,
        ["Push it", *command_run("git push", f"To https://{REMOTE}.git\n   1a2b3c4..2b3c4d5  main -> main")],
    )
    assert client.thread(str(import_file(client, pushed, program="claude-code").thread)).project == "harbour"
    assert client.thread(str(first.thread)).project == "harbour"
    assert [one.project for one in client.memories().items] == ["harbour"]
