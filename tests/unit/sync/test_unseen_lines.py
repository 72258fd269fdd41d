"""Saves that lack newer lines: evidence of an unseen write, the two seconds, and lines that are left out and named."""

from __future__ import annotations

import pytest

from reverie.sync.plan import SaveNotice
from support.sync_sides import BASE, MINUTE, PATH, conflict_copies, sides_after_writes, text_after_save

ADDED = BASE + "- Tea: green, without sugar\n"
# As agents write files of facts: each write renews the summary, so a stale buffer has the old one again.
OLD = BASE.replace("# User\n", "# User\n\n> Summary: name, language, role\n")
NEW = ADDED.replace("# User\n", "# User\n\n> Summary: name, language, role, tea\n")


@pytest.mark.parametrize("later_ms", [0, 1_999])
def test_a_line_that_is_missing_within_two_seconds_was_not_seen(later_ms: int) -> None:
    """A line younger than two seconds that a save lacks is kept, where the texts do not show if it was seen."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms += later_ms

    assert text_after_save(sides, BASE.replace("vim", "emacs")) == ADDED.replace("vim", "emacs")
    assert [notice for notice, _ in sides.notices] == [SaveNotice(PATH, kept=1)]


@pytest.mark.parametrize("later_ms", [2_000, 60 * MINUTE])
def test_a_line_that_is_missing_later_is_left_out_and_named(later_ms: int) -> None:
    """An older line that a save lacks is left out and named; the version before it has the line for an undo."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms += later_ms

    assert text_after_save(sides, BASE.replace("vim", "emacs")) == BASE.replace("vim", "emacs")
    assert [notice for notice, _ in sides.notices] == [SaveNotice(PATH, left_out=1)]
    assert sides.versions[PATH][1].text == ADDED.replace("vim", "emacs")
    left_out = sides.baselines[PATH].left_out
    assert left_out is not None
    assert (left_out.operation, left_out.lines) == (sides.operation, 1)


def test_a_deletion_of_the_newest_line_holds() -> None:
    """A deletion in a save that has the newest summary line holds without a notice: its writer saw the new text."""
    sides = sides_after_writes(OLD, NEW)
    sides.now_ms += 500
    without = NEW.replace("- Tea: green, without sugar\n", "")

    assert text_after_save(sides, without) == without
    assert sides.notices == []


def test_a_deletion_with_its_summary_line_holds() -> None:
    """A save without a summary line two seconds after a write deletes lines, and the deletion is named."""
    sides = sides_after_writes(OLD, NEW)
    sides.now_ms += 2_000

    assert text_after_save(sides, "# User\n\n- Name: Ana\n") == "# User\n\n- Name: Ana\n"
    assert [notice.left_out for notice, _ in sides.notices] == [1]


def test_an_echo_between_hides_nothing() -> None:
    """A stale buffer after an `echo >>` deletes neither the echoed line nor three lines of agents."""
    texts = [OLD]
    for number in range(3):
        summary = f"> Summary: name, language, role, {number}"
        texts.append(f"{texts[-1]}- Line {number} of an agent\n".replace(texts[-1].split("\n")[2], summary))
    sides = sides_after_writes(*texts)
    sides.now_ms += 10_000
    assert text_after_save(sides, texts[-1] + "- echoed\n") == texts[-1] + "- echoed\n"
    sides.now_ms += 10_000

    assert text_after_save(sides, OLD.replace("vim", "emacs")) == (texts[-1] + "- echoed\n").replace("vim", "emacs")
    assert conflict_copies(sides) == []


@pytest.mark.parametrize("later_ms", [2_000, 60 * MINUTE])
def test_a_person_may_take_their_own_change_back(later_ms: int) -> None:
    """A person's save that takes back their last save is stored as it is, and not treated as a stale buffer."""
    sides = sides_after_writes(OLD, NEW)
    sides.now_ms += 10_000
    assert text_after_save(sides, NEW.replace("vim", "emacs")) == NEW.replace("vim", "emacs")
    sides.now_ms += later_ms

    assert text_after_save(sides, NEW) == NEW


def test_a_stale_buffer_with_the_only_replaced_line_edited() -> None:
    """A stale buffer is recognised by an edited line that is more like the old line than like the new one."""
    old = BASE + "- Shell: fish, with many plugins\n"
    sides = sides_after_writes(old, BASE.replace("- Role", "- City: Oslo\n- Role") + "- Shell: bash\n")
    sides.now_ms += 10_000

    text = text_after_save(sides, old.replace("many", "many good"))

    assert "- City: Oslo\n" in text
    assert sides.notices[-1][0].left_out == 0


def test_a_single_old_text_later_is_a_revert() -> None:
    """An old text saved when the new one was on disk for two seconds is a deliberate revert, and is named."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms += 2_000

    assert text_after_save(sides, BASE) == BASE
    assert [notice.left_out for notice, _ in sides.notices] == [1]


def test_a_single_old_text_with_its_old_summary_is_a_stale_buffer() -> None:
    """An old text with an old summary, at any age, is an unedited stale buffer; the same save again is deliberate."""
    sides = sides_after_writes(OLD, NEW)
    sides.now_ms += 60 * MINUTE
    assert text_after_save(sides, OLD) == NEW
    sides.now_ms += 1_000

    assert text_after_save(sides, OLD) == OLD


@pytest.mark.parametrize("order", [("cut", "paste"), ("paste", "cut"), ("both",)])
def test_a_line_that_is_moved_at_once_is_in_one_file(order: tuple[str, ...]) -> None:
    """A person moves an agent's new line to another file: both saves are scanned together, or in either order."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms += 500
    line = next(line for line in ADDED.splitlines() if line not in BASE)
    for step in order:
        if step in {"cut", "both"}:
            sides.save(PATH, BASE)
        if step in {"paste", "both"}:
            sides.save("facts/other.md", f"# Other\n\n{line}\n")
        sides.sync()
        sides.now_ms += 100
    sides.settle()
    assert [path for path in sorted(sides.files) if line in str(sides.text(path))] == ["facts/other.md"]


def test_a_line_that_is_not_seen_and_stands_elsewhere_stays() -> None:
    """A line that another file had before is no sign that the person has moved an agent's new line there."""
    sides = sides_after_writes(BASE, ADDED)
    line = next(line for line in ADDED.splitlines() if line not in BASE)
    sides.put("facts/other.md", f"# Other\n\n{line}\n")
    sides.settle()
    sides.save("facts/other.md", f"# Other\n\n{line}\n- more\n")
    assert line in text_after_save(sides, BASE + "- Typed: here\n")


def test_a_line_that_went_on_to_a_third_file_stays_there() -> None:
    """A line is moved to another file, which is renamed at once: it is no longer at the first target, and stays."""
    sides = sides_after_writes(BASE, ADDED)
    line = next(line for line in ADDED.splitlines() if line not in BASE)
    sides.save(PATH, BASE)
    sides.save("facts/other.md", f"# Other\n\n{line}\n")
    sides.sync()
    sides.files["facts/third.md"] = sides.files.pop("facts/other.md")
    sides.put("facts/other.md", f"# Other\n\n{line}\n- Agent: wrote\n")
    sides.sync()
    sides.save("facts/third.md", "# Other\n\n- Typed: here\n" + line + "\n")
    sides.settle()
    assert [path for path in sorted(sides.files) if line in str(sides.text(path))] == ["facts/third.md"]
