"""`reverie status`; and the status of daemon and folder in words."""

from __future__ import annotations

from reverie import wire
from reverie.errors import DaemonNotRunning
from reveried.cli import daemon_client
from reveried.cli.command import Answer
from reveried.cli.output import counted, print_fields, print_table, say, when, zoned

FILE_PENDING = "It is stored, but the file could not be written yet. Next: reverie sync status"
_LEFT_OUT_SHOWN = 3  # saves that left lines out, in the status; `reverie sync status` lists all
UNSYNCED = ("stopped", "blocked")  # states of sync that end a command with exit status 4
_COMPACTIONS_SHOWN = 3  # of which something was late; `reverie status --json` lists more
_MISSING_SHOWN = 10  # paths of missing or older files in the status


def status() -> Answer:
    """Show what is stored, the schedules, and what needs attention.

    Example: reverie status
    """
    try:
        health = daemon_client.health()
        with daemon_client.client() as client:
            daemon_status = client.status()
    except DaemonNotRunning as error:
        from reveried.cli.daemon import not_running

        raise not_running(error) from error
    yield {"health": health, "status": daemon_status}
    print_status(health, daemon_status)


def print_status(health: wire.Health, status: wire.Status) -> None:
    """Print the daemon's status as names and values."""
    tokens = status.spend
    pairs: list[tuple[str, object]] = [
        (
            "Daemon",
            f"{health.status}, version {health.version}, process {health.pid}, up {_age(health.uptime_seconds)}",
        ),
        ("Folder", status.root),
        (
            "Stored",
            ", ".join(counted(number, _singular(kind), kind) for kind, number in status.counts.items())
            or "nothing yet",
        ),
        ("Engine", _engine(status.model)),
        ("Distilled", f"{tokens.total:,} tokens in distillations and dreams so far, {tokens.today:,} today"),
    ]
    if tokens.models or tokens.daily_calls is not None:
        pairs.append(("Model today", _model_use(tokens)))
    if tokens.model_tokens_per_session is not None:
        of = counted(tokens.model_sessions, "session")
        pairs.append(("A session", f"about {tokens.model_tokens_per_session:,} tokens of the model, over {of}"))
    if status.last_dream is not None:
        waiting = f"; {status.last_dream.waiting:,} memories wait for the next" if status.last_dream.waiting else ""
        pairs.append(("Last dream", f"{when(status.last_dream.at)} ({status.last_dream.id}){waiting}"))
        if status.last_dream.fallback:
            pairs.append(("", f"without the model: {status.last_dream.fallback}"))
    for row in status.schedules or ():
        pairs.append(("Schedule", f"{row.cron} {row.timezone}, next {zoned(row.next_run)}"))
        if row.failure is not None:
            hint = f"; {row.failure.hint}" if row.failure.hint else ""
            pairs.append(
                ("", f"its run of {when(row.last_run)} failed ({row.failure.code}): {row.failure.message}{hint}")
            )
    if status.candidates:
        pairs.append(("To review", f"{counted(status.candidates, 'change')}; reverie review"))
    if status.paused_since is not None:
        pairs.append(("Paused", f"no session is recorded since {when(status.paused_since)}; reverie resume"))
    if status.open_conflicts:
        pairs.append(("Conflicts", f"{counted(status.open_conflicts, 'conflict')}; reverie sync conflicts"))
    if status.sync is not None and status.sync.state in UNSYNCED:
        pairs.append(("Sync", f"{status.sync.state}: {status.sync.reason}; reverie sync status"))
    elif status.sync is not None and status.sync.refused:
        pairs.append(("Sync", f"{counted(len(status.sync.refused), 'file')} not read; reverie sync status"))
    for left_out in (status.sync.left_out or [])[:_LEFT_OUT_SHOWN] if status.sync is not None else ():
        if left_out.memories:
            pairs.append(("Left out", _moved_out(left_out)))
            continue
        lines = counted(left_out.lines, "line")
        what = f'{lines} of {left_out.path}, by a save ("{left_out.first}"'
        what += ", …)" if left_out.lines > 1 else ")"
        pairs.append(("Left out", f"{what}; to bring back: {left_out.undo}"))
    if status.sync is not None and status.sync.watching_hint:
        pairs.append(("Changes from", f"periodic scans: {status.sync.watching_hint}"))
    if status.late_hooks is not None:
        pairs.append(("Hooks", late_line(status.late_hooks)))
        for compaction in (status.late_hooks.compactions or [])[-_COMPACTIONS_SHOWN:]:
            named = f"shown or named {when(compaction.named_at)}" if compaction.named_at else "not shown yet"
            pairs.append(
                ("", f"compaction of {compaction.client} {compaction.session}, {when(compaction.at)}: {named}")
            )
    print_fields(*pairs)


