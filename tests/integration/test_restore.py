"""A restored backup: the folder follows it, and users' edits are distinguished from written files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.client import Client
from reverie.store.backup_and_restore import restore
from reveried.cli.send_session_files import import_file
from support.daemon import Daemon, environment, scratch_home
from support.session import session_file

if TYPE_CHECKING:
    from pathlib import Path


def learn(client: Client, folder: Path, number: int) -> None:
    """Import and distill one session."""
    client.distill(str(import_file(client, session_file(folder, number, turns=6)).thread))


def texts(root: Path) -> dict[str, str]:
    """Return the markdown texts in the folder."""
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.md"))}


def test_the_folder_follows_a_restored_store(tmp_path: Path) -> None:
    """Files written after the backup are removed without conflict copies, and a user's edit stays."""
    with scratch_home() as home:
        daemon = Daemon(home, environment(home)).start()
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
        assert daemon.stop() == 0
