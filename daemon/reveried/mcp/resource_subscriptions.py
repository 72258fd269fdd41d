"""Notifications of changed resources: what a commit changed, for the clients that asked for it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from reverie.store import DocumentRecord, EventRecord, Kind, NoteRecord
from reverie.usecases import working_state
from reveried.mcp import resources
from reveried.use_case_runner import read

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Collection

    from reverie.store import Reader
    from reveried.event_wakeups import Subscription
    from reveried.http.call import Call

__all__ = ["LIST_CHANGED", "UPDATED", "Watch", "changes"]

UPDATED, LIST_CHANGED = "notifications/resources/updated", "notifications/resources/list_changed"
HEARTBEAT_S = 15.0  # without a change, after which the peer is sent something to find out whether it is there
TOGETHER_S = 0.1  # commits within it are one notification of each resource
BATCH = 1000  # events read at once

Change = tuple[str, dict[str, Any]]
"""The method and parameters of a notification."""


class Watch:
    """The subscription of one client: to the URIs of resources, and to the list of them.

    `thread` returns the client's thread, empty where it has none yet.
    """

    def __init__(self, uris: Collection[str], thread: Callable[[], Awaitable[str]], *, lists: bool) -> None:
        self.uris = uris
        self.thread = thread
        self.lists = lists
        self._after = 0  # the last event that was looked at
        self._paths: set[str] = set()  # of the documents there were then, where their list is watched
        self._stamps: dict[str, Any] = {}  # what a resource of the thread was then

    def begin(self, reader: Reader, thread: str) -> None:
        """Take what is there now as known."""
        self._after = reader.last_seq(Kind.EVENT)
        if self.lists:
            self._paths = {document.path for _, document in reader.records(DocumentRecord)}
        self._stamps = {uri: _stamp(reader, uri, thread) for uri in (resources.STATE, resources.NOTES)}

    def new(self, reader: Reader, thread: str) -> list[Change]:
        """Return the notifications of what changed since the last call, each resource once."""
        changed: dict[str, None] = {}
        listed = False
        paths: set[str] = set()
        for key, event in reader.records(EventRecord, after=(self._after,), limit=BATCH):
            self._after = int(key[0])
            if event.type == "workspace.updated":
                paths.add(str(event.data["path"]))
        for path in sorted(paths):
            changed[resources.uri_of(path)] = None
            changed[resources.INDEX] = None
            if self.lists and reader.exists(Kind.DOCUMENT, (path,)) != (path in self._paths):
                listed = True
                self._paths ^= {path}
        for uri, known in self._stamps.items():
            if uri in self.uris and (stamp := _stamp(reader, uri, thread)) != known:
                self._stamps[uri] = stamp
                changed[uri] = None
        found: list[Change] = [(UPDATED, {"uri": uri}) for uri in changed if uri in self.uris]
        return [*found, (LIST_CHANGED, {})] if listed else found


def _stamp(reader: Reader, uri: str, thread: str) -> Any:
    """Return what differs after a change of the working state or of the notes of a thread."""
    if not thread or not reader.exists(Kind.THREAD, (thread,)):
        return None
    if uri == resources.STATE:
        return working_state.versions(reader, thread)
    return tuple(key for key, _ in reader.records(NoteRecord, (thread,)))


async def changes(call: Call, watch: Watch, subscription: Subscription) -> AsyncGenerator[list[Change], None]:
    """Yield the notifications after each commit that has any, and an empty list every HEARTBEAT_S without.

    It ends with the daemon, and when the caller's token is revoked.
    """
    thread = await watch.thread()
    await read(call.services, call.space, partial(watch.begin, thread=thread))
    yield []
    while not subscription.ended and not call.is_revoked():
        if not await subscription.wait(HEARTBEAT_S):
            yield []
            continue
        await asyncio.sleep(TOGETHER_S)
        if found := await read(call.services, call.space, partial(watch.new, thread=await watch.thread())):
            yield found
