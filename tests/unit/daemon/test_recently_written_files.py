"""Files of a watched folder: what git would ignore, links and old files are left out, and all work is bounded."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from reverie.usecases.runs import FILE_BYTES_MAX
from reveried import written_files
from reveried.written_files import Found, written_since


def look(folder: Path, since: float = 1.0, *, skip: tuple[str, ...] = ()) -> Found:
    return written_since(folder, since, skip=lambda path: path.endswith(skip or "\0"), agent="a", at=lambda _: "now")


def names(found: Found) -> set[str]:
    return {file.path for file in found.files}


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.mark.parametrize("repository", [False, True])
def test_gitignore_is_honoured(folder: Path, *, repository: bool) -> None:
    """Files are ignored exactly as git ignores them, also without a repository, in subfolders and by `info/exclude`."""
    if repository:
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        (folder / ".git/info").mkdir(exist_ok=True)
        (folder / ".git/info/exclude").write_text("private.md\n")
    write(
        folder, a_md="a", b_log="b", src__c_md="c", src__d_tmp="d", build__e_md="e", build__keep_md="k", private_md="p"
    )
    (folder / ".gitignore").write_text("*.log\nbuild/*\n!build/keep.md\n")
    (folder / "src/.gitignore").write_text("*.tmp\n")
    found = names(look(folder)) - {".gitignore", "src/.gitignore"}
    expected = {"a.md", "src/c.md", "build/keep.md", "private.md"} - ({"private.md"} if repository else set())
    assert found == expected
    if repository:
        for path in ("a.md", "b.log", "src/c.md", "src/d.tmp", "build/e.md", "build/keep.md", "private.md"):
            done = subprocess.run(["git", "-C", str(folder), "check-ignore", "-q", path], check=False)
            assert (done.returncode == 0) is (path not in found), path


def test_rules_of_the_repository_hold_in_a_folder_of_it(folder: Path) -> None:
    """The ignore rules of a repository also apply if the watched folder is a subfolder of it."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    write(folder, top_md="t", docs__a_md="a", docs__b_log="b")
    (folder / ".gitignore").write_text("*.log\n")
    assert names(look(folder / "docs")) == {"a.md"}


def test_no_program_of_the_repository_is_run(folder: Path) -> None:
    """A program that the repository's git settings name is not run when its files are listed."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    mark = folder.parent / "ran"
    with (folder / ".git/config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "touch {mark}"\n')
    write(folder, a_md="a")
    assert names(look(folder)) == {"a.md"}
    assert not mark.exists()


def test_only_what_was_written_since_then(folder: Path) -> None:
    """A file from before is left out, one that was written again is not."""
    write(folder, old_md="o", again_md="a")
    since = time.time() + 100
    os.utime(folder / "again.md", (since + 1, since + 1))
    assert names(look(folder, since)) == {"again.md"}


def test_links_are_not_followed(folder: Path) -> None:
    """Links to files or folders are not followed, and a named pipe is neither listed nor waited for."""
    outside = folder.parent / "outside"
    write(outside, other_md="s")
    write(folder, a_md="a")
    (folder / "link.md").symlink_to(outside / "other.md")
    (folder / "linked").symlink_to(outside)
    os.mkfifo(folder / "pipe.md")
    assert names(look(folder)) == {"a.md"}


def test_binary_and_large_files_are_noted(folder: Path) -> None:
    """Binary and large files are listed with their size and the reason, but without their content."""
    (folder / "a.bin").write_bytes(b"\0\1\2")
    (folder / "b.txt").write_bytes(b"x" * (FILE_BYTES_MAX + 1))
    (folder / "c.txt").write_text("text")
    found = {file.path: (file.omitted, file.content, file.size) for file in look(folder).files}
    assert found == {
        "a.bin": ("binary", None, 3),
        "b.txt": ("large", None, FILE_BYTES_MAX + 1),
        "c.txt": (None, "text", 4),
    }


def test_private_files_are_left_out(folder: Path) -> None:
    """Files that the caller names to be skipped are not listed."""
    write(folder, a_md="a", b_md="b")
    assert names(look(folder, skip=("work/b.md",))) == {"a.md"}


def test_the_work_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest files are taken; the others are counted, and so is a folder of too many files."""
    for number in range(8):
        write(folder, **{f"f{number}_md": "x"})
        os.utime(folder / f"f{number}.md", (time.time() + number, time.time() + number))
    monkeypatch.setattr(written_files, "FILES_MAX", 3)
    found = look(folder)
    assert (names(found), found.left_out, found.why) == ({"f5.md", "f6.md", "f7.md"}, 5, "")
    monkeypatch.setattr(written_files, "LISTED_MAX", 4)
    assert look(folder).why == "it has more than 4 files"
    monkeypatch.setattr(written_files, "READ_MAX", 0)
    assert look(folder).files == []


def test_without_git_or_without_the_folder_nothing_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If git or the folder is missing, the result says why it has no files."""
    assert "cannot be listed" in look(folder / "gone").why
    monkeypatch.setenv("PATH", str(folder))
    assert look(folder).why == "git is not installed"


@pytest.mark.parametrize(
    ("does", "why"), [("exit 128", "git cannot list it"), ("exec sleep 600", "git takes longer than 0.5 s")]
)
def test_a_listing_that_fails_or_hangs(folder: Path, monkeypatch: pytest.MonkeyPatch, does: str, why: str) -> None:
    """If git's listing fails or hangs, the result has no files and the reason."""
    write(folder, a_md="a")
    program = folder.parent / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncase "$*" in *ls-files*) {does};; esac\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    if "sleep" in does:
        monkeypatch.setattr(written_files, "LISTING_SECONDS", 0.5)
    found = look(folder)
    assert (found.files, found.why) == ([], why)
