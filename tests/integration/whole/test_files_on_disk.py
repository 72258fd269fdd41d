"""The folder of a space: what is written there, what is left alone, and what is never written into."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from reverie.client import Client
from reveried.cli.import_file import import_file
from support.daemon import Daemon, running_daemon
from support.session import session_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Space:
    """A daemon of its own, its folder, and sessions to learn from."""

    def __init__(self, daemon: Daemon, client: Client, sessions: Path) -> None:
        self.daemon = daemon
        self.client = client
        self.root = daemon.home / "root" / "default"
        self._sessions = sessions
        self._number = 0

    def learn(self) -> Any:
        """One more session, distilled."""
        self._number += 1
        path = session_file(self._sessions, self._number, turns=5)
        return self.client.distill(str(import_file(self.client, path).thread))

    def documents(self) -> dict[str, str]:
        """Every document as the store has it."""
        return {item.path: self.client.document(item.path).content for item in self.client.documents().items}

    def files(self) -> dict[str, str]:
        """Every file in the folder but archives and the mark."""
        return {
            path.relative_to(self.root).as_posix(): path.read_text("utf-8")
            for path in self.root.rglob("*")
            if path.is_file() and not path.relative_to(self.root).parts[0].startswith((".", "archives"))
        }

    def left_alone(self) -> list[tuple[str, str | None]]:
        """What status says of other people's edits."""
        return [(left.path, left.beside) for left in self.client.status().left_alone]


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Space]:
    """A space that has learnt one session."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        made = Space(daemon, client, tmp_path)
        made.learn()
        yield made


def test_the_folder_is_what_the_store_has(space: Space) -> None:
    """Every document, every archive under its address, and the mark; nothing else, and again after more was learnt."""
    first = space.files()
    assert first == space.documents()
    second = space.learn()

    assert space.files() == space.documents() != first
    for archive in space.client.archives().items:
        assert (space.root / "archives" / f"{archive.sha256}.json").read_bytes() == space.client.archive(archive.sha256)
    assert second.archive in {path.stem for path in (space.root / "archives").iterdir()}
    assert orjson.loads((space.root / ".reverie" / "space.json").read_bytes())["space"] == "default"
    assert space.left_alone() == []
    assert space.client.status().root == str(space.root)
    [listed] = space.daemon.ask("GET", "/v1/spaces").json()["items"]
    assert listed == {"id": "default", "root": str(space.root)}


def test_a_file_that_a_person_changed_is_left_alone(space: Space) -> None:
    """Its bytes stay; the new text goes beside it and status says so; once it is put right, all is as before."""
    mine = space.root / "facts" / "mistakes.md"
    was = mine.read_text("utf-8")
    edited = was + "- My own line, with two spaces at its end  \n"
    mine.write_text(edited, "utf-8")
    space.learn()
    beside = space.root / "facts" / "mistakes.reverie-new.md"
    new = space.client.document("facts/mistakes.md").content

    assert mine.read_text("utf-8") == edited
    assert beside.read_text("utf-8") == new != was
    assert space.left_alone() == [("facts/mistakes.md", "facts/mistakes.reverie-new.md")]

    space.learn()
    assert mine.read_text("utf-8") == edited
    assert beside.read_text("utf-8") == space.client.document("facts/mistakes.md").content

    beside.replace(mine)
    space.learn()
    assert space.left_alone() == []
    assert space.files() == space.documents()


def test_an_edit_that_nothing_follows_is_left_without_company(space: Space) -> None:
    """A file of which there is nothing new to say gets no file beside it."""
    mine = space.root / "facts" / "preferences.md"
    mine.write_text("all my own\n", "utf-8")
    before = space.client.document("facts/preferences.md").content
    space.client.undo(space.client.operations(limit=1).items[0].id)
    space.learn()

    assert mine.read_text("utf-8") == "all my own\n"
    new = space.client.document("facts/preferences.md").content
    assert (space.root / "facts" / "preferences.reverie-new.md").exists() == (new != before)


def test_a_file_that_a_person_removed_stays_away(space: Space) -> None:
    """Removing is an edit too; the new text goes beside where it stood."""
    (space.root / "facts" / "mistakes.md").unlink()
    space.learn()
    assert not (space.root / "facts" / "mistakes.md").exists()
    assert [path for path, _ in space.left_alone()] == ["facts/mistakes.md"]


def test_somebody_elses_files_are_not_touched(space: Space) -> None:
    """A file that the store knows nothing of stays as it is, as does a link in a file's place."""
    own = space.root / "facts" / "garden.md"
    own.write_text("# Garden\n", "utf-8")
    elsewhere = space.daemon.home / "elsewhere.md"
    elsewhere.write_text("mine\n", "utf-8")
    link = space.root / "facts" / "mistakes.md"
    link.unlink()
    link.symlink_to(elsewhere)
    space.learn()

    assert own.read_text("utf-8") == "# Garden\n"
    assert link.is_symlink()
    assert elsewhere.read_text("utf-8") == "mine\n"


def test_a_vanished_root_is_not_written_into(space: Space) -> None:
    """An unmounted or moved folder is not made anew: what was learnt is in the store, in files once it is back."""
    away = space.daemon.home / "away"
    space.root.rename(away)
    space.learn()
    assert not space.root.exists()
    assert "files were not written" in space.daemon.said()

    space.root.mkdir()
    space.learn()
    assert list(space.root.iterdir()) == []

    space.root.rmdir()
    away.rename(space.root)
    space.learn()
    assert space.files() == space.documents()
    assert space.left_alone() == []


@pytest.mark.parametrize("mark", [b'{"space":"other","format":1}', b"not json", b'["default"]', b"x" * 5_000])
def test_a_folder_of_another_space_is_not_written_into(space: Space, mark: bytes) -> None:
    """Whatever bears another mark, or none that can be read, is somebody else's."""
    before = space.files()
    (space.root / ".reverie" / "space.json").write_bytes(mark)
    space.learn()
    assert space.files() == before
    assert "files were not written" in space.daemon.said()


def test_a_start_writes_what_was_left_unwritten(space: Space) -> None:
    """Files that could not be written before a stop are written by the next start."""
    away = space.daemon.home / "away"
    space.root.rename(away)
    made = space.learn()
    assert space.daemon.stop() == 0
    away.rename(space.root)
    space.daemon.start()
    with Client(space.daemon.socket) as client:
        again = Space(space.daemon, client, space.root)
        for _ in range(200):
            if again.files() == again.documents():
                break
        assert again.files() == again.documents()
        assert (space.root / "archives" / f"{made.archive}.json").exists()


def test_a_new_folder_is_made_once(tmp_path: Path) -> None:
    """Nothing is made before there is something to write; a folder that is there is taken with what is in it."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        made = Space(daemon, client, tmp_path)
        assert not made.root.exists()
        made.root.mkdir(parents=True)
        (made.root / "README.md").write_text("here before\n", "utf-8")
        made.learn()
        assert (made.root / "README.md").read_text("utf-8") == "here before\n"
        assert made.documents().items() <= made.files().items()
        shutil.rmtree(made.root)
        made.learn()
        assert not made.root.exists()
