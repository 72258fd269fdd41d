"""Texts are found by what they say, best first, and always in the same order."""

from __future__ import annotations

import threading

import pytest

from reverie.rank import Filter, Hit, Index, IndexEntry


def index(*texts: str) -> Index:
    """An index of these texts, named by their position."""
    made = Index()
    for number, text in enumerate(texts):
        made.add(f"t{number}", text)
    return made


def found(made: Index, query: str, limit: int = 10) -> list[str]:
    """The ids of the hits, in order."""
    return [hit.id for hit in made.search(query, limit)]


def test_rarer_terms_and_shorter_texts_come_first() -> None:
    """A rare word weighs more than a common one, and the same word more in a shorter text."""
    made = index(
        "the redis cache", "a cache and another cache for every request that comes", "unrelated", "cache lines"
    )

    assert found(made, "redis cache")[0] == "t0"
    assert set(found(made, "redis cache")) == {"t0", "t1", "t3"}
    assert found(made, "nothing like it") == []
    assert found(made, "cache", 1) == found(made, "cache")[:1]
    assert made.search("cache", 0) == made.search("cache", -1) == []


def test_hits_explain_themselves() -> None:
    """The shares of the terms add up to the score, best first."""
    made = index("redis cache", "cache", "other")

    (hit,) = made.search("the Redis caches, cached", 1)

    assert [term for term, _ in hit.terms] == ["redis", "caches"]
    assert sum(share for _, share in hit.terms) == pytest.approx(hit.score)


def test_words_that_matched_are_named_as_they_were_asked() -> None:
    """Not by their stems; an identifier as it was written, beside its parts."""
    (hit,) = index("set max_tokens and its libraries").search("maxTokens library", 1)

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
def test_function_words_are_asked_for_only_when_nothing_else_is(query: str, best: str | None) -> None:
    """What is phrased like the query is no answer to it, unless the query has no other word."""
    made = Index()
    made.add("chat", "How about this logic, how do we do it, what is it, where do I know it from")
    made.add("tests", "Tests are run by make check")
    made.add("deploy", "Deployed with the release script to the staging machine of the club")
    made.add("me", "I am Mira, a teacher")

    hits = made.search(query, 10)

    assert (hits[0].id if hits else None) == best


def test_function_words_that_most_texts_hold_are_never_asked_for() -> None:
    """Of a query of function words alone, two that few texts hold must stand in an answer."""
    made = Index()
    for number in range(40):
        made.add(f"chat{number:02}", f"I am on it, who else would do number{number}")
    made.add("why", "why whose")

    assert made.search("who am I", 10) == []
    assert found(made, "why, whose") == ["why"]
    assert found(made, "why whom") == ["why"]
    assert found(made, "who did number7") == ["chat07"]


def test_equal_scores_are_ordered_by_id() -> None:
    """However the texts came in."""
    made = Index()
    for name in ("b", "c", "a"):
        made.add(name, "same words")

    assert found(made, "words") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("set maxTokens here", "max_tokens"),
        ("set max_tokens here", "maxTokens"),
        ("HTTPServerError raised", "http server error"),
        ("see src/context/tail.py", "tail.py"),
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
def test_words_meet_in_other_forms(text: str, query: str) -> None:
    """Identifiers, paths, endings, case and unspaced scripts."""
    assert found(index("something else entirely", text), query) == ["t1"]


def test_tags_are_found() -> None:
    """A tag counts as two mentions."""
    made = Index()
    made.add("tagged", "one two three", ["Deploy"])
    made.add("said", "deploy two three")

    assert found(made, "deploy") == ["tagged", "said"]


def test_adding_again_replaces_and_removing_forgets() -> None:
    """What was is not found any more, and what was never there cannot be removed."""
    made = index("old words", "other")
    made.add("t0", "new words")

    assert found(made, "old") == []
    assert found(made, "new") == ["t0"]
    assert len(made) == 2
    assert made.remove("t0")
    assert not made.remove("t0")
    assert found(made, "words") == []
    assert len(made) == 1


def test_it_may_be_used_from_several_threads() -> None:
    """Writers and readers at once lose nothing."""
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
def test_filters_let_through_what_they_name(within: Filter, ids: str) -> None:
    """Every part of a filter must hold; scores are those without it."""
    made = Index()
    made.add_many(FILTERED)
    scores = {hit.id: hit.score for hit in made.search("deploy", 10)}

    hits = made.search("deploy", 10, within)

    assert sorted(hit.id for hit in hits) == sorted(ids)
    assert all(hit.score == scores[hit.id] for hit in hits)
    assert len(made.search("deploy", 1, within)) == min(len(ids), 1)


def test_adding_many_is_adding_one_by_one() -> None:
    """The last of the same id stays, and its groups and time are those it came with last."""
    many, single = Index(), Index()
    records = [*FILTERED, IndexEntry("a", "deploy again", [], ["type:pattern"])]
    many.add_many(iter(records))
    for record in records:
        single.add(*record)

    for within in (Filter(), Filter(any_of=[["type:pattern"]]), Filter(since=0)):
        assert many.search("deploy again", 9, within) == single.search("deploy again", 9, within)
    assert [hit.id for hit in many.search("deploy", 9, Filter(any_of=[["type:fact"]]))] == ["b"]


def test_a_hit_is_a_value() -> None:
    """Its words are in a tuple, so that nothing that holds it can change it."""
    (hit,) = index("redis").search("redis", 1)

    assert isinstance(hit, Hit)
    assert isinstance(hit.terms, tuple)
    assert hash(hit) == hash(index("redis").search("redis", 1)[0])
