"""`MEMORY.md` with two writers: our lines follow the documents, all other lines stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.documents.index import BYTES_MAX, LINES_MAX, DocumentEntry, update_memory_list
from support.soak import count

ENTRIES = [
    DocumentEntry("episodes/2026-01.md", 900, "queue age fix"),
    DocumentEntry("facts/project.md", 210, "broker, release"),
    DocumentEntry("notes/a (b).md", 5, ""),
    DocumentEntry("facts/user.md", 320, "name,\nrole"),
]
OURS = """\
- [facts/user.md](facts/user.md) — name, role
- [facts/project.md](facts/project.md) — broker, release
- [episodes/2026-01.md](episodes/2026-01.md) — queue age fix
- [notes/a (b).md](<notes/a (b).md>)
"""
MANY = [DocumentEntry(f"facts/topic-{n:03}.md", n, "word " * 30) for n in range(400)]


def test_a_new_listing() -> None:
    """A new list has a heading and a link for each document, also for paths with a space or a bracket."""
    assert update_memory_list("", ENTRIES) == f"# Memory\n\n{OURS}"
    assert update_memory_list("", []) == ""
    assert update_memory_list(f"# Memory\n\n{OURS}", ENTRIES) == f"# Memory\n\n{OURS}"


def test_newest_first() -> None:
    """The project that changed last is first, then the person's files, each newest first; no line of others moves."""
    entries = [
        DocumentEntry("facts/user.md", 1, "Name: Ann", "2026-11-21T10:00:00.000Z"),
        DocumentEntry("facts/quarry/project.md", 1, "Stone is grey", "2026-11-20T10:00:00.000Z"),
        DocumentEntry("facts/harbour/project.md", 1, "Gates are green", "2026-11-19T10:00:00.000Z"),
        DocumentEntry("episodes/harbour-2026-11.md", 1, "Painted the gates", "2026-11-22T10:00:00.000Z"),
    ]
    order = ["episodes/harbour-2026-11.md", "facts/harbour/project.md", "facts/user.md", "facts/quarry/project.md"]
    listed = update_memory_list("", entries)
    assert re.findall(r"\((\S+)\)", listed) == order
    lines = listed.splitlines()[2:]
    theirs = "\n".join([lines[2], "- my own line", lines[3], lines[1], lines[0]]) + "\n"
    again = update_memory_list(theirs, entries)
    assert again.splitlines() == [lines[2], "- my own line", lines[0], lines[1], lines[3]]
    assert update_memory_list(again, entries) == again


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_of_other_writers_stay(ending: str, mark: str) -> None:
    """Lines of people and of Claude Code stay, and so does the order of ours."""
    text = """\
---
tags: x
---
#   My memory

* [facts/user.md](./facts/user.md) — of long ago
- [Deploy order](deploys.md) — tag first
-   [an old name](facts/gone.md) — nothing
- [kept](elsewhere/gone.md) — theirs

<!-- mine -->
See also [facts/user.md](facts/user.md).
1. [facts/user.md](facts/user.md)
- My list:
  - [facts/project.md](facts/project.md)

```
- [facts/user.md](facts/user.md)
```

the end"""
    expected = (
        text.replace(
            "* [facts/user.md](./facts/user.md) — of long ago", "* [facts/user.md](facts/user.md) — name, role"
        )
        .replace("name, role\n", "name, role\n" + OURS.split("\n", 1)[1])
        .replace("-   [an old name](facts/gone.md) — nothing\n", "")
    )
    found = update_memory_list(mark + text.replace("\n", ending), ENTRIES, {"facts/gone.md"})
    assert found == mark + expected.replace("\n", ending)
    assert update_memory_list(found, ENTRIES, {"facts/gone.md"}) == found


def test_our_lines_continue_a_persons_list() -> None:
    """Our lines are added directly after a list item, or after other text with an empty line between."""
    one = ENTRIES[1:2]
    line = "- [facts/project.md](facts/project.md) — broker, release"
    assert update_memory_list("- [a](a.md)\n\n", one) == f"- [a](a.md)\n{line}\n\n"
    assert update_memory_list("# Mine\n\nwords", one) == f"# Mine\n\nwords\n\n{line}"
    assert update_memory_list("\ufeff", one) == f"\ufeff# Memory\n\n{line}\n"
    assert update_memory_list(f"# Mine\n{line}", [], {"facts/project.md"}) == "# Mine\n"


