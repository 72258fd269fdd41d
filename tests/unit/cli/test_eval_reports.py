"""`reverie eval continuity` and `frequency`: tables, JSON, the picture, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.tokenizer import TOKENIZER
from support.cli import Cli
from support.story import compacted_session, session_file


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Return a folder with one compacted session."""
    path = tmp_path / "sessions"
    path.mkdir()
    (path / "a.jsonl").write_bytes(compacted_session())
    return str(path)


def test_continuity_is_a_table(cli: Cli, folder: str, tmp_path: Path) -> None:
    """The table has Reverie and the baselines, then the tiers; --svg writes the picture."""
    picture = tmp_path / "kept.svg"
    done = cli("eval", "continuity", folder, "--budgets", "3000,800", "--svg", str(picture))
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert "1 session, 1 cut; names needed after one: 10" in done.out
    assert [row[1] for row in rows if row[:1] == ["reverie"]] == ["800", "3,000"]
    assert ["client's", "own", "summary", "-"] in [row[:4] for row in rows]
    assert [row[1] for row in rows if row[:1] == ["3,000"]] == ["workingState", "digest", "summary", "excerpts", "tail"]
    assert picture.read_text().startswith("<svg")
    assert str(picture) in done.out


def test_continuity_as_json(cli: Cli, folder: str) -> None:
    """--json prints the same figures, and names a file that is no session."""
    (Path(folder) / "b.jsonl").write_bytes(b"PK\x03\x04 an archive")
    done = cli("eval", "continuity", folder, "--budgets", "3000", "--json")
    report = done.json
    assert (report["sessions"], report["events"], report["tokenizer"]) == (1, 1, TOKENIZER)
    assert [row["way"] for row in report["rows"]] == ["reverie", "plain tail", "talk alone", "client's own summary"]
    assert report["rows"][0]["inContext"]["error"] is None
    assert sum(tier["inContext"] for tier in report["tiers"]) == pytest.approx(
        report["rows"][0]["inContext"]["percent"], abs=0.1
    )
    assert [Path(item["file"]).name for item in report["unread"]] == ["b.jsonl"]
    assert "archive" in done.err


def test_unreadable_files_are_counted(cli: Cli, folder: str) -> None:
    """The first ten unreadable files are named, the others counted."""
    for number in range(12):
        (Path(folder) / f"b{number}.jsonl").write_bytes(b"PK\x03\x04 an archive")
    done = cli("eval", "frequency", folder)
    assert done.code == 0
    assert done.err.count("left out: ") == 11
    assert "left out: 2 more" in done.err


def test_frequency_prints_its_parameters(cli: Cli, folder: str) -> None:
    """The report has the counts with and without editing, and every parameter they depend on."""
    done = cli("eval", "frequency", folder, "--window", "60000")
    assert (done.code, done.err) == (0, "")
    assert "without context editing  0" in done.out
    for value in ("60,000 tokens", "42,000 tokens", "36,000 tokens, if that frees 6,000", "the last 8 tool uses"):
        assert value in done.out
    report = cli("eval", "frequency", folder, "--json").json
    assert (report["sessions"], report["withoutEditing"], report["withEditing"], report["fewer"]) == (1, 0, 0, None)
    assert report["parameters"]["clearAt"] == 120_000


def test_memories_are_a_table_by_type_and_project(cli: Cli, tmp_path: Path) -> None:
    """`eval memories` prints how many sessions are compared; its JSON rows by type and project add up to the total."""
    for number in range(4):
        session_file(tmp_path, number)
    done = cli("eval", "memories", str(tmp_path))
    assert (done.code, done.err) == (0, "")
    assert "of 2 sessions, against 2 later sessions" in done.out
    report = cli("eval", "memories", str(tmp_path), "--split", "75", "--json").json
    assert (report["before"], report["after"], report["parameters"]["split"]) == (3, 1, 75)
    assert report["total"]["written"] == sum(row["written"] for row in report["rows"])
    assert {row["project"] for row in report["rows"]} <= {"harbour", None}
    assert set(report["rows"][0]) == {"type", "project", "written", "used", "contradicted", "score"}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("continuity", "SESSIONS", "--budgets", "many"), (2, "--budgets must be whole numbers above 0")),
        (("continuity", "SESSIONS", "--budgets", "0"), (2, "--budgets must be whole numbers above 0")),
        (("continuity", "SESSIONS", "--budgets", "10"), (1, "do not fit in the tokens given")),
        (("continuity", "SESSIONS", "--svg", "/nowhere/at/all.svg"), (1, "/nowhere/at is not a folder")),
        (("continuity", "EMPTY"), (1, "no session files there")),
        (("continuity", "/nowhere.jsonl"), (1, "does not exist")),
        (("frequency", "EMPTY"), (1, "no session files there")),
        (("frequency", "SESSIONS", "--window", "9000"), (2, "has no room for a conversation")),
    ],
)
def test_refusals(cli: Cli, folder: str, tmp_path: Path, words: tuple[str, ...], error: tuple[int, str]) -> None:
    """Each error names its reason and the next step."""
    (tmp_path / "empty").mkdir()
    paths = {"SESSIONS": folder, "EMPTY": str(tmp_path / "empty")}
    done = cli("eval", *(paths.get(word, word) for word in words))
    assert done.code == error[0]
    assert error[1] in done.err
    assert "next: " in done.err
