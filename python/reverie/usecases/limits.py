"""The context of a thread for a given number of tokens: summary, excerpts and tail are chosen for that size.

A stored distillation is made for a whole window. Cut down to a tenth of that it wastes room: its tail begins where
twelve thousand tokens fit, its summary gives up lines that a shorter one would have kept, and of the messages that a
small tail leaves out no excerpt exists. So a context with `max_tokens` reads the messages again, those that the newest
distillation covers and all later ones, and chooses everything for the size. The daemon serves it and `reverie eval`
measures it: the same function, the same text, whether the thread was distilled or not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie import tokenizer
from reverie.context.assemble import assemble
from reverie.context.inputs import Context, Limits, Parts, ceilings
from reverie.context.units import open_turn_start, tail_start
from reverie.distill import summary_text
from reverie.errors import TokenBudgetExceeded
from reverie.models import Distillation, Entry, Message, Section, Summary

if TYPE_CHECKING:
    from reverie.distill.distiller import Extractive

LATER_SHARE: Final = 2  # of the ceiling of a summary: what rules say of the messages behind a written one
_CACHED_SIZES: Final = 8  # of one thread; a distillation of 32,000 tokens takes about 300 KB


class Written(NamedTuple):
    """A stored summary that a model wrote: its text, the last entry that it covers, its number."""

    text: str
    through_seq: int
    number: int


class DistillationCache:
    """The digest of one state of a thread, and its distillations by tail start and sizes: they are not made again."""

    def __init__(self) -> None:
        self.digest: str | None = None
        self._distillations: dict[Hashable, Distillation] = {}

    def get(self, key: Hashable, make: Callable[[], Distillation]) -> Distillation:
        """Return the distillation stored for `key`, made on the first request."""
        if key not in self._distillations:
            if len(self._distillations) >= _CACHED_SIZES:
                self._distillations.clear()
            self._distillations[key] = make()
        return self._distillations[key]


def sized_context(
    parts: Parts,
    limits: Limits,
    *,
    number: int,
    previous: Distillation | None,
    inherited_digest: str,
    entries: Sequence[Entry],
    written: Written | None = None,
    cache: DistillationCache | None = None,
    beside: str = "",
    distiller: Extractive | None = None,
) -> Context:
    """Return the context of a thread within `limits.max_tokens`.

    `parts` has the tiers that do not depend on the size; its `messages` are all since the distillation `previous`
    (None: since the beginning), without rewound ones, and `entries` what they were joined from. `number` is that of the
    summary to be written. An empty digest in `parts` is made here, from `inherited_digest`. With a `cache` the same
    messages are not distilled again for the same size. What the person says in `beside`, a text that stands next to the
    context, is no excerpt as well. A `distiller` that has read the same tuple of messages does not read it again.
    A summary that a model has `written` stands as it is, with what rules say of the messages behind it.

    A thread that fits whole is served word for word. Else it is distilled for the size, its tail beginning where the
    ceiling of the tail says. A tail that leaves hardly any room for excerpts is distilled as well, unless its turn is
    still open: then the agent waits for the results in it.

    Raises:
        TokenBudgetExceeded: the open turn, the newest note and the current task alone are larger.
    """
    from reverie.distill.distiller import Extractive

    messages = parts.messages
    engine = distiller or Extractive()
    if not parts.digest:
        parts = replace(parts, digest=_digest(engine, messages, previous, inherited_digest, cache))
    whole = _whole(parts, limits, previous)
    if whole is not None:
        return whole
    assert limits.max_tokens is not None
    open_from = open_turn(entries, messages)
    caps = ceilings(limits)
    start = min(open_from, tail_start(messages, limits.preserve_messages, min(caps.tail, limits.preserve_tokens)))

    def distilled(start: int) -> Context:
        return _distilled(
            engine,
            parts,
            limits,
            start=start,
            number=number,
            previous=previous,
            written=written,
            cache=cache,
            beside=beside,
        )

    try:
        context = distilled(start)
    except TokenBudgetExceeded:
        if start >= open_from:
            raise
        return distilled(open_from)
    return distilled(open_from) if start < open_from and _is_crowded(context, limits.max_tokens) else context


def open_turn(entries: Sequence[Entry], messages: Sequence[Message]) -> int:
    """Return the index of the message that begins the open turn; the number of messages where no turn is open.

    An imported transcript (its messages have source ids) that breaks off inside a turn is not continued here, so its
    last turn counts as complete. Lines of the client behind its last message have no ids, such as its costs.
    """
    last = next((entry for entry in reversed(entries) if entry.role is not None), None)
    is_imported = last is not None and last.id is not None
    return len(messages) if is_imported else open_turn_start(messages)


def _whole(parts: Parts, limits: Limits, previous: Distillation | None) -> Context | None:
    """Return the context with every message as it is, or None where something does not fit or was distilled."""
    if previous is not None or sum(message.tokens for message in parts.messages) > (limits.max_tokens or 0):
        return None
    try:
        context = assemble(replace(parts, summary=None, distillation=0, passages=()), limits)
    except TokenBudgetExceeded:
        return None
    return None if any(part.tier == "tail" for part in context.dropped) else context


def _distilled(
    distiller: Extractive,
    parts: Parts,
    limits: Limits,
    *,
    start: int,
    number: int,
    previous: Distillation | None,
    written: Written | None,
    cache: DistillationCache | None,
    beside: str,
) -> Context:
    """Return the context with the messages before `start` distilled and the others as its tail."""
    messages = parts.messages
    caps = ceilings(limits)
    # What is said beside it is ranked too, and then left out.
    total_tokens = (
        (limits.max_tokens or 0) - _tokens_beside(parts, caps.tail, messages[start:]) + tokenizer.count(beside)
    )

    def distill() -> Distillation:
        return distiller.distill(
            messages,
            number=number,
            previous=previous,
            tail_from_seq=messages[start].first_seq if start < len(messages) else next_seq(messages),
            passage_tokens=limits.max_tokens or 0,
            summary_tokens=caps.summary,
            total_tokens=total_tokens,
            summary=None if written is None else summary_text.parse(written.text),
        )

    def later() -> Summary:
        """Return what rules say of the messages between the written summary and the tail."""
        assert written is not None
        newer = tuple(message for message in messages[:start] if message.first_seq > written.through_seq)
        room = caps.summary // LATER_SHARE
        return summary_text.pack(written.number, distiller.sections(newer), room)

    said = _lines(beside)
    distillation = cache.get((start, limits.max_tokens, total_tokens), distill) if cache is not None else distill()
    return assemble(
        replace(
            parts,
            summary=summary_text.render(distillation.summary) if written is None else _continued(written, later()),
            by_model=written is not None,
            distillation=number if written is None else written.number,
            # Without those whose every line is one of `beside`.
            passages=tuple(passage for passage in distillation.passages if not _lines(passage.text) <= said),
            messages=tuple(messages[start:]),
            distilled_at_seq=None,
        ),
        limits,
    )


def _continued(written: Written, later: Summary) -> str:
    """Return the written summary as it is, and behind it the lines of a later one, if there are any."""
    lines = [f"- {line}" for section in Section for line in later.sections.get(section, ())]
    if not lines:
        return written.text
    return "\n".join([written.text, "", f"## Since entry {written.through_seq}", *lines])


def _lines(text: str) -> set[str]:
    return {line.strip().removeprefix("- ") for line in text.split("\n")}


def _tokens_beside(parts: Parts, ceiling: int, tail: Sequence[Message]) -> int:
    """Return about how many tokens of a context its digest, working state and tail take."""
    return sum(tokenizer.count_many([parts.digest, parts.state])) + min(
        ceiling, sum(message.tokens for message in tail)
    )


def _digest(
    distiller: Extractive,
    messages: Sequence[Message],
    previous: Distillation | None,
    inherited: str,
    cache: DistillationCache | None,
) -> str:
    """Return the digest of these messages, built on that of the distillation before them, else on the inherited one."""
    if cache is not None and cache.digest is not None:
        return cache.digest
    digest = distiller.digest(messages, previous.digest if previous else inherited)
    if cache is not None:
        cache.digest = digest
    return digest


def _is_crowded(context: Context, max_tokens: int) -> bool:
    """Return True if the tail takes more than half of the budget while excerpts were dropped.

    A large tool result at the end leaves no room for what led to it; distilled like the rest, both have their share.
    """
    excerpts_dropped = any(part.tier == "excerpts" for part in context.dropped)
    return excerpts_dropped and 2 * int(context.tokens["tail"]) > max_tokens


def next_seq(messages: Sequence[Message]) -> int:
    """Return the sequence number after the last message."""
    return messages[-1].last_seq + 1 if messages else 1
