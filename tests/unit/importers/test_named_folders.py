"""The folders that lines name, found in their bytes, and what they are compared with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.git import below, real_folder
from reverie.importers.detect import named_folders

IGNORED = ["/home/ann/diary", "/mnt/c/Users/ann/diary"]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_folders_are_found_without_parsing(separators: tuple[str, str]) -> None:
    """Those of all programs are found, escaped ones too, and no text that only looks like one."""
    lines = [
        {"type": "user", "cwd": '/home/ann/t\u00fcr "a"', "message": "x"},
        {"type": "session_meta", "payload": {"cwd": "/srv/harbour"}},
        {"type": "user", "message": json.dumps({"cwd": "/srv/quoted"})},
        {"type": "user", "cwd": None},
    ]
    data = "\n".join(json.dumps(line, separators=separators) for line in lines).encode() + b'\n{"cwd": "/torn'
    assert named_folders(data) == {'/home/ann/t\u00fcr "a"', "/srv/harbour"}


@pytest.mark.parametrize(
    ("folder", "ignored"),
    [
        ("/home/ann/diary", IGNORED[0]),
        ("/home/ann/diary/", IGNORED[0]),
        ("//home/ann//diary/./may", IGNORED[0]),
        ("/home/ann/harbour/../diary", IGNORED[0]),
        ("C:\\Users\\ann\\diary\\may", IGNORED[1]),
        ("/home/ann/diary2", None),
        ("/home/ann", None),
        ("/home/ann/diary/../harbour", None),
        ("home/ann/diary", None),
        ("", None),
    ],
)
def test_a_folder_is_compared_however_it_is_written(folder: str, ignored: str | None) -> None:
    assert below(folder, IGNORED) == ignored


def test_everything_is_below_the_root() -> None:
    assert below("/home", ["/"]) == "/"


def test_links_are_resolved_where_they_exist(tmp_path: Path) -> None:
    """Also above a part that does not exist; a path that is not absolute or cannot be one stays as it is."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert real_folder(f"{tmp_path}/link/gone/may") == f"{tmp_path.resolve()}/real/gone/may"
    for text in ("link", "", "/home/\ud800"):
        assert real_folder(text) == text
