"""Benchmark of memory documents: reading many small ones, and changing one item of a large one."""

from __future__ import annotations

import random
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.documents.edit import apply_changes
from reverie.documents.header import refresh_header
from reverie.documents.items import Update, Wording
from reverie.documents.parse import parse_document
from reverie.markdown_blocks import parse
from support.edit_history import COMMON

DOCUMENTS, DOCUMENT_BYTES = 10_000, 2_000
LARGE_BYTES = 200_000
ROUNDS = 7


def document(pick: random.Random, size: int, *, episodes: bool) -> str:
    """Return a document of facts or episodes of about `size` bytes."""
    text = ["# A title\n\n> Summary: one, two, three\n\n"]
    length = 0
    while length < size:
        words = " ".join(pick.choices(COMMON, k=pick.randint(5, 20)))
        tale = f"## {words[:40]}\n- Summary: {words[:50]}\n- Date: 2026-11-21\n- Solution: {words}\n\n"
        text.append(tale if episodes else f"- {words.capitalize()} #{pick.choice(COMMON)}\n")
        length += len(text[-1])
    return "".join(text) + ("" if episodes else "- Updated: 2026-11-20\n")


def best(times: list[float]) -> float:
    """Return the minimum of some times in milliseconds."""
    return min(times) * 1e3


def many() -> None:
    """Time parsing many documents, and alternately only splitting them into blocks."""
    pick = random.Random(1)
    papers = [(f"facts/{n}.md", document(pick, DOCUMENT_BYTES, episodes=False)) for n in range(DOCUMENTS // 2)]
    papers += [(f"episodes/{n}.md", document(pick, DOCUMENT_BYTES, episodes=True)) for n in range(DOCUMENTS // 2)]
    size = sum(len(text.encode()) for _, text in papers)
    items = sum(len(parse_document(path, text).items) for path, text in papers)
    reading: list[float] = []
    parsing: list[float] = []
    for _ in range(3):
        start = time.perf_counter()
        for path, text in papers:
            parse_document(path, text)
        middle = time.perf_counter()
        for _path, text in papers:
            parse(text.encode(), sections=False)
        reading.append(middle - start)
        parsing.append(time.perf_counter() - middle)
    print(f"read {len(papers)} documents, {size / len(papers):.0f} bytes and {items / len(papers):.0f} items each:")
    print(f"  {best(reading):.0f} ms, {best(reading) / best(parsing):.1f} times what the parser alone takes")


def one() -> None:
    """Time changing one item in the middle of a large document."""
    for path, episodes in (("facts/large.md", False), ("episodes/large.md", True)):
        text = document(random.Random(2), LARGE_BYTES, episodes=episodes)
        page = parse_document(path, text)
        ids = [str(number) for number in range(len(page.items))]
        at = len(ids) // 2
        old = page.items[at]
        update = Update(ids[at], Wording(old.content + " again", old.tags, old.title))
        works: dict[str, Callable[[], object]] = {
            "changed": partial(apply_changes, path, text, ids, [update], day="2026-11-21"),
            "refreshed": partial(refresh_header, path, text, day="2026-11-21"),
            "read": partial(parse_document, path, text),
        }
        times: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(ROUNDS):
            for name, work in works.items():
                start = time.perf_counter()
                work()
                times[name].append(time.perf_counter() - start)
        print(f"{path}, {len(text.encode()) // 1000} KB, {len(ids)} items:")
        for name, durations in times.items():
            print(f"  {name}: {best(durations):.1f} ms, {best(durations) / best(times['read']):.1f} times a read")


if __name__ == "__main__":
    many()
    one()
