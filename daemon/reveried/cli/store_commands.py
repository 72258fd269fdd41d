"""The commands about the store's files: backup, restore, check."""

import os
import secrets
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from reverie.errors import Conflict, DaemonNotRunning, NotFound
from reveried.cli import daemon_handle
from reveried.cli.options import Json
from reveried.cli.output import as_json, counted, say, size
from reveried.cli.progress import working

__all__ = ["backup", "check", "restore"]


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the copy goes; it must not be there yet.")],
    json: Json = False,
) -> None:
    """Write a compact, checked copy of the store, while the daemon runs too.

    Example: reverie backup reverie.backup
    """
    target = Path(os.path.abspath(file))  # noqa: PTH100 - the daemon's working folder is another one; links stay
    with working("Copying"):
        try:
            with daemon_handle.client() as client:
                made = client.backup(str(target))
            byte_count, counts = made.size, made.counts
        except DaemonNotRunning:
            byte_count, counts = _backup_without_daemon(target)
    if json:
        as_json({"path": str(target), "size": byte_count, "counts": counts})
        return
    say(f"{target}: {size(byte_count)}, {counted(sum(counts.values()), 'record')}, checked.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A copy made by `reverie backup`.")],
    json: Json = False,
) -> None:
    """Put a backup in the place of the store, which is kept beside it; the daemon must not run.

    Example: reverie restore reverie.backup
    """
    from reverie.store.backup import restore as bring_back  # noqa: PLC0415 - only here is the store loaded
    from reveried.cli.restore_notice import without_folder  # noqa: PLC0415 - as above

    store = daemon_handle.layout().store_dir
    _refuse_running()
    aside = store.with_name(f"store-before-{time.strftime('%Y%m%d-%H%M%S')}")
    with working("Checking and restoring"):
        done = bring_back(file, store, aside=aside)
    kept = str(aside) if aside.exists() else None
    missing = without_folder(
        store, daemon_handle.layout(), daemon_handle.good_settings()[0].memory.data_dir, first=kept is None
    )
    if json:
        as_json(
            {
                "path": str(store),
                "size": done.byte_count,
                "counts": done.counts,
                "aside": kept,
                "missing": [str(folder) for folder in missing],
            }
        )
        return
    say(f"The store is what {file} holds: {counted(sum(done.counts.values()), 'record')}, checked.")
    if kept is not None:
        say(f"What was there before is in {kept}; remove it when you no longer need it.")
    for folder in missing:
        say(f"{folder} is not there, or not the folder that was written before. Bring it back, or after `reverie up`")
        say("have all files written there, which deletes nothing: reverie sync now --accept-folder")
    say("Next: reverie up")


def check(json: Json = False) -> None:
    """Read every record of the store and name what is damaged.

    Example: reverie check
    """
    from reverie.store.check import run_check  # noqa: PLC0415 - only here is the store loaded

    store = daemon_handle.layout().store_dir
    if not (store / "data.mdb").exists():
        as_json({"ok": True, "counts": {}, "problems": []}) if json else say("Nothing is stored yet.")
        return
    with working("Reading every record"):
        report = run_check(store)
    if json:
        as_json(report.as_json())
    else:
        for problem in report.problems:
            say(f"{problem.kind} {problem.key}: {problem.what}")
        say(_verdict(len(report.problems), report.counts))
    if not report.ok:
        raise typer.Exit(1)


def _verdict(problems: int, counts: dict[str, int]) -> str:
    read = f"{counted(sum(counts.values()), 'record')} read"
    if not problems:
        return f"{read}; every one is what was written."
    return f"{read}, {counted(problems, 'problem')}. `reverie restore FILE` brings back a backup."


def _backup_without_daemon(target: Path) -> tuple[int, dict[str, Any]]:
    from reverie.redact import Redactor  # noqa: PLC0415 - only without a daemon is the store opened here
    from reverie.store import Store  # noqa: PLC0415 - as above
    from reverie.store.backup import backup as copy  # noqa: PLC0415 - as above

    folder = daemon_handle.layout().store_dir
    if not (folder / "data.mdb").exists():
        raise NotFound("nothing is stored yet", hint="reverie import claude-code ~/.claude/projects")
    store = Store.open(folder, redactor=Redactor())
    try:
        done = copy(store, target, draft_suffix=secrets.token_hex(16))
    finally:
        store.close()
    return done.byte_count, dict(done.counts)


def _refuse_running() -> None:
    try:
        with daemon_handle.client() as client:
            client.health()
    except DaemonNotRunning:
        return
    raise Conflict("the daemon is running and has the store open", hint="run `reverie down`, then restore again")
