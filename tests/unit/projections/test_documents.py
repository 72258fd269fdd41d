"""Memories as documents: the exact formats, and that the block parser reads the same words back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.blocks import BlockKind, parse
from reverie.documents.lines import clean, tag, unescaped
from reverie.documents.topics import WORDS_MAX
from reverie.models import Memory, MemoryType
from reverie.projections import documents, long_term_memory, summary_of
from support.soak import count

GOLDEN = Path(__file__).parent / "golden"
DAY = "2026-02-20T08:00:00.000Z"


def memory(number: int, kind: str, document: str, content: str, **more: object) -> Memory:
    given_: dict[str, object] = {"tags": (), "created_at": DAY, "updated_at": DAY, "order": number}
    return Memory(f"mem_{number}", MemoryType(kind), content, document=document, **(given_ | more))  # type: ignore[arg-type] # the table above has the types


MEMORIES = (
    memory(0, "fact", "facts/user.md", "Name: Ada Moreau"),
    memory(1, "fact", "facts/user.md", "Role: maintains the ingest service", tags=("work",)),
    memory(2, "fact", "facts/user.md", "Time zone: Europe/Lisbon", updated_at="2026-02-24T23:59:59.999Z"),
    memory(3, "fact", "facts/project.md", "Integration tests need a running broker", tags=("tests", "broker")),
    memory(4, "fact", "facts/project.md", "Releases are cut from `stable`, never from main", tags=("release",)),
    memory(5, "mistake", "facts/mistakes.md", "Do not rebase stable: the mirror rejects it", tags=("git", "release")),
    memory(
        6,
        "procedure",
        "facts/procedures.md",
        "To cut a release:\n1. tag it\n\n```sh\nmake release\n```",
        tags=("release",),
    ),
    memory(7, "preference", "facts/preferences.md", "- answers as lists, #short"),
    memory(8, "skill", "facts/skills.md", "# headings in heredocs need quoting"),
    memory(9, "observation", "facts/team-habits.md", "Reviews arrive on Tuesdays"),
    memory(
        10,
        "episode",
        "episodes/2026-02.md",
        "Retried jobs kept their first timestamp",
        title="Queue age fix",
        fields=(
            ("Lesson", "Age belongs to the attempt,\nnot to the job"),
            ("Summary", "retry kept old timestamp → stamp per attempt"),
            ("Date", "2026-02-24"),
            ("Problem", "The age alarm fired for retried jobs"),
            ("Solution", "Store enqueued_at for each attempt"),
            ("Pull request", "none"),
        ),
    ),
    memory(
        11,
        "episode",
        "episodes/2026-02.md",
        "Moved the ingest settings from environment variables to one file that is checked at start",
        title="Settings file #3",
        provenance={"at": "2026-02-11T10:00:00.000Z"},
    ),
    memory(12, "fact", "notes/own-file.md", "A file with front matter of its own"),
)


def test_the_documents_are_as_the_golden_files_say() -> None:
    """Every kind of document, byte for byte; files that are a memory of their own are not written."""
    found = documents(reversed(MEMORIES))
    assert list(found) == sorted(found)
    assert {path: text.decode() for path, text in found.items()} == {
        str(path.relative_to(GOLDEN)): path.read_text("utf-8") for path in sorted(GOLDEN.glob("*/*.md"))
    }


def test_the_json_projection_is_as_the_golden_file_says() -> None:
    """Sorted by id, without access counts: reading changes nothing in it."""
    expected = (GOLDEN / "long-term-memory.json").read_bytes()
    assert long_term_memory(MEMORIES[:2]) == expected
    read_often = [replace(item, access_count=9, last_accessed_at=DAY) for item in MEMORIES[1::-1]]
    assert long_term_memory(read_often) == expected


words = st.text(alphabet=st.sampled_from("ab#- \n\t`>*+1.:|<\\éß\u3042"), max_size=30)
contents = (
    words | st.text(max_size=40) | st.sampled_from(["---", "- - -", "#x", "a #b #c", "```\ncode", "x\r\ny", "\ud800"])
)
tag_lists = st.lists(st.sampled_from(["tests", "C/C++", "café", "42", "a b", "UPPER", "x" * 80]), max_size=3)


@settings(max_examples=count(150, 5000), deadline=None)
@given(st.lists(st.tuples(contents, tag_lists), min_size=1, max_size=5))
def test_each_fact_is_read_back_as_one_block(items: list[tuple[str, list[str]]]) -> None:
    """Whatever a memory says, it is one bullet, its words come back, and so do its tags."""
    facts = [memory(n, "fact", "facts/x.md", content, tags=tuple(tags)) for n, (content, tags) in enumerate(items)]
    blocks = parse(documents(facts)["facts/x.md"], sections=False)
    bullets = [block for block in blocks if block.kind is BlockKind.BULLET]
    assert [block.kind for block in blocks if block.kind not in {BlockKind.BULLET, BlockKind.OPAQUE}] == [
        BlockKind.TITLE,
        BlockKind.SUMMARY,
    ]
    assert len(bullets) == len(items) + 1
    assert bullets[-1].text == "Updated: 2026-02-20"
    for block, (content, tags) in zip(bullets, items, strict=False):
        assert unescaped(block.text) == clean(content)
        if clean(content):
            assert list(block.tags) == list(dict.fromkeys(word for word in map(tag, tags) if word))


@settings(max_examples=count(150, 5000), deadline=None)
@given(st.lists(st.tuples(contents, contents, contents, contents), min_size=1, max_size=4))
def test_each_episode_is_read_back_as_one_section(tales: list[tuple[str, str, str, str]]) -> None:
    """Whatever an episode says, it is one section with a Summary and a Date, in the order of the format."""
    found = [
        memory(n, "episode", "episodes/2026-02.md", content, title=title, fields=(("Solution", value), (key, "x")))
        for n, (content, title, key, value) in enumerate(tales)
    ]
    blocks = parse(documents(found)["episodes/2026-02.md"], sections=True)
    sections = [block for block in blocks if block.kind is BlockKind.SECTION]
    assert len(sections) == len(tales)
    for section in sections:
        keys = [key for key, _ in section.fields]
        assert keys[0] == "Summary"
        assert "Date" in keys
        assert section.tags == ()


@settings(max_examples=count(100, 2000), deadline=None)
@given(st.lists(contents, min_size=1, max_size=30))
def test_a_summary_has_at_most_ten_words(items: list[str]) -> None:
    """It is on one line, never empty, and found again."""
    text = documents(memory(n, "fact", "facts/x.md", content) for n, content in enumerate(items))["facts/x.md"].decode()
    summary = summary_of(text)
    assert 0 < len(summary.split()) <= WORDS_MAX


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# A\n\n> Summary:  x, y \n", "x, y"),
        (
            "# The title of a file that has no summary line at all anywhere\n",
            "The title of a file that has no summary line",
        ),
        ("> Summary:\n\n# B\n", "B"),
        ("no heading", ""),
    ],
)
def test_the_summary_of_anybodys_file(text: str, summary: str) -> None:
    """The summary line, else the first heading in at most ten words, else nothing."""
    assert summary_of(text) == summary
