"""The search in what was said: how much of what was asked for it finds, through a real daemon.

`locomo`: questions about long conversations, of which the evidence is known: the share of it among the best 5 and 10
messages, each conversation in a daemon of its own, then all in one. `weights`: the same questions in this process, with
the weights of `reverie.search.weights` chosen on all conversations but the one that is asked about.
`statements`: sentences that readers wrote down about recorded sessions: how often the best hits are of that session.
`sessions`: questions about single messages of recorded sessions (`session_questions.jsonl`; of an error text only where
it stands): how often that message, or one with the same text, is the first hit, among the first 5 and 10, for each
folder, beside FTS5 over the same messages; and how many unrelated prompts find nothing.
What needs data that is not here is skipped. How fast it is: `recall.searches`.
"""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
import statistics
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bench.run import program, say, skipped, spread, timed
from reverie import search
from reverie.client import Client
from reverie.embedding import Embedder, Vectors, configured
from reverie.embedding.table import numpy
from reverie.errors import EmbedderFailed
from reverie.models import Entry, EntryKind
from reverie.redact import Redactor
from reverie.search import weights
from reverie.store import Kind, Store, ThreadRecord
from reverie.text_index import Filter, Index
from reverie.usecases import search as use_search
from reverie.usecases.entries import speech_entry
from reverie.usecases.message_index import new_index
from reverie.usecases.message_search import MessageSearch, within
from support.daemon import Daemon, environment, running_daemon, scratch_home
from support.prose import UNRELATED
from support.shared import SHARED, real_sessions

GRID = {
    "WINDOW": (1.0, 1.5, 2.0),
    "SPEAKER": (2.0, 4.0),
    "ASKS": (-1.0, -2.0),
    "ANSWERS": (1.0, 2.0, 3.0),
    "SAME_DAY": (5.0, 9.0),
}
SIMILAR = (0.0, 5.0, 10.0, 20.0, 30.0, 40.0)
NEARS = (50, 100, 200)
T = TypeVar("T")
QUESTIONS = Path(__file__).with_name("session_questions.jsonl")
SESSION = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
Said = tuple[str, str, str, str]  # thread, time, text, id of the turn
Shares = tuple[float, float]  # of the evidence among the first 5 hits, and the first 10
Asked = list[tuple[str, set[str]]]  # question and the turns with its evidence


def conversations() -> list[tuple[list[Said], Asked]]:
    """Return the turns and questions of each LoCoMo conversation; an empty list if the data set is not installed."""
    path = SHARED / "data" / "locomo" / "locomo5.json"
    return [(list(turns(one)), asked(one)) for one in json.loads(path.read_bytes())] if path.exists() else []


def turns(conversation: dict[str, Any]) -> Iterator[Said]:
    """Yield each turn of a conversation: thread (one for each session), time, text with speaker, and turn id."""
    talk, name = conversation["conversation"], conversation["sample_id"]
    for number in itertools.count(1):
        if not isinstance(session := talk.get(f"session_{number}"), list):
            return
        said_at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in session:
            shown = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{shown}"
            yield f"{name}.{number}", said_at.isoformat(), text, f"{name}/{turn['dia_id']}"


def asked(conversation: dict[str, Any]) -> Asked:
    """Return the questions about a conversation that have evidence in it, each with the turns that are the evidence."""
    there = {turn for *_, turn in turns(conversation)}
    evidence = ({f"{conversation['sample_id']}/{turn}" for turn in each["evidence"]} for each in conversation["qa"])
    pairs = zip((each["question"] for each in conversation["qa"]), evidence, strict=True)
    return [(text, found & there) for text, found in pairs if found & there]


def append(client: Client, said: list[Said]) -> dict[tuple[str, int], str]:
    """Append every turn as a message to its thread; return the turn's id by thread and message number."""
    places: dict[tuple[str, int], str] = {}
    for thread, group in itertools.groupby(said, key=lambda turn: turn[0]):
        lines = list(group)
        client.create_thread(id=thread)
        roles = itertools.cycle(("user", "assistant"))
        messages = [{"role": next(roles), "content": text, "at": at} for _, at, text, _ in lines]
        first = client.append(thread, messages).first_seq
        places |= {(thread, first + number): turn for number, (*_, turn) in enumerate(lines)}
    return places


def shares(found: list[str], evidence: set[str]) -> tuple[float, float]:
    """Return the share of the evidence that is among the first 5 hits, and among the first 10."""
    return len(evidence & set(found[:5])) / len(evidence), len(evidence & set(found[:10])) / len(evidence)


