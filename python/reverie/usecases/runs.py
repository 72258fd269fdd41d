"""Runs: begin, files, working memory, and completion, which learns from all of them (seed 003).

A run is in a thread or in none. Its completion reads the thread's messages that were not learnt from yet, as `learn`
does, the files that the agent wrote, and its working memory. Files are known from calls of the API and from the calls
of file tools in the thread.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.decode import convert, mapped
from reverie.errors import Conflict, NotFound
from reverie.git import Checkout
from reverie.language_model.requests import Outcome
from reverie.paths import safe_relative
from reverie.store import Kind, Reader, RunFileRecord, RunRecord, ThreadRecord, Writer
from reverie.usecases import consolidation, projects, sessions, threads
from reverie.usecases import projects as use_projects
from reverie.usecases.by import By, Decided, writes
from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot, Terms
from reverie.usecases.entries import SealedEntry, sealed_after

FILE_BYTES_MAX = 10_000_000  # of a file; a larger one is noted without its content
_BINARY_HEAD = 8192  # bytes in which a NUL says that a file is binary, as git does


class RunJob(msgspec.Struct):
    """A snapshot: the run with its files, the entries of its thread, and the memories.

    `entries` are those behind `through`, the first of those that the run wrote and those not learnt from; `learnt` is
    the last entry learnt from. `outcomes` are the answers of a model by the ids of their requests.
    """

    run: RunRecord
    files: list[RunFileRecord]
    entries: list[SealedEntry]
    learnt: int
    memories: MemorySnapshot
    terms: Terms
    outcomes: dict[str, Outcome] | None = None


class RunPlan(msgspec.Struct):
    """The changes that a run's completion will write: the memories, and the files that tools of its thread wrote.

    `last_seq` is the last entry of the thread that is learnt from then, `since` the one before.
    """

    run: RunRecord
    at: str
    since: int
    last_seq: int
    files: list[RunFileRecord]
    memories: MemoryPlan


# Read


def get(reader: Reader, run_id: str) -> RunRecord:
    """Return a run. Raises NotFound."""
    record = reader.load(RunRecord, (run_id,))
    if record is None:
        raise NotFound(f"no run is called {run_id!r}", hint="reverie runs list shows them")
    return record


def files_of(reader: Reader, run_id: str) -> list[RunFileRecord]:
    """Return the files of a run as a list, sorted by path."""
    return sorted((record for _, record in reader.records(RunFileRecord, (run_id,))), key=lambda record: record.path)


def get_file(reader: Reader, run_id: str, path: str) -> RunFileRecord:
    """Return a file of a run. Raises NotFound."""
    record = reader.load(RunFileRecord, file_key(get(reader, run_id).id, path))
    if record is None:
        raise NotFound(f"run {run_id} has no file {path!r}", hint=f"reverie runs show {run_id}")
    return record


def answer(reader: Reader, record: RunRecord) -> wire.Run:
    """Return a run as the API shows it, with its files but without their contents."""
    return mapped(
        record,
        wire.Run,
        files=[mapped(file, wire.RunFile) for file in files_of(reader, record.id)],
        result=None if record.answer is None else convert(record.answer, wire.RunResult),
    )


def due(reader: Reader, *, idle_since: str, completed: set[str]) -> list[tuple[str, wire.RunEnd]]:
    """Return the runs to be completed: their session has ended, or nothing was heard of them and their thread.

    `idle_since` is the time from which on something must have been heard. Runs that have ended are added to
    `completed`, and those in it are not read.
    """
    ended = {session.thread: session.ended_at for session in sessions.known(reader)}
    due_runs: list[tuple[str, wire.RunEnd]] = []
    for (name,) in reader.keys(Kind.RUN):
        record = None if name in completed else reader.load(RunRecord, (name,))
        if record is None:
            continue
        if record.state == "completed":
            completed.add(record.id)
            continue
        thread = None if record.thread is None else reader.load(ThreadRecord, (record.thread,))
        ended_at = ended.get(record.thread or "")
        if ended_at is not None and ended_at > record.created_at:
            due_runs.append((record.id, "session"))
        elif max(record.updated_at, "" if thread is None else thread.updated_at) < idle_since:
            due_runs.append((record.id, "idle"))
    return due_runs


def of_thread(reader: Reader, thread: str) -> list[str]:
    """Return the ids of the runs that were begun in a thread."""
    return [record.id for _, record in reader.records(RunRecord) if record.thread == thread]


# Write


@writes("run.begin", answers=RunRecord)
def begin(to: Writer, by: By, request: wire.CreateRun, *, agent: str | None, project: str | None) -> RunRecord:
    """Begin a run, and return its record. Raises NotFound for an unknown thread."""
    thread = None if request.thread is None else threads.get(to, request.thread)
    record = RunRecord(
        id=by.new_id("run"),
        agent=agent or (None if thread is None else thread.agent),
        thread=request.thread,
        title=request.title,
        project=project if thread is None else projects.of_thread(thread) or project,
        first_seq=0 if thread is None else thread.last_seq,
        created_at=to.at,
        updated_at=to.at,
    )
    to.save(record, (record.id,))
    return record


def file_record(path: str, data: bytes, *, agent: str | None, source: wire.RunFileSource, at: str) -> RunFileRecord:
    """Return the record of a file that an agent wrote; of a binary or very large one without its content.

    Raises:
        ValidationError: the path is absolute, leads outside, or is no name for a file on every system.
    """
    safe_relative(path, suffixes=None)
    omitted: wire.RunOmitted | None = "large" if len(data) > FILE_BYTES_MAX else None
    content = None
    if omitted is None and b"\0" not in data[:_BINARY_HEAD]:
        try:
            content = data.decode("utf-8")
        except UnicodeDecodeError:
            omitted = "binary"
    elif omitted is None:
        omitted = "binary"
    return RunFileRecord(
        path=path,
        content=content,
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        author_agent_id=agent,
        source=source,
        omitted=omitted,
        at=at,
    )


@writes("run.file")
def put_file(to: Writer, _: By, run_id: str, file: RunFileRecord) -> RunFileRecord:
    """Store a file of a run, in place of an earlier one at its path, and return its record.

    Its author is the run's agent unless the caller is one itself. Raises Conflict once the run has ended.
    """
    run = _running(to, run_id)
    record = replace(file, author_agent_id=file.author_agent_id or run.agent)
    to.save(record, file_key(run_id, file.path))
    to.save(replace(run, updated_at=to.at), (run_id,))
    return record


@writes("run.working-memory")
def put_working_memory(to: Writer, _: By, run_id: str, entries: dict[str, str]) -> RunRecord:
    """Replace a run's working memory, and return its record."""
    record = replace(_running(to, run_id), working_memory=entries, updated_at=to.at)
    to.save(record, (run_id,))
    return record


