"""The summary of a document: a sentence of its newest memory in that memory's words, cut at a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.documents.header import patch_text
from reverie.documents.parse import parse_document
from reverie.documents.summary import WORDS_MAX, at_most, sentence, shortened, summary_line
from reverie.errors import ValidationError
from reverie.tools.memory import MemoryToolError, replaced


@pytest.mark.parametrize(
    ("fact", "summary"),
    [
        ("Dependencies are pinned", "Dependencies are pinned"),
        ("Uses bun. Tests run nightly.", "Uses bun."),
        ("Since v1.2 e.g. `make test` runs all", "Since v1.2 e.g. make test runs all"),
        ("**Time Zone:** Europe/Lisbon #clock", "Time Zone: Europe/Lisbon"),
        ("先启动数据库。然后运行测试。", "先启动数据库。"),
        (
            "Never deploy on a Friday, or on the day before any holiday",
            "Never deploy on a Friday, or on the day before…",
        ),
        ("The password is [REDACTED:password]", "The password is"),
    ],
)
def test_a_fact_gives_its_first_sentence(fact: str, summary: str) -> None:
    """It is quoted, without emphasis, tags and redaction markers, and cut at a word behind the tenth."""
    assert summary_line(parse_document("facts/a.md", f"- {fact}\n").items) == summary


def test_the_newest_memory_is_told() -> None:
    """Of facts the last one, of episodes the title of the last one; a document without memories has no sentence."""
    assert summary_line(parse_document("facts/a.md", "- Tea is green\n- Coffee is black\n").items) == "Coffee is black"
    episodes = "## Logger leak\n- Summary: x\n\n## Short ids for threads\n- Summary: y\n"
    assert summary_line(parse_document("episodes/2026-02.md", episodes).items) == "Short ids for threads"
    assert summary_line([]) == ""


@given(st.text())
def test_a_summary_is_short_and_one_line(text: str) -> None:
    """At most ten words and 120 characters on one line, the same when it is shortened again; lists stay lists."""
    short = shortened(text)
    assert len(short.split()) <= WORDS_MAX
    assert len(short) <= 120
    assert "\n" not in short
    assert shortened(short) == short
    assert at_most(at_most(text)) == at_most(text)


@given(st.lists(st.text(min_size=1), max_size=4))
def test_a_summary_is_of_one_memory(facts: list[str]) -> None:
    """The summary is the sentence of a memory that the document has."""
    items = parse_document("facts/a.md", "".join(f"- {' '.join(fact.split())}\n" for fact in facts)).items
    line = summary_line(items)
    assert not line or line in map(sentence, items)


QUOTED = "# A\n\n> Summary: The gate is green\n\n- Tea is hot\n- The gate is green\n"


def test_a_quoted_memory_is_patched_where_it_stands() -> None:
    """A text that the summary line quotes is that of the memory; the line itself can be named, two memories cannot."""
    red = QUOTED.replace("- The gate is green", "- The gate is red")
    assert patch_text(QUOTED, [("The gate is green", "The gate is red"), ("hot", "hot")]) == (red, 2)
    assert replaced("/memories/a.md", QUOTED, "gate is green", "gate is red")[0] == red
    assert patch_text(QUOTED, [("Summary: The gate is green", "Summary: mine")])[0] == QUOTED.replace(
        "Summary: The gate is green", "Summary: mine"
    )
    twice = QUOTED + "- The gate is green\n"
    with pytest.raises(ValidationError):
        patch_text(twice, [("gate is green", "gate is red")])
    with pytest.raises(MemoryToolError, match="Multiple occurrences"):
        replaced("/memories/a.md", twice, "gate is green", "gate is red")
