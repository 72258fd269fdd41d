"""The API told once: a class of endpoints for each noun, of which clients, routes and the OpenAPI document are made.

A client loads the nouns that it uses: the types of all of them take as long to import as the rest of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reverie.api.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.api.briefs import Briefs
    from reverie.api.contexts import Contexts
    from reverie.api.documents import Documents
    from reverie.api.dreams import Dreams
    from reverie.api.history import History
    from reverie.api.memories import Memories
    from reverie.api.redactions import Redactions
    from reverie.api.runs import Runs
    from reverie.api.search import Search
    from reverie.api.sessions import Sessions
    from reverie.api.spaces import Spaces
    from reverie.api.system import System
    from reverie.api.threads import Threads
    from reverie.api.tools import Tools

NOUNS = {
    "system": "backup cancel_job check_distiller compact health job jobs metrics openapi status",
    "spaces": "change_privacy create_space create_token privacy projects revoke_token sort_projects spaces tokens",
    "threads": "append change_thread create_thread delete_thread distill entries learn messages model_requests reflect "
    "rewind send_chunk start_distill start_import summaries thread threads",
    "contexts": "add_note context context_text delete_note digest notes replace_working_state set_working_state "
    "working_state",
    "briefs": "brief brief_text change_brief_line",
    "sessions": "compact_conversation end_session prepare_compaction sessions start_session",
    "memories": "accept_candidate candidate candidates change_memory forget memories memory memory_history recall "
    "reject_candidate remember",
    "search": "search",
    "documents": "append_entry conflict conflicts delete_document delete_folder document documents index insert_lines "
    "move_document patch_document put_document resolve sync_now sync_status",
    "history": "archive archives difference document_history operation operations rollback undo",
    "dreams": "add_schedule dream dream_record dreams remove_schedule schedules start_dream",
    "runs": "complete_run put_run_file put_working_memory run run_context run_file runs start_run",
    "redactions": "allow_redactions disallow_redactions redactions",
    "tools": "call_tool tools",
}
"""The methods of a client by the module whose class of the same name has them."""


def endpoints() -> Iterator[Endpoint[..., Any]]:
    """Yield every endpoint of the API, also those that are no methods of a client."""
    for noun in NOUNS:
        for kind in vars(import_module(f"{__name__}.{noun}")).values():
            for row in vars(kind).values() if isinstance(kind, type) else ():
                if isinstance(row, Endpoint) and not row.variant:
                    yield row


if TYPE_CHECKING:
    # fmt: off
    class Api(Briefs, Contexts, Documents, Dreams, History, Memories, Redactions, Runs, Search, Sessions, Spaces,
              System, Threads, Tools):
        """Every operation of the API as a method, for the blocking and the asyncio client."""

else:

    class Api:
        """Every operation of the API as a method; those of a noun are set when one of them is first used."""

        def __getattr__(self, name: str) -> Any:
            noun = next((noun for noun, names in NOUNS.items() if name in names.split()), None)
            if noun is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            methods = vars(getattr(import_module(f"{__name__}.{noun}"), noun.capitalize()))
            for method in NOUNS[noun].split():
                setattr(Api, method, methods[method])
            return getattr(self, name)

        def __dir__(self) -> list[str]:
            return [*super().__dir__(), *" ".join(NOUNS.values()).split()]
