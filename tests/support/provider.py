"""Settings, scripted answers and assertions for tests of a daemon whose model is a local provider's server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from reverie.client import Client
from reverie.errors import ModelFailed
from support.daemon import Daemon
from support.daemon_folder import bytes_below
from support.fake_model import memory
from support.fault_model_server import Connection, FaultModelServer, answer, by_purpose
from support.waiting import wait_until

KEY = "sk-test-0123456789-for-this-test"
SECRET = "ghp_" + "Q9w8E7r6T5y4U3i2O1p0A9s8D7f6G5h4J3k2"
SAID = "The mailer retries three times because the relay drops the first connection."
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": f"{SAID} Its token is {SECRET}."},
    {"role": "assistant", "content": "Noted: the relay drops the first connection, so the mailer retries."},
]
GOOD = memory(
    "The mailer retries because the relay drops the first connection.", "the relay drops the first connection"
)


def extraction(*memories: dict[str, Any]) -> str:
    """Return the JSON text of a model's extraction that has these memories."""
    return json.dumps({"memories": list(memories), "episodes": [], "wrong": []})


ANSWER = extraction(GOOD)
CONSOLIDATED = answer(json.dumps({"operations": [{"action": "ADD", "candidateIndex": 0}]}))
WELL = by_purpose(extract=answer(ANSWER), consolidate=CONSOLIDATED)

DEADLINE_S = 6.0
WAIT_S = 3.5


def said(text: str, **options: Any) -> Callable[[Connection], None]:
    """Return a server script that answers extractions with `text` and consolidations with a valid answer."""
    return by_purpose(extract=answer(text, **options), consolidate=CONSOLIDATED)


def settings(server: FaultModelServer, **more: str) -> dict[str, str]:
    """Return the environment variables of a daemon that uses this provider's server as its model."""
    return {
        "REVERIE_DISTILLER_KIND": "anthropic",
        "REVERIE_DISTILLER_BASE_URL": server.url,
        "REVERIE_DISTILLER_DEADLINE_SECONDS": str(DEADLINE_S),
        "REVERIE_DISTILLER_WAIT_SECONDS": str(WAIT_S),
        "ANTHROPIC_API_KEY": KEY,
        **more,
    }


def warm_up(client: Client, server: FaultModelServer) -> None:
    """Wait until both model processes have started and answer a check."""
    server.script(answer('{"ok": true}'))

    def answers() -> bool:
        try:
            return len(client.check_distiller().models) == 2
        except ModelFailed:
            return False

    wait_until(answers)


def state(client: Client, daemon: Daemon) -> tuple[Any, dict[str, bytes]]:
    """Return all memories without their accesses, and the bytes of all documents once the folder is in sync."""
    client.sync_now()
    memories = [(item.id, item.content, item.tags, item.updated_at) for item in client.memories(limit=1000).items]
    root = daemon.home / "root" / "default"
    return sorted(memories), bytes_below(root, ".md")


def spent(client: Client, *roles: str) -> tuple[int, int, int, int]:
    """Return today's calls, input and output tokens, and calls without a known end, of these roles (default: strong).

    The cheap one is asked for working states in the background.
    """
    entries = [entry for entry in client.status().spend.models if entry.role in (roles or ("strong",))]
    return (
        sum(entry.calls for entry in entries),
        sum(entry.input_tokens for entry in entries),
        sum(entry.output_tokens for entry in entries),
        sum(entry.open for entry in entries),
    )


def nothing_leaked(server: FaultModelServer, daemon: Daemon) -> None:
    """Assert that no request has the talk's secret, and no line of the log a secret, the key or an answer's text."""
    for seen in (*server.requests, *server.background):
        assert SECRET.encode() not in seen.raw
        assert seen.headers["authorization"] == f"Bearer {KEY}"
    log = daemon.log_text()
    assert not any(text in log for text in (SECRET, KEY, "body-of-a-500", GOOD["content"]))
