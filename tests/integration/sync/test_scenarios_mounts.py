"""Permissions, mounts and the root: what may not be changed is refused, and other file systems are not entered."""

from __future__ import annotations

import multiprocessing
import os
import stat
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reverie.errors import Conflict, Forbidden, StorageFailed
from reverie.sync.root import Root
from reverie.sync.scan import read_file, scan_path
from reverie.sync.swap import remove_file, write_file
from support.spaces import (
    digest,
    file_content,
    mounted,
    open_root,
    refusal_reason,
    rescan,
    run_or_skip,
    scan_and_read,
    swap_files,
    sync_write,
    user_write,
)

NOBODY = 65534


def root_failure(root: Root) -> str:
    """Assert that the root fails its verification; return the reason."""
    with pytest.raises(Conflict) as stopped:
        root.verify()
    return str(stopped.value.details["reason"])


def run_as_nobody(work: Callable[[], object]) -> None:
    """Run `work` in a child process as an unprivileged user; its failure is raised here. Skip if not root."""
    if os.getuid() != 0:
        pytest.skip("needs to be root, to run as another user")
    receiver, sender = multiprocessing.get_context("fork").Pipe(duplex=False)

    def run() -> None:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        try:
            work()
            sender.send(None)
        except BaseException:  # noqa: BLE001 - the parent reports it
            sender.send(traceback.format_exc())
        os._exit(0)

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    sender.close()
    failure = receiver.recv()
    child.join()
    assert failure is None, failure


SECRET = b"of somebody else\n"


