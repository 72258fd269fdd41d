"""Threads with their messages, what is distilled and learnt from them, and the import of transcripts."""

from collections.abc import Sequence
from typing import Any

from reverie.api.endpoint import Endpoint, at, sent, with_data
from reverie.wire import distillation, parsing
from reverie.wire import threads as types
from reverie.wire.base import ListQuery, NoQuery, Page, SequenceQuery
from reverie.wire.memories import MemoryChanges


def _append(
    messages: Sequence[dict[str, Any]],
    *,
    usage: dict[str, Any] | None = None,
    applied_edits: Sequence[dict[str, Any]] | None = None,
    expected_seq: int | None = None,
) -> types.AppendMessages:
    """Return messages in Anthropic form; `usage` and `applied_edits` belong to the last one, a reply.

    Raises:
        ValidationError: a message is malformed; it is named, and nothing is sent.
    """
    fields: dict[str, Any] = {
        "messages": list(messages),
        "usage": usage,
        "expectedSeq": expected_seq,
        "appliedEdits": None if applied_edits is None else list(applied_edits),
    }
    return parsing.parse(types.AppendMessages, {name: value for name, value in fields.items() if value is not None})


def _messages(*, limit: int | None = None, after: str | None = None, last: int | None = None) -> types.MessagesQuery:
    return types.MessagesQuery(limit, after, last)  # type: ignore[arg-type] # the daemon reads the number


class Threads:
    """Operations on threads. `append` with `expected_seq` raises Conflict if the thread has grown since."""

    # fmt: off
    create_thread = Endpoint("POST /v1/threads", types.CreateThread, types.Thread, "Creates a thread.", status=201)
    threads = Endpoint("GET /v1/threads", types.ThreadsQuery, Page[types.Thread], "The threads of the space.")
    thread = Endpoint("GET /v1/threads/{id}", at(NoQuery), types.Thread, "One thread.")
    change_thread = Endpoint("PATCH /v1/threads/{id}", at(sent(types.ChangeThread)), types.Thread,
        "Changes a thread's title, project or window.")
    delete_thread = Endpoint("DELETE /v1/threads/{id}", at(types.DeleteThreadQuery), types.ThreadDeleted,
        "Deletes a thread for good; with `purge` also what was learnt from it, and its words everywhere.")
    append = Endpoint("POST /v1/threads/{id}/messages", at(_append), types.Appended, "Appends messages.")
    messages = Endpoint("GET /v1/threads/{id}/messages", at(_messages), Page[types.StoredMessage],
        "The verbatim messages of the main line.")
    entries = Endpoint("GET /v1/threads/{id}/entries", at(ListQuery), Page[types.StoredEntry],
        "The stored lines as they were imported.", query=SequenceQuery)
    rewind = Endpoint("POST /v1/threads/{id}/rewind", at(types.RewindThread), types.Rewound,
        "Goes back to an earlier entry; nothing is deleted.")
    summaries = Endpoint("GET /v1/threads/{id}/summaries", at(ListQuery), Page[distillation.PastDistillation],
        "The structured summaries of the thread.", query=SequenceQuery)
    distill = Endpoint("POST /v1/threads/{id}/distill", at(distillation.DistillRequest), distillation.DistillAnswer,
        "Distills the thread.", job=True)
    start_distill = distill.started()
    model_requests = Endpoint("GET /v1/threads/{id}/model-requests", at(distillation.ModelRequestsQuery),
        distillation.ModelRequests, "What a distillation would send to a model.", long=True)
    learn = Endpoint("POST /v1/threads/{id}/learn", at(NoQuery), MemoryChanges,
        "Learns memories from the thread without distilling it.", job=True)
    reflect = Endpoint("POST /v1/threads/{id}/reflect", at(NoQuery), MemoryChanges,
        "Lets a model change the memory files by calls of tools.", job=True)
    start_import = Endpoint("POST /v1/imports", types.StartImport, types.ImportPlace,
        "The position in a session's file.")
    send_chunk = Endpoint("PUT /v1/imports/{id}/chunks", at(with_data(types.ChunkQuery)), types.ChunkAnswer,
        "Imports a chunk of the file.", raw=True)
