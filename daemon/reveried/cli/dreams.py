"""`reverie dream`, `schedule` and `archives`: start a dream, the schedules, and the archives that both leave."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, NotFound, ValidationError
from reveried.cli.changes import print_changes, print_fallback, print_proposals
from reveried.cli.command import Answer, Argument, Budget, Ended, Json, Limit, Option
from reveried.cli.ids import all_items
from reveried.cli.output import counted, print_fields, print_table, print_text, say, size, when, zoned

_CRON_FIELDS = 5  # minute, hour, day of month, month, day of week
Address = Annotated[str, Argument("SHA256", "An archive's SHA-256, or its first characters.")]
_SHORT_HASH = 12  # characters of a SHA-256 that a list shows
_HASH_CHARS = 64


def dream(
    client: Client,
    budget: Budget = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Print the decisions and write nothing.")] = False,
) -> Answer:
    """Distill the memories that are new since the last dream, the oldest first where the budget cannot hold all.

    Example: reverie dream --budget 20000
    """
    answer = client.dream(token_budget=budget, dry_run=dry_run)
    yield answer
    if answer.archive is None and not answer.changes:
        has_memories = client.memories(limit=1).items
        say("No memory is new since the last dream." if has_memories else "There are no memories to distill.")
        say("New ones come from: reverie import claude-code ~/.claude/projects, or reverie distill THREAD")
        return
    if answer.changes:
        number = counted(len(answer.changes), "decision")
        say(f"{number}, none written:" if answer.dry_run else f"{number}:")
        print_changes(answer.changes)
    else:
        say(
            "None of the new memories is to be changed. Nothing was written."
            if answer.dry_run
            else "The new memories are in the archive; none of them is to be changed."
        )
    print_fields(
        ("Read", counted(answer.sources, "memory", "memories") if answer.sources else None),
        ("Waiting", f"{answer.waiting:,} for the next dream: the budget is used" if answer.waiting else None),
        ("Tokens", f"{answer.tokens_used:,} of {answer.token_budget:,} ({answer.tokenizer})"),
        ("Archive", answer.archive),
        ("Index", "updated" if answer.index_updated else None),
    )
    print_fallback(answer.fallback)
    print_proposals(answer.proposals)


def schedule_list(client: Client) -> Answer:
    """List the schedules.

    Example: reverie schedule list
    """
    page = client.schedules()
    yield page
    if not page.items:
        say('No schedules. To dream every night at three: reverie schedule add "0 3 * * *"')
        return
    print_table(
        "Schedule, Job, When, Time zone, Next, Last, Result",
        [
            (item.id, item.job, item.cron, item.timezone, zoned(item.next_run), when(item.last_run), _result(item))
            for item in page.items
        ],
    )
    for item in page.items:
        if item.failure is not None:
            say(f"{item.id} failed: {item.failure.message}" + (f"; {item.failure.hint}" if item.failure.hint else ""))


def _result(schedule: wire.Schedule) -> str:
    """Return how the last run of a schedule ended: `ok`, `failed: CODE`, or `-` before the first one."""
    if schedule.failure is not None:
        return f"failed: {schedule.failure.code}"
    return "-" if schedule.last_run is None else "ok"


def schedule_add(
    client: Client,
    cron: Annotated[str, Argument("CRON", 'Five fields in quotes: "0 3 * * *" is every night at 3.')],
    timezone: Annotated[
        str | None, Option("--timezone", help="A name such as Europe/Vienna; default: this machine's.")
    ] = None,
    budget: Budget = None,
    learn: Annotated[
        bool, Option("--learn", help="Learn from all threads with new messages, instead of dreaming.")
    ] = False,
) -> Answer:
    """Add a schedule of dreams, or of learning.

    Example: reverie schedule add "0 3 * * *"
    """
    fields = len(cron.split())
    if fields != _CRON_FIELDS:
        raise ValidationError(
            f"CRON must have five fields, not {fields}", hint='for example "0 3 * * *", every night at three'
        )
    zone = timezone or local_timezone()
    job: Literal["dream", "learn"] = "learn" if learn else "dream"
    for item in client.schedules().items:
        if (item.cron.split(), item.timezone, item.job) == (cron.split(), zone, job):
            hint = f"reverie schedule remove {item.id}, to add it with other options"
            raise Conflict(f"there is this schedule already: {item.id}", hint=hint)
    schedule = client.add_schedule(cron, timezone=zone, token_budget=budget, job=job)
    yield schedule
    say(f"Schedule {schedule.id}: {schedule.cron} in {schedule.timezone}, next {zoned(schedule.next_run)}.")


def schedule_remove(
    client: Client, schedule: Annotated[str, Argument("SCHEDULE", "Its id, as `reverie schedule list` shows it.")]
) -> Answer:
    """Remove a schedule.

    Example: reverie schedule remove SCHEDULE
    """
    client.remove_schedule(schedule)
    yield {"removed": schedule}
    say(f"Schedule {schedule} is removed.")


def local_timezone() -> str:
    """Return the name of this machine's time zone, UTC if it has none."""
    import tzlocal

    name: str | None = tzlocal.get_localzone_name()
    return name or "UTC"


def archives_list(client: Client, limit: Limit = 50) -> Answer:
    """List the archives, newest first.

    Example: reverie archives list
    """
    # The daemon lists them by SHA-256, which is no order in time.
    archives = sorted(all_items(client.archives), key=lambda item: item.at, reverse=True)
    yield wire.Page(items=archives[:limit])
    if not archives:
        say("No archives yet; each distillation and each dream leaves one.")
        return
    print_table(
        "Archive, Made by, When, Size>, Entries>, Of*",
        [
            (item.sha256[:_SHORT_HASH], item.kind, when(item.at), size(item.size), item.entries, item.ref or "-")
            for item in archives[:limit]
        ],
        drop=(4, 3),
    )
    if len(archives) > limit:
        say(f"Older ones not shown: {len(archives) - limit:,}. To see them: reverie archives list --limit N")


def archives_show(client: Client, address: Address, json: Json = False) -> None:
    """Print an archive's canonical JSON, byte for byte.

    Example: reverie archives show 3f2a
    """
    del json  # an archive is JSON already
    print_text(client.archive(_whole_address(client, address)))


def archives_verify(client: Client) -> Answer:
    """Check every archive against its SHA-256.

    Example: reverie archives verify
    """
    good, wrong = 0, []
    for item in all_items(client.archives):
        if hashlib.sha256(client.archive(item.sha256)).hexdigest() == item.sha256:
            good += 1
        else:
            wrong.append(item.sha256)
    yield Ended({"good": good, "wrong": wrong}, 1 if wrong else 0)
    for address in wrong:
        say(f"{address} does not match its SHA-256")
    say(f"{counted(good, 'archive')} checked and good" + (f", {len(wrong)} not." if wrong else "."))


def _whole_address(client: Client, prefix: str) -> str:
    if len(prefix) >= _HASH_CHARS:
        return prefix
    addresses = [item.sha256 for item in all_items(client.archives) if item.sha256.startswith(prefix)]
    if len(addresses) == 1:
        return addresses[0]
    why = f"{counted(len(addresses), 'archive')} begin" if addresses else "no archive begins"
    raise NotFound(f"{why} with {prefix}", hint="reverie archives list shows the addresses")
