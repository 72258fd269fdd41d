"""`reverie show`: an operation, thread, memory, archive, dream and what else has an id or a path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from reverie.client import Client
from reverie.errors import NotFound
from reverie.wire import BriefLine, Memory
from reveried.cli import redactions, review, runs
from reveried.cli.command import Answer, Argument, Option
from reveried.cli.ids import all_items, is_path, with_thread
from reveried.cli.log import effects
from reveried.cli.output import clip, counted, is_terminal, print_fields, print_text, say, when, zoned
from reveried.cli.recall import find_memory, names_thread, one_line
from reveried.cli.sync import conflict_texts

_HEX = frozenset("0123456789abcdef")
_SHA256_CHARS = 64
_LINE_CHARS = 12  # of the id of a brief's line, in hex
_PREFIX_CHARS = 4  # of an archive's address; fewer are a typing error rather than an address


def show(
    client: Client,
    what: Annotated[str, Argument("ID|PATH", "The id of whatever a list shows, or a path.")],
    at: Annotated[str | None, Option("--at", metavar="OP", help="The document as it was after this operation.")] = None,
) -> Answer:
    """Show whatever has this id, as lists print it, or a document.

    Example: reverie show OP
    """
    return _document(client, what, at) if is_path(what) else _kind(what)(client, what)


def _kind(what: str) -> Callable[[Client, str], Answer]:
    """Return the function that shows the object with this id, chosen by the id's prefix or form."""
    by_prefix = {
        "thr": _thread,
        "mem": _memory,
        "dream": _dream,
        "cnf": conflict_texts,
        "cnd": review.diff,
        "rdn": _redaction,
        "run": runs.show,
        "sch": _schedule,
    }
    if what[:4] == "mem…" or what.startswith("mem_…"):
        return _memory
    if len(what) == _SHA256_CHARS and set(what) <= _HEX:
        return _archive
    return by_prefix.get(what.partition("_")[0], _operation if what.isdecimal() else _shortened)


def _shortened(client: Client, what: str) -> Answer:
    """Show a thread by its caller's id, else a memory by the end of its id, an archive by its beginning, or a line."""
    if names_thread(client, what):
        return _thread(client, what)
    try:
        memory = find_memory(client, what)
    except NotFound:
        memory = None
    if memory is not None:
        return _memory(client, memory.id)
    # Example: `077c47201a4f`, from `reverie archives list`.
    addresses = [item.sha256 for item in all_items(client.archives)]
    addresses = [address for address in addresses if address.startswith(what)] if len(what) >= _PREFIX_CHARS else []
    line = next(_brief_lines(client, what), None) if not addresses else None
    if line is not None:
        return _brief_line(*line)
    if len(addresses) != 1:
        why = f"{counted(len(addresses), 'archive')} begin with" if addresses else "nothing has the id"
        hint = "reverie log, threads, memories and archives list print ids; a file has its whole path"
        raise NotFound(f"{why} {clip(what, 40)!r}", hint=hint)
    return _archive(client, addresses[0])


def _brief_lines(client: Client, what: str) -> Iterator[tuple[str, BriefLine]]:
    """Yield the lines with this id, each with its project; nothing for what is no id of a line."""
    if len(what) == _LINE_CHARS and set(what) <= _HEX:
        for project in client.projects().items:
            if project.joined is None:
                yield from ((project.name, line) for line in client.brief(project.name).lines if line.id == what)


def _brief_line(project: str, line: BriefLine) -> Answer:
    """Print a line of a project's brief with where it was said."""
    yield line
    print_fields(
        ("Line", line.id),
        ("Brief of", project),
        ("When", when(line.at)),
        ("Sessions", line.sessions),
        ("Memory", line.memory),
        ("In thread", line.thread),
        ("Message", line.seq),
    )
    say()
    say(line.text + (f" ({line.note})" if line.note else ""))
    source = f"thread {line.thread} --around {line.seq}" if line.seq else ""
    if source := f"show {line.memory}" if line.memory else source:
        say()
        say(f"Its source: reverie {source}")


def _operation(client: Client, what: str) -> Answer:
    """Print an operation and its changes."""
    record = client.operation(what)
    yield record
    print_fields(
        ("Operation", record.id),
        ("When", when(record.at)),
        ("Who", record.who),
        ("Why", record.why),
        ("Parent", record.parent),
        ("Undoes", record.undoes),
    )
    say()
    for line in effects(client, record):
        say(line)


