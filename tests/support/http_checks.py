"""Helpers of the HTTP suites: short deadlines, error envelopes and process times."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from support.daemon import Answer, Daemon, request

BODY_BYTES = 1 << 20
LIMITED: dict[str, Any] = {"REVERIE_DAEMON_BODY_BYTES": str(BODY_BYTES)}
"""A small body limit, so that tests need not send much."""

QUICK: dict[str, Any] = LIMITED | {
    "REVERIE_DAEMON_HEADER_SECONDS": "0.4",
    "REVERIE_DAEMON_BODY_SECONDS": "0.5",
    "REVERIE_DAEMON_IDLE_SECONDS": "1.5",
    "REVERIE_DAEMON_WRITE_SECONDS": "0.6",
}
"""Deadlines so short that a test can wait for them; only for tests that a pause of the machine cannot lead there."""

HEALTH = request("GET", "/v1/health")


def check_refused(answer: Answer | None, status: int, code: str, reason: str | None = None) -> None:
    """Assert that an answer is an error envelope with this status and code."""
    assert answer is not None, "closed without an answer"
    assert (answer.status, answer.json()["error"]) == (status, code), answer.body
    assert set(answer.json()) == {"error", "message", "details"}
    assert answer.json()["details"]["hint"]
    assert answer.headers["reverie-protocol"] == "1"
    if reason is not None:
        assert answer.json()["details"]["reason"] == reason


def check_serving(daemon: Daemon) -> None:
    """Assert that the daemon answers a health request."""
    assert daemon.ask("GET", "/v1/health").status == 200


def serves(daemon: Daemon) -> bool:
    """Return whether the daemon serves a new connection now, rather than closing it."""
    with daemon.wire() as wire:
        wire.send(HEALTH)
        answer = wire.answer()
    return answer is not None and answer.status == 200


def bearer(token: str) -> dict[str, str]:
    """Return the authorization header of a token."""
    return {"Authorization": f"Bearer {token}"}


def times_run(pid: int) -> int:
    """Return the number of context switches of all threads of a process, which does not depend on load."""
    waits = re.compile(r"^voluntary_ctxt_switches:\t(\d+)", re.MULTILINE)
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # the thread has ended meanwhile
            found += sum(map(int, waits.findall((task / "status").read_text("ascii"))))
    return found
