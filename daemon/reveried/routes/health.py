"""Health, the first answer of a daemon: whoever starts one waits for it, so it needs little else."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from reverie.api.system import System
from reverie.errors import StorageFailed
from reverie.wire.status import Health
from reveried import PROTOCOL, __version__
from reveried.http.route import serves
from reveried.worker import WRITES_FAIL_HINT

if TYPE_CHECKING:
    from reveried.http.types import Call


@serves(System.health)
async def health(call: Call) -> Health:
    """Return status, version, protocol, process id and uptime of this daemon.

    Raises:
        StorageFailed: writes fail until the daemon is started again; a daemon that only reads is not healthy.
    """
    failure = call.services.worker.failure
    if failure is not None:
        raise StorageFailed(f"Writes fail: {failure.message}", hint=WRITES_FAIL_HINT)
    return Health(
        status="ok",
        version=__version__,
        protocol=PROTOCOL,
        pid=os.getpid(),
        uptime_seconds=round(time.monotonic() - call.services.started, 3),
    )
