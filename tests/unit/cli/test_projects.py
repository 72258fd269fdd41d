"""The commands about projects: what they print, and what they ask the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cli import MEMORY, Cli, Routes
from support.fake_daemon import FakeDaemon
from support.pages import page

HARBOUR = {
    "name": "harbour",
    "remotes": ["example.org/ann/harbour"],
    "folders": ["/srv/harbour"],
    "threads": 1200,
    "memories": 7,
    "joined": None,
    "joinedIn": None,
}
CRANE = MEMORY | {"content": "The crane is red.", "project": "harbour"}


@pytest.mark.usefixtures("daemon")
def test_sorting_names_its_undo(cli: Cli, routes: Routes) -> None:
    """`projects --sort` prints how much was moved, and the undo command if anything was."""
    moves = [
        {"before": "pier", "after": "harbour", "threads": 1, "memories": 2},
        {"before": None, "after": "quay", "threads": 0, "memories": 1},
    ]
    answer = {"threads": 1, "memories": 3, "operation": "12", "moves": moves}
    routes["POST /v1/projects/sort"] = answer
    said = cli("projects", "--sort").out
    assert "1 thread, 3 memories" in said
    assert "pier → harbour: 1 thread, 2 memories\n" in said
    assert "no project → quay: 1 memory\n" in said
    assert "To move them back: reverie undo 12\n" in said
    assert cli("projects", "--sort", "--json").json == answer
    routes["POST /v1/projects/sort"] = {"threads": 0, "memories": 0}
    assert "undo" not in cli("projects", "--sort").out


def test_the_project_of_an_answer_is_said(cli: Cli, routes: Routes, daemon: FakeDaemon) -> None:
    """`recall` and `memories` print which project's memories are shown, unless all projects were asked for."""
    hit = {"memory": CRANE, "score": 1.0, "why": "crane 1.00"}
    routes["POST /v1/recall"] = {"hits": [hit], "tokens": 9, "project": "harbour"}
    routes["GET /v1/memories"] = page(CRANE) | {"project": "harbour"}
    for words in (("recall", "crane"), ("memories",), ("recall", "crane", "--project", "harbour")):
        assert "Project harbour, and what is of no project" in cli(*words).out
    routes["GET /v1/memories"] = page(CRANE)
    assert "of no project" not in cli("memories", "--all-projects").out
    assert daemon.requests[-1].query["allProjects"] == "true"


def test_a_folder_that_was_removed_is_no_error(
    cli: Cli, routes: Routes, daemon: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that was removed `recall` and `memories` succeed, and send no folder."""
    routes["POST /v1/recall"] = {"hits": [], "tokens": 0}
    routes["GET /v1/memories"] = page()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for words in (("recall", "crane"), ("recall", "crane", "--type", "fact", "--project", "quay"), ("memories",)):
        assert cli(*words).code == 0
        assert "folder" not in daemon.requests[-1].query
        assert not daemon.requests[-1].body or "folder" not in daemon.requests[-1].json


def test_a_memory_is_remembered_for_a_project(cli: Cli, routes: Routes, daemon: FakeDaemon) -> None:
    """`remember --project` sends a path as an absolute one and a name as it is."""
    routes["GET /v1/projects"] = page(HARBOUR)
    routes["POST /v1/memories"] = {**CRANE, "existed": True}
    for given, sent in ((".", str(Path.cwd())), ("Harbour", "Harbour")):
        assert cli("remember", "The crane is red.", "--project", given).code == 0
        assert daemon.requests[-1].json["project"] == sent


def test_threads_of_a_project(cli: Cli, routes: Routes, daemon: FakeDaemon) -> None:
    """`threads --project` sends the project, and says so if it has no threads."""
    routes["GET /v1/threads"] = page()
    assert "No thread is of the project quay" in cli("threads", "--project", "quay").out
    assert daemon.requests[-1].query["project"] == "quay"
    assert f"No thread is of the folder {Path.cwd()}." in cli("threads", "--project", ".").out


@pytest.mark.usefixtures("daemon")
def test_a_memory_is_shown_with_its_project(cli: Cli, routes: Routes) -> None:
    """`show` prints the project of a memory."""
    routes["GET /v1/memories"] = page(CRANE)
    assert "Project   harbour\n" in cli("show", "mem_1").out
