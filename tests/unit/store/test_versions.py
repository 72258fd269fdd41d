"""Versions as edits: every text comes back exactly, whatever is written, pruned, damaged or taken out of the past."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.errors import Damaged
from reverie.store import Kind, Store, Writer, codec, seal
from reverie.store.check import run_check
from reverie.store.codec import EDIT, PACKED, decode_record, encode_record, seal_own
from reverie.store.keys import encode_number
from reverie.store.versions import EDITS_MAX, Rules
from reverie.usecases.undo import undo_operation
from support.soak import count
from support.stores import AT, MASKING, SPACE, after, opened, raw_key, write

PATH = ("facts/project.md",)


def _text(lines: int, first: int = 0) -> dict[str, Any]:
    """Return a document of so many lines, no two of which are alike."""
    body = "".join(f"- line {number} says {number * 7919 % 10007}\n" for number in range(first, first + lines))
    return {"path": PATH[0], "content": body, "ids": [f"mem_{number:08}" for number in range(first, first + lines)]}


def _put(writer: Writer, value: dict[str, Any]) -> None:
    writer.put(Kind.DOCUMENT, PATH, value)


def _forms(store: Store) -> list[int]:
    """Return the forms of a document's superseded versions, oldest first."""
    with store.reader(SPACE) as reader:
        return [record.form for _, record in reader._versions(Kind.DOCUMENT, raw_key(Kind.DOCUMENT, PATH))]


def _history(store: Store) -> list[dict[str, Any] | None]:
    with store.reader(SPACE) as reader:
        return [version.value for version in reader.history(Kind.DOCUMENT, PATH)]


def test_a_growing_document_takes_little_more_than_its_text(store: Store) -> None:
    """Three hundred versions of a document of up to 300 lines, of which whole texts would be two megabytes."""
    values = [_text(lines) for lines in range(1, 301)]
    for value in values:
        write(store, _put, value)
    assert _history(store) == values
    forms = _forms(store)
    assert forms.count(EDIT) > 280
    with store.reader(SPACE) as reader:
        kept = sum(len(record.data) for _, record in reader._versions(Kind.DOCUMENT, raw_key(Kind.DOCUMENT, PATH)))
        assert kept < 60_000
        for operation, value in enumerate(values, 1):
            assert reader.at_version(Kind.DOCUMENT, PATH, operation).json() == value


def test_a_whole_text_is_never_far_away(store: Store) -> None:
    value = _text(200)
    for number in range(3 * EDITS_MAX):
        write(store, _put, {**value, "number": number})
    forms = _forms(store)
    assert PACKED in forms
    longest = max(len(run) for run in "".join("e" if form == EDIT else " " for form in forms).split())
    assert EDITS_MAX // 2 < longest <= EDITS_MAX


_STEPS = st.lists(
    st.lists(
        st.one_of(
            st.none(),
            st.tuples(st.integers(0, 40), st.integers(0, 30)).map(lambda size: _text(*size)),
        ),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=count(12, 600), deadline=None)
@given(steps=_STEPS, undone=st.booleans())
def test_whatever_is_put_and_deleted_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[dict[str, Any] | None]], *, undone: bool
) -> None:
    """Each write puts and deletes the document up to three times; its history has the last text of each write."""
    path = tmp_path_factory.mktemp("store") / "store"
    expected: list[dict[str, Any] | None] = []
    with opened(path) as store:
        for step in steps:

            def body(writer: Writer, step: list[dict[str, Any] | None] = step) -> None:
                for value in step:
                    if value is None:
                        writer.delete(Kind.DOCUMENT, PATH)
                    else:
                        _put(writer, value)

            operation = write(store, body).operation
            if operation is not None:
                expected.append(step[-1])
        found = _history(store)
        assert found == expected
        if undone and len(found) > 1:
            with store.reader(SPACE) as reader:
                last = reader.operation()
            write(store, lambda writer: undo_operation(writer, last))
            assert _history(store)[-1] == found[-2]
    assert run_check(path).ok


def test_old_versions_are_pruned_from_the_oldest_on(store: Store, path: Path) -> None:
    """A clock that was set back makes the sixth version older than the others: those before it still need it."""
    values = [_text(40, number) for number in range(10)]
    for day, value in zip([0, 1, 2, 300, 301, -200, 302, 303, 304, 305], values, strict=True):
        write(store, _put, value, at=after(day + 400))
    before = _history(store)
    write(store, lambda writer: writer.prune(Rules(), "2:"), at=after(400 + 366.5))
    left = _history(store)
    assert len(left) == 9
    assert left == before[1:]
    store.close()
    assert run_check(path).ok


