"""A restored backup: the folder follows it, and users' edits are distinguished from written files."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from reverie.client import Client
from reverie.store.backup import restore
from reverie.wire import CreateMemory
from reveried.cli.send_sessions import import_file
from reveried.sync.loop import RECORD_S
from support.daemon import environment, running_daemon
from support.daemon_folder import bytes_below
from support.story import session_file
from support.waiting import wait_until


def learn(client: Client, folder: Path, number: int) -> None:
    """Import and distill one session."""
    client.distill(str(import_file(client, session_file(folder, number, turns=6), program="claude-code").thread))


def texts(root: Path) -> dict[str, str]:
    """Return the text of each markdown file in the folder by its path."""
    return {path: data.decode() for path, data in bytes_below(root, ".md").items()}


def test_the_folder_follows_a_restored_store(tmp_path: Path) -> None:
    """After a restore files written since the backup are removed without conflict copies, and a user's edit stays."""
    with running_daemon() as daemon:
        home = daemon.home
        root = home / "root" / "default"
        with Client(daemon.socket) as client:
            learn(client, tmp_path, 1)
            then = texts(root)
            client.backup(str(home / "data" / "backups" / "copy"))
            learn(client, tmp_path, 2)
            assert texts(root) != then
        assert daemon.stop() == 0
        restore(home / "data" / "backups" / "copy", home / "data" / "store", aside=home / "aside")
        mine = root / "facts" / "mine.md"
        mine.write_text("# Mine\n")

        daemon.start()
        with Client(daemon.socket) as client:
            learn(client, tmp_path, 3)
            client.sync_now()
            stored = {item.path: client.document(item.path).content for item in client.documents().items}
            assert texts(root) == {path: text for path, text in stored.items() if path.endswith(".md")}
            assert stored["facts/mine.md"] == "# Mine\n"


KILLED_RESTORE = """
import os, sys
from pathlib import Path
from reveried.cli import main
rename = Path.rename
Path.rename = lambda path, to: (rename(path, to), os._exit(9))  # the store has been replaced
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("killed", ["", "daemon", "restore"])
def test_what_agents_wrote_after_a_backup_does_not_come_back(killed: str) -> None:
    """Memories forgotten since are there again; a file that a person saved since keeps their text. Also once killed."""
    with running_daemon() as daemon:
        home = daemon.home
        root = home / "root" / "default"
        (root / "notes").mkdir(parents=True, exist_ok=True)
        (root / "notes" / "mine.md").write_text("# Mine\n\nBefore the backup.\n")
        with Client(daemon.socket) as client:
            client.sync_now()
            first = client.remember(CreateMemory(content="The harbour gate opens with the tide"))
            client.remember(CreateMemory(content="The pilot's app needs the VPN"))
            client.put_document("guides/old.md", "# Old guide\n")
            client.sync_now()
            facts = texts(root)
            client.backup(str(home / "data" / "backups" / "copy"))
            client.forget(first.id)
            client.remember(CreateMemory(content="The crane's telemetry comes over MQTT"))
            client.delete_document("guides/old.md")
            client.put_document("guides/new.md", "# New guide\n")
            client.sync_now()
            (root / "notes" / "mine.md").write_text("# Mine\n\nAfter the backup.\n")
            client.sync_now()
            assert texts(root) != facts
        if killed:
            daemon.kill()
        else:
            assert daemon.stop() == 0
        words = ["restore", str(home / "data" / "backups" / "copy")]
        if killed == "restore":
            code = subprocess.run([sys.executable, "-c", KILLED_RESTORE, *words], env=environment(home), check=False)
            assert code.returncode == 9
        command = [sys.executable, "-m", "reveried.cli", *words]
        done = subprocess.run(command, env=environment(home), capture_output=True, text=True, check=True)
        assert not (home / "data" / "store" / "restoring").exists()
        if killed != "restore":  # the one that was killed would have said it
            assert "1 file that you saved after the backup will be read as your edits: notes/mine.md" in done.stdout

        daemon.start()
        with Client(daemon.socket) as client:
            client.sync_now()
            first_line = "- [notes/mine.md](notes/mine.md) — Mine\n"  # the newest file stands first
            listed = facts["MEMORY.md"].replace(first_line, "").replace("# Memory\n\n", f"# Memory\n\n{first_line}")
            expected = facts | {"MEMORY.md": listed, "notes/mine.md": "# Mine\n\nAfter the backup.\n"}
            wait_until(lambda: texts(root) == expected, "the folder of the backup")
            contents = {memory.content for memory in client.memories().items}
            assert contents == {"The harbour gate opens with the tide", "The pilot's app needs the VPN"}
            assert client.conflicts().items == []


def test_a_file_that_a_killed_daemon_had_removed_comes_back_with_the_backup() -> None:
    """That it is gone was not recorded before the kill: it does not count as removed by a person."""
    with running_daemon() as daemon:
        home = daemon.home
        file, copy = home / "root" / "default" / "guides" / "old.md", str(home / "data" / "backups" / "copy")
        with Client(daemon.socket) as client:
            client.put_document("guides/old.md", "# Old guide\n")
            time.sleep(RECORD_S + 1)  # that the file is there is recorded
            client.backup(copy)
            client.delete_document("guides/old.md")
            assert not file.exists()
        daemon.kill()
        command = [sys.executable, "-m", "reveried.cli", "restore", copy]
        subprocess.run(command, env=environment(home), capture_output=True, check=True)

        daemon.start()
        with Client(daemon.socket) as client:
            assert client.sync_now().status.missing == []
            assert client.document("guides/old.md").content == file.read_text() == "# Old guide\n"


def test_a_purge_after_a_restore_names_every_backup() -> None:
    """The backup that was restored, which was listed only after it was made, and one that was made later."""
    with running_daemon() as daemon:
        first, second = (daemon.home / name for name in ("first.backup", "second.backup"))
        with Client(daemon.socket) as client:
            memory = client.remember(CreateMemory(type="fact", content="The harbour gate opens with the tide"))

        def run(*words: str) -> None:
            command = [sys.executable, "-m", "reveried.cli", *words]
            subprocess.run(command, env=environment(daemon.home), capture_output=True, check=True)

        for file in (first, second):
            run("backup", str(file))
        assert daemon.stop() == 0
        run("restore", str(first))
        daemon.start()
        with Client(daemon.socket) as client:
            purged = client.forget(memory.id, purge=True).purged
            assert purged is not None
            assert [file.path for file in purged.backups][:2] == [str(first), str(second)]
