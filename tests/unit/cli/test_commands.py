"""Commands against a fake daemon: their requests, tables, sentences and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reveried.cli import dreams, output
from support.cli import AT, DISTILLED, MEMORY, Cli, Routes, check
from support.fake_daemon import FakeDaemon, envelope
from support.pages import page

CONTEXT = {
    "request": {"system": [], "messages": [], "context_management": None, "betas": []},
    "tokens": {"total": 0, "tokenizer": "o200k_base"},
}
STATUS = {
    "space": "default",
    "root": "/r/root/default",
    "counts": {},
    "distillation": {
        "supported": True,
        "maxTokenBudget": 1,
        "scheduled": True,
        "indexEmitted": True,
        "tokenizerName": "o200k_base",
        "archiveRetention": "forever",
    },
    "model": {"engine": "extractive"},
    "spend": {"total": 0, "today": 0},
}
SCHEDULE = {"id": "sch_1", "cron": "0 3 * * *", "timezone": "Europe/Vienna", "job": "dream", "nextRun": AT}


ANSWERS: dict[str, Any] = {
    "GET /v1/status": STATUS,
    "GET /v1/threads/thr_1/context": CONTEXT,
    "GET /v1/memories": page(MEMORY, next_="c"),
    "POST /v1/recall": {"hits": [{"memory": MEMORY, "score": 2.5, "why": "says renaming"}], "tokens": 9},
    "GET /v1/schedules": page(),
    "POST /v1/schedules": SCHEDULE,
}
DREAM = {
    "archive": None,
    "tokensUsed": 10,
    "tokenBudget": 100,
    "indexUpdated": True,
    "dryRun": True,
    "changes": [{"action": "KEEP", "id": "mem_3"}, {"action": "SKIP", "candidateIndex": 4}],
}


@pytest.mark.parametrize(
    ("words", "call", "answer", "says"),
    [
        ("threads", "GET /v1/threads", page(), "No threads with messages yet"),
        ("memories", "GET /v1/memories", page(), "No memories yet"),
        ("recall x", "POST /v1/recall", {"hits": [], "tokens": 0}, "No memory matches that"),
        ("log", "GET /v1/operations", page(), "No operations yet"),
        ("archives list", "GET /v1/archives", page(), "No archives yet"),
        ("schedule list", "GET /v1/schedules", page(), "No schedules."),
        ("dream --dry-run", "POST /v1/dreams", DREAM, "2 decisions, none written"),
        ("distill thr_1", "POST /v1/threads/thr_1/distill", DISTILLED | {"memories": None}, "nothing"),
        (
            "distill thr_1",
            "POST /v1/threads/thr_1/distill",
            DISTILLED | {"memories": {"candidates": 0, "counts": {}, "tier": "GENEROUS"}},
            "nothing",
        ),
    ],
)
@pytest.mark.usefixtures("daemon")
def test_empty_answers(cli: Cli, routes: Routes, *, words: str, call: str, answer: Any, says: str) -> None:
    """For an empty answer each command prints a sentence that says so."""
    routes[call] = answer
    check(cli, words, says)


def test_request_parameters(cli: Cli, routes: Routes, daemon: FakeDaemon) -> None:
    """Command line options are sent to the daemon as the parameters of its API."""
    routes.table |= ANSWERS
    cli("context", "thr_1", "--max-tokens", "500", "--query", "q", "--placement", "late")
    assert daemon.requests[-1].query == {"query": "q", "placement": "late", "maxTokens": "500"}
    cli("memories", "--type", "fact", "--tag", "t", "-n", "3")
    here = str(Path.cwd())
    assert daemon.requests[-1].query == {"type": "fact", "tag": "t", "limit": "3", "folder": here}
    cli("recall", "two", "words", "--type", "fact", "--tag", "t", "-n", "3")
    sent = {"query": "two words", "limit": 3, "types": ["fact"], "tags": ["t"]}
    assert daemon.requests[-1].json == {**sent, "folder": here}
    cli("recall", "two", "words", "--type", "fact", "--tag", "t", "-n", "3", "--project", "./x", "--json")
    assert daemon.requests[-1].json == {**sent, "project": f"{here}/x", "folder": here}
    cli("memories", "--project", "Harbour", "--all-projects")
    assert daemon.requests[-1].query == {"limit": "50", "folder": here, "project": "Harbour", "allProjects": "true"}
    cli("schedule", "add", "0 3 * * *", "--timezone", "Asia/Tokyo", "--budget", "7")
    assert daemon.requests[-1].json == {"cron": "0 3 * * *", "timezone": "Asia/Tokyo", "options": {"tokenBudget": 7}}
    assert cli("schedule", "add", "0 3 * * *", "--json").json["id"] == "sch_1"
    assert cli("context", "thr_1", "--placement", "beside").code == 2


@pytest.mark.usefixtures("daemon")
def test_schedule_defaults_to_the_local_time_zone(cli: Cli, routes: Routes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --timezone a schedule gets the time zone of this machine, UTC if it has none."""
    routes.table |= ANSWERS
    monkeypatch.setattr("tzlocal.get_localzone_name", lambda: "Europe/Vienna")
    assert dreams.local_timezone() == "Europe/Vienna"
    assert "next 2026-11-21 09:30 UTC." in cli("schedule", "add", "0 3 * * *").out
    routes["GET /v1/schedules"] = page(SCHEDULE)
    done = cli("schedule", "add", "0  3 * * *")
    assert (done.code, "this schedule already: sch_1\nnext: reverie schedule remove sch_1" in done.err) == (4, True)
    assert cli("schedule", "add", "0 3 * * *", "--learn").code == 0
    monkeypatch.setattr("tzlocal.get_localzone_name", lambda: None)
    assert dreams.local_timezone() == "UTC"


