"""Questions in German, Spanish and French: their function words find nothing, and their other words do."""

from __future__ import annotations

import pytest

from reverie.models import Memory, MemoryType
from reverie.text_recall import SearchIndex
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
    ("question", "words"),
    [
        ("Wie starten wir die Tests?", "starten Tests"),
        ("pnpm oder npm", "pnpm npm"),
        ("welche Sprache soll die Antwort haben", "Sprache Antwort"),
        ("¿Cuál es el puerto de la base de datos?", "puerto base datos"),
        ("Comment est-ce que vous lancez notre calendrier ?", "lancez calendrier"),
        ("how long is a comment", "comment"),
    ],
)
def test_function_words_do_not_count(index: SearchIndex, question: str, words: str) -> None:
    """A question finds what its other words find, as relevant."""
    whole, bare = index.index.search(question, 10), index.index.search(words, 10)
    assert [(hit.id, hit.relevance) for hit in whole] == [(hit.id, hit.relevance) for hit in bare] != []


def test_unknown_words_do_not_count_beside_a_known_name() -> None:
    """A name in code is found by a question whose other words no text has; without a name they count against it."""
    index = SearchIndex()
    index.add_many(Memory(str(n), MemoryType.FACT, f"text {n}", (), "facts/a.md", AT, AT) for n in range(50))
    name = Memory("name", MemoryType.FACT, "`loadConfig` fails on a broken gauge", (), "facts/a.md", AT, AT)
    index.add(name)
    for question in (
        "warum bricht loadConfig immer wieder zusammen",
        "почему падает load_config",
        "loadConfig が失敗する",
    ):
        assert index.recall(question, by_id({"name": name}), limit=3).hits, question
    assert index.recall("warum bricht gauge immer wieder zusammen", by_id({"name": name}), limit=3).hits == []


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
