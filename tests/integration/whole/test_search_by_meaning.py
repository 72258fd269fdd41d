"""The search with an embedder, in a real daemon: other words find a message until it is purged."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.client import Client
from support.daemon import running_daemon
from support.small_models import static_folder
from support.waiting import wait_until

SAID = ({"role": "user", "content": "the car is behind the house"}, {"role": "assistant", "content": "an oak tree"})


def found(client: Client, query: str) -> list[str]:
    """Return a list with the thread of the best hit, empty if there is none."""
    return [hit.thread.id for hit in client.search(query, limit=1).hits if hit.thread is not None]


def vectors(home: Path) -> bytes:
    """Return the file of the vectors, empty where there is none."""
    return b"".join(path.read_bytes() for path in (home / "data" / "search").glob("*.vectors"))


def test_other_words_find_a_message_until_it_is_purged(tmp_path: Path) -> None:
    """A message is found by other words with the same meaning, also after a restart, until its thread is purged."""
    pytest.importorskip("model2vec", reason="pip install 'reverie[embed]'")
    with (
        running_daemon(REVERIE_MEMORY_EMBEDDER=str(static_folder(tmp_path / "model"))) as daemon,
        Client(daemon.socket) as client,
    ):
        home = daemon.home
        client.create_thread(id="garage")
        client.append("garage", SAID)
        wait_until(lambda: found(client, "which automobile?") == ["garage"], "a vector", 30)
        assert found(client, "where is the car?") == ["garage"]
        daemon.stop()
        assert b"garage" in vectors(home)
        daemon.start()
        wait_until(lambda: found(client, "which automobile?") == ["garage"], "the saved vectors", 30)
        client.delete_thread("garage", confirm="garage", purge=True)
        wait_until(lambda: b"garage" not in vectors(home), "the end of the purge", 30)
        assert found(client, "which automobile?") == []


def test_words_are_searched_where_the_embedder_does_not_work() -> None:
    """With a missing embedder package words alone are searched, and the log names the command that installs it."""
    with running_daemon(REVERIE_MEMORY_EMBEDDER="no-such-package") as daemon:
        with Client(daemon.socket) as client:
            client.create_thread(id="garage")
            client.append("garage", SAID)
            assert found(client, "where is the car?") == ["garage"]
            assert found(client, "which automobile?") == []
        wait_until(lambda: b"words alone are searched" in daemon.log.read_bytes(), "a line of the log", 30)
        assert b"pip install --no-deps no-such-package" in daemon.log.read_bytes()
