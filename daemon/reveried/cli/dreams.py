"""`reverie dream` and `reverie schedule`: start a dream, and the schedules by which dreams start."""

from typing import TYPE_CHECKING, Annotated

import typer

from reverie.errors import ValidationError
from reveried.cli import local_daemon
from reveried.cli.memories import change_row, print_proposals
from reveried.cli.options import Budget, Json
from reveried.cli.output import counted, print_fields, print_json, print_table, say, when

if TYPE_CHECKING:
    from reverie import wire

__all__ = ["dream", "schedule_add", "schedule_list", "schedule_remove"]

_CRON_FIELDS = 5  # minute, hour, day of month, month, day of week


def dream(
    budget: Budget = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the decisions and write nothing.")] = False,
    json: Json = False,
) -> None:
    """Distill the memories that are new since the last dream, the oldest first where the budget cannot hold all.

    Example: reverie dream --budget 20000
    """
    with local_daemon.client() as client:
        answer = client.dream(token_budget=budget, dry_run=dry_run)
    if json:
        print_json(answer)
        return
    if answer.archive is None and not answer.changes:
        say("No memory is new since the last dream.")
        say("New ones come from: reverie import claude-code ~/.claude/projects, or reverie distill THREAD")
        return
    if answer.changes:
        number = counted(len(answer.changes), "decision")
        say(f"{number}, none written:" if answer.dry_run else f"{number}:")
        print_table(["Decision", "Memory"], [change_row(change) for change in answer.changes], wraps=(1,))
    else:
        say("The new memories are in the archive; none of them is to be changed.")
    print_fields(
        [
            ("Read", counted(answer.sources, "memory", "memories") if answer.sources else None),
            ("Waiting", f"{answer.waiting:,} for the next dream: the budget is used" if answer.waiting else None),
            ("Tokens", f"{answer.tokens_used:,} of {answer.token_budget:,} ({answer.tokenizer})"),
            ("Archive", answer.archive),
            ("Index", "updated" if answer.index_updated else None),
        ]
    )
    print_proposals(answer.proposals)


def schedule_list(json: Json = False) -> None:
    """List the schedules.

    Example: reverie schedule list
    """
    with local_daemon.client() as client:
        page = client.schedules()
    if json:
        print_json(page)
        return
    if not page.items:
        say('No schedules. To dream every night at three: reverie schedule add "0 3 * * *"')
        return
    print_table(
        ["Schedule", "Job", "When", "Time zone", "Next", "Last", "Result"],
        [
            (item.id, item.job, item.cron, item.timezone, when(item.next_run), when(item.last_run), _result(item))
            for item in page.items
        ],
    )
    for item in page.items:
        if item.failure is not None:
            say(f"{item.id} failed: {item.failure.message}" + (f"; {item.failure.hint}" if item.failure.hint else ""))


def _result(schedule: "wire.Schedule") -> str:
    """Return how the last run of a schedule ended: `ok`, `failed: CODE`, or `-` before the first one."""
    if schedule.failure is not None:
        return f"failed: {schedule.failure.code}"
    return "-" if schedule.last_run is None else "ok"


def schedule_add(
    cron: Annotated[
        str, typer.Argument(metavar="CRON", help='Five fields in quotes: "0 3 * * *" is every night at 3.')
    ],
    timezone: Annotated[
        str | None, typer.Option("--timezone", help="A name such as Europe/Vienna; default: this machine's.")
    ] = None,
    budget: Budget = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Learn from all threads with new messages, instead of dreaming.")
    ] = False,
    json: Json = False,
) -> None:
    """Add a schedule of dreams, or of learning.

    Example: reverie schedule add "0 3 * * *"
    """
    fields = len(cron.split())
    if fields != _CRON_FIELDS:
        raise ValidationError(
            f"CRON must have five fields, not {fields}", hint='for example "0 3 * * *", every night at three'
        )
    with local_daemon.client() as client:
        schedule = client.add_schedule(
            cron, timezone=timezone or local_timezone(), token_budget=budget, job="learn" if learn else "dream"
        )
    if json:
        print_json(schedule)
        return
    say(f"Schedule {schedule.id}: {schedule.cron} in {schedule.timezone}, next {when(schedule.next_run)}.")


def schedule_remove(
    schedule: Annotated[str, typer.Argument(metavar="SCHEDULE", help="Its id, as `reverie schedule list` shows it.")],
    json: Json = False,
) -> None:
    """Remove a schedule.

    Example: reverie schedule remove SCHEDULE
    """
    with local_daemon.client() as client:
        client.remove_schedule(schedule)
    print_json({"removed": schedule}) if json else say(f"Schedule {schedule} is removed.")


def local_timezone() -> str:
    """Return the name of this machine's time zone, UTC if it has none."""
    import tzlocal  # noqa: PLC0415 - only a new schedule needs it

    name: str | None = tzlocal.get_localzone_name()
    return name or "UTC"
