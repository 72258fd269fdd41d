"""The caller of a tool: its space, agent, thread and project, and the origin of what it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.store import Kind, ThreadRecord
from reverie.usecases.authors import ANY_AGENT, agent_author
from reverie.usecases.by import By
from reveried.actions import projects

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reveried.services import Services


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The caller of a tool. `who` is the name of its agent, `thread` is empty where none was given.

    `folder_project` is the project that the tool works in where the thread has none. `begin` creates
    a thread that need not exist yet, before its first note or state.
    """

    services: Services
    space: str
    who: str
    thread: str
    idempotency: tuple[str, str] | None
    tool: str = ""
    folder_project: str | None = None
    begin: Callable[[], Awaitable[None]] | None = None

    @property
    def project(self) -> str | None:
        """The project of the thread, else of the folder; None, for all, where neither has one."""
        return projects.thread_project(self.services, self.space, self.thread) or self.folder_project

    @property
    def by(self) -> By:
        """Return whose writes this call makes."""
        return By(self.space, self.who, new_id=self.services.new_id, origin=self.origin, key=self.idempotency)

    @property
    def origin(self) -> dict[str, str]:
        """Return the provenance of what this call writes: its tool, and its thread unless that has not begun."""
        with self.services.store.reader(self.space) as reader:
            thread = self.thread if reader.exists(Kind.THREAD, (self.thread,)) else ""
        return {name: value for name, value in (("tool", self.tool), ("thread", thread)) if value}


def agent_of(services: Services, space: str, agent: str | None, thread: str) -> str:
    """Return the author of what a tool writes: the agent of the caller's token, else of the thread, else any agent.

    A tool is called by a model: what it writes is an agent's, also over the owner's own socket.
    """
    if agent is not None:
        return agent
    if not thread:
        return ANY_AGENT
    with services.store.reader(space) as reader:
        record = reader.load(ThreadRecord, (thread,))
    return agent_author(None if record is None else record.agent)
