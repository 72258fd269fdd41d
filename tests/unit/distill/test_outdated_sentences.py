"""An episode leaves out the sentences that later work of the same thread makes doubtful, and keeps the others."""

from __future__ import annotations

from reverie.distill.distiller import Extractive
from reverie.models import Candidate, MemoryType
from support.thread import Thread

ENGINE = Extractive()
TIDE = "/w/harbour/src/tide.py"
BODY = (
    "The gauge was asked on every page, because nothing kept its answer.\n\n"
    "- Add read_tide() that asks the gauge once an hour\n"
    "- Store the answer through save_level() beside the ships\n"
)


def told(thread: Thread) -> list[Candidate]:
    return [one for one in ENGINE.candidates(thread.messages) if one.type is MemoryType.EPISODE]


def commit(thread: Thread, subject: str, sha: str, body: str) -> Thread:
    message = f"git add src && git commit -m \"$(cat <<'EOF'\n{subject}\n\n{body}\nEOF\n)\""
    return thread.bash(message, f"[main {sha}] {subject}\n 2 files changed, 40 insertions(+), 3 deletions(-)")


def tide(body: str = BODY) -> Thread:
    """Return a thread with one commit, which adds two functions."""
    thread = Thread().user("Please ask the gauge for the tide once an hour, and keep what it says.")
    thread.edit(TIDE, "pass", "def read_tide():\n    level = ask_gauge()\n    save_level(level)\n    return level\n")
    return commit(thread, "Ask the gauge once an hour", "1a2b3c4", body)


def test_what_a_correction_edited_is_not_told_any_more() -> None:
    """An episode omits sentences with a name from lines that a later fix, or an answer to a review, changed."""
    for subject in ("fix: keep levels per gauge", "Address review comments on the harbour"):
        thread = tide().edit(TIDE, "    save_level(level)", "    save_level(level, gauge)")
        commit(thread, subject, "2b3c4d5", "Two gauges wrote over each other, which a reviewer saw on the page.")
        first = told(thread)[0].content
        assert "save_level" not in first
        assert "Add read_tide() that asks the gauge once an hour" in first


def test_what_a_new_feature_edited_is_still_told() -> None:
    """An episode keeps its sentences about lines that a new feature changed later."""
    thread = tide().edit(TIDE, "    save_level(level)", "    save_level(level, gauge)")
    commit(thread, "Show the levels of two gauges", "2b3c4d5", "People at the second quay asked for theirs as well.")
    assert "save_level" in told(thread)[0].content


def test_a_line_that_a_correction_moved_is_still_told() -> None:
    """An episode keeps a sentence about a line that a later fix deleted and added again elsewhere."""
    thread = tide().edit(TIDE, "    level = ask_gauge()\n    save_level(level)", "    level = ask_gauge()")
    thread.edit(TIDE, "    return level", "    save_level(level)\n    return level + 1")
    commit(thread, "fix: count the tide from one", "2b3c4d5", "The first level was shown as zero, and nobody knew why.")
    assert "save_level" in told(thread)[0].content


def test_a_name_that_a_later_commit_shortened() -> None:
    """An episode omits sentences with a name that a later refactoring or renaming replaced by a shorter one."""
    thread = tide(
        "The gauge is asked once an hour.\n\n- Implement HarbourTideReader for gauges\n- Add LevelStore for answers\n"
        "- Keep the gauges apart\n"
    )
    body = "The package holds TideReader and the levels, so that the pages import one thing alone."
    commit(thread, "refactor: give the tide a package of its own", "2b3c4d5", body)
    first = told(thread)[0].content
    assert "HarbourTideReader" not in first
    assert "LevelStore" in first
    commit(
        thread, "rename the levels", "3c4d5e6", "The Store interface has them now, because the pages need one alone."
    )
    assert "LevelStore" not in told(thread)[0].content


def test_an_effect_that_an_open_item_is_still_to_bring() -> None:
    """An episode omits an effect that the to-do list still has as open, but keeps what the commit changed."""
    body = (
        "- Add read_tide() that asks the gauge once an hour\n\n"
        "This ends the slow harbour page for every visitor of the site.\n"
    )
    items = [("Add the hourly question", "completed"), ("Remove the slow query of the harbour page", "pending")]
    todos = [{"content": text, "status": status, "activeForm": text} for text, status in items]
    thread = tide(body).call("TodoWrite", {"todos": todos})
    first = told(thread)[0].content
    assert "This ends the slow harbour page" not in first
    assert "Add read_tide()" in first


def test_a_sentence_that_points_back_goes_with_the_one_before_it() -> None:
    """A sentence that refers back ("It also") is omitted together with the omitted sentence before it."""
    body = (
        "The gauge is asked once an hour. save_level() keeps the answer beside the ships. It also writes the hour"
        " of it down.\n\nPages read the file alone.\n"
    )
    thread = tide(body).edit(TIDE, "    save_level(level)", "    save_level(level, gauge)")
    commit(
        thread, "fix: keep levels per gauge", "2b3c4d5", "Two gauges wrote over each other, on one and the same page."
    )
    first = told(thread)[0].content
    assert "It also" not in first
    assert "Pages read the file alone" in first


def test_what_was_wrong_is_told_whole_as_the_problem() -> None:
    """A third sentence about the fault is part of the episode's problem, not of its solution."""
    body = (
        "The flag was set before the page was drawn. So the page was never drawn again. This kept the harbour master"
        " from seeing the ships.\n\nSet the flag behind the drawing.\n"
    )
    fields = dict(told(tide(body))[0].fields)
    assert fields["Problem"].endswith("This kept the harbour master from seeing the ships.")
    assert "This kept" not in fields["Solution"]
    assert "Set the flag behind the drawing." in fields["Solution"]