def locomo() -> None:
    """Print the shares of evidence, each conversation alone, then all in one store."""
    data = conversations()
    if not data:
        skipped("evidence of questions", "../shared/data/locomo is not here")
        return
    for title, groups in (("one conversation", [[one] for one in data]), ("all in one store", [data])):
        results: list[Shares] = []
        times: list[float] = []
        for group in groups:
            with running_daemon() as daemon, Client(daemon.socket) as client:
                places: dict[tuple[str, int], str] = {}
                for said, _ in group:
                    places |= append(client, said)
                client.search("ready?")
                for text, evidence in (each for _, questions in group for each in questions):
                    ms, answer = timed(partial(client.search, text, limit=10))
                    hits = answer.hits
                    times.append(ms)
                    found = [places[hit.thread.id, hit.message.seq] for hit in hits if hit.thread and hit.message]
                    results.append(shares(found, evidence))
        five, ten = (statistics.mean(column) for column in zip(*results, strict=True))
        say(f"evidence of {len(results)} questions, {title}: R@5, R@10", five, ten)
        spread("  a search over the socket", times)


def tuned() -> None:
    """Print the shares of evidence found for each conversation with the weights that were best on the others."""
    data = conversations()
    if not data:
        return
    indexes = [index_of(said) for said, _ in data]
    table: dict[tuple[float, ...], list[Shares]] = {}
    before = {name: getattr(weights, name) for name in GRID}
    for values in itertools.product(*GRID.values()):
        for name, value in zip(GRID, values, strict=True):
            setattr(weights, name, value)
        table[values] = [
            asked_of(index, names, questions) for (index, names), (_, questions) in zip(indexes, data, strict=True)
        ]
    for name, value in before.items():
        setattr(weights, name, value)
    sizes = [len(questions) for _, questions in data]
    held_out(table, sizes, lambda best: ", ".join(f"{name} {value:g}" for name, value in zip(GRID, best, strict=True)))


def held_out(table: Mapping[T, list[Shares]], sizes: Sequence[int], shown: Callable[[T], str]) -> None:
    """Print the shares for each conversation with the setting that is best on the others, and their mean."""
    chosen: list[Shares] = []
    for left in range(len(sizes)):
        rest = [number for number in range(len(sizes)) if number != left]
        best = max(table, key=lambda setting: sum(sum(table[setting][number]) * sizes[number] for number in rest))
        chosen.append(table[best][left])
        say(f"chosen without conversation {left + 1}", shown(best))
    say("evidence, chosen on the others: R@5, R@10", *overall(chosen, sizes))


def overall(found: Sequence[Shares], sizes: Sequence[int]) -> Shares:
    """Return the means over all questions of the shares of each conversation."""
    five, ten = (sum(each[at] * size for each, size in zip(found, sizes, strict=True)) / sum(sizes) for at in (0, 1))
    return five, ten


def meaning(model: str = "") -> None:
    """Print the shares with an embedder (what `memory.embedder` takes) for each weight of similarity, and its cost."""
    data = conversations()
    try:
        embedder = configured(model, home=Path.home())
    except EmbedderFailed as error:
        skipped(f"search with {model}", f"{error.message}; {error.hint}")
        return
    if not data or embedder is None:
        skipped("evidence of questions", "../shared/data/locomo is not here, or no model is named")
        return
    table: dict[tuple[int, float], list[Shares]] = {one: [] for one in itertools.product(NEARS, SIMILAR)}
    for conversation in data:
        for setting, share in by_meaning(embedder, *conversation).items():
            table[setting].append(share)
    sizes = [len(questions) for _, questions in data]
    for (near, weight), found in table.items():
        say(f"nearest {near}, weight {weight:g}: R@5, R@10", *overall(found, sizes))
    held_out(table, sizes, lambda best: f"nearest {best[0]}, weight {best[1]:g}")


def by_meaning(embedder: Embedder, said: list[Said], questions: Asked) -> dict[tuple[int, float], tuple[float, float]]:
    """Return, for each setting, the mean shares of the expected messages among the best five and ten hits."""
    index, names = index_of(said)
    vectors = Vectors(numpy(), embedder.name, embedder.dimensions)
    ms, made = timed(lambda: embedder.embed([text for _, _, text, _ in said]))
    say(f"{len(said)} messages embedded, ms each", ms / len(said))
    for at, unit in enumerate(names):
        thread, _, number = unit.rpartition("/")
        vectors.add(thread, [(int(number), None)], made[at : at + 1])
    results: dict[tuple[int, float], list[Shares]] = {}
    for text, evidence in questions:
        how = search.surroundings_for(text)
        by_words = index.search_around(text, 10, how)
        nearest = vectors.near(embedder.embed([text])[0], max(NEARS))
        known = {hit.id for hit in by_words}
        others = Filter(ids=[unit for unit, _ in nearest if unit not in known])
        by_words += index.search_around(text, len(nearest), how, others)
        for near, weight in itertools.product(NEARS, SIMILAR):
            search.SIMILAR = weight  # type: ignore[misc]
            hits = search.fused(by_words, nearest[:near], 10)
            best = [names[hit.id] for hit in hits]
            results.setdefault((near, weight), []).append(shares(best, evidence))
    return {
        setting: (statistics.mean(five for five, _ in found), statistics.mean(ten for _, ten in found))
        for setting, found in results.items()
    }


