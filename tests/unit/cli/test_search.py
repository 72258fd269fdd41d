"""The command `search`: its request, its text at 80 columns, and what it says where nothing is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import THREAD, Cli, Routes
from support.fake_daemon import envelope
from support.pages import page

AT = "2023-07-02T10:01:00.000Z"
HIT: dict[str, Any] = {
    "kind": "message",
    "passage": "In Oslo, with my sister. " * 12,
    "score": 7.5,
    "why": "oslo 7.50",
    "at": AT,
    "thread": {"id": "thr_1", "title": "A summer that was long and had a very long title too", "project": None},
    "message": {"seq": 2, "role": "assistant", "id": None},
    "neighbours": [
        {"seq": 1, "role": "user", "text": "Where did you spend the summer, and with whom, and for how long was it?"},
        {"seq": 3, "role": "user", "text": "Did it rain?"},
    ],
}
SECTION = {
    "kind": "document",
    "passage": "Run.",
    "score": 1.0,
    "why": "",
    "document": "a.md",
    "heading": "Emu",
    "at": AT,
}


@pytest.mark.usefixtures("daemon")
def test_hits_fit_the_terminal(cli: Cli, routes: Routes) -> None:
    """A hit is printed as its thread or document, the message before, the passage, the message after: 80 columns."""
    routes["POST /v1/search"] = {"hits": [HIT, SECTION], "complete": True}
    shown = cli("search", "where", "in", "Oslo?").out
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert "--around 2 · assistant · 2023-07-02 10:01" in lines[0]
    assert lines[1].startswith("    user: Where did you")
    assert lines[2].startswith("    > In Oslo")
    assert "    user: Did it rain?" in lines
    assert "a.md · Emu · document · 2023-07-02 10:01" in lines


@pytest.mark.usefixtures("daemon")
def test_the_result_of_a_tool_is_headed_so(cli: Cli, routes: Routes) -> None:
    """A found result of a tool, and one beside a hit, has `tool` where a person's message has `user`."""
    found = {**HIT, "message": {"seq": 2, "role": "user", "id": None, "toolResult": True}}
    found["neighbours"] = [{"seq": 3, "role": "user", "text": "It rained.", "toolResult": True}]
    routes["POST /v1/search"] = {"hits": [found], "complete": True}
    lines = cli("search", "Oslo").out.splitlines()
    assert "--around 2 · tool · 2023-07-02 10:01" in lines[0]
    assert lines[-1] == "    tool: It rained."


@pytest.mark.usefixtures("daemon")
def test_an_error_names_the_option(cli: Cli, routes: Routes) -> None:
    """The daemon's error about a field of the request names the option."""
    routes["POST /v1/search"] = envelope(
        "validation_error", "since is not a time", status=400, hint="write it as 2026-11-21", field="since"
    )
    done = cli("search", "Oslo", "--since", "tomorrow")
    assert (done.code, done.err) == (2, "reverie search: --since is not a time\nnext: write it as 2026-11-21\n")
    routes["POST /v1/search"] = envelope(
        "validation_error", "before is not after `since`", status=400, hint="give a later `before`", field="before"
    )
    done = cli("search", "Oslo", "--since", "2024-02-01", "--before", "2024-01-01")
    assert done.err == "reverie search: --before is not after --since\nnext: give a later --before\n"


@pytest.mark.usefixtures("daemon")
def test_every_option_is_sent(cli: Cli, routes: Routes) -> None:
    """Each option of `reverie search` is a field of its request; `--json` prints the whole answer."""
    sent: list[Any] = []

    def answer(request: Any) -> dict[str, Any]:
        sent.append(json.loads(request.body))
        return {"hits": [HIT], "complete": True}

    routes["POST /v1/search"] = answer
    routes["GET /v1/threads/thr_1"] = envelope("not_found", "no thread is called 'thr_1'", status=404)
    misspelt = cli("search", "oslo", "--thread", "thr_1")
    assert (misspelt.code, "no thread is called" in misspelt.err, sent) == (1, True, [])
    routes["GET /v1/threads/thr_1"] = THREAD
    words = "search oslo --in all --agent mole --thread thr_1 --since 2023-01-01 --before 2024-01-01 -n 3 --json"
    printed = cli(*words.split(), "--project", "harbour").out
    assert json.loads(printed)["hits"][0]["message"]["seq"] == 2
    assert sent == [
        {
            "query": "oslo",
            "in": "all",
            "project": "harbour",
            "agent": "mole",
            "thread": "thr_1",
            "since": "2023-01-01",
            "before": "2024-01-01",
            "limit": 3,
        }
    ]


@pytest.mark.usefixtures("daemon")
def test_a_folder_is_a_project(cli: Cli, routes: Routes) -> None:
    """`--project .` is sent to the daemon as an absolute path."""
    sent: list[Any] = []

    def answer(request: Any) -> dict[str, Any]:
        sent.append(json.loads(request.body)["project"])
        return {"hits": [], "complete": True}

    routes["POST /v1/search"] = answer
    assert cli("search", "oslo", "--project", ".").code == 0
    assert sent == [str(Path.cwd())]


@pytest.mark.usefixtures("daemon")
def test_nothing_found_and_a_wrong_place(cli: Cli, routes: Routes) -> None:
    """Without hits a sentence is printed, and a note if the index is being built; an unknown `--in` exits with 2."""
    routes["POST /v1/search"] = {"hits": [], "complete": False}
    shown = cli("search", "oslo").out
    assert "Nothing matches that." in shown
    assert "still being built" in shown
    assert cli("search", "oslo", "--in", "nowhere").code == 2
    routes["GET /v1/threads"] = page(THREAD, THREAD | {"agent": "claude-code"})
    assert "Nothing matches that." in cli("search", "oslo", "--agent", "claude-code").out
    misspelt = cli("search", "oslo", "--agent", "cluade")
    assert (misspelt.code, "next: --agent takes one of: claude-code\n" in misspelt.err) == (2, True)
