"""Tests of the search index: matching, ranking, filters, and reproducible order."""

from __future__ import annotations

import threading

import pytest

from reverie.text_index import Filter, Index, IndexEntry


def make_index(*texts: str) -> Index:
    """Return an index of these texts, with their positions as ids."""
    made = Index()
    for number, text in enumerate(texts):
        made.add(f"t{number}", text)
    return made


def hit_ids(made: Index, query: str, limit: int = 10) -> list[str]:
    """Return the ids of the hits, in order."""
    return [hit.id for hit in made.search(query, limit)]


def test_rarer_terms_and_shorter_texts_come_first() -> None:
    """A text with the rare word of a query is first; texts without its words are not found; limits are obeyed."""
    made = make_index(
        "the redis cache", "a cache and another cache for every request that comes", "unrelated", "cache lines"
    )

    assert hit_ids(made, "redis cache")[0] == "t0"
    assert set(hit_ids(made, "redis cache")) == {"t0", "t1", "t3"}
    assert hit_ids(made, "nothing like it") == []
    assert hit_ids(made, "cache", 1) == hit_ids(made, "cache")[:1]
    assert made.search("cache", 0) == made.search("cache", -1) == []


def test_matched_words_are_reported_as_in_the_query() -> None:
    """Hits report the words of the query and not their stems; identifiers as written, with their parts."""
    (hit,) = make_index("set max_tokens and its libraries").search("maxTokens library", 1)

    assert {term for term, _ in hit.terms} == {"maxTokens", "max", "tokens", "library"}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("set maxTokens here", "max_tokens"),
        ("set max_tokens here", "maxTokens"),
        ("HTTPServerError raised", "http server error"),
        ("see src/context/preserved_tail.py", "tail.py"),
        ("kebab-case-name", "kebab case"),
        ("utf8 and base64url", "base64url"),
        ("libraries were cached", "library caching"),
        ("running tests", "test runs"),
        ("Größe ÜBERPRÜFEN", "überprüfen"),
        ("Cafe\u0301 Zoë", "café"),
        ("cafe on the corner", "café"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
        ("\uff26\uff35\uff2c\uff2c width", "full"),
        ("the URLs of it", "url"),
        ("เพราะฉะนั้น", "เพราะ"),
        ("API接続の失敗", "api"),
        ("fixed by 9cc68c8d01aa", "9cc68c8"),
        ("how to deploy", "deployments"),
        ("数据库连接失败", "数据库"),
        ("データベース接続", "接続"),
    ],
)
def test_words_match_in_other_forms(text: str, query: str) -> None:
    """Identifiers, paths, word endings, case and scripts without spaces match."""
    assert hit_ids(make_index("something else entirely", text), query) == ["t1"]


def test_tags_are_found() -> None:
    """A text that has a word as a tag is found by it, and ranked above a text that contains it once."""
    made = Index()
    made.add("tagged", "one two three", ["Deploy"])
    made.add("said", "deploy two three")

    assert hit_ids(made, "deploy") == ["tagged", "said"]


def test_documents_are_replaced_and_removed() -> None:
    """Replaced and removed texts are not found, and an unknown id cannot be removed."""
    made = make_index("old words", "other")
    made.add("t0", "new words")

    assert hit_ids(made, "old") == []
    assert hit_ids(made, "new") == ["t0"]
    assert len(made) == 2
    assert made.remove("t0")
    assert not made.remove("t0")
    assert hit_ids(made, "words") == []
    assert len(made) == 1


def test_concurrent_use() -> None:
    """Concurrent writers and readers lose no document."""
    made = Index()

    def work(thread: int) -> None:
        for number in range(200):
            made.add(f"{thread}-{number}", f"shared word{number}")
            made.search("shared", 3)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 800
    assert len(made.search("shared", 1000)) == 800


FILTERED = [
    IndexEntry("a", "deploy one", ["x"], ["type:fact", "tag:x"], 10),
    IndexEntry("b", "deploy two", [], ["type:fact", "tag:y"], 20),
    IndexEntry("c", "deploy three", [], ["type:pattern", "tag:x", "tag:y"], 30),
    IndexEntry("d", "deploy four"),
]


@pytest.mark.parametrize(
    ("within", "ids"),
    [
        (Filter(), "abcd"),
        (Filter(any_of=[["type:fact"]]), "ab"),
        (Filter(any_of=[["type:fact", "type:pattern"], {"tag:x"}]), "ac"),
        (Filter(any_of=[["tag:x"], ["tag:y"]]), "c"),
        (Filter(any_of=[[]]), ""),
        (Filter(any_of=[["type:none"]]), ""),
        (Filter(none_of=["tag:y", "type:none"]), "ad"),
        (Filter(ids={"b", "d", "z"}), "bd"),
        (Filter(ids=[]), ""),
        (Filter(since=20), "bc"),
        (Filter(before=20), "a"),
        (Filter(since=10, before=30), "ab"),
        (Filter(any_of=[["tag:y"]], ids=("a", "b"), since=1), "b"),
    ],
)
def test_filters(within: Filter, ids: str) -> None:
    """All conditions of a filter must hold; scores do not depend on it."""
    made = Index()
    made.add_many(FILTERED)
    scores = {hit.id: hit.score for hit in made.search("deploy", 10)}

    hits = made.search("deploy", 10, within)

    assert sorted(hit.id for hit in hits) == sorted(ids)
    assert all(hit.score == scores[hit.id] for hit in hits)
    assert len(made.search("deploy", 1, within)) == min(len(ids), 1)
