"""`reverie import claude-memory` before a real daemon: Claude Code's own memory files become documents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from support.daemon import Daemon
from support.waiting import wait_until

FILE = "---\nname: {0}\ndescription: how\nmetadata:\n  type: feedback\n  originSessionId: 5f1c-77\n---\n\n{1}\n"


def imported(daemon: Daemon, *words: str) -> tuple[int, Any]:
    """Run the command; return its exit code and report."""
    done = subprocess.run(
        [sys.executable, "-m", "reveried.cli", "import", "claude-memory", *words, "--json"],
        env=daemon.env,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def project_of(folder: Path, name: str, memories: dict[str, str]) -> Path:
    """Create Claude Code's folder of a project, with a transcript and memory files; return the project's own folder."""
    own = folder / "work" / name
    own.mkdir(parents=True)
    projects = folder / "projects" / f"-work-{name}"
    (projects / "memory").mkdir(parents=True)
    line = {"type": "user", "uuid": "u", "cwd": str(own), "message": {"role": "user", "content": "x"}}
    (projects / "s-1.jsonl").write_text('{"type":"summary"}\nbroken\n' + json.dumps(line) + "\n")
    (projects / "memory" / "MEMORY.md").write_text("- [x](x.md)\n")
    for path, text in memories.items():
        (projects / "memory" / path).write_text(text)
    return own


def test_memory_files_become_documents_of_their_project(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """Imported files get an agent's trust and are recalled in their project alone; a second import changes nothing."""
    project_of(tmp_path, "harbour", {"cranes.md": FILE.format("cranes", "The tall crane lifts nine tonnes.")})
    project_of(tmp_path, "orchard", {"pears.md": FILE.format("pears", "Pears ripen in late September.")})
    code, report = imported(daemon, str(tmp_path / "projects"))
    assert (code, report["added"]) == (0, 2)
    assert [file["document"] for file in report["files"]] == ["claude/harbour/cranes.md", "claude/orchard/pears.md"]
    crane = next(
        memory for memory in client.memories(limit=1000).items if memory.document == "claude/harbour/cranes.md"
    )
    assert (crane.trust, crane.type) == ("agent", "preference")
    assert client.recall("how much does the tall crane lift", project="harbour").hits
    assert not client.recall("how much does the tall crane lift", project="orchard").hits
    client.patch_document("claude/harbour/cranes.md", [("nine tonnes", "ten tonnes")])
    code, report = imported(daemon, str(tmp_path / "projects" / "-work-harbour"))
    assert (code, [file["outcome"] for file in report["files"]]) == (0, ["kept"])
    assert "ten tonnes" in client.document("claude/harbour/cranes.md").content
    assert imported(daemon, str(tmp_path / "projects"))[1]["added"] == 0


