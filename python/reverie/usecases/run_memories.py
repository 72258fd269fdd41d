"""Decide a run's completion: files and messages become one context, and that becomes memories; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from reverie import tokenizer, wire
from reverie.distill.steps import ToolCall, read_trace, text_of
from reverie.errors import ValidationError
from reverie.language_model.pages import SourceEntry
from reverie.language_model.requests import ModelRequest, Outcome
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, Message
from reverie.store import RunFileRecord
from reverie.usecases import screening
from reverie.usecases.entries import active_messages
from reverie.usecases.memory_plan import work_on
from reverie.usecases.origins import without_recalled
from reverie.usecases.runs import RunJob, RunPlan, file_record
from reverie.usecases.screening import MemoryWork, Worked

HISTORY_MESSAGES: Final = 20  # of a session, the last ones (seed 003)
HISTORY_CHARS: Final = 500  # of each of them
_WRITE_TOOL: Final = lazy_regex(r"write|create", re.IGNORECASE)


def decide(job: RunJob) -> RunPlan | list[ModelRequest]:
    """Return the plan of a run's completion: memories of its files, working memory and thread.

    With a model, the requests that have no outcome in the job yet.

    Raises:
        Damaged: naming the entry whose bytes fail their checksum.
    """
    from reverie.distill.distiller import Extractive

    messages = _messages(job)
    written = _written_by_tools(job, messages)
    unlearnt = [message for message in messages if message.last_seq > job.learnt]
    last_seq = job.entries[-1][0] if job.entries else job.learnt
    if job.outcomes is not None:
        worked = _worked(job, job.outcomes)
        if worked.plan is None:
            return worked.requests
        # Where the model has not read everything, the thread is read from there by the next run.
        read = min(worked.last_seq, last_seq) if worked.more else last_seq
        return RunPlan(job.run, job.terms.at, job.learnt, max(read, job.learnt), written, worked.plan)
    texts = _contents([*job.files, *written])
    candidates = Extractive().candidates(unlearnt, texts, job.run.working_memory, job.terms.at, unsure=True)
    authors = {file.path: file.author_agent_id for file in job.files}
    memories = screening.decide(
        job.memories,
        [_of_run(candidate, job, authors) for candidate in candidates],
        redactor=job.terms.redact.redactor(),
        at=job.terms.at,
        random=job.terms.random,
        thread=screening.Origin(job.run.thread, job.run.project),
        messages=messages,  # a file may have words of what the run read before it was learnt from last
    )
    return RunPlan(job.run, job.terms.at, job.learnt, max(last_seq, job.learnt), written, memories)


def _worked(job: RunJob, outcomes: dict[str, Outcome]) -> Worked:
    """Return extraction and consolidation as far as the model's answers allow; files come after the messages."""
    messages = _messages(job)
    redact = job.terms.redact.redactor().text
    last_seq = job.entries[-1][0] if job.entries else 0
    texts = [
        f"{path}\n{content}" for path, content in _contents([*job.files, *_written_by_tools(job, messages)]).items()
    ]
    if job.run.working_memory:
        texts.append("Working memory\n" + _entries(job.run.working_memory))
    return work_on(
        MemoryWork(
            messages=[message for message in messages if message.last_seq > job.learnt],
            snapshot=job.memories,
            outcomes=outcomes,
            redactor=job.terms.redact.redactor(),
            terms=job.terms,
            thread=screening.Origin(job.run.thread, job.run.project),
            files=[
                SourceEntry(last_seq + number, "file", redact(text), job.terms.at)
                for number, text in enumerate(texts, 1)
            ],
        )
    )


def _messages(job: RunJob) -> list[Message]:
    return without_recalled(active_messages(job.run.thread or "", job.entries))


def _contents(files: Sequence[RunFileRecord]) -> dict[str, str]:
    return {file.path: file.content for file in files if file.content is not None}


