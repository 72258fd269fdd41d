"""After the commit of saves: what an agent saved in a file though a person forgot it is taken out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.usecases.take_forgotten_lines_out_of_agent_saves import hold_saves

if TYPE_CHECKING:
    from reverie.sync.sync_plan_types import Plan
    from reveried.commit_worker import Submit

__all__ = ["hold_agent_saves"]


async def hold_agent_saves(space: str, part: Plan, operations: dict[str, int], submit: Submit) -> dict[str, int]:
    """Take forgotten statements out of the files of agents that a committed part has put; return its operations."""
    write = hold_saves(part, operations, space=space)
    if write is not None:
        await submit(write)
    return operations
