"""Path traversal: no name reads, writes or removes anything outside the folder."""

from __future__ import annotations

import random
from pathlib import Path

from reverie.errors import ReverieError, ValidationError
from reverie.paths import safe_relative
from reverie.sync.root import Root
from reverie.sync.scan import FileContent, Stamp, read_file, scan, scan_path
from reverie.sync.swap import Mismatch, Removed, Written, remove_file, write_file
from support.hostile_cases import all_path_cases, forms, payloads
from support.soak import count
from support.spaces import digest

DATA = b"- ours\n"


def accepted(name: str) -> bool:
    try:
        safe_relative(name)
    except ValidationError:
        return False
    return True


def everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_no_payload_reads_outside(root: Root, tmp_path: Path) -> None:
    """Over 5,000 hostile names, validated or not, are read and scanned, and none gives a file."""
    (tmp_path / "outside.md").write_bytes(b"of somebody else\n")
    named = payloads()
    assert len(named) > 5_000
    tried = 0
    for payload in (*named, "../outside.md", "facts/../../outside.md", str(tmp_path / "outside.md")):
        for name in forms(payload):
            try:
                found = read_file(root, name, limit=1 << 20)
                seen = scan_path(root, name, known={})
            except ValidationError:
                found = seen = None
            assert not isinstance(found, FileContent), name
            assert not isinstance(seen, Stamp), name
            tried += 1
    print(f"{tried} names of {len(named)} payloads: 0 outside")


def test_no_payload_writes_outside(root: Root, tmp_path: Path) -> None:
    """Accepted names are written, read, scanned and removed as they are; others change nothing outside."""
    (tmp_path / "outside.md").write_bytes(b"of somebody else\n")
    names = [name for payload in payloads() for name in forms(payload)]
    good = [name for name in names if accepted(name)]
    bad = [name for name in names if not accepted(name)]
    chance = random.Random(8)
    for name in chance.sample(good, min(len(good), count(150, len(good)))):
        check_accepted(root, name)
    for name in chance.sample(bad, count(300, 20_000)):
        attempt(root, name)
    assert everything(tmp_path) - {f"space/{name}" for name in everything(root.real)} == {"outside.md", "space"}
    assert (tmp_path / "outside.md").read_bytes() == b"of somebody else\n"


def check_accepted(root: Root, name: str) -> None:
    done = write_file(root, name, DATA, expected=None)
    assert isinstance(done, Written), name
    found = read_file(root, name, limit=100)
    assert isinstance(found, FileContent)
    assert found.data == DATA
    assert scan(root, known={}).stamps == {name: found.stamp}
    assert (root.real / name).read_bytes() == DATA
    taken = remove_file(root, name, expected=digest(DATA))
    assert isinstance(taken, Removed)
    assert taken.displaced.settle() is None


def attempt(root: Root, name: str) -> None:
    """Try all calls without validation; assert an error of the library, or a file in the folder."""
    for act in (
        lambda: write_file(root, name, DATA, expected=None),
        lambda: remove_file(root, name, expected=digest(b"x")),
    ):
        try:
            done = act()
        except ReverieError:
            continue
        assert isinstance(done, Written | Mismatch)


def test_the_labelled_names(root: Root) -> None:
    """Each name labelled as accepted is usable as a document; a scan returns no document for a rejected one."""
    for path, expected in all_path_cases():
        if expected == "accept":
            check_accepted(root, path)
        elif expected == "reject":
            assert not accepted(path)
            attempt(root, path)
            if stepless(path) and ".md/" not in path:  # a folder named like a document is refused by the scan below
                assert not isinstance(scan_path(root, path, known={}), Stamp)
    assert scan(root, known={}).stamps == {}


def stepless(name: str) -> bool:
    """Return True if a file system could have this name: no empty, `.` or `..` segment, no NUL, encodable as bytes."""
    encodable = not any("\ud800" <= char <= "\udc7f" or "\udd00" <= char <= "\udfff" for char in name)
    return bool(name) and encodable and "\0" not in name and not {"", ".", ".."} & set(name.split("/"))
