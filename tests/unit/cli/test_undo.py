"""`reverie undo`: which operation it takes, its question, and a conflict."""

from __future__ import annotations

import io
from typing import Any

import pytest

from support.cli import AT, MEMORY, OPERATION, Cli, Routes, check
from support.fake_daemon import Request, envelope
from support.pages import page

ANSWERS = {
    "GET /v1/operations": page(OPERATION),
    "GET /v1/operations/op_2": OPERATION,
    "GET /v1/memories/mem_1/history": page(
        {"version": 1, "operation": "op_2", "at": AT, "who": "owner", "why": "distill", "memory": MEMORY}
    ),
    "POST /v1/operations/op_2/undo": {"operation": "op_3", "undone": "op_2"},
}


@pytest.mark.usefixtures("daemon")
def test_undo_without_id_takes_the_last_undoable(cli: Cli, routes: Routes) -> None:
    """Records of past events, undos, and undone operations are skipped, page by page.

    If none is left, the command fails.
    """
    pages = {
        None: page(OPERATION | {"id": "op_9", "undoable": False, "why": "thread.learn"}, next_="a"),
        "a": page(OPERATION | {"id": "op_8", "undoes": "op_7"}, OPERATION | {"id": "op_7"}, OPERATION),
    }
    routes.table |= ANSWERS | {"GET /v1/operations/op_7": OPERATION | {"id": "op_7"}}
    routes["GET /v1/operations"] = lambda request: pages[request.query.get("after")]
    check(cli, "undo --yes", "Undone: distill")
    routes["GET /v1/operations"] = page()
    done = cli("undo")
    assert (done.code, "nothing to undo" in done.err) == (1, True)


@pytest.mark.usefixtures("daemon")
def test_a_redo_is_undone_by_its_own_number(cli: Cli, routes: Routes) -> None:
    """The undo of an undo is what plain `undo` takes, in the first one's name; an undo of that is an undo again."""
    undos = [
        OPERATION | {"id": f"op_{seq}", "undoes": f"op_{seq - 1}", "why": f"undo {seq - 1}"} for seq in range(3, 7)
    ]
    older = OPERATION | {"id": "op_1", "why": "memory.add"}
    taken: list[str] = []

    def undo(request: Request) -> dict[str, str]:
        taken.append(request.path.split("/")[-2])
        return {"operation": "op_9", "undone": taken[-1]}

    for item in (*undos, OPERATION, older):
        routes[f"GET /v1/operations/{item['id']}"] = item
        routes[f"POST /v1/operations/{item['id']}/undo"] = undo
    for count, why in enumerate(("distill", "memory.add", "distill", "memory.add", "distill")):
        routes["GET /v1/operations"] = page(*reversed(undos[:count]), OPERATION, older)
        check(cli, "undo --yes", f"Undone: {why}")
    assert taken == ["op_2", "op_1", "op_4", "op_1", "op_6"]


@pytest.mark.usefixtures("daemon")
def test_undo_without_id_asks(cli: Cli, routes: Routes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare undo says what the operation did and asks; a "no" changes nothing. One with an id does not ask."""
    routes.table |= ANSWERS
    undone: list[str] = []
    answer = routes.table["POST /v1/operations/op_2/undo"]

    def undo(request: Request) -> Any:
        undone.append(request.path)
        return answer

    routes["POST /v1/operations/op_2/undo"] = undo
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    refused = cli("undo")
    assert refused.code == 1
    assert "Operation op_2: distill" in refused.out
    assert "added: Close the file before" in refused.out
    assert "nothing was changed" in refused.err
    assert undone == []
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert "Undone: distill" in cli("undo").out
    assert cli("undo", "op_2").code == 0
    assert len(undone) == 2


@pytest.mark.usefixtures("daemon")
def test_undo_names_what_it_cannot_undo(cli: Cli, routes: Routes, monkeypatch: pytest.MonkeyPatch) -> None:
    """`undo` after a thread's deletion names the operation before it and asks; with --yes it stops, and names it."""
    gone = {"kind": "thread", "key": ["thr_1"], "before": None, "after": None, "purged": True}
    deleted = OPERATION | {"id": "op_9", "why": "thread.delete", "undoable": False, "changes": [gone]}
    routes.table |= ANSWERS | {"GET /v1/operations": page(deleted, OPERATION)}
    stopped = cli("undo", "--yes")
    assert (stopped.code, stopped.out) == (4, "")
    assert "operation op_9 (thread.delete) is newer than all that can be undone" in stopped.err
    assert "to undo distill (" in stopped.err
    assert "reverie undo op_2\n" in stopped.err
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    check(cli, "undo", "operation op_9 is newer (thread.delete)", "Operation op_2: distill", "Undone: distill")
    assert "newer" not in cli("undo", "op_2").out


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize("undoable", [True, False])
def test_what_is_only_recorded_is_not_undone(cli: Cli, routes: Routes, *, undoable: bool) -> None:
    """A bare `undo` does not take the thread that a client's bridge began, with the notes it inherited; by id it does.

    A schedule, which cannot be undone, stops it.
    """
    note = {"kind": "note", "key": ["thr_1", "note_1"], "before": None, "after": 9}
    begun = OPERATION | {"id": "op_9", "why": "thread.create", "undoable": undoable, "changes": [note]}
    routes.table |= ANSWERS | {"GET /v1/operations": page(begun, OPERATION)}
    check(cli, "undo --yes", "Undone: distill")
    schedule = OPERATION | {"id": "op_8", "why": "schedule", "undoable": False, "changes": []}
    routes.table |= ANSWERS | {"GET /v1/operations": page(begun, schedule, OPERATION)}
    stopped = cli("undo", "--yes")
    assert stopped.code == 4
    assert "operation op_8 (schedule)" in stopped.err


@pytest.mark.usefixtures("daemon")
def test_undo_conflict(cli: Cli, routes: Routes) -> None:
    """An undo that conflicts with a later operation exits with 4."""
    routes.table |= ANSWERS
    routes["POST /v1/operations/op_2/undo"] = envelope("conflict", "A later operation changed it.", status=409)
    assert cli("undo", "op_2").code == 4
