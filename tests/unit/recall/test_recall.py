"""Recall: ranking, matched words, filters, limits, order of ties, and changes of the index."""

from __future__ import annotations

from typing import Any

import pytest

from reverie import tokenizer
from reverie.models import Memory, MemoryType, WorkingState
from reverie.text_recall import query_for, recall_line
from support.corpus import Corpus, build_index

AT = "2026-01-01T00:00:00.000Z"


def memory(
    memory_id: str, content: str, kind: MemoryType = MemoryType.FACT, tags: tuple[str, ...] = (), **more: Any
) -> Memory:
    return Memory(memory_id, kind, content, tags, "facts/project.md", AT, AT, **more)


PARSER = memory("m1", "The parser lives in src/parse.py", tags=("parser", "layout"))
TESTS = memory("m2", "Run the tests with make test", MemoryType.PROCEDURE, ("testing",))
RETRY = memory("m3", "Never retry a failed payment in the parser", MemoryType.MISTAKE, ("payment", "parser"))
ALL = (PARSER, TESTS, RETRY)


def ids_found(corpus: Corpus, query: str, **more: Any) -> list[str]:
    return [hit.memory.id for hit in corpus.search(query, **more)]


def test_ranking_by_shared_words() -> None:
    """The memory that shares most of the query's words is first; one that shares none is not found."""
    corpus = build_index(ALL)
    assert ids_found(corpus, "where is the parser layout")[0] == "m1"
    assert ids_found(corpus, "payment retry") == ["m3"]
    assert ids_found(corpus, "zebra") == []
    assert ids_found(corpus, "  ") == []
    assert ids_found(build_index([]), "parser") == []


def test_a_hit_lists_its_matched_words() -> None:
    """The contributions of the matched words add up to the score, the greatest first."""
    [hit] = build_index(ALL).search("retry the payment")
    assert {"payment"} <= {word for word, _ in hit.why}
    assert sum(part for _, part in hit.why) == pytest.approx(hit.score)
    assert [part for _, part in hit.why] == sorted((part for _, part in hit.why), reverse=True)
    assert hit.tokens == tokenizer.count(recall_line(RETRY)) + 1


def test_function_words_are_ignored() -> None:
    """A question matches by the words it is about, listed as they are written in it."""
    chat = memory("chat", "How about this logic: how do we do it, and what is it?")
    [hit] = build_index([*ALL, chat]).search("How do we run the tests?")
    assert hit.memory is TESTS
    assert {word for word, _ in hit.why} == {"run", "tests"}


def test_types_and_tags_filter() -> None:
    """A memory must have one of `types` and all of `tags`; filtered ones do not count for the limit."""
    corpus = build_index(ALL)
    assert ids_found(corpus, "parser", types=[MemoryType.MISTAKE]) == ["m3"]
    assert ids_found(corpus, "parser", tags=["parser", "payment"]) == ["m3"]
    assert ids_found(corpus, "parser", tags=["absent"]) == []
    crowd = build_index([*(memory(f"a{number:03}", "parser parser parser") for number in range(200)), RETRY])
    assert ids_found(crowd, "parser", limit=1, types=[MemoryType.MISTAKE]) == ["m3"]


def test_limit_and_token_budget() -> None:
    """A search returns at most `limit` hits and `token_budget` tokens; after a long hit a short one may fit."""
    corpus = build_index([memory("long", "parser " * 300), *ALL])
    assert len(ids_found(corpus, "parser", limit=1)) == 1
    assert ids_found(corpus, "parser", limit=0) == []
    assert set(ids_found(corpus, "parser", token_budget=60)) == {"m1", "m3"}
    assert ids_found(corpus, "parser", token_budget=0) == []


def test_ties_are_ordered_by_id() -> None:
    """Equal memories come in the order of their ids, however they were added."""
    same = [memory(f"m{number}", "the same words") for number in (3, 1, 2)]
    assert (
        ids_found(build_index(same), "same words")
        == ids_found(build_index(same[::-1]), "same words")
        == ["m1", "m2", "m3"]
    )


def test_changes_are_visible_to_the_next_search() -> None:
    """Added memories are found, replaced ones by their new words only, removed ones never."""
    corpus = build_index(ALL)
    corpus.add(memory("m1", "The lexer lives in src/lex.py"))
    corpus.remove("m3")
    corpus.remove("never there")
    assert ids_found(corpus, "parser") == []
    assert ids_found(corpus, "lexer") == ["m1"]
    assert len(corpus) == 2
    fresh = build_index([memory("m1", "The lexer lives in src/lex.py"), TESTS])
    assert [hit.score for hit in fresh.search("lexer tests")] == [hit.score for hit in corpus.search("lexer tests")]


def test_a_line_names_type_and_origin() -> None:
    """A recalled memory is one markdown item with type and document; further lines are indented below it."""
    assert recall_line(PARSER) == "- [fact · facts/project.md] The parser lives in src/parse.py"
    assert recall_line(memory("m", "one\n\n  two")) == "- [fact · facts/project.md] one\n  two"
    episode = memory(
        "e",
        "",
        MemoryType.EPISODE,
        title="Port the parser",
        fields=(("Summary", "parser ported"), ("Lesson", "test it")),
    )
    assert (
        recall_line(episode)
        == "- [episode · facts/project.md] Port the parser\n  Summary: parser ported\n  Lesson: test it"
    )
    assert ids_found(build_index([episode]), "ported lesson") == ["e"]


def test_the_query_of_a_context() -> None:
    """The query of a context is task, next step and last user message, of which a long one has only both ends."""
    state = WorkingState(current_task="port the parser", next_steps=("run the tests", "commit"))
    assert query_for(state, " and quickly ") == "port the parser\nrun the tests\nand quickly"
    assert query_for(WorkingState(), "") == ""
    long = query_for(state, "begin " + "log line\n" * 9_000 + " end")
    assert len(long) < 2_100
    assert long.startswith("port the parser\nrun the tests\nbegin")
    assert long.endswith("end")
