"""Looks at the store after an unclean stop, in a child: a store so damaged that it ends its reader ends only that."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reverie.errors import Damaged
from reveried.log import logger

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_store"]

SHOWN = 20


async def check_store(store_dir: Path) -> None:
    """Checks the store, which nobody has open. Damaged records are logged; they are named again when asked for.

    Raises:
        Damaged: the file itself is damaged; opening it could end the daemon, again and again.
        StorageFailed: no check could be made.
    """
    from reverie.store.check import FILE, run_check  # noqa: PLC0415 - needed only after an unclean stop

    report = await asyncio.to_thread(run_check, store_dir, offline=True)
    log = logger("reveried.check")
    if report.ok:
        log.info("the store is sound after an unclean stop", records=sum(report.counts.values()))
        return
    findings = [f"{problem.kind} {problem.space} {problem.key}: {problem.what}" for problem in report.problems]
    if report.status == FILE:
        raise Damaged(
            f"The store in {store_dir} is damaged and was not opened: {findings[0]}.",
            hint="reverie restore FILE brings back a backup; reverie check names all that is damaged.",
            findings=len(findings),
            crashed=report.crashed,
        )
    log.error("the store has damaged records", findings=findings[:SHOWN], more=max(0, len(findings) - SHOWN))
