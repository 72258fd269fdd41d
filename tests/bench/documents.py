"""Memory documents: reading, aligning, changing and patching them, beside difflib and plain Python, and their folder.

Blocks are parsed and aligned by the native module alone; documents are read and changed by the library; a folder of
ten thousand is scanned, read, and written one by one.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path

from bench.run import DATA, Work, compare, in_turns, ms_of, row, spread, timed
from reverie import _native, markdown_blocks
from reverie import files as reverie_files
from reverie.documents.edit import apply_changes
from reverie.documents.header import refresh_header
from reverie.documents.items import Update, Wording
from reverie.documents.parse import parse_document
from reverie.sync.root import Root
from reverie.sync.scan import FileContent, read_file, scan
from reverie.sync.swap import Written, write_file
from support.document_cases import COMMON
from support.spaces import open_root

ROUNDS = 7
DOCUMENTS, DOCUMENT_BYTES, LARGE_BYTES = 10_000, 2_000, 200_000
BLOCKS = 100_000
FILES = 10_000
WRITES = 200


def items(pick: random.Random, count: int) -> list[list[str]]:
    """Return the words of items of about 80 bytes."""
    words = COMMON + ["".join(pick.choices("abcdefghijklmnop", k=pick.randint(3, 9))) for _ in range(5000)]
    return [pick.choices(words, k=12) for _ in range(count)]


def item_text(words: Sequence[str]) -> bytes:
    """Return words as one item of a markdown list."""
    return f"- {' '.join(words)}\n".encode()


def edited(pick: random.Random, words: Sequence[str]) -> bytes:
    """Return an item with one word replaced."""
    new = list(words)
    new[pick.randrange(len(new))] = "edited"
    return item_text(new)


def equal_blocks(old: Sequence[bytes], new: Sequence[bytes]) -> None:
    """Run difflib's search for equal blocks, the slower side of the comparison."""
    SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()


def speed(title: str, size: int, work: Callable[[], object]) -> None:
    """Print megabytes per second."""
    ms = min(in_turns({"": work}, ROUNDS)[""])
    row(title, size / 1000 / ms, "MB/s", note=f"{ms:.2f} ms")


def parse() -> None:
    """Print the parsing of real documents, many items, many sections, prose."""
    path = DATA / "merges" / "histories.jsonl"
    rows = path.read_text().splitlines() if path.exists() else []
    facts = b"# T\n\n> Summary: s\n\n" + b"".join(map(item_text, items(random.Random(1), BLOCKS)))
    section = b"## Fix\n- Summary: pipe leak\n- Date: 2026-02-24\n- Problem: the file was leaking\n\n"
    documents = {
        "real markdown": [version.encode() for one in rows for version in json.loads(one)["versions"]],
        "100,000 items": [facts],
        "20,000 sections": [section * 20_000],
        "prose": [b"words and words and words and words\n" * 50_000],
        "a line of 1 MB": [b"- " + b"word " * 200_000],
    }
    for name, data in documents.items():
        speed(f"parse, {name}, binding", sum(map(len, data)), lambda: [_native.parse_blocks(one) for one in data])  # noqa: B023
    speed("parse, 100,000 items, face", len(facts), lambda: markdown_blocks.parse(facts))


def align() -> None:
    """Print carrying over 100,000 ids."""
    pick = random.Random(2)
    words = items(pick, BLOCKS)
    old = [(f"mem_{number:08x}", item_text(block)) for number, block in enumerate(words)]
    same = [block for _, block in old]
    few = [edited(pick, block) if pick.random() < 0.05 else item_text(block) for block in words]
    half = [edited(pick, block) if pick.random() < 0.5 else item_text(block) for block in words]
    cases = {"unchanged": same, "5 % edited": few, "half edited": half, "shuffled": pick.sample(same, len(same))}
    cases["shuffled, 5 % edited"] = pick.sample(few, len(few))
    for name, new in cases.items():
        taken = in_turns({"": partial(_native.align, old, new)}, ROUNDS)[""]
        row(f"align 100,000 blocks, {name}, median", statistics.median(taken), "ms", most=150)
    small, changed = same[:3000], few[:3000]
    for name, new in {"5 % edited": changed, "shuffled": pick.sample(changed, len(changed))}.items():
        ours, theirs = partial(_native.align, old[:3000], new), partial(equal_blocks, small, new)
        compare(f"align 3,000 blocks, {name}, to difflib (equal ones only)", ours, theirs, rounds=3)