def late_line(late: wire.LateHooks) -> str:
    """Return how many hooks were answered too late, and how many compactions this concerned."""
    compactions = late.compactions or ()
    last = f", the last {when(late.last_at)}" if late.last_at else ""
    concerned = f"; texts of {counted(len(compactions), 'compaction')} were late" if compactions else ""
    return f"{counted(late.count, 'hook')} of agents answered too late since the daemon began{last}{concerned}"


def _engine(model: wire.ModelInUse) -> str:
    if model.engine == "extractive":
        return "extractive (built in, no network)"
    return f"{model.engine}, {model.name}" if model.name else model.engine


def _model_use(spend: wire.TokenSpend) -> str:
    """Return today's requests to models with the ceilings: `4 of 1,000 calls, 1,200 of 2,000,000 tokens`."""
    entries = spend.models or ()
    calls, failed = sum(entry.calls for entry in entries), sum(entry.failed for entry in entries)
    used = sum(entry.input_tokens + entry.output_tokens for entry in entries)
    reserved = sum(entry.reserved_tokens for entry in entries)
    most_calls = "" if spend.daily_calls is None else f" of {spend.daily_calls:,}"
    most_tokens = "" if spend.daily_tokens is None else f" of {spend.daily_tokens:,}"
    unknown = f" and up to {reserved:,} of calls without a known end" if reserved else ""
    return f"{calls:,}{most_calls} calls ({failed:,} failed), {used:,}{most_tokens} tokens{unknown}"


def _singular(kind: str) -> str:
    return f"{kind[:-3]}y" if kind.endswith("ies") else kind.removesuffix("s")


def _age(seconds: float) -> str:
    """Format a duration in its largest unit: `50 seconds`, `3 minutes`, `5 hours`, from 48 hours on in days."""
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if minutes < 1:
        return counted(int(seconds), "second")
    return counted(minutes, "minute") if hours < 1 else counted(hours, "hour") if hours < 48 else f"{hours // 24} days"


def print_sync_status(status: wire.SyncStatus) -> None:
    """Print the sync status as names and values, then the missing and the refused files."""
    print_fields(
        ("Folder", status.root),
        ("Sync", f"{status.state}: {status.reason}" if status.reason else status.state),
        ("Next", status.hint),
        ("Documents", f"{status.documents:,}"),
        ("Pending", status.pending or None),
        ("Conflicts", f"{status.conflicts:,}; reverie sync conflicts" if status.conflicts else None),
        ("Last scan", when(status.last_scan_at)),
        ("Changes from", _changes_from(status)),
    )
    if status.missing:
        more = " …" if len(status.missing) > _MISSING_SHOWN else ""
        say(f"Missing from the folder, still stored: {', '.join(status.missing[:_MISSING_SHOWN])}{more}")
    if status.older:
        more = " …" if len(status.older) > _MISSING_SHOWN else ""
        say(f"Older in the folder than stored: {', '.join(status.older[:_MISSING_SHOWN])}{more}")
    if status.refused:
        say()
        print_table(
            "Not read*, Why, What to do*",
            [(file.path, file.reason.replace("_", " "), file.hint) for file in status.refused],
        )
    left_out_lines = status.left_out or []  # absent where there is none
    for left_out in left_out_lines:
        if left_out.memories:
            say(f"Left out: {_moved_out(left_out)}")
    if saves := [left_out for left_out in left_out_lines if not left_out.memories]:
        say()
        print_table(
            "Left out by a save*, Lines>, At, To bring them back",
            [(left_out.path, left_out.lines, when(left_out.at), left_out.undo) for left_out in saves],
            drop=(2,),
        )


def _moved_out(left_out: wire.LeftOutLines) -> str:
    memories = counted(left_out.memories, "memory", "memories")
    return f"{memories} of {left_out.path}, which moved to where files have none; to bring back: {left_out.undo}"


def _changes_from(status: wire.SyncStatus) -> str:
    """Return how changed files are noticed: by events, or by periodic scans with the hint how to get events."""
    if status.watching == "events":
        return "file events"
    return f"periodic scans: {status.watching_hint}" if status.watching_hint else "periodic scans"


def file_pending(status: wire.SyncStatus, path: str) -> bool:
    """Return True if the store's change is not in the file yet: sync is stopped with writes pending, or refuses it."""
    is_waiting = status.state in UNSYNCED and status.pending > 0
    return is_waiting or any(file.path == path for file in status.refused or ())