def test_a_damaged_edit_is_named_with_the_versions_that_need_it(path: Path) -> None:
    with opened(path) as store:
        for number in range(10):
            write(store, _put, _text(40, number))
        with store._env.read() as txn:
            prefix = raw_key(Kind.DOCUMENT, PATH)
            start = prefix[:9] + b"\x19" + prefix[9:]
            key = start + encode_number(6)
            data = txn.get(key)
        assert data is not None
        damaged = data[:-3] + bytes((data[-3] ^ 1,)) + data[-2:]
        txn = store._env.begin()
        txn.put(key, damaged)
        txn.commit()
        with store.reader(SPACE) as reader:
            for operation in (7, 8, 9, 10):
                assert reader.at_version(Kind.DOCUMENT, PATH, operation).json() == _text(40, operation - 1)
            for operation in (1, 5, 6):
                with pytest.raises(Damaged, match=f"/{operation} of space|is damaged"):
                    reader.at_version(Kind.DOCUMENT, PATH, operation)
    report = run_check(path)
    assert [problem.key.rsplit("/", 1)[-1] for problem in report.problems if problem.kind == "version"] == [
        "6", "5", "4", "3", "2", "1",
    ]  # fmt: skip


def test_an_edit_of_another_text_is_not_believed(path: Path) -> None:
    """Reading a version raises Damaged if its edit does not fit the current text, though all checksums are right."""
    with opened(path) as store:
        write(store, _put, _text(40))
        write(store, _put, _text(41))
        raw = raw_key(Kind.DOCUMENT, PATH)
        txn = store._env.begin()
        current = decode_record(raw, txn.get(raw) or b"")
        other = seal(_text(42), MASKING)
        txn.put(raw, encode_record(raw, current.operation, current.at_ms, other.data))
        txn.commit()
        with store.reader(SPACE) as reader, pytest.raises(Damaged, match="does not fit the version after it"):
            reader.at_version(Kind.DOCUMENT, PATH, 1)


def test_words_are_taken_out_of_every_version(store: Store, path: Path) -> None:
    word = "Rumpelstiltskin"
    for number in range(2 * EDITS_MAX + 10):
        value = _text(30, number)
        if number % 7 == 3:
            value["content"] += f"- {word} {number}\n"
        write(store, _put, value)
    before = _history(store)

    def without(value: dict[str, Any]) -> dict[str, Any]:
        lines = value["content"].splitlines(keepends=True)
        return {**value, "content": "".join(line for line in lines if word not in line)}

    outcome = write(store, lambda writer: writer.rewrite(Kind.DOCUMENT, PATH, without))
    assert outcome.operation is None
    assert outcome.value == sum(word in value["content"] for value in before if value is not None)
    assert _history(store) == [None if value is None else without(value) for value in before]
    again = write(store, lambda writer: writer.rewrite(Kind.DOCUMENT, PATH, without))
    assert again.value == 0
    with store.reader(SPACE) as reader:
        reader.transaction._rebuilt = None
        raw = raw_key(Kind.DOCUMENT, PATH)
        assert all(word.encode() not in reader.transaction.body(*item) for item in reader._versions(Kind.DOCUMENT, raw))
    store.close()
    assert run_check(path).ok


def test_versions_of_an_older_store_become_edits(path: Path) -> None:
    """The versions are put as the first form had them, whole and not packed; a step may end anywhere."""
    values = [_text(60, number) for number in range(60)]
    with opened(path) as store:
        for value in values:
            write(store, _put, value)

        with store.reader(SPACE) as reader:
            texts = {key: reader.transaction.body(key, version) for key, version in _versions(reader)}
        write(store, _as_first_written, texts)
        whole = _size(store)
        assert EDIT not in _forms(store)
        cursor, steps = "", 0
        while True:
            step = write(store, lambda writer, cursor=cursor: writer.shorten_versions(cursor), at=AT)
            assert step.operation is None
            steps += 1
            assert _history(store) == values
            if step.value is None:
                break
            cursor = step.value
        assert steps > 1
        assert _forms(store).count(EDIT) > 55
        assert _size(store) < whole / 8
    assert run_check(path).ok


def _as_first_written(writer: Writer, texts: dict[bytes, bytes]) -> None:
    for key, version in _versions(writer):
        writer.transaction.rewrite(
            Kind.VERSION,
            key,
            version,
            codec._sealed(codec.INLINE, texts[key]),
        )


def _versions(reader: Any) -> list[tuple[bytes, Any]]:
    return list(reader._versions(Kind.DOCUMENT, raw_key(Kind.DOCUMENT, PATH)))


def _size(store: Store) -> int:
    with store.reader(SPACE) as reader:
        return sum(len(record.data) for _, record in _versions(reader))


def test_short_values_are_not_packed() -> None:
    assert seal_own({"uses": 1}).form == 0
    assert seal({"content": "two"}, MASKING).form == 0
    assert seal(_text(3), MASKING).form == PACKED
