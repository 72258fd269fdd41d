"""Calls about threads: messages, contexts, working states, notes, distillation, imports and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET

from reverie import wire
from reverie.client.http import Call, decoder, discard, get, request, target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.models import NoteCategory


def create_thread(
    *,
    id: str | None = None,  # noqa: A002 - the field's name on the wire
    agent: str | None = None,
    title: str | None = None,
    model: str | None = None,
    context_window: int | None = None,
    project: str | None = None,
    key: str | None = None,
) -> Call[wire.Thread]:
    """Create a thread. `context_window` is in tokens; without `id` the daemon generates one.

    `project` is a name, or the absolute path of a folder that is in the project.
    """
    body = wire.CreateThread(id, agent, title, model, context_window, project)
    return request("POST", target("threads"), wire.Thread, body, key=key)


def threads(
    *,
    limit: int = wire.LIMIT_DEFAULT,
    after: str | None = None,
    order: Literal["id", "newest"] | None = None,
    project: str | None = None,
    main: bool = False,
) -> Call[wire.Page[wire.Thread]]:
    """Return one page of the threads, by id or those first that were appended to or distilled last; of one project.

    With `main` those with messages, without those of subagents.
    """
    return get(
        wire.Page[wire.Thread], "threads", limit=limit, after=after, order=order, project=project, main=main or None
    )


def change_thread(thread_id: str, body: wire.ChangeThread) -> Call[wire.Thread]:
    """Change a thread's title or project."""
    return request("PATCH", target("threads", thread_id), wire.Thread, body)


def projects(
    *, of: str | None = None, limit: int = wire.LIMIT_DEFAULT, after: str | None = None
) -> Call[wire.Page[wire.Project]]:
    """Return one page of the projects, or the one that `of` (a name or an absolute path) names or is a folder of."""
    return get(wire.Page[wire.Project], "projects", of=of, limit=limit, after=after)


def brief(project: str, *, max_tokens: int | None = None) -> Call[wire.Brief]:
    """Return the brief of a project, by its name: what its sessions taught, line by line."""
    return get(wire.Brief, "projects", project, "brief", maxTokens=max_tokens)


def brief_text(project: str, *, max_tokens: int | None = None) -> Call[str]:
    """Return the brief of a project as the text that agents are shown; empty where nothing is known."""
    return Call("GET", target("projects", project, "brief", format="text", maxTokens=max_tokens), bytes.decode)


def change_brief_line(
    project: str, line: str, action: Literal["keep", "drop", "edit"], text: str | None = None, *, key: str | None = None
) -> Call[wire.BriefLineChanged]:
    """Drop a line of a brief, keep it as a memory, or with `edit` correct it to `text`; undo reverts each.

    Raises:
        ValidationError: `edit` without `text`, or `text` without `edit`; nothing is sent.
    """
    body = wire.parse(wire.ChangeBriefLine, {"action": action} | ({} if text is None else {"text": text}))
    return request("POST", target("projects", project, "brief", "lines", line), wire.BriefLineChanged, body, key=key)


def thread(thread_id: str) -> Call[wire.Thread]:
    """Return one thread with its sizes."""
    return get(wire.Thread, "threads", thread_id)


def sort_projects() -> Call[wire.ProjectsSorted]:
    """Sort the threads and memories of older releases into projects; undo of the operation moves the memories back."""
    return request("POST", target("projects", "sort"), wire.ProjectsSorted, long=True)


def delete_thread(
    thread_id: str, *, confirm: str | None = None, purge: bool = False, keep_memories: bool = False
) -> Call[wire.ThreadDeleted]:
    """Delete a thread with its archives. `confirm` must repeat the thread's id.

    `purge` removes its words everywhere, also the memories learnt from it alone unless `keep_memories`.
    """
    url = target("threads", thread_id, confirm=confirm, purge=purge or None, keepMemories=keep_memories or None)
    return request("DELETE", url, wire.ThreadDeleted, long=purge)


