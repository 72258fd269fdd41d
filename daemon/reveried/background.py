"""The work that the daemon begins by itself once it answers; `app` imports this when it is ready, not before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reveried.actions import purge
from reveried.actions.compact import compact_when_quiet
from reveried.actions.indexing import keep_index, keep_messages, keep_vectors
from reveried.actions.memories import write_accesses_regularly
from reveried.actions.runs import complete_due
from reveried.actions.sessions import resume_following
from reveried.actions.undo import prune_daily
from reveried.session_texts import warm
from reveried.stored import spaces_of
from reveried.supervise import start_supervised

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from contextlib import AsyncExitStack

    from reveried.services import Services

# Each ends when the daemon stops; the first ones end by themselves when their work is done.
_LOOPS: Final[Mapping[str, Callable[[Services], Coroutine[Any, Any, None]]]] = {
    "warm": lambda services: warm(services, spaces_of(services.store)),
    "purge": purge.resume,
    "retention": prune_daily,
    "runs": complete_due,
    "compaction": compact_when_quiet,
    "accesses": write_accesses_regularly,
    "memory index": keep_index,
    "message index": keep_messages,
    "message vectors": keep_vectors,
}


async def begin(services: Services, closing: AsyncExitStack) -> None:
    """Start to follow sessions, and the supervised loops, which `closing` ends."""
    await resume_following(services, spaces_of(services.store))
    for name, loop in _LOOPS.items():
        closing.callback(start_supervised(name, partial(loop, services)).cancel)
