"""`/v1/runs`: the work of an agent, the files that it wrote, its working memory, and what is learnt at its end."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import msgspec

from reverie import wire
from reverie.api.runs import Runs
from reverie.decode import mapped
from reverie.errors import ValidationError
from reverie.store import RunRecord
from reverie.usecases import runs as use_runs
from reveried.actions import runs
from reveried.drive import write
from reveried.execute import read
from reveried.http.route import reads, serves

if TYPE_CHECKING:
    from reverie.store import Reader
    from reveried.http.types import Call


@serves(Runs.start_run)
async def begin(call: Call) -> wire.Run:
    """Begin a run of an agent."""
    request = call.into(wire.CreateRun)
    record = await runs.begin(call.services, call.by, request, agent=call.agent_of(request.agent))
    return await _answer(call, record.id)


@reads(Runs.runs)
def list_runs(reader: Reader, call: Call) -> wire.Page[wire.Run]:
    """Return the runs, the newest first."""
    query = call.query_as(wire.RunsQuery)
    items: list[wire.Run] = []
    after = None if query.after is None else (query.after,)
    for _, record in reader.records(RunRecord, after=after, reverse=True):
        if query.state not in (None, record.state):
            continue
        if len(items) == query.limit:
            return wire.Page(items, items[-1].id)
        items.append(use_runs.answer(reader, record))
    return wire.Page(items)


@reads(Runs.run)
def get_run(reader: Reader, call: Call) -> wire.Run:
    """Return one run with its files and, once it has ended, its result."""
    return use_runs.answer(reader, use_runs.get(reader, call.params["id"]))


@serves(Runs.put_run_file)
async def put_file(call: Call) -> wire.RunFile:
    """Store a file that the agent wrote during a run, whole; of a binary or very large one a note."""
    body = call.into(wire.PutRunFile)
    record = use_runs.file_record(
        call.params["path"], _bytes(body), agent=call.agent, source="api", at=call.services.clock()
    )
    stored = await write(call.services, use_runs.put_file, call.by, call.params["id"], record)
    return mapped(stored, wire.RunFile)


def _bytes(body: wire.PutRunFile) -> bytes:
    if body.encoding == "utf-8":
        return body.content.encode(errors="replace")
    try:
        return base64.b64decode(body.content, validate=True)
    except ValueError as error:  # binascii.Error, or a plain one for letters that are not ASCII
        raise ValidationError(
            f"`content` is not base64: {error}",
            hint="send it as base64, or as text without `encoding`",
            field="content",
        ) from error


@reads(Runs.run_file)
def get_file(reader: Reader, call: Call) -> wire.RunFileText:
    """Return a file of a run with its content."""
    return mapped(use_runs.get_file(reader, call.params["id"], call.params["path"]), wire.RunFileText)


@serves(Runs.put_working_memory)
async def put_working_memory(call: Call) -> wire.Run:
    """Replace the working memory of a run."""
    body = call.into(wire.PutWorkingMemory)
    entries = {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for key, value in body.entries.items()
    }
    await write(call.services, use_runs.put_working_memory, call.by, call.params["id"], entries)
    return await _answer(call, call.params["id"])


@serves(Runs.complete_run)
async def complete(call: Call) -> wire.RunResult:
    """Complete a run: extract, consolidate, apply. A repeated call returns the same result."""
    return await runs.complete(call.services, call.by, call.params["id"], ended_by="call")


@serves(Runs.run_context)
async def context(call: Call) -> wire.RunContext:
    """Return the text that knowledge is extracted from."""
    return await runs.context(call.services, call.space, call.params["id"])


async def _answer(call: Call, run: str) -> wire.Run:
    return await read(call.services, call.space, lambda reader: use_runs.answer(reader, use_runs.get(reader, run)))
