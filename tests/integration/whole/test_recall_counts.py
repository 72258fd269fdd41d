"""Accesses that recall counts: no recall waits for the writer, and what was counted is written soon after."""

from __future__ import annotations

from pathlib import Path

import lmdb

from reverie import wire
from reverie.client import Client
from reverie.store import AccessRecord, Kind, Store
from reverie.store.env import lmdb_options
from reverie.store.keys import record_key, space_prefix
from support.daemon import Daemon, running_daemon
from support.stores import MASKING, SPACE
from support.waiting import wait_until


def stored_count(daemon: Daemon, memory_id: str) -> int:
    """Return the accesses of a memory in the store of a daemon that has stopped."""
    with Store.open(daemon.store, redactor=MASKING) as store, store.reader(SPACE) as reader:
        return (reader.load(AccessRecord, (memory_id,)) or AccessRecord()).count


def is_written(home: Path, memory_id: str) -> bool:
    """Return whether the store of a running daemon has a count of the memory."""
    with (
        lmdb.open(str(home / "data" / "store"), **lmdb_options(1 << 30, readonly=True)) as env,  # type: ignore[arg-type]
        env.begin() as txn,
    ):
        return txn.get(record_key(space_prefix(SPACE), Kind.ACCESS, (memory_id,))) is not None


def test_a_recall_does_not_wait_for_the_writer() -> None:
    """While nothing can be committed recalls answer and count; after that the counts are in the store."""
    with running_daemon() as daemon:
        home = daemon.home
        with Client(daemon.socket) as client:
            memory_id = client.remember(wire.CreateMemory("the parser is in src/parse.py")).id
            store = lmdb.open(str(home / "data" / "store"), **lmdb_options(1 << 30))  # type: ignore[arg-type]
            with store.begin(write=True):
                for number in range(1, 4):
                    [hit] = client.recall("where is the parser").hits
                    assert hit.memory.access_count == number
                assert client.memory(memory_id).access_count == 3
            store.close()
            assert client.memory(memory_id).access_count == 3
        daemon.stop()
        assert stored_count(daemon, memory_id) == 3


def test_every_answer_has_the_counts(client: Client) -> None:
    """A recalled memory has its accesses where it is read, remembered again or changed."""
    new = wire.CreateMemory("the parser is in src/parse.py")
    memory_id = client.remember(new).id
    at = client.recall("where is the parser").hits[0].memory.last_accessed_at
    answers = [
        client.memory(memory_id),
        client.remember(new),
        client.change_memory(memory_id, wire.ChangeMemory("the parser is in src/read.py")),
    ]
    assert [(answer.access_count, answer.last_accessed_at) for answer in answers] == [(1, at)] * 3


def test_a_killed_daemon_loses_at_most_the_last_counts() -> None:
    """Counted accesses are written while the daemon runs, and counting continues from them after a kill."""
    with running_daemon() as daemon:
        home = daemon.home
        with Client(daemon.socket) as client:
            memory_id = client.remember(wire.CreateMemory("the parser is in src/parse.py")).id
            client.recall("parser")
            wait_until(lambda: is_written(home, memory_id), "the write of the counts")
            daemon.kill()
            daemon.start()
        with Client(daemon.socket) as client:
            assert client.recall("parser").hits[0].memory.access_count == 2
        daemon.stop()
        assert stored_count(daemon, memory_id) == 2
