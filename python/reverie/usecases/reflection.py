"""Reflection: a model changes the memory files by calls of tools, turn by turn (seed 004, section 7); pure.

A job carries the answers that have come so far. Deciding it again and again replays the conversation on a copy of the
files, and asks for its next turn, until the model calls no tool any more. What the calls then amount to, all of them
together, is decided like every other change of memories and written in one operation:

| what happened | what follows |
|---|---|
| a turn failed, was refused, cut off or unreadable; a bound was reached | nothing of the page, and of those behind it |
| a call that cannot be done | it changed nothing, and the result says why |
| a memory was updated and then deleted | as if a turn had failed |
| a change without quotes, or from a tool's output, or of a person's words | it waits for a person |
| more than 20 % of all memories deleted | updates and deletions wait for a person |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta, UnsetType
from msgspec.structs import replace

from reverie import tokenizer, tools, wire
from reverie.consolidate import Decision, Proposal, candidates_to_add
from reverie.consolidate.apply import UPDATES_KEPT
from reverie.documents.layout import PERSON, folder_of, memory_project, type_of_blocks
from reverie.documents.parse import parse_document
from reverie.errors import ModelFailed, ValidationError
from reverie.language_model import pages
from reverie.language_model.extraction import time_of, why_waiting
from reverie.language_model.foreign import foreign_address, one_spelling, without_json_escapes
from reverie.language_model.pages import Page, Quotable, SourceEntry, pages_of
from reverie.language_model.prompts import REFLECT, prompt
from reverie.language_model.requests import (
    REQUEST_TOKENS_MAX,
    ModelMessage,
    ModelRequest,
    ReflectionBounds,
    ToolDefinition,
    ToolResult,
    ToolUse,
    message_text,
)
from reverie.language_model.tool_turn import FACTS_HEADING, read_turn, turn_request
from reverie.lazy_regex import lazy_regex
from reverie.models import DATE_CHARS, Add, Candidate, Change, Delete, Keep, Memory, MemoryType, Update
from reverie.redact import Redactor
from reverie.usecases import review, screening
from reverie.usecases.consolidation import MemoryPlan, empty_plan, forgotten_statements
from reverie.usecases.reflection_files import Block, Folder, Refused
from reverie.usecases.screening import MemoryWork, Worked, held_updates

PAGE_TOKENS: Final = 40_000  # of the record; with prompt, facts and index a first request has some 80,000 at most
PAGES_MAX: Final = 4  # of one run; the entries behind them are read by the next one
FACTS_TOKENS: Final = 20_000  # of facts that are shown whole
INDEX_TOKENS: Final = 5_000
REFUSED_SHOWN: Final = 5

_Quotes: TypeAlias = Annotated[
    list[Annotated[str, Meta(max_length=2000)]],
    Meta(
        max_length=20,
        description="The words of the record that the change rests on, copied character by character, each from one "
        "entry. A wish quotes the person. Without quotes the change waits for a person.",
    ),
]


def reflect(work: MemoryWork, entries: Sequence[SourceEntry], bounds: ReflectionBounds) -> Worked:
    """Return the request of the next turn, or, once the model is done, the plan of all its calls.

    `entries` are what was said since the last reflection: the messages of `work` and its files.
    """
    all_pages = pages_of(entries, page_tokens=PAGE_TOKENS)
    existing = work.snapshot.memories
    folder = Folder(work.snapshot.documents, existing, project=work.thread.project or PERSON, redactor=work.redactor)
    spent = _Spent()
    read: list[Page] = []
    failure = ""
    for page in all_pages[:PAGES_MAX]:
        after = folder.copy()
        try:
            missing = _converse(work, bounds, page, after, spent)
        except ModelFailed as error:
            failure = (
                f"reflection failed ({error.reason}): {error.message} Nothing was changed from entry "
                f"{page.entries[0].seq} on; the next run reads it again"
            )
            break
        if missing is not None:
            return Worked([missing])
        folder = after
        read.append(page)
    refused = [f"refused {number} x {what}" for what, number in spent.refused.most_common(REFUSED_SHOWN)]
    if not read:
        plan = empty_plan(work.snapshot)
        plan.fallback = "; ".join(filter(None, (*refused, failure)))
        return Worked([], plan, 0, more=bool(all_pages))
    new, updated, deleted = folder.changed()
    reflected = [entry for page in read for entry in page.entries]
    plan = plan_of(Reflected(new, updated, deleted, reflected, model=spent.model), work)
    plan.fallback = "; ".join(filter(None, (*refused, plan.fallback, failure)))
    return Worked([], plan, max(page.last_seq for page in read), more=len(read) < len(all_pages))


class _Spent:
    """The turns so far: their number and tokens, and the calls that were refused in them."""

    def __init__(self) -> None:
        self.steps = 0
        self.tokens = 0
        self.model = ""
        self.refused: Counter[str] = Counter()


def _converse(
    work: MemoryWork, bounds: ReflectionBounds, page: Page, folder: Folder, spent: _Spent
) -> ModelRequest | None:
    """Replay the turns about a page on `folder`; return the request of the next turn, None if the model is done.

    Raises:
        ModelFailed: a turn failed or cannot be used, or a bound was reached before the model was done.
    """
    system = _system(folder)
    messages = [ModelMessage("user", _opening(work, page))]
    record = Quotable(page.entries)
    calls = 0
    while True:
        if spent.steps >= bounds.steps:
            raise ModelFailed(f"It was not done after {bounds.steps} turns.", reason="over_ceiling")
        request = turn_request(system, messages, _registry())
        size = tokenizer.count(system) + sum(tokenizer.count(message_text(message)) for message in messages)
        if size > REQUEST_TOKENS_MAX or spent.tokens + size > bounds.tokens:
            most = min(REQUEST_TOKENS_MAX, bounds.tokens)
            raise ModelFailed(f"It would take more tokens than it may: {most:,}.", reason="over_ceiling")
        outcome = work.outcomes.get(request.id)
        if outcome is None:
            return request
        spent.steps += 1
        if outcome.answer is not None:
            spent.tokens += outcome.answer.input_tokens + outcome.answer.output_tokens
            spent.model = outcome.answer.model
        turn = read_turn(outcome, first=calls + 1)
        if not turn:
            return None
        calls += len(turn)
        before = Counter(folder.refused)
        results = [_run_call(call, folder, record) for call in turn]
        spent.refused += folder.refused - before
        left = bounds.steps - spent.steps
        note = f"Turns left: {left}." if left > 1 else "This is the last turn: answer without a call."
        messages += [ModelMessage("assistant", "", calls=turn), ModelMessage("user", note, results=results)]


def _system(folder: Folder) -> str:
    """Return the system prompt: instructions, the files of facts or names of too long ones, an index of episodes."""
    texts = folder.texts()
    room = FACTS_TOKENS
    facts: list[str] = []
    left_out: list[str] = []
    index: list[str] = []
    for path, summary, size in folder.listed():
        if path.startswith("episodes/"):
            index.append(_episodes(path, texts[path], summary))
            continue
        used = tokenizer.count(texts[path])
        if used > room:
            left_out.append(f"- {path} ({size:,} bytes): {summary}")
            continue
        room -= used
        facts.append(f'<file path="{path}">\n{_closed(texts[path])}\n</file>')
    more = ["Too long to show; memory_read has them:\n" + "\n".join(left_out)] if left_out else []
    episodes = tokenizer.truncate("\n".join(index), INDEX_TOKENS)
    return "\n\n".join(
        (
            prompt(REFLECT),
            FACTS_HEADING,
            *(facts or ([] if more else ["There are none yet."])),
            *more,
            "# Episode index",
            episodes or "There are none yet.",
        )
    )


def _episodes(path: str, text: str, summary: str) -> str:
    """Return the index lines of a file of episodes: one for the file, and one for each episode."""
    lines = [f"- {path} ({len(text.encode()):,} bytes): {summary}"]
    for item in parse_document(path, text).items:
        own = next((value for key, value in item.fields if key == "Summary"), "")
        lines.append(_closed(f"  - {item.title or ''}: {own}"))
    return "\n".join(lines)


def _opening(work: MemoryWork, page: Page) -> str:
    """Return the first message of a reflection: in which files to write, and the thread's record to read."""
    project = work.thread.project
    day = next((entry.at[:7] for entry in reversed(page.entries) if entry.at), work.terms.at[:7])
    if project:
        where = (
            f"The project is {project}: its facts are in facts/{project}/, its episodes in "
            f"episodes/{project}-{day}.md. What is so wherever the person works belongs into facts/user.md and "
            "facts/preferences.md."
        )
    else:
        where = f"Facts are in facts/, episodes in episodes/{day}.md."
    record = page.text.replace("</record", "< /record")
    return f"{where}\n\nThe record:\n\n<record>\n{record}\n</record>"


