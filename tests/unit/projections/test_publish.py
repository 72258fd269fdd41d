"""Whose file is it: every row of the table, and a law over random histories."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.projections import Leave, Nothing, Remove, Write, plan, published_after, watched
from reverie.projections.publish import Action, beside

if TYPE_CHECKING:
    from collections.abc import Mapping

USER, NEW = "facts/user.md", "facts/user.reverie-new.md"


def sha(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def hashes(texts: Mapping[str, str]) -> dict[str, str]:
    return {path: hashlib.sha256(text.encode()).hexdigest() for path, text in texts.items()}


@pytest.mark.parametrize(
    ("what", "wanted", "last", "there", "expected"),
    [
        ("first time", "v1", None, None, [Write(USER, b"v1")]),
        ("unchanged", "v1", "v1", "v1", [Nothing(USER, sha("v1"))]),
        ("new text, untouched file", "v2", "v1", "v1", [Write(USER, b"v2")]),
        ("somebody edited, nothing new", "v1", "v1", "mine", [Leave(USER, None)]),
        ("somebody edited, something new", "v2", "v1", "mine", [Leave(USER, NEW), Write(NEW, b"v2")]),
        ("somebody's file was there before", "v1", None, "mine", [Leave(USER, NEW), Write(NEW, b"v1")]),
        ("somebody wrote the same", "v1", None, "v1", [Nothing(USER, sha("v1"))]),
        ("somebody took the new text over", "v2", "v1", "v2", [Nothing(USER, sha("v2"))]),
        ("somebody removed it, nothing new", "v1", "v1", None, [Leave(USER, None)]),
        ("somebody removed it, something new", "v2", "v1", None, [Leave(USER, NEW), Write(NEW, b"v2")]),
        ("no longer wanted, untouched", None, "v1", "v1", [Remove(USER)]),
        ("no longer wanted, edited", None, "v1", "mine", [Leave(USER, None)]),
        ("no longer wanted, gone", None, "v1", None, [Nothing(USER, None)]),
    ],
)
def test_the_table(what: str, wanted: str | None, last: str | None, there: str | None, expected: list[Action]) -> None:
    """Wanted, last written, there now -> what is done."""
    del what
    found = plan(
        {} if wanted is None else {USER: wanted.encode()},
        {} if last is None else hashes({USER: last}),
        {USER: sha(there)},
    )
    assert list(found) == expected


def test_the_file_beside_is_kept_up_and_taken_away() -> None:
    """It follows the new text while it is untouched, goes when it is no longer needed, and is left when edited."""
    published = hashes({USER: "v1", NEW: "v2"})
    kept_up = plan({USER: b"v3"}, published, {USER: sha("mine"), NEW: sha("v2")})
    assert kept_up == (Leave(USER, NEW), Write(NEW, b"v3"))
    settled = plan({USER: b"v2"}, published, {USER: sha("v2"), NEW: sha("v2")})
    assert settled == (Nothing(USER, sha("v2")), Remove(NEW))
    edited = plan({USER: b"v3"}, published, {USER: sha("mine"), NEW: sha("theirs")})
    assert edited == (Leave(USER, NEW), Leave(NEW, None))


def test_names() -> None:
    """What has to be looked at, and the name beside a name."""
    assert beside("MEMORY-INDEX.json") == "MEMORY-INDEX.reverie-new.json"
    assert watched([USER], [NEW, "a.md"]) == ["a.md", "a.reverie-new.md", USER, NEW]


texts = st.sampled_from(["v1", "v2", "v3"])
edits = st.tuples(st.sampled_from([USER, NEW]), st.none() | st.sampled_from(["mine", "yours", "v1"]))
steps = st.lists(st.none() | texts.map(str.encode) | edits, max_size=12)


def carry_out(found: tuple[Action, ...], disk: dict[str, str], published: dict[str, str]) -> int:
    """Does what was decided, and insists that only our own bytes are touched; the number of touched files."""
    touched = 0
    for action in found:
        if isinstance(action, Write | Remove):
            touched += 1
            assert sha(disk.get(action.path)) == published.get(action.path)
        if isinstance(action, Write):
            disk[action.path] = action.data.decode()
        elif isinstance(action, Remove):
            del disk[action.path]
    return touched


@settings(max_examples=400, deadline=None)
@given(steps)
def test_no_edit_is_ever_overwritten(history: list[bytes | tuple[str, str | None] | None]) -> None:
    """Whatever is wanted and whoever edits what, only bytes that we wrote are replaced or removed.

    Publishing again at once does nothing, and a wanted text stands in its file, or beside it, or was there before.
    """
    disk: dict[str, str] = {}
    published: dict[str, str] = {}
    for step in history:
        if isinstance(step, tuple):
            path, text = step
            disk.pop(path, None)
            if text is not None:
                disk[path] = text
            continue
        wanted = {} if step is None else {USER: step}
        found: tuple[Action, ...] = ()
        for again in (False, True):
            found = plan(wanted, published, {path: sha(disk.get(path)) for path in watched(wanted, published)})
            touched = carry_out(found, disk, published)
            assert not (again and touched)
            published = published_after(published, found)
        if step is not None and not any(isinstance(action, Leave) for action in found):
            assert disk[USER].encode() == step