def append(
    thread_id: str,
    messages: Sequence[dict[str, Any]],
    *,
    usage: dict[str, Any] | None = None,
    applied_edits: Sequence[dict[str, Any]] | None = None,
    expected_seq: int | None = None,
    key: str | None = None,
) -> Call[wire.Appended]:
    """Append messages in Anthropic form. With `expected_seq`, Conflict if the thread has grown since.

    `usage` and `applied_edits` (of its `context_management`) belong to the last message, a reply.

    Raises:
        ValidationError: a message is malformed; it is named, and nothing is sent.
    """
    fields: dict[str, Any] = {
        "messages": list(messages),
        "usage": usage,
        "expectedSeq": expected_seq,
        "appliedEdits": None if applied_edits is None else list(applied_edits),
    }
    body = wire.parse(wire.AppendMessages, {name: value for name, value in fields.items() if value is not None})
    return request("POST", target("threads", thread_id, "messages"), wire.Appended, body, key=key)


def learn(thread_id: str) -> Call[wire.MemoryChanges]:
    """Extract memories from the messages since the last extraction, without distilling, and wait until it is done."""
    return request("POST", target("threads", thread_id, "learn", wait=True), wire.MemoryChanges, long=True)


def reflect(thread_id: str) -> Call[wire.MemoryChanges]:
    """Let a model change the memory files by calls of tools, after the messages since the last time; wait for it."""
    return request("POST", target("threads", thread_id, "reflect", wait=True), wire.MemoryChanges, long=True)


def messages(
    thread_id: str, *, limit: int | None = None, after: str | None = None, last: int | None = None
) -> Call[wire.Page[wire.StoredMessage]]:
    """Return one page of the verbatim messages after entry `after`, or of the `last` ones; none is ever deleted."""
    return get(wire.Page[wire.StoredMessage], "threads", thread_id, "messages", limit=limit, after=after, last=last)


def entries(
    thread_id: str, *, limit: int = wire.LIMIT_DEFAULT, after: str | None = None
) -> Call[wire.Page[wire.StoredEntry]]:
    """Return one page of the stored lines after entry `after`, as they were imported."""
    return get(wire.Page[wire.StoredEntry], "threads", thread_id, "entries", limit=limit, after=after)


def rewind(
    thread_id: str, to_seq: int, *, expected_seq: int | None = None, key: str | None = None
) -> Call[wire.Rewound]:
    """Go back to an entry, the last that stays in the main line; undo brings the later ones back."""
    body = wire.RewindThread(to_seq, expected_seq)
    return request("POST", target("threads", thread_id, "rewind"), wire.Rewound, body, key=key)


def context(
    thread_id: str,
    *,
    query: str | None = None,
    placement: wire.Placement | None = None,
    max_tokens: int | None = None,
) -> Call[wire.ContextAnswer]:
    """Return the context of an agent: the fragment of its next request, and the tokens of each tier."""
    return get(
        wire.ContextAnswer,
        "threads",
        thread_id,
        "context",
        query=query,
        placement=placement,
        maxTokens=max_tokens,
    )


def context_text(
    thread_id: str,
    *,
    query: str | None = None,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    tiers: Sequence[str] | None = None,
) -> Call[str]:
    """Return the context of an agent as one text: the tiers named, else all, in at most `max_chars` characters."""
    path = target(
        "threads",
        thread_id,
        "context",
        format="text",
        query=query,
        maxTokens=max_tokens,
        maxChars=max_chars,
        tiers=None if tiers is None else ",".join(tiers),
    )
    return Call("GET", path, bytes.decode)


def working_state(thread_id: str) -> Call[wire.WorkingState]:
    """Return the working state of a thread."""
    return get(wire.WorkingState, "threads", thread_id, "working-state")


def set_working_state(
    thread_id: str,
    *,
    current_task: str | None = None,
    task_chain: Sequence[str] | None = None,
    completed_steps: Sequence[str] | None = None,
    next_steps: Sequence[str] | None = None,
    open_files: Sequence[str] | None = None,
    recent_decisions: Sequence[str] | None = None,
    blockers: Sequence[str] | None = None,
    whole: bool = False,
) -> Call[wire.WorkingState]:
    """Set fields of the working state. Omitted fields stay, or with `whole` are emptied."""
    lists = (task_chain, completed_steps, next_steps, open_files, recent_decisions, blockers)
    body = wire.SetWorkingState(
        UNSET if current_task is None else current_task, *(UNSET if items is None else list(items) for items in lists)
    )
    return request("PUT" if whole else "PATCH", target("threads", thread_id, "working-state"), wire.WorkingState, body)


