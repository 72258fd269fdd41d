"""`reverie note`: adding a note, listing notes, and unknown categories."""

from __future__ import annotations

import pytest

from support.cli import AT, Cli, Routes
from support.pages import page

NOTE = {"id": "note_1", "content": "the pier is closed", "category": "correction", "at": AT}


@pytest.mark.usefixtures("daemon")
def test_notes_are_listed_newest_first(cli: Cli, routes: Routes) -> None:
    """The notes of all pages are listed, newest first; without notes a sentence is printed."""
    pages = {None: page(NOTE, next_="note_1"), "note_1": page(NOTE | {"id": "note_2", "content": "it is open"})}
    routes["GET /v1/threads/thr_1/notes"] = lambda request: pages[request.query.get("after")]
    listed = cli("note", "thr_1").out.splitlines()
    assert "it is open" in listed[1]
    assert "the pier is closed" in listed[2]
    assert [note["id"] for note in cli("note", "thr_1", "--json").json["items"]] == ["note_2", "note_1"]
    routes["GET /v1/threads/thr_1/notes"] = page()
    assert "No notes yet" in cli("note", "thr_1").out
