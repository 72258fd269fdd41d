"""The parser of documents: every kind of document, and any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.documents.edit import apply_changes
from reverie.documents.items import ParsedDocument, Update, Wording
from reverie.documents.layout import DocumentKind
from reverie.documents.parse import parse_document, parse_items
from support.document_cases import awkward_documents
from support.soak import count

FACTS = """\
# User Facts

> Summary: name, role

<!-- mine -->
- Name: Ada Moreau
* Role: maintains the *ingest* service #Work #api
  and its queue

## Places
+ Lisbon
  - near the river
1. numbered
- Updated: 2026-02-24
"""

EPISODES = """\
# 2026-02 Episodes

> Summary: queue age

- not told yet

## Queue age fix #ops
- Summary: stamp per attempt
- Date: 2026-02-24
- Problem: the alarm fired

### Later
A word more.

## A walk
"""

WHOLE = """\
---
name: deploy-order   # kebab
description: "How a release is cut: in order"
metadata:
  type: feedback
  modified: 2026-11-20T10:00:00Z
tags: [release, 'Ops']
---

Tag **first**, then build.

- [[pipeline]]

#ci #Git
"""


TEN = "one two three four five six seven eight nine ten…"


def said(page: ParsedDocument) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.content, item.tags) for item in page.items]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_each_bullet_of_a_file_of_facts_is_an_item(ending: str, mark: str) -> None:
    """Bullets with continuation lines are items; numbered lists and the Updated line are not."""
    text = mark + FACTS.replace("\n", ending)
    page = parse_document("facts/user.md", text)
    assert page.kind is DocumentKind.FACTS
    assert page.summary == "name, role"
    assert said(page) == [
        ("Name: Ada Moreau", ()),
        ("Role: maintains the *ingest* service #Work #api\nand its queue", ()),
        ("Lisbon\n- near the river", ()),
    ]
    assert page.items[0].text == f"- Name: Ada Moreau{ending}"
    assert all(item.title is None and item.fields == () for item in page.items)


def test_each_section_of_a_file_of_episodes_is_an_item() -> None:
    """An episode's item has the heading as title, all text below it as content, and its fields and tags."""
    page = parse_document("episodes/2026-02.md", EPISODES.replace("\n", "\r\n"))
    first, second = page.items
    assert (first.title, first.tags, first.type.value) == ("Queue age fix", ("ops",), "episode")
    assert first.fields == (("Summary", "stamp per attempt"), ("Date", "2026-02-24"), ("Problem", "the alarm fired"))
    assert first.content == (
        "- Summary: stamp per attempt\n- Date: 2026-02-24\n- Problem: the alarm fired\n\n### Later\nA word more."
    )
    assert (second.title, second.content, second.fields) == ("A walk", "", ())


def test_a_file_with_front_matter_is_one_item() -> None:
    """A file with front matter is one item: its name the title, its text the content, with tags from both."""
    page = parse_document("deploy-order.md", WHOLE)
    (item,) = page.items
    assert (item.start, item.end, item.text) == (0, len(WHOLE.encode()), WHOLE)
    assert item.title == "deploy-order"
    assert item.content == "Tag **first**, then build.\n\n- [[pipeline]]"
    assert item.tags == ("release", "ops", "ci", "git")
    assert item.fields == (
        ("description", "How a release is cut: in order"),
        ("metadata.type", "feedback"),
        ("metadata.modified", "2026-11-20T10:00:00Z"),
    )
    assert page.summary == "How a release is cut: in order"


def test_the_content_of_a_file_without_text_is_its_description() -> None:
    """The content of a file without text is its description, else its name."""
    head = "---\nname: x y\ntype: user\n{}---\n"
    assert said(parse_document("x.md", head.format("description: >-\n  two\n  lines\n"))) == [("two lines", ())]
    assert said(parse_document("x.md", head.format(""))) == [("x y", ())]
    assert said(parse_document("x.md", head.format("tags:\n  - a b\n  - '#c'\n") + "x\n")) == [("x", ("a b", "c"))]


@pytest.mark.parametrize(
    ("body", "content", "tags"),
    [
        ("Do not mock the DB. #testing #db", "Do not mock the DB.", ("testing", "db")),
        ("Why.\n\nUse it #Often", "Why.\n\nUse it", ("often",)),
        ("- one #first\n- two #second", "- one #first\n- two", ("second",)),
        ("words\n\n#alone", "words", ("alone",)),
        ("words #near\n\n#alone", "words #near", ("alone",)),
        ("Fixes #12", "Fixes #12", ()),
        ("Fixes #12 #ci", "Fixes #12", ("ci",)),
        ("Ask in #dev first", "Ask in #dev first", ()),
        ("Ask in \\#dev", "Ask in #dev", ()),
        ("- Channel: #dev", "- Channel: #dev", ()),
        ("one\n- #dev", "one\n- #dev", ()),
    ],
)
def test_tags_at_the_end_of_the_last_line(body: str, content: str, tags: tuple[str, ...]) -> None:
    """Tags at the end of a file or episode are read as tags, and are still tags after an update."""
    for ending in ("\n", "\r\n"):
        whole = f"---\nname: x\ntype: user\n---\n\n{body}\n".replace("\n", ending)
        episode = f"## Told\n{body}\n\n## Next\n- Lesson: x\n".replace("\n", ending)
        for path, text in (("x.md", whole), ("episodes/2026-02.md", episode)):
            page = parse_document(path, text)
            assert (page.items[0].content, page.items[0].tags) == (content, tags)
            words = Wording("New words.\n\nAsk #me", page.items[0].tags, page.items[0].title)
            ids = [str(at) for at, _ in enumerate(page.items)]
            after = apply_changes(path, text, ids, [Update("0", words)], day="2026-02-24").text
            assert after is not None
            assert said(parse_document(path, after))[0] == (words.content, tags)
            assert said(parse_document(path, after))[1:] == said(page)[1:]


