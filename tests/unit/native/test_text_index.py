"""Tests of the search index: matching, ranking, filters, and reproducible order."""

from __future__ import annotations

import threading

import pytest

from reverie.text_index import Filter, Hit, Index, IndexEntry


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


def test_term_scores_add_up() -> None:
    """The scores of a hit's terms add up to its score, and are listed highest first."""
    made = make_index("redis cache", "cache", "other")

    (hit,) = made.search("the Redis caches, cached", 1)

    assert [term for term, _ in hit.terms] == ["redis", "caches"]
    assert sum(share for _, share in hit.terms) == pytest.approx(hit.score)


def test_matched_words_are_reported_as_in_the_query() -> None:
    """Hits report the words of the query and not their stems; identifiers as written, with their parts."""
    (hit,) = make_index("set max_tokens and its libraries").search("maxTokens library", 1)

    assert {term for term, _ in hit.terms} == {"maxTokens", "max", "tokens", "library"}


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("how do we run the tests", "tests"),
        ("How about the deploy, what do I do?", "deploy"),
        ("I don't know where it is deployed", "deploy"),
        ("where is the zebra", None),
        ("how about that", "chat"),
        ("who am I", "me"),
    ],
)
def test_function_words_count_only_alone(query: str, best: str | None) -> None:
    """Function words are ignored unless the query has no other word."""
    made = Index()
    made.add("chat", "How about this logic, how do we do it, what is it, where do I know it from")
    made.add("tests", "Tests are run by make check")
    made.add("deploy", "Deployed with the release script to the staging machine of the club")
    made.add("me", "I am Mira, a teacher")

    hits = made.search(query, 10)

    assert (hits[0].id if hits else None) == best


def test_frequent_function_words_are_ignored() -> None:
    """Function words that most texts contain find nothing; rarer ones do, as does any other word beside them."""
    made = Index()
    for number in range(40):
        made.add(f"chat{number:02}", f"I am on it, who else would do number{number}")
    made.add("why", "why whose")

    assert made.search("who am I", 10) == []
    assert hit_ids(made, "why, whose") == ["why"]
    assert hit_ids(made, "why whom") == ["why"]
    assert hit_ids(made, "who did number7") == ["chat07"]


def test_equal_scores_are_ordered_by_id() -> None:
    """Equal scores are ordered by id, whatever the order of insertion."""
    made = Index()
    for name in ("b", "c", "a"):
        made.add(name, "same words")

    assert hit_ids(made, "words") == ["a", "b", "c"]


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


def test_batch_insertion_equals_single_insertions() -> None:
    """`add_many` gives the same index as `add` for each entry; the last entry of an id replaces earlier ones."""
    many, single = Index(), Index()
    records = [*FILTERED, IndexEntry("a", "deploy again", [], ["type:pattern"])]
    many.add_many(iter(records))
    for record in records:
        single.add(*record)

    for within in (Filter(), Filter(any_of=[["type:pattern"]]), Filter(since=0)):
        assert many.search("deploy again", 9, within) == single.search("deploy again", 9, within)
    assert [hit.id for hit in many.search("deploy", 9, Filter(any_of=[["type:fact"]]))] == ["b"]


def test_hits_are_immutable() -> None:
    """The terms of a hit are a tuple."""
    (hit,) = make_index("redis").search("redis", 1)

    assert isinstance(hit, Hit)
    assert isinstance(hit.terms, tuple)
    assert hash(hit) == hash(make_index("redis").search("redis", 1)[0])
