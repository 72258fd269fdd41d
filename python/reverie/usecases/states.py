"""The working state as it is kept: what an agent set itself, and what a distiller said better than structure shows.

A kept state holds as of entry `seq`; what came after entry `from` is read again whenever the state is asked for, and
said on top of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reverie import tokens
from reverie.distill import working_state as working
from reverie.errors import Conflict, ValidationError
from reverie.models import StateSources, WorkingState
from reverie.store import Kind, Write
from reverie.usecases import threads
from reverie.usecases.records import record, value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.store import Reader, Writer

__all__ = ["changed", "kept", "put", "read_from", "refined", "state_of"]

TASK_CHARS_MAX = 1_000
ITEM_CHARS_MAX = 500
ITEMS_MAX = 20


def state_of(stored: Mapping[str, Any]) -> WorkingState:
    """The value of a stored state."""
    return value(WorkingState, stored)


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


def refined(state: Mapping[str, Any], said: object, *, seq: int) -> dict[str, Any] | None:
    """A stored state as a distiller said it at entry `seq`; None where it said nothing that can be used.

    What a model says is not trusted: texts and lists are bounded, and a source is only ever one that structure knew,
    or `seq`. An empty task is the task there was.
    """
    if not isinstance(said, WorkingState):
        return None
    before = state_of(state)
    lists = {name: _trusted(getattr(said, name), working.state_items(before, name), seq) for name in working.LISTS}
    task = _text(said.current_task, TASK_CHARS_MAX)
    since = before.sources.current_task if task in ("", before.current_task) else seq
    made = replace(before, current_task=task or before.current_task, sources=StateSources(current_task=since))
    return record(working.trim_to_tokens(working.with_items(made, **lists)))


def _trusted(texts: object, known: list[working.StateItem], seq: int) -> list[working.StateItem]:
    """What of a list can be kept, each with its source."""
    if not isinstance(texts, tuple | list):
        return []
    sources = dict(known)
    kept = [_text(text, ITEM_CHARS_MAX) for text in texts]
    return [(text, sources.get(text, seq)) for text in kept if text][:ITEMS_MAX]


def _text(said: object, chars_max: int) -> str:
    """Text on one line, of a length that can be kept; empty for what is none."""
    return " ".join(said.split())[:chars_max].rstrip() if isinstance(said, str) else ""


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
            return working.trim_to_tokens(state)
        state = working.without_oldest_item(state, longest)
    return state
