"""Thread ids by prefix, the output of distill and dream, and empty lists."""

from __future__ import annotations

from typing import Any

import pytest

from support.cli import AT, DISTILLED, MEMORY, THREAD, Cli, Routes
from support.pages import page


def memory(name: str, kind: str) -> dict[str, Any]:
    """Return a memory with this id and type, as the daemon answers it."""
    return MEMORY | {"id": name, "type": kind}


@pytest.mark.usefixtures("daemon")
def test_distill_output(cli: Cli, routes: Routes) -> None:
    """The figures come first, with the new memories by type; --full prints the summary."""
    changes_made = {"candidates": 3, "counts": {"ADD": 2}, "tier": "GENEROUS"}
    routes["POST /v1/threads/thr_1/distill"] = DISTILLED | {"memories": changes_made, "operation": "7"}
    changes = [{"kind": "memory", "key": [name], "after": 1} for name in ("mem_1", "mem_2")]
    operation = {"id": "7", "seq": 7, "at": AT, "who": "owner", "why": "thread.distill"}
    routes["GET /v1/operations/7"] = operation | {"changes": changes}
    routes["GET /v1/memories"] = page(memory("mem_1", "fact"), memory("mem_2", "fact"), memory("mem_3", "skill"))
    short = cli("distill", "thr_1").out
    assert short.startswith("Distillation  number 2 of thr_1\n")
    assert "Memories      2 new (2 facts)\n" in short
    assert "Conversation Summary" not in short
    assert short.endswith("reverie context thr_1\n")
    assert cli("distill", "thr_1", "--full").out.endswith("# Conversation Summary (Distillation #2)\n")
    routes["GET /v1/operations/7"] = operation
    assert "2 new\n" in cli("distill", "thr_1").out
    routes["GET /v1/operations/7"] = operation | {"changes": changes}
    routes["GET /v1/memories"] = page()
    assert "2 new\n" in cli("distill", "thr_1").out
    assert "longer than the messages" not in short
    routes["POST /v1/threads/thr_1/distill"] = DISTILLED | {"tokensBefore": 400}
    assert "The context is longer than the messages were" in cli("distill", "thr_1").out


@pytest.mark.usefixtures("daemon")
def test_a_thread_without_messages(cli: Cli, routes: Routes) -> None:
    """A thread without messages has the count `none`, and a sentence explains it."""
    routes["GET /v1/threads"] = page(THREAD)
    done = cli("threads")
    assert " none " in done.out
    assert "A thread without messages has nothing to distill." in done.out


@pytest.mark.usefixtures("daemon")
def test_dream_prints_proposals(cli: Cli, routes: Routes) -> None:
    """Changes of lines that a person wrote are printed as proposals, with the new text and the reason."""
    better = {"action": "UPDATE", "id": "mem_1", "content": "Editor: kate", "tags": []}
    over = {"action": "DELETE", "id": "mem_2"}
    routes["POST /v1/dreams"] = {
        "archive": "ab",
        "tokensUsed": 1,
        "tokenBudget": 9,
        "indexUpdated": True,
        "changes": [{"action": "KEEP", "id": "mem_1"}],
        "proposals": [{"change": better, "why": "a later message replaces it"}, {"change": over, "why": "over"}],
    }
    done = cli("dream").out
    assert "Proposed only" in done
    assert "Editor: kate" in done
    assert "(delete it)" in done
    assert "a later message replaces it" in done


@pytest.mark.usefixtures("daemon")
def test_dream_without_changes(cli: Cli, routes: Routes) -> None:
    """A dream without changes prints how many memories were read and how many wait, and no table of decisions."""
    routes["POST /v1/dreams"] = {
        "archive": "ab",
        "tokensUsed": 1,
        "tokenBudget": 9,
        "indexUpdated": True,
        "changes": [],
        "sources": 207,
        "waiting": 1294,
    }
    done = cli("dream").out
    assert "Decision" not in done
    assert "No memory is new" not in done
    assert "207 memories" in done
    assert "1,294 for the next dream" in done
    assert "Archive" in done


@pytest.mark.usefixtures("daemon")
def test_dream_without_new_memories(cli: Cli, routes: Routes) -> None:
    """A dream without new memories, or without any, says so and names the commands that bring some."""
    routes["POST /v1/dreams"] = {
        "archive": None,
        "tokensUsed": 0,
        "tokenBudget": 9,
        "indexUpdated": False,
        "changes": [],
    }
    routes["GET /v1/memories"] = page()
    assert "There are no memories to distill." in cli("dream").out
    routes["GET /v1/memories"] = page(memory("mem_1", "fact"))
    done = cli("dream").out
    assert "No memory is new" in done
    assert "reverie distill THREAD" in done
    assert "reverie import" in done
    assert "Archive" not in done