def index_of(said: list[Said]) -> tuple[Index, dict[str, str]]:
    """Return a search index of a conversation's turns in this process, and the turn's id by the id of its unit."""
    index, names = new_index(), dict[str, str]()
    for _, group in itertools.groupby(said, key=lambda turn: turn[0]):
        for number, (thread, at, text, turn) in enumerate(group, 1):
            at_ms = int(datetime.fromisoformat(at).timestamp() * 1000)
            unit = search.message_unit(thread, None, Entry(EntryKind.SPEECH, seq=number, content=text), at_ms)
            assert unit is not None
            index.add(*unit)
            names[unit.id] = turn
    return index, names


def asked_of(index: Index, names: dict[str, str], questions: Asked) -> tuple[float, float]:
    """Return the mean shares of evidence among the first 5 and 10 hits, over the questions about a conversation."""

    def found(text: str) -> list[str]:
        return [names[hit.id] for hit in index.search_around(text, 10, search.surroundings_for(text))]

    results = [shares(found(text), evidence) for text, evidence in questions]
    five, ten = (statistics.mean(column) for column in zip(*results, strict=True))
    return five, ten


def written() -> None:
    """Print how often the session that a statement is about is the first hit, among the first 5 and the first 10."""
    path = SHARED / "data" / "gold" / "session_summaries.json"
    if not path.exists():
        skipped("statements about sessions", "../shared/data/gold is not here")
        return
    files = {name[0]: file for file in real_sessions() if (name := SESSION.search(file.name))}
    summaries = [(name[0], row["summary"]) for row in json.loads(path.read_bytes()) if (name := session_in(row))]
    asked_for = [(name, text) for name, summary in summaries if name in files for text in statements(summary) if text]
    described = [name for name in files if name in {name for name, _ in asked_for}]
    others = [name for name in files if name not in described]
    for chosen in (described + others[:8], described + others):
        ranks = asked_of_sessions({name: files[name] for name in chosen}, [text for _, text in asked_for])
        pairs = list(zip((name for name, _ in asked_for), ranks, strict=True))
        shares_of = [statistics.mean(name in found[:top] for name, found in pairs) for top in (1, 5, 10)]
        say(f"{len(pairs)} statements, {len(chosen)} sessions: top 1, 5, 10", *shares_of)


def sessions() -> None:
    """Print how often the message that is asked for is found by us and by FTS5, and how often silence is kept."""
    questions = [json.loads(row) for row in QUESTIONS.read_text("utf-8").splitlines()]
    files = [path for path in (SHARED / "data" / "transcripts").rglob("*.jsonl.gz") if path.parent.name != "codex"]
    rollouts = list((SHARED / "data" / "transcripts" / "codex").glob("*.jsonl.gz"))
    if not files or not rollouts:
        skipped("questions about sessions", "../shared/data/transcripts is not here")
        return
    with scratch_home() as home:
        daemon = Daemon(home, environment(home)).start()
        for client, paths in (("claude-code", files), ("codex", rollouts)):
            command = program("import", client, *map(str, paths))
            subprocess.run(command, env=daemon.env, check=True, capture_output=True)
        daemon.stop()
        with Store.open(home / "data" / "store", redactor=Redactor(())) as store:
            print_ranks(store, questions)


