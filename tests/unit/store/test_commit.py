"""Group commit: one flush for many writes; failures, idempotency keys and growth of the map affect one write each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import lmdb
import pytest

from reverie.errors import Busy, Conflict, NotFound, ReverieError, StorageFailed, TooLarge, ValidationError
from reverie.store import SYSTEM_SPACE, Done, Failed, Kind, Store, Write, Writer, env, seal
from reverie.store.check import check
from support.stores import AT, MASKING, SPACE, noise, opened, put, write


def _memory(name: str, **more: Any) -> Write[Any]:
    return Write(SPACE, "a", "w", lambda w: w.put(Kind.MEMORY, (name,), {"name": name}), **more)


def _failing(error: BaseException) -> Write[Any]:
    def body(w: Writer) -> None:
        w.put(Kind.MEMORY, ("never",), {})
        w.append(Kind.ENTRY, ("t",), {})
        w.event("never", {})
        raise error

    return Write(SPACE, "a", "w", body)


def _names(store: Store) -> list[str]:
    with store.reader(SPACE) as reader:
        return [value["name"] for _, value in reader.scan(Kind.MEMORY)]


@pytest.mark.parametrize("error", [NotFound("no"), ZeroDivisionError(), RuntimeError("x")])
def test_a_failing_write_does_not_affect_the_others(store: Store, error: Exception) -> None:
    outcomes = store.commit([_memory("a"), _failing(error), _memory("b"), _failing(error), _memory("c")], at=AT)
    assert [type(outcome) for outcome in outcomes] == [Done, Failed, Done, Failed, Done]
    assert [done.operation for done in outcomes if isinstance(done, Done)] == [1, 2, 3]
    assert [failed.error for failed in outcomes if isinstance(failed, Failed)] == [error, error]
    assert _names(store) == ["a", "b", "c"]
    with store.reader(SPACE) as reader:
        assert reader.count(Kind.EVENT) == reader.count(Kind.ENTRY, ("t",)) == 0


def test_a_write_and_its_part_in_the_system_space_are_one(store: Store, path: Path) -> None:
    """The part of a write in the system space is there if and only if the write is; the checksums cover both."""

    def spent(calls: int) -> Callable[[Writer], None]:
        def body(w: Writer) -> None:
            w.put(Kind.SPEND, ("2026-11-22", "strong"), {"calls": calls})

        return body

    def full(w: Writer) -> None:
        spent(9)(w)
        raise TooLarge("no")

    given = [
        _memory("a", in_system=spent(1)),
        replace(_failing(NotFound("no")), in_system=spent(2)),
        _memory("b", in_system=full),
    ]
    outcomes = store.commit(given, at=AT)
    assert [type(outcome) for outcome in outcomes] == [Done, Failed, Failed]
    assert _names(store) == ["a"]
    with store.reader(SYSTEM_SPACE) as reader:
        assert reader.get(Kind.SPEND, ("2026-11-22", "strong")) == {"calls": 1}
    store.close()
    report = check(path, offline=True)
    assert report.ok, report


def test_nothing_is_flushed_when_nothing_changed(store: Store) -> None:
    before = store.commits
    assert store.commit([], at=AT) == []
    store.commit([_failing(ValueError()), Write(SPACE, "a", "w", lambda w: w.count(Kind.MEMORY))], at=AT)
    assert store.commits == before


def test_writes_of_many_spaces_share_a_flush(store: Store) -> None:
    before = store.commits
    bodies = [Write(space, "a", "w", lambda w: w.append(Kind.ENTRY, ("t",), {})) for space in "abcabcabc"]
    assert [done.value for done in store.commit(bodies, at=AT) if isinstance(done, Done)] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert store.commits == before + 1


@pytest.mark.parametrize("interruption", [GeneratorExit(), SystemExit(3)])
def test_an_interrupted_write_fails_alone(store: Store, interruption: BaseException) -> None:
    """An exception that would end the writer's thread is one write's failure; its neighbours are stored."""
    done, failed = store.commit([_memory("a"), _failing(interruption)], at=AT)
    assert isinstance(done, Done)
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, ReverieError)
    assert failed.error.code == "internal_error"
    assert _names(store) == ["a"]
    put(store, Kind.MEMORY, ("b",), {"name": "b"})
    assert _names(store) == ["a", "b"]


def test_ctrl_c_ends_the_commit(store: Store) -> None:
    """Ctrl-C inside a write's body is raised from the commit; nothing is stored, and the next commit works."""
    with pytest.raises(KeyboardInterrupt):
        store.commit([_memory("a"), _failing(KeyboardInterrupt())], at=AT)
    assert _names(store) == []
    put(store, Kind.MEMORY, ("b",), {"name": "b"})
    assert _names(store) == ["b"]


def test_a_key_replays_the_first_answer(store: Store) -> None:
    calls = []

    def body(w: Writer) -> dict[str, Any]:
        calls.append(1)
        return {"seq": w.append(Kind.ENTRY, ("t",), {}), "pair": (1, 2)}

    one = Write(SPACE, "a", "w", body, idempotency=("k" * 500, "hash"))
    (first, again) = store.commit([one, one], at=AT)
    (later,) = store.commit([one], at=AT)
    assert first == Done({"seq": 1, "pair": [1, 2]}, 1) or first == Done({"seq": 1, "pair": (1, 2)}, 1)
    assert again == later == Done({"seq": 1, "pair": [1, 2]}, 1, replayed=True)
    assert len(calls) == 1