def test_what_cannot_be_imported_is_named(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """An ignored folder is reported, a file that is not UTF-8 fails, and a folder without memory files is an error."""
    own = project_of(tmp_path, "diary", {"day.md": FILE.format("day", "Tired today.")})
    client.change_privacy(wire.ChangePrivacy(ignore=str(own)))
    code, report = imported(daemon, str(tmp_path / "projects"))
    assert (code, [file["outcome"] for file in report["files"]]) == (0, ["ignored"])
    client.change_privacy(wire.ChangePrivacy(unignore=str(own)))
    own.symlink_to(own.rename(own.with_name("away")))
    client.change_privacy(wire.ChangePrivacy(ignore=str(own)))
    assert [file["outcome"] for file in imported(daemon, str(tmp_path / "projects"))[1]["files"]] == ["ignored"]
    client.change_privacy(wire.ChangePrivacy(unignore=str(own)))
    (tmp_path / "projects" / "-work-diary" / "memory" / "bad.md").write_bytes(b"\xff\xfe\x00")
    code, report = imported(daemon, str(tmp_path / "projects"))
    assert (code, [file["outcome"] for file in report["files"]]) == (1, ["failed", "added"])
    code, error = imported(daemon, str(tmp_path / "work"))
    assert (code, "no auto memory there" in json.dumps(error)) == (1, True)


def test_what_claude_code_saves_in_the_folder_is_trusted_as_an_agent(daemon: Daemon, client: Client) -> None:
    """A file with `originSessionId` has an agent's trust, also after an edit; a file without it a person's."""
    root = daemon.folder
    root.mkdir(parents=True, exist_ok=True)  # the daemon makes it with the first file of its own
    head = "---\nname: {0}\ndescription: how\nmetadata:\n  type: feedback\n"
    (root / "agent-gates.md").write_text(head.format("gates") + "  originSessionId: 5f1c-77\n---\nPaint gates green.\n")
    (root / "person-gates.md").write_text(head.format("hinges") + "---\nOil hinges in May.\n")
    client.sync_now()
    found = {memory.document: memory for memory in client.memories(limit=1000).items}
    gates, hinges = found["agent-gates.md"], found["person-gates.md"]
    assert (gates.trust, gates.type, gates.provenance["session"]) == ("agent", "preference", "5f1c-77")
    assert hinges.trust == "person"
    (root / "agent-gates.md").write_text((root / "agent-gates.md").read_text().replace("green", "white"))
    client.sync_now()
    assert client.memory(gates.id).trust == "agent"


def test_what_was_forgotten_waits_in_files_of_claude_code(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """A file with what the person forgot is not imported, and one saved in the folder is taken out; both wait."""
    gone = "Sails are mended in the loft on Mondays"
    client.forget(client.remember(wire.CreateMemory(gone, type="fact", author="person")).id)
    project_of(tmp_path, "lofts", {"sails.md": FILE.format("sails", gone), "ropes.md": FILE.format("ropes", "Rot")})
    code, report = imported(daemon, str(tmp_path / "projects"))
    assert (code, [file["outcome"] for file in report["files"]]) == (0, ["added", "waiting"])
    waiting = [change.content for item in client.candidates().items for change in item.changes]
    assert any(gone in (content or "") for content in waiting)

    root = daemon.folder
    root.mkdir(parents=True, exist_ok=True)
    other = "In the loft sails get mended each Monday"
    (root / "agent-sails.md").write_text(FILE.format("loft", other))
    (root / "agent-masts.md").write_text(FILE.format("masts", "Masts are of larch wood."))
    client.sync_now()
    contents = [memory.content for memory in client.memories(limit=1000).items]
    assert not any(other in content or gone in content for content in contents)
    assert any("larch" in content for content in contents)
    waiting = [change.content for item in client.candidates().items for change in item.changes]
    assert any(other in (content or "") for content in waiting)
    wait_until(lambda: not (root / "agent-sails.md").exists())
    assert (root / "agent-masts.md").exists()


@pytest.mark.parametrize(
    "said", ["Lanterns hang at the north gate in winter", "In winter a lantern hangs at the north gate"]
)
def test_what_was_forgotten_is_no_description_of_a_file(daemon: Daemon, client: Client, said: str) -> None:
    """A file of Claude Code whose description says what the person forgot is taken out and waits; others stay."""
    gone = "Lanterns hang at the north gate in winter"
    client.forget(client.remember(wire.CreateMemory(gone, type="fact", author="person")).id)
    root = daemon.folder
    root.mkdir(parents=True, exist_ok=True)
    (root / "agent-piers.md").write_text(FILE.format("piers", "The pier is old.").replace(": how", f": {said}"))
    (root / "agent-oars.md").write_text(
        FILE.format("oars", "Oars are of ash.").replace(": how", ": which wood oars are of")
    )
    client.sync_now()
    wait_until(lambda: not (root / "agent-piers.md").exists())
    wait_until(lambda: "agent-oars.md" in (root / "MEMORY.md").read_text())
    assert said not in (root / "MEMORY.md").read_text()
    assert said not in client.context_text(client.create_thread().id)
    waiting = [change.content for item in client.candidates().items for change in item.changes]
    assert "The pier is old." in waiting