def test_tags_stay_in_their_place() -> None:
    """A write keeps tags behind the last words or on a line of their own, as they were."""
    head = "---\nname: x\ntype: user\n---\n\n"
    for before, after in (("old #a", "new #a #b"), ("old\n\n#a", "new\n\n#a #b"), ("old", "new\n\n#a #b")):
        change = Update("0", Wording("new", ("a", "b")))
        assert apply_changes("x.md", f"{head}{before}\n", ["0"], [change], day="2026-02-24").text == f"{head}{after}\n"
    fenced = Update("0", Wording("```\nnew\n```", ("a",)))
    assert apply_changes("x.md", f"{head}old #a\n", ["0"], [fenced], day="2026-02-24").text == (
        f"{head}```\nnew\n```\n\n#a\n"
    )


def test_a_tag_is_no_part_of_a_field() -> None:
    """The last field of an episode has no tags, unless a tag is all of its value."""
    text = "## A #x\n- Summary: s #no\n- Lesson: mind the pipe #db #X\n\n## B\n- Channel: #dev\n"
    first, second = parse_document("episodes/2026-02.md", text).items
    assert first.fields == (("Summary", "s #no"), ("Lesson", "mind the pipe"))
    assert (first.tags, first.content) == (("x", "db"), "- Summary: s #no\n- Lesson: mind the pipe")
    assert (second.fields, second.tags) == ((("Channel", "#dev"),), ())


@pytest.mark.parametrize(
    ("path", "text", "summary"),
    [
        ("facts/a.md", "# A\n\n> Summary:  x, y \n", "x, y"),
        ("notes.md", "# one two three four five six seven eight nine ten eleven\n", TEN),
        ("notes.md", "> Summary:\n\n# B\n", "B"),
        ("notes.md", "no heading", ""),
        ("notes.txt", "# no markdown", ""),
        ("notes.md", "---\ndescription: what it is\n---\n# B\n", "what it is"),
        ("facts/a.md", "# A\n- Language: English\n- Colour: blue\n", "Colour: blue"),
        ("facts/a.md", "# A\n", "A"),
        ("facts/a.md", "> Summary: " + "word " * 30 + "\n", "word " * 9 + "word…"),
        ("facts/a.md", "> Summary: a b, c d, e f, g h, i j, k l\n", "a b, c d, e f, g h, i j, k l"),
    ],
)  # fmt: skip
def test_the_summary(path: str, text: str, summary: str) -> None:
    """The summary of a document is its summary line, else its description, a sentence or its first heading."""
    assert parse_document(path, text).summary == summary


@pytest.mark.parametrize(
    "line",
    [
        "- Updated: 2026-02-24",
        "* Updated: 0000-00-00",
        "- Updated: 2026-13-45",
        "-   Updated:2026-01-01  ",
        "-",
        "- \t",
    ],
)
def test_metadata_and_empty_items_are_no_memory(line: str) -> None:
    """The Updated line, valid date or not, and an empty item are no memories."""
    assert said(parse_document("facts/a.md", f"- a\n{line}\n- b\n")) == [("a", ()), ("b", ())]


@pytest.mark.parametrize("line", ["- Updated: today", "- Updated: 2026-02-24 by Ada", "- \\Updated: 2026-02-24"])
def test_other_words_about_an_update_are_a_memory(line: str) -> None:
    """Only the exact Updated line is metadata."""
    assert len(parse_document("facts/a.md", f"{line}\n").items) == 1


def check(path: str, text: str) -> None:
    """Assert that item spans are in order, disjoint and not empty, and have the items' text."""
    page = parse_document(path, text)
    assert parse_items(path, text) == page.items
    data = text.encode("utf-8", "replace")
    at = 0
    for item in page.items:
        assert at <= item.start < item.end <= len(data)
        assert data[item.start : item.end].decode() == item.text
        assert item.content.strip() or item.title
        at = item.end
    assert "\n" not in page.summary
    assert page == parse_document(path, text)


PATHS = ("facts/a.md", "episodes/2026-01.md", "a.md", "MEMORY.md", "a.json")


def test_the_awkward_files_are_read() -> None:
    """Every awkward document is parsed at every path, with and without front matter."""
    for data in awkward_documents().values():
        for errors in ("replace", "surrogateescape"):
            text = data.decode("utf-8", errors)
            for path in PATHS:
                check(path, text)
                check(path, f"---\nname: x\ntype: user\n---\n{text}")


lines = st.sampled_from(
    ["- a", "  b", "", "## S", "- Summary: x", "- Date: 2026-01-01", "# T", "> Summary: s", "---", "name: x", "-->",
     "type: user", "\ud800", "metadata:", "  type: user", "```", "<!--", "#a #b", "- #t", "- Updated: 2026-01-01"]
)  # fmt: skip
texts = st.text(max_size=200) | st.lists(lines, max_size=15).flatmap(
    lambda found: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda ending: ending.join(found))
)


@settings(max_examples=count(120, 20_000), deadline=None)
@given(st.sampled_from(PATHS), texts, st.sampled_from(["", "\ufeff"]))
def test_any_text_is_read(path: str, text: str, mark: str) -> None:
    """No text makes the parser raise, and each item's span has the item's text."""
    check(path, mark + text)
