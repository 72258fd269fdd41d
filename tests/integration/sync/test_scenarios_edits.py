"""File system scenarios between two scans: editors, collisions, times, renames, metadata."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
import unicodedata

import pytest

from reverie.sync.root import Root
from reverie.sync.scan import read_file, scan_path
from reverie.sync.swap import Mismatch, remove_file, write_file
from support.spaces import digest, file_content, refusal_reason, rescan, scan_and_read, sync_write, user_write


def test_case_collision(root: Root) -> None:
    """Of two names that differ only in case the known one is a document; the other is refused as a collision."""
    user_write(root, "user.md")
    known = rescan(root)
    user_write(root, "User.md", b"- Other\n")
    found = rescan(root, known)
    assert list(found.stamps) == ["user.md"]
    assert (
        refusal_reason(found.refused["User.md"])
        == refusal_reason(scan_path(root, "User.md", known=known.stamps))
        == "collision"
    )


def test_nfc_nfd(root: Root) -> None:
    """Of two names that differ in Unicode composition the composed one is a document, the other is refused."""
    composed, decomposed = "Müsli.md", unicodedata.normalize("NFD", "Müsli.md")
    user_write(root, composed)
    user_write(root, decomposed)
    found = rescan(root)
    assert list(found.stamps) == [composed]
    assert refusal_reason(found.refused[decomposed]) == "collision"


@pytest.mark.timeout(60)
def test_growing(root: Root) -> None:
    """A file that a process has open for writing is refused as growing, and read once it is closed."""
    path = user_write(root, "note.md", b"")
    grow = "import os, sys\nfile = open(sys.argv[1], 'ab', 0)\nfor line in sys.stdin.buffer: file.write(line), print()"
    with subprocess.Popen(
        [sys.executable, "-uc", grow, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as writer:
        assert writer.stdin
        assert writer.stdout
        for _ in range(200):
            writer.stdin.write(b"- One of many lines\n")
            writer.stdout.readline()
            assert refusal_reason(read_file(root, "note.md", limit=1 << 20)) == "growing"
        writer.stdin.close()
    assert file_content(root, "note.md") == b"- One of many lines\n" * 200


def test_truncated_to_0(root: Root) -> None:
    """Between truncation and write the file is neither read nor replaced."""
    path = user_write(root, "note.md")
    held = digest(b"- A fact\n")
    with path.open("wb") as editor:
        assert refusal_reason(read_file(root, "note.md", limit=100)) == "growing"
        assert write_file(root, "note.md", b"ours\n", expected=held) == Mismatch(digest(b""))
        assert remove_file(root, "note.md", expected=held) == Mismatch(digest(b""))
        editor.write(b"- A fact\n- More\n")
    assert file_content(root, "note.md") == b"- A fact\n- More\n"


def test_mtime_same(root: Root) -> None:
    """New bytes with the same length and modification time change a file's stamp, and are read."""
    path = user_write(root, "note.md", b"one\n")
    before = rescan(root)
    time.sleep(0.02)  # a tick of the clock that file systems of older kernels stamp with
    seen = path.stat()
    path.write_bytes(b"two\n")
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    after, digests = scan_and_read(root, before.stamps)
    assert after.stamps["note.md"].mtime_ns == before.stamps["note.md"].mtime_ns
    assert after.stamps != before.stamps
    assert digests["note.md"] == digest(b"two\n")


@pytest.mark.parametrize("seconds", [4_300_000_000, -2_100_000_000, 0])
def test_mtime_future(root: Root, seconds: int) -> None:
    """A file with a time in 2106, 1901 or 1970 is scanned, and written by sync, like any other."""
    path = user_write(root, "note.md")
    os.utime(path, (seconds, seconds))
    before = rescan(root)
    assert "note.md" in before.stamps
    path.write_bytes(b"new\n")
    os.utime(path, (seconds, seconds))
    assert rescan(root, before).stamps != before.stamps
    sync_write(root, "note.md", b"ours\n", b"new\n")


def test_rename_over(root: Root) -> None:
    """An editor's hidden temporary file is ignored; renamed over the document, it is found as its new version."""
    user_write(root, "note.md")
    before = rescan(root)
    temporary = user_write(root, ".note.md.tmp-4711", b"- Edited\n")
    assert rescan(root).stamps == before.stamps
    temporary.rename(root.real / "note.md")
    after = rescan(root, before)
    assert list(after.stamps) == ["note.md"]
    assert after.stamps != before.stamps
    assert file_content(root, "note.md") == b"- Edited\n"


