"""`reverie review` and `reverie runs`: lists, one in full, decisions, and the questions on a terminal."""

from __future__ import annotations

from typing import Any

import click
import pytest

from support.cli import AT, Cli, Routes, check

pytestmark = pytest.mark.usefixtures("daemon")

NAME = "cnd_0123456789abcdef01234567"
OTHER = "cnd_0123456789abcdef7654dcba"
QUARANTINED: dict[str, Any] = {
    "id": NAME,
    "state": "waiting",
    "reason": "quarantined",
    "why": "its words are from a web page",
    "changes": [
        {
            "action": "ADD",
            "type": "fact",
            "content": "The quay has nine cranes",
            "tags": ["quay"],
            "project": "harbour",
            "provenance": {"thread": "thr_1", "seqs": [4]},
        }
    ],
    "createdAt": AT,
}
PROPOSED: dict[str, Any] = {
    "id": OTHER,
    "state": "waiting",
    "reason": "person",
    "why": "what was said since replaces it",
    "changes": [
        {
            "action": "UPDATE",
            "memory": "mem_1",
            "before": "Port 80",
            "content": "Port 81",
            "type": "fact",
            "stale": True,
        }
    ],
    "createdAt": AT,
}
RUN: dict[str, Any] = {
    "id": "run_01m8341qdhmh101hacce3kcnxh",
    "agent": "coder",
    "thread": None,
    "title": "The queue",
    "project": "harbour",
    "state": "completed",
    "createdAt": AT,
    "updatedAt": AT,
    "completedAt": AT,
    "endedBy": "idle",
    "files": [
        {"path": "docs/queue.md", "size": 2048, "sha256": "00", "authorAgentId": "coder", "source": "api", "at": AT},
        {
            "path": "logo.png",
            "size": 9,
            "sha256": "00",
            "authorAgentId": "coder",
            "source": "tool",
            "at": AT,
            "omitted": "binary",
        },
    ],
    "workingMemory": {"port": "5672"},
    "result": {
        "candidates": [{"type": "fact", "content": "It listens on 5672", "tags": []}],
        "changes": [{"action": "ADD", "type": "fact", "content": "It listens on 5672", "tags": [], "id": "mem_2"}],
        "tier": "GENEROUS",
        "operation": "7",
        "counts": {"ADD": 1},
        "waiting": [NAME],
    },
}


@pytest.fixture(autouse=True)
def waiting(routes: Routes) -> None:
    """Two candidates that wait."""
    routes["GET /v1/candidates"] = {"items": [QUARANTINED, PROPOSED], "next": None}
    routes[f"GET /v1/candidates/{NAME}"] = QUARANTINED
    routes[f"GET /v1/candidates/{OTHER}"] = PROPOSED
    for name in (NAME, OTHER):
        for word, state in (("accept", "accepted"), ("reject", "rejected")):
            routes[f"POST /v1/candidates/{name}/{word}"] = {"id": name, "state": state, "operation": "9"}


def test_what_waits_is_listed(cli: Cli) -> None:
    """`review list`, and `review` without a terminal, print id, reason and change of each candidate that waits."""
    for words in ("review list", "review"):
        check(
            cli,
            words,
            "cnd_…01234567",
            "its words are from a web page",
            "new fact: The quay has nine cranes",
            "Port 80 -> Port 81",
        )
    assert [item["id"] for item in cli("review", "--json").json["items"]] == [NAME, OTHER]


def test_one_is_shown(cli: Cli) -> None:
    """`review diff` prints a candidate's reason and source; of an update both texts, and that its memory changed."""
    check(
        cli,
        "review diff 01234567",
        "its words are from a web page",
        "The quay has nine cranes",
        "thread thr_1, message 4",
    )
    check(cli, "review diff 7654dcba", "Update mem_1 (it has other words by now)", "Port 80", "Port 81")
    assert cli("review", "diff", "01234567", "--json").json["id"] == NAME
    assert cli("review", "diff", "zzzz").code == 1


def test_decisions(cli: Cli) -> None:
    """`review accept` takes several ids, and prints each decision and its undo; `review reject` prints its decision."""
    check(cli, "review accept 01234567 7654dcba", f"Accepted: {NAME}", f"Accepted: {OTHER}", "reverie undo 9")
    check(cli, "review reject 01234567", f"Rejected: {NAME}")
    assert [item["state"] for item in cli("review", "reject", NAME, "--json").json] == ["rejected"]


def test_questions_on_a_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal `review` shows each candidate and asks; an unknown answer is asked again, an end quits."""
    answers = iter(["x", "a", "s"])
    monkeypatch.setattr("reveried.cli.review.is_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    outcome = cli("review")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"Accepted: {NAME}" in outcome.out
    assert OTHER in outcome.out
    assert "2 candidates seen" in outcome.out
    assert next(answers, None) is None

    def ends(*_: Any, **__: Any) -> str:
        raise click.Abort

    monkeypatch.setattr("click.prompt", ends)
    outcome = cli("review")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("What you did not decide still waits.\n")
    assert OTHER not in outcome.out