def _of_run(candidate: Candidate, job: RunJob, authors: Mapping[str, str | None]) -> Candidate:
    """Return a candidate of a file or of working memory with its run and its author in the provenance."""
    if "seqs" in candidate.provenance:
        return candidate
    agent = authors.get(str(candidate.provenance.get("path")), job.run.agent)
    author = {} if agent is None else {"authorAgentId": agent}
    return replace(candidate, provenance={"run": job.run.id, **author, **candidate.provenance})


def _written_by_tools(job: RunJob, messages: Sequence[Message]) -> list[RunFileRecord]:
    """Return the files that calls of tools in the run's thread wrote, as they were at its end.

    A file that was only edited is known as far as an earlier call of the run wrote it whole. A file of the API stands
    for itself: the caller has told its content.
    """
    trace = read_trace([message for message in messages if message.last_seq > job.run.first_seq])
    texts: dict[str, tuple[str, str]] = {}
    for call in trace.calls:
        path = trace.relative(call.path or call.word("path")).lstrip("/")
        if not path or call.failed:
            continue
        if _WRITE_TOOL.search(call.tool) and isinstance(call.input.get("content"), str):
            texts[path] = call.input["content"], call.at or job.terms.at
        elif path in texts and (edited := _edited(texts[path][0], call)) is not None:
            texts[path] = edited, call.at or job.terms.at
    paths = {file.path for file in job.files}
    return list(_records(job, {path: text for path, text in texts.items() if path not in paths}))


def _edited(text: str, call: ToolCall) -> str | None:
    """Return a text after an edit, or several; None for another call, or where the old words are not in it."""
    edits: Any = call.input.get("edits") if isinstance(call.input.get("edits"), list) else [call.input]
    for edit in edits:
        old, new = (edit.get("old_string"), edit.get("new_string", "")) if isinstance(edit, dict) else (None, None)
        if not isinstance(old, str) or not isinstance(new, str) or not old or old not in text:
            return None
        text = text.replace(old, new) if edit.get("replace_all") else text.replace(old, new, 1)
    return text


def _records(job: RunJob, texts: Mapping[str, tuple[str, str]]) -> Iterator[RunFileRecord]:
    for path, (text, at) in texts.items():
        try:
            yield file_record(path, text.encode(errors="replace"), agent=job.run.agent, source="tool", at=at)
        except ValidationError:  # a name that is no file's on every system, such as one with a colon
            continue


# The context of seed 003


def context_answer(job: RunJob) -> wire.RunContext:
    """Return the text that knowledge is extracted from, with its tokens."""
    text = context_text(job)
    return wire.RunContext(text=text, tokens=tokenizer.count(text))


def context_text(job: RunJob) -> str:
    """Return what knowledge is extracted from, as seed 003 writes it: files, working memory, session histories."""
    messages = _messages(job)
    parts = []
    files = _contents([*job.files, *_written_by_tools(job, messages)])
    if files:
        shown = "\n\n".join(f"### {path}\n{content.rstrip()}" for path, content in sorted(files.items()))
        parts.append(f"## Files Created This Run\n\n{shown}")
    if job.run.working_memory:
        parts.append(f"## Working Memory\n{_entries(job.run.working_memory)}")
    history = [line for message in messages if message.last_seq > job.run.first_seq if (line := _line(message))]
    if history:
        heading = f"### {job.run.thread}\n"
        parts.append("## Session Histories\n" + heading + "\n".join(history[-HISTORY_MESSAGES:]))
    return "\n\n".join(parts)  # of stored texts, which are redacted: once more would take ids for tokens


def _entries(entries: Mapping[str, str]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in sorted(entries.items()))


def _line(message: Message) -> str:
    """Return a message as one line of a history; empty where it says nothing, as one with tool calls alone."""
    text = " ".join(text_of(message.content).split())[:HISTORY_CHARS]
    return f"{message.role}: {text}" if text else ""