def test_our_lines_go_before_an_unclosed_block() -> None:
    """With an unclosed code fence our lines go before it."""
    line = "- [facts/project.md](facts/project.md) — broker, release\n"
    assert update_memory_list("```\ncode\n", ENTRIES[1:2]) == f"{line}\n```\ncode\n"
    assert update_memory_list("---\na: b\n---\n```\n", ENTRIES[1:2]) == f"---\na: b\n---\n{line}\n```\n"


def test_an_item_with_further_lines_is_its_writers() -> None:
    """A person's list item of several lines counts as the entry of its document, and is not changed."""
    text = "- [facts/project.md](facts/project.md) — mine\n  with a word more\n"
    assert update_memory_list(text, ENTRIES[1:2]) == text


def test_a_line_with_a_marker_is_its_writers() -> None:
    """A line with a redaction marker is never changed; lines that we write have no markers."""
    text = OURS.replace("name, role", "password: [REDACTED:password]")
    assert update_memory_list(text, ENTRIES) == text
    marked = DocumentEntry("facts/user.md", 320, "[REDACTED:password] pricing")
    assert update_memory_list("", [marked]) == "# Memory\n\n- [facts/user.md](facts/user.md) — pricing\n"


def test_our_lines_are_not_duplicated() -> None:
    """A duplicate of one of our lines is removed."""
    assert update_memory_list(OURS + OURS, ENTRIES) == OURS


@pytest.mark.parametrize("entries", [MANY, [DocumentEntry(e.path, e.size, "x") for e in MANY]])
@pytest.mark.parametrize("text", ["", "# Mine\n\n" + "a line\n" * 50])
def test_the_listing_stays_small(entries: list[DocumentEntry], text: str) -> None:
    """At most 200 lines and 25,000 bytes; omitted lines are counted, and no other line is removed."""
    found = update_memory_list(text, entries)
    lines = found.splitlines()
    assert len(lines) <= LINES_MAX
    assert len(found.encode()) <= BYTES_MAX
    shown = sum(line.startswith("- [") for line in lines)
    assert lines[-1] == f"- … and {len(entries) - shown} more: memory_list names them all"
    assert shown > 90
    assert found.startswith(text)
    assert update_memory_list(found, entries) == found
    assert "more: memory_list" not in update_memory_list(found, entries[:3], [entry.path for entry in entries])


def test_a_text_that_is_too_large_already_is_left_alone() -> None:
    """A text above the limits is not cut, and gets no line of ours."""
    text = "a line\n" * 300
    assert update_memory_list(text, ENTRIES) == text
    assert update_memory_list(text + OURS, ENTRIES) == text


LINES = st.sampled_from(
    ["- [a](a.md)", OURS.splitlines()[0], "- [x](facts/user.md) y", "  more", "", "text", "```", "<!--", "-->", "# T",
     "---", "- … and 3 more: memory_list names them all", "- [g](facts/gone.md)", "* [](<notes/a (b).md>)", "> q"]
)  # fmt: skip


@settings(max_examples=count(120, 20_000), deadline=None)
@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"]), st.integers(0, 4))
def test_only_our_lines_ever_change(lines: list[str], ending: str, end: str, size: int) -> None:
    """Every document is listed or counted, a second call changes nothing, and other lines keep their order."""
    text = ending.join(lines) + end
    entries = ENTRIES[:size]
    found = update_memory_list(text, entries, {"facts/gone.md"})
    assert update_memory_list(found, entries, {"facts/gone.md"}) == found
    for entry in entries:
        assert entry.path in found
    ours = re.compile(r"[-*] (\[.*\]\(<?(facts/(user|gone|project)|episodes/2026-01|notes/)|… and)")
    theirs = [line for line in re.split(r"\r?\n", text) if not ours.match(line) and line]
    rest = iter(re.split(r"\r?\n", found))
    assert all(line in rest for line in theirs)