def test_a_key_used_for_another_request_is_a_conflict(store: Store) -> None:
    write(store, lambda _: None, idempotency=("k", "hash"))
    with pytest.raises(Conflict, match="another request"):
        write(store, lambda _: None, idempotency=("k", "other"))
    assert write(store, lambda _: 7, idempotency=("k2", "hash")).value == 7
    assert write(store, lambda _: 8, idempotency=("k", "hash"), space="other").value == 8


def test_a_failed_write_leaves_its_key_unused(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        write(store, lambda _: 1 // 0, idempotency=("k", "hash"))
    with pytest.raises(ValidationError, match="cannot be kept"):
        write(store, lambda w: (w.put(Kind.MEMORY, ("m",), {}), object()), idempotency=("k", "hash"))
    assert write(store, lambda _: 5, idempotency=("k", "hash")) == Done(5, None)
    assert _names(store) == []


def test_the_map_grows_during_a_commit(path: Path) -> None:
    """A map of 256 KiB takes 8 MiB in one commit, with a failure and a replay among the writes."""
    sealed = [seal({"text": "x" * 1000, "n": n}, MASKING) for n in range(1000)]

    def body(w: Writer) -> tuple[int, int]:
        return w.append_many(Kind.ENTRY, ("t",), sealed)

    with opened(path, map_size=256 * 1024) as store:
        writes = [_memory("a", idempotency=("k", "h")), Write(SPACE, "a", "w", body), _failing(ValueError())]
        outcomes = store.commit([*writes, *writes, *writes], at=AT)
        assert [type(outcome) for outcome in outcomes] == [Done, Done, Failed] * 3
        assert [done.value for done in outcomes[1::3] if isinstance(done, Done)] == [
            (1, 1000),
            (1001, 2000),
            (2001, 3000),
        ]
        with store.reader(SPACE) as reader:
            assert reader.count(Kind.ENTRY, ("t",)) == sum(1 for _ in reader.scan(Kind.ENTRY, ("t",))) == 3000
    with opened(path, map_size=256 * 1024) as store, store.reader(SPACE) as reader:
        assert reader.last_seq(Kind.ENTRY, ("t",)) == 3000


def _grown(path: Path, during: Callable[[Store], None], monkeypatch: pytest.MonkeyPatch, wait_s: float) -> None:
    monkeypatch.setattr(env, "_GROW_WAIT_S", wait_s)
    with opened(path, map_size=128 * 1024) as store:
        put(store, Kind.MEMORY, ("m",), {"name": "m"})
        during(store)


def test_growth_waits_for_readers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that is open when the map must grow reads on; the write still succeeds."""
    large = {"text": noise(60_000)}

    def during(store: Store) -> None:
        seen, ready, go = [], threading.Event(), threading.Event()

        def read() -> None:
            with store.reader(SPACE) as reader:
                ready.set()
                go.wait(60)
                seen.append(reader.get(Kind.MEMORY, ("m",)))
            with store.reader(SPACE) as reader:
                seen.append(reader.get(Kind.MEMORY, ("m",)))

        thread = threading.Thread(target=read)
        thread.start()
        ready.wait(60)
        threading.Timer(0.2, go.set).start()
        write(store, lambda w: [w.append(Kind.ENTRY, ("t",), large) for _ in range(20)])
        thread.join()
        assert seen == [{"name": "m"}, {"name": "m"}]

    _grown(path, during, monkeypatch, 10)


def test_growth_fails_where_a_reader_stays_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def during(store: Store) -> None:
        large = {"text": noise(60_000)}
        with store.reader(SPACE) as reader:
            with pytest.raises(Busy):
                write(store, lambda w: [w.append(Kind.ENTRY, ("t",), large) for _ in range(20)])
            assert reader.get(Kind.MEMORY, ("m",)) == {"name": "m"}
        write(store, lambda w: [w.append(Kind.ENTRY, ("t",), large) for _ in range(20)])

    _grown(path, during, monkeypatch, 0.05)


def test_a_reader_that_waits_too_long_gets_busy(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "_GROW_WAIT_S", 0.05)
    with store._env._without_reads(), pytest.raises(Busy, match="making room"), store.reader(SPACE):
        pass


def test_the_map_has_a_greatest_size(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "_MAP_BYTES_MAX", 256 * 1024)
    with opened(path, map_size=128 * 1024) as store:
        with pytest.raises(StorageFailed, match="greatest size"):
            write(store, lambda w: [w.append(Kind.ENTRY, ("t",), {"text": noise(60_000)}) for _ in range(20)])
        put(store, Kind.MEMORY, ("m",), {"name": "m"})


@pytest.mark.parametrize(
    ("error", "kind"), [(lmdb.TxnFullError("x"), TooLarge), (lmdb.BadTxnError("x"), StorageFailed)]
)
def test_lmdb_errors_in_a_body_are_translated(store: Store, error: lmdb.Error, kind: type[ReverieError]) -> None:
    (outcome,) = store.commit([_failing(error)], at=AT)
    assert isinstance(outcome, Failed)
    assert type(outcome.error) is kind
    put(store, Kind.MEMORY, ("m",), {"name": "m"})
