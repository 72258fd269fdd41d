"""Benchmark of ranking memories beside tantivy: speed and recall, alternately, on one thread, in one process.

    python tests/bench/bench_rank.py [MEMORIES]

The memories are words of real documentation and sessions, drawn by how often they stand there.
"""

from __future__ import annotations

import gc
import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import tantivy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.text_index import Filter, Index, IndexEntry
from support.made_memories import FREQUENT, SHARED, memories, queries


def rss_mb() -> float:
    """Return the resident memory of this process in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def busy_seconds(work: Callable[[], object]) -> float:
    """Return processor time, which other processes do not affect as they do the wall clock."""
    began = time.process_time()
    work()
    return time.process_time() - began


def p50_and_p99_ms(times: list[float]) -> tuple[float, float]:
    """Return median and 99th percentile in milliseconds."""
    return statistics.median(times) * 1e3, statistics.quantiles(times, n=100)[98] * 1e3


def line(title: str, value: str) -> None:
    print(f"{title:<66} {value}")


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


def bench_queries(title: str, texts: list[str], ours: Index, theirs: Any) -> None:
    """Time each query on both sides alternately; the ratio is that of the medians."""
    searcher = theirs.searcher()

    def their(query: str) -> list[str]:
        hits = searcher.search(parsed(query), 10).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    def parsed(query: str) -> Any:
        return theirs.parse_query(query, ["text"])

    for query in texts[:100]:
        ours.search(query, 10)
        their(query)
    gc.collect()
    gc.disable()
    rounds: list[tuple[float, float, float]] = []
    for query in texts:
        ready = parsed(query)
        rounds.append(
            (
                seconds(lambda: ours.search(query, 10)),  # noqa: B023 - called at once
                seconds(lambda: their(query)),  # noqa: B023
                seconds(lambda: searcher.search(ready, 10)),  # noqa: B023
            )
        )
    gc.enable()
    our, full, bare = (p50_and_p99_ms([times[side] for times in rounds]) for side in range(3))
    line(f"query, {title}: p50 and p99", f"{our[0]:.3f} ms  {our[1]:.3f} ms")
    line("  tantivy, from text to ids", f"{full[0]:.3f} ms  {full[1]:.3f} ms  ours is {our[0] / full[0]:.2f}x")
    line("  tantivy, parsed before, no ids", f"{bare[0]:.3f} ms  {bare[1]:.3f} ms  ours is {our[0] / bare[0]:.2f}x")


def bench_filters(queries: list[str], index: Index, count: int) -> None:
    """Time the same queries with a filter."""
    for title, within in (
        ("one of four types", Filter(any_of=[["type:fact"]])),
        ("one of 200 tags", Filter(any_of=[["tag:tag7"]])),
        ("a type, a tag and a time", Filter(any_of=[["type:fact"], ["tag:tag7"]], since=count // 2)),
    ):
        times = [seconds(lambda: index.search(query, 10, within)) for query in queries]  # noqa: B023 - called at once
        p50, p99 = p50_and_p99_ms(times)
        line(f"query within {title}: p50 and p99", f"{p50:.3f} ms  {p99:.3f} ms")


def bench_changes(records: list[IndexEntry], index: Index) -> None:
    """Time adding one memory, found at once, and removing one."""
    extra = [record._replace(id=f"new_{record.id}") for record in records[:5000]]
    adds = [seconds(lambda: index.add(*record)) for record in extra]  # noqa: B023 - called at once
    times = [seconds(lambda: index.search(extra[at].text[:40], 1)) for at in range(100)]  # noqa: B023
    removes = [seconds(lambda: index.remove(record.id)) for record in extra]  # noqa: B023
    line("add one: mean and p50", f"{statistics.mean(adds) * 1e6:.1f} µs  {statistics.median(adds) * 1e6:.1f} µs")
    line(
        "remove one: mean and p50",
        f"{statistics.mean(removes) * 1e6:.1f} µs  {statistics.median(removes) * 1e6:.1f} µs",
    )
    line("query of one memory's beginning, best 1", f"{statistics.median(times) * 1e3:.3f} ms")


def bench_recall() -> None:
    """Measure the share of evidence for questions about long conversations among the best 10 lines."""
    path = SHARED / "locomo" / "locomo5.json"
    if not path.exists():
        line("recall of evidence", "skipped: ../shared/data/locomo is not here")
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
    line(f"recall of evidence at 10, {len(shares)} questions", f"{statistics.mean(shares):.4f}")


def main(count: int) -> None:
    records, words = memories(count)
    chars = statistics.mean(len(record.text) for record in records)
    line(f"{count:,} memories of {chars:.0f} characters, {len(words):,} words", "")
    plain = [record._replace(tags=(), groups=()) for record in records]
    before = rss_mb()
    index = Index()
    load = busy_seconds(lambda: index.add_many(plain))
    size = (rss_mb() - before) * 1e6 / count
    began = time.process_time()
    theirs = tantivy_index(plain)
    line("load from records, processor time", f"{load:.2f} s")
    line("  tantivy", f"{time.process_time() - began:.2f} s")
    line("memory for each", f"{size:.0f} bytes")
    frequent = {word.lower() for word in words[:FREQUENT]}
    telling = queries(records, frequent)
    bench_queries("3 to 7 telling words", telling, index, theirs)
    bench_queries("3 to 7 of any words", queries(records, set()), index, theirs)
    tagged = Index()
    line("load from records with tags and groups", f"{busy_seconds(lambda: tagged.add_many(records)):.2f} s")
    bench_filters(telling, tagged, count)
    bench_changes(records, tagged)
    bench_recall()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