def print_ranks(store: Store, questions: list[dict[str, Any]]) -> None:
    """Print the ranks of the right messages of each side, which are asked in turns, and the silence of ours."""
    with store.reader("default") as reader:
        threads = [thread for _, thread in reader.records(ThreadRecord)]
        contents = {
            (thread.id, seq): entry.content
            for thread in threads
            for seq, data in reader.sealed_sequence(Kind.ENTRY, (thread.id,), after=0, through=thread.last_seq)
            if (entry := speech_entry(thread.id, seq, data)) is not None
        }
    texts = {place: text for place, content in contents.items() if (text := whole_text(content))}
    units = {place: text for place, content in contents.items() if (text := search.content_text(content))}
    ours, everything = MessageSearch(store), within(kind="message")
    ours.catch_up("default", float("inf"))

    def found(query: str) -> list[tuple[str, int]]:
        with store.reader("default") as reader:
            ask = partial(ours.messages, "default", query, within=everything)
            shown = use_search.message_hits(reader, query, ask, 10)
        return [(hit.thread.id, hit.message.seq) for hit in shown if hit.thread and hit.message]

    sides = {
        "ours": found,
        "FTS5 unicode61": fts5(texts, "unicode61"),
        "FTS5 porter": fts5(texts, "porter unicode61"),
        "FTS5 porter, shortened": fts5(units, "porter unicode61"),
    }
    ranks: dict[str, list[tuple[str, int]]] = {name: [] for name in sides}
    for row in questions:
        right, query = right_messages(row, threads, texts)
        for name, side in sides.items():
            places = side(query)
            ranks[name].append((row.get("project", ""), next((at for at, it in enumerate(places) if it in right), 99)))
    for name, of_side in ranks.items():
        for project in ("claude-code", "other", "codex", None):
            chosen = [rank for of, rank in of_side if project in (None, of)]
            shown = " / ".join(str(sum(rank < top for rank in chosen)) for top in (1, 5, 10))
            say(f"{name}, {project or 'all'}: of {len(chosen)} in top 1 / 5 / 10", shown)
    say(f"ours: silent on unrelated prompts, of {len(UNRELATED)}", sum(not found(text) for text in UNRELATED))


def whole_text(content: Any) -> str:
    """Return all text of a message, with calls and results of tools in full."""
    blocks = [] if isinstance(content, str) else content or []
    parts = [search.said_in(content)]
    parts += [search.said_in(block.get("content") or "") for block in blocks if block["type"] == "tool_result"]
    parts += [json.dumps(block.get("input"), ensure_ascii=False) for block in blocks if block["type"] == "tool_use"]
    return "\n".join(part for part in parts if part)


def right_messages(
    row: dict[str, Any], threads: list[ThreadRecord], texts: dict[tuple[str, int], str]
) -> tuple[set[tuple[str, int]], str]:
    """Return the messages that answer a question of `session_questions.jsonl`, and the question."""
    if "has" in row:
        return {place for place, text in texts.items() if row["has"] in text}, row["ask"]
    thread = next(thread.id for thread in threads if f"{row['session']}-" in (thread.source or ""))
    text = texts[thread, row["seq"]]
    start, length = row.get("cut", (0, len(text)))
    asked_for = text[start : start + length]
    query = row.get("ask", asked_for)
    return {
        place for place, other in texts.items() if asked_for == other or ("cut" in row and asked_for in other)
    }, query


def fts5(texts: dict[tuple[str, int], str], tokenizer: str) -> Callable[[str], list[tuple[str, int]]]:
    """Return a function that asks an FTS5 table of the texts, with any of the words."""
    places = list(texts)
    table = sqlite3.connect(":memory:")
    table.execute(f"CREATE VIRTUAL TABLE said USING fts5(text, tokenize='{tokenizer}')")
    table.executemany("INSERT INTO said(rowid, text) VALUES (?, ?)", enumerate(texts.values()))

    def best(query: str) -> list[tuple[str, int]]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        sql = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT 10"
        return [places[at] for (at,) in table.execute(sql, (words,))] if words else []

    return best


def session_in(row: dict[str, Any]) -> re.Match[str] | None:
    return SESSION.search(row["session_id"] or "")


def asked_of_sessions(files: dict[str, Path], texts: list[str]) -> list[list[str | None]]:
    """Return, for each text, the sessions of its ten best hits, from a daemon that has imported these sessions."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        command = program("import", "claude-code", *map(str, files.values()))
        subprocess.run(command, env=daemon.env, check=True, capture_output=True)
        of = {
            thread.id: session_of(thread.source or thread.id, set(files)) for thread in client.threads(limit=1000).items
        }
        answers = [client.search(text, limit=10).hits for text in texts]
    return [[of[hit.thread.id] for hit in hits if hit.thread is not None] for hits in answers]


def session_of(source: str, ids: set[str]) -> str | None:
    return next((name for name in ids if name in source), None)


def statements(summary: dict[str, Any]) -> Iterator[str]:
    """Yield the sentences of a written summary of a session."""
    learnt = summary.get("learnings") or {}
    yield summary.get("intent") or ""
    yield summary.get("outcome") or ""
    for part in ("repo", "workflow"):
        yield from learnt.get(part) or []
    for each in learnt.get("code") or []:
        yield each.get("finding", "") if isinstance(each, dict) else each
    yield from summary.get("friction") or []
    yield from summary.get("open_items") or []


CASES = {"locomo": locomo, "weights": tuned, "statements": written, "sessions": sessions, "meaning": meaning}
