"""One person who saves a file again and again: their own saves are never taken for what an old buffer had not seen."""

from __future__ import annotations

import pytest

from support.sync_sides import BASE, MINUTE, PATH, Sides, conflict_copies, sides_after_writes, text_after_save

FARM = BASE + "- The build farm is in Graz, queue linux-small.\n"
ARM = FARM.replace("linux-small", "linux-arm")
WAITS_MS = [100, 1_999, 2_000, 8_000, 60 * MINUTE]


def restored(first: str, *others: str) -> Sides:
    """Return sides of which agents wrote `first` and then the other texts, and an undo brought back `first`."""
    return sides_after_writes(first, *others, first)


def is_as_saved(sides: Sides, *texts: str, wait_ms: int) -> bool:
    """Return True if each text stays as a person saves it, without a notice, a copy or a second operation."""
    for text in texts:
        sides.now_ms += wait_ms
        before = sides.operation
        if text_after_save(sides, text) != text or sides.operation != before + 1:
            return False
    return sides.notices == [] and conflict_copies(sides) == []


@pytest.mark.parametrize("wait_ms", WAITS_MS)
@pytest.mark.parametrize("others", [("# x\n",), ("# x\n", "# y\n\n- Of something else\n"), (BASE,)])
def test_a_change_of_what_an_undo_restored_may_be_taken_back(others: tuple[str, ...], wait_ms: int) -> None:
    """Text that an undo restored is current: a person's change of it, and its way back, stay as they were saved."""
    sides = restored(FARM, *others)
    sides.now_ms += MINUTE

    assert is_as_saved(sides, ARM, FARM, ARM, wait_ms=wait_ms)


def test_a_change_may_be_taken_back_beside_another_one() -> None:
    """It also stays if the save that takes the change back has another edit, and if an agent has written since."""
    sides = restored(FARM, "# x\n")
    sides.now_ms += MINUTE
    assert text_after_save(sides, ARM) == ARM
    sides.now_ms += MINUTE
    sides.put(PATH, ARM + "- Agent: a line of some words\n")
    sides.settle()
    sides.now_ms += MINUTE

    back = FARM.replace("vim", "emacs") + "- Agent: a line of some words\n"
    assert text_after_save(sides, back) == back
    assert sides.notices == []


@pytest.mark.parametrize("wait_ms", [500, 5_000])
def test_many_saves_may_be_taken_back(wait_ms: int) -> None:
    """A person may go back to what an agent wrote before dozens of the person's own saves."""
    sides = sides_after_writes(FARM)
    sides.now_ms += MINUTE
    texts = [FARM.replace("Graz", f"Graz {'x' * number}") for number in range(1, 31)]
    assert is_as_saved(sides, *texts, FARM, *texts, wait_ms=wait_ms)

    sides.now_ms += wait_ms
    edited = FARM.replace("vim", "emacs")
    assert text_after_save(sides, edited) == edited


@pytest.mark.parametrize("wait_ms", WAITS_MS)
@pytest.mark.parametrize(
    "lines",
    [
        ("- Tea: black\n", "- Tea: green\n", "- Tea: black\n"),
        ("- Tea: black\n", "- Tea: blue\n", "- Tea: white, of today\n"),
        ("- Tea: green\n- milk\n", "- Tea: green\n", "- Tea: green\n- milk\n"),
        ("- m\n", "- mil\n", "- milk\n", "- milk two p\n", "- milk two pints\n"),
        ("- Tea: gre\n", "- Tea: green, n\n", "- Tea: green, no su\n", "- Tea: green, no sugar\n"),
        ("- お茶は緑\n", "- お茶は緑茶、砂糖\n", "- お茶は緑茶、砂糖なし\n"),
        ("- Die Bahn fährt um acht\n", "- Die Bahn fährt um neun\n", "- Die Bahn fährt um zehn\n"),
    ],
)
@pytest.mark.parametrize("by_agent", [False, True])
def test_a_person_alone_saves_what_they_like(lines: tuple[str, ...], *, by_agent: bool, wait_ms: int) -> None:
    """Lines that a person saves while typing, changes and takes away stay as saved, at any pace, without a notice."""
    sides, first = Sides(), BASE + "- Tea: green\n"
    if by_agent:
        sides.put(PATH, first)
    else:
        sides.save(PATH, first)
    sides.settle()
    sides.now_ms += MINUTE

    assert is_as_saved(sides, *(BASE + line for line in lines), wait_ms=wait_ms)


