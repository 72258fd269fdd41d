"""The kind of a document, and the type of its memories."""

from __future__ import annotations

import pytest

from reverie.documents.edit import apply_changes
from reverie.documents.escape import bullet
from reverie.documents.items import Delete
from reverie.documents.layout import DocumentKind, is_conflict_copy, kind_of
from reverie.documents.parse import ids_of_items, items_by_id, parse_document
from reverie.documents.revert import revert_change
from reverie.models import MemoryType

CLAUDE = "---\nname: deploys\ndescription: how a release is cut\nmetadata:\n  type: {}\n---\n\nTag first.\n"


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("facts/user.md", DocumentKind.FACTS),
        ("facts/teams/api.md", DocumentKind.FACTS),
        ("facts/notes.txt", DocumentKind.PLAIN),
        ("episodes/2026-02.md", DocumentKind.EPISODES),
        ("episodes/old/2026-02.md", DocumentKind.PLAIN),
        ("MEMORY.md", DocumentKind.PLAIN),
        ("api/MEMORY.md", DocumentKind.PLAIN),
        ("memory/long-term-memory.json", DocumentKind.PLAIN),
        ("notes/other.md", DocumentKind.PLAIN),
        ("facts/user.sync-conflict-20261121-093000-AB12.md", DocumentKind.PLAIN),
        ("episodes/2026-02 (conflicted copy 2026-02-03).md", DocumentKind.PLAIN),
        ("factsheets/user.md", DocumentKind.PLAIN),
    ],
)
def test_the_path_determines_the_kind(path: str, form: DocumentKind) -> None:
    """Markdown files in `facts/` and right in `episodes/` have memories; conflict copies and other files have none."""
    assert kind_of(path, "- a\n") is form


def test_front_matter_makes_a_file_one_memory() -> None:
    """Outside the two folders a file with a name and a type is a memory; inside them front matter is ignored."""
    assert kind_of("deploys.md", CLAUDE.format("project")) is DocumentKind.WHOLE
    assert kind_of("deploys.md", "\ufeff" + CLAUDE.format("project").replace("\n", "\r\n")) is DocumentKind.WHOLE
    assert kind_of("facts/deploys.md", CLAUDE.format("project")) is DocumentKind.FACTS
    assert kind_of("MEMORY.md", CLAUDE.format("project")) is DocumentKind.PLAIN
    assert kind_of("deploys.sync-conflict-20261121-093000-AB12.md", CLAUDE.format("project")) is DocumentKind.PLAIN


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: x\n---\n",
        "---\nmetadata:\n  type: user\n---\n",
        "---\nname: x\ntype: book\n---\n",
        "---\nname: x\ntype: user\n",
        "text\n---\nname: x\ntype: user\n---\n",
        "---\nname:\ntype: user\n---\n",
        "",
    ],
)
def test_other_front_matter_is_only_a_file(text: str) -> None:
    """Front matter without name or type, unclosed, not at the start, or of another program makes no memory."""
    assert kind_of("x.md", text) is DocumentKind.PLAIN


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("user", "fact"),
        ("feedback", "preference"),
        ("project", "fact"),
        ("reference", "fact"),
        ("'Feedback'", "preference"),
        ("procedure", "procedure"),
        ("of-tomorrow", "fact"),
    ],
)
def test_types_of_claude_code_are_mapped(kind: str, expected: str) -> None:
    """The type feedback is a preference; every other one, unknown ones included, is a fact."""
    assert parse_document("x.md", CLAUDE.format(kind)).items[0].type is MemoryType(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("user", "fact"),
        ("project", "fact"),
        ("preferences", "preference"),
        ("Preferences", "preference"),
        ("skills", "skill"),
        ("procedures", "procedure"),
        ("observations", "observation"),
        ("mistakes", "mistake"),
        ("team-habits", "fact"),
        ("teams/skills", "skill"),
    ],
)
def test_the_name_of_a_file_of_facts_determines_the_type(name: str, expected: str) -> None:
    """A file of facts with a name of its own is one more category of facts."""
    assert [item.type for item in parse_document(f"facts/{name}.md", "- a\n- b\n").items] == [MemoryType(expected)] * 2


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("facts/user.sync-conflict-20261121-093000-AB12.md", True),
        ("a (conflicted copy 2026-11-21).md", True),
        ("facts/user.reverie-new.md", True),
        ("facts/preferences (Ann's conflicted copy 2026-11-01).md", True),
        ("facts/preferences (case conflict).md", True),
        ("facts/preferences (Case Conflict 1).md", True),
        ("facts/user (conflicted copy 2026-11-21 101500).md", True),
        ("facts/user_conflict-20261121-101500.md", True),
        ("facts/user.conflict-20261121.md", True),
        ("facts/user (SFConflict ann@x.org 2026-11-21-10-15-00).md", True),
        ("facts/user [conflicted].md", True),
        ("facts/user_LAPTOP_Nov-01-1200-2026_Conflict.md", True),
        ("facts/user_LAPTOP_Nov-01-1200-2026_CaseConflict.md", True),
        ("facts/user_BACKUP_1234.md", True),
        ("facts/user.LOCAL.1234.md", True),
        ("facts/user_REMOTE_1234.md", True),
        ("facts/user.orig.md", True),
        ("facts/user.bak.md", True),
        ("facts/user~.md", True),
        ("facts/#user#.md", True),
        ("facts/user_local_2026.md", False),
        ("facts/user (Ann).md", False),
        ("facts/conflict.md", False),
        ("facts/conflicted-feelings.md", False),
        ("facts/backups.md", False),
        ("facts/sync-conflicts.md", False),
        ("x.sync-conflict-1/user.md", False),
    ],
)
def test_conflict_copies_are_known_by_their_name(path: str, expected: bool) -> None:  # noqa: FBT001  # one column of the table
    """Conflict copies of programs that sync and merge, and editors' backups, are recognised."""
    assert is_conflict_copy(path) is expected


def test_a_task_is_no_memory() -> None:
    """Bullets with a check box are none; a memory whose words begin like one is written so that it stays one."""
    text = "- Ann sails\n- [ ] buy tea\n* [x] sell the boat\n- [X] paint\n- [ ]\n- [x](https://x.org) is a link\n"
    assert [item.content for item in parse_document("facts/user.md", text).items] == [
        "Ann sails",
        "[x](https://x.org) is a link",
    ]
    for words in ("[ ] marks what is open", "[x]", "\\[x] y"):
        assert [item.content for item in parse_document("facts/user.md", bullet(words)).items] == [words]


def test_ids_that_an_older_version_gave_to_tasks_and_copies_are_dropped() -> None:
    """A stored document whose tasks, or whose lines as another program's copy, have ids can be written and reverted."""
    text = "- Ann sails\n- [ ] buy tea\n- Bob rows\n"
    changed = apply_changes("facts/user.md", text, ["a", "b", "c"], [Delete("a")], day="2026-11-21")
    assert (changed.text, changed.ids) == ("- [ ] buy tea\n- Bob rows\n", ("c",))
    assert list(items_by_id("facts/user.md", text, ["a", "b", "c"])) == ["a", "b", "c"]
    assert ids_of_items("facts/user_BASE_12.md", text, ["a", "b", "c"]) == ()
    assert revert_change("facts/user.md", None, (text, "abc"), (text, "abc"), day="2026-11-21") == (None, ())
