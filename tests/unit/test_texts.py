"""Words of people are found by the type of their field: redacted, purged and masked, whatever Struct they are in."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from reverie import texts, wire
from reverie.models import Candidate, MemoryType
from reverie.redact import Redactor
from reverie.store import Done, Kind, MemoryRecord, PendingPurge, Store, StoredRecord
from reverie.text_types import Decision, DerivedText, Text, Words
from reverie.usecases import purge_steps, purge_targets
from reverie.usecases.by import By
from reveried import log
from support.stores import AT, write

IDENTIFIERS = """
ids, hashes and keys:
archive archives author_agent_id baseline before carried copy hash id ids key memory mark oversized parent ref
reply request result run salt session sha256 thread threads through_memory words
times and positions:
after at begun completed_at created_at decided_at ended_at first_at forgotten last_accessed_at last_at last_run
opened_at operation pauses ran since started_at updated_at
paths, addresses and names of projects:
document folder folders ignored joined name opened_path path paths project remotes source transcript
who, and one of a few words:
agent by client code cron decided_by inside job kind marker model owner purpose rule shape space timezone trigger type
who why
JSON of the program itself, as counts and settings:
data options usage
"""
"""Fields of stored records that have no words of people. `baseline` is a type of sync, which a purge goes through."""

SECRET = "ghp_" + "0aB1" * 9


class Remark(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a record that no other module knows."""

    given_words: Text
    seen: dict[str, list[DerivedText]]


class ReportRecord(StoredRecord, frozen=True, kw_only=True):
    """A new kind of record."""

    KIND: ClassVar[Kind] = Kind.RETIRED

    id: str
    remarks: list[Remark | None]


def _fields(kind: Any) -> list[tuple[str, Any]]:
    owner = get_origin(kind) or kind
    if issubclass(owner, msgspec.Struct):
        return [(field.name, field.type) for field in msgspec.structs.fields(kind)]
    hints = get_type_hints(owner, include_extras=True)
    return [(field.name, hints[field.name]) for field in dataclasses.fields(owner)]


def _unmarked(name: str, kind: Any, seen: set[Any]) -> Iterator[str]:
    """Yield the names of fields below a type that may hold a string and have no mark of a text."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if not any(isinstance(mark, Words) for mark in arguments[1:]):
            yield from _unmarked(name, arguments[0], seen)
        return
    if kind in (str, Any) or isinstance(kind, TypeVar):
        yield name
    owner = origin or kind
    if isinstance(owner, type) and (issubclass(owner, msgspec.Struct) or dataclasses.is_dataclass(owner)):
        if kind not in seen:
            seen.add(kind)
            for field, type_ in _fields(kind):
                yield from _unmarked(field, type_, seen)
    elif origin is not Literal:
        for argument in arguments[1:] if origin is dict else arguments:
            yield from _unmarked(name, argument, seen)


def _records(kind: type[StoredRecord] = StoredRecord) -> Iterator[type[StoredRecord]]:
    for record in kind.__subclasses__():
        yield record
        yield from _records(record)


def test_every_string_of_a_record_is_a_text_or_an_identifier() -> None:
    """So a new field cannot be forgotten by redaction, purge and log: its type has to say what it is."""
    seen: set[Any] = set()
    found = {name for record in _records() for name in _unmarked("", record, seen)}
    assert len(seen) > 60
    identifiers = {name for line in IDENTIFIERS.splitlines() if not line.endswith(":") for name in line.split()}
    assert sorted(found - identifiers) == [], "a text is declared as Text or DerivedText"
    assert sorted(identifiers - found) == [], "no field has these names any more"


def test_stored_decisions_have_the_texts_of_the_api() -> None:
    """The names below which a stored decision has texts are those of the API's types."""
    (words,) = (mark for mark in get_args(Decision)[1:] if isinstance(mark, Words))
    change = wire.AddChange(type="fact", content="C", tags=["T"], id="mem_1", candidate_index=0)
    why = wire.Proposal(change=wire.UpdateChange(id="mem_1", content="D", tags=["U"]), why="W")
    one = wire.ProposedMemory(type="fact", content="E", tags=["V"], title="F")
    result = wire.RunResult(candidates=[one], changes=[change], tier="", operation=None, proposals=[why])
    found = texts.texts(Decision, msgspec.to_builtins(result))
    assert set(texts.strings(found)) == set("CTDUWEVF")
    assert {"content", "tags", "title", "why"} <= set(words.names)


def test_a_new_text_is_redacted_by_its_type() -> None:
    """In a record, in a list, in an object; names of fields and identifiers stay."""
    record = ReportRecord(id=SECRET, remarks=[Remark(f"it is {SECRET}", {SECRET: [SECRET, "x"]}), None])
    clean = texts.redacted(record, Redactor())
    assert clean.id == SECRET
    assert clean.remarks == [Remark("it is [REDACTED:github-token]", {SECRET: ["[REDACTED:github-token]", "x"]}), None]
    plain = ReportRecord(id="x", remarks=[Remark("nothing", {})])
    assert texts.redacted(plain, Redactor()) is plain


def test_a_new_text_is_kept_out_of_the_log() -> None:
    """Whoever logs a record or a request by mistake logs its identifiers alone."""
    stream = io.StringIO()
    log.configure("info", stream)
    try:
        record = ReportRecord(id="r1", remarks=[Remark("zanzibar", {"a": ["zanzibar"]})])
        log.logger("test").info("stored", record=record, asked=Candidate(MemoryType.FACT, "zanzibar"))
    finally:
        log.configure("info")
    line = json.loads(stream.getvalue())
    assert line["record"] == {"id": "r1", "remarks": [{"givenWords": "[text]", "seen": {"a": ["[text]"]}}]}
    assert line["asked"]["content"] == "[text]"
    assert "zanzibar" not in stream.getvalue()


def test_a_new_text_is_purged(tmp_path: Path) -> None:
    """What a new kind of record derived from a memory goes with it; what somebody gave there stays, and counts."""
    fields: Any = {"created_at": AT, "updated_at": AT, "tags": (), "document": "facts/user.md"}
    memory = MemoryRecord(id="mem_1", type=MemoryType.FACT, content="the zanzibar host is in the harbour", **fields)
    seen = Remark("a harbour", {"host": ["the zanzibar host", "a harbour"]})

    def fill(writer: Any) -> None:
        writer.save(memory, ("mem_1",))
        writer.save(ReportRecord(id="r1", remarks=[None, seen]), ("r1",))

    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        write(store, fill, space="default")
        by, purge = By("default", "ann"), PendingPurge("memory", "mem_1")
        with store.reader("default") as reader:
            sources = purge_targets.sources(reader, purge)
            found = purge_targets.findings(reader, sources)
        assert found.current == [(Kind.RETIRED, ("r1",))]
        assert {"zanzibar"} <= found.wide.words
        assert "harbour" not in found.wide.words
        for step in purge_steps.rewrites(by, found, sources):
            (done,) = store.commit([step], at=AT)
            assert isinstance(done, Done)
        with store.reader("default") as reader:
            report = reader.load(ReportRecord, ("r1",))
        assert report is not None
        assert report.remarks == [None, Remark("a harbour", {"host": ["the [purged] [purged]", "a harbour"]})]
