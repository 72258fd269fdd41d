"""Tests of finding the repository of a folder: worktrees, subfolders, clones, remotes, and folders that are gone."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path

import pytest

from reverie.documents.layout import in_project
from reverie.git import (
    Checkout,
    is_shared_folder,
    locate,
    main_folder,
    normalized_remote,
    posix_folder,
    project_name,
    readable_names,
    remotes_in,
    slug,
)
from reverie.paths import safe_relative
from support.projects import git, repository


@pytest.mark.parametrize("remote", [None, "git@example.org:ann/harbour.git"])
def test_worktrees_subfolders_and_clones_are_one_repository(tmp_path: Path, remote: str | None) -> None:
    """Three worktrees, a subfolder, a link and a clone of a clone by its path lead to the same identity."""
    main = repository(tmp_path / "harbour", remote)
    for name in (".worktrees/one", ".claude/worktrees/two", "../elsewhere/three"):
        git(main, "worktree", "add", "-q", name, "-b", name.rsplit("/", 1)[-1])
    (main / "src" / "deep").mkdir(parents=True)
    git(tmp_path, "clone", "-q", str(main), "clone")
    git(tmp_path, "clone", "-q", f"file://{tmp_path / 'clone'}", "copy")
    (tmp_path / "link").symlink_to(main / "src")
    places = [
        main,
        main / ".worktrees" / "one",
        main / ".claude" / "worktrees" / "two",
        tmp_path / "elsewhere" / "three",
        main / "src" / "deep",
        tmp_path / "clone",
        tmp_path / "copy",
        tmp_path / "link",
    ]
    found = [locate(str(place)) for place in places]
    assert {(checkout.remote, checkout.folders[0]) for checkout in found[:5]} == {(found[0].remote, str(main))}
    assert {checkout.remote for checkout in found} == {"example.org/ann/harbour" if remote else ""}
    assert all(checkout.folders[0] == str(main) and checkout.is_repository for checkout in found)


def test_a_worktree_of_a_bare_repository(tmp_path: Path) -> None:
    """Worktrees beside a bare repository belong to the folder around it, or to the bare repository itself."""
    source = repository(tmp_path / "source")
    for bare in ("harbour/.bare", "quay.git"):
        git(tmp_path, "clone", "-q", "--bare", str(source), bare)
        git(tmp_path / bare, "config", "--remove-section", "remote.origin")
        git(tmp_path / bare, "worktree", "add", "-q", str(tmp_path / f"{bare}-tree"), "-b", "side")
    assert locate(str(tmp_path / "harbour" / ".bare-tree")).folders[0] == str(tmp_path / "harbour")
    assert locate(str(tmp_path / "quay.git-tree")).folders[0] == str(tmp_path / "quay.git")
    assert next(readable_names(locate(str(tmp_path / "quay.git-tree")))) == "quay"


def test_a_nested_repository_is_its_own(tmp_path: Path) -> None:
    """A repository inside another one, as a submodule or a vendored checkout, is not a part of it."""
    outer = repository(tmp_path / "outer", "https://example.org/ann/outer")
    inner = repository(outer / "vendor" / "inner", "https://example.org/bob/inner")
    assert locate(str(inner)).remote == "example.org/bob/inner"
    assert locate(str(outer / "vendor")).remote == "example.org/ann/outer"


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    """A removed worktree or subfolder belongs to the repository that is above it, or beside it by its name."""
    main = repository(tmp_path / "harbour", "https://example.org/ann/harbour")
    for gone in (main / ".worktrees" / "fix" / "src", main / "removed", tmp_path / "harbour-worktrees" / "fix"):
        assert locate(str(gone)).remote == "example.org/ann/harbour"
    assert locate("/home/ann/gone/.worktrees/fix") == Checkout(
        "", ("/home/ann/gone",), is_repository=False, exists=False
    )
    assert locate("/home/ann/gone/src").folders == ("/home/ann/gone/src",)


def test_a_stale_git_file_leads_to_the_repository_above(tmp_path: Path) -> None:
    """A worktree whose git folder was pruned is still inside its repository."""
    main = repository(tmp_path / "harbour", "https://example.org/ann/harbour")
    git(main, "worktree", "add", "-q", ".worktrees/one", "-b", "one")
    shutil.rmtree(main / ".git" / "worktrees")
    assert locate(str(main / ".worktrees" / "one")).remote == "example.org/ann/harbour"


def test_text_that_is_no_path_is_no_error(tmp_path: Path) -> None:
    """A zero byte or a malformed address in a folder, git file or remote raises no error."""
    main = repository(tmp_path / "harbour")
    assert locate(f"{main}\0/src").folders[0] == str(main)
    for url in ("a\0b", "file:///a%00b", "file://[x", "file:"):
        (main / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
        assert locate(str(main)).is_repository
    (main / ".git" / "commondir").write_text("a\0b")
    assert locate(str(main)).folders


def test_a_folder_without_git_is_itself(tmp_path: Path) -> None:
    """A folder without a valid git folder or file is not a repository, and identified by its own path."""
    (tmp_path / "notes" / ".git").mkdir(parents=True)
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_text("no gitdir here")
    assert locate(str(tmp_path / "notes")) == Checkout("", (str(tmp_path / "notes"),), is_repository=False)
    assert locate(str(tmp_path / "odd")) == Checkout("", (str(tmp_path / "odd"),), is_repository=False)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Ann/harbour",
        "https://ann:s3cret@GitHub.com/Ann/harbour.git",
        "https://github.com:443/ann/harbour/",
        "ssh://git@github.com/ann/harbour.git",
        "ssh://git@github.com:22/ann/harbour",
        "git@github.com:ann/harbour.git",
        "github.com:ann/harbour",
        "git+ssh://git@github.com/ann//harbour.git",
        "git://github.com/ann/harbour.git?token=s3cret",
    ],
)
def test_forms_of_one_remote(url: str) -> None:
    """All forms of a remote's address are normalized to one, without credentials."""
    assert normalized_remote(url) == "github.com/ann/harbour"