def notes(thread_id: str, *, limit: int | None = None, after: str | None = None) -> Call[wire.Page[wire.Note]]:
    """Return one page of the notes of a thread, oldest first."""
    return get(wire.Page[wire.Note], "threads", thread_id, "notes", limit=limit, after=after)


def add_note(thread_id: str, content: str, category: NoteCategory, *, key: str | None = None) -> Call[wire.Note]:
    """Add a note to a thread."""
    body = wire.CreateNote(content=content, category=category)
    return request("POST", target("threads", thread_id, "notes"), wire.Note, body, key=key)


def delete_note(thread_id: str, note_id: str) -> Call[None]:
    """Delete a note."""
    return Call("DELETE", target("threads", thread_id, "notes", note_id), discard)


def digest(thread_id: str) -> Call[wire.ThreadDigest]:
    """Return the digest of a thread: its user, project and habits."""
    return get(wire.ThreadDigest, "threads", thread_id, "digest")


def distill(thread_id: str, *, token_budget: int | None = None, key: str | None = None) -> Call[wire.DistillAnswer]:
    """Replace the older messages in the context by a summary, extract memories, and wait until it is done."""
    path = target("threads", thread_id, "distill", wait=True)
    return request("POST", path, wire.DistillAnswer, wire.DistillRequest(token_budget), key=key, long=True)


def model_requests(thread_id: str, *, reflect: bool = False) -> Call[wire.ModelRequests]:
    """Return what a distillation of the thread, or with `reflect` a reflection, would send to a model first.

    Nothing is sent.
    """
    path = target("threads", thread_id, "model-requests", reflect=reflect or None)
    return request("GET", path, wire.ModelRequests, long=True)


def start_distill(thread_id: str, *, token_budget: int | None = None, key: str | None = None) -> Call[wire.JobAccepted]:
    """Start a distillation; `job` returns its progress."""
    path = target("threads", thread_id, "distill")
    return request("POST", path, wire.JobAccepted, wire.DistillRequest(token_budget), key=key)


def summaries(thread_id: str) -> Call[wire.Page[wire.PastDistillation]]:
    """Return every summary of a thread."""
    return get(wire.Page[wire.PastDistillation], "threads", thread_id, "summaries")


def start_import(
    client: wire.ImportClient,
    session: str,
    *,
    source: str | None = None,
    again: bool = False,
) -> Call[wire.ImportPlace]:
    """Return the offset up to which this session's file was imported before; `again` brings back a deleted thread."""
    body = wire.StartImport(client=client, session=session, source=source, again=again)
    return request("POST", target("imports"), wire.ImportPlace, body)


def send_chunk(
    import_id: str, data: bytes, *, offset: int, first_line: int, final: bool = False
) -> Call[wire.ChunkAnswer]:
    """Send the bytes from `offset` on, where line `first_line` begins; at most wire.CHUNK_MAX_BYTES."""
    path = target("imports", import_id, "chunks", offset=offset, firstLine=first_line, final=int(final))
    headers = {"Content-Type": "application/octet-stream"}
    return Call("PUT", path, decoder(wire.ChunkAnswer), data, headers)


def tools(form: wire.ToolFormat = "anthropic") -> Call[wire.Page[dict[str, Any]]]:
    """Return the tools to offer to a model; `items` is what its API takes as `tools`."""
    return get(wire.Page[dict[str, Any]], "tools", format=form)


def call_tool(
    name: str, given: Mapping[str, Any] | None = None, *, thread: str | None = None, key: str | None = None
) -> Call[wire.ToolAnswer]:
    """Run a tool with a model's input, in the thread of the model; an answer with `is_error` is meant for the model."""
    body = wire.CallTool(dict(given or {}), thread)
    return request("POST", target("tools", name), wire.ToolAnswer, body, key=key)


def search(
    query: str,
    *,
    where: wire.SearchPlace = "messages",
    project: str | None = None,
    agent: str | None = None,
    thread: str | None = None,
    since: str | None = None,
    before: str | None = None,
    limit: int = wire.SEARCH_LIMIT_DEFAULT,
) -> Call[wire.SearchAnswer]:
    """Search what was said, the memories or the documents; return the best hits first, each with its reasons."""
    body = wire.SearchRequest(query, where, project, agent, thread, since, before, limit)
    return request("POST", target("search"), wire.SearchAnswer, body)
