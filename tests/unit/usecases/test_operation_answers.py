"""What an operation is answered as: whether an undo can take it back is found by few reads, however large it is."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reverie.ids import new_id
from reverie.redact import Redactor
from reverie.store import OperationRecord, Reader, Store
from reverie.usecases import documents, history
from reverie.usecases.by import By
from support.stores import AT


def test_a_large_operation_is_answered_by_few_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each later operation is read once, not once for each memory that it changed."""
    numbers = count()
    by = By("default", "agent", new_id=lambda kind: new_id(kind, 0, next(numbers).to_bytes(10, "big")))
    loads: list[Any] = []
    load = Reader.load

    def counted(reader: Reader, record_type: Any, key: Any) -> Any:
        if record_type is OperationRecord:
            loads.append(key)
        return load(reader, record_type, key)

    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        lines = "".join(f"- Buoy {number} is painted red\n" for number in range(300))
        store.commit([documents.put.write(by, "facts/a.md", lines)], at=AT)
        store.commit([documents.delete.write(by, "facts/a.md")], at=AT)
        monkeypatch.setattr(Reader, "load", counted)
        with store.reader("default") as reader:
            answers = [history.operation_answer(reader, history.get(reader, number)) for number in (1, 2)]

    assert [(answer.undoable, len(answer.changes)) for answer in answers] == [(True, 301), (True, 601)]
    assert len(loads) <= 6