def _closed(text: str) -> str:
    """Return a text with `</file` escaped, so that it cannot end the element that it is put into."""
    return text.replace("</file", "< /file")


class _Write(tools.MemoryWriteInput):
    """The input of `memory_write` with quotes."""

    quotes: _Quotes = msgspec.field(default_factory=list)


class _Patch(tools.MemoryPatchInput):
    """The input of a reflection's `memory_patch`, with the quotes that justify the change."""

    quotes: _Quotes = msgspec.field(default_factory=list)


class _Append(tools.MemoryAppendInput):
    """The input of a reflection's `memory_append`, with the quotes that justify the entry."""

    quotes: _Quotes = msgspec.field(default_factory=list)


_INPUTS: Final[Mapping[str, type[Any]]] = {
    "memory_list": tools.MemoryListInput,
    "memory_read": tools.MemoryReadInput,
    "memory_write": _Write,
    "memory_patch": _Patch,
    "memory_append": _Append,
}
TOOL_NAMES: Final = tuple(_INPUTS)


@cache
def _registry() -> tuple[ToolDefinition, ...]:
    """Return the definitions of the tools of a reflection: no other tool is offered, or run."""
    return tuple(
        ToolDefinition(name, tool.description, tools.input_schema(kind))
        for name, kind in _INPUTS.items()
        if (tool := tools.tool_named(name)) is not None
    )


