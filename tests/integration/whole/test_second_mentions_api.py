"""Second mentions in a running daemon: in later messages, notes, documents and imports, and after a restart."""

from __future__ import annotations

from pathlib import Path

import orjson

from reverie import wire
from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, running_daemon
from support.daemon_folder import bytes_below

VALUE = "tQ7vZr4mKx92hLpWd3"
TOKEN = "k3j5h2g8f1d9s7a4"  # noqa: S105 - made up


def stored(daemon: Daemon) -> bytes:
    """Return every byte of the store and of the folder."""
    return b"".join(data for path, data in bytes_below(daemon.home).items() if path != "log")


def transcript(folder: Path) -> Path:
    """Write a transcript whose second line repeats the value of the first, and return its path."""
    path = folder / "session.jsonl"
    lines = [
        {"type": "user", "uuid": f"u{at}", "sessionId": "s1", "message": {"role": "user", "content": text}}
        for at, text in enumerate((f"the token is {TOKEN}", f"use {TOKEN} there"))
    ]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


def test_a_value_of_one_message_is_redacted_in_all_that_follow(tmp_path: Path) -> None:
    """In the next message, a note, the title of a thread, a memory, a document and a file, also after a restart."""
    with running_daemon() as daemon:
        home = daemon.home
        with Client(daemon.socket) as client:
            thread = client.create_thread()
            client.append(thread.id, [{"role": "user", "content": f"the password is {VALUE}"}])
            client.append(thread.id, [{"role": "user", "content": f"log in with {VALUE}"}])
            imported = import_file(client, transcript(tmp_path), program="claude-code").thread
            assert [message.content for message in client.messages(str(imported)).items][-1] == (
                "use [REDACTED:token] there"
            )
        assert daemon.stop() == 0

        daemon.start()
        with Client(daemon.socket) as client:
            client.append(thread.id, [{"role": "user", "content": f"again {VALUE} and {TOKEN}"}])
            client.add_note(thread.id, f"it is {VALUE}", "context")
            client.create_thread(title=f"about {VALUE}")
            client.remember(wire.CreateMemory(type="fact", content=f"Log in with {VALUE} at the tide gauge."))
            client.put_document("facts/gauge.md", f"# Gauge\n\n- Its word is {VALUE}.\n")
            (home / "root" / "default" / "facts" / "mine.md").write_text(f"# Mine\n\n- {VALUE} opens it.\n")
            client.sync_now()
            assert "[REDACTED:password] opens it" in client.document("facts/mine.md").content
            assert VALUE in (home / "root" / "default" / "facts" / "mine.md").read_text()
        assert daemon.stop() == 0
        (home / "root" / "default" / "facts" / "mine.md").unlink()
        assert VALUE.encode() not in stored(daemon)
        assert TOKEN.encode() not in stored(daemon)


def test_a_file_that_had_the_value_before_it_was_known_is_synced_as_ever() -> None:
    """Syncs without an edit write nothing; edits of store and file are merged, and redact the value in the store."""
    with running_daemon() as daemon:
        home = daemon.home
        mine = home / "root" / "default" / "facts" / "mine.md"
        with Client(daemon.socket) as client:
            client.put_document("facts/mine.md", f"# Mine\n\n- {VALUE} opens it.\n- It is by the sea.\n")
            client.sync_now()
            before = mine.read_text()
            client.append(client.create_thread().id, [{"role": "user", "content": f"the password is {VALUE}"}])
            for _ in range(3):
                client.sync_now()
            operations = len(client.operations().items)
            client.sync_now()
            assert len(client.operations().items) == operations
            assert mine.read_text() == before

            client.patch_document("facts/mine.md", [(f"{VALUE} opens it", f"{VALUE} opens the gate")])
            client.sync_now()
            mine.write_text(mine.read_text() + "- It has a blue door.\n")
            client.sync_now()
            text = client.document("facts/mine.md").content
            assert "It has a blue door." in text
            assert "opens the gate" in text
            assert VALUE not in text
            assert "opens the gate" in mine.read_text()
            assert client.conflicts().items == []