def _running(reader: Reader, run_id: str) -> RunRecord:
    record = get(reader, run_id)
    if record.state != "running":
        raise Conflict(
            f"run {run_id} has ended at {record.completed_at}",
            hint="begin another with POST /v1/runs",
            state="completed",
        )
    return record


def file_key(run_id: str, path: str) -> tuple[str, str]:
    """Return the key (run, hash of the path) under which a file of a run is stored."""
    return run_id, hashlib.sha256(path.encode()).hexdigest()


# Completion


def snapshot(reader: Reader, run_id: str, terms: Terms) -> RunJob:
    """Return a RunJob: a run with its files, its thread's new entries, and the memories.

    Raises NotFound.
    """
    run = get(reader, run_id)
    thread = None if run.thread is None else reader.load(ThreadRecord, (run.thread,))
    entries: list[SealedEntry] = []
    if thread is not None:
        entries = sealed_after(reader, thread.id, min(run.first_seq, thread.extracted_seq))
    return RunJob(
        run=run,
        files=files_of(reader, run_id),
        entries=entries,
        learnt=0 if thread is None else thread.extracted_seq,
        memories=consolidation.snapshot(reader, window=terms.window),
        terms=terms,
    )


@writes("run.complete", answers=wire.RunResult)
def commit(to: Writer, _: By, plan: RunPlan, *, ended_by: wire.RunEnd) -> wire.RunResult:
    """Complete a run: files, memories, and how far its thread is learnt from.

    Raises Conflict with `details["stale"]` where the run, its thread or a memory changed since the snapshot.
    """
    run = _running(to, plan.run.id)
    if run != plan.run:
        raise Conflict("the run changed meanwhile", hint="try again", stale=True)
    thread = None if run.thread is None else to.load(ThreadRecord, (run.thread,))
    if thread is not None:
        if thread.extracted_seq != plan.since:
            raise Conflict("the thread was learnt from meanwhile", hint="try again", stale=True)
        if plan.last_seq != plan.since:
            to.save(replace(thread, extracted_seq=plan.last_seq), (thread.id,))
    for file in plan.files:
        to.save(file, file_key(run.id, file.path))
    changes = consolidation.commit(to, plan.memories)
    result = mapped(changes, wire.RunResult, candidates=changes.proposed)
    ended = replace(
        run,
        state="completed",
        completed_at=plan.at,
        updated_at=plan.at,
        ended_by=ended_by,
        answer=msgspec.to_builtins(result),
    )
    to.save(ended, (run.id,))
    return result


