"""The newest operation of a space, without the projections that Reverie itself writes later."""

from __future__ import annotations

from reverie import wire
from reverie.client import Client

LIST = "memory.list"  # MEMORY.md follows every change of the documents, once all has been quiet for a second


def newest_operation(client: Client) -> wire.Operation:
    """Return the newest operation that a caller made."""
    return next(operation for operation in client.operations(limit=10).items if operation.why != LIST)
