"""A compaction leaves no byte of a purged record, and whenever it is interrupted the store is complete."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.store import Kind, Store, Writer
from reverie.store import env as store_env
from reverie.store.check import run_check
from reverie.store.kinds import BLOB_BYTES_MIN
from support.stores import opened, put, write

SIZES = (20, 300, 1500, 3000, 9000, BLOB_BYTES_MIN + 5000)  # bytes: in a page, in pages of its own, in a blob


def fill(store: Store, *, seed: int) -> None:
    """Write records of every size, each with the word `kept` or `purgedword` again and again, and purge the second."""
    chance = random.Random(seed)
    for number in range(120):
        word = ("kept", "purgedword")[number % 2]
        text = f"{word}{number} " * (1 + chance.choice(SIZES) // 10)

        def body(writer: Writer, text: str = text, number: int = number) -> None:
            writer.put(Kind.MEMORY, (f"mem_{number:03}",), {"text": text})

        write(store, body)
    for number in range(1, 120, 2):
        write(store, lambda writer, name=f"mem_{number:03}": writer.purge(Kind.MEMORY, (name,), 100))


@pytest.mark.parametrize("seed", range(3))
def test_no_byte_of_a_purged_record_is_left(store: Store, seed: int) -> None:
    """After a compaction no byte of a purged record is in the file, and every other record is there."""
    fill(store, seed=seed)
    data = store.path / "data.mdb"
    assert b"purgedword" in data.read_bytes()

    assert store.free_share > 0.1
    store.compact()

    assert b"purgedword" not in data.read_bytes()
    assert store.free_share < 0.05
    with store.reader("default") as reader:
        texts = [value["text"] for _, value in reader.scan(Kind.MEMORY)]
    assert len(texts) == 60
    assert all(text.startswith("kept") for text in texts)


STEPS = ("copy", "os.open", "clear", "fsync", "close", "rename", "renamed", "opened")


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_compaction_leaves_a_whole_store(path: Path, step: str) -> None:
    """The process is killed before or behind each step; the store opens with every record, and a compaction works."""
    with opened(path) as store:
        fill(store, seed=1)
    child = os.fork()
    if child == 0:
        _compact_until(path, step)
        os._exit(3)  # not reached: the step ends the process
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    with opened(path) as store:
        with store.reader("default") as reader:
            assert reader.count(Kind.MEMORY) == 60
            assert len([value for _, value in reader.scan(Kind.MEMORY)]) == 60
        put(store, Kind.MEMORY, ("more",), {"n": 1})
        store.compact()
    assert b"purgedword" not in (path / "data.mdb").read_bytes()
    assert not list(path.glob("*.part"))


HOLD = """
import lmdb, sys
with lmdb.open(sys.argv[1], readonly=True, max_dbs=0) as env, env.begin() as txn:
    print(txn.stat()["entries"], flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("batch", [10, 10_000])
@pytest.mark.parametrize("more", range(2))
def test_another_process_may_have_the_store_open(
    path: Path, monkeypatch: pytest.MonkeyPatch, more: int, batch: int
) -> None:
    """A compaction while another process has the store open loses no record, and later writes stay."""
    monkeypatch.setattr(store_env, "_COPY_RECORDS", batch)
    with opened(path) as store:
        fill(store, seed=1)
        with subprocess.Popen(
            [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as holder:
            assert holder.stdout is not None
            assert int(holder.stdout.readline()) > 60
            for round_ in range(2):
                for number in range(more + round_):
                    put(store, Kind.MEMORY, (f"more{more}{round_}{number}",), {"n": number})
                store.compact()
                with store.reader("default") as reader:
                    assert len(list(reader.scan(Kind.MEMORY))) == 60 + more + round_ * (more + 2)
                put(store, Kind.MEMORY, (f"after{round_}",), {"n": round_})
            holder.communicate()
        put(store, Kind.MEMORY, ("last",), {"n": 1})
    assert run_check(path).ok
    with opened(path) as store, store.reader("default") as reader:
        assert len(list(reader.scan(Kind.MEMORY))) == 64 + 2 * more


def test_few_large_commits_are_compacted_beside_another_process(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compaction of few large commits beside another process loses no record, nor a write made after it."""
    with opened(path) as store:
        write(store, lambda writer: [writer.put(Kind.MEMORY, (f"mem_{n:03}",), {"n": n}) for n in range(200)])
        monkeypatch.setattr(store_env, "_COPY_RECORDS", 10)
        with subprocess.Popen(
            [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as holder:
            assert holder.stdout is not None
            assert int(holder.stdout.readline()) >= 200
            store.compact()
            put(store, Kind.MEMORY, ("after",), {"n": 1})
            holder.communicate()
    with opened(path) as store, store.reader("default") as reader:
        assert len(list(reader.scan(Kind.MEMORY))) == 201
    assert run_check(path).ok


def _compact_until(path: Path, step: str) -> None:
    """Open the store and compact it; kill this process at `step`."""

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    store = opened(path)
    env = store._env
    match step:
        case "os.open" | "fsync":
            setattr(os, step.removeprefix("os."), die)
        case "copy":
            store_env._write_in_order = die
        case "close":
            env._env = Dying(env._env, step, die)  # type: ignore[assignment]
        case "clear":
            store_env.clear_unused_bytes = die  # type: ignore[assignment]
        case "rename":
            Path.rename = die  # type: ignore[assignment,method-assign]
        case "renamed":
            store_env.sync_folder = die  # type: ignore[attr-defined]
        case "opened":
            store_env._opened = die  # type: ignore[assignment]
    store.compact()


class Dying:
    """An LMDB environment, one of whose methods kills the process."""

    def __init__(self, env: object, method: str, die: Callable[..., None]) -> None:
        self._env, self._method, self._die = env, method, die

    def __getattr__(self, name: str) -> object:
        return self._die if name == self._method else getattr(self._env, name)
