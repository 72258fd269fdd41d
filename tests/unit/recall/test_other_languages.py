"""Questions in German, Spanish and French: their function words find nothing, and their other words do."""

from __future__ import annotations

import pytest

from reverie.full_text_memory_recall import SearchIndex
from reverie.models import Memory, MemoryType
from support.corpus import by_id

AT = "2026-01-01T00:00:00.000Z"
TEXTS = {
    "wire": "Wire the tide gauge into the hook handlers",
    "tests": "Die Tests laufen mit `just test`",
    "pnpm": "Wir benutzen pnpm und nicht npm",
    "german": "Bitte antworte mir immer auf Deutsch",
    "war": "The war room of the harbour is on channel 5",
    "comment": "A comment says why, in one sentence",
    "mit": "The tide library has the MIT license",
    "port": "El puerto de la base de datos es 5544",
    "ferry": "Le calendrier des bacs est produit chaque nuit",
}


@pytest.fixture(scope="module")
def store() -> dict[str, Memory]:
    return {name: Memory(name, MemoryType.FACT, text, (), "facts/a.md", AT, AT) for name, text in TEXTS.items()}


@pytest.fixture(scope="module")
def index(store: dict[str, Memory]) -> SearchIndex:
    index = SearchIndex()
    index.add_many(store.values())
    return index


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        ("Wie starten wir die Tests?", ["starten", "tests"]),
        ("Soll das auch für uns so sein oder welche?", []),
        ("pnpm oder npm", ["npm", "pnpm"]),
        ("welche Sprache soll die Antwort haben", ["antwort", "sprache"]),
        ("¿Cuál es el puerto de la base de datos?", ["datos", "puerto"]),
        ("Comment est-ce que vous lancez notre calendrier ?", ["calendrier", "lancez"]),
        ("the war room", ["room", "war"]),
        ("how long is a comment", ["comment"]),
        ("which library has the MIT license", ["library", "license", "mit"]),
        ("put it on the todo list", ["todo"]),
        ("sans serif or serif", ["sans", "serif"]),
    ],
)
def test_topic_words(index: SearchIndex, question: str, topics: list[str]) -> None:
    """Function words are no topics; one that is an English or technical word too is one in an English question."""
    assert [word for word, _ in index.index.topic_words(question)] == topics


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Wie starten wir die Tests?", "tests"),
        ("pnpm oder npm", "pnpm"),
        ("welche Sprache soll die Antwort haben", "german"),
        ("¿Cuál es el puerto de la base de datos?", "port"),
        ("Quand est-ce que le calendrier est produit ?", "ferry"),
        ("the war room", "war"),
        ("wire the hook", "wire"),
    ],
)
def test_the_memory_about_it_is_first(index: SearchIndex, store: dict[str, Memory], question: str, first: str) -> None:
    hits = index.recall(question, by_id(store), limit=3).hits
    assert [hit.memory.id for hit in hits][:1] == [first]


@pytest.mark.parametrize(
    "question", ["wir oder die", "War das nicht so?", "¿y qué es esto?", "Comment est-ce pour vous ?"]
)
def test_function_words_alone_find_nothing(index: SearchIndex, store: dict[str, Memory], question: str) -> None:
    """A question of function words alone shows no memory: "wir" is not the stem of "wire"."""
    assert index.recall(question, by_id(store), limit=3).hits == []
