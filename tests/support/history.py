"""What was written last, whatever Reverie itself writes a moment later."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie import wire
    from reverie.client import Client

__all__ = ["newest"]

LIST = "memory.list"  # MEMORY.md follows every change of the documents, once all has been quiet for a second


def newest(client: Client) -> wire.Operation:
    """The newest operation that somebody asked for."""
    return next(each for each in client.operations(limit=10).items if each.why != LIST)
