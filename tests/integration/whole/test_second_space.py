"""A second space has all that the first one has: folder sync, projections, dreams, schedules, undo, purge, backups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Forbidden, NotFound
from reverie.store.backup import restore
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, running_daemon, scratch_home
from support.stores import files_with
from support.story import session_file
from support.waiting import wait_until

SPACE = "work"


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.3") as running:
        yield running


@pytest.fixture(scope="module")
def token(daemon: Daemon) -> str:
    """The token of a person for the second space."""
    with Client(daemon.socket) as owner:
        owner.create_space(SPACE)
        return str(owner.create_token(SPACE).token)


@pytest.fixture(scope="module")
def work(daemon: Daemon, token: str) -> Iterator[Client]:
    """A client of the second space."""
    with Client(daemon.socket, token=token) as client:
        yield client


@pytest.fixture(scope="module")
def default(daemon: Daemon) -> Iterator[Client]:
    """A client of the first space."""
    with Client(daemon.socket) as client:
        yield client


def root(daemon: Daemon) -> Path:
    return daemon.home / "root" / SPACE


def text(path: Path) -> str:
    """Return the text of a file; empty where it is not there yet."""
    return path.read_text() if path.exists() else ""


def test_the_folder_is_followed_both_ways(daemon: Daemon, work: Client, default: Client) -> None:
    """A second space's writes appear as files, a person's files are read, and its memories stay out of the first."""
    work.remember(wire.CreateMemory(content="The pier closes at nine", document="facts/pier.md"))
    assert "closes at nine" in (root(daemon) / "facts" / "pier.md").read_text()
    (root(daemon) / "facts" / "mine.md").write_text("# Mine\n\n- The crane is yellow\n")
    wait_until(lambda: "facts/mine.md" in {item.path for item in work.documents().items}, "the person's file")
    wait_until(lambda: "facts/mine.md" in text(root(daemon) / "MEMORY.md"), "the file in MEMORY.md")
    wait_until(lambda: "crane" in text(root(daemon) / "memory/long-term-memory.json"), "the projection")
    assert work.sync_status().state == "ok"
    assert work.sync_status().root == str(root(daemon))
    assert work.recall("which colour has the crane").hits
    assert default.recall("which colour has the crane").hits == []
    assert not [path for path in (daemon.home / "root").glob("default/**/*.md") if "crane" in path.read_text()]


def test_undo_and_rollback(daemon: Daemon, work: Client) -> None:
    """Undo and rollback in a second space take back its memories and the text of its files."""
    memory = work.remember(wire.CreateMemory(content="The buoy is red", document="facts/buoy.md"))
    newest = next(item for item in work.operations().items if item.undoable)
    work.undo(newest.id)
    with pytest.raises(NotFound):
        work.memory(memory.id)
    assert "buoy is red" not in "".join(path.read_text() for path in root(daemon).rglob("buoy.md"))
    before = work.operations().items[0].id
    work.remember(wire.CreateMemory(content="The mast is broken", document="facts/mast.md"))
    work.rollback(before)
    assert not (root(daemon) / "facts" / "mast.md").exists()


def test_import_distill_context_and_dream(daemon: Daemon, work: Client, default: Client, tmp_path: Path) -> None:
    """In a second space a session is imported, distilled and dreamt over; the first space has none of its results."""
    thread = str(import_file(work, session_file(tmp_path, 1, turns=8), program="claude-code").thread)
    assert work.distill(thread).number == 1
    assert work.context(thread).request.messages
    dreamt = work.dream()
    assert dreamt.archive is not None
    wait_until((root(daemon) / "archives" / f"{dreamt.archive}.json").exists, "the archive's file")
    assert work.archive(dreamt.archive)
    for missing in (lambda: default.thread(thread), lambda: default.archive(str(dreamt.archive))):
        with pytest.raises(NotFound):
            missing()
    assert default.dreams().items == []


def test_a_schedule_dreams_in_its_space() -> None:
    """A schedule of a second space runs a dream there, and none in the first space."""
    with scratch_home() as home:
        (home / "clock").write_text("2026-05-04T12:00:00Z")
        with running_daemon(home) as daemon, Client(daemon.socket) as default:
            default.create_space(SPACE)
            with Client(daemon.socket, token=default.create_token(SPACE).token) as work:
                work.remember(wire.CreateMemory(content="Ropes are checked on Mondays"))
                schedule = work.add_schedule("0 3 * * *")
                (home / "clock").write_text("2026-05-05T03:00:30Z")
                wait_until(lambda: work.dreams().items, "the scheduled dream")
                assert [item.id for item in work.schedules().items] == [schedule.id]
            assert default.schedules().items == []
            assert default.dreams().items == []


def test_purge_by_a_person_and_not_by_an_agent(daemon: Daemon, work: Client, default: Client) -> None:
    """With a person's token a purge leaves no file with the word; an agent's token is Forbidden to purge."""
    memory = work.remember(wire.CreateMemory(content="The spare key is called Zanzilomquok", document="facts/keys.md"))
    assert files_with(daemon.home, "Zanzilomquok")
    agent = str(default.create_token(SPACE, agent="mole").token)
    with Client(daemon.socket, token=agent) as mole, pytest.raises(Forbidden):
        mole.forget(memory.id, purge=True)
    assert work.forget(memory.id, purge=True).purged is not None
    wait_until(lambda: not files_with(daemon.home, "Zanzilomquok"), "no trace")


def test_a_backup_brings_the_space_its_token_and_its_folder_back() -> None:
    """After a backup is restored, a space's token is valid, and its folder has the restored text."""
    with running_daemon() as daemon:
        home = daemon.home
        copy = home / "data" / "backups" / "copy"
        with Client(daemon.socket) as owner:
            owner.create_space(SPACE)
            token = str(owner.create_token(SPACE).token)
            with Client(daemon.socket, token=token) as work:
                work.put_document("facts/kept.md", "# Kept\n\n- Before the backup\n")
                owner.backup(str(copy))
                work.delete_document("facts/kept.md")
        assert daemon.stop() == 0
        restore(copy, home / "data" / "store", aside=home / "aside")
        daemon.start()
        with Client(daemon.socket, token=token) as work:
            work.sync_now()
            assert "- Before the backup\n" in work.document("facts/kept.md").content
            assert "- Before the backup\n" in text(home / "root" / SPACE / "facts" / "kept.md")


def test_the_space_goes_on_after_a_restart() -> None:
    """After a restart a file that a person saved in the second space's folder is read before any request."""
    with scratch_home() as home:
        with running_daemon(home) as daemon, Client(daemon.socket) as owner:
            owner.create_space(SPACE)
            token = str(owner.create_token(SPACE).token)
            with Client(daemon.socket, token=token) as work:
                work.put_document("facts/a.md", "# A\n\n- One\n")
        marked = json.loads((home / "root" / SPACE / ".reverie" / "space.json").read_text())
        assert marked["space"] == SPACE
        (home / "root" / SPACE / "facts" / "b.md").write_text("# B\n\n- Two\n")
        projection = home / "root" / SPACE / "memory" / "long-term-memory.json"
        with running_daemon(home) as daemon, Client(daemon.socket, token=token) as work:
            wait_until(lambda: "Two" in text(projection), "the person's save")
            assert "- Two\n" in work.document("facts/b.md").content