@pytest.fixture
def public_root() -> Iterator[Root]:
    """Yield a root that every user of the machine can reach."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o711)
        with open_root(Path(place) / "space") as made:
            yield made


def test_perm_000(public_root: Root) -> None:
    """An unreadable file or folder is refused, not written, and not taken for deleted."""
    root = public_root
    for path in ("note.md", "facts/user.md", "good.md"):
        os.chown(user_write(root, path), 65534, 65534)
    for path in (".", "facts", ".reverie", ".reverie/space.json"):
        os.chown(root.real / path, 65534, 65534)
    (root.real / "note.md").chmod(0)
    (root.real / "facts").chmod(0)

    def work() -> None:
        found, _ = scan_and_read(root)
        assert list(found.stamps) == ["good.md"]
        assert (
            refusal_reason(found.refused["note.md"])
            == refusal_reason(read_file(root, "note.md", limit=100))
            == "unreadable"
        )
        assert (
            refusal_reason(found.covering("facts/user.md"))
            == refusal_reason(scan_path(root, "facts/user.md", known={}))
            == "unreadable"
        )
        for path in ("note.md", "facts/user.md", "facts/new.md"):
            for expected in (None, digest(b"- A fact\n")):
                with pytest.raises(Forbidden):
                    write_file(root, path, b"x", expected=expected)
        sync_write(root, "good.md", b"x", b"- A fact\n")

    run_as_nobody(work)
    assert (root.real / "note.md").read_bytes() == b"- A fact\n"


def test_foreign_owner(public_root: Root) -> None:
    """The owner is kept if the system permits it, else the file is replaced as by any editor."""
    root = public_root
    path = user_write(root, "note.md")
    os.chown(path, 1234, 4321)
    path.chmod(0o664)
    sync_write(root, "note.md", b"one\n", b"- A fact\n")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o664)

    for folder in (".", ".reverie", ".reverie/swap"):
        (root.real / folder).chmod(0o777)
    (root.real / ".reverie/space.json").chmod(0o644)
    path.chmod(0o6666)
    run_as_nobody(lambda: sync_write(root, "note.md", b"two\n", b"one\n"))
    found = path.stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (65534, 0o666)
    assert path.read_bytes() == b"two\n"


@pytest.mark.parametrize("what", ["note.md", "."])
def test_immutable(root: Root, what: str) -> None:
    """An immutable file or folder is not changed, and the error has a hint."""
    user_write(root, "note.md")
    sync_write(root, "x/other.md", b"x")
    run_or_skip("chattr", "+i", root.real / what)
    try:
        with pytest.raises(Forbidden) as refused:
            write_file(root, "note.md", b"ours\n", expected=digest(b"- A fact\n"))
        assert "lsattr" in str(refused.value.hint)
        with pytest.raises(Forbidden):
            remove_file(root, "note.md", expected=digest(b"- A fact\n"))
        assert file_content(root, "note.md") == b"- A fact\n"
        assert swap_files(root) == []
    finally:
        run_or_skip("chattr", "-i", root.real / what)
    sync_write(root, "note.md", b"ours\n", b"- A fact\n")


def test_ro_mount(tmp_path: Path) -> None:
    """After a read-only remount reading works, and writing fails with a hint until it is writable."""
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "-t", "tmpfs", "tmpfs"), open_root(tmp_path / "disk/space") as root:
        sync_write(root, "note.md", b"one\n")
        run_or_skip("mount", "-o", "remount,ro", tmp_path / "disk")
        root.verify()
        assert file_content(root, "note.md") == b"one\n"
        for act in (
            lambda: write_file(root, "note.md", b"two\n", expected=digest(b"one\n")),
            lambda: write_file(root, "new/x.md", b"x", expected=None),
            lambda: remove_file(root, "note.md", expected=digest(b"one\n")),
        ):
            with pytest.raises(StorageFailed) as refused:
                act()
            assert "remount" in str(refused.value.hint)
        run_or_skip("mount", "-o", "remount,rw", tmp_path / "disk")
        assert swap_files(root) == []
        sync_write(root, "note.md", b"two\n", b"one\n")


@pytest.mark.parametrize("same", [True, False])
def test_bind_mount(root: Root, tmp_path: Path, same: bool) -> None:  # noqa: FBT001
    """A mount below the root is not entered, be it of the same file system or another."""
    user_write(root, "good.md")
    (root.real / "facts").mkdir()
    other = tmp_path / "other"
    other.mkdir()
    (other / "user.md").write_bytes(SECRET)
    options = ("--bind", str(other)) if same else ("-t", "tmpfs", "tmpfs")
    with mounted(root.real / "facts", *options):
        if not same:
            (root.real / "facts/user.md").write_bytes(SECRET)
        found = rescan(root)
        assert list(found.stamps) == ["good.md"]
        assert refusal_reason(found.covering("facts/user.md")) == "other_file_system"
        assert refusal_reason(read_file(root, "facts/user.md", limit=100)) == "other_file_system"
        for expected in (None, digest(SECRET)):
            with pytest.raises(Forbidden):
                write_file(root, "facts/user.md", b"x", expected=expected)
        assert (root.real / "facts/user.md").read_bytes() == SECRET


def test_bind_mount_of_a_file(root: Root, tmp_path: Path) -> None:
    """A file with another one mounted over it is neither read nor replaced."""
    user_write(root, "note.md")
    (tmp_path / "other.md").write_bytes(SECRET)
    with mounted(root.real / "note.md", "--bind", str(tmp_path / "other.md")):
        assert refusal_reason(read_file(root, "note.md", limit=100)) == "other_file_system"
        with pytest.raises(Forbidden):
            write_file(root, "note.md", b"x", expected=digest(SECRET))
    assert (tmp_path / "other.md").read_bytes() == SECRET
    assert file_content(root, "note.md") == b"- A fact\n"


def test_root_is_symlink(tmp_path: Path) -> None:
    """A link to the root is resolved once."""
    (tmp_path / "real").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("real")
    with open_root(tmp_path / "link") as root:
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("other")
        root.verify()
        sync_write(root, "note.md", b"one\n")
    assert (tmp_path / "real/note.md").read_bytes() == b"one\n"
    assert list((tmp_path / "other").iterdir()) == []


def test_root_swapped(root: Root, tmp_path: Path) -> None:
    """A swapped root is an error, nothing is written into either folder, and reads are from the opened one."""
    user_write(root, "note.md")
    root.real.rename(tmp_path / "aside")
    root.real.mkdir()
    (root.real / "theirs.md").write_bytes(b"x")
    assert root_failure(root) == "root_swapped"
    with pytest.raises(Conflict):
        write_file(root, "note.md", b"ours\n", expected=digest(b"- A fact\n"))
    assert file_content(root, "note.md") == b"- A fact\n"
    assert [path.name for path in root.real.iterdir()] == ["theirs.md"]


def test_root_removed(root: Root) -> None:
    """A removed root is an error before anything counts as deleted."""
    user_write(root, "note.md")
    run_or_skip("rm", "-rf", root.real)
    assert root_failure(root) == "root_missing"
    with pytest.raises(Conflict):
        write_file(root, "note.md", b"x", expected=None)
    assert not root.real.exists()


def test_root_empty_mount(root: Root) -> None:
    """An empty file system mounted over the root is an error, and deletes nothing."""
    user_write(root, "note.md")
    with mounted(root.real, "-t", "tmpfs", "tmpfs"):
        assert root_failure(root) == "root_empty"
        with pytest.raises(Conflict) as refused:
            open_root(root.real, fresh=False)
        assert refused.value.details["reason"] == "root_empty"
        assert list(rescan(root).stamps) == ["note.md"]
    root.verify()
