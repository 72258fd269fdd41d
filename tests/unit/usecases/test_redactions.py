"""Records of what was redacted: how many there are at most, and what is left of them after a purge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reverie import wire
from reverie.redact import Redactor, Taken
from reverie.store import Kind, Store, ThreadRecord, Write, Writer
from reverie.usecases import redactions
from reverie.usecases.redactions import Found
from support.stores import AT, SPACE


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", redactor=Redactor(forgets=True)) as opened:
        yield opened


def commit(store: Store, body: Callable[[Writer], object]) -> None:
    store.commit([Write(SPACE, "test", "test", body)], at=AT)


def create(store: Store, *names: str) -> None:
    def body(writer: Writer) -> None:
        for name in names:
            writer.save(ThreadRecord(id=name, created_at=AT, updated_at=AT), (name,))

    commit(store, body)


def taken(number: int) -> Taken:
    return Taken("label", "password", "16:Aa0", number.to_bytes(16, "big"))


def page(store: Store) -> wire.RedactionsPage:
    with store.reader(SPACE) as reader:
        return redactions.listed(reader, wire.RedactionsQuery(limit=2), None, [])


def test_records_are_bounded_and_count_what_they_leave_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many values, places and entries, and no more; the others are counted, and each page leads to the next."""
    monkeypatch.setattr(redactions, "RECORDS_MAX", 3)
    monkeypatch.setattr(redactions, "PLACES_MAX", 2)
    monkeypatch.setattr(redactions, "SEQS_MAX", 2)
    threads = ("thr_1", "thr_2", "thr_3")
    create(store, *threads)
    everywhere = [Found(taken(1), ("thread", name, seq)) for name in threads for seq in (1, 2, 3)]
    commit(store, lambda writer: redactions.note(writer, everywhere))
    commit(
        store, lambda writer: redactions.note(writer, [Found(taken(n), ("thread", "thr_1", 9)) for n in range(2, 7)])
    )

    first = page(store)
    assert (len(first.items), first.unlisted) == (2, 3)
    with store.reader(SPACE) as reader:
        rest = redactions.listed(reader, wire.RedactionsQuery(limit=2, after=first.next), None, [])
    (item,) = [item for item in (*first.items, *rest.items) if item.id.endswith("01")]
    assert (item.count, item.more) == (9, True)
    assert [(place.thread, place.messages) for place in item.places] == [("thr_1", [1, 2]), ("thr_2", [1, 2])]


def test_nothing_is_left_of_what_was_purged(store: Store) -> None:
    """A record of a thread that is gone goes with it; one that is elsewhere too stays for that."""
    create(store, "thr_1", "thr_2")
    found = [(1, "thr_1"), (2, "thr_1"), (2, "thr_2")]
    commit(store, lambda writer: redactions.note(writer, [Found(taken(n), ("thread", name, 1)) for n, name in found]))
    commit(store, lambda writer: writer.purge(Kind.THREAD, ("thr_1",), 1))
    commit(store, redactions.forget_purged)
    (item,) = page(store).items
    assert [place.thread for place in item.places] == ["thr_2"]
    with store.reader(SPACE) as reader:
        assert reader.count(Kind.REDACTION) == 1
