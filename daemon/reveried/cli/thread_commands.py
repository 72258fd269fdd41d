"""The commands about threads: threads, context, distill."""

from typing import Annotated

import typer

from reverie import wire
from reveried.cli import place
from reveried.cli.context_text import as_text
from reveried.cli.options import Budget, Json, Limit
from reveried.cli.output import as_json, clip, counted, fields, say, table, when

__all__ = ["context", "distill", "threads"]

TITLE_CHARS = 60
ThreadId = Annotated[str, typer.Argument(metavar="THREAD", help="A thread's id, as `reverie threads` shows it.")]


def threads(limit: Limit = 20, json: Json = False) -> None:
    """List the threads with their sizes.

    Example: reverie threads
    """
    with place.client() as client:
        page = client.threads(limit=limit)
    if json:
        as_json(page)
        return
    if not page.items:
        say("No threads yet. Next: reverie import claude-code ~/.claude/projects")
        return
    table(
        ["Thread", "Title", "Messages", "Tokens", "Distilled", "In context", "Last"],
        [
            (
                thread.id,
                clip(thread.title, TITLE_CHARS) if thread.title else "-",
                f"{thread.message_count:,}",
                f"{thread.tokens:,}",
                f"{thread.distillations}x" if thread.distillations else "-",
                f"{thread.context.tokens:,} ({thread.context.fraction:.0%})",
                when(thread.updated_at),
            )
            for thread in page.items
        ],
        right=(2, 3, 4, 5),
        wraps=(1,),
        drop=(5, 4, 6, 3, 2),
    )
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
    asked = wire.parse_query(wire.ContextQuery, {"placement": placement} if placement is not None else {})
    with place.client() as client:
        found = client.context(thread, query=query, placement=asked.placement, max_tokens=max_tokens)
    if json:
        as_json(found)
        return
    say(as_text(found.request))
    say()
    say(costs(found.tokens))
    if found.dropped:
        say(f"No room for {counted(len(found.dropped), 'piece')}; --json names them.")


def distill(thread: ThreadId, budget: Budget = None, json: Json = False) -> None:
    """Replace a thread's older messages by a summary, and learn from them.

    Example: reverie distill THREAD
    """
    with place.client() as client:
        done = client.distill(thread, token_budget=budget)
    if json:
        as_json(done)
        return
    say(done.summary.text)
    say()
    fields(
        [
            ("Tokens", f"{done.tokens_before:,} before, {done.tokens_after:,} after"),
            ("Kept whole", f"the last {counted(done.tail.messages, 'message')} ({done.tail.tokens:,} tokens)"),
            ("Learnt", learnt(done.memories)),
            ("Archive", done.archive),
        ]
    )


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
