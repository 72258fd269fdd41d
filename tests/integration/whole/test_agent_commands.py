"""Files that appear while an agent's command runs that names the folder, or runs there, are the agent's."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from reverie.client import Client
from support.daemon import Daemon
from support.projects import import_shell_call
from support.waiting import wait_until


def trust(client: Client, content: str) -> str:
    (found,) = [item for item in client.memories(limit=1000).items if item.content == content]
    return found.trust


def save(client: Client, file: Path, content: str) -> None:
    """Save a file of one memory, and wait until it is in the store."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"- {content}\n")
    wait_until(lambda: any(item.content == content for item in client.memories(limit=1000).items))


def now() -> str:
    """Return the time, more than a tick of the kernel's clock after and before any file's."""
    begin = datetime.now(UTC)
    wait_until(lambda: (datetime.now(UTC) - begin).total_seconds() > 0.02)
    moment = datetime.now(UTC)
    wait_until(lambda: (datetime.now(UTC) - moment).total_seconds() > 0.02)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("command", "cwd", "is_agents"),
    [
        ("git -C {root} pull", "/srv", True),
        ("cat a | tee {above}/*/facts/*.md", "/srv", True),
        ("cp {root}/facts/a.md /tmp", "/srv", True),  # nothing is parsed: it might have written
        ("make install-notes", "{root}", True),
        ("make install-notes", "/srv", False),
        ("make install-notes", "{root}-notes", False),
        ("cat {above}-notes/a.md", "/srv", False),
    ],
)
def test_what_appears_while_a_command_runs(
    daemon: Daemon, client: Client, tmp_path: Path, command: str, cwd: str, *, is_agents: bool
) -> None:
    """Saves between the call and its result are the agent's if it names the folder or runs there; others a person's."""
    root = daemon.folder
    name = uuid4().hex[:8]
    before, during, late, after = (f"The {word} stands in {name}" for word in ("pier", "buoy", "crane", "mole"))
    save(client, root / "facts" / f"before-{name}.md", before)
    at = now()
    save(client, root / "facts" / f"during-{name}.md", during)
    file = root / "facts" / f"late-{name}.md"  # which nobody may have read yet when the command has ended
    file.write_text(f"- {late}\n")
    os.utime(file, (0, 0))  # as an archive has it
    until = now()
    save(client, root / "facts" / f"after-{name}.md", after)
    places = {"root": root, "above": root.parent}
    import_shell_call(
        client, tmp_path, command.format(**places), at=at, until=until, cwd=cwd.format(**places) or str(tmp_path)
    )
    wait_until(lambda: any(item.content == late for item in client.memories(limit=1000).items))
    assert trust(client, during) == trust(client, late) == ("agent" if is_agents else "person")
    assert trust(client, before) == trust(client, after) == "person"
