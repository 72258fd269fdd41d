"""Two machines share one folder by a program that copies files (Dropbox, Syncthing), hidden ones included."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.client import Client
from support.daemon import running_daemon
from support.daemon_folder import QUICK, Tree

MARK = ".reverie/space.json"
ROUNDS_MAX = 12


@contextmanager
def machine(folder: Path) -> Iterator[Tree]:
    """Yield a daemon whose folders are below `folder`."""
    with running_daemon(None, REVERIE_MEMORY_DATA_DIR=str(folder), **QUICK) as daemon, Client(daemon.socket) as client:
        made = Tree(daemon, client)
        made.root = folder / "default"
        yield made


def files(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return the time and bytes of every file that such a program copies."""
    found = {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file()}
    return {name: (path.stat().st_mtime_ns, path.read_bytes()) for name, path in found.items() if "/swap/" not in name}


def copied(one: Path, other: Path) -> int:
    """Copy each file that differs to where it is older or missing; return how many were copied."""
    here, there = files(one), files(other)
    differing = [name for name in here.keys() | there.keys() if here.get(name, b"..")[1:] != there.get(name, b"..")[1:]]
    for name in differing:
        is_newer_here = here.get(name, (0,))[0] > there.get(name, (0,))[0]
        source, target = (one / name, other / name) if is_newer_here else (other / name, one / name)
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{target.name}.copying")
        shutil.copy2(source, beside)
        beside.replace(target)
    return len(differing)


def come_to_rest(one: Tree, other: Tree) -> None:
    """Copy to and fro until nothing changes any more."""
    for _ in range(ROUNDS_MAX):
        one.agree()
        other.agree()
        if not copied(one.root, other.root):
            return
    raise AssertionError("each machine writes again what the other one wrote")


def test_both_machines_go_on(tmp_path: Path) -> None:
    """The second machine accepts the folder once; then both have all memories, and neither writes without end."""
    with machine(tmp_path / "a") as one, machine(tmp_path / "b") as other:
        one.client.append_entry("facts/project.md", "- The staging server is heron")
        one.client.append_entry("facts/user.md", "- Ann sails")
        one.agree()
        shutil.copytree(one.root, other.root, ignore=shutil.ignore_patterns("swap"))
        status = other.client.sync_status()
        if status.state != "stopped":
            other.client.append_entry("facts/x.md", "- wakes the folder")
            status = other.client.sync_status()
        assert (status.state, "rm " in str(status.hint)) == ("stopped", False)

        assert other.client.sync_now(accept_folder=True).status.state == "ok"

        other.client.append_entry("facts/project.md", "- The production server is gull")
        come_to_rest(one, other)
        one.client.append_entry("facts/project.md", "- The build server is osprey")
        other.client.append_entry("facts/user.md", "- Ann rows too")
        come_to_rest(one, other)
        for restarted in (one, other):
            restarted.daemon.stop()
            restarted.daemon.start()
        come_to_rest(one, other)

        wanted = {"The staging server is heron", "The production server is gull", "The build server is osprey"}
        assert one.memories().keys() == other.memories().keys() >= {*wanted, "Ann sails", "Ann rows too"}
        assert not [name for name in files(one.root) if "conflict" in name]
        assert json.loads(one.read(MARK)) == json.loads(other.read(MARK))


def test_a_mark_of_the_other_machine_locks_nobody_out(tmp_path: Path) -> None:
    """The second machine marks the folder anew, the mark comes to the first, and that one goes on, also restarted."""
    with machine(tmp_path / "a") as one, machine(tmp_path / "b") as other:
        one.client.append_entry("facts/user.md", "- Ann sails")
        one.agree()
        shutil.copytree(one.root, other.root, ignore=shutil.ignore_patterns("swap"))
        other.path(MARK).unlink()
        other.client.sync_now(accept_folder=True)

        come_to_rest(one, other)
        one.daemon.stop()
        one.daemon.start()
        one.client.append_entry("facts/user.md", "- Ann rows too")
        come_to_rest(one, other)

        assert one.memories().keys() == other.memories().keys() == {"Ann sails", "Ann rows too"}