def _thread(client: Client, what: str) -> Answer:
    """Print a thread's sizes, and how to read it."""
    thread = with_thread(client, what, client.thread)
    yield thread
    used = thread.context
    print_fields(
        ("Thread", thread.id),
        ("Title", thread.title),
        ("Project", thread.project),
        ("Agent", thread.agent),
        ("Model", thread.model),
        ("Messages", f"{thread.message_count:,} ({thread.tokens:,} tokens)"),
        ("Last request", f"{used.tokens:,} of {used.window:,} tokens ({used.fraction:.0%})"),
        ("Distilled", counted(thread.distillations, "time") if thread.distillations else "never"),
        ("Created", when(thread.created_at)),
        ("Last", when(thread.updated_at)),
        ("Source", thread.source),
    )
    say()
    say(f"To read it: reverie thread {thread.id}")


def _memory(client: Client, what: str) -> Answer:
    """Print a memory with where it comes from."""
    memory = find_memory(client, what)
    yield memory
    said_in = memory.provenance.get("thread")
    print_fields(
        ("Memory", memory.id),
        ("Type", memory.type),
        ("Tags", " ".join(memory.tags)),
        ("Project", memory.project),
        ("File", memory.document),
        ("Changed", when(memory.updated_at)),
        ("Recalled", counted(memory.access_count, "time") if memory.access_count else "never"),
        ("Trust", memory.trust),
        ("In doubt", _doubt(memory)),
        ("Written by", _writer(memory.provenance)),
        ("In thread" if "tool" in memory.provenance else "Learnt from", said_in if isinstance(said_in, str) else None),
    )
    say()
    say(one_line(memory))
    for name, value in memory.fields.items():
        say(f"- {name}: {value}")
    say()
    say(f"Its versions: reverie log {memory.id}")


def _doubt(memory: Memory) -> str | None:
    """Return since when a memory is in doubt, and how to read the thread that speaks against it."""
    if memory.in_doubt_since is None:
        return None
    doubt = memory.provenance.get("doubt")
    thread = doubt.get("thread") if isinstance(doubt, dict) else None
    return f"since {when(memory.in_doubt_since)}" + (f": reverie thread {thread}" if thread else "")


def _writer(provenance: Mapping[str, Any]) -> str | None:
    """Return who wrote a memory, and by which tool: `claude-code (memory_append)`; None for what an engine learnt."""
    by, tool = provenance.get("by"), provenance.get("tool")
    return None if not isinstance(by, str) else f"{by} ({tool})" if isinstance(tool, str) else by


def _archive(client: Client, what: str) -> Answer:
    """Print an archive's canonical JSON, byte for byte; with --json too."""
    print_text(client.archive(what))
    yield from ()


def _dream(client: Client, what: str) -> Answer:
    """Print a dream's record."""
    record = client.dream_record(what)
    yield record
    print_fields(
        ("Dream", record.id),
        ("When", when(record.at)),
        ("Trigger", record.trigger),
        ("Tokens", f"{record.tokens_used:,} of {record.token_budget:,}"),
        ("Changes", ", ".join(f"{number:,} {action}" for action, number in record.counts.items() if number)),
        ("Waiting", record.waiting or None),
        ("Failed", None if record.failure is None else f"{record.failure.message} ({record.failure.code})"),
        ("Fallback", record.fallback and f"without the model: {record.fallback}"),
        ("Archive", record.archive),
        ("Operation", record.operation),
    )


def _redaction(client: Client, what: str) -> Answer:
    item = redactions.find(client, what)
    yield item
    redactions.print_redaction(item)


def _schedule(client: Client, what: str) -> Answer:
    """Print a schedule."""
    item = next((item for item in client.schedules().items if item.id == what), None)
    if item is None:
        raise NotFound(f"no schedule is called {clip(what, 40)}", hint="reverie schedule list shows them")
    yield item
    failed = None if item.failure is None else f"{item.failure.message} ({item.failure.code})"
    print_fields(
        ("Schedule", item.id),
        ("Job", item.job),
        ("When", f"{item.cron} ({item.timezone})"),
        ("Next", zoned(item.next_run)),
        ("Last", when(item.last_run)),
        ("Failed", failed),
    )


def _document(client: Client, what: str, at: str | None) -> Answer:
    """Print a document's text: without control characters on a terminal, byte for byte to a pipe."""
    document = client.document(what, at=at)
    yield document
    if is_terminal():
        say(document.content.removesuffix("\n"), keep="\n\t")
    else:
        print_text(document.content)