def test_a_line_of_an_agent_is_named_whatever_the_person_saved_before() -> None:
    """Of what a save lacks, the line of an agent is named, and not the person's own line that it has edited."""
    sides = sides_after_writes(BASE + "- Tea: green\n")
    sides.now_ms += MINUTE
    sides.put(PATH, BASE + "- Tea: green\n- Train: at nine\n")
    sides.settle()
    sides.now_ms += MINUTE
    text_after_save(sides, BASE + "- Tea: black\n- Train: at nine\n")
    sides.now_ms += MINUTE

    assert text_after_save(sides, BASE + "- Tea: blue\n") == BASE + "- Tea: blue\n"
    assert [notice.left_out for notice, _ in sides.notices] == [1]
    assert "- Train: at nine\n" in sides.versions[PATH][1].text
    assert "- Tea: b" not in sides.versions[PATH][1].text.replace("- Tea: blue\n", "")


def test_a_line_of_another_program_is_named() -> None:
    """A line that a script appended is named if a save without it has an edit: it may be of an old buffer."""
    sides = sides_after_writes(BASE)
    sides.now_ms += MINUTE
    text_after_save(sides, BASE + "- echoed by a script\n")
    sides.now_ms += MINUTE

    typed = BASE + "- typed by a person\n"
    assert text_after_save(sides, typed) == typed
    assert [notice.left_out for notice, _ in sides.notices] == [1]


def test_an_edit_of_the_line_from_before_is_named() -> None:
    """Of two edits of one line the first is named if the second was made to the line as it was before both."""
    sides = sides_after_writes(BASE + "- Server: green one\n")
    sides.now_ms += MINUTE
    text_after_save(sides, BASE + "- Server: green one with twelve disks\n")
    sides.now_ms += MINUTE

    other = BASE + "- Server: green one, old\n"
    assert text_after_save(sides, other) == other
    assert [notice.left_out for notice, _ in sides.notices] == [1]


def test_what_an_agent_replaced_last_shows_an_old_buffer() -> None:
    """A person changed a line, an undo restored it, and an agent replaced it: who has it again has an old buffer."""
    newest = BASE.replace("vim", "nano") + "- The build farm is in Linz, queue windows-large.\n- City: Oslo\n"
    sides = sides_after_writes(FARM)
    sides.now_ms += MINUTE
    text_after_save(sides, ARM)
    sides.now_ms += MINUTE
    for text in (FARM, newest):
        sides.put(PATH, text)
        sides.settle()
        sides.now_ms += MINUTE

    assert "- City: Oslo\n" in text_after_save(sides, FARM.replace("Ana", "Eva"))


def test_an_agents_write_between_two_saves_is_not_reverted() -> None:
    """The text from before an agent's write and a person's own saves is no undo, if it lacks the agent's line."""
    old = BASE.replace("# User\n", "# User\n\n> Summary: name, role\n")
    new = old.replace("name, role", "name, role, city") + "- City: Oslo\n"
    sides = sides_after_writes(old)
    sides.now_ms += MINUTE
    text_after_save(sides, old.replace("vim", "emacs"))
    sides.now_ms += MINUTE
    sides.put(PATH, new.replace("vim", "emacs"))
    sides.settle()
    sides.now_ms += MINUTE
    text_after_save(sides, new.replace("vim", "helix"))
    sides.now_ms += MINUTE

    assert "- City: Oslo\n" in text_after_save(sides, old.replace("vim", "emacs"))


EMIL = "- Emil owns the tests\n"
TEAM = "# Team\n\n- Anna owns the grammar.\n- Bertram owns the lexer.\n- Cleo owns the docs\n"
QUOTED = TEAM.replace("# Team\n", "# Team\n\n> Summary: Bertram owns the lexer.\n")