def _run_call(call: ToolUse, folder: Folder, record: Quotable) -> ToolResult:
    """Return the result of one call; one that was refused changed nothing, and is counted in `folder.refused`.

    Raises:
        ModelFailed: the call contradicts an earlier one, so that none of the calls is to be trusted.
    """
    try:
        given = _input(call)
        return ToolResult(call.id, _RUN[call.name](given, folder, record))
    except Refused as refused:
        folder.refused[refused.kind] += 1
        return ToolResult(call.id, refused.why, is_error=True)


def _input(call: ToolUse) -> Any:
    kind = _INPUTS.get(call.name)
    if kind is None:
        names = ", ".join(TOOL_NAMES)
        raise Refused(f"there is no tool {call.name[:80]!r}; the tools are {names}", "an unknown tool")
    try:
        return wire.parse(kind, dict(call.input))
    except ValidationError as error:
        names = ", ".join(kind.__struct_encode_fields__) or "nothing"
        raise Refused(f"{error.message}; {call.name} takes {names}", "an input that a tool does not take") from None


def _sources(quotes: Sequence[str], record: Quotable) -> list[SourceEntry]:
    """Return the entries that hold the quotes. Raises Refused for a quote that none has."""
    entries = []
    for number, quote in enumerate(quotes, 1):
        entry = record.entry_with(quote)
        if entry is None:
            raise Refused(
                f"quote {number} is not in the record; copy it exactly, from one entry",
                "a quote that is not in the record",
            )
        entries.append(entry)
    return entries


def _list(_: tools.MemoryListInput, folder: Folder, __: Quotable) -> str:
    entries = [{"path": path, "summary": summary, "size": size} for path, summary, size in folder.listed()]
    return msgspec.json.encode(entries).decode()


def _read(given: tools.MemoryReadInput, folder: Folder, _: Quotable) -> str:
    limit = None if isinstance(given.limit, UnsetType) else given.limit
    return folder.read(given.path, offset=given.offset, limit=limit)


def _write(given: _Write, folder: Folder, record: Quotable) -> str:
    folder.write(given.path, given.content, _sources(given.quotes, record))
    return '{"success":true}'


