"""Properties of path validation over traversal payloads and random names."""

from __future__ import annotations

import os
import unicodedata
from pathlib import PurePosixPath

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.errors import ValidationError
from reverie.paths import safe_relative
from support.hostile_cases import forms, payloads
from support.soak import count

ROOT = "/root/of/space"
PLAIN = ["facts", "user.md", "x.md", "a b", "archives", "é", "事実", "a" * 260]
DOTS = ["..", ".", "...", "", "x.", "~", "con", " ", "\\", ":", "\0", "%2e"]
ODD = ["\u202e", "e\u0301", "\uff0e\uff0e", "\u2215", "\ud800"]
PARTS = st.sampled_from(PLAIN + DOTS + ODD)


def accepted(name: str) -> PurePosixPath | None:
    try:
        return safe_relative(name, suffixes=None)
    except ValidationError:
        return None


def check_inside(name: str) -> bool:
    """Return True if the path is accepted; assert that it is then unchanged, canonical and inside the root."""
    path = accepted(name)
    if path is None:
        return False
    joined = os.path.join(ROOT, path)  # noqa: PTH118 # as a careless program would
    assert str(path) == name == unicodedata.normalize("NFC", name)
    assert os.path.normpath(joined) == joined
    assert joined.startswith(ROOT + "/")
    assert not {".", "..", ""} & set(name.split("/"))
    assert name.isprintable()
    return True


def test_no_traversal_payload_leads_outside() -> None:
    """Each of over 5,000 traversal payloads, alone or in a document's name, is refused or stays inside."""
    for payload in payloads():
        for name in forms(payload):
            check_inside(name)
    assert len(payloads()) > 5000


@settings(max_examples=count(200, 20_000), deadline=None)
@given(st.lists(PARTS | st.text(max_size=5), max_size=6).map("/".join) | st.text(max_size=30))
def test_random_names_stay_inside(name: str) -> None:
    """An accepted name is a plain path inside the folder."""
    check_inside(name)


@settings(max_examples=count(100, 5_000), deadline=None)
@given(st.lists(st.from_regex(r"[a-z0-9][a-z0-9 _\-]{0,10}[a-z0-9]", fullmatch=True), min_size=1, max_size=6))
def test_ordinary_names_are_accepted(parts: list[str]) -> None:
    """Common file names are accepted, reserved names excepted."""
    name = "/".join(("notes", *parts)) + ".md"
    reserved = {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
    assert check_inside(name) or reserved & set(parts)
