"""The command `search`: messages, memories and documents by a question."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from reverie import wire
from reveried.cli import local_daemon
from reveried.cli.options import Json, joined_text
from reveried.cli.output import clip, print_json, say, when

if TYPE_CHECKING:
    from reverie.wire import SearchHit

__all__ = ["search"]

_QUERY_CHARS_MAX = 10_000  # as `POST /v1/search` allows
_WIDTH = 80
_INDENT = "    "
_TITLE_CHARS = 34
_NEIGHBOUR_CHARS = 66


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="A question in your own words.")],
    *,
    where: Annotated[str, typer.Option("--in", help="messages, memories, documents or all.")] = "messages",
    project: Annotated[str | None, typer.Option("--project", "-p", help="Only of this project.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Only messages of this agent's threads.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", help="Only messages of this thread.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="DAY", help="From this day (UTC) on.")] = None,
    before: Annotated[str | None, typer.Option("--before", metavar="DAY", help="Before this day (UTC).")] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=wire.SEARCH_LIMIT_MAX, help="How many to show at most.")
    ] = 5,
    json: Json = False,
) -> None:
    """Search what was said, the memories or the documents.

    Example: reverie search why did we pin the parser --since 2026-11-01
    """
    given = {
        "query": joined_text(query, "QUERY", max_chars=_QUERY_CHARS_MAX),
        "in": where,
        "project": project,
        "agent": agent,
        "thread": thread,
        "since": since,
        "before": before,
        "limit": limit,
    }
    body = wire.parse(wire.SearchRequest, {name: value for name, value in given.items() if value is not None})
    with local_daemon.client() as client:
        answer = client.search(
            body.query,
            where=body.where,
            project=body.project,
            agent=body.agent,
            thread=body.thread,
            since=body.since,
            before=body.before,
            limit=body.limit,
        )
    if json:
        print_json(answer)
        return
    for hit in answer.hits:
        _print_hit(hit)
    if not answer.hits:
        say("Nothing matches that.")
    if not answer.complete:
        say("The index is still being built, so that there may be more: search again in a minute.")


def _print_hit(hit: SearchHit) -> None:
    """Print where a hit is, its passage, and what was said before and after it."""
    say(_heading(hit))
    number = hit.message.seq if hit.message is not None else 0
    for beside in (each for each in hit.neighbours if each.seq < number):
        say(f"{_INDENT}{beside.role}: {clip(beside.text, _NEIGHBOUR_CHARS)}")
    for line in textwrap.wrap(" ".join(hit.passage.split()), _WIDTH - len(_INDENT) - 2, break_on_hyphens=False):
        say(f"{_INDENT}> {line}")
    for beside in (each for each in hit.neighbours if each.seq > number):
        say(f"{_INDENT}{beside.role}: {clip(beside.text, _NEIGHBOUR_CHARS)}")


def _heading(hit: SearchHit) -> str:
    """Return the place of a hit on one line."""
    if hit.thread is not None and hit.message is not None:
        name = clip(hit.thread.title, _TITLE_CHARS) if hit.thread.title else ""
        place = f"{hit.thread.id} --around {hit.message.seq}"  # as `reverie thread` takes it
        return clip(" · ".join(part for part in (place, hit.message.role, when(hit.at), name) if part), _WIDTH)
    part = f" · {hit.heading}" if hit.heading else ""
    return clip(f"{hit.document}{part} · {hit.kind} · {when(hit.at)}", _WIDTH)
