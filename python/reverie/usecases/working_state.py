"""The working state of a thread: read, set by the agent, refined by a distiller, and kept up to date incrementally.

A stored state is that of one entry; later entries are read again whenever the state is requested, and built on top of
it. Reading is incremental too: a `Checkpoint` replaces everything before the turn that is still open, so the cost of
one more message is that of one message, not of the whole thread.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from reverie import tokenizer, wire
from reverie.context.units import open_turn_start
from reverie.decode import convert, from_msgpack
from reverie.distill import state_text
from reverie.errors import Conflict, ValidationError
from reverie.importers.join import main_line, tool_ids, with_asides
from reverie.importers.rewinds import belongs_to_tree, rewound_positions
from reverie.models import Entry, Message, StateSources, WorkingState
from reverie.store import Kind, Reader, ThreadRecord, WorkingStateRecord, Writer
from reverie.text_recall import query_for
from reverie.usecases import projects, threads
from reverie.usecases.by import By, writes
from reverie.usecases.entries import SealedEntry, opened_entry, sealed_after
from reverie.wire.contexts import STATE_ITEM_CHARS_MAX, STATE_ITEMS_MAX, STATE_TASK_CHARS_MAX

if TYPE_CHECKING:
    from reverie.distill.fold import ThreadFold

CHECKSUM_BYTES = 4


class Checkpoint(msgspec.Struct):
    """A substitute for all entries of a thread up to `seq`, the end of a turn.

    It is valid for the thread created at `created_at` and distilled through entry `distilled_through`. `fold` covers
    the entries after `state_seq`, the entry that the stored state is from. `user_text` is the user's last message and
    `calls` the checksums of all tool call ids, CHECKSUM_BYTES each. `rewound` are the entries behind items of the
    stored state that were rewound.
    """

    created_at: str
    distilled_through: int
    state_seq: int
    seq: int
    user_text: str
    calls: bytes
    fold: bytes
    rewound: list[int] = []


class StateJob(msgspec.Struct):
    """A snapshot: the entries after the checkpoint (else after the last distillation), and the stored state.

    `previous` is the stored state, `state_seq` the last entry that it covers, `version` the operation that wrote it.
    """

    thread: str
    project: str | None
    created_at: str
    distilled_through: int
    last_seq: int
    entries: list[SealedEntry]
    checkpoint: Checkpoint | None
    previous: WorkingState | None
    state_seq: int
    version: int | None


class StatePlan(msgspec.Struct):
    """The working state as of entry `seq`, the recall query that belongs to it, and the checkpoint for the next one.

    `version` is the operation that wrote the stored state it was built on; None where none is stored.
    """

    state: WorkingState
    query: str
    seq: int
    version: int | None
    checkpoint: Checkpoint | None = None


def stored(reader: Reader, thread_id: str) -> WorkingStateRecord | None:
    """Return the stored state of a thread, or None."""
    return reader.load(WorkingStateRecord, (thread_id,))


def read_after(stored_state: WorkingStateRecord | None, distilled_through: int) -> int:
    """Return the entry after which messages are read on top of the stored state, or of the last distillation."""
    return distilled_through if stored_state is None else max(distilled_through, stored_state.through_seq)


def versions(reader: Reader, thread_id: str) -> tuple[int | None, int | None]:
    """Return the operations that last wrote the thread and its stored state (None: none), a key for caching states."""
    return reader.version(Kind.THREAD, (thread_id,)), reader.version(Kind.STATE, (thread_id,))


def state_answer(state: WorkingState) -> wire.WorkingState:
    """Return a working state as the API answers it."""
    return convert(state, wire.WorkingState, from_attributes=True)


# Reading: snapshot, decide


def snapshot(reader: Reader, thread_id: str, checkpoint: Checkpoint | None = None) -> StateJob:
    """Return a StateJob: the entries after the checkpoint if it is valid, and the stored state. Raises NotFound."""
    thread = threads.get(reader, thread_id)
    stored_state = stored(reader, thread_id)
    state_seq = read_after(stored_state, thread.through_seq)
    if checkpoint is not None and not _is_valid(checkpoint, thread, state_seq):
        checkpoint = None
    return StateJob(
        thread=thread_id,
        project=projects.of_thread(thread),
        created_at=thread.created_at,
        distilled_through=thread.through_seq,
        last_seq=thread.last_seq,
        entries=sealed_after(reader, thread_id, thread.through_seq if checkpoint is None else checkpoint.seq),
        checkpoint=checkpoint,
        previous=None if stored_state is None else stored_state.state,
        state_seq=state_seq,
        version=reader.version(Kind.STATE, (thread_id,)),
    )


def _is_valid(checkpoint: Checkpoint, thread: ThreadRecord, state_seq: int) -> bool:
    """Return whether a checkpoint belongs to this thread, and no state was stored for an entry inside it.

    A thread that was deleted and created again under its id has another creation time. A state that was stored for an
    entry before the end of the checkpoint would have to be mixed into the middle of its fold; one that was stored at or
    behind its end replaces the fold.
    """
    same_thread = (checkpoint.created_at, checkpoint.distilled_through) == (thread.created_at, thread.through_seq)
    return same_thread and (state_seq == checkpoint.state_seq or state_seq >= checkpoint.seq)


def decide(job: StateJob) -> StatePlan:
    """Return the working state after the job's entries; pure, and the same from every valid checkpoint.

    Raises:
        Conflict: with `details["stale"]` where the new entries change the meaning of those before the checkpoint, so
            that the thread must be read without it.
    """
    before = job.checkpoint or Checkpoint(
        job.created_at, job.distilled_through, job.state_seq, job.distilled_through, "", b"", b""
    )
    entries = [opened_entry(job.thread, seq, data) for seq, data in job.entries]
    calls = [(entry.seq, _checksum(call)) for entry in entries for call in tool_ids(entry.content, "tool_use", "id")]
    if job.checkpoint is not None and not _is_self_contained(entries, calls, before.calls):
        raise Conflict("the thread must be read from further back", hint="read all of it", stale=True)
    messages = with_asides([message for message in main_line(entries) if not message.rewound], entries)
    # More entries may still join the last message (one reply is stored as several), so it stays out of the checkpoint.
    complete = open_turn_start(messages[:-1])
    fold = _fold_of(before.fold if before.state_seq == job.state_seq else b"")
    fold.follow(_after(job.state_seq, messages[:complete]))
    user_text = _last_user_text(messages[:complete]) or before.user_text
    seq = messages[complete].first_seq - 1 if messages else before.seq
    checkpoint = Checkpoint(
        created_at=before.created_at,
        distilled_through=before.distilled_through,
        state_seq=job.state_seq,
        seq=seq,
        user_text=user_text,
        calls=before.calls + b"".join(checksum for call_seq, checksum in calls if call_seq <= seq),
        fold=msgspec.msgpack.encode(fold),
    )
    previous = job.previous
    if previous is not None:
        rewound = {entries[position].seq for position in rewound_positions(entries)}.union(before.rewound)
        if rewound := rewound & _source_seqs(previous):
            checkpoint.rewound = sorted(rewound)
            previous = _without(previous, rewound)
    fold.follow(_after(job.state_seq, messages[complete:]))
    state = fold.state(previous)
    query = (query_for(state, _last_user_text(messages[complete:]) or user_text), job.project)
    return StatePlan(
        state=state,
        query=" ".join(filter(None, query)),
        seq=job.last_seq,
        version=job.version,
        checkpoint=checkpoint,
    )


def _source_seqs(state: WorkingState) -> set[int]:
    items = (item for name in state_text.LISTS for item in state_text.state_items(state, name))
    return {state.sources.current_task, *(seq for _, seq in items)}


def _without(state: WorkingState, rewound: set[int]) -> WorkingState:
    """Return `state` without the task and the items that rest on a rewound entry."""
    lists = {
        name: [item for item in state_text.state_items(state, name) if item[1] not in rewound]
        for name in state_text.LISTS
    }
    kept = state_text.with_items(state, **lists)
    if state.sources.current_task not in rewound:
        return kept
    return replace(kept, current_task="", sources=replace(kept.sources, current_task=0))


def _fold_of(data: bytes) -> ThreadFold:
    """Decode a checkpoint's `ThreadFold`, the working state gathered so far; no bytes are a new, empty one."""
    from reverie.distill.fold import ThreadFold

    return from_msgpack(data, ThreadFold) if data else ThreadFold()


