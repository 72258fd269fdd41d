"""The cost of a request to a model beside the model's own time: the process, its memory, the two ledger commits.

Run it: `python tests/bench/bench_models.py [requests]`. The provider is a local server that answers at once.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reveried.models.transport import ModelTransport
from support.asking_model import Asking, question
from support.fault_model_server import FaultModelServer, answer

REQUESTS = 200


def main(requests: int) -> None:
    """Print the time of the first request, the median of the next ones with and without the ledger, and the memory."""
    with FaultModelServer() as server, tempfile.TemporaryDirectory() as folder:
        server.script(answer('{"ok": true}'))
        asking = Asking(Path(folder), server)
        try:
            metered = asking.metered()
            print(f"first request, with the start of the process: {_seconds(asking, metered, 1)[0]:.2f} s")
            counted = _seconds(asking, metered, requests)
            plain = _seconds(asking, asking.transport, requests)
            print(f"each of {requests} requests: {_shown(counted)}; without the ledger: {_shown(plain)}")
            for pid in asking.transport.pids():
                print(f"memory of the process: {_megabytes(pid):.0f} MB")
        finally:
            asking.close()


def _seconds(asking: Asking, transport: ModelTransport, times: int) -> list[float]:
    """Return the seconds that each request took."""
    taken = []
    for number in range(times):
        began = time.perf_counter()
        asking.run(transport.answer(question(f"Is {number} so?"), 60))
        taken.append(time.perf_counter() - began)
    return taken


def _shown(seconds: list[float]) -> str:
    return f"median {statistics.median(seconds) * 1000:.1f} ms, longest {max(seconds) * 1000:.1f} ms"


def _megabytes(pid: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS)
