"""Rename detection between edited files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

import pytest

from reverie.sync.plan import Baseline, PathState, StoredDocument, Version
from reverie.sync.rename import similar_pairs
from support.sync_sides import BASE, PATH, agreed_sides, settled_text

VERSIONS = 8


class Read(str):
    """A string that counts how often `split` is called on it."""

    __slots__ = ("times",)
    times: int

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        """Count the call and split."""
        self.times = getattr(self, "times", 0) + 1
        return super().split(sep, maxsplit)


def text(document: int, edit: int) -> str:
    """Return a document with lines of its own, some of which were edited."""
    return "".join(f"- {document}, line {line}{f', edit {edit}' if line % 5 == 0 else ''}\n" for line in range(20))


def gone(document: int) -> PathState:
    """Return the state of a document whose file is missing; its versions count how often they are split."""
    texts = tuple(Version(edit, Read(text(document, edit))) for edit in range(VERSIONS, 0, -1))
    known = Baseline(f"a{document}.md", "x", VERSIONS)
    return PathState(known.path, StoredDocument(known.path, texts[0].text, VERSIONS), known, None, texts)


def times(cases: Sequence[PathState]) -> set[int]:
    """Return how often the versions of these documents were split."""
    return {each.text.times for case in cases for each in case.versions if isinstance(each.text, Read)}


def test_the_lines_of_a_text_are_counted_once_whatever_it_is_compared_with() -> None:
    """With many missing and new files each version is split into lines only once."""
    old = [gone(document) for document in range(9)]
    new = [PathState(f"b{document}.md", data=text(document, VERSIONS + 1).encode()) for document in range(9)]

    pairs = similar_pairs(old, new)

    assert {(pair.old.path, pair.new.path) for pair in pairs} == {(f"a{at}.md", f"b{at}.md") for at in range(9)}
    assert times(old) == {1}


def test_lines_count_as_often_as_they_are_there() -> None:
    """Two files are a rename if half of the longer text's lines are in both, each as often as it occurs."""
    old = [gone(0)]
    lines = text(0, VERSIONS).splitlines(keepends=True)

    assert similar_pairs(old, [PathState("b.md", data="".join(lines[:10]).encode())])
    assert not similar_pairs(old, [PathState("b.md", data="".join(lines[:9]).encode())])
    assert not similar_pairs(old, [PathState("b.md", data=(lines[1] * 20).encode())])


@pytest.mark.parametrize("first", ["rename", "write"])
@pytest.mark.parametrize("new", ["facts/me.md", "facts/User.md", "moved/facts/user.md"])
@pytest.mark.parametrize("edit", ["", "- Typed: by the person\n"])
def test_a_rename_beside_an_agents_write_is_one_file(first: str, new: str, edit: str) -> None:
    """A file is renamed, perhaps edited, while an agent writes to its old path: one document has all lines once."""
    sides = agreed_sides()
    renamed = sides.files.pop(PATH) + edit.encode()
    if first == "rename":
        sides.sync()  # the file is missing, and the new one has not been noticed yet
    sides.put(PATH, BASE.replace("vim", "nano") + "- Agent: wrote\n")
    sides.sync([PATH])
    sides.files[new] = renamed

    text = settled_text(sides, new)

    assert (sorted(sides.files), sides.text(PATH)) == ([new], None)
    assert sorted(text.splitlines()) == sorted(f"{BASE.replace('vim', 'nano')}- Agent: wrote\n{edit}".splitlines())


def test_a_deletion_beside_an_agents_write_is_taken_back() -> None:
    """A file that is gone without a new one is written again after the quiet period, with the agent's line."""
    sides = agreed_sides()
    del sides.files[PATH]
    sides.put(PATH, BASE + "- Agent: wrote\n")
    sides.sync([PATH])
    assert PATH not in sides.files
    assert settled_text(sides) == BASE + "- Agent: wrote\n"


def test_a_part_that_was_cut_out_is_no_rename() -> None:
    """Lines are cut into another file, and the rest is renamed: none is lost if only the other one is seen at first."""
    sides = agreed_sides()
    lines = BASE.splitlines(keepends=True)
    sides.put(PATH, BASE + "- Agent: wrote\n")
    sides.save(PATH, "".join(lines[:3]))
    sides.sync()
    sides.save("facts/rest.md", sides.files.pop(PATH).decode())
    sides.save("facts/part.md", "# Part\n\n" + "".join(lines[3:]))
    sides.sync([PATH, "facts/part.md"])
    sides.settle()

    found = [line for data in sides.files.values() for line in data.decode().splitlines() if line.startswith("- ")]
    assert sorted(sides.files) == ["facts/part.md", "facts/rest.md"]
    assert sorted(found) == sorted([*BASE.splitlines()[2:], "- Agent: wrote"])


def test_a_save_that_is_moved_before_its_merge_is_written_is_one_save() -> None:
    """What the merge kept of an agent stays, in the renamed file: its bytes again are no second save without it."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Agent: wrote\n")
    sides.save(PATH, "".join(BASE.splitlines(keepends=True)[:4]))
    assert sides.steps(sides.plan())[0]()
    sides.save("facts/me.md", sides.files.pop(PATH).decode())

    text = settled_text(sides, "facts/me.md")

    assert text == "".join(BASE.splitlines(keepends=True)[:4]) + "- Agent: wrote\n"
    assert sorted(sides.files) == ["facts/me.md"]


def test_a_line_that_a_merge_kept_is_moved_also_where_its_file_is_renamed() -> None:
    """A line is cut out, kept by a merge, and pasted elsewhere, and its file is renamed: the line is there once."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Agent: wrote\n")
    sides.sync()
    sides.save(PATH, BASE)
    sides.sync()
    assert sides.text(PATH) == BASE + "- Agent: wrote\n"
    sides.save("facts/part.md", "# Part\n\n- Agent: wrote\n")
    sides.save("facts/me.md", sides.files.pop(PATH).decode())
    sides.sync([PATH, "facts/part.md"])
    sides.settle()

    assert sides.files == {"facts/me.md": BASE.encode(), "facts/part.md": b"# Part\n\n- Agent: wrote\n"}
