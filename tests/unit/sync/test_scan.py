"""A scan finds the files of a folder without reading them; what is refused has a reason, and the rest is found."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from reverie.documents.parse import ITEMS_MAX
from reverie.sync.root import Root
from reverie.sync.scan import FileContent, Limits, Refusal, Stamp, read_file, scan, scan_path
from support.spaces import scan_and_read, user_write


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path / "space", space="default", store_id="store", fresh=True) as opened:
        yield opened


def reasons(root: Root, **known: Stamp) -> dict[str, str]:
    return {path: refusal.reason for path, refusal in scan(root, known=known).refused.items()}


def test_conflict_copies_are_listed_separately(root: Root) -> None:
    user_write(root, "facts/user.sync-conflict-20261101-101010-ab12.md")
    user_write(root, "facts/user.md")
    found = scan(root, known={})
    assert list(found.copies) == ["facts/user.sync-conflict-20261101-101010-ab12.md"]
    assert list(found.stamps) == ["facts/user.md"]


def test_anything_but_a_regular_file_is_refused(root: Root, tmp_path: Path) -> None:
    """Each kind of node is refused with its own reason; the file beside it is found."""
    user_write(root, "note.md")
    os.mkfifo(root.real / "fifo.md")
    (root.real / "link.md").symlink_to(root.real / "note.md")
    (root.real / "loop.md").symlink_to("loop.md")
    (root.real / "facts").symlink_to(tmp_path, target_is_directory=True)
    (root.real / "folder.md").mkdir()
    (root.real / "folder.md" / "x.md").write_bytes(b"x")
    (root.real / "hard.md").hardlink_to(user_write(root, "other"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root.real / "socket.md"))
    expected = {
        "fifo.md": "fifo",
        "link.md": "symlink",
        "loop.md": "symlink",
        "facts": "symlink",
        "folder.md": "folder",
    }
    expected |= {"hard.md": "hard_link", "socket.md": "socket"}
    found = scan(root, known={})
    assert {path: refusal.reason for path, refusal in found.refused.items()} == expected
    assert list(found.stamps) == ["note.md"]
    for path in expected.keys() - {"facts"}:
        for seen in (scan_path(root, path, known={}), read_file(root, path, limit=100)):
            assert isinstance(seen, Refusal)
            assert seen.reason == expected[path]
            assert seen.hint
    assert isinstance(read_file(root, "facts/user.md", limit=100), Refusal)
    assert isinstance(scan_path(root, "facts/user.md", known={}), Refusal)


def test_a_refused_folder_hides_what_is_below(root: Root) -> None:
    """Files below a folder that became a link are covered by its refusal; a missing file elsewhere is not."""
    user_write(root, "facts/user.md")
    known = scan(root, known={}).stamps
    (root.real / "facts").rename(root.real / "elsewhere")
    (root.real / "facts").symlink_to("elsewhere", target_is_directory=True)
    found = scan(root, known=known)
    hidden = found.covering("facts/user.md")
    assert hidden is not None
    assert hidden.reason == "symlink"
    assert found.covering("notes/gone.md") is None


def test_a_file_in_place_of_a_folder_is_refused(root: Root) -> None:
    user_write(root, "facts/user.md")
    known = scan(root, known={}).stamps
    (root.real / "facts").rename(root.real / "elsewhere")
    user_write(root, "facts")
    found = scan(root, known=known)
    assert found.refused["facts"].reason == "not_a_folder"
    seen = scan_path(root, "facts/user.md", known=known)
    assert isinstance(seen, Refusal)
    assert seen.reason == "not_a_folder"


def test_a_link_in_place_of_a_known_folder_is_refused(root: Root) -> None:
    """A link is refused if documents were below its name, else ignored."""
    user_write(root, "v1.2/user.md")
    known = scan(root, known={}).stamps
    (root.real / "v1.2").rename(root.real / "elsewhere")
    (root.real / "v1.2").symlink_to("elsewhere", target_is_directory=True)
    (root.real / "picture.png").symlink_to("elsewhere")
    assert reasons(root, **known) == {"v1.2": "symlink"}


def test_invalid_names_are_refused(root: Root) -> None:
    """A refused name has the reason of `safe_relative`, and is printable."""
    for name in (b"con.md", b"a\xffb.md", b"a:b.md", b" x.md", b"$x.md"):
        (root.real / os.fsdecode(name)).write_bytes(b"x")
    found = scan(root, known={})
    assert found.stamps == {}
    assert "one of \\ : * ?" in found.refused["a:b.md"].hint
    assert sorted(refusal.detail or "" for refusal in found.refused.values()) == [
        "absolute",
        "control",
        "not_portable",
        "not_portable",
        "not_portable",
    ]
    for refusal in found.refused.values():
        refusal.path.encode()


def test_limits_are_kept(root: Root) -> None:
    """A long file, a deep folder and too many files are refused, and no more is listed than necessary."""
    user_write(root, "long.md", b"x" * 101)
    user_write(root, "a/b/c.md")
    limits = Limits(file_bytes=100, depth=2)
    found = scan(root, known={}, limits=limits)
    assert {path: refusal.reason for path, refusal in found.refused.items()} == {
        "long.md": "too_large",
        "a/b": "too_deep",
    }
    assert isinstance(scan_path(root, "a/b/c.md", known={}, limits=limits), Refusal)
    assert isinstance(scan_path(root, "long.md", known={}, limits=limits), Refusal)
    for number in range(5):
        user_write(root, f"n/{number}.md")
    found = scan(root, known={}, limits=Limits(files=3))
    covering = found.covering("any.md")
    assert covering
    assert covering.reason == "too_many"


def test_reading_gives_bytes_hash_and_stamp(root: Root) -> None:
    """The bytes are returned unchanged, with byte order mark and CRLF."""
    data = b"\xef\xbb\xbf- A fact\r\n- \xc3\xa4"
    user_write(root, "x.md", data)
    assert read_file(root, "x.md", limit=100) == FileContent(
        data, sha256(data).hexdigest(), scan(root, known={}).stamps["x.md"]
    )
    assert read_file(root, "missing.md", limit=100) is None
    assert read_file(root, "missing/x.md", limit=100) is None


@pytest.mark.parametrize(
    ("data", "reason", "detail"),
    [
        (b"a\0b", "nul", "at byte 1"),
        (b"ab\xff", "not_utf8", "at byte 2"),
        (b"\xed\xa0\x80", "not_utf8", "at byte 0"),
        ("ü".encode("utf-16"), "not_utf8", "at byte 0"),
        (b"x" * 101, "too_large", "101 bytes"),
    ],
)
def test_bytes_that_are_no_text_are_refused(root: Root, data: bytes, reason: str, detail: str) -> None:
    user_write(root, "x.md", data)
    found = read_file(root, "x.md", limit=100)
    assert isinstance(found, Refusal)
    assert (found.reason, found.detail) == (reason, detail)


def test_a_file_of_too_many_memories_is_not_read(root: Root) -> None:
    """More memories than one commit can replace are refused, whatever their line endings.

    As many lines of prose are not.
    """
    limit = 1 << 20
    for ending in (b"\n", b"\r"):
        user_write(root, "facts/x.md", (b"- fact" + ending) * ITEMS_MAX)
        assert isinstance(read_file(root, "facts/x.md", limit=limit), FileContent)
        user_write(root, "facts/x.md", (b"- fact" + ending) * (ITEMS_MAX + 1))
        found = read_file(root, "facts/x.md", limit=limit)
        assert isinstance(found, Refusal)
        assert found.reason == "too_many_memories"
    user_write(root, "facts/x.md", b"prose\n" * (ITEMS_MAX + 1))
    assert isinstance(read_file(root, "facts/x.md", limit=limit), FileContent)


def test_a_file_is_not_read_while_it_is_open_for_writing(root: Root) -> None:
    """A file that an editor has truncated is not read before the editor closed it."""
    path = user_write(root, "x.md")
    with path.open("wb", buffering=0) as editor:
        for half in (b"", b"- Half a"):
            editor.write(half)
            found = read_file(root, "x.md", limit=100)
            assert isinstance(found, Refusal)
            assert found.reason == "growing"
    with path.open("rb"):
        found = read_file(root, "x.md", limit=100)
        assert isinstance(found, FileContent)
        assert found.data == b"- Half a"


def test_a_scan_and_reads_of_all_its_files(root: Root) -> None:
    """A scan and a read of each file give hashes; files that cannot be read have a reason."""
    user_write(root, "x.md", b"x")
    user_write(root, "y.md", b"\xff")
    found, digests = scan_and_read(root)
    assert digests == {"x.md": sha256(b"x").hexdigest()}
    assert list(found.stamps) == ["x.md"]
    assert found.refused["y.md"].reason == "not_utf8"


def test_a_file_below_a_folder_named_like_a_document_is_refused_alone_too(root: Root) -> None:
    """A folder named like a document is refused, by a scan of all files as by a scan of one path below it."""
    user_write(root, "facts.md/a.md")
    seen = scan_path(root, "facts.md/a.md", known={})
    assert isinstance(seen, Refusal)
    assert {seen.path: seen.reason} == reasons(root) == {"facts.md": "folder"}


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> feature/x\n", True),
        ("- a\r\n<<<<<<< ours\r\n||||||| base\r\n- b\r\n=======\r\n```\r\n>>>>>>> theirs\r\n", True),
        ("# Git\n\n```\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> x\n```\n", False),
        ("- a <<<<<<< b\nTitle\n=======\n\n>>>>>>> quoted\n", False),
        ("<<<<<<< HEAD\n- resolved half of it\n", False),
    ],
)
def test_a_file_with_an_open_conflict_waits(root: Root, text: str, *, is_open: bool) -> None:
    """Git's markers in order, at the beginning of lines and outside of code, are an open conflict."""
    user_write(root, "facts/project.md", text.encode())
    found = read_file(root, "facts/project.md", limit=1 << 20)
    assert (isinstance(found, Refusal) and found.reason == "merging") is is_open
