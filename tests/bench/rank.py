"""Ranking memories beside tantivy: speed and recall, in turns, on one thread, in one process.

The memories are words of real documentation and sessions, drawn by how often they stand there.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from functools import partial
from typing import Any

import tantivy

from bench.made_memories import FREQUENT, memories, queries
from bench.run import DATA, Work, ms_of, row, skipped, spread
from reverie.text_index import Filter, Index, IndexEntry
from support.daemon import status_bytes


def tantivy_index(records: list[IndexEntry]) -> Any:
    """Return tantivy's index in memory, in one segment, with only the fields that ranking needs."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", stored=False, index_option="freq")
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for record in records:
        writer.add_document(tantivy.Document(id=record.id, text=record.text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def asked(title: str, texts: list[str], ours: Index, theirs: Any) -> None:
    """Print each query on all sides in turns; the ratio is that of the medians."""
    searcher = theirs.searcher()
    parsed = {query: theirs.parse_query(query, ["text"]) for query in texts}

    def their(query: str) -> list[str]:
        hits = searcher.search(theirs.parse_query(query, ["text"]), 10).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    times: dict[str, list[float]] = {}
    for query in (*texts[:100], *texts):
        sides: dict[str, Work] = {
            "ours": partial(ours.search, query, 10),
            "tantivy, from text to ids": partial(their, query),
            "tantivy, parsed before, no ids": partial(searcher.search, parsed[query], 10),
        }
        for name, side in sides.items():
            times.setdefault(name, []).append(ms_of(side))
    for name, taken in times.items():
        spread(f"query, {title}: {name}", taken[100:], to=statistics.median(times["ours"][100:]))


def filtered(queries: list[str], index: Index, count: int) -> None:
    """Print the same queries with a filter."""
    for title, within in (
        ("one of four types", Filter(any_of=[["type:fact"]])),
        ("one of 200 tags", Filter(any_of=[["tag:tag7"]])),
        ("a type, a tag and a time", Filter(any_of=[["type:fact"], ["tag:tag7"]], since=count // 2)),
    ):
        spread(f"query within {title}", [ms_of(partial(index.search, query, 10, within)) for query in queries])


def changed(records: list[IndexEntry], index: Index) -> None:
    """Print adding one memory, found at once, and removing one."""
    extra = [record._replace(id=f"new_{record.id}") for record in records[:5000]]
    adds = [ms_of(partial(index.add, *record)) for record in extra]
    found = [ms_of(partial(index.search, extra[at].text[:40], 1)) for at in range(100)]
    removes = [ms_of(partial(index.remove, record.id)) for record in extra]
    for title, taken in {"add one": adds, "remove one": removes, "query of a memory's beginning": found}.items():
        spread(title, taken)


def recall() -> None:
    """Measure the share of evidence for questions about long conversations among the best 10 lines."""
    path = DATA / "locomo" / "locomo5.json"
    if not path.exists():
        skipped("recall of evidence", "../shared/data/locomo is not here")
        return
    shares = []
    for conversation in json.loads(path.read_bytes()):
        turns = [
            turn
            for name, session in conversation["conversation"].items()
            if name.startswith("session_") and isinstance(session, list)
            for turn in session
        ]
        index = Index()
        for turn in turns:
            index.add(turn["dia_id"], f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption', '')}")
        ids = {turn["dia_id"] for turn in turns}
        for question in conversation["qa"]:
            evidence = set(question["evidence"]) & ids
            if evidence:
                best = {hit.id for hit in index.search(question["question"], 10)}
                shares.append(len(evidence & best) / len(evidence))
    row(f"recall of evidence at 10, {len(shares)} questions", statistics.mean(shares), "")


def speed(count: str = "100000") -> None:
    """Print loading, memory, queries and changes."""
    records, words = memories(int(count))
    print(f"{len(records):,} memories of {statistics.mean(len(record.text) for record in records):.0f} characters")
    plain = [record._replace(tags=(), groups=()) for record in records]
    before = status_bytes(os.getpid(), "VmRSS")
    index, tagged = Index(), Index()
    load = ms_of(lambda: index.add_many(plain), time.process_time)
    size = (status_bytes(os.getpid(), "VmRSS") - before) / len(records)
    began = time.process_time()
    theirs = tantivy_index(plain)
    row("load from records, to tantivy", load, "ms", times=1000 * (time.process_time() - began) / load)
    row("memory for each", size, "bytes")
    telling = queries(records, {word.lower() for word in words[:FREQUENT]})
    asked("3 to 7 telling words", telling, index, theirs)
    asked("3 to 7 of any words", queries(records, set()), index, theirs)
    row("load with tags and groups", ms_of(lambda: tagged.add_many(records), time.process_time), "ms")
    filtered(telling, tagged, len(records))
    changed(records, tagged)


CASES = {"speed": speed, "recall": recall}
