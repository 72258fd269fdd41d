"""Records that are written can be read back, in order, redacted, and only in their own space."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.errors import StorageFailed, ValidationError
from reverie.store import RULES, Done, Key, Kind, Reader, Store, ThreadRecord, Write, Writer, open_sealed, seal
from reverie.store.codec import open_sealed as open_bytes
from support.stores import AT, MASKING, SECRET, SPACE, noise, put, write


def test_a_value_is_read_back_redacted(store: Store) -> None:
    put(store, Kind.MEMORY, ("m1",), {"content": f"my key is {SECRET}", "n": 1})
    with store.reader(SPACE) as reader:
        assert reader.get(Kind.MEMORY, ("m1",)) == {"content": "my key is [REDACTED:test]", "n": 1}
        assert reader.get(Kind.MEMORY, ("m2",)) is None
        assert reader.version(Kind.MEMORY, ("m1",)) == 1
        assert reader.version(Kind.MEMORY, ("m2",)) is None


def test_no_byte_of_a_secret_is_written(store: Store) -> None:
    """Values, reasons, authors, events and stored answers pass the redactor."""

    def body(w: Writer) -> dict[str, str]:
        w.put(Kind.DOCUMENT, ("a.md",), {"text": SECRET * 9000})
        w.append(Kind.ENTRY, ("t",), {"text": SECRET})
        w.event("x", {"note": SECRET})
        return {"answer": SECRET}

    outcome = write(store, body, idempotency=("k", "h"))
    assert outcome.operation == 1
    put(store, Kind.NOTE, ("t", "n"), {"text": "x"})
    said = Write(SPACE, who=SECRET, why=f"because {SECRET}", body=lambda w: w.put(Kind.MEMORY, ("why",), {}))
    assert store.commit([said], at=AT) == [Done(value=True, operation=3)]
    store.close()
    for file in store.path.iterdir():
        assert SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.THREAD, Kind.DOCUMENT])
def test_a_key_that_looks_like_a_secret_is_refused(store: Store, kind: Kind) -> None:
    with pytest.raises(ValidationError, match="secret"):
        put(store, kind, (f"x{SECRET}",), {"a": 1})
    with store.reader(SPACE) as reader:
        assert reader.count(kind) == 0


def test_spaces_are_isolated(store: Store) -> None:
    for space in ("a", "ab", "b"):
        put(store, Kind.MEMORY, ("m",), {"of": space}, space=space)
        write(store, lambda w: w.append(Kind.ENTRY, ("t",), {"of": w.space}), space=space)
    for space in ("a", "ab", "b"):
        with store.reader(space) as reader:
            assert list(reader.scan(Kind.MEMORY)) == [(("m",), {"of": space})]
            assert [value for _, value in reader.scan(Kind.ENTRY)] == [{"of": space}]
            assert reader.operation() == 2


def _check_scan(reader: Reader, prefix: Key, numbers: list[int], **how: Any) -> None:
    assert [key[-1] for key, _ in reader.scan(Kind.DISTILLATION, prefix, **how)] == numbers
    assert [key[-1] for key, _ in reader.scan_sealed(Kind.DISTILLATION, prefix, **how)] == numbers


def test_a_scan_is_ordered_and_can_start_anywhere(store: Store) -> None:
    def body(w: Writer) -> None:
        for number in (1, 2, 255, 256, 70000):
            w.put(Kind.DISTILLATION, ("t", number), {"n": number})
            w.put(Kind.DISTILLATION, ("t2", number), {"n": number})
            w.put(Kind.DISTILLATION, ("s", number), {"n": number})

    write(store, body)
    with store.reader(SPACE) as reader:
        _check_scan(reader, ("t",), [1, 2, 255, 256, 70000])
        _check_scan(reader, ("t",), [70000, 256, 255, 2, 1], reverse=True)
        _check_scan(reader, ("t",), [255, 256], after=("t", 2), limit=2)
        _check_scan(reader, ("t",), [2, 1], after=("t", 255), reverse=True)
        _check_scan(reader, ("t",), [2, 1], after=("t", 3), reverse=True)
        _check_scan(reader, ("t2",), [70000], limit=1, reverse=True)
        _check_scan(reader, ("u",), [])
        _check_scan(reader, ("u",), [], reverse=True)
        _check_scan(reader, ("t", 255), [255])
        assert reader.count(Kind.DISTILLATION) == 15
        assert reader.count(Kind.DISTILLATION, ("t",)) == 5
        assert next(reader.scan(Kind.DISTILLATION, ("t",), reverse=True)) == (("t", 70000), {"n": 70000})
        assert list(reader.scan(Kind.DISTILLATION, ("u",), reverse=True)) == []


def test_many_records_are_read_as_one_by_one(store: Store) -> None:
    """`get_many` returns the same as one `get` for each key, in order, repeated and missing keys included."""
    texts = ["x", "word " * 100, noise(100_000)]
    write(store, lambda w: [w.append(Kind.ENTRY, (thread,), {"text": text}) for thread in "tu" for text in texts])
    keys: list[Key] = [("u", 3), ("t", 1), ("t", 4), ("none", 1), ("t", 2), ("t", 3), ("u", 1), ("t", 1)]
    with store.reader(SPACE) as reader:
        found = reader.get_many(Kind.ENTRY, keys)
        assert found == [reader.get(Kind.ENTRY, key) for key in keys]
        assert [each is None for each in found] == [False, False, True, True, False, False, False, False]
        assert reader.get_many(Kind.ENTRY, []) == []
        with pytest.raises(ValidationError, match="keyed by"):
            reader.get_many(Kind.ENTRY, [("t", 1), ("t",)])


def test_many_typed_records_are_read_as_one_by_one(store: Store) -> None:
    names = ("a", "b", "long")
    records = [ThreadRecord(id=name, title=name * 5_000, created_at=AT, updated_at=AT) for name in names]
    write(store, lambda w: [w.save(record, (record.id,)) for record in records])
    with store.reader(SPACE) as reader:
        assert reader.load_many(ThreadRecord, [("long",), ("c",), ("a",)]) == [records[2], None, records[0]]


def test_sealed_values_can_be_opened_elsewhere(store: Store) -> None:
    long = {"text": "y" * 100_000}
    write(store, lambda w: (w.append(Kind.ENTRY, ("t",), {"a": 1}), w.append(Kind.ENTRY, ("t",), long)))
    with store.reader(SPACE) as reader:
        found = dict(reader.scan_sealed(Kind.ENTRY, ("t",)))
    assert [open_bytes(found["t", 1]), open_sealed(found["t", 2])] == [{"a": 1}, long]


def test_keys_without_records(store: Store) -> None:
    """`keys` yields keys in order and by prefix; `exists` is False once a record was deleted."""
    for note in ("b", "a"):
        put(store, Kind.NOTE, ("t", note), {})
    put(store, Kind.NOTE, ("t2", "c"), {})
    with store.reader(SPACE) as reader:
        assert list(reader.keys(Kind.NOTE)) == [("t", "a"), ("t", "b"), ("t2", "c")]
        assert list(reader.keys(Kind.NOTE, ("t",))) == [("t", "a"), ("t", "b")]
        assert reader.exists(Kind.NOTE, ("t", "a"))
    write(store, lambda w: w.delete(Kind.NOTE, ("t", "a")))
    with store.reader(SPACE) as reader:
        assert not reader.exists(Kind.NOTE, ("t", "a"))
        assert not reader.exists(Kind.NOTE, ("t3", "a"))


def test_a_sequence_is_dense_from_one(store: Store) -> None:
    def body(w: Writer) -> list[Any]:
        first = w.append(Kind.ENTRY, ("t",), {"n": 1})
        span = w.append_many(Kind.ENTRY, ("t",), [seal({"n": n}, MASKING) for n in range(2, 9)])
        none = w.append_many(Kind.ENTRY, ("t",), [])
        return [first, span, none, w.append(Kind.ENTRY, ("u",), {"n": 1}), w.count(Kind.ENTRY, ("t",))]

    assert write(store, body).value == [1, (2, 8), (9, 8), 1, 8]
    with store.reader(SPACE) as reader:
        assert [key for key, _ in reader.scan(Kind.ENTRY, ("t",))] == [("t", n) for n in range(1, 9)]
        assert [key[1] for key, _ in reader.scan(Kind.ENTRY, ("t",), reverse=True, limit=3)] == [8, 7, 6]
        assert [key[1] for key, _ in reader.scan(Kind.ENTRY, ("t",), after=("t", 4), reverse=True)] == [3, 2, 1]
        assert [key[1] for key, _ in reader.scan(Kind.ENTRY, ("t",), after=("t", 0), limit=1)] == [1]
        assert list(reader.scan(Kind.ENTRY, ("t",), after=("t", 99))) == []
        assert reader.get(Kind.ENTRY, ("t", 9)) is reader.get(Kind.ENTRY, ("t", 0)) is None
        assert (reader.first_seq(Kind.ENTRY, ("t",)), reader.last_seq(Kind.ENTRY, ("t",))) == (1, 8)
        assert reader.last_seq(Kind.ENTRY, ("nobody",)) == 0
        assert reader.count(Kind.ENTRY) == 9
        (operation,) = [value for _, value in reader.scan(Kind.OPERATION)]
        assert operation["changes"] == [
            {"kind": "entry", "key": ["t"], "first": 1, "last": 8},
            {"kind": "entry", "key": ["u"], "first": 1, "last": 1},
        ]


def test_a_hashed_key_is_read_from_the_value(store: Store) -> None:
    paths = ["facts/user.md", "é" * 3000, "a"]
    for path in paths:
        put(store, Kind.DOCUMENT, (path,), {"text": path[:3]})
    with store.reader(SPACE) as reader:
        assert {key[0]: value["path"] for key, value in reader.scan(Kind.DOCUMENT)} == {path: path for path in paths}
        assert {key for key, _ in reader.scan_sealed(Kind.DOCUMENT)} == {(path,) for path in paths}
        assert reader.get(Kind.DOCUMENT, (paths[1],)) == {"path": paths[1], "text": "ééé"}
        assert [value["text"] for _, value in reader.scan(Kind.DOCUMENT, ("a",))] == ["a"]


def test_a_hashed_key_must_be_repeated_in_the_value(store: Store) -> None:
    with pytest.raises(ValidationError, match="must be in its value"):
        put(store, Kind.DOCUMENT, ("a",), {"path": "b"})
    with pytest.raises(ValidationError, match="must be in its value"):
        write(store, lambda w: w.put_sealed(Kind.DOCUMENT, ("a",), seal({"text": "x"}, MASKING)))


@pytest.mark.parametrize("kind", [kind for kind, rule in RULES.items() if rule.internal])
def test_internal_kinds_cannot_be_written(store: Store, kind: Kind) -> None:
    for body in (
        lambda w: w.put(kind, ("x",), {}),
        lambda w: w.delete(kind, ("x",)),
        lambda w: w.append(kind, (), {}),
        lambda w: w.purge(kind, (), 1),
    ):
        with pytest.raises(ValidationError, match="by the store alone"):
            write(store, body)


def test_sequences_are_appended_and_others_put(store: Store) -> None:
    for body, word in (
        (lambda w: w.put(Kind.ENTRY, ("t", 1), {}), "appended"),
        (lambda w: w.delete(Kind.ENTRY, ("t", 1)), "never deleted"),
        (lambda w: w.append(Kind.MEMORY, (), {}), "not appended"),
        (lambda w: w.append(Kind.ENTRY, (), {}), "not appended"),
        (lambda w: w.last_seq(Kind.ENTRY), "does not name a collection"),
        (lambda w: w.history(Kind.THREAD, ("t",)), "are not kept"),
    ):
        with pytest.raises(ValidationError, match=word):
            write(store, body)


def test_a_reader_is_a_snapshot(store: Store) -> None:
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    with store.reader(SPACE) as reader:
        put(store, Kind.MEMORY, ("m",), {"n": 2})
        put(store, Kind.MEMORY, ("m2",), {"n": 2})
        assert [value["n"] for _, value in reader.scan(Kind.MEMORY)] == [1]
        assert (reader.operation(), store.open_reads) == (1, 1)
    assert store.open_reads == 0


def test_a_write_reads_what_it_wrote(store: Store) -> None:
    def body(w: Writer) -> None:
        w.put(Kind.MEMORY, ("m",), {"n": 1})
        w.append(Kind.ENTRY, ("t",), {"n": 1})
        assert w.get(Kind.MEMORY, ("m",)) == {"n": 1}
        assert w.get(Kind.MEMORY, ("n",)) is None
        assert [key for key, _ in w.scan(Kind.MEMORY)] == [("m",)]
        assert [key for key, _ in w.scan(Kind.ENTRY)] == [("t", 1)]
        assert (w.number, w.operation(), w.at) == (1, 0, AT)
        w.delete(Kind.MEMORY, ("m",))
        assert w.get(Kind.MEMORY, ("m",)) is None

    write(store, body)


def test_a_closed_store_raises(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StorageFailed, match="closed"), store.reader(SPACE):
        pass
    with pytest.raises(StorageFailed, match="closed"):
        store.commit([], at=AT)
