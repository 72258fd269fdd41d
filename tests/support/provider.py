"""Settings, scripted answers and assertions for tests of a daemon whose model is a local provider's server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reverie.client import Client
from reverie.errors import ModelFailed
from support.daemon import Daemon
from support.daemon_folder import bytes_below
from support.fake_model import FakeModel, memory
from support.model_server import ModelServer, Step, answer, by_purpose
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

DEADLINE_S = 60.0  # far above what a busy machine needs
WAIT_S = 1.0


def said(text: str, **options: Any) -> Step:
    """Return a server script that answers extractions with `text` and consolidations with a valid answer."""
    return by_purpose(extract=answer(text, **options), consolidate=CONSOLIDATED)


def settings(server: ModelServer, **more: str) -> dict[str, str]:
    """Return the environment variables of a daemon that uses this provider's server as its model."""
    return {
        "REVERIE_DISTILLER_KIND": "anthropic",
        "REVERIE_DISTILLER_BASE_URL": server.url,
        "REVERIE_DISTILLER_DEADLINE_SECONDS": str(DEADLINE_S),
        "REVERIE_DISTILLER_WAIT_SECONDS": str(WAIT_S),
        "ANTHROPIC_API_KEY": KEY,
        **more,
    }


def warm_up(client: Client, server: ModelServer) -> None:
    """Wait until both model processes have started and answer a check."""
    server.script(answer('{"ok": true}'))

    def answers() -> bool:
        try:
            return len(client.check_distiller().models) == 2
        except ModelFailed:
            return False

    wait_until(answers)


def state(client: Client) -> tuple[Any, dict[str, bytes]]:
    """Return all memories without their accesses, and the bytes of all documents once the folder is in sync."""
    client.sync_now()
    items = client.memories(limit=1000, all_projects=True).items
    memories = [(item.id, item.content, item.tags, item.trust, item.updated_at) for item in items]
    return sorted(memories), bytes_below(Path(client.sync_status().root), ".md")


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


def nothing_leaked(model: ModelServer | FakeModel, daemon: Daemon, told: str) -> None:
    """Assert that no request has the talk's secret, and neither the log nor `told` that, the key or a model's words."""
    if isinstance(model, FakeModel):
        assert SECRET not in json.dumps(model.requests())
    else:
        for seen in (*model.requests, *model.background):
            assert SECRET.encode() not in seen.raw
            assert seen.headers["authorization"] == f"Bearer {KEY}"
    read = daemon.log_text() + told
    assert not any(text in read for text in (SECRET, KEY, "body-of-a-500", GOOD["content"]))
