"""The table of vectors: its search equals plain cosines, and its file has no removed or damaged rows."""

from __future__ import annotations

import random
from typing import Any

import pytest

from reverie.embedding.table import Vectors, unit_rows

np: Any = pytest.importorskip("numpy", reason="pip install 'reverie[embed]'")


def made(seed: int, rows: int, width: int = 12) -> Any:
    """Return seeded random vectors of length 1."""
    return unit_rows(np, np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32))


def test_the_nearest_are_those_of_the_plain_cosines() -> None:
    """After random additions, removals and reloads, filtered searches find the vectors of the highest cosines."""
    pick = random.Random(5)
    table = Vectors(np, "m", 12)
    model: dict[str, tuple[Any, int | None]] = {}
    for step in range(60):
        thread = f"t{pick.randrange(9)}"
        if pick.random() < 0.3:
            gone = [name for name in model if name.startswith(f"{thread}/")]
            assert table.remove({thread, "never"}) == len(gone)
            for name in gone:
                del model[name]
        else:
            first = 1 + sum(name.startswith(f"{thread}/") for name in model)
            times = [pick.choice((None, pick.randrange(100))) for _ in range(pick.randrange(1, 40))]
            rows = made(step, len(times))
            table.add(thread, enumerate(times, first), rows)
            model |= {f"{thread}/{first + at}": (rows[at], time) for at, time in enumerate(times)}
        if step % 7 == 0:
            again = Vectors.decoded(np, table.encoded({"step": step}), "m")
            assert again is not None
            table, state = again
            assert state == {"step": step}
        assert len(table) == len(model)
        query = made(1000 + step, 1)[0]
        threads = pick.choice((None, {"t1", "t2", "t3"}))
        since, before = pick.choice((None, 20)), pick.choice((None, 70))
        cosines = {
            name: float(vector @ query)
            for name, (vector, time) in model.items()
            if (threads is None or name[:2] in threads)
            and (since is None or (time is not None and time >= since))
            and (before is None or (time is not None and time < before))
        }
        found = table.near(query, 10, threads=threads, since=since, before=before)
        assert len(found) == min(10, len(cosines))
        least = sorted(cosines.values(), reverse=True)[: len(found)]
        for (name, cosine), right in zip(found, least, strict=True):
            assert cosine == pytest.approx(cosines[name], abs=0.02)
            assert cosine == pytest.approx(right, abs=0.02)


def test_a_file_has_no_removed_thread_and_no_damaged_one_is_read() -> None:
    """A saved file has nothing of a removed thread; a damaged or cut file, or one of another embedder, is not read."""
    table = Vectors(np, "m", 12)
    table.add("secret-thread", [(1, 5)], made(1, 1))
    table.add("other", [(1, 5), (2, None)], made(2, 2))
    row = table._rows[0].tobytes()
    assert row in table.encoded({})
    table.remove({"secret-thread"})
    data = table.encoded({})
    assert b"secret-thread" not in data
    assert row not in data
    assert not table._rows[2:].any()
    assert Vectors.decoded(np, data, "another") is None
    for at in range(0, len(data), 3):
        assert Vectors.decoded(np, data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :], "m") is None
        assert Vectors.decoded(np, data[:at], "m") is None
    empty = Vectors.decoded(np, Vectors(np, "m", 12).encoded({}), "m")
    assert empty is not None
    assert empty[0].near(made(3, 1)[0], 5) == []
