"""`reverie runs`: the work of agents, the files that they wrote, and what was learnt from it."""

from __future__ import annotations

from typing import Annotated

from reverie import wire
from reverie.client import Client
from reveried.cli.changes import print_changes, print_proposals
from reveried.cli.command import Answer, Argument, Limit, Option
from reveried.cli.ids import ID_END, all_items, whole_id
from reveried.cli.output import counted, print_fields, print_table, say, size, when

RunId = Annotated[str, Argument("RUN", "A run's id, or its last characters.")]


def list_runs(
    client: Client,
    state: Annotated[
        wire.RunState | None, Option("--state", metavar="STATE", help="Only running or completed ones.")
    ] = None,
    limit: Limit = 50,
) -> Answer:
    """List the runs, newest first.

    Example: reverie runs list
    """
    page = client.runs(state=state, limit=limit)
    yield page
    if not page.items:
        say("No runs yet. An agent begins one with POST /v1/runs.")
        return
    print_table(
        "Run, Began, State, Agent, Project, Files>, Learnt>, Title*",
        [
            (
                f"run_…{item.id[-ID_END:]}",
                when(item.created_at),
                item.state if item.ended_by in {None, "call"} else f"{item.state} ({item.ended_by})",
                item.agent or "-",
                item.project or "-",
                len(item.files),
                "-" if item.result is None else item.result.counts.get("ADD", 0),
                item.title or "-",
            )
            for item in page.items
        ],
    )
    if page.next:
        say("There are older ones: reverie runs list --limit 1000")


def show(client: Client, run: RunId) -> Answer:
    """Show a run: its files, its working memory, and what was learnt at its end.

    Example: reverie runs show RUN
    """
    items = all_items(client.runs)
    detail = client.run(whole_id(items, run, "run_", "run", hint="reverie runs list shows them"))
    yield detail
    print_fields(
        ("Run", detail.id),
        ("Title", detail.title),
        ("Agent", detail.agent),
        ("Thread", detail.thread),
        ("Project", detail.project),
        ("Began", when(detail.created_at)),
        ("Ended", None if detail.completed_at is None else f"{when(detail.completed_at)} by {detail.ended_by}"),
    )
    if detail.files:
        say()
        rows = [(file.path, size(file.size), file.omitted or "-", file.source) for file in detail.files]
        print_table("File*, Size>, Left out, Known from", rows)
    if detail.working_memory:
        say()
        print_table("Entry, Value*", sorted(detail.working_memory.items()))
    if detail.result is not None:
        _print_result(detail.result)


def _print_result(result: wire.RunResult) -> None:
    say()
    say(f"{counted(len(result.candidates), 'candidate')}, {counted(len(result.changes), 'decision')} ({result.tier}).")
    if result.changes:
        print_changes(result.changes)
    if result.fallback:
        say(f"Decided by rule: {result.fallback}")
    if result.waiting:
        say(f"{counted(len(result.waiting), 'candidate')} waited for you then: reverie review")
    print_proposals(result.proposals)
    if result.operation is not None:
        say(f"To revert what was learnt: reverie undo {result.operation}")
