"""The working state as it is kept: what an agent set itself, and what a distiller said better than structure shows.

A kept state holds as of entry `seq`; what came after entry `from` is read again whenever the state is asked for, and
said on top of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reverie import tokens
from reverie.distill import state as working
from reverie.engine import threads
from reverie.engine.records import record, value
from reverie.errors import Conflict, ValidationError
from reverie.models import WorkingState
from reverie.store import Kind, Write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.store import Reader, Writer

__all__ = ["changed", "kept", "put", "read_from"]


def kept(reader: Reader, thread_id: str) -> dict[str, Any]:
    """The kept state of a thread, `{}` where there is none."""
    return reader.get(Kind.STATE, (thread_id,)) or {}


def read_from(held: Mapping[str, Any], through_seq: int) -> int:
    """Entries after this one are read on top of a kept state; `through_seq` is the last that is distilled."""
    return max(through_seq, int(held.get("from", 0)))


def changed(
    state: Mapping[str, Any], given: Mapping[str, Any], *, seq: int, at: str, whole: bool = False
) -> dict[str, Any]:
    """A stored state after an agent set the fields in `given` (named as in `WorkingState`), said at entry `seq`.

    The other fields stay, or are emptied where `whole`. What was found out automatically gives way to the words of
    the agent where both do not fit into 500 tokens.

    Raises:
        ValidationError: the words given are too many by themselves.
    """
    own = _own(WorkingState(), given, seq)
    if (size := tokens.count(working.render(own))) > working.MAX_TOKENS:
        raise ValidationError(
            f"a working state holds {working.MAX_TOKENS} tokens, and this one has {size}",
            hint="say it in fewer words; what must last belongs into a note or a memory file",
            field="",
            reason="too_long",
        )
    before = WorkingState() if whole else value(WorkingState, state)
    return record(replace(_fitting(_own(before, given, seq), given), updated_at=at))


def put(
    space: str,
    who: str,
    thread_id: str,
    state: dict[str, Any],
    *,
    seq: int,
    version: int | None,
    why: str,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Keeps `state`, made from the thread as of entry `seq` and from the state that operation `version` kept.

    The body answers with the state as stored. It raises NotFound for an unknown thread, Conflict with
    `details["stale"]` where another state was kept meanwhile.
    """

    def body(writer: Writer) -> dict[str, Any]:
        threads.get(writer, thread_id)
        if writer.version(Kind.STATE, (thread_id,)) != version:
            raise Conflict("the working state was changed meanwhile", hint="read it again", stale=True)
        writer.put(Kind.STATE, (thread_id,), {"state": state, "seq": seq, "from": seq})
        stored: dict[str, Any] = kept(writer, thread_id)["state"]
        return stored

    return Write(space=space, who=who, why=why, body=body, idempotency=idempotency)


def _own(state: WorkingState, given: Mapping[str, Any], seq: int) -> WorkingState:
    """`state` with the fields given, each item from entry `seq`."""
    lists = {name: [(text, seq) for text in given[name]] for name in working.LISTS if name in given}
    state = working.with_items(state, **lists)
    if "current_task" not in given:
        return state
    return replace(state, current_task=given["current_task"], sources=replace(state.sources, current_task=seq))


def _fitting(state: WorkingState, given: Mapping[str, Any]) -> WorkingState:
    """Within the bound: the oldest items of the lists that were not given go first."""
    others = [name for name in working.GIVES_WAY if name not in given]
    while tokens.count(working.render(state)) > working.MAX_TOKENS:
        longest = max(others, key=lambda name: len(" ".join(getattr(state, name))), default=None)
        if longest is None or not getattr(state, longest):
            return working.bounded(state)
        state = working.without_stalest(state, longest)
    return state
