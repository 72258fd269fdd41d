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
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta, UnsetType

from reverie import tokenizer, tools, wire
from reverie.documents.layout import PERSON
from reverie.documents.parse import parse_document
from reverie.errors import ModelFailed, ValidationError
from reverie.language_model.pages import Quotable, pages_of
from reverie.language_model.prompts import REFLECT, prompt
from reverie.language_model.requests import REQUEST_TOKENS_MAX, ModelMessage, ToolDefinition, ToolResult, message_text
from reverie.language_model.tool_turn import FACTS_HEADING, read_turn, turn_request
from reverie.usecases.consolidation import empty_plan
from reverie.usecases.reflection_edits import Reflected, plan_of
from reverie.usecases.reflection_files import Folder, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reverie.language_model.pages import Page, SourceEntry
    from reverie.language_model.requests import ModelRequest, ReflectionBounds, ToolUse
    from reverie.usecases.consolidation import MemoryPlan
    from reverie.usecases.memory_plan import MemoryWork

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


class Reflection(NamedTuple):
    """One step of a reflection: the `request` of its next turn, or after the last turn the `plan`; the other is None.

    `last_seq` and `more` are as in `memory_plan.Worked`.
    """

    request: ModelRequest | None
    plan: MemoryPlan | None = None
    last_seq: int = 0
    more: bool = False


def reflect(work: MemoryWork, entries: Sequence[SourceEntry], bounds: ReflectionBounds) -> Reflection:
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
            return Reflection(missing)
        folder = after
        read.append(page)
    refused = [f"refused {number} x {what}" for what, number in spent.refused.most_common(REFUSED_SHOWN)]
    if not read:
        plan = empty_plan(work.snapshot)
        plan.fallback = "; ".join(filter(None, (*refused, failure)))
        return Reflection(None, plan, 0, more=bool(all_pages))
    new, updated, deleted = folder.changed()
    reflected = [entry for page in read for entry in page.entries]
    plan = plan_of(
        Reflected(new, updated, deleted, reflected, model=spent.model),
        work.snapshot,
        existing,
        redactor=work.redactor,
        at=work.at,
        random=work.random,
        thread=work.thread,
        messages=work.messages,
    )
    plan.fallback = "; ".join(filter(None, (*refused, plan.fallback, failure)))
    return Reflection(None, plan, max(page.last_seq for page in read), more=len(read) < len(all_pages))


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
    day = next((entry.at[:7] for entry in reversed(page.entries) if entry.at), work.at[:7])
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
