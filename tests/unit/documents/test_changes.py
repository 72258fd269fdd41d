"""Memories written as documents: the exact formats, and the smallest edits of existing documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.documents.edit import apply_changes, new_document
from reverie.documents.header import refresh_header
from reverie.documents.items import Add, Change, ChangedDocument, Delete, Update, Wording
from reverie.documents.parse import parse_document
from reverie.errors import ValidationError

GOLDEN = Path(__file__).parent / "golden"
DAY = "2026-11-21"
TOLD = {
    "facts/user.md": [
        Wording("Name: Ada Moreau"),
        Wording("Role: maintains the ingest service", ("work",)),
        Wording("Time zone: Europe/Lisbon"),
    ],
    "facts/project.md": [
        Wording("Integration tests need a running broker", ("tests", "broker")),
        Wording("Releases are cut from `stable`, never from main", ("release",)),
    ],
    "facts/mistakes.md": [Wording("Do not rebase stable: the mirror rejects it", ("git", "release"))],
    "facts/procedures.md": [Wording("To cut a release:\n1. tag it\n\n```sh\nmake release\n```", ("release",))],
    "facts/preferences.md": [Wording("- answers as lists, #short"), Wording("---\nas a line")],
    "facts/skills.md": [Wording("# headings in heredocs need quoting"), Wording("Updated: 2026-02-03")],
    "facts/team-habits.md": [Wording("Reviews arrive on Tuesdays")],
    "episodes/2026-02.md": [
        Wording(
            "Retried jobs kept their first timestamp",
            ("queue",),
            "Queue age fix",
            (
                ("Lesson", "Age belongs to the attempt,\nnot to the job"),
                ("Summary", "retry kept old timestamp → stamp per attempt"),
                ("Date", "2026-02-24"),
                ("Problem", "The age alarm fired for retried jobs"),
                ("Solution", "Store enqueued_at for each attempt"),
                ("Pull request", "none"),
            ),
        ),
        Wording(
            "Moved the ingest settings from environment variables to one file that is checked at start",
            title="Settings file #3",
            day="2026-02-11",
        ),
    ],
}


@pytest.mark.parametrize("path", TOLD)
def test_a_new_document_equals_its_golden_file(path: str) -> None:
    """Every kind of document equals its golden file, byte for byte."""
    items = [(f"mem_{number}", words) for number, words in enumerate(TOLD[path])]
    made = new_document(path, items, day="2026-02-20")
    assert made.text == (GOLDEN / path).read_text("utf-8")
    assert sorted(made.ids) == [name for name, _ in items]


MARKED = "\ufeff" + (
    "---\nmine: 1\n---\n#  About   me\n\n\n>  Summary:\told  \n\nA word before.\n\n<!-- mine -->\n"
    "*  Name:   Ada #Me\n*  Role: engineer\n\n   - with a list\n\n## More\n+ Likes tea\n"
    "- Updated:  2020-01-01\n\n\n```\n- no item\n```\nThe end"
).replace("\n", "\r\n")


def test_an_update_changes_its_block_the_summary_and_the_day() -> None:
    """An update changes only its block, the summary and the day, also with BOM, CRLF, front matter or comments."""
    after = apply_changes(
        "facts/user.md", MARKED, ["a", "b", "c"], [Update("c", Wording("Likes: coffee", ("Cup",)))], day=DAY
    )
    assert after.ids == ("a", "b", "c")
    assert after.text == MARKED.replace("+ Likes tea", "+ Likes: coffee #cup").replace(
        "\told", "\tLikes: coffee"
    ).replace("2020-01-01", DAY)


def test_a_new_fact_goes_behind_the_last_one() -> None:
    """A new fact is written after the last fact with its list mark, and before the Updated line."""
    after = apply_changes("facts/user.md", MARKED, ["a", "b", "c"], [Add("d", Wording("Cat: Ulla"))], day=DAY)
    assert after.ids == ("a", "b", "c", "d")
    assert after.text is not None
    assert "+ Likes tea\r\n+ Cat: Ulla\r\n- Updated:  2026-11-21\r\n" in after.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\n- Updated: 2020-01-01\n", "# A\n\n- x\n- Updated: 2026-11-21\n"),
        ("- Updated: 2020-01-01\n", "- Updated: 2026-11-21\n- x\n"),
        ("words", "words\n\n- x"),
        ("- a\n- Updated: 2020-01-01\n- b\n", "- a\n- x\n- Updated: 2026-11-21\n- b\n"),
        ("- Updated: 2020-01-01\n- b\n", "- Updated: 2026-11-21\n- b\n- x\n"),
        ("```\nopen", "- x\n\n```\nopen"),
        ("- a\n  ```\n", "- a\n  ```\n- x\n"),
    ],
)
def test_where_a_new_fact_goes(text: str, expected: str) -> None:
    """A new fact goes to its place in a file without facts, and after an unclosed block at the end."""
    ids = [f"id{number}" for number, _ in enumerate(parse_document("facts/a.md", text).items)]
    assert apply_changes("facts/a.md", text, ids, [Add("new", Wording("x"))], day=DAY).text == expected


def test_nothing_is_put_into_a_file_that_never_had_it() -> None:
    """A new fact adds no heading, summary or Updated line to a file; a refresh adds the summary line alone."""
    assert apply_changes("facts/a.md", "- a\n", ["a"], [Add("b", Wording("b"))], day=DAY).text == "- a\n- b\n"
    assert refresh_header("facts/a.md", "- Tea: green\n", day=DAY) == "> Summary: Tea: green\n\n- Tea: green\n"
    hidden = "- my key is [REDACTED:aws-key-id] for prod\n"
    assert refresh_header("facts/a.md", hidden, day=DAY) == f"> Summary: my key is for prod\n\n{hidden}"


def test_an_empty_file_is_written_like_a_new_one() -> None:
    """An empty file is written as a new document."""
    new = [("b", Wording("b"))]
    for text in ("", "\n\n", "\ufeff"):
        assert apply_changes("facts/a.md", text, [], [Add("b", Wording("b"))], day=DAY) == new_document(
            "facts/a.md", new, day=DAY
        )


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("# User Facts\n\n> Summary: a\n\n- a\n- Updated: 2020-01-01\n", True),
        ("- a\n", True),
        ("# About me\n\n- a\n", False),
        ("# User Facts\n\n- a\n\nwords\n", False),
        ("# User Facts\n\n- a\n## More\n", False),
        ("<!-- mine -->\n- a\n", False),
    ],
)
def test_a_document_goes_with_its_last_item(text: str, goes: bool) -> None:  # noqa: FBT001  # one column of the table
    """A document is deleted with its last item if it has no other text."""
    after = apply_changes("facts/user.md", text, ["a"], [Delete("a")], day=DAY)
    assert after.ids == ()
    assert (after.text is None) is goes


EPISODES = "# 2026-11 Episodes\n\n> Summary: x\n\n## One\n- Summary: 1\n- Date: 2026-11-03\n\n## Two\n- Summary: 2\n"


@pytest.mark.parametrize(
    ("day", "order"), [("2026-11-02", "new a b"), ("2026-11-03", "a b new"), ("2026-11-30", "a b new")]
)
def test_a_new_episode_goes_behind_those_of_its_day(day: str, order: str) -> None:
    """A new episode goes after those of its day; one without a date counts to the day of the episode before."""
    words = Wording("Walked far", title="A walk", day=day)
    after = apply_changes("episodes/2026-11.md", EPISODES, ["a", "b"], [Add("new", words)], day=DAY)
    assert " ".join(after.ids) == order
    assert after.text is not None
    section = f"## A walk\n- Summary: Walked far\n- Date: {day}\n"
    without = after.text.replace(f"{section}\n", "").replace(f"\n{section}", "")
    assert without == EPISODES.replace(
        "> Summary: x", "> Summary: " + parse_document("episodes/x.md", after.text).summary
    )


def test_an_episode_keeps_the_text_below_its_fields() -> None:
    """New words of an episode that form one section are written as they are, others as fields."""
    body = "- Summary: told again\n- Date: 2026-11-03\n\n### Later\n\nMore words."
    after = apply_changes(
        "episodes/2026-11.md", EPISODES, ["a", "b"], [Update("a", Wording(body, title="One"))], day=DAY
    )
    assert after.text == EPISODES.replace("- Summary: 1\n- Date: 2026-11-03", body).replace(": x", ": Two")
    open_ = Wording("- Summary: told\n```\nopen", title="One")
    after = apply_changes("episodes/2026-11.md", EPISODES, ["a", "b"], [Update("a", open_)], day=DAY)
    assert after.text is not None
    assert [item.title for item in parse_document("episodes/2026-11.md", after.text).items] == ["One", "Two"]
    assert "- Summary: told\n" in after.text
    assert "- Note: ```\n  open\n" in after.text


TOLD_ONCE = "## Logger fix #ops\n- Summary: s\n- Date: 2026-09-24\n- Problem: leaks\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        tuple(["- Summary: s\n- Date: 2026-09-24\n- Problem: it leaks"] * 2),
        ("- Summary: t\n- Date: 2026-09-25", "- Summary: t\n- Date: 2026-09-25"),
        ("- Summary: t\n- Lesson: look", "- Summary: t\n- Date: 2026-09-24\n- Lesson: look"),
        ("- Summary: t", "- Summary: t\n- Date: 2026-09-24"),
        ("- Problem: it leaks", "- Summary: s\n- Date: 2026-09-24\n- Problem: it leaks"),
        ("- Date: 2026-09-25\n- Problem: x", "- Summary: s\n- Date: 2026-09-25\n- Problem: x"),
        ("Moved to syslog", "- Summary: Moved to syslog\n- Date: 2026-09-24"),
        ("One.\n\n- two\n- three", "- Summary: One. two three\n- Date: 2026-09-24\n\nOne.\n\n- two\n- three"),
        ("- Problem: x\n```\nopen", "- Summary: s\n- Date: 2026-09-24\n- Problem: x\n- Note: ```\n  open"),
    ],
)
def test_an_update_replaces_the_fields_of_an_episode(content: str, expected: str) -> None:
    """An update keeps only the summary and day, and those only if the new words name none."""
    had = parse_document("episodes/2026-09.md", TOLD_ONCE).items[0]
    words = Wording(content, had.tags, had.title, had.fields)
    after = apply_changes("episodes/2026-09.md", TOLD_ONCE, ["a"], [Update("a", words)], day=DAY)
    assert after.text == f"## Logger fix #ops\n{expected}\n"
    item = parse_document("episodes/2026-09.md", after.text).items[0]
    again = Update("a", Wording(item.content, ("ops", "new"), item.title, item.fields))
    retold = apply_changes("episodes/2026-09.md", after.text, ["a"], [again], day=DAY)
    assert retold.text == after.text.replace("#ops", "#ops #new")


def test_a_file_that_is_one_memory() -> None:
    """The text below the front matter is replaced; the file is deleted as a whole and cannot have a second memory."""
    text = "---\r\nname: x\r\ntype: user\r\ntags: [a]\r\n---\r\n\r\n\r\nold\r\nwords\r\n\r\n"
    update = Update("id", Wording("new\n\nwords", ("a", "b")))
    after = apply_changes("x.md", text, ["id"], [update], day=DAY)
    assert after == ChangedDocument(text.replace("old\r\nwords", "new\r\n\r\nwords\r\n\r\n#b"), ("id",))
    assert apply_changes("x.md", text, ["id"], [Delete("id")], day=DAY) == ChangedDocument(None, ())
    bare = "---\nname: x\ntype: user\n---"
    assert apply_changes("x.md", bare, ["id"], [Update("id", Wording("w"))], day=DAY).text == f"{bare}\n\nw\n"
    assert refresh_header("x.md", text, day=DAY) == text


@pytest.mark.parametrize(
    ("path", "ids", "plan", "reason"),
    [
        ("facts/a.md", ["a"], [Delete("a")], "stale"),
        ("facts/a.md", ["a", "b"], [Delete("c")], "unknown_id"),
        ("facts/a.md", ["a", "b"], [Delete("a"), Update("a", Wording("x"))], "changed_twice"),
        ("facts/a.md", ["a", "b"], [Add("a", Wording("x"))], "duplicate_id"),
        ("facts/a.md", ["a", "b"], [Add("c", Wording("x")), Add("c", Wording("y"))], "duplicate_id"),
        ("facts/a.md", ["a", "b"], [Update("a", Wording(" \n\x00"))], "no_words"),
        ("facts/a.md", ["a", "b"], [Add("c", Wording("\u2003", title="a bullet has no title"))], "no_words"),
        ("notes.md", [], [Add("a", Wording("x"))], "no_memories"),
        ("episodes/x.md", [], [Add("a", Wording("x"))], "breaks_out"),
    ],
)
def test_invalid_changes_are_refused(path: str, ids: list[str], plan: list[Change], reason: str) -> None:
    """Invalid changes raise with a reason and a hint, and change nothing."""
    text = "- a\n- b\n" if path.startswith("facts") else "```\n"
    with pytest.raises(ValidationError) as refused:
        apply_changes(path, text, ids, plan, day=DAY)
    assert refused.value.details["reason"] == reason
    assert refused.value.details["hint"]


def test_a_new_document_has_to_be_one_of_memories() -> None:
    """A new document outside facts and episodes is refused."""
    with pytest.raises(ValidationError, match=r"notes\.md holds no memories"):
        new_document("notes.md", [("a", Wording("x"))], day=DAY)
    whole = "---\nname: x\ntype: user\n---\nold\n"
    with pytest.raises(ValidationError, match="is one memory"):
        apply_changes("x.md", whole, ["a"], [Add("b", Wording("x"))], day=DAY)


@pytest.mark.parametrize(
    ("text", "summary", "expected"),
    [
        ("# A\n- x: y\n", None, "# A\n\n> Summary: x: y\n\n- x: y\n"),
        ("# A\n\n- x: y\n", None, "# A\n\n> Summary: x: y\n\n- x: y\n"),
        ("# A", None, "# A"),
        ("# A\r\n\r\n>Summary:\r\n- x: y", None, "# A\r\n\r\n>Summary: x: y\r\n- x: y"),
        ("- x: y\n# A", None, "- x: y\n# A\n\n> Summary: x: y\n"),
        ("> Summary: x\n- x: y\n- Updated: 2026-01-01", "1,\n2", "> Summary: 1, 2\n- x: y\n- Updated: 2026-11-21"),
        ("> Summary: x\n- x: y\n", "a " * 12, "> Summary: a a a a a a a a a a…\n- x: y\n"),
        ("> Summary: x\n- x: y\n", " ", "> Summary: x: y\n- x: y\n"),
        ("# A\nwords\n", "told", "# A\n\n> Summary: told\n\nwords\n"),
        ("```\n", "told", "> Summary: told\n\n```\n"),
    ],
)  # fmt: skip
def test_a_refreshed_document(text: str, summary: str | None, expected: str) -> None:
    """A refresh writes a sentence or the given summary into the header; repeated it changes nothing."""
    assert refresh_header("facts/a.md", text, day=DAY, summary=summary) == expected
    assert refresh_header("facts/a.md", expected, day=DAY, summary=summary) == expected


def test_other_files_are_refreshed_only_when_asked() -> None:
    """A refresh of another file writes only a given summary, and only into markdown."""
    assert refresh_header("notes.md", "> Summary: x\n- a: b\n- Updated: 2020-01-01\n", day=DAY).startswith(
        "> Summary: x\n"
    )
    assert refresh_header("notes.md", "# A\n", day=DAY, summary="y") == "# A\n\n> Summary: y\n"
    assert refresh_header("notes.txt", "> Summary: x\n", day=DAY, summary="y") == "> Summary: x\n"


@pytest.mark.parametrize(
    ("text", "plan", "expected"),
    [
        ("- a\n - b\n\n  apart\n", [Delete("id1")], "- a\n<!-- -->\n\n  apart\n"),
        ("<pre>\n\n- a\n- b\n", [Update("id1", Wording("x </pre> y"))], "- x </pre> y\n\n<pre>\n\n- a\n"),
        ("<pre>\n\n- a\n", [Add("new", Wording("x </pre> y"))], "- x </pre> y\n\n<pre>\n\n- a\n"),
    ],
)
def test_items_are_parted_where_they_would_run_into_one(text: str, plan: list[Change], expected: str) -> None:
    """Where items would run together, an empty line, a comment or another place keeps them apart."""
    ids = [f"id{number}" for number, _ in enumerate(parse_document("facts/a.md", text).items)]
    assert apply_changes("facts/a.md", text, ids, plan, day=DAY).text == expected


class _CountedId(str):
    """An id that counts the comparisons of ids."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        _CountedId.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_many_changes_of_a_long_document_do_not_search_it_for_each() -> None:
    """Deleting half of a thousand memories from a document compares ids fewer than ten thousand times."""
    ids = [_CountedId(f"mem_{number}") for number in range(1_000)]
    text = "# Facts\n\n" + "".join(f"- fact {number} of the gate\n" for number in range(1_000))
    _CountedId.compared = 0
    changed = apply_changes("facts/project.md", text, ids, [Delete(name) for name in ids[::2]], day=DAY)
    assert changed.ids == tuple(ids[1::2])
    assert _CountedId.compared < 10 * len(ids)