def test_budget_that_cannot_be_met(cli: Cli, routes: Routes, daemon: FakeDaemon) -> None:
    """`dream --json` prints the daemon's error for a budget that is too small, with the budget that is needed."""
    routes["POST /v1/dreams"] = envelope(
        "token_budget_exceeded", "1 is too little.", status=422, budget=1, minimumRequired=90
    )
    done = cli("dream", "--budget", "1", "--json")
    assert (done.code, done.json["details"]["minimumRequired"]) == (1, 90)
    assert daemon.requests[-1].json == {"tokenBudget": 1}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (7200, "2 hours"), (200_000, "2 days")],
)
@pytest.mark.usefixtures("daemon")
def test_uptime(cli: Cli, routes: Routes, seconds: float, words: str) -> None:
    """`reverie status` prints the uptime in its largest unit."""
    routes.table |= ANSWERS
    routes["GET /v1/health"] = {"status": "ok", "version": "1", "protocol": 1, "pid": 1, "uptimeSeconds": seconds}
    check(cli, "status", f"up {words}")


@pytest.mark.parametrize(
    ("count", "text"), [(320, "320 B"), (1229, "1.2 KiB"), (5 << 20, "5.0 MiB"), (3 << 30, "3.0 GiB")]
)
def test_sizes(count: int, text: str) -> None:
    """Numbers of bytes are printed in B, KiB, MiB or GiB."""
    assert output.size(count) == text


def test_control_characters_are_replaced() -> None:
    """Escape sequences and line breaks in texts of others are replaced by harmless characters."""
    assert output.clean("a\x1b[2Jb\tc\nd") == "a?[2Jb c d"
    assert output.clean("a\nb", keep="\n") == "a\nb"
    assert output.when(None) == "-"


def test_one_line_per_row_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe no row is broken or padded, however long, so that grep finds whole rows."""
    output.print_table("A, B", [("x" * 500, "y\nz"), ("1", "")])
    assert capsys.readouterr().out.splitlines()[1:] == ["x" * 500 + "  y z", "1"]
    assert output.clip("a  b\nc", 9) == "a b c"
    assert output.clip("abcdefghij", 5) == "abcd…"