def merged_beside_an_agent(text: str) -> Sides:
    """Return sides after a save with "Berta" for "Bertram" that had not seen an agent's line of a second before."""
    sides = Sides()
    sides.save(PATH, text)
    sides.settle()
    sides.now_ms += MINUTE
    sides.put(PATH, text.replace("Summary: Bertram owns the lexer.", "Summary: Emil owns the tests") + EMIL)
    sides.settle()
    sides.now_ms += 1_000
    assert text_after_save(sides, text.replace("Bertram", "Berta")) == text.replace("Bertram", "Berta") + EMIL
    return sides


@pytest.mark.parametrize("wait_ms", WAITS_MS)
@pytest.mark.parametrize("text", [TEAM, QUOTED])
def test_a_merged_save_may_be_taken_back_in_an_editor_that_had_not_reloaded(text: str, wait_ms: int) -> None:
    """An undo in the editor, and a redo, change the person's own line; the agent's, which the editor lacks, stays."""
    sides = merged_beside_an_agent(text)
    for saved, pause_ms in ((text, wait_ms), (text.replace("Bertram", "Berta"), MINUTE), (text, wait_ms)):
        sides.now_ms += pause_ms
        assert text_after_save(sides, saved) == saved + EMIL
    assert conflict_copies(sides) == []


def test_a_merged_save_may_be_taken_back_beside_another_edit() -> None:
    """What a merged save replaced is there again because its author took it back, whatever else the save changes."""
    sides = merged_beside_an_agent(TEAM)
    sides.now_ms += 5_000

    edited = TEAM.replace("Anna", "Hanna")
    assert text_after_save(sides, edited) == edited + EMIL


def test_the_text_from_before_a_line_that_the_person_had_seen_is_no_undo_of_the_last_save() -> None:
    """The last save has an agent's line: a text from before that line is an old buffer."""
    old = QUOTED.replace("Bertram owns the lexer.", "Cleo owns the docs", 1)
    seen = old.replace("Summary: Cleo owns the docs", "Summary: Dora owns the build") + "- Dora owns the build\n"
    sides = sides_after_writes(old, seen)
    sides.now_ms += MINUTE
    sides.put(PATH, seen.replace("Summary: Dora owns the build", "Summary: Emil owns the tests") + EMIL)
    sides.settle()
    sides.now_ms += 1_000
    assert EMIL in text_after_save(sides, seen.replace("Bertram", "Berta"))
    sides.now_ms += MINUTE

    text = text_after_save(sides, old)
    assert EMIL in text
    assert "- Dora owns the build\n" in text


MOVED = "- Editor: helix, with plugins\n"
HELIX = BASE.replace("- Editor: vim\n", MOVED)


@pytest.mark.parametrize("pasted_first", [False, True])
@pytest.mark.parametrize("city", ["", "- City: Oslo\n"])
def test_an_edited_line_that_moves_to_another_file_is_not_named(city: str, *, pasted_first: bool) -> None:
    """It is in the other file, so it is not left out, and an undo for an agent's line has it there alone."""
    sides = sides_after_writes(BASE, BASE + city)
    sides.now_ms += MINUTE
    text_after_save(sides, HELIX + city)
    sides.now_ms += MINUTE

    sides.save("facts/other.md", f"# Other\n\n{MOVED}")
    if pasted_first:
        sides.settle()
        sides.now_ms += 1_000
    saved = HELIX.replace(MOVED, "- Shell: fish\n")
    assert text_after_save(sides, saved) == saved

    assert [notice.left_out for notice, _ in sides.notices] == ([1] if city else [])
    if city:
        assert sorted(sides.versions[PATH][1].text.splitlines()) == sorted((saved + city).splitlines())


@pytest.mark.parametrize(
    "copy", ["a.sync-conflict-20261201-000000-ABCDEFG.md", "a (ada's conflicted copy 2026-12-01).md"]
)
def test_a_line_that_only_a_conflict_copy_has_is_named(copy: str) -> None:
    """Another machine has a version without an agent's line, and the losing one is a copy, which no agent reads."""
    sides = sides_after_writes(BASE, BASE + EMIL)
    sides.now_ms += MINUTE
    sides.save(f"facts/{copy}", BASE + EMIL)
    text_after_save(sides, BASE.replace("vim", "helix"))
    assert [notice.left_out for notice, _ in sides.notices] == [1]
