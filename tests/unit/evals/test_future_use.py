"""`eval` of memories of earlier sessions by what later sessions did: used, contradicted, or neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.evals.memory_use import FutureUse, Row, Session, future_use, measured
from support.story import session_file
from support.talk import Talk


def session(day: int, thread: Talk, project: str = "harbour") -> Session:
    """Return a session on a day of January."""
    return Session(f"s{day}", project, f"2026-01-{day:02}T09:00:00.000Z", tuple(thread.messages))


def ran_tests(command: str, *, failed: bool = False) -> Talk:
    """Return a session that runs the tests twice."""
    thread = Talk().user("Please run the tests of the parser and look at them.")
    for _ in range(2):
        thread.bash(command, "1 failed" if failed else "3 passed", failed=failed)
    return thread.agent("Done.")


def wished(text: str) -> Talk:
    return Talk().user("Please look at the parser first.").bash("ls", "a").user(text).agent("Yes.").bash("ls", "a")


def by_type(result: FutureUse) -> dict[str, tuple[int, int, int]]:
    return {row.type: (row.written, row.used, row.contradicted) for row in result.rows}


def test_a_command_that_runs_again_was_used() -> None:
    """A procedure counts as used if its command passes in a later session of the same project."""
    first = session(1, ran_tests("make test"))
    assert by_type(measured([first, session(2, ran_tests("make test"))]))["procedure"] == (1, 1, 0)
    assert by_type(measured([first, session(2, ran_tests("make test"), "quay")]))["procedure"] == (1, 0, 0)
    assert by_type(measured([first, session(2, ran_tests("make test", failed=True))]))["procedure"] == (1, 0, 0)


def test_another_command_for_the_purpose_contradicts() -> None:
    """A later session that runs another command contradicts a procedure, unless more sessions run its own."""
    first = session(1, ran_tests("make test"))
    others = [session(2, ran_tests("pytest")), session(3, ran_tests("make test")), session(4, ran_tests("make test"))]
    assert by_type(measured([first, *others[:1]]))["procedure"] == (1, 0, 1)
    assert by_type(measured([first, *others], share=0.25))["procedure"] == (1, 1, 0)


def test_wishes_are_said_again_or_reversed() -> None:
    """A project's preference is used if it is said again there, and contradicted if the opposite is said."""
    first = session(1, wished("From now on use tabs for indentation."))
    for text, expected in (
        ("Please always use tabs for indentation.", (1, 1, 0)),
        ("Never use tabs for indentation.", (1, 0, 1)),
        ("Always sign the commits.", (1, 0, 0)),
    ):
        result = measured([first, session(2, wished(text))])
        assert by_type(result)["preference"] == expected, text


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    """The result does not depend on the order in which the files are given; sessions are ordered by time."""
    paths = [session_file(tmp_path, number) for number in range(4)]
    result = future_use(paths)
    assert result == future_use(paths[::-1])
    assert (result.before, result.after) == (2, 2)
    assert {row.project for row in result.rows} <= {"harbour", ""}
    assert result.total.written == sum(row.written for row in result.rows) > 0


def test_the_score_counts_what_is_written() -> None:
    """A score is the uses, less two for each contradiction and less 0.2 for each memory written."""
    assert Row("fact", "", written=10, used=2, contradicted=1).score == pytest.approx(-2.0)
    assert measured([]).total.score == 0


def test_files_that_are_no_sessions_are_named(tmp_path: Path) -> None:
    """Files that are no sessions are reported as unread, and the others are measured."""
    (tmp_path / "b.jsonl").write_bytes(b"PK\x03\x04 an archive")
    result = future_use([session_file(tmp_path, 1), tmp_path / "b.jsonl"], share=1.0)
    assert [name for name, _ in result.unread] == [str(tmp_path / "b.jsonl")]
    assert result.before == 1
