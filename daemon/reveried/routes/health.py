"""`GET /v1/health`: whether the daemon answers, and as what; no paths, names or counts."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from reveried import PROTOCOL, __version__
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def health(call: Call) -> Reply:
    """Status, version, protocol, process id and age of this daemon."""
    return Reply(
        {
            "status": "ok",
            "version": __version__,
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "uptimeSeconds": round(time.monotonic() - call.services.started, 3),
        }
    )


ROUTES = (Route("GET", "/v1/health", health, "Whether the daemon answers, and as what."),)