def test_backup_tilde(root: Root) -> None:
    """The backup and scratch files that an editor makes while saving are never found as documents."""
    path = user_write(root, "note.md")
    seen = [rescan(root)]
    for step in (
        lambda: user_write(root, "4913", b""),
        (root.real / "4913").unlink,
        lambda: path.rename(root.real / "note.md~"),
        lambda: user_write(root, "note.md", b"- Edited\n"),
        (root.real / "note.md~").unlink,
    ):
        step()
        seen.append(rescan(root))
    assert [list(found.stamps) for found in seen] == [["note.md"]] * 3 + [[]] + [["note.md"]] * 2
    assert all(not found.refused for found in seen)
    assert scan_path(root, "note.md~", known={}) is None


def test_dir_rename(root: Root) -> None:
    """After a folder of a thousand files was renamed, a scan finds them all with the same stamps, and refuses none."""
    for number in range(1000):
        user_write(root, f"facts/{number}.md", b"%d\n" % number)
    before = rescan(root)
    (root.real / "facts").rename(root.real / "topics")
    after = rescan(root, before)
    assert {path.replace("topics/", "facts/"): stamp for path, stamp in after.stamps.items()} == before.stamps
    assert not after.refused
    assert after.covering("facts/1.md") is None


def test_rename_chain(root: Root) -> None:
    """Three files renamed in a circle are found at their new paths."""
    for name in "abc":
        user_write(root, f"{name}.md", name.encode())
    before = rescan(root)
    (root.real / "c.md").rename(root.real / "x")
    (root.real / "b.md").rename(root.real / "c.md")
    (root.real / "a.md").rename(root.real / "b.md")
    (root.real / "x").rename(root.real / "a.md")
    after = rescan(root, before)
    moved = {"a.md": "c.md", "b.md": "a.md", "c.md": "b.md"}
    assert {path: stamp.ino for path, stamp in after.stamps.items()} == {
        path: before.stamps[source].ino for path, source in moved.items()
    }
    assert [file_content(root, f"{name}.md") for name in "abc"] == [b"c", b"a", b"b"]


def test_delete_recreate(root: Root) -> None:
    """A file made anew with the same bytes has another stamp and the same hash."""
    path = user_write(root, "note.md")
    before, digests = scan_and_read(root)
    path.rename(root.real / "kept")
    user_write(root, "note.md")
    after, same_digests = scan_and_read(root, before.stamps)
    assert after.stamps != before.stamps
    assert same_digests == digests


def test_10k_files(root: Root) -> None:
    """One scan finds ten thousand files."""
    (root.real / "facts").mkdir()
    for number in range(10_000):
        os.close(os.open(f"facts/{number}.md", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=root.handle))
    assert len(rescan(root).stamps) == 10_000


def test_xattr_acl(root: Root) -> None:
    """Extended attributes, access list and mode of a file are kept when sync replaces it."""
    path = user_write(root, "note.md")
    path.chmod(0o640)
    entries = [(0x01, 6, -1), (0x02, 4, 1234), (0x04, 4, -1), (0x10, 6, -1), (0x20, 0, -1)]
    access = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(path, "user.colour", b"blue")
        os.setxattr(path, "system.posix_acl_access", access)
    except OSError as error:
        pytest.skip(f"needs a file system with attributes and access lists: {error.strerror}")
    mode = path.stat().st_mode
    sync_write(root, "note.md", b"ours\n", b"- A fact\n")
    assert os.getxattr(path, "user.colour") == b"blue"
    assert os.getxattr(path, "system.posix_acl_access") == access
    assert path.stat().st_mode == mode


@pytest.mark.parametrize(
    "data", [b"- One\r\n- Two\r\n", b"- One\n- Two", b"\xef\xbb\xbf- One\n"], ids=["crlf", "no_final_newline", "bom"]
)
def test_bytes(root: Root, data: bytes) -> None:
    """Line endings, a missing last newline and a byte order mark are kept when a file is read and written by sync."""
    user_write(root, "note.md", data)
    assert file_content(root, "note.md") == data
    sync_write(root, "note.md", data + b"- Three", data)
    assert (root.real / "note.md").read_bytes() == data + b"- Three"
