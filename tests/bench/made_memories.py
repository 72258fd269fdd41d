"""Generated memories for benchmarks: words of documentation and sessions, as frequent as in those texts."""

from __future__ import annotations

import gzip
import random
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import orjson

from reverie.text_index import IndexEntry

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*[A-Za-z0-9]|[A-Za-z]")
PLAIN = re.compile(r"\b[a-z]{2,}\b")
QUERIES = 1000
FREQUENT = 150
"""As many of the most frequent words are left out of the queries that count: they are function words, nearly all."""


def sources() -> Iterator[str]:
    """Return documentation and sessions where they are at hand, else texts of Python's own sources."""
    prose = sorted((SHARED / "prose").glob("*.txt"))
    for path in prose or sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:80]:
        yield path.read_text(errors="replace")
    for path in sorted((SHARED / "transcripts" / "claude-code").glob("*.gz"))[:20]:
        yield from message_texts(path)


def message_texts(path: Path) -> Iterator[str]:
    """Return the text of a session's messages."""
    for line in gzip.decompress(path.read_bytes()).splitlines():
        message = orjson.loads(line).get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            yield content
        elif isinstance(content, list):
            yield from (str(block["text"]) for block in content if isinstance(block, dict) and "text" in block)


def memories(count: int, mean_chars: int = 305) -> tuple[list[IndexEntry], list[str]]:
    """Return `count` random memories of about `mean_chars` characters, and all words, most frequent first."""
    pick = random.Random(8)
    counted = Counter(word for text in sources() for word in WORD.findall(text) if len(word) < 40).most_common()
    words = [word for word, _ in counted]
    weights = list(accumulate(times for _, times in counted))
    records = []
    for number in range(count):
        length, text = pick.gauss(mean_chars, 90), ""
        while len(text) < length:
            text += " ".join(pick.choices(words, cum_weights=weights, k=8)) + ". "
        kind = pick.choice(("fact", "preference", "pattern", "episode"))
        tags = [f"tag{pick.randrange(200)}", f"tag{pick.randrange(200)}"]
        groups = [f"type:{kind}", *(f"tag:{tag}" for tag in tags)]
        records.append(IndexEntry(f"mem_{number:08x}", text[: max(int(length), 20)], tags, groups, number))
    return records, words


def queries(records: list[IndexEntry], apart: set[str]) -> list[str]:
    """Return queries of 3 to 7 words of one memory each, without stop words."""
    pick = random.Random(9)
    chosen: list[str] = []
    while len(chosen) < QUERIES:
        words = [word for word in PLAIN.findall(pick.choice(records).text.lower()) if word not in apart]
        if len(words) > 7:
            chosen.append(" ".join(pick.sample(words, pick.randint(3, 7))))
    return chosen
