"""What a file system can hold that is no plain file: each of the labelled scenarios, with its outcome."""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reverie.errors import Conflict, Forbidden, StorageFailed
from reverie.sync.scan import Read, Refusal, Scan, Stamp, look, read, scan
from reverie.sync.swap import Overtaken, put, take
from support.shared import shared
from support.spaces import as_nobody, digest, mounted, opened, swapped, system, write, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.sync.root import Root

SECRET = b"of somebody else\n"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with opened(tmp_path / "space") as made:
        yield made


@pytest.fixture
def public_root() -> Iterator[Root]:
    """One that every user of the machine can reach."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o711)
        with opened(Path(place) / "space") as made:
            yield made


@dataclass(frozen=True)
class Node:
    """Something that is no document: how it is made, at which path it is met, and why it is refused."""

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
    """It is told, it is neither read nor written nor removed, nothing outside changes, and the rest goes on."""
    node, outside = NODES[name], tmp_path / "outside.md"
    outside.write_bytes(SECRET)
    write(root, "good.md")
    node.make(root, outside)

    known = {node.path: Stamp(0, 0, 0, 0)}
    found = scan(root, known=known, deep=True)
    assert list(found.stamps) == ["good.md"]
    assert _why(found.refused[node.told_at]) == _why(found.covering(node.path)) == node.reason
    assert _why(look(root, node.path, known=known)) == _why(read(root, node.path, limit=1000)) == node.reason
    for expected in (None, digest(SECRET)):
        with pytest.raises(Forbidden) as refused:
            put(root, node.path, b"ours\n", expected=expected)
        assert refused.value.hint
    with pytest.raises(Forbidden):
        take(root, node.path, expected=digest(SECRET))

    assert outside.read_bytes() == SECRET
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.md", "space"]
    written(root, "good.md", b"- Another\n", b"- A fact\n")
    assert len(swapped(root)) == 1


def _why(seen: Any) -> str:
    assert isinstance(seen, Refusal), seen
    assert seen.hint
    return seen.reason


def _whole(root: Root, path: str) -> bytes:
    got = read(root, path, limit=1 << 20)
    assert isinstance(got, Read), got
    return got.data


def _look(root: Root, known: Scan | None = None) -> Scan:
    return scan(root, known=known.stamps if known else {})


def test_hardlink_out(root: Root, tmp_path: Path) -> None:
    """Refused when it is read; a write replaces the name, and never the bytes outside."""
    outside = tmp_path / "outside.md"
    outside.write_bytes(SECRET)
    (root.real / "note.md").hardlink_to(outside)
    assert _why(_look(root).refused["note.md"]) == _why(read(root, "note.md", limit=1000)) == "hard_link"
    written(root, "note.md", b"ours\n", SECRET)
    assert outside.read_bytes() == SECRET
    assert _whole(root, "note.md") == b"ours\n"


def test_perm_000(public_root: Root) -> None:
    """A file and a folder that may not be read are told; nothing in them is written, or taken for deleted."""
    root = public_root
    for path in ("note.md", "facts/user.md", "good.md"):
        os.chown(write(root, path), 65534, 65534)
    for path in (".", "facts", ".reverie", ".reverie/space.json"):
        os.chown(root.real / path, 65534, 65534)
    (root.real / "note.md").chmod(0)
    (root.real / "facts").chmod(0)

    def work() -> None:
        found = scan(root, known={}, deep=True)
        assert list(found.stamps) == ["good.md"]
        assert _why(found.refused["note.md"]) == _why(read(root, "note.md", limit=100)) == "unreadable"
        assert _why(found.covering("facts/user.md")) == _why(look(root, "facts/user.md", known={})) == "unreadable"
        for path in ("note.md", "facts/user.md", "facts/new.md"):
            for expected in (None, digest(b"- A fact\n")):
                with pytest.raises(Forbidden):
                    put(root, path, b"x", expected=expected)
        written(root, "good.md", b"x", b"- A fact\n")

    as_nobody(work)
    assert (root.real / "note.md").read_bytes() == b"- A fact\n"


def test_foreign_owner(public_root: Root) -> None:
    """The owner is kept where the system lets us; where not, the file is replaced as any editor does it."""
    root = public_root
    path = write(root, "note.md")
    os.chown(path, 1234, 4321)
    path.chmod(0o664)
    written(root, "note.md", b"one\n", b"- A fact\n")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o664)

    for folder in (".", ".reverie", ".reverie/swap"):
        (root.real / folder).chmod(0o777)
    (root.real / ".reverie/space.json").chmod(0o644)
    path.chmod(0o6666)
    as_nobody(lambda: written(root, "note.md", b"two\n", b"one\n"))
    found = path.stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (65534, 0o666)
    assert path.read_bytes() == b"two\n"


@pytest.mark.parametrize("what", ["note.md", "."])
def test_immutable(root: Root, what: str) -> None:
    """Neither a file nor a folder that may not change is changed; the error says where to look."""
    write(root, "note.md")
    written(root, "x/other.md", b"x")
    system("chattr", "+i", root.real / what)
    try:
        with pytest.raises(Forbidden) as refused:
            put(root, "note.md", b"ours\n", expected=digest(b"- A fact\n"))
        assert "lsattr" in str(refused.value.hint)
        with pytest.raises(Forbidden):
            take(root, "note.md", expected=digest(b"- A fact\n"))
        assert _whole(root, "note.md") == b"- A fact\n"
        assert swapped(root) == []
    finally:
        system("chattr", "-i", root.real / what)
    written(root, "note.md", b"ours\n", b"- A fact\n")


def test_ro_mount(tmp_path: Path) -> None:
    """Remounted read-only while it is open: reading goes on, writing says what to do and works again later."""
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "-t", "tmpfs", "tmpfs"), opened(tmp_path / "disk/space") as root:
        written(root, "note.md", b"one\n")
        system("mount", "-o", "remount,ro", tmp_path / "disk")
        root.verify()
        assert _whole(root, "note.md") == b"one\n"
        for act in (
            lambda: put(root, "note.md", b"two\n", expected=digest(b"one\n")),
            lambda: put(root, "new/x.md", b"x", expected=None),
            lambda: take(root, "note.md", expected=digest(b"one\n")),
        ):
            with pytest.raises(StorageFailed) as refused:
                act()
            assert "remount" in str(refused.value.hint)
        system("mount", "-o", "remount,rw", tmp_path / "disk")
        assert swapped(root) == []
        written(root, "note.md", b"two\n", b"one\n")


def test_root_is_symlink(tmp_path: Path) -> None:
    """Resolved once: where the link leads later does not matter."""
    (tmp_path / "real").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("real")
    with opened(tmp_path / "link") as root:
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("other")
        root.verify()
        written(root, "note.md", b"one\n")
    assert (tmp_path / "real/note.md").read_bytes() == b"one\n"
    assert list((tmp_path / "other").iterdir()) == []


def _stopped(root: Root) -> str:
    with pytest.raises(Conflict) as stopped:
        root.verify()
    return str(stopped.value.details["reason"])


def test_root_swapped(root: Root, tmp_path: Path) -> None:
    """Told, and nothing is written into either; what is read is of the folder that was opened."""
    write(root, "note.md")
    root.real.rename(tmp_path / "aside")
    root.real.mkdir()
    (root.real / "theirs.md").write_bytes(b"x")
    assert _stopped(root) == "root_swapped"
    with pytest.raises(Conflict):
        put(root, "note.md", b"ours\n", expected=digest(b"- A fact\n"))
    assert _whole(root, "note.md") == b"- A fact\n"
    assert [path.name for path in root.real.iterdir()] == ["theirs.md"]


def test_root_removed(root: Root) -> None:
    """Told before anything can be taken for deleted; nothing can be written."""
    write(root, "note.md")
    system("rm", "-rf", root.real)
    assert _stopped(root) == "root_missing"
    with pytest.raises(Conflict):
        put(root, "note.md", b"x", expected=None)
    assert not root.real.exists()


def test_root_empty_mount(root: Root) -> None:
    """An empty file system over the root is no deletion of everything: told, whether it was open before or not."""
    write(root, "note.md")
    with mounted(root.real, "-t", "tmpfs", "tmpfs"):
        assert _stopped(root) == "root_empty"
        with pytest.raises(Conflict) as refused:
            opened(root.real, fresh=False)
        assert refused.value.details["reason"] == "root_empty"
        assert list(_look(root).stamps) == ["note.md"]
    root.verify()


@pytest.mark.parametrize("same", [True, False])
def test_bind_mount(root: Root, tmp_path: Path, same: bool) -> None:  # noqa: FBT001
    """Another mount below the root is not entered, be it of another file system or of the same."""
    write(root, "good.md")
    (root.real / "facts").mkdir()
    other = tmp_path / "other"
    other.mkdir()
    (other / "user.md").write_bytes(SECRET)
    options = ("--bind", str(other)) if same else ("-t", "tmpfs", "tmpfs")
    with mounted(root.real / "facts", *options):
        if not same:
            (root.real / "facts/user.md").write_bytes(SECRET)
        found = _look(root)
        assert list(found.stamps) == ["good.md"]
        assert _why(found.covering("facts/user.md")) == "other_file_system"
        assert _why(read(root, "facts/user.md", limit=100)) == "other_file_system"
        for expected in (None, digest(SECRET)):
            with pytest.raises(Forbidden):
                put(root, "facts/user.md", b"x", expected=expected)
        assert (root.real / "facts/user.md").read_bytes() == SECRET


def test_bind_mount_of_a_file(root: Root, tmp_path: Path) -> None:
    """The same for one file: what is mounted over it is neither read nor replaced."""
    write(root, "note.md")
    (tmp_path / "other.md").write_bytes(SECRET)
    with mounted(root.real / "note.md", "--bind", str(tmp_path / "other.md")):
        assert _why(read(root, "note.md", limit=100)) == "other_file_system"
        with pytest.raises(Forbidden):
            put(root, "note.md", b"x", expected=digest(SECRET))
    assert (tmp_path / "other.md").read_bytes() == SECRET
    assert _whole(root, "note.md") == b"- A fact\n"


def test_case_collision(root: Root) -> None:
    """The known name stays, the other is told; both files stay as they are."""
    write(root, "user.md")
    known = _look(root)
    write(root, "User.md", b"- Other\n")
    found = _look(root, known)
    assert list(found.stamps) == ["user.md"]
    assert _why(found.refused["User.md"]) == _why(look(root, "User.md", known=known.stamps)) == "collision"


def test_nfc_nfd(root: Root) -> None:
    """The composed name stays, the decomposed one is told."""
    composed, decomposed = "Müsli.md", unicodedata.normalize("NFD", "Müsli.md")
    write(root, composed)
    write(root, decomposed)
    found = _look(root)
    assert list(found.stamps) == [composed]
    assert _why(found.refused[decomposed]) == "collision"


def test_sparse_1tb(root: Root) -> None:
    """Refused by its size, before a byte is read."""
    os.truncate(write(root, "note.md"), 1 << 40)
    assert _why(_look(root).refused["note.md"]) == _why(read(root, "note.md", limit=1 << 20)) == "too_large"


@pytest.mark.timeout(60)
def test_growing(root: Root) -> None:
    """While somebody has it open for writing it is told and not read, however it looks; then it is read."""
    path = write(root, "note.md", b"")
    grow = "import os, sys\nfile = open(sys.argv[1], 'ab', 0)\nfor line in sys.stdin.buffer: file.write(line), print()"
    with subprocess.Popen(
        [sys.executable, "-uc", grow, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as writer:
        assert writer.stdin
        assert writer.stdout
        for _ in range(200):
            writer.stdin.write(b"- One of many lines\n")
            writer.stdout.readline()
            assert _why(read(root, "note.md", limit=1 << 20)) == "growing"
        writer.stdin.close()
    assert _whole(root, "note.md") == b"- One of many lines\n" * 200


def test_truncated_to_0(root: Root) -> None:
    """Between emptying and writing there is nothing to read; and nothing of ours is put there."""
    path = write(root, "note.md")
    held = digest(b"- A fact\n")
    with path.open("wb") as editor:
        assert _why(read(root, "note.md", limit=100)) == "growing"
        assert put(root, "note.md", b"ours\n", expected=held) == Overtaken(digest(b""))
        assert take(root, "note.md", expected=held) == Overtaken(digest(b""))
        editor.write(b"- A fact\n- More\n")
    assert _whole(root, "note.md") == b"- A fact\n- More\n"


def test_mtime_same(root: Root) -> None:
    """New bytes of the same length under the old time are seen by the next look, and by a deep one even so."""
    path = write(root, "note.md", b"one\n")
    before = _look(root)
    time.sleep(0.02)  # a tick of the clock that file systems of older kernels stamp with
    seen = path.stat()
    path.write_bytes(b"two\n")
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    after = scan(root, known=before.stamps, deep=True)
    assert after.stamps["note.md"].mtime_ns == before.stamps["note.md"].mtime_ns
    assert after.stamps != before.stamps
    assert after.sha256["note.md"] == digest(b"two\n")


@pytest.mark.parametrize("seconds", [4_300_000_000, -2_100_000_000, 0])
def test_mtime_future(root: Root, seconds: int) -> None:
    """A time in 2106, 1901 or 1970 is a stamp like any other."""
    path = write(root, "note.md")
    os.utime(path, (seconds, seconds))
    before = _look(root)
    assert "note.md" in before.stamps
    path.write_bytes(b"new\n")
    os.utime(path, (seconds, seconds))
    assert _look(root, before).stamps != before.stamps
    written(root, "note.md", b"ours\n", b"new\n")


def test_rename_over(root: Root) -> None:
    """The temporary file is no document; the new one is the same path with another stamp."""
    write(root, "note.md")
    before = _look(root)
    temporary = write(root, ".note.md.tmp-4711", b"- Edited\n")
    assert _look(root).stamps == before.stamps
    temporary.rename(root.real / "note.md")
    after = _look(root, before)
    assert list(after.stamps) == ["note.md"]
    assert after.stamps != before.stamps
    assert _whole(root, "note.md") == b"- Edited\n"


def test_backup_tilde(root: Root) -> None:
    """At no step is there another document than the one; in the middle there is none."""
    path = write(root, "note.md")
    seen = [_look(root)]
    for step in (
        lambda: write(root, "4913", b""),
        (root.real / "4913").unlink,
        lambda: path.rename(root.real / "note.md~"),
        lambda: write(root, "note.md", b"- Edited\n"),
        (root.real / "note.md~").unlink,
    ):
        step()
        seen.append(_look(root))
    assert [list(found.stamps) for found in seen] == [["note.md"]] * 3 + [[]] + [["note.md"]] * 2
    assert all(not found.refused for found in seen)
    assert look(root, "note.md~", known={}) is None


def test_dir_rename(root: Root) -> None:
    """A thousand files under another name: the same inodes and sizes, none refused, none left."""
    for number in range(1000):
        write(root, f"facts/{number}.md", b"%d\n" % number)
    before = _look(root)
    (root.real / "facts").rename(root.real / "topics")
    after = _look(root, before)
    assert {path.replace("topics/", "facts/"): stamp for path, stamp in after.stamps.items()} == before.stamps
    assert not after.refused
    assert after.covering("facts/1.md") is None


def test_rename_chain(root: Root) -> None:
    """Three files in a circle between two looks: each is found where it is now."""
    for name in "abc":
        write(root, f"{name}.md", name.encode())
    before = _look(root)
    (root.real / "c.md").rename(root.real / "x")
    (root.real / "b.md").rename(root.real / "c.md")
    (root.real / "a.md").rename(root.real / "b.md")
    (root.real / "x").rename(root.real / "a.md")
    after = _look(root, before)
    moved = {"a.md": "c.md", "b.md": "a.md", "c.md": "b.md"}
    assert {path: stamp.ino for path, stamp in after.stamps.items()} == {
        path: before.stamps[source].ino for path, source in moved.items()
    }
    assert [_whole(root, f"{name}.md") for name in "abc"] == [b"c", b"a", b"b"]


def test_delete_recreate(root: Root) -> None:
    """The same bytes in a new file: another stamp, the same hash."""
    path = write(root, "note.md")
    before = scan(root, known={}, deep=True)
    path.rename(root.real / "kept")
    write(root, "note.md")
    after = scan(root, known=before.stamps, deep=True)
    assert after.stamps != before.stamps
    assert after.sha256 == before.sha256


def test_10k_files(root: Root) -> None:
    """All are seen at one look, however they came."""
    (root.real / "facts").mkdir()
    for number in range(10_000):
        os.close(os.open(f"facts/{number}.md", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=root.handle))
    assert len(_look(root).stamps) == 10_000


def test_xattr_acl(root: Root) -> None:
    """Attributes, an access list and the mode come over to the file that replaces it."""
    path = write(root, "note.md")
    path.chmod(0o640)
    entries = [(0x01, 6, -1), (0x02, 4, 1234), (0x04, 4, -1), (0x10, 6, -1), (0x20, 0, -1)]
    access = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(path, "user.colour", b"blue")
        os.setxattr(path, "system.posix_acl_access", access)
    except OSError as error:
        pytest.skip(f"needs a file system with attributes and access lists: {error.strerror}")
    mode = path.stat().st_mode
    written(root, "note.md", b"ours\n", b"- A fact\n")
    assert os.getxattr(path, "user.colour") == b"blue"
    assert os.getxattr(path, "system.posix_acl_access") == access
    assert path.stat().st_mode == mode


@pytest.mark.parametrize(
    "data", [b"- One\r\n- Two\r\n", b"- One\n- Two", b"\xef\xbb\xbf- One\n"], ids=["crlf", "no_final_newline", "bom"]
)
def test_bytes(root: Root, data: bytes) -> None:
    """Line endings, a missing last one and a byte order mark are bytes like any other: read and written as they are."""
    write(root, "note.md", data)
    assert _whole(root, "note.md") == data
    written(root, "note.md", data + b"- Three", data)
    assert (root.real / "note.md").read_bytes() == data + b"- Three"


@pytest.mark.timeout(120)
def test_swap_race(root: Root, tmp_path: Path) -> None:
    """While a folder and a link to the outside change places, all that is written is inside (at length: test_races)."""
    inside, outside = root.real / "facts", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (root.real / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        from reverie import kernel

        while not stop.is_set():
            kernel.exchange("facts", root.handle, "link", root.handle)

    racer = threading.Thread(target=swap)
    racer.start()
    outcomes = {"placed": 0, "refused": 0}
    try:
        for number in range(200):
            try:
                put(root, f"facts/{number}.md", b"x", expected=None)
                outcomes["placed"] += 1
            except Forbidden:
                outcomes["refused"] += 1
    finally:
        stop.set()
        racer.join()
    assert list(outside.iterdir()) == []
    assert all(outcomes.values()), outcomes


def test_every_labelled_scenario_is_here() -> None:
    """None of the list was forgotten, and none is new."""
    lines = shared("data/cases/fs_scenarios.jsonl").read_text("utf-8").splitlines()
    named = {json.loads(line)["name"] for line in lines}
    here = {name.partition(",")[0] for name in NODES} | {"crlf", "no_final_newline", "bom"}
    here |= {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert len(lines) == 40
    assert named <= here, named - here
