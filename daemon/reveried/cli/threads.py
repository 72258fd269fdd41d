"""Commands for threads: threads, thread, context, distill, reflect, note."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

import msgspec
import orjson

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from reverie.models import NoteCategory
from reverie.wire.contexts import Placement
from reveried.cli.changes import change_counts, new_memory_kinds, print_fallback, print_proposals
from reveried.cli.command import Answer, Argument, Budget, Limit, Option, joined_text
from reveried.cli.ids import all_items, with_thread
from reveried.cli.output import clean, clip, counted, is_terminal, print_fields, print_table, say, terminal_width, when
from reveried.cli.projects import ProjectOption, given_project

T = TypeVar("T")
TITLE_CHARS = 60
_TABLE_COLUMNS = 110  # of a terminal: a narrower one has no room for id, project, title and last activity in a row
_INDENT = "    "
_NOTE_CHARS_MAX = 20_000  # of a note, as `POST /v1/threads/{id}/notes` allows
_CANDIDATES_SHOWN = 3  # thread ids that an ambiguous prefix is answered with
ThreadId = Annotated[str, Argument("THREAD", "A thread's id, or its first characters.")]


def threads(
    client: Client,
    limit: Limit = 20,
    project: ProjectOption = None,
    all_: Annotated[bool, Option("--all", help="Also those of subagents, and those without messages.")] = False,
) -> Answer:
    """List the threads with their projects and sizes, those first that were appended to or distilled last.

    Example: reverie threads --project .

    "Last request" is what the messages take of the model's window, in tokens as its provider counted them last.
    """
    page = client.threads(limit=limit, order="newest", project=given_project(project), main=not all_)
    yield page
    if not page.items and project is not None:
        folder = given_project(project) != project
        named = f"folder {given_project(project)}" if folder else f"project {clip(project, TITLE_CHARS)}"
        say(f"No thread is of the {named}. `reverie threads` lists all.")
        return
    if not page.items:
        say(f"No threads{'' if all_ else ' with messages'} yet. Next: reverie import claude-code ~/.claude/projects")
        return
    width = terminal_width()
    if width is not None and width < _TABLE_COLUMNS:
        _print_in_lines(page.items, width)
    else:
        _print_as_table(page.items)
    if not all(thread.message_count for thread in page.items):
        say("A thread without messages has nothing to distill.")
    if page.next:
        say("There are more: reverie threads --limit N")


def _print_in_lines(items: Sequence[wire.Thread], width: int) -> None:
    """Print two lines for each thread: its title; id, last activity and project, and its size where there is room."""
    for thread in items:
        say(clip(thread.title, width) if thread.title else "(without a title)")
        size = counted(thread.message_count, "message") if thread.message_count else "no messages"
        line = _INDENT + " · ".join(part for part in (thread.id, when(thread.updated_at), thread.project) if part)
        say(f"{line} · {size}" if len(line) + len(size) + 3 <= width else line)


def _print_as_table(items: Sequence[wire.Thread]) -> None:
    """Print a row for each thread."""
    print_table(
        "Thread, Project, Title*, Messages>, Tokens>, Summaries>, Last request>, Last",
        [
            (
                thread.id,
                thread.project or "-",
                clip(thread.title, TITLE_CHARS) if thread.title else "-",
                f"{thread.message_count:,}" if thread.message_count else "none",
                f"{thread.tokens:,}",
                f"{thread.distillations:,}" if thread.distillations else "-",
                f"{thread.context.tokens:,} ({thread.context.fraction:.0%})",
                when(thread.updated_at),
            )
            for thread in items
        ],
        drop=(6, 5, 4, 3),
    )


def context(
    client: Client,
    thread: ThreadId,
    max_tokens: Annotated[int | None, Option("--max-tokens", min=1, help="Token budget of the context.")] = None,
    query: Annotated[str | None, Option("--query", "-q", help="What the agent is about to do.")] = None,
    placement: Annotated[
        Placement | None,
        Option("--placement", help="Where the parts that change go: system (blocks) or late (messages)."),
    ] = None,
) -> Answer:
    """Print the context with which an agent continues a thread, word for word as it is served.

    Example: reverie context THREAD --max-tokens 16000

    In a terminal a last line says what each part costs; --json has that too.
    """
    answer = with_thread(
        client,
        thread,
        lambda thread_id: client.context(thread_id, query=query, placement=placement, max_tokens=max_tokens),
    )
    yield answer
    from reverie.context.text import render

    text = render(msgspec.to_builtins(answer.request))
    sys.stdout.write((clean(text, keep="\n\t") if sys.stdout.isatty() else text) + "\n")
    if sys.stderr.isatty():  # beside the text, which may go to a file
        left_out = f"; left out: {counted(len(answer.dropped), 'part')}" if answer.dropped else ""
        print(f"{token_costs(answer.tokens)}{left_out} (--json has all)", file=sys.stderr)


def distill(
    client: Client,
    thread: ThreadId,
    budget: Budget = None,
    full: Annotated[bool, Option("--full", help="Print the summary too.")] = False,
    show_request: Annotated[
        bool, Option("--show-request", help="Print what would be sent to a model, and do nothing.")
    ] = False,
) -> Answer:
    """Replace a thread's older messages by a summary, and extract memories from them.

    Example: reverie distill THREAD
    """
    if show_request:
        yield from _requests(client, thread)
        return
    answer = with_thread(client, thread, lambda thread_id: client.distill(thread_id, token_budget=budget))
    yield answer
    kinds = new_memory_kinds(client, answer.operation)
    tail = answer.tail
    sizes = f"{answer.tokens_before:,} of messages before, {answer.tokens_after:,} of the whole context after"
    print_fields(
        ("Distillation", f"number {answer.number} of {thread}"),
        ("Tokens", sizes),
        ("Tail", f"the last {counted(tail.messages, 'message')}, unchanged ({tail.tokens:,} tokens)"),
        ("Memories", change_counts(answer.memories) + kinds),
        ("Archive", answer.archive),
    )
    if answer.tokens_after > answer.tokens_before:
        say("The context is longer than the messages were: beside a short thread its memories and state count most.")
    print_fallback(answer.fallback)
    if answer.memories is not None:
        print_fallback(answer.memories.fallback)
        print_proposals(answer.memories.proposals)
    say()
    say(answer.summary.text if full else f"To see the new context: reverie context {thread}")


def reflect(
    client: Client,
    thread: ThreadId,
    show_request: Annotated[
        bool, Option("--show-request", help="Print what would be sent to the model first, and do nothing.")
    ] = False,
) -> Answer:
    """Let a model change the memory files after a thread, by calls of tools; `reverie undo` takes it back.

    Example: reverie reflect THREAD
    """
    if show_request:
        yield from _requests(client, thread, reflect=True)
        return
    answer = with_thread(client, thread, client.reflect)
    yield answer
    kinds = new_memory_kinds(client, answer.operation)
    print_fields(
        ("Memories", change_counts(answer) + kinds),
        ("Waiting", f"{counted(len(answer.waiting), 'change')} for you: reverie review" if answer.waiting else None),
        ("Operation", answer.operation),
    )
    print_fallback(answer.fallback)
    print_proposals(answer.proposals)


def note(
    client: Client,
    thread: ThreadId,
    text: Annotated[list[str] | None, Argument("[TEXT...]", "The note; without it the notes are listed.")] = None,
    category: Annotated[
        NoteCategory, Option("--category", "-c", help="task, decision, preference, correction or context.")
    ] = "context",
) -> Answer:
    """Add a note to every later context of a thread, or list its notes.

    Example: reverie note THREAD the release waits for Ann --category task
    """
    if not text:
        yield from _notes(client, thread)
        return
    content = joined_text(text, "TEXT", max_chars=_NOTE_CHARS_MAX)
    answer = with_thread(client, thread, lambda thread_id: client.add_note(thread_id, content, category))
    yield answer
    say("Noted: the note is part of the thread's context from now on. To remove it: reverie undo")


def _requests(client: Client, thread: str, *, reflect: bool = False) -> Answer:
    """Print what a distillation of the thread, or a reflection, would send to a model."""
    answer = with_thread(client, thread, lambda thread_id: client.model_requests(thread_id, reflect=reflect))
    yield answer
    for request in answer.items:
        head = f"{request.purpose}, {request.role} model, prompt {request.prompt_version}, {request.tokens:,} tokens"
        say(f"=== {head} ===\n\n[system]\n{request.system}")
        for message in request.messages:
            say(f"[{message.role}]\n{message.content}\n")
    chosen = "distiller.kind is extractive: nothing is ever sent" if answer.kind == "extractive" else "nothing was sent"
    say(f"{counted(len(answer.items), 'request')}. Only shown: {chosen}. --json has the schemas of the answers too.")


def _notes(client: Client, thread: str) -> Answer:
    """Print the notes of a thread, newest first, as its agent reads them."""
    notes = with_thread(client, thread, lambda thread_id: list(all_items(client.notes, thread_id)))[::-1]
    yield {"items": notes}
    if not notes:
        say("No notes yet. Agents write them with the tool `note`.")
        return
    rows = [(when(note.at), note.category, note.content) for note in notes]
    print_table("When, Category, Note*", rows)


def token_costs(tokens: wire.ContextTokens) -> str:
    """Return `5,120 tokens (o200k_base): summary 2,000, tail 3,000, …`: the cost of each tier that is not empty."""
    costs = msgspec.structs.asdict(tokens).items()
    tiers = [(name.replace("_", " "), cost) for name, cost in costs if name not in ("total", "tokenizer")]
    parts = ", ".join(f"{name} {cost:,}" for name, cost in tiers if cost)
    return f"{tokens.total:,} tokens ({tokens.tokenizer})" + (f": {parts}" if parts else "")


TOOL_CHARS_MAX = 300  # of one tool call or result: four lines of a terminal say what was done; --full prints all
_AROUND = 5  # messages before and after the one of --around, about two screens of text
_PAGE = 100  # messages of one request
_PAGERS = ("less", "more")

Around = Annotated[
    int | None, Option("--around", min=1, metavar="MESSAGE", help="The messages around this one, by its number.")
]
Last = Annotated[int | None, Option("--last", min=1, max=wire.LIMIT_MAX, help="Only the last so many messages.")]


def thread(
    client: Client,
    thread: ThreadId,
    around: Around = None,
    last: Last = None,
    full: Annotated[bool, Option("--full", help="Tool calls and results whole.")] = False,
) -> Answer:
    """Read a thread: every message, with its number, author and time.

    Example: reverie thread THREAD --last 20
    """
    if around is not None and last is not None:
        raise ValidationError("--around and --last exclude each other", hint="give one of them")
    messages = with_thread(client, thread, lambda thread_id: _messages(client, thread_id, around, last))
    yield {"items": messages}
    _print_paged(_texts(messages, marked=around, full=full))


def _messages(client: Client, thread_id: str, around: int | None, last: int | None) -> Iterable[wire.StoredMessage]:
    """Return the messages that were asked for; all of them are fetched page by page while they are read."""
    if last is not None:
        return client.messages(thread_id, last=last).items
    if around is not None:
        return _around(client, thread_id, around)
    first = client.messages(thread_id, limit=_PAGE)  # at once: an unknown thread is an error before anything is printed
    return _from(client, thread_id, first)


def _from(client: Client, thread_id: str, page: wire.Page[wire.StoredMessage]) -> Iterator[wire.StoredMessage]:
    yield from page.items
    if page.next is not None:
        yield from all_items(client.messages, thread_id, limit=_PAGE, after=page.next)


def _around(client: Client, thread_id: str, number: int) -> list[wire.StoredMessage]:
    """Return message `number` with some before and after it. Raises NotFound if the thread ends before it.

    A message's number is that of its first entry, and a message may have several entries: the page before is asked for
    from further and further back until it has enough messages.
    """
    back = 4 * _AROUND
    while True:
        start = max(0, number - back)
        items = client.messages(thread_id, limit=min(wire.LIMIT_MAX, 2 * back), after=str(start)).items
        at = next((index for index, item in enumerate(items) if item.first_seq <= number <= item.last_seq), None)
        if at is not None and (at >= _AROUND or start == 0):
            return items[max(0, at - _AROUND) : at + _AROUND + 1]
        if start == 0 or back >= wire.LIMIT_MAX // 2:
            break
        back *= 4
    if at is None:
        raise NotFound(f"the thread has no message {number}", hint=f"reverie thread {thread_id} lists their numbers")
    return items[: at + _AROUND + 1]


def _texts(messages: Iterable[wire.StoredMessage], *, marked: int | None, full: bool) -> Iterator[str]:
    """Yield each message as text: a line with number, author and time, then what was said, and a blank line."""
    for message in messages:
        is_marked = marked is not None and message.first_seq <= marked <= message.last_seq
        heading = f"{'>' if is_marked else '#'}{message.first_seq}  {message.role}  {when(message.at)}"
        if message.rewound:
            heading += "  (rewound)"
        limit = None if full else TOOL_CHARS_MAX
        body = "\n".join(part for part in _parts(message.content, limit) if part.strip())
        yield clean(f"{heading}\n{body.strip()}\n\n", keep="\n\t")


def _parts(content: Any, limit: int | None) -> Iterator[str]:
    """Yield the texts of a message's content; tool data is cut to `limit` characters."""
    if isinstance(content, str):
        yield content
        return
    for block in content or ():
        match block.get("type"):
            case "text":
                yield str(block.get("text", ""))
            case "tool_use":
                yield f"-> {block.get('name')} {_cut(orjson.dumps(block.get('input')).decode(), limit)}"
            case "tool_result":
                yield "<- " + _cut("\n".join(_parts(block.get("content"), limit)), limit)
            case kind:
                yield f"({kind})"


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else f"{text[:limit]} … ({len(text):,} characters; --full)"


def _print_paged(texts: Iterable[str]) -> None:
    """Write the texts to standard output; on a terminal through $PAGER, less or more."""
    command = _pager() if is_terminal() else None
    if command is None:
        for text in texts:
            sys.stdout.write(text)
        return
    environment = {"LESS": "FRX", **os.environ}  # quit if it fits one screen, colours, leave the text on the screen
    with subprocess.Popen(  # noqa: S603 - the person's own pager
        command, stdin=subprocess.PIPE, env=environment, text=True, encoding="utf-8"
    ) as pager:
        assert pager.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the reader has seen enough
            for text in texts:
                pager.stdin.write(text)
            pager.stdin.close()
        while pager.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C belongs to the pager
                pager.wait()


def _pager() -> list[str] | None:
    """Return the command of the pager, None where there is none; `PAGER=cat` and an empty one mean none."""
    chosen = os.environ.get("PAGER")
    if chosen is not None:
        words = shlex.split(chosen)
        return words if words and words != ["cat"] and shutil.which(words[0]) else None
    program = next((path for name in _PAGERS if (path := shutil.which(name))), None)
    return None if program is None else [program]
