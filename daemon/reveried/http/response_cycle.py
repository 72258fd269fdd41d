"""One request and its answer on a connection: uvicorn's, made right for peers that leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reveried.http.uvicorn_shim import RequestResponseCycle

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

__all__ = ["Cycle"]


class Cycle(RequestResponseCycle):
    """One request and its answer; an answer to a peer that has gone is dropped, and is no error."""

    async def send(self, message: ASGISendEvent) -> None:
        """One piece of the answer, when the peer has room for it."""
        if self.flow.write_paused:
            await self.flow.drain()
        if self.transport.is_closing():
            self.leave()
            return
        await super().send(message)

    def leave(self) -> None:
        """The peer has gone: whoever waits for it to say something learns that."""
        self.disconnected = True
        self.message_event.set()