def _patch(given: _Patch, folder: Folder, record: Quotable) -> str:
    pairs = [(replacement.old_text, replacement.new_text) for replacement in given.patches]
    count = folder.patch(given.path, pairs, _sources(given.quotes, record))
    return msgspec.json.encode({"success": True, "appliedCount": count}).decode()


def _append(given: _Append, folder: Folder, record: Quotable) -> str:
    folder.append(given.path, given.entry, _sources(given.quotes, record))
    return '{"success":true}'


_RUN: Final[Mapping[str, Callable[[Any, Folder, Quotable], str]]] = {
    "memory_list": _list,
    "memory_read": _read,
    "memory_write": _write,
    "memory_patch": _patch,
    "memory_append": _append,
}


# The plan: changed blocks as changes of memories


UNQUOTED: Final = "it quotes no words of the thread"
FOREIGN: Final = "most of its words are in the output of a tool alone"
_WORD: Final = lazy_regex(r"\w{4,}")


class Reflected(NamedTuple):
    """All changes of a reflection together; `entries` are the record that they were made from."""

    new: Sequence[Block]
    updated: Sequence[Block]
    deleted: Mapping[str, Sequence[SourceEntry]]
    entries: Sequence[SourceEntry]
    model: str


def plan_of(reflected: Reflected, work: MemoryWork) -> MemoryPlan:
    """Return the plan of what a reflection changed. What a person should see first is in its `waiting`."""
    snapshot, at, existing = work.snapshot, work.terms.at, work.snapshot.memories
    reader = _Reader(reflected, work.redactor, at)
    candidates, candidates_in_review = reader.candidates()
    screened = screening.screened(
        snapshot, candidates, redactor=work.redactor, at=at, thread=work.thread, messages=work.messages
    )
    by_id = {memory.id: memory for memory in existing}
    changes, proposals = reader.changes(by_id)
    for waits in held_updates(changes, by_id, forgotten_statements(snapshot)):
        if changes.pop(waits.change.id, None) is not None:
            proposals.append(waits)
    after = [_after(memory, changes.get(memory.id)) for memory in existing]
    added = candidates_to_add(
        range(len(screened.usable)), screened.usable, [memory for memory in after if memory is not None]
    )
    memories: list[Change] = [changes.get(memory.id) or Keep(memory.id) for memory in existing]
    paths = {
        (change.candidate.type, change.candidate.content, change.candidate.project): str(path)
        for change in added
        if isinstance(change, Add) and (path := _path(change.candidate))
    }
    of_updates = {block.id: reader.provenance(block.sources) for block in reflected.updated}

    def revise(memory: Memory) -> Memory:
        """Return a changed memory with the source of its change, or a new one in the file that it was written to."""
        if memory.id in of_updates:
            updates = [*memory.provenance.get("updates", []), of_updates[memory.id]][-UPDATES_KEPT:]
            return replace(memory, provenance={**memory.provenance, "updates": updates})
        provenance = {key: value for key, value in memory.provenance.items() if key != "path"}
        path = paths.get((memory.type, memory.content, memory_project(memory)))
        return replace(memory, provenance=provenance, document=path or memory.document)

    plan = screening.plan_decision(
        snapshot,
        screened,
        Decision((*memories, *added), tuple(proposals)),
        tier=screening.tier_of(existing, snapshot.window),
        at=at,
        random=work.terms.random,
        revise=revise,
    )
    for candidate, why in candidates_in_review:
        candidate.provenance.pop("path")
        waiting = screening.screened(
            snapshot, [candidate], redactor=work.redactor, at=at, thread=work.thread, messages=()
        )
        plan.waiting += [
            *waiting.waiting,
            *(review.quarantined(usable, why, at=at) for usable in waiting.usable),
        ]
    return plan


