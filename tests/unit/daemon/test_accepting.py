"""How connections are accepted: all that wait, whatever the loop; and after a rest where there is no room for one."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop

from reveried import server as module
from reveried.http.limits import Admission, Limits
from reveried.server import Server, bind_unix
from support.daemon import scratch_home

CLIENTS = 64
TURNS = 8  # of the loop, far fewer than clients


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_all_that_wait_are_accepted_together(run: Callable[[Any], None]) -> None:
    """Clients that connect together are all accepted within a few turns of the loop, however long a turn takes."""

    async def main() -> None:
        with scratch_home() as home:
            server = Server(Admission(Limits()))
            server.listen(bind_unix(home / "s"))
            clients = [connected(home / "s") for _ in range(CLIENTS)]
            for _ in range(TURNS):
                await asyncio.sleep(0)
            assert server.admission.open_connections == CLIENTS
            assert await server.drain(1.0)
            assert server.admission.open_connections == 0
            for client in clients:
                client.close()

    run(main())


class Exhausted(socket.socket):
    """A listener for which the process has no descriptor left at the first call."""

    calls = 0

    def accept(self) -> Any:
        """Fail once."""
        self.calls += 1
        if self.calls == 1:
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_without_descriptors_accepting_goes_on_after_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """If accepting fails for lack of descriptors, it is tried again after a rest, and the client is accepted."""
    monkeypatch.setattr(module, "REST_S", 0.01)

    async def main() -> None:
        with scratch_home() as home:
            server = Server(Admission(Limits()))
            listener = Exhausted(fileno=bind_unix(home / "s").detach())
            server.listen(listener)
            client = connected(home / "s")
            async with asyncio.timeout(60):
                while not server.admission.open_connections:  # noqa: ASYNC110 - the product has no event for it
                    await asyncio.sleep(0.001)
            assert listener.calls <= 3  # the failure, the connection, and that there is no other
            assert await server.drain(1.0)
            client.close()

    asyncio.run(main())


def connected(path: Path) -> socket.socket:
    """Return a client's socket that is connected, if not accepted yet."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(str(path))
    return client
