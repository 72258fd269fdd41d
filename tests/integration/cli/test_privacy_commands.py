"""`reverie ignore`, `pause` and `resume` before a real daemon."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.cli import AT, reverie
from support.daemon import Daemon


def test_folders_are_ignored(daemon: Daemon, tmp_path: Path) -> None:
    """A folder is given relative or absolute, listed, and removed again; one that is not there yet is said to be so."""
    assert "No folder" in reverie(daemon.env, "ignore", cwd=tmp_path).out
    done = reverie(daemon.env, "ignore", "diary", cwd=tmp_path)
    assert (done.code, f"There is no folder {tmp_path}/diary yet.\n" in done.out) == (0, True)
    (tmp_path / "diary").mkdir()
    assert "There is no folder" not in reverie(daemon.env, "ignore", "diary", cwd=tmp_path).out
    assert reverie(daemon.env, "ignore", cwd=tmp_path).out == f"{tmp_path}/diary\n"
    done = reverie(daemon.env, "ignore", f"{tmp_path}/diary", "--remove", "--json", cwd=tmp_path)
    assert (done.code, done.json["ignored"]) == (0, [])
    done = reverie(daemon.env, "ignore", "diary", "--remove", cwd=tmp_path)
    assert done.code != 0
    assert "reverie ignore lists" in done.err


def test_a_session_of_an_ignored_folder_is_imported_later(daemon: Daemon, tmp_path: Path) -> None:
    """Its import says that the folder is ignored and makes no thread; once it is no longer, the same import takes it.

    A session that went on elsewhere is imported for what it did there.
    """
    diary, moved = tmp_path / "diary", tmp_path / "moved.jsonl"
    said = [session_line(at, folder) for at, folder in enumerate((f"{diary}/may", f"{diary}", "/srv/harbour"))]
    inside = tmp_path / "inside.jsonl"
    inside.write_text('{"type":"summary","summary":"A day","leafUuid":"1"}\n' + "".join(said[:2]))
    moved.write_text("".join(said).replace("inside", "moved"))
    assert reverie(daemon.env, "ignore", str(diary)).code == 0
    done = reverie(daemon.env, "import", "claude-code", str(inside))
    assert (done.code, f"1 session of {diary}, which is ignored" in done.out) == (0, True)
    assert f"reverie ignore {diary} --remove" in done.out
    assert "No threads yet." in reverie(daemon.env, "threads", "--all").out
    assert "1 new line from 1 file" in reverie(daemon.env, "import", "claude-code", str(moved)).out
    assert reverie(daemon.env, "ignore", str(diary), "--remove").code == 0
    assert "3 new lines from 1 file" in reverie(daemon.env, "import", "claude-code", str(inside)).out


@pytest.mark.parametrize("name", ["link", "link/may", "/diary", "harbour/../diary", "./diary/may", "diary/"])
def test_an_ignored_folder_is_known_by_its_other_names(daemon: Daemon, tmp_path: Path, name: str) -> None:
    """A session that names it by a link, or writes it differently, is left out; of one that moved there its lines."""
    diary, harbour = tmp_path / "diary", tmp_path / "harbour"
    for folder in (diary / "may", harbour):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(diary)
    named, session = f"{tmp_path}/{name}", tmp_path.name  # the daemon has the sessions of the other cases
    inside, moved = tmp_path / "inside.jsonl", tmp_path / f"{session}.jsonl"
    inside.write_text(session_line(0, named))
    lines = [session_line(at, folder) for at, folder in enumerate((str(harbour), named, str(harbour)))]
    moved.write_text("".join(lines).replace("inside", session))
    assert reverie(daemon.env, "ignore", str(diary)).code == 0
    assert f"1 session of {diary}, which is ignored" in reverie(daemon.env, "import", "claude-code", str(inside)).out
    done = reverie(daemon.env, "import", "claude-code", str(moved), "--json")
    assert (done.code, done.json["added"]) == (0, 2)
    stored = daemon.ask("GET", f"/v1/threads/{done.json['files'][0]['thread']}/messages").body
    assert (b"the gull is here 0" in stored, b"the gull is here 1" in stored) == (True, False)


def session_line(number: int, folder: str) -> str:
    """Return a line of Claude Code in which a person says something in a folder."""
    line = {"type": "user", "uuid": f"u{number}", "sessionId": "inside", "cwd": folder, "timestamp": AT}
    return json.dumps(line | {"message": {"role": "user", "content": f"the gull is here {number}"}}) + "\n"


def test_recording_is_paused(daemon: Daemon, tmp_path: Path) -> None:
    """A second pause is a conflict, and so is a resume without one."""
    assert reverie(daemon.env, "pause", cwd=tmp_path).code == 0
    assert reverie(daemon.env, "pause", cwd=tmp_path).code == 4
    done = reverie(daemon.env, "resume", "--json", cwd=tmp_path)
    assert (done.code, done.json["paused"]) == (0, False)
    done = reverie(daemon.env, "resume", cwd=tmp_path)
    assert (done.code, "reverie pause stops it" in done.err) == (4, True)
    assert reverie(daemon.env, "pause", "--json", cwd=tmp_path).code == 0
    assert "recorded again" in reverie(daemon.env, "resume", cwd=tmp_path).out
