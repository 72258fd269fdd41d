"""Output of `log`, `show`, `undo` and `archives list`."""

from __future__ import annotations

import re

import pytest

from support.cli import AT, MEMORY, OPERATION, Cli, Routes, check
from support.pages import page

ARCHIVE = {"kind": "dream", "at": AT, "size": 16, "entries": 2}


@pytest.mark.usefixtures("daemon")
def test_log_hides_routine_operations(cli: Cli, routes: Routes) -> None:
    """Routine operations (appends, import steps, lists) are counted and not shown, page by page, unless --all."""
    steps = [OPERATION | {"id": f"op_{n}", "why": why} for n, why in enumerate(["messages.append", "memory.list"], 5)]
    pages = {None: page(*steps, next_="a"), "a": page(OPERATION, OPERATION)}
    routes["GET /v1/operations"] = lambda request: pages[request.query.get("after")]
    done = cli("log", "-n", "1")
    assert len(done.out.splitlines()) == 3
    assert re.search(r"When +Who", done.out)
    assert done.out.endswith(
        "Routine operations not shown: 2 (appends, import steps, lists, schedules); --all shows them.\n"
    )
    everything = cli("log", "--all").out
    assert "memory.list" in everything
    assert "not shown" not in everything
    for options, expected in (((), ["op_2"] * 2), (("-n", "1"), ["op_2"]), (("-a", "-n", "1"), ["op_5"])):
        page_ = cli("log", "--json", *options).json
        assert [item["id"] for item in page_["items"]] == expected
        assert page_["next"] == (expected[-1] if options else None)
    routes["GET /v1/operations"] = page(*steps)
    assert (
        cli("log").out
        == "Routine operations not shown: 2 (appends, import steps, lists, schedules); --all shows them.\n"
    )


@pytest.mark.usefixtures("daemon")
def test_effects_of_an_operation(cli: Cli, routes: Routes) -> None:
    """A removed memory is printed with its last text, many are counted, and bookkeeping records are left out."""
    versions = [
        {"version": n, "operation": str(n), "at": AT, "who": "owner", "why": "x", "memory": memory}
        for n, memory in ((3, MEMORY | {"content": "Old text."}), (7, MEMORY | {"content": "Last text."}), (9, None))
    ]
    removed = {"kind": "memory", "key": ["mem_1"], "before": 7, "after": None}
    routes["GET /v1/memories/mem_1/history"] = page(*versions)
    routes["GET /v1/operations/9"] = OPERATION | {"id": "9", "changes": [removed]}
    check(cli, "show 9", "removed: Last text.")
    routes["GET /v1/operations/9"] = OPERATION | {"id": "9", "changes": [removed] * 52}
    check(cli, "show 9", "Memories: 52 removed", "and 2 more; --json")
    routes["GET /v1/operations/9"] = OPERATION | {"changes": [{"kind": "ledger", "key": []}]}
    check(cli, "show 9", "No memory, document or thread changed.")
    forgotten = {"kind": "forgotten", "key": ["5d" * 32], "before": None, "after": 9}
    routes["GET /v1/operations/9"] = OPERATION | {"changes": [forgotten, forgotten]}
    check(cli, "show 9", "Not learnt again when a session says the same: 2 memories")
    assert "5d5d" not in cli("show", "9").out
    routes["GET /v1/operations/9"] = OPERATION | {"changes": [forgotten | {"before": 9, "after": None}]}
    check(cli, "show 9", "Learnt again when a session says the same: 1 memory")


@pytest.mark.usefixtures("daemon")
def test_archives_newest_first(cli: Cli, routes: Routes) -> None:
    """Archives of all pages are listed newest first; with -n the number of older ones is printed."""
    old, new = (
        ARCHIVE | {"sha256": letter * 64, "at": at} for letter, at in (("a", AT), ("b", AT.replace("11", "12", 1)))
    )
    pages = {None: page(old, next_="x"), "x": page(new)}
    routes["GET /v1/archives"] = lambda request: pages[request.query.get("after")]
    lines = cli("archives", "list").out.splitlines()
    assert [line[:4] for line in lines] == ["Arch", "bbbb", "aaaa"]
    assert [item["sha256"][0] for item in cli("archives", "list", "-n", "1", "--json").json["items"]] == ["b"]
    check(cli, "archives list -n 1", "bbbb", "Older ones not shown: 1. To see them: reverie archives list --limit N")
