"""Projects through the API: threads of one repository, wherever they work in it, and lists of a project."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from reveried.cli.send_sessions import import_file
from support.projects import command_run, repository, session


def test_a_repository_with_worktrees_and_a_clone_is_one_project(client: Client, tmp_path: Path) -> None:
    """Three worktrees, a clone, a subfolder and a removed worktree are one project; another repository is another."""
    main = repository(tmp_path / "harbour", "git@example.org:ann/harbour.git")
    for name in ("one", "two", "three"):
        subprocess.run(["git", "worktree", "add", "-q", f".worktrees/{name}", "-b", name], cwd=main, check=True)
    subprocess.run(["git", "clone", "-q", str(main), str(tmp_path / "clone")], check=True)
    repository(tmp_path / "other" / "harbour", "https://example.org/bob/harbour")
    (main / "src").mkdir()
    folders = [main, *(main / ".worktrees" / name for name in ("one", "two", "three", "gone")), main / "src"]

    names = [client.create_thread(project=str(folder)).project for folder in (*folders, tmp_path / "clone")]
    other = client.create_thread(project=str(tmp_path / "other" / "harbour"))

    assert set(names) == {"harbour"}
    assert other.project == "bob-harbour"
    listed = {item.name: item for item in client.projects().items}
    assert (listed["harbour"].threads, listed["bob-harbour"].threads) == (7, 1)
    assert listed["harbour"].remotes == ["example.org/ann/harbour"]
    assert str(main) in listed["harbour"].folders
    assert [item.name for item in client.projects(of=str(main / "src" / "deep")).items] == ["harbour"]
    assert client.projects(of=str(tmp_path / "elsewhere")).items == []


def test_imported_sessions_have_the_project_of_their_folder(client: Client, tmp_path: Path) -> None:
    """An imported session's project follows from its folder, also if the worktree or repository is gone."""
    main = repository(tmp_path / "mole")
    places = [str(main), f"{main}/.claude/worktrees/fix", "/home/ann/pier/.worktrees/3", "/home/ann/pier/src"]
    paths = [session(tmp_path / f"{number}.jsonl", folder, ["Hello"]) for number, folder in enumerate(places)]
    threads = [client.thread(str(import_file(client, path, program="claude-code").thread)) for path in paths]
    assert [thread.project for thread in threads] == ["mole", "mole", "pier", "pier"]


def test_threads_are_listed_by_project(client: Client, tmp_path: Path) -> None:
    """Threads are listed by project name or folder, in pages and either order; an unknown name is an error."""
    for number in range(6):
        client.create_thread(id=f"t{number}", project=("north", "south")[number % 2])
    client.create_thread(id="t6")
    first = client.threads(project="North", limit=2)
    rest = client.threads(project="north", limit=2, after=first.next)
    newest = client.threads(project="north", order="newest")
    assert [thread.id for thread in (*first.items, *rest.items)] == ["t0", "t2", "t4"]
    assert rest.next is None
    assert [thread.id for thread in newest.items] == ["t4", "t2", "t0"]
    assert client.threads(project=str(tmp_path)).items == []
    assert client.thread("t6").project is None
    with pytest.raises(NotFound, match="no project is called 'nowhere'"):
        client.threads(project="nowhere")


def test_the_project_of_a_thread_can_be_changed(client: Client) -> None:
    """A thread's project can be changed to a new name or removed by null; its title stays."""
    client.create_thread(id="ta", title="Tides", project="east")
    assert client.change_thread("ta", wire.ChangeThread(project="west")).project == "west"
    changed = client.change_thread("ta", wire.ChangeThread(project=None))
    assert (changed.project, changed.title) == (None, "Tides")
    assert client.change_thread("ta", wire.ChangeThread(title="Ebb")).title == "Ebb"
    with pytest.raises(ValidationError, match="nothing is to be changed"):
        client.change_thread("ta", wire.ChangeThread())
    with pytest.raises(NotFound):
        client.change_thread("tb", wire.ChangeThread(title="x"))


