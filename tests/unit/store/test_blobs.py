"""Blobs: long bodies are stored once, for as long as a record or version refers to them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reverie.store import Kind, Store, Writer, seal
from reverie.store.kinds import BLOB_BYTES_MIN
from reverie.store.versions import Rules
from reverie.usecases.undo import undo_operation
from support.stores import MASKING, SPACE, after, noise, put, write

LONG = {"text": noise(2 * BLOB_BYTES_MIN)}


def _blobs(store: Store) -> tuple[int, int]:
    """Return the number of blob bodies, and the sum of their use counts."""
    with store.reader(SPACE) as reader:
        keys = [key for key, _ in reader.scan_sealed(Kind.BLOB)]
        uses = [(reader.get(Kind.BLOB, key) or {})["uses"] for key in keys if key[1] == 0]
    return len(keys) - len(uses), sum(uses)


def test_equal_bodies_share_one_blob(store: Store) -> None:
    def body(w: Writer) -> None:
        for name in "abc":
            w.put(Kind.MEMORY, (name,), LONG)
        w.append_many(Kind.ENTRY, ("t",), [seal(LONG, MASKING), seal({"short": 1}, MASKING), seal(LONG, MASKING)])

    write(store, body)
    assert _blobs(store) == (1, 5)
    with store.reader(SPACE) as reader:
        assert reader.get(Kind.MEMORY, ("b",)) == LONG
        assert [len(value.get("text", "")) for _, value in reader.scan(Kind.ENTRY, ("t",))] == [131072, 0, 131072]
        assert [version.value for version in reader.history(Kind.MEMORY, ("a",))] == [LONG]


def test_only_bodies_beyond_the_limit_become_blobs(store: Store) -> None:
    text = noise(2 * BLOB_BYTES_MIN)
    below, size = 0, len(text)
    while size - below > 1:
        middle = (below + size) // 2
        is_beyond = len(seal(text[:middle], MASKING).data) > BLOB_BYTES_MIN
        below, size = (below, middle) if is_beyond else (middle, size)
    for bodies in (0, 1):
        sealed = seal(text[: size - 1 + bodies], MASKING)
        write(store, Writer.put_sealed, Kind.DREAM, (str(bodies),), sealed)
        assert _blobs(store)[0] == bodies


def test_putting_the_same_long_value_changes_nothing(store: Store) -> None:
    put(store, Kind.MEMORY, ("a",), LONG)
    assert put(store, Kind.MEMORY, ("a",), LONG) is None
    assert _blobs(store) == (1, 1)


def _delete(w: Writer) -> None:
    w.delete(Kind.DREAM, ("a",))


def _replace(w: Writer) -> None:
    w.put(Kind.DREAM, ("a",), {"short": 1})


def _purge(w: Writer) -> None:
    w.purge(Kind.DREAM, (), 9)


@pytest.mark.parametrize("end", [_delete, _replace, _purge])
def test_the_last_use_deletes_the_blob(store: Store, end: Callable[[Writer], None]) -> None:
    put(store, Kind.DREAM, ("a",), LONG)
    put(store, Kind.DREAM, ("b",), LONG)
    assert _blobs(store) == (1, 2)
    write(store, end)
    write(store, lambda w: w.delete(Kind.DREAM, ("b",)))
    assert _blobs(store) == (0, 0)
    put(store, Kind.DREAM, ("c",), LONG)
    assert _blobs(store) == (1, 1)


def test_a_kept_version_keeps_its_blob(store: Store) -> None:
    put(store, Kind.MEMORY, ("a",), LONG)
    put(store, Kind.MEMORY, ("a",), {"short": 1})
    assert _blobs(store) == (1, 1)
    write(store, lambda w: undo_operation(w, 2))
    assert _blobs(store) == (1, 2)
    write(store, lambda w: w.delete(Kind.MEMORY, ("a",)))
    assert _blobs(store) == (1, 2)
    write(store, lambda w: w.prune(Rules(), "2:"), at=after(800))
    assert _blobs(store) == (0, 0)


def test_a_body_written_and_deleted_in_one_write_leaves_no_blob(store: Store) -> None:
    def body(w: Writer) -> None:
        w.put(Kind.MEMORY, ("a",), LONG)
        w.put(Kind.MEMORY, ("a",), {"text": noise(100_000, 1)})
        w.delete(Kind.MEMORY, ("a",))

    assert write(store, body).operation is None
    assert _blobs(store) == (0, 0)


def test_a_purge_takes_every_versions_body(store: Store) -> None:
    for number in range(3):
        put(store, Kind.MEMORY, ("a",), {"text": noise(100_000, number)})
    assert _blobs(store) == (3, 3)
    write(store, lambda w: w.purge(Kind.MEMORY, ("a",), 9))
    assert _blobs(store) == (0, 0)