class _Reader:
    """Turns new blocks into candidates, other changed blocks into changes; says which wait for a person, and why."""

    def __init__(self, reflected: Reflected, redactor: Redactor, at: str) -> None:
        self._reflected = reflected
        self._redactor = redactor
        self._at = at
        own = [entry for entry in reflected.entries if entry.speaker not in pages.FOREIGN]
        self._own = _words(entry.text for entry in own)
        self._own_text = one_spelling(
            "\n".join(without_json_escapes(one.text) if one.speaker == "call" else one.text for one in own)
        )
        self._foreign = _words(entry.text for entry in reflected.entries if entry.speaker in pages.FOREIGN)

    def candidates(self) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
        """Return the candidates of new blocks: those to consolidate, and those that wait, with the reason."""
        usable: list[Candidate] = []
        waiting: list[tuple[Candidate, str]] = []
        for block in self._reflected.new:
            candidate = self._candidate(block)
            why = self._why(f"{candidate.title or ''} {candidate.content}", block.sources)
            if why:
                waiting.append((candidate, why))
            else:
                usable.append(candidate)
        return usable, waiting

    def changes(self, by_id: Mapping[str, Memory]) -> tuple[dict[str, Update | Delete], list[Proposal]]:
        """Return the changes of memories by id, and those that only a person may make."""
        made: dict[str, Update | Delete] = {}
        proposals: list[Proposal] = []
        for block in self._reflected.updated:
            content = self._redactor.text(block.item.content)
            self._place(by_id[block.id], Update(block.id, content, block.item.tags), block.sources, made, proposals)
        for name, sources in self._reflected.deleted.items():
            self._place(by_id[name], Delete(name), sources, made, proposals)
        return made, proposals

    def provenance(self, sources: Sequence[SourceEntry]) -> dict[str, Any]:
        """Return where words come from: the entries that were quoted, the prompt and the model."""
        seqs = sorted({entry.seq for entry in sources if entry.seq > 0})
        return {"seqs": seqs, "prompt": REFLECT, "model": self._redactor.text(self._reflected.model)[:200]}

    def _place(
        self,
        memory: Memory,
        change: Update | Delete,
        sources: Sequence[SourceEntry],
        made: dict[str, Update | Delete],
        proposals: list[Proposal],
    ) -> None:
        why = self._why(change.content if isinstance(change, Update) else "", sources, before=memory.content)
        if memory.trust == "person":
            why = why or "a reflection found it outdated or contradicted"
        if why:
            proposals.append(Proposal(change, why))
        else:
            made[memory.id] = change

    def _candidate(self, block: Block) -> Candidate:
        kind = type_of_blocks(block.path) or MemoryType.FACT
        at = time_of(block.sources, self._at)
        fields = block.item.fields
        if kind is MemoryType.EPISODE and not any(key == "Date" for key, _ in fields):
            fields = (*fields, ("Date", at[:DATE_CHARS]))
        return Candidate(
            type=kind,
            content=block.item.content,
            tags=block.item.tags,
            subject="user" if _is_of_person(block.path, kind) else "project",
            title=block.item.title,
            fields=fields,
            at=at,
            provenance={**self.provenance(block.sources), "path": block.path},
        )

    def _why(self, text: str, sources: Sequence[SourceEntry], *, before: str = "") -> str:
        """Return why a person has to accept a change first, empty where it may be made; `before` are the old words."""
        if not sources:
            return UNQUOTED
        words = set(_WORD.findall(text.casefold()))
        if len(words & (self._foreign - self._own)) > len(words & self._own):
            return FOREIGN
        if foreign := foreign_address(text, f"{self._own_text}\n{one_spelling(before)}"):
            return f"it names {foreign}, which neither the person nor the agent wrote"
        return why_waiting(text, sources)


def _path(candidate: Candidate) -> str | None:
    """Return the file below `facts/` that a candidate was written to; None if it is in another project's folder."""
    path = str(candidate.provenance.get("path", ""))
    return path if path.startswith("facts/") and folder_of(path) in {None, candidate.project or None} else None


def _is_of_person(path: str, kind: MemoryType) -> bool:
    """Return True if memories in this file are the person's and no project's: `facts/user.md`, or preferences."""
    return folder_of(path) is None and (path == "facts/user.md" or kind is MemoryType.PREFERENCE)


def _after(memory: Memory, change: Change | None) -> Memory | None:
    match change:
        case Update():
            return replace(memory, content=change.content, tags=change.tags)
        case Delete():
            return None
        case _:
            return memory


def _words(texts: Any) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.casefold())}
