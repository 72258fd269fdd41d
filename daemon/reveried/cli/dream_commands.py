"""The commands about dreams: dream, schedule."""

from typing import Annotated

import typer

from reveried.cli import daemon_handle
from reveried.cli.decisions import decision, tell_proposals
from reveried.cli.options import Budget, Json
from reveried.cli.output import as_json, counted, fields, say, table, when

__all__ = ["dream", "schedule_add", "schedule_list", "schedule_remove"]


def dream(
    budget: Budget = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide, show it, and write nothing.")] = False,
    json: Json = False,
) -> None:
    """Distil what is new in the memory since the last dream.

    Example: reverie dream --budget 20000
    """
    with daemon_handle.client() as client:
        done = client.dream(token_budget=budget, dry_run=dry_run)
    if json:
        as_json(done)
        return
    if not done.changes:
        say("Nothing is new in the memory since the last dream.")
        say("New comes from: reverie import claude-code ~/.claude/projects, or reverie distill THREAD")
    else:
        number = counted(len(done.changes), "decision")
        say(f"{number}, none written:" if done.dry_run else f"{number}:")
        table(["Decision", "Memory"], [decision(change) for change in done.changes], wraps=(1,))
    if done.archive is None and not done.changes:
        return
    fields(
        [
            ("Tokens", f"{done.tokens_used:,} of {done.token_budget:,} ({done.tokenizer})"),
            ("Archive", done.archive),
            ("Index", "written anew" if done.index_updated else None),
        ]
    )
    tell_proposals(done.proposals)


def schedule_list(json: Json = False) -> None:
    """List when dreams run by themselves.

    Example: reverie schedule list
    """
    with daemon_handle.client() as client:
        page = client.schedules()
    if json:
        as_json(page)
        return
    if not page.items:
        say('No dreams run by themselves. To dream every night at three: reverie schedule add "0 3 * * *"')
        return
    table(
        ["Schedule", "When", "Time zone", "Next (UTC)", "Last (UTC)"],
        [(item.id, item.cron, item.timezone, when(item.next_run), when(item.last_run)) for item in page.items],
    )


def schedule_add(
    cron: Annotated[
        str, typer.Argument(metavar="CRON", help='Five fields in quotes: "0 3 * * *" is every night at 3.')
    ],
    timezone: Annotated[
        str | None, typer.Option("--timezone", help="A name such as Europe/Vienna; else yours.")
    ] = None,
    budget: Budget = None,
    json: Json = False,
) -> None:
    """Let dreams run by themselves.

    Example: reverie schedule add "0 3 * * *"
    """
    with daemon_handle.client() as client:
        made = client.add_schedule(cron, timezone=timezone or local_timezone(), token_budget=budget)
    if json:
        as_json(made)
        return
    say(f"Schedule {made.id}: {made.cron} in {made.timezone}, next {when(made.next_run)} UTC.")


def schedule_remove(
    schedule: Annotated[str, typer.Argument(metavar="SCHEDULE", help="Its id, as `reverie schedule list` shows it.")],
    json: Json = False,
) -> None:
    """Stop a schedule.

    Example: reverie schedule remove SCHEDULE
    """
    with daemon_handle.client() as client:
        client.remove_schedule(schedule)
    as_json({"removed": schedule}) if json else say(f"Schedule {schedule} is gone.")


def local_timezone() -> str:
    """The name of this machine's time zone, UTC where it has none."""
    import tzlocal  # noqa: PLC0415 - only a new schedule asks for it

    name: str | None = tzlocal.get_localzone_name()
    return name or "UTC"
