"""Nodes that are no regular files at document paths: each labelled scenario has its outcome."""

from __future__ import annotations

import os
import re
import socket
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from reverie import syscalls
from reverie.errors import Forbidden
from reverie.sync.root import Root
from reverie.sync.scan import Stamp, read_file, scan_path
from reverie.sync.swap import remove_file, write_file
from support.shared import shared_rows
from support.spaces import (
    digest,
    file_content,
    refusal_reason,
    rescan,
    scan_and_read,
    swap_files,
    sync_write,
    user_write,
)

SECRET = b"of somebody else\n"


@dataclass(frozen=True)
class Node:
    """A node that is no document: its creation, its path, and the reason of its refusal."""

    make: Callable[[Root, Path], object]
    reason: str
    path: str = "note.md"
    told_at: str = "note.md"


def _chain(root: Root, outside: Path) -> None:
    (root.real / "l0").symlink_to(outside)
    for number in range(1, 40):
        (root.real / f"l{number}").symlink_to(f"l{number - 1}")
    (root.real / "note.md").symlink_to("l39")


def _loop(root: Root, _: Path) -> None:
    (root.real / "a.md").symlink_to("note.md")
    (root.real / "note.md").symlink_to("a.md")


def _listen(root: Root, _: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root.real / "note.md"))


def _device(major: int, minor: int) -> Callable[[Root, Path], None]:
    def make(root: Root, _: Path) -> None:
        try:
            os.mknod(root.real / "note.md", stat.S_IFCHR | 0o666, os.makedev(major, minor))
        except PermissionError:
            pytest.skip(f"may not run here: `mknod note.md c {major} {minor}`")

    return make


def _link_to(target: str) -> Callable[[Root, Path], None]:
    return lambda root, _: (root.real / "note.md").symlink_to(target)


NODES = {
    "final_symlink_out": Node(lambda root, outside: (root.real / "note.md").symlink_to(outside), "symlink"),
    "final_symlink_in": Node(_link_to("good.md"), "symlink"),
    "dir_symlink_out": Node(
        lambda root, outside: (root.real / "facts").symlink_to(outside.parent), "symlink", "facts/outside.md", "facts"
    ),
    "dangling_symlink": Node(
        lambda root, outside: (root.real / "note.md").symlink_to(outside.with_name("new.md")), "symlink"
    ),
    "symlink_loop": Node(_loop, "symlink"),
    "chain_40": Node(_chain, "symlink"),
    "proc_magic": Node(_link_to("/proc/self/root/etc/hostname"), "symlink"),
    "proc_magic, a handle": Node(_link_to("/proc/self/fd/0"), "symlink"),
    "fifo": Node(lambda root, _: os.mkfifo(root.real / "note.md"), "fifo"),
    "socket_node": Node(_listen, "socket"),
    "dev_node": Node(_device(1, 3), "device"),
    "dev_node, zeros": Node(_device(1, 5), "device"),
    "dev_node, terminal": Node(_device(5, 0), "device"),
    "dir_as_file": Node(lambda root, _: (root.real / "note.md").mkdir(), "folder"),
    "file_as_dir": Node(
        lambda root, _: (root.real / "facts").write_bytes(b"x"), "not_a_folder", "facts/user.md", "facts"
    ),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", NODES)
def test_node(root: Root, tmp_path: Path, name: str) -> None:
    """A node at a document's path (link, device, folder, …) is refused untouched; other files are still scanned."""
    node, outside = NODES[name], tmp_path / "outside.md"
    outside.write_bytes(SECRET)
    user_write(root, "good.md")
    node.make(root, outside)

    known = {node.path: Stamp(0, 0, 0, 0)}
    found, _ = scan_and_read(root, known)
    assert list(found.stamps) == ["good.md"]
    assert refusal_reason(found.refused[node.told_at]) == refusal_reason(found.covering(node.path)) == node.reason
    assert (
        refusal_reason(scan_path(root, node.path, known=known))
        == refusal_reason(read_file(root, node.path, limit=1000))
        == node.reason
    )
    for expected in (None, digest(SECRET)):
        with pytest.raises(Forbidden) as refused:
            write_file(root, node.path, b"ours\n", expected=expected)
        assert refused.value.hint
    with pytest.raises(Forbidden):
        remove_file(root, node.path, expected=digest(SECRET))

    assert outside.read_bytes() == SECRET
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.md", "space"]
    sync_write(root, "good.md", b"- Another\n", b"- A fact\n")
    assert len(swap_files(root)) == 1


def test_hardlink_out(root: Root, tmp_path: Path) -> None:
    """A file with a second hard link is refused, and a write to its path leaves the other link's bytes unchanged."""
    outside = tmp_path / "outside.md"
    outside.write_bytes(SECRET)
    (root.real / "note.md").hardlink_to(outside)
    assert (
        refusal_reason(rescan(root).refused["note.md"])
        == refusal_reason(read_file(root, "note.md", limit=1000))
        == "hard_link"
    )
    sync_write(root, "note.md", b"ours\n", SECRET)
    assert outside.read_bytes() == SECRET
    assert file_content(root, "note.md") == b"ours\n"


def test_sparse_1tb(root: Root) -> None:
    """A sparse file of a tebibyte is refused by its size."""
    os.truncate(user_write(root, "note.md"), 1 << 40)
    assert (
        refusal_reason(rescan(root).refused["note.md"])
        == refusal_reason(read_file(root, "note.md", limit=1 << 20))
        == "too_large"
    )


@pytest.mark.timeout(120)
def test_swap_race(root: Root, tmp_path: Path) -> None:
    """While a folder and a link to the outside are swapped, every write is inside."""
    inside, outside = root.real / "facts", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (root.real / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            syscalls.exchange("facts", root.handle, "link", root.handle)

    racer = threading.Thread(target=swap)
    racer.start()
    outcomes = {"placed": 0, "refused": 0}
    try:
        number = 0
        while number < 200 or not all(outcomes.values()):
            number += 1
            try:
                write_file(root, f"facts/{number}.md", b"x", expected=None)
                outcomes["placed"] += 1
            except Forbidden:
                outcomes["refused"] += 1
    finally:
        stop.set()
        racer.join()
    assert list(outside.iterdir()) == []


@pytest.mark.measures("data/cases/fs_scenarios.jsonl")
def test_every_labelled_scenario_is_here() -> None:
    """Every scenario of the labelled list has a test in these files."""
    named = {row["name"] for row in shared_rows("data/cases/fs_scenarios.jsonl")}
    files = sorted(Path(__file__).parent.glob("test_scenarios_*.py"))
    here = {name.partition(",")[0] for name in NODES} | {"crlf", "no_final_newline", "bom"}
    here |= {name for file in files for name in re.findall(r"^def test_(\w+)", file.read_text("utf-8"), re.MULTILINE)}
    assert len(named) == 40
    assert named <= here, named - here
