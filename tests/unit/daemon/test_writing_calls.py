"""Which calls of an agent's tools may have written into the folder."""

from __future__ import annotations

from typing import Any

import pytest

from reveried.actions.trust import _calls

ROOT = "/srv/ann/Reverie/default"


@pytest.mark.parametrize(
    ("given", "cwd", "words"),
    [
        ({"command": f"cp a.md {ROOT}/facts"}, "", f"cp a.md {ROOT}/facts"),
        ({"command": ["bash", "-c", f"date >> {ROOT}/a.md"]}, "", f"bash -c date >> {ROOT}/a.md"),
        ({"cmd": "make", "workdir": ROOT}, "/srv", "make"),
        ({"cmd": "make", "workdir": "facts"}, ROOT, "make"),
        ({"cmd": "make", "workdir": "/srv"}, ROOT, None),
        ({"file_path": f"{ROOT}/a.md", "old_string": "- old", "new_string": "- new"}, "", "- new"),
        ({"path": f"{ROOT}/a.md", "edits": [{"old_str": "- b", "new_str": "- c"}]}, "", "- c"),
        ({"command": "make"}, f"{ROOT}/facts", "make"),
        ({"file_path": f"{ROOT}/a.md"}, ROOT, None),  # reads
        ({"path": ROOT, "pattern": "tide"}, ROOT, None),  # searches
        ({"prompt": f"Look into {ROOT}", "description": "look"}, ROOT, None),  # another agent, with calls of its own
        ({"command": "make"}, "/srv/ann/Reverie-tools", None),
        ({"file_path": "/srv/ann/Reverie-tools/a.md", "content": "x"}, "", None),
    ],
)
def test_a_call_that_can_write_and_names_the_folder_or_runs_there(
    given: dict[str, Any], cwd: str, words: str | None
) -> None:
    """It has a command or new words, and the folder's path or working folder; its words are what it may write."""
    use = {"type": "tool_use", "id": "t1", "input": given}
    calls, results = _calls([([use], "2026-05-04T10:00:00Z", cwd)], ROOT)
    assert [call.words for call in calls] == ([] if words is None else [words.casefold()])
    assert results == {}
