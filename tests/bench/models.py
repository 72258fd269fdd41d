"""A request to a model beside the model's own time: the process, its memory, the two ledger commits."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from bench.run import ms_of, row, spread
from reveried.models.transport import ModelTransport
from support.asking_model import Asking, question
from support.daemon import status_bytes
from support.model_server import ModelServer, answer


def requests(count: str = "200") -> None:
    """Print the first request, the next ones with and without the ledger, and the memory; the server does not wait."""
    with ModelServer() as server, tempfile.TemporaryDirectory() as folder:
        server.script(answer('{"ok": true}'))
        asking = Asking(Path(folder), server)

        def taken(transport: ModelTransport, times: int) -> list[float]:
            asked = (transport.answer(question(f"Is {number} so?"), 60) for number in range(times))
            return [ms_of(partial(asking.run, one)) for one in asked]

        try:
            metered = asking.metered(asking.transport)
            row("first request, with the start of the process", taken(metered, 1)[0] / 1000, "s")
            spread("each request", taken(metered, int(count)))
            spread("each request, without the ledger", taken(asking.transport, int(count)))
            for pid in asking.transport.pids():
                row("memory of the process", status_bytes(pid, "VmRSS") / 1e6, "MB")
        finally:
            asking.close()


CASES = {"requests": requests}
