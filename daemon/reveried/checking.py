"""Looks at the store after an unclean stop, in a child: a store so damaged that it ends its reader ends only that."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from reverie.errors import Damaged
from reveried.log import logger

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_in_child"]

OUTPUT_BYTES_MAX = 64 * 1024
CLEAN, FINDINGS = 0, 1


async def check_in_child(store_dir: Path) -> None:
    """Runs the store's check. What it finds is logged; damaged records are named again whenever they are asked for.

    Raises:
        Damaged: the store cannot even be read; opening it could end the daemon, again and again.
    """
    if not (store_dir / "data.mdb").exists():
        return
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "reverie.store.check",
        str(store_dir),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert child.stdout is not None
    said = (await child.stdout.read(OUTPUT_BYTES_MAX)).decode("utf-8", "replace")
    await child.stdout.read()
    status = await child.wait()
    log = logger("reveried.check")
    if status == CLEAN:
        log.info("the store is sound after an unclean stop")
    elif status == FINDINGS:
        log.error("the store has damaged records", findings=said)
    else:
        raise Damaged(
            f"The store in {store_dir} cannot be read: its check ended with status {status}.",
            hint="reverie restore FILE brings back a backup; the damaged files stay where they are.",
        )