def _is_self_contained(entries: Sequence[Entry], calls: Sequence[tuple[int, bytes]], before: bytes) -> bool:
    """Return whether entries can be read without those before the checkpoint, whose call checksums are `before`.

    True where all of these hold: no entry is a transcript's line or a mark, which may rewind or repeat earlier ones, or
    takes words out of a queue that they entered before; each tool result answers a call among the entries; and no call
    repeats an earlier call's id. A collision of two
    checksums only makes the thread be read in full once more.
    """
    earlier = {before[at : at + CHECKSUM_BYTES] for at in range(0, len(before), CHECKSUM_BYTES)} if calls else set()
    own = {checksum for _, checksum in calls}
    answered = {_checksum(call) for entry in entries for call in tool_ids(entry.content, "tool_result", "tool_use_id")}
    return answered <= own and own.isdisjoint(earlier) and not any(belongs_to_tree(entry) for entry in entries)


def _checksum(call_id: str) -> bytes:
    return zlib.crc32(call_id.encode("utf-8", "surrogatepass")).to_bytes(CHECKSUM_BYTES, "big")


def _after(seq: int, messages: Iterable[Message]) -> list[Message]:
    return [message for message in messages if message.last_seq > seq]


def _last_user_text(messages: Sequence[Message]) -> str:
    """Return the text of the newest user message that has any; tool results are not text of the user."""
    for message in reversed(messages):
        if message.role == "user":
            content = (
                message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
            )
            texts = (block.get("text") for block in content if block.get("type") == "text")
            text = "\n".join(text for text in texts if isinstance(text, str))
            if text.strip():
                return text
    return ""


