"""Files are written only over bytes that are ours, whatever happens between the look and the write."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from reverie import files
from reverie.engine.publication import Wanted, sweep, write

if TYPE_CHECKING:
    from pathlib import Path, PurePosixPath


def wanted(texts: dict[str, str], published: dict[str, str], intended: dict[str, list[str]] | None = None) -> Wanted:
    """What should be there, and what was written before, by its text."""
    return Wanted(
        texts={path: text.encode() for path, text in texts.items()},
        published={path: digest(text) for path, text in published.items()},
        beside={},
        intended=intended or {},
        left=frozenset(),
    )


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_an_edit_between_look_and_write_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person saves one file while another is being written: theirs stays, and another pass is asked for."""
    root = tmp_path / "space"
    write(root, "default", wanted({"a.md": "one", "b.md": "one"}, {}))
    real = files.write_beneath

    def slow(folder: Path, relative: PurePosixPath, data: bytes, mode: int = 0o600) -> None:
        real(folder, relative, data, mode)
        if relative.name == "a.md":
            (root / "b.md").write_text("mine")

    monkeypatch.setattr(files, "write_beneath", slow)
    done = write(root, "default", wanted({"a.md": "two", "b.md": "two"}, {"a.md": "one", "b.md": "one"}))
    monkeypatch.undo()

    assert done.again
    assert (root / "b.md").read_text() == "mine"
    after = write(root, "default", wanted({"a.md": "two", "b.md": "two"}, {"a.md": "two", "b.md": "one"}))
    assert not after.again
    assert (root / "b.md").read_text() == "mine"
    assert after.records["b.md"]["beside"] == "b.reverie-new.md"
    assert (root / "b.reverie-new.md").read_text() == "two"


@pytest.mark.parametrize("there", ["second", "third"])
def test_bytes_of_any_unfinished_pass_are_ours(tmp_path: Path, there: str) -> None:
    """A pass that wrote and was never recorded, even two of them, does not make the file somebody else's."""
    root = tmp_path / "space"
    write(root, "default", wanted({"a.md": "first"}, {}))
    (root / "a.md").write_text(there)
    (root / ".reverie" / "written.json").unlink()

    write(root, "default", wanted({"a.md": "new"}, {"a.md": "first"}, {"a.md": [digest("second"), digest("third")]}))

    assert (root / "a.md").read_text() == "new"
    assert not (root / "a.reverie-new.md").exists()


@pytest.mark.parametrize("note", [b"{", b"[]", b'{"../out.md": "x", "a.md": 3}', b"\xff"])
def test_a_note_that_says_nothing_is_no_harm(tmp_path: Path, note: bytes) -> None:
    """The folder's own note may be damaged or edited: then only the store's word counts."""
    root = tmp_path / "space"
    write(root, "default", wanted({"a.md": "first"}, {}))
    (root / ".reverie" / "written.json").write_bytes(note)

    write(root, "default", wanted({"a.md": "second"}, {"a.md": "first"}))

    assert (root / "a.md").read_text() == "second"


def test_leftovers_are_swept(tmp_path: Path) -> None:
    """What an interrupted write left goes; a person's files and what a link leads to stay."""
    root, outside = tmp_path / "space", tmp_path / "outside"
    write(root, "default", wanted({"facts/a.md": "one"}, {}))
    outside.mkdir()
    (outside / f"{files.TEMPORARY}1-x").write_text("not ours")
    (root / "archives").symlink_to(outside)
    (root / "facts" / f"{files.TEMPORARY}1-x").write_text("half")
    (root / "facts" / "mine.md").write_text("mine")

    sweep(root)
    sweep(tmp_path / "nowhere")

    assert sorted(path.name for path in (root / "facts").iterdir()) == ["a.md", "mine.md"]
    assert (outside / f"{files.TEMPORARY}1-x").exists()
