"""The folder of a space on disk: files written, files left alone, and roots that are not written into."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, daemon_on_copy, running_daemon, scratch_home
from support.pages import newest_operation
from support.story import session_file
from support.waiting import wait_until


class Space:
    """A daemon, its folder, and sessions to learn from."""

    def __init__(self, daemon: Daemon, client: Client, sessions: Path, *, learnt: int = 0) -> None:
        self.daemon = daemon
        self.client = client
        self.root = daemon.folder
        self._sessions = sessions
        self._number = learnt

    def learn(self) -> Any:
        """Import and distill one more session."""
        self._number += 1
        path = session_file(self._sessions, self._number, turns=5)
        return self.client.distill(str(import_file(self.client, path, program="claude-code").thread))

    def listed(self) -> list[str]:
        """Return the path of every document."""
        return [item.path for item in self.client.documents().items]

    def documents(self) -> dict[str, str]:
        """Return every document of the store, once no deletion is pending."""
        return {path: self.client.document(path).content for path in self.listed()}

    def files(self) -> dict[str, str]:
        """Return every file in the folder except archives and the marker file."""
        return {
            path.relative_to(self.root).as_posix(): path.read_text("utf-8")
            for path in self.root.rglob("*")
            if path.is_file() and not path.relative_to(self.root).parts[0].startswith((".", "archives"))
        }

    def has_the_documents_as_files(self) -> bool:
        """Return True if the files, without two that are no documents, are the documents of the store."""
        return {path: text for path, text in self.files().items() if path not in PROJECTED} == self.documents()

    def agree(self) -> Any:
        """Sync the whole folder and wait until store and files are equal: MEMORY.md is written after the others."""
        outcome = self.client.sync_now()
        wait_until(lambda: self.files().items() >= self.documents().items(), "equal files and documents")
        return outcome


@pytest.fixture(scope="module")
def learnt_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a stopped daemon whose space has learnt from one session."""
    with scratch_home() as home, running_daemon(home) as daemon:
        with Client(daemon.socket) as client:
            space = Space(daemon, client, tmp_path_factory.mktemp("sessions"))
            space.learn()
            space.agree()
        assert daemon.stop() == 0
        yield home


@pytest.fixture
def space(learnt_home: Path, tmp_path: Path) -> Iterator[Space]:
    """A space that has learnt from one session."""
    with daemon_on_copy(learnt_home) as daemon, Client(daemon.socket) as client:
        yield Space(daemon, client, tmp_path, learnt=1)


PROJECTED = {"MEMORY-INDEX.json", "memory/long-term-memory.json"}


def test_the_folder_equals_the_store(space: Space) -> None:
    """The folder has each document, projection and archive as the store has them, and the marker file; also later."""
    first = space.files()
    wait_until(space.has_the_documents_as_files, "the file of MEMORY.md")
    second = space.learn()

    assert space.files() != first
    wait_until(space.has_the_documents_as_files, "the file of MEMORY.md, which is written after what was learnt")
    memories = orjson.loads(space.files()["memory/long-term-memory.json"])
    assert {item["id"] for item in memories} == {item.id for item in space.client.memories(limit=1000).items}
    for archive in space.client.archives().items:
        assert (space.root / "archives" / f"{archive.sha256}.json").read_bytes() == space.client.archive(archive.sha256)
    assert second.archive in {path.stem for path in (space.root / "archives").iterdir()}
    assert orjson.loads((space.root / ".reverie" / "space.json").read_bytes())["space"] == "default"
    assert space.client.status().root == str(space.root)
    [listed] = space.daemon.ask("GET", "/v1/spaces").json()["items"]
    assert listed == {"id": "default", "root": str(space.root)}


def test_a_user_edit_becomes_a_memory(space: Space) -> None:
    """The new line is a user's memory, which engines do not change; memories learnt later are added beside it."""
    mine = space.root / "facts" / "harbour" / "preferences.md"
    edited = mine.read_text("utf-8") + "- My own line, with two spaces at its end  \n"
    mine.write_text(edited, "utf-8")
    space.agree()  # whether this look takes the file in or the daemon's own one before it

    assert space.client.document("facts/harbour/preferences.md").content == edited
    assert mine.read_text("utf-8") == edited
    [own] = [item for item in space.client.memories(limit=1000).items if item.content.startswith("My own line")]
    assert (own.trust, own.document, own.type) == ("person", "facts/harbour/preferences.md", "preference")

    space.learn()
    assert "- My own line, with two spaces at its end  \n" in mine.read_text("utf-8")
    assert space.client.memory(own.id).content == own.content
    assert mine.read_text("utf-8") == space.client.document("facts/harbour/preferences.md").content


