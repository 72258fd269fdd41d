"""What the daemon takes of uvicorn: its protocol, its settings and its state, without its command line.

`import uvicorn` loads its command line too, and with it click: an eighth of the daemon's start. A stand-in is in its
place while the package loads, and gone afterwards, so that whoever wants `uvicorn.main` still gets the real one.
"""

from __future__ import annotations

import sys
from types import ModuleType

if "uvicorn" not in sys.modules:
    _stand_in = ModuleType("uvicorn.main")
    vars(_stand_in).update(Server=None, main=None, run=None)
    sys.modules["uvicorn.main"] = _stand_in
    import uvicorn

    del sys.modules["uvicorn.main"]
    del uvicorn

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

__all__ = ["Config", "HttpToolsProtocol", "RequestResponseCycle", "ServerState"]