@pytest.mark.parametrize("text", ["./harbour", "~/harbour", "a/b", "--"])
def test_what_is_no_project_is_refused(client: Client, text: str) -> None:
    """A relative path, and a name without a letter or digit, are errors that name the field."""
    with pytest.raises(ValidationError) as error:
        client.create_thread(project=text)
    assert error.value.details["field"] == "project"
    assert error.value.hint


def test_a_name_without_a_folder_takes_the_folder_that_comes(client: Client, tmp_path: Path) -> None:
    """A project created by name is given the first repository of that name; a second one is named `b-jetty`."""
    client.create_thread(project="jetty")
    repository(tmp_path / "a" / "jetty")
    repository(tmp_path / "b" / "jetty")
    names = [client.create_thread(project=str(tmp_path / name / "jetty")).project for name in ("a", "b", "a")]
    assert names == ["jetty", "b-jetty", "jetty"]


def test_an_imported_thread_opens_as_a_new_one(client: Client, tmp_path: Path) -> None:
    """An imported thread begins with the memory index, notes and digest of its project, and of no other project."""
    other_of: dict[str, str] = {}
    for name in ("reef", "shoal"):
        repository(tmp_path / name)
        talk = [f"Please measure the {name}.", "Measured."] * 20
        other = other_of[name] = str(
            import_file(
                client, session(tmp_path / f"{name}.jsonl", str(tmp_path / name), talk), program="claude-code"
            ).thread
        )
        client.distill(other)
        client.add_note(other, f"the {name} waits for Ann", "task")
        client.remember(wire.CreateMemory(f"The {name} is deep", project=str(tmp_path / name)))

    later = session(tmp_path / "later.jsonl", str(tmp_path / "reef"), ["What is deep?", "The sea."])
    opened = str(import_file(client, later, program="claude-code").thread)

    assert [note.content for note in client.notes(opened).items] == ["the reef waits for Ann"]
    assert client.digest(opened).text == client.digest(other_of["reef"]).text
    context = client.context(opened)
    assert context.tokens.index > 0
    assert context.tokens.digest > 0
    assert "facts/reef/project.md" in str(context.request)
    assert "shoal" not in str(context.request)


def test_a_folder_without_git_is_itself_while_it_exists(client: Client, tmp_path: Path) -> None:
    """A folder without git inside a project's is a project of its own; a deleted one counts to the project above."""
    (tmp_path / "dune" / "inner").mkdir(parents=True)
    places = ("dune", "dune/inner", "dune/gone")
    names = [client.create_thread(project=str(tmp_path / place)).project for place in places]
    assert names == ["dune", "inner", "dune"]


def test_sessions_of_gone_folders_are_of_the_remote_that_git_named(client: Client, tmp_path: Path) -> None:
    """Sessions of folders that are gone get the project of the one remote that a push or fetch in them names."""
    pushed = "To git@github.com:ann/skiff.git\n   1a2b3c4..5d6e7f8  main -> main"
    fetched = "From https://github.com/ann/skiff\n * branch main -> FETCH_HEAD"
    both = f"{pushed}\nFrom https://github.com/ben/raft\n * branch"
    here = tmp_path / "here"
    here.mkdir()
    sessions = [
        ("/machines/ann/skiff", ["Push it", *command_run("git push", pushed)]),
        ("/machines/ben/skiff-copy", ["Hello", "Hi"]),
        ("/machines/ben/skiff-copy", ["Fetch it", *command_run("git pull", fetched)]),
        ("/machines/ben/skiff-copy", ["Hello again", "Hi"]),
        ("/machines/cy/ketch", ["Look", *command_run("git push && git pull", both)]),
        (str(here), ["Push it", *command_run("git push", pushed)]),
    ]
    names = []
    for number, (folder, texts) in enumerate(sessions):
        path = session(tmp_path / f"skiff-{number}.jsonl", folder, texts)
        names.append(client.thread(str(import_file(client, path, program="claude-code").thread)).project)
    assert names == ["skiff", "skiff-copy", "skiff", "skiff", "ketch", "here"]