# Setting: the agent's own fields, or a distiller's answer


def with_fields(
    state: WorkingState, fields: Mapping[str, Any], *, seq: int, at: str, replace_all: bool = False
) -> WorkingState:
    """Return `state` after an agent set `fields` (named as in `WorkingState`) at entry `seq`.

    The other fields stay, or are emptied with `replace_all` (PUT). Where both do not fit into 500 tokens, extracted
    items give way to the agent's own.

    Raises:
        ValidationError: the given fields are too long by themselves.
    """
    own = _with_own(WorkingState(), fields, seq)
    if (size := tokenizer.count(state_text.render(own))) > state_text.MAX_TOKENS:
        raise ValidationError(
            f"a working state has at most {state_text.MAX_TOKENS} tokens, and this one has {size}",
            hint="use fewer words; what must last belongs in a note or a memory file",
            field="",
            reason="too_long",
        )
    before = WorkingState() if replace_all else state
    return replace(_trimmed(_with_own(before, fields, seq), fields), updated_at=at)


def _with_own(state: WorkingState, fields: Mapping[str, Any], seq: int) -> WorkingState:
    """Return `state` with these `fields` replaced, and entry `seq` as the source of each item in them."""
    lists = {name: [(text, seq) for text in fields[name]] for name in state_text.LISTS if name in fields}
    state = state_text.with_items(state, **lists)
    if "current_task" not in fields:
        return state
    return replace(state, current_task=fields["current_task"], sources=replace(state.sources, current_task=seq))


def _trimmed(state: WorkingState, fields: Mapping[str, Any]) -> WorkingState:
    """Return `state` within the token limit: the oldest items of the lists that the agent did not set go first."""
    others = [name for name in state_text.GIVES_WAY if name not in fields]
    while tokenizer.count(state_text.render(state)) > state_text.MAX_TOKENS:
        longest = max(others, key=lambda name: len(" ".join(getattr(state, name))), default=None)
        if longest is None or not getattr(state, longest):
            return state_text.trim_to_tokens(state)
        state = state_text.without_oldest_item(state, longest)
    return state


def from_distiller(before: WorkingState, answer: object, *, seq: int) -> WorkingState | None:
    """Return the working state that a distiller answered at entry `seq`; None where the answer is unusable.

    A model's answer is not trusted: texts and lists are cut to their limits, and the source of an item is one that the
    extracted state knew, that the answer names, or `seq`. An empty task keeps the previous one.
    """
    if not isinstance(answer, WorkingState):
        return None
    lists = {name: _usable_items(answer, name, state_text.state_items(before, name), seq) for name in state_text.LISTS}
    task = _one_line(answer.current_task, STATE_TASK_CHARS_MAX)
    named = answer.sources.current_task or seq
    source = before.sources.current_task if task in ("", before.current_task) else named
    refined = replace(before, current_task=task or before.current_task, sources=StateSources(current_task=source))
    return state_text.trim_to_tokens(state_text.with_items(refined, **lists))


def _usable_items(
    answer: WorkingState, name: str, known: list[state_text.StateItem], seq: int
) -> list[state_text.StateItem]:
    """Return the usable texts of an answered list, each with its source: the known one, the answer's, else `seq`."""
    texts: object = getattr(answer, name)
    if not isinstance(texts, tuple | list):
        return []
    named = {text: source for text, source in zip(texts, getattr(answer.sources, name), strict=False) if source}
    sources = {**named, **dict(known)}
    lines = [_one_line(text, STATE_ITEM_CHARS_MAX) for text in texts]
    return [(line, sources.get(line, seq)) for line in lines if line][:STATE_ITEMS_MAX]


def _one_line(text: object, chars_max: int) -> str:
    """Return text on one line, at most `chars_max` characters; empty for what is not text."""
    return " ".join(text.split())[:chars_max].rstrip() if isinstance(text, str) else ""


@writes("working-state.set", answers=WorkingState, found=lambda _, /, thread_id, **__: ("thread", thread_id))
def put(to: Writer, _: By, thread_id: str, state: WorkingState, *, seq: int, version: int | None) -> WorkingState:
    """Store `state` as of entry `seq`, and return it as stored (redacted).

    Raises NotFound for an unknown thread, and Conflict with `details["stale"]` where the stored state is no longer the
    one that operation `version` wrote, on which `state` was built.
    """
    threads.get(to, thread_id)
    if to.version(Kind.STATE, (thread_id,)) != version:
        raise Conflict("the working state was changed meanwhile", hint="read it again", stale=True)
    to.save(WorkingStateRecord(state=state, seq=seq, through_seq=seq), (thread_id,))
    stored_state = stored(to, thread_id)
    assert stored_state is not None
    return stored_state.state


refine = writes("working-state.refine", bulk=True)(put.body)
"""As `put`, for what a distiller or a model made of the state."""
