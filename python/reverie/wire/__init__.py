"""The requests and responses of the HTTP API as typed structs; no I/O.

A module is imported when one of its names is first asked for: a client needs the types of a noun or two, and all of
them take as long to import as the rest of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reverie.wire.base import *
    from reverie.wire.brief import *
    from reverie.wire.contexts import *
    from reverie.wire.distillation import *
    from reverie.wire.documents import *
    from reverie.wire.dreams import *
    from reverie.wire.history import *
    from reverie.wire.memories import *
    from reverie.wire.parsing import *
    from reverie.wire.redactions import *
    from reverie.wire.runs import *
    from reverie.wire.search import *
    from reverie.wire.sessions import *
    from reverie.wire.spaces import *
    from reverie.wire.status import *
    from reverie.wire.threads import *
    from reverie.wire.tools import *

else:
    _MODULES = ("base", "parsing", "spaces", "memories", "threads", "documents", "history", "search", "sessions")
    _MODULES += ("contexts", "runs", "tools", "brief", "redactions", "distillation", "dreams", "status")

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        for module in _MODULES if not name.startswith("_") else ():
            value = getattr(import_module(f"{__name__}.{module}"), name, None)
            if value is not None:
                globals()[name] = value
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
