"""`reverie dream`, `schedule` and `archives`: start a dream, the schedules, and the archives that both leave."""

import hashlib
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from reverie.errors import NotFound, ValidationError
from reveried.cli import daemon_client
from reveried.cli.daemon_client import all_items
from reveried.cli.options import Budget, Json, Limit
from reveried.cli.output import counted, print_fields, print_json, print_table, say, size, when
from reveried.cli.recall import change_row, print_proposals

if TYPE_CHECKING:
    from reverie import wire
    from reverie.client import Client

_CRON_FIELDS = 5  # minute, hour, day of month, month, day of week

Address = Annotated[str, typer.Argument(metavar="SHA256", help="An archive's SHA-256, or its first characters.")]

_SHORT_HASH = 12  # characters of a SHA-256 that a list shows

_HASH_CHARS = 64


def dream(
    budget: Budget = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the decisions and write nothing.")] = False,
    json: Json = False,
) -> None:
    """Distill the memories that are new since the last dream, the oldest first where the budget cannot hold all.

    Example: reverie dream --budget 20000
    """
    with daemon_client.client() as client:
        answer = client.dream(token_budget=budget, dry_run=dry_run)
        was_empty = answer.archive is None and not answer.changes
        has_memories = not was_empty or json or bool(client.memories(limit=1).items)
    if json:
        print_json(answer)
        return
    if was_empty:
        say("No memory is new since the last dream." if has_memories else "There are no memories to distill.")
        say("New ones come from: reverie import claude-code ~/.claude/projects, or reverie distill THREAD")
        return
    if answer.changes:
        number = counted(len(answer.changes), "decision")
        say(f"{number}, none written:" if answer.dry_run else f"{number}:")
        print_table(["Decision", "Memory"], [change_row(change) for change in answer.changes], wraps=(1,))
    else:
        say(
            "None of the new memories is to be changed. Nothing was written."
            if answer.dry_run
            else "The new memories are in the archive; none of them is to be changed."
        )
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
    with daemon_client.client() as client:
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
            (item.id, item.job, item.cron, item.timezone, _zoned(item.next_run), when(item.last_run), _result(item))
            for item in page.items
        ],
    )
    for item in page.items:
        if item.failure is not None:
            say(f"{item.id} failed: {item.failure.message}" + (f"; {item.failure.hint}" if item.failure.hint else ""))


def _zoned(at: str | None) -> str:
    """Format a wire timestamp as `when` does, with the zone of this machine: a schedule may be in another one."""
    return "-" if at is None else f"{when(at)} {datetime.fromisoformat(at).astimezone().tzname()}"


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
    with daemon_client.client() as client:
        schedule = client.add_schedule(
            cron, timezone=timezone or local_timezone(), token_budget=budget, job="learn" if learn else "dream"
        )
    if json:
        print_json(schedule)
        return
    say(f"Schedule {schedule.id}: {schedule.cron} in {schedule.timezone}, next {_zoned(schedule.next_run)}.")


def schedule_remove(
    schedule: Annotated[str, typer.Argument(metavar="SCHEDULE", help="Its id, as `reverie schedule list` shows it.")],
    json: Json = False,
) -> None:
    """Remove a schedule.

    Example: reverie schedule remove SCHEDULE
    """
    with daemon_client.client() as client:
        client.remove_schedule(schedule)
    print_json({"removed": schedule}) if json else say(f"Schedule {schedule} is removed.")


def local_timezone() -> str:
    """Return the name of this machine's time zone, UTC if it has none."""
    import tzlocal  # noqa: PLC0415 - only a new schedule needs it

    name: str | None = tzlocal.get_localzone_name()
    return name or "UTC"


def archives_list(limit: Limit = 50, json: Json = False) -> None:
    """List the archives, newest first.

    Example: reverie archives list
    """
    with daemon_client.client() as client:
        if json:
            print_json(client.archives(limit=limit))
            return
        # The daemon lists them by SHA-256, which is no order in time.
        archives = sorted(all_items(lambda after: client.archives(after=after)), key=lambda item: item.at, reverse=True)
    if not archives:
        say("No archives yet; each distillation and each dream leaves one.")
        return
    print_table(
        ["Archive", "Made by", "When", "Size", "Entries", "Of"],
        [
            (item.sha256[:_SHORT_HASH], item.kind, when(item.at), size(item.size), item.entries, item.ref or "-")
            for item in archives[:limit]
        ],
        right=(3, 4),
        wraps=(5,),
        drop=(4, 3),
    )
    if len(archives) > limit:
        say(f"Older ones not shown: {len(archives) - limit:,}. To see them: reverie archives list --limit N")


def archives_show(address: Address, json: Json = False) -> None:
    """Print an archive's canonical JSON, byte for byte.

    Example: reverie archives show 3f2a
    """
    del json  # an archive is JSON already
    with daemon_client.client() as client:
        typer.echo(client.archive(_whole_address(client, address)), nl=False)


def archives_verify(json: Json = False) -> None:
    """Check every archive against its SHA-256.

    Example: reverie archives verify
    """
    good, wrong = 0, []
    with daemon_client.client() as client:
        for item in all_items(lambda after: client.archives(after=after)):
            if hashlib.sha256(client.archive(item.sha256)).hexdigest() == item.sha256:
                good += 1
            else:
                wrong.append(item.sha256)
    if json:
        print_json({"good": good, "wrong": wrong})
    else:
        for address in wrong:
            say(f"{address} does not match its SHA-256")
        say(f"{counted(good, 'archive')} checked and good" + (f", {len(wrong)} not." if wrong else "."))
    if wrong:
        raise typer.Exit(1)


def _whole_address(client: "Client", prefix: str) -> str:
    """Return the SHA-256 of the only archive that begins with these characters."""
    if len(prefix) >= _HASH_CHARS:
        return prefix
    addresses = [
        item.sha256 for item in all_items(lambda after: client.archives(after=after)) if item.sha256.startswith(prefix)
    ]
    if len(addresses) == 1:
        return addresses[0]
    why = f"{counted(len(addresses), 'archive')} begin" if addresses else "no archive begins"
    raise NotFound(f"{why} with {prefix}", hint="reverie archives list shows the addresses")
