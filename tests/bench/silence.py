"""How many unrelated prompts recall answers, and how many related ones, in stores of several kinds.

Stores: what readers wrote down about sessions (their statements as memories), observations of five conversations with
their questions, each where `../shared` is present, and the memories of each JSON list of texts that is named.
Unrelated are the hundred prompts of `support.prose`. For each store: its size, the share answered of unrelated and
of related prompts, and the shares with a threshold of 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reverie.models import Memory, MemoryType
from reverie.text_recall import SearchIndex
from support.corpus import by_id
from support.prose import UNRELATED
from support.shared import SHARED

AT = "2026-01-01T00:00:00.000Z"
UNANSWERABLE = 5  # the category of questions that the conversation does not answer
EVERY = 2  # of a statement's words one is left out, to make a question of the others


def indexed(texts: Sequence[str]) -> tuple[SearchIndex, dict[str, Memory]]:
    """Return an index of memories with these texts, and the memories by id."""
    memories = {
        f"m{number}": Memory(f"m{number}", MemoryType.FACT, text, (), "facts/project.md", AT, AT)
        for number, text in enumerate(texts)
    }
    index = SearchIndex()
    index.add_many(memories.values())
    return index, memories


def answered(texts: Sequence[str], prompts: Sequence[str], min_score: float | None = None) -> float:
    """Return the share of prompts for which a store of these texts shows a memory."""
    index, memories = indexed(texts)
    hits = [index.recall(prompt, by_id(memories), limit=10, min_score=min_score).hits for prompt in prompts]
    return sum(map(bool, hits)) / max(1, len(prompts))


def statements() -> list[str]:
    """Return the longer sentences of the sessions' summaries."""
    path = SHARED / "data/gold/session_summaries.json"
    sessions: list[Any] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return [text for session in sessions for text in _texts(session["summary"]) if len(text.split()) > EVERY]


def _texts(value: Any) -> Iterator[str]:
    """Yield the sentences in a summary: those texts anywhere in its JSON that contain a blank."""
    if isinstance(value, str):
        yield from [value] if " " in value else []
    elif isinstance(value, dict):
        yield from (text for part in value.values() for text in _texts(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in _texts(part))


def conversations() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield name, observations and answerable questions of each conversation."""
    path = SHARED / "data/locomo/locomo5.json"
    for talk in json.loads(path.read_text("utf-8")) if path.exists() else []:
        seen = [item for session in talk["observation"].values() for part in session.values() for item in part]
        places = {place for _, where in seen for place in ([where] if isinstance(where, str) else where)}
        questions = [
            str(item["question"])
            for item in talk["qa"]
            if item["category"] != UNANSWERABLE and places & set(item["evidence"])
        ]
        yield talk["sample_id"], [text for text, _ in seen], questions


def stores(learned: Sequence[Path]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield name, texts and related questions of each store."""
    written = statements()
    if written:
        # Half of the words of every fifth statement, in their order: a question with the words that matter to someone.
        yield "statements", written, [" ".join(text.split()[::EVERY]) for text in written[::5]]
    yield from conversations()
    for path in learned:
        yield path.stem, json.loads(path.read_text("utf-8")), []


def silence(*learned: str) -> None:
    """Print one line for each store."""
    print(f"{'store':<14}{'memories':>9}{'unrelated':>10}{'related':>9}{'of all ranked':>20}")
    for name, texts, related in stores([Path(word) for word in learned]):
        shares = [answered(texts, UNRELATED), answered(texts, related)]
        ranked = [answered(texts, UNRELATED, 0.0), answered(texts, related, 0.0)]
        print(f"{name:<14}{len(texts):>9,}{shares[0]:>10.2f}{shares[1]:>9.3f}{ranked[0]:>13.2f}{ranked[1]:>7.3f}")


CASES = {"silence": silence}
