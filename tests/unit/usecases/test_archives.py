"""Archives: each is what its name says, also where a redactor finds more in escaped text; earlier ones are renamed."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from reverie.canonical_json import canonical
from reverie.models import Json
from reverie.redact import Taken
from reverie.store import ArchiveEntryRecord, ArchiveRecord, ArchivesCursor, Done, DreamRecord, Store, Write, Writer
from reverie.store.check import run_check
from reverie.usecases import consolidation, purge_steps
from reverie.usecases.by import By
from support.stores import AT, SPACE, Masking

BODY = canonical({"version": 1, "kind": "dream", "sources": [], "summary": 'he said "hush', "memories": []})
REFERENCE: dict[str, Any] = {"kind": "dream", "ref": f"space:{SPACE}", "entries": 0, "at": AT}


class Escapes(Masking):
    """A redactor that finds a secret behind an escaped quote, as in JSON text inside a JSON string."""

    def taken(self, value: Json) -> tuple[Json, list[Taken]]:
        """Return a value without its secrets, and what was taken."""
        if isinstance(value, str):
            clean = value.replace('\\"hush', '\\"[REDACTED:test]')
            return clean, [Taken("listed", "test", "4:a", b"0" * 16)] * value.count('\\"hush')
        return super().taken(value)


def committed(store: Store, body: Any) -> Any:
    (done,) = store.commit([Write(SPACE, "test", "archive", body)], at=AT)
    assert isinstance(done, Done)
    return done.value


def stored(store: Store) -> list[ArchiveRecord]:
    with store.reader(SPACE) as reader:
        return [record for _, record in reader.records(ArchiveRecord)]


def names_itself(record: ArchiveRecord) -> bool:
    return record.sha256 == sha256(record.body.encode()).hexdigest() and record.size == len(record.body.encode())


def test_an_archive_is_named_by_what_is_stored(tmp_path: Path) -> None:
    """Its values are redacted before it is hashed, and its escaped text is not redacted after that."""
    with Store.open(tmp_path, redactor=Escapes()) as store:
        first, is_new = committed(store, lambda writer: consolidation.save_archive(writer, BODY, **REFERENCE))
        again, is_new_again = committed(store, lambda writer: consolidation.save_archive(writer, BODY, **REFERENCE))
        (record,) = stored(store)
    assert (is_new, is_new_again) == (True, False)
    assert first == again == record
    assert names_itself(record)
    assert orjson.loads(record.body) == orjson.loads(BODY)


def test_a_misnamed_archive_is_found_and_renamed(tmp_path: Path) -> None:
    """An archive of an earlier release gets its own name, which its dream follows; from then on `check` names such."""
    address = sha256(BODY).hexdigest()
    record = ArchiveRecord(sha256=address, size=len(BODY), body=BODY.decode(), **REFERENCE)
    dream: dict[str, Any] = {
        "id": "dream_1",
        "at": AT,
        "tokens_used": 1,
        "token_budget": 9,
        "trigger": "x",
        "operation": "1",
    }

    def earlier(writer: Writer) -> None:
        writer.save(ArchivesCursor(archives=[ArchiveEntryRecord(address, AT, 0)]), ArchivesCursor.KEY)
        writer.save(record, (address,))
        writer.save(DreamRecord(archive=address, through=1, **dream), ("dream_1",))

    with Store.open(tmp_path, redactor=Escapes()) as store:
        committed(store, earlier)
        with store.reader(SPACE) as reader:
            assert consolidation.misnamed_archives(reader) == [address]
    assert run_check(tmp_path).ok  # as its release left it

    with Store.open(tmp_path, redactor=Escapes()) as store:
        committed(store, purge_steps.name_archives.write(By(SPACE, "purge"), [address]).body)
        (renamed,) = stored(store)
        with store.reader(SPACE) as reader:
            assert consolidation.misnamed_archives(reader) is None
            assert [dream.archive for _, dream in reader.records(DreamRecord)] == [renamed.sha256]
        assert names_itself(renamed)
        assert "[REDACTED:test]" in renamed.body
        assert run_check(tmp_path).ok
        committed(store, lambda writer: writer.save(record, (address,)))
    (problem,) = run_check(tmp_path).problems
    assert (problem.kind, problem.key) == ("archive", address)
