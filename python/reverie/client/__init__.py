"""Typed client of the daemon over its Unix socket: `Client` blocks, `AsyncClient` is for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.client.blocking import Client

if TYPE_CHECKING:
    from reverie.client.aio import AsyncClient

__all__ = ["AsyncClient", "Client"]


def __getattr__(name: str) -> Any:
    """Import AsyncClient on first use: asyncio takes longer to load than everything else here together."""
    if name == "AsyncClient":
        from reverie.client.aio import AsyncClient  # noqa: PLC0415 - the reason is in the docstring

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
