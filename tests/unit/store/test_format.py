"""FORMAT.md agrees with the code: kinds, limits, an example record."""

from __future__ import annotations

import re
from pathlib import Path

import reverie.store
from reverie.store import RULES, Kind, seal
from reverie.store.codec import encode_record, to_ms
from reverie.store.env import MAP_BYTES, READERS_MAX
from reverie.store.kinds import BLOB_BYTES_MIN, EVENTS_MAX, KEY_BYTES_MAX, RESERVED_CODES, SPACE_BYTES_MAX
from reverie.store.versions import Rules
from support.stores import MASKING, raw_key

FORMAT = (Path(reverie.store.__file__).parent / "FORMAT.md").read_text()


def _rows(title: str) -> list[list[str]]:
    section = FORMAT.split(f"## {title}")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line[:1]]
    return rows[2:]


def test_the_table_of_kinds_is_the_schema() -> None:
    expected = []
    for kind, rule in RULES.items():
        parts = ", ".join(rule.parts)
        if rule.hashed:
            parts += f" (hashed, repeated in `{rule.field}`)" if rule.field else " (hashed)"
        scope = rule.parts[0] if rule.scope else "space"
        versions, books = "yes" if rule.versioned else "", "yes" if rule.bookkeeping else ""
        by = "store" if rule.internal else ""
        expected.append([str(rule.code), kind.value, parts, scope, versions, rule.undo, books, by])
    assert _rows("4. Kinds") == expected


def test_no_code_is_used_twice() -> None:
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes)
    assert RESERVED_CODES.isdisjoint(codes), "an old store may have such a record"
    assert set(RULES) == set(Kind)


def test_the_example_is_what_the_codec_makes() -> None:
    key = raw_key(Kind.MEMORY, ("mem_1",))
    record = encode_record(key, 7, to_ms("2026-11-21T09:30:00.000Z"), seal({"content": "two"}, MASKING).data)
    assert re.findall(r"^(?:key|record) +([0-9a-f]+)$", FORMAT, re.MULTILINE) == [key.hex(), record.hex()]


def test_sequences_and_limits_are_those_documented() -> None:
    sequences = [kind.value for kind, rule in RULES.items() if rule.sequence]
    assert f"Sequences are {', '.join(sequences[:-1])} and {sequences[-1]}." in FORMAT
    limits = dict(_rows("9. Limits"))
    assert limits["a key"] == f"{KEY_BYTES_MAX} bytes"
    assert limits["a space's name"] == f"{SPACE_BYTES_MAX} bytes"
    assert limits["a body inside its record"].startswith(f"{BLOB_BYTES_MIN:,} bytes")
    assert limits["events of one write"] == f"{EVENTS_MAX:,}"
    assert limits["snapshots open at once"] == f"{READERS_MAX}"
    assert MAP_BYTES == 1 << 30
    rules, goes = Rules(), dict(_rows("8. Retention"))
    assert goes["versions"].startswith(f"{rules.version_days} days")
    assert goes["events"].startswith(f"after {rules.event_days} days")
    assert goes["idempotency keys"] == f"after {rules.key_days} days"
    assert goes["failed dreams"] == f"after {rules.failure_days} days"