DECIDED = Decided("run", RunPlan, commit, learns=True, bulk=True)


def erase(writer: Writer, run_id: str) -> None:
    """Delete a run with its files, for the purge of its thread."""
    for key in list(writer.keys(Kind.RUN_FILE, (run_id,))):
        writer.delete(Kind.RUN_FILE, key)
    writer.delete(Kind.RUN, (run_id,))


# Files of watched folders


class Watch(NamedTuple):
    """The files to look for at a run's end: since when, in which watched folders, by which agent, without which.

    `agent` is None where other runs of the same project were open meanwhile: then nobody knows who wrote a file.
    """

    since: str
    agent: str | None
    folders: list[str]
    ignored: list[str]
    pauses: list[tuple[str, str | None]]


def watch(reader: Reader, run_id: str, folders: Sequence[tuple[str, Checkout]]) -> Watch | None:
    """Return what to look for at the end of a run; None for one that has ended, or that no watched folder concerns.

    `folders` are the watched ones with the repository of each. A run of a project has the folders of that project, one
    without a project has them all. Raises NotFound.
    """
    run = get(reader, run_id)
    if run.state != "running":
        return None
    projects = use_projects.known(reader)
    concerned = []
    for folder, checkout in folders:
        project = use_projects.find(projects, checkout)
        if run.project is None or (project is not None and project.name == run.project):
            concerned.append(folder)
    if not concerned:
        return None
    others = (other for _, other in reader.records(RunRecord) if other.id != run.id)
    shared = any(
        (other.completed_at is None or other.completed_at > run.created_at)
        and (other.project is None or run.project is None or other.project == run.project)
        and other.agent != run.agent
        for other in others
    )
    settings = sessions.privacy_of(reader)
    return Watch(
        run.created_at, None if shared else run.agent, concerned, list(settings.ignored), list(settings.pauses)
    )


@writes("run.file")
def join(to: Writer, _: By, run_id: str, files: Sequence[RunFileRecord]) -> int:
    """Add files of watched folders to a run, and return how many were added.

    What a call of the API has handed over stands, and so does what an earlier look has found in the same words. Nothing
    is added to a run that has ended.
    """
    run = get(to, run_id)
    if run.state != "running":
        return 0
    files_by_path = {file.path: file for file in files_of(to, run_id)}
    added = 0
    for file in files:
        before = files_by_path.get(file.path)
        if before is None or (before.source == "folder" and before.sha256 != file.sha256):
            to.save(file, file_key(run_id, file.path))
            added += 1
    if added:
        to.save(replace(run, updated_at=to.at), (run_id,))
    return added