def change() -> None:
    """Print changing one item in a hundred of a document, and patching as many lines."""
    pick = random.Random(3)
    words = items(pick, 20_000)
    document = b"# T\n\n" + b"".join(map(item_text, words))
    spans = [(str(number), start, end) for number, (_, start, end, *_) in enumerate(_native.parse_blocks(document)[2:])]
    changes = [("update", str(number), edited(pick, words[number]).decode()) for number in range(0, 20_000, 100)]
    speed("apply 200 updates to 20,000 items", len(document), lambda: _native.apply_changes(document, spans, changes))
    source = document.decode()
    lines = [item_text(item).decode() for item in words]
    for count in (1, 200, 5000):
        patches = [(line, line.upper()) for line in pick.sample(lines, count)]
        speed(f"patch {count} texts of 20,000 lines", len(document), partial(_native.patch, source, patches))
    patches = [(line, line.upper()) for line in pick.sample(lines, 200)]

    def plain() -> str:
        result = source
        for old, new in patches:
            if source.count(old) == 1:
                result = result.replace(old, new)
        return result

    title = "patch 200 texts of 20,000 lines, to str.count and replace"
    compare(title, lambda: _native.patch(source, patches), plain, rounds=3)


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


def read() -> None:
    """Print reading many documents beside only splitting them into blocks."""
    pick = random.Random(1)
    papers = [(f"facts/{n}.md", document(pick, DOCUMENT_BYTES, episodes=False)) for n in range(DOCUMENTS // 2)]
    papers += [(f"episodes/{n}.md", document(pick, DOCUMENT_BYTES, episodes=True)) for n in range(DOCUMENTS // 2)]
    sides = {
        "parser": lambda: [markdown_blocks.parse(text.encode(), sections=False) for _, text in papers],
        "read": lambda: [parse_document(path, text) for path, text in papers],
    }
    times = in_turns(sides, 3)
    title = f"read {len(papers):,} documents of {DOCUMENT_BYTES} bytes, to the parser alone"
    row(title, min(times["read"]), "ms", times=min(times["read"]) / min(times["parser"]))


def edit() -> None:
    """Print changing one item in the middle of a large document, beside reading it."""
    for path, episodes in (("facts/large.md", False), ("episodes/large.md", True)):
        text = document(random.Random(2), LARGE_BYTES, episodes=episodes)
        page = parse_document(path, text)
        ids = [str(number) for number in range(len(page.items))]
        at = len(ids) // 2
        old = page.items[at]
        update = Update(ids[at], Wording(old.content + " again", old.tags, old.title))
        sides: dict[str, Work] = {
            "changed": partial(apply_changes, path, text, ids, [update], day="2026-11-21"),
            "refreshed": partial(refresh_header, path, text, day="2026-11-21"),
            "read": partial(parse_document, path, text),
        }
        times = in_turns(sides, ROUNDS)
        for name, taken in times.items():
            row(
                f"{path}, {len(ids):,} items: {name}, to a read",
                min(taken),
                "ms",
                times=min(taken) / min(times["read"]),
            )


def folder() -> None:
    """Print the first scan of a folder, reading, the second scan, and writing one file."""
    with tempfile.TemporaryDirectory() as name, open_root(Path(name) / "space") as root:
        for number in range(FILES):
            path = root.real / f"topic-{number % 20:02}" / f"note-{number:05}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(f"# Note {number}\n".encode() + b"- A fact about the project\n" * (DOCUMENT_BYTES // 27))
        stamps = scan(root, known={}).stamps
        assert len(stamps) == FILES

        def plainly_read() -> None:
            for path in stamps:
                hashlib.sha256((root.real / path).read_bytes()).hexdigest()

        def read_all() -> None:
            for path in scan(root, known={}).stamps:
                assert isinstance(read_file(root, path, limit=1 << 20), FileContent)

        sides = {
            "plain os.scandir and stat": lambda: plain_walk(root.real),
            "first scan": lambda: scan(root, known={}),
            "unchanged rescan": lambda: scan(root, known=stamps),
            "plain open, read, SHA-256": plainly_read,
            "first scan, read, SHA-256": read_all,
        }
        times = in_turns(sides, ROUNDS, clock=time.perf_counter)
        for title, taken in times.items():
            row(f"{FILES:,} files: {title}, best", min(taken), "ms", note=f"median {statistics.median(taken):.1f}")
        written(root, list(stamps)[:WRITES])


def plain_walk(folder: Path) -> int:
    """Walk a folder without any rule, as a lower bound; return the number of files with content."""
    files = 0
    for entry in os.scandir(folder):
        if entry.is_dir():
            for file in os.scandir(entry.path):
                files += file.stat(follow_symlinks=False).st_size > 0
    return files


def written(root: Root, paths: Sequence[str]) -> None:
    """Print durable writes of one document after another: by exchange, and by a plain atomic write."""
    exchanged, replaced, settled = [], [], []
    for path in paths:
        content = read_file(root, path, limit=1 << 20)
        assert isinstance(content, FileContent)
        new = content.data + b"- One more\n"
        ms, outcome = timed(partial(write_file, root, path, new, expected=content.sha256))
        exchanged.append(ms)
        assert isinstance(outcome, Written)
        assert outcome.displaced
        settled.append(ms_of(outcome.displaced.settle))
        replaced.append(ms_of(partial(reverie_files.write_atomic, root.real / path, content.data)))
    for title, taken in (("exchange", exchanged), ("atomic write", replaced), ("settle", settled)):
        spread(f"{len(paths)} documents: {title}", taken)


CASES = {"parse": parse, "align": align, "change": change, "read": read, "edit": edit, "folder": folder}