def test_a_deleted_file_deletes_its_memories(space: Space) -> None:
    """Deleting a file deletes its memories after the quiet period; undo restores the file."""
    before = space.client.document("facts/harbour/preferences.md").content
    (space.root / "facts" / "harbour" / "preferences.md").unlink()
    wait_until(lambda: "facts/harbour/preferences.md" not in space.listed(), "the end of the quiet time")
    assert not [
        item for item in space.client.memories(limit=1000).items if item.document == "facts/harbour/preferences.md"
    ]

    space.client.undo(newest_operation(space.client).id)
    assert (space.root / "facts" / "harbour" / "preferences.md").read_text("utf-8") == before


def test_a_new_file_is_a_new_category(space: Space) -> None:
    """List items of a new file become memories; a symbolic link is refused, and its target is not touched."""
    own = space.root / "facts" / "garden.md"
    own.write_text("# Garden\n\n- Roses want sun #plants\n", "utf-8")
    elsewhere = space.daemon.home / "elsewhere.md"
    elsewhere.write_text("- mine\n", "utf-8")
    link = space.root / "facts" / "link.md"
    link.symlink_to(elsewhere)
    outcome = space.agree()

    assert own.read_text("utf-8") == "# Garden\n\n- Roses want sun #plants\n"
    [roses] = [item for item in space.client.memories(limit=1000).items if item.document == "facts/garden.md"]
    assert (roses.content, roses.tags, roses.type, roses.trust) == ("Roses want sun", ["plants"], "fact", "person")
    assert [(refusal.path, refusal.reason) for refusal in outcome.status.refused] == [("facts/link.md", "symlink")]
    assert elsewhere.read_text("utf-8") == "- mine\n"
    assert "facts/garden.md" in (space.client.index().text)


def test_projections_are_written_again(space: Space) -> None:
    """The next scan writes a deleted or edited projection again; a user's version becomes a conflict copy."""
    space.agree()
    before = {path: (space.root / path).read_bytes() for path in PROJECTED}
    [archive] = (space.root / "archives").iterdir()
    sealed = archive.read_bytes()
    (space.root / "MEMORY-INDEX.json").unlink()
    archive.unlink()
    (space.root / "memory" / "long-term-memory.json").write_text('["mine"]\n', "utf-8")
    outcome = space.client.sync_now()

    assert {path: (space.root / path).read_bytes() for path in PROJECTED} == before
    assert archive.read_bytes() == sealed
    [aside] = (space.root / "memory").glob("*.sync-conflict-*")
    assert aside.read_text("utf-8") == '["mine"]\n'
    assert [(refusal.path, refusal.reason) for refusal in outcome.status.refused] == [
        ("memory/long-term-memory.json", "projection")
    ]


def test_a_vanished_root_is_not_written_into(space: Space) -> None:
    """An unmounted or moved root is not created; memories stay in the store, and are written once it is back."""
    away = space.daemon.home / "away"
    space.root.rename(away)
    space.learn()
    assert not space.root.exists()
    assert "files were not written" in space.daemon.log_text()

    space.root.mkdir()
    space.learn()
    assert list(space.root.iterdir()) == []

    space.root.rmdir()
    away.rename(space.root)
    space.learn()
    space.agree()


def test_a_folder_of_another_space_is_not_written_into(space: Space) -> None:
    """A folder with another space's marker, or an unreadable one, is not touched."""
    for mark in (b'{"space":"other","format":1}', b"not json", b'["default"]', b"x" * 5_000):
        (space.root / ".reverie" / "space.json").write_bytes(mark)
        before = space.files()
        space.learn()
        assert space.files() == before
    assert "files were not written" in space.daemon.log_text()


def test_pending_files_are_written_at_the_next_start(space: Space) -> None:
    """Files that could not be written before a stop are written by the next start."""
    away = space.daemon.home / "away"
    space.root.rename(away)
    distillation = space.learn()
    assert space.daemon.stop() == 0
    away.rename(space.root)
    space.daemon.start()
    with Client(space.daemon.socket) as client:
        again = Space(space.daemon, client, space.root)
        again.agree()
        assert (space.root / "archives" / f"{distillation.archive}.json").exists()


def test_a_new_folder_is_made_once(tmp_path: Path) -> None:
    """No folder is made before its first file; an existing one is used, and is not made again after its removal."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        space = Space(daemon, client, tmp_path)
        assert not space.root.exists()
        space.root.mkdir(parents=True)
        (space.root / "README.md").write_text("here before\n", "utf-8")
        space.learn()
        assert (space.root / "README.md").read_text("utf-8") == "here before\n"
        assert space.documents().items() <= space.files().items()
        shutil.rmtree(space.root)
        space.learn()
        assert not space.root.exists()
