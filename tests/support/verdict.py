"""What a refused call must look like: a status, a code, the closed envelope, and a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support.daemon import Answer

__all__ = ["refused"]


def refused(answer: Answer, status: int, code: str) -> dict[str, Any]:
    """The details of a refusal, whose status, code and envelope are as the surface says."""
    body = answer.json()
    assert (answer.status, body.get("error")) == (status, code), body
    assert set(body) == {"error", "message", "details"}, body
    assert body["message"], body
    assert body["details"].get("hint"), body
    details: dict[str, Any] = body["details"]
    return details