@pytest.mark.parametrize(
    "url", ["/srv/harbour.git", "../harbour", "file:///srv/harbour", "C:/harbour", "", "https://["]
)
def test_a_path_is_no_remote(url: str) -> None:
    """A path on the disk, or text that is no address, is normalized to an empty text."""
    assert normalized_remote(url) == ""


def test_the_remote_of_a_config(tmp_path: Path) -> None:
    """`origin` comes before others; quotes, comments and other sections are read as git reads them."""
    main = repository(tmp_path / "harbour", "https://example.org/bob/fork")
    git(main, "remote", "rename", "origin", "bob")
    assert locate(str(main)).remote == "example.org/bob/fork"
    with (main / ".git" / "config").open("a") as config:
        config.write(
            '[remote "origin"] ; ours\n\tURL = "https://example.org/ann/harbour" # main\n[branch "x"]\nurl = y\n'
        )
    assert locate(str(main)).remote == "example.org/ann/harbour"


@pytest.mark.parametrize(
    ("path", "main"),
    [
        ("/home/ann/harbour/.worktrees/3", "/home/ann/harbour"),
        ("/home/ann/harbour/.worktrees/ann/fix/src", "/home/ann/harbour"),
        ("/home/ann/harbour/.claude/worktrees/fix", "/home/ann/harbour"),
        ("/home/ann/harbour/worktrees/fix", "/home/ann/harbour"),
        ("/home/ann/harbour-worktrees/fix", "/home/ann/harbour"),
        ("/home/ann/harbour.worktrees/fix", "/home/ann/harbour"),
        ("/home/ann/worktrees/harbour/fix", "/home/ann/worktrees/harbour"),
        ("/home/ann/.cursor/worktrees/harbour/x1", "/home/ann/.cursor/worktrees/harbour"),
        ("/home/ann/.codex/worktrees/a1b2/harbour", "/home/ann/.codex/worktrees/harbour"),
        ("/Users/ann/conductor/workspaces/harbour/rome", "/Users/ann/conductor/workspaces/harbour"),
        ("/home/ann/harbour", None),
        ("/home/ann/worktrees", None),
    ],
)
def test_shapes_of_worktrees(path: str, main: str | None) -> None:
    """The main folder of a worktree is known by the shape of its path, and None for any other path."""
    assert main_folder(path) == main


