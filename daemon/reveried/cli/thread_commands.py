"""The commands about threads: threads, context, distill."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from reverie import wire
from reverie.errors import ValidationError
from reveried.cli import daemon_handle
from reveried.cli.context_text import as_text
from reveried.cli.decisions import tell_proposals
from reveried.cli.options import Budget, Json, Limit
from reveried.cli.output import as_json, clip, counted, fields, say, table, when
from reveried.cli.pagination import every
from reveried.cli.thread_names import on_thread

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["context", "distill", "threads"]

TITLE_CHARS = 60
ThreadId = Annotated[str, typer.Argument(metavar="THREAD", help="A thread's id, or its first characters.")]


def threads(limit: Limit = 20, json: Json = False) -> None:
    """List the threads with their sizes.

    Example: reverie threads
    """
    with daemon_handle.client() as client:
        page = client.threads(limit=limit)
    if json:
        as_json(page)
        return
    if not page.items:
        say("No threads yet. Next: reverie import claude-code ~/.claude/projects")
        return
    table(
        ["Thread", "Title", "Messages", "Tokens", "Summaries", "In context", "Last (UTC)"],
        [
            (
                thread.id,
                clip(thread.title, TITLE_CHARS) if thread.title else "-",
                f"{thread.message_count:,}" if thread.message_count else "none",
                f"{thread.tokens:,}",
                f"{thread.distillations:,}" if thread.distillations else "-",
                f"{thread.context.tokens:,} ({thread.context.fraction:.0%})",
                when(thread.updated_at),
            )
            for thread in page.items
        ],
        right=(2, 3, 4, 5),
        wraps=(1,),
        drop=(5, 4, 6, 3, 2),
    )
    if not all(thread.message_count for thread in page.items):
        say("Nobody speaks in a thread with no messages; there is nothing to distil in it.")
    if page.next:
        say(f"There are more: reverie threads --limit {min(limit * 5, 1000)}")


def context(
    thread: ThreadId,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="The most it may cost.")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="What the agent is about to do.")] = None,
    placement: Annotated[str | None, typer.Option(help="Where changing parts stand: system or late.")] = None,
    json: Json = False,
) -> None:
    """Show what an agent goes on with in a thread.

    Example: reverie context THREAD --max-tokens 16000
    """
    if placement not in (None, "system", "late"):
        raise ValidationError(f"--placement: there is no {clip(str(placement), 40)}", hint="give system or late")
    asked = wire.parse_query(wire.ContextQuery, {"placement": placement} if placement is not None else {})
    with daemon_handle.client() as client:
        found = on_thread(
            client,
            thread,
            lambda whole: client.context(whole, query=query, placement=asked.placement, max_tokens=max_tokens),
        )
    if json:
        as_json(found)
        return
    say(as_text(found.request))
    say()
    say(costs(found.tokens))
    if found.dropped:
        say(f"No room for {counted(len(found.dropped), 'piece')}; --json names them.")


def distill(
    thread: ThreadId,
    budget: Budget = None,
    full: Annotated[bool, typer.Option("--full", help="Print the summary too.")] = False,
    json: Json = False,
) -> None:
    """Replace a thread's older messages by a summary, and learn from them.

    Example: reverie distill THREAD
    """
    with daemon_handle.client() as client:
        done = on_thread(client, thread, lambda whole: client.distill(whole, token_budget=budget))
        kinds = "" if json else kinds_learnt(client, done.operation)
    if json:
        as_json(done)
        return
    fields(
        [
            ("Distillation", f"number {done.number} of {thread}"),
            ("Tokens", f"{done.tokens_before:,} before, {done.tokens_after:,} after"),
            ("Kept whole", f"the last {counted(done.tail.messages, 'message')} ({done.tail.tokens:,} tokens)"),
            ("Learnt", learnt(done.memories) + kinds),
            ("Archive", done.archive),
        ]
    )
    if done.memories is not None:
        tell_proposals(done.memories.proposals)
    say()
    say(done.summary.text if full else f"What an agent goes on with: reverie context {thread}")


def kinds_learnt(client: "Client", operation: str | None) -> str:
    """` (2 facts, 1 mistake)`: the new memories of an operation by their kind; nothing where there are none."""
    changes = client.operation(operation).changes if operation is not None else []
    fresh = {change.key[0] for change in changes if change.kind == "memory" and change.before is None}
    if not fresh:
        return ""
    kinds = Counter(item.type for item in every(lambda after: client.memories(after=after)) if item.id in fresh)
    words = ", ".join(counted(number, kind) for kind, number in kinds.most_common())
    return f" ({words})" if words else ""


def costs(tokens: wire.ContextTokens) -> str:
    """`5,120 tokens: summary 2,000, tail 3,000, …`: what each tier costs, the empty ones left out."""
    tiers = {
        "bootstrap": tokens.bootstrap,
        "index": tokens.index,
        "digest": tokens.digest,
        "working state": tokens.working_state,
        "notes": tokens.notes,
        "recall": tokens.recall,
        "summary": tokens.summary,
        "excerpts": tokens.excerpts,
        "tail": tokens.tail,
        "tools": tokens.tools,
    }
    parts = ", ".join(f"{name} {cost:,}" for name, cost in tiers.items() if cost)
    return f"{tokens.total:,} tokens ({tokens.tokenizer})" + (f": {parts}" if parts else "")


def learnt(changes: wire.MemoryChanges | None) -> str:
    """What a consolidation did, in words."""
    if changes is None:
        return "nothing"
    words = {"ADD": "new", "UPDATE": "improved", "DELETE": "dropped", "KEEP": "kept", "SKIP": "known already"}
    parts = [f"{changes.counts[action]} {word}" for action, word in words.items() if changes.counts.get(action)]
    return ", ".join(parts) or "nothing"