def test_home_folders_are_shared() -> None:
    """`/`, `/tmp` and home folders are shared by many projects; a folder below them is not."""
    assert all(map(is_shared_folder, ("/", "/home", "/home/ann", "/Users/ann", "/root", "/tmp", "/var/tmp")))  # noqa: S108
    assert not any(map(is_shared_folder, ("/home/ann/harbour", "/srv/harbour")))
    assert all(map(is_shared_folder, ("/mnt/c", "/mnt/c/Users", "/mnt/c/Users/ann")))
    assert not any(map(is_shared_folder, ("/mnt/c/harbour", "/mnt/c/Users/ann/harbour", "/mnt/data/harbour")))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My App", "my-app"),
        ("con", "con-project"),
        ("Aux.c", "aux-c"),
        ("AGENTS.md", "agents-md"),
        ("notes.txt", "notes-txt"),
        ("old.bak", "old-bak"),
        ("harbour. ", "harbour"),
        ("cafe\u0301", "caf\u00e9"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("\u2488 x", "1.-x"),
        ("...", ""),
    ],
)
def test_the_name_of_a_project_can_be_that_of_a_folder(text: str, name: str) -> None:
    """A name that a folder cannot have on every system is changed; the name of a project stays as it is."""
    assert project_name(text) == name
    assert project_name(name) == slug(name) == name
    if name:
        safe_relative(in_project("facts/user.md", name))
        safe_relative(in_project("episodes/2026-11.md", name))


@pytest.mark.parametrize(
    ("given", "here"),
    [
        ("/home/ann/harbour", "/home/ann/harbour"),
        (r"C:\Users\ann\harbour", "/mnt/c/Users/ann/harbour"),
        ("d:/code/harbour/", "/mnt/d/code/harbour"),
        ("C:\\", "/mnt/c"),
        (r"\\?\C:\Users\ann", "/mnt/c/Users/ann"),
        (r"\\wsl$\Ubuntu\home\ann\harbour", "/home/ann/harbour"),
        (r"\\wsl.localhost\Debian\srv\harbour", "/srv/harbour"),
        ("//wsl$/Ubuntu/home/ann", "/home/ann"),
        (r"\\?\UNC\wsl.localhost\Ubuntu\home\ann", "/home/ann"),
        (r"\\server\share\harbour", "/server/share/harbour"),
        ("harbour", None),
        ("C:harbour", None),
        ("~/harbour", None),
        ("", None),
    ],
)
def test_a_folder_of_windows_has_the_path_by_which_wsl_knows_it(given: str, here: str | None) -> None:
    """Drives are mounted below /mnt; a path into WSL is one of Linux; what is relative is no folder."""
    assert posix_folder(given) == here


def test_names_are_readable() -> None:
    """Readable names of a repository begin with the shortest; a name without letters gets its parent folder's."""
    names = readable_names(Checkout("github.com/ann/harbour", ("/srv/x",), is_repository=True))
    assert list(islice(names, 5)) == ["harbour", "ann-harbour", "github.com-ann-harbour", "harbour-2", "harbour-3"]
    assert next(readable_names(Checkout("", ("/home/ann/harbour/2",), is_repository=False))) == "harbour-2"
    assert next(readable_names(Checkout("", ("/",), is_repository=False))) == "project-2"


def test_slugs_are_folder_names() -> None:
    """A slug has no space, slash or leading dot, and is its own slug."""
    for text, name in ((".worktrees", "worktrees"), ("My App", "my-app"), ("a/b", "a-b"), ("Größe_1", "grösse_1")):
        assert slug(text) == name
        assert slug(slug(text)) == name
    assert len(slug("x" * 500)) <= 60


@pytest.mark.parametrize(
    ("output", "remote"),
    [
        ("To github.com:ann/pier.git\n   1a2b3c4..5d6e7f8  main -> main", "github.com/ann/pier"),
        ("From https://github.com/Ann/pier\n * branch main -> FETCH_HEAD", "github.com/ann/pier"),
        ("From git@github.com:ann/pier.git\n", "github.com/ann/pier"),
        ("To github.com:ann/pier.git\nFrom github.com:ben/mole\n", "github.com/ann/pier github.com/ben/mole"),
        ("From: Ann <ann@pier.org>\nTo: Ben\n", ""),
        ("To summarize: it works\n", ""),
    ],
)
def test_the_remote_that_git_names_in_a_transcript(output: str, remote: str) -> None:
    """Remotes are read from git's output of a push or fetch; a mail or a sentence gives none."""
    line = json.dumps({"message": {"content": [{"type": "tool_result", "content": output}]}})
    assert sorted(remotes_in(f"{line}\n".encode())) == remote.split()
