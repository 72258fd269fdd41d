"""Import another program's transcript chunk by chunk: the position in its file, and what a chunk adds to its thread."""

from __future__ import annotations

import hashlib
import os.path
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import orjson
from msgspec.structs import replace

from reverie import wire
from reverie.decode import mapped
from reverie.errors import Conflict, NotFound, failure_of
from reverie.git import main_folder, posix_folder, remotes_in
from reverie.importers.chunks import ChunkPlan as ParsedChunk
from reverie.importers.chunks import PartialLine, plan_chunk, why_not
from reverie.importers.detect import (
    bad_entry,
    folder_of,
    is_of_subagent,
    model_named_in,
    request_tokens_of,
    stated_remote,
)
from reverie.lazy_regex import lazy_regex
from reverie.models import Entry, EntryKind, Json
from reverie.redact import Fingerprint, Redactor, Taken
from reverie.store import (
    DistillationRecord,
    ImportRecord,
    Kind,
    Reader,
    Sealed,
    ThreadRecord,
    UsageRecord,
    Writer,
    seal,
)
from reverie.store.codec import verified_sealed
from reverie.usecases import imported, inherited_notes, redactions, sessions, threads
from reverie.usecases import usage as use_usage
from reverie.usecases.by import By, Decided, writes
from reverie.usecases.entries import ENTRY_NAMES, entry_record

PROBLEMS_MAX = 100  # listed in one answer; the others are only counted


class TranscriptChunk(msgspec.Struct):
    """A chunk of a transcript, and what of the store is needed to parse and redact it.

    `literals` and `allow` are settings, and `fingerprints` those of the redactor. `at` is the time of the import;
    `ignored` and `pauses` are what a person keeps out; `real_folders` are paths that its lines may name, and the same
    without links.
    """

    data: bytes
    first_line: int
    final: bool
    inside: str = "nothing"
    folder: str | None = None  # of the line before the chunk
    literals: list[str] = []
    fingerprints: bytes = b""
    allow: list[str] = []
    at: str = ""
    ignored: list[str] = []
    pauses: list[tuple[str, str | None]] = []
    real_folders: dict[str, str] = {}

    def redactor(self) -> Redactor:
        """Return the redactor of its entries."""
        allow = redactions.allowed(self.allow)
        return Redactor(self.literals, fingerprints=self.fingerprints, names=ENTRY_NAMES, allow=allow)

    def parsed(self) -> ParsedChunk:
        """Return its whole lines as entries."""
        inside = PartialLine(self.inside)
        return plan_chunk(self.data, first_line=self.first_line, final=self.final, inside=inside)

    def recordable(self, entries: Sequence[Entry]) -> Iterator[Entry]:
        """Yield the entries that a person does not keep out."""
        return sessions.recordable(
            entries, self.ignored, self.pauses, at=self.at, folder=self.folder, real_folders=self.real_folders
        )

    def last_folder(self, entries: Sequence[Entry]) -> str | None:
        """Return the folder of the last entry, which the next ones may leave out."""
        return next(filter(None, (folder_of(entry.extra) for entry in reversed(entries))), self.folder)


class ChunkJob(TranscriptChunk):
    """A chunk that is imported.

    `known` are the identities of lines that the thread has, where any line of the chunk may be one of them. `position`
    is the offset of the import at the snapshot.
    """

    position: int = 0
    reply: str | None = None
    known: list[str] = []


@dataclass(frozen=True, slots=True)
class Opening:
    """Project, memory index, notes and digest that a thread is opened with by its first chunk.

    `moves`: the thread has a project, and turns out to work in this one.
    """

    project: str | None = None
    moves: bool = False
    index: str | None = None
    seed: inherited_notes.Seed = field(default_factory=inherited_notes.Seed)


class ChunkPlan(msgspec.Struct):
    """A chunk parsed, redacted and sealed, ready to be appended, and the thread's metadata found in it."""

    sealed: list[bytes]
    position: int
    consumed: int  # bytes of whole lines
    lines: int  # of the file so far
    final: bool
    inside: str
    duplicates: int
    taken: list[tuple[int, Taken]]  # index in `sealed`, and what was replaced there
    counts: dict[str, int]
    problems: list[wire.Problem]
    tokens: int
    sha256: str
    messages: int = 0
    reply: str | None = None
    at: str | None = None
    title: str | None = None
    folder: str | None = None  # the cwd of the first message
    last_folder: str | None = None  # the cwd of the last line, which the next ones may leave out
    remote: str = ""  # normalized, of the repository around `folder` by what the lines say; empty for none or several
    model: str | None = None
    subagent: bool = False
    usage_tokens: int = 0  # of the last API usage in the chunk; 0 where it has none
    tokens_at_usage: int = 0  # our count of the chunk's messages up to the one with that usage
    summaries: list[tuple[int, str, str | None]] = []  # index in `sealed`, text, time
    fingerprints: list[Fingerprint] = []  # of values that the chunk was the first to have

    def answer(self, offset: int) -> wire.ChunkAnswer:
        """Return the API's answer for this chunk; `offset` is the import's position after it."""
        return mapped(
            self,
            wire.ChunkAnswer,
            offset=offset,
            added=len(self.sealed),
            redacted=len(self.taken),
            kinds=dict(Counter(one.kind for _, one in self.taken)),
        )


@writes("import.begin", bulk=True)
def begin(
    to: Writer, _: By, client: str, session: str, source: str | None, *, again: bool = False, owner: str | None = None
) -> ImportRecord:
    """Open the import of `session`: a new thread the first time, its position afterwards.

    Ids are derived from client and session, so every caller that imports the session reaches the same thread. Raises
    Conflict for one that a person deleted; with `again` it is created anew, and its import starts over, unless its
    deletion is still under way.
    """
    import_id = imported.import_id(client, session)
    thread = imported.thread_id(client, session)
    here = to.load(ImportRecord, (import_id,))
    if here is not None and here.forgotten is not None:
        if not again:
            raise imported.refusal()
        here = None
    is_new = not to.exists(Kind.THREAD, (thread,))
    if here is not None and not is_new:
        return here
    if is_new:
        threads.check_gone(to, thread)
        subagent = True if client == "claude-code" and "/" in session else None
        opened = ThreadRecord(
            id=thread,
            agent=client,
            owner=owner if owner != client else None,
            source=source or session,
            created_at=to.at,
            updated_at=to.at,
            subagent=subagent,
        )
        to.save(opened, (thread,))
    start = ImportRecord(id=import_id, source=import_id, client=client, session=session, thread=thread)
    to.save(start, (import_id,))
    return position(to, import_id)


def position(reader: Reader, import_id: str) -> ImportRecord:
    """Return the position of an import.

    Raises:
        NotFound: no import of that id.
        Conflict: its thread was deleted.
    """
    here = reader.load(ImportRecord, (import_id,))
    if here is None:
        raise NotFound(f"no import is called {import_id!r}", hint="begin one with POST /v1/imports")
    if here.forgotten is not None:
        raise imported.refusal()
    return here


def snapshot(
    reader: Reader,
    import_id: str,
    *,
    offset: int,
    first_line: int,
    data: bytes,
    final: bool,
    redactor: Redactor,
    literals: Sequence[str],
    allow: Sequence[str] = (),
    at: str = "",
    real_folders: Mapping[str, str] | None = None,
) -> ChunkJob:
    """Return a ChunkJob: the chunk at byte `offset`, and what parsing it needs from the store. Raises NotFound.

    Reading all identities of a thread is slow, so it is done only where a line may be there already: bytes are sent
    again, were sent again before, or the import begins (its thread may have entries from an earlier import).
    """
    here = position(reader, import_id)
    again = offset < here.offset
    may_repeat = again or here.mixed or here.lines == 0
    kept_out = sessions.privacy_of(reader)
    return ChunkJob(
        data=data,
        first_line=first_line,
        final=final,
        position=here.offset,
        inside="nothing" if again else here.inside,
        reply=None if again else here.reply,
        known=[_stored_identity(record, redactor) for _, record in reader.scan(Kind.ENTRY, (here.thread,))]
        if may_repeat
        else [],
        literals=list(literals),
        fingerprints=redactor.fingerprints,
        allow=list(allow),
        at=at,
        ignored=kept_out.ignored,
        pauses=kept_out.pauses,
        real_folders=dict(real_folders or {}),
        folder=None if again else here.folder,
    )


def decide(job: ChunkJob) -> ChunkPlan:
    """Return the whole lines of a chunk, parsed, redacted and sealed; pure."""
    redactor, chunk = job.redactor(), job.parsed()
    known_before = len(redactor.fingerprints_after(0))
    identities = set(job.known)
    new: list[Entry] = []
    sealed: list[Sealed] = []
    problems = [*chunk.problems]
    duplicates = 0
    for entry in job.recordable(chunk.entries):
        try:
            record = entry_record(entry)
            # Each stored line excuses one equal line of the file: a file that says the same twice keeps both.
            if identities and (identity := _stored_identity(record, redactor)) in identities:
                identities.discard(identity)
                duplicates += 1
                continue
            item = seal(record, redactor)
        except BaseException as error:  # noqa: BLE001 - this line alone is left out; unredacted it is not stored
            why = f"{why_not(failure_of(error))}; its text is not stored"
            untaken, problem = bad_entry(b"", entry.line or 0, why)
            problems.append(problem)
            new.append(untaken)
            sealed.append(seal(entry_record(untaken), redactor))
        else:
            new.append(entry)
            sealed.append(item)
    plan = ChunkPlan(
        sealed=[item.data for item in sealed],
        position=job.position,
        consumed=chunk.consumed,
        lines=job.first_line - 1 + chunk.lines,
        final=job.final,
        inside=chunk.inside.value,
        duplicates=duplicates,
        taken=[(index, one) for index, item in enumerate(sealed) for one in item.taken],
        counts=dict(Counter(entry.kind.value for entry in new)),
        problems=[wire.Problem(line=problem.line, why=problem.why) for problem in problems[:PROBLEMS_MAX]],
        tokens=sum(entry.tokens for entry in new if entry.kind is EntryKind.SPEECH),
        sha256=hashlib.sha256(job.data[: chunk.consumed]).hexdigest(),
        reply=job.reply,
        fingerprints=redactor.fingerprints_after(known_before),
        last_folder=job.last_folder(chunk.entries),
    )
    _describe_thread(plan, new)
    plan.remote = remote_of(job.data[: chunk.consumed], chunk.entries, plan.folder)
    plan.folder = posix_folder(plan.folder) if plan.folder is not None else None
    return plan


def _describe_thread(plan: ChunkPlan, entries: list[Entry]) -> None:
    """Set the plan's fields about the thread: messages begun, model, title, folder, last usage, summaries."""
    live = 0
    for index, entry in enumerate(entries):
        if entry.kind is EntryKind.SUMMARY and isinstance(entry.content, str | list):
            plan.summaries.append((index, _text(entry.content), entry.at))
        if plan.folder is None and (folder := folder_of(entry.extra)) is not None and posix_folder(folder):
            plan.folder = folder
        plan.model = model_named_in(entry) or plan.model
        plan.subagent = plan.subagent or (entry.line == 1 and is_of_subagent(entry.extra))
        if used := request_tokens_of(entry.extra):
            plan.usage_tokens, plan.tokens_at_usage = used, live
        if entry.kind is not EntryKind.SPEECH:
            continue
        # One API reply is several lines with the same reply id: they are one message.
        plan.messages += entry.reply is None or entry.reply != plan.reply
        plan.reply = entry.reply
        plan.at = entry.at or plan.at
        live += entry.tokens
        if used := use_usage.tokens_of(entry.usage or {}):
            plan.usage_tokens, plan.tokens_at_usage = used, live
        if plan.title is None and entry.role == "user":
            plan.title = imported.title_of(_text(entry.content))


def model_of(entries: Iterable[Entry]) -> str | None:
    """Return the model that the last reply among these entries names; None where no reply names one."""
    return next((model for entry in reversed([*entries]) if (model := model_named_in(entry))), None)


def _text(content: Json) -> str:
    """Return the text of a message, without tool results, or of a tool's result."""
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in _blocks(content))
    return "\n".join(text for text in texts if isinstance(text, str))


def _blocks(content: Json) -> Iterator[dict[str, Any]]:
    return (block for block in (content if isinstance(content, list) else ()) if isinstance(block, dict))


def line_identity(record: Mapping[str, Any]) -> str:
    """Return the identity of a stored line, to detect duplicates: its uuid, else a hash of all but its line number.

    A line with words from a client's queue was no speech in threads imported earlier, and is the same line.
    """
    if isinstance(record.get("id"), str):
        return str(record["id"])
    content = {name: item for name, item in record.items() if name != "line"}
    extra = content.get("extra", {})
    if extra.get("type") == "queue-operation" and "content" in content:
        kept = {name: item for name, item in content.items() if name not in ("role", "content", "tokens")}
        content = {**kept, "kind": EntryKind.OTHER.value, "extra": {**extra, "content": content["content"]}}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _stored_identity(record: dict[str, Any], redactor: Redactor) -> str:
    """Return the identity that detects duplicates: the uuid, else the hash of the record as stored, redacted."""
    return line_identity(record) if isinstance(record.get("id"), str) else line_identity(redactor.value(record)[0])


@writes("import.chunk", answers=wire.ChunkAnswer, bulk=True)
def commit(
    to: Writer, _: By, plan: ChunkPlan, import_id: str, offset: int, *, opening: Opening | None = None
) -> wire.ChunkAnswer:
    """Append a decided chunk, which began at byte `offset` of its file.

    `opening` is for a thread without messages, and its project for one without a project.

    Raises NotFound where the import is gone, Conflict where the chunk would leave bytes out, and Conflict with
    `details["stale"]` where another caller moved the position since the snapshot: the lines that the thread has by now
    must then be read again.
    """
    here = position(to, import_id)
    if offset > here.offset:
        raise Conflict(
            f"the import is at byte {here.offset}, not {offset}",
            hint="continue from the offset that POST /v1/imports answers",
            currentVersion=here.offset,
        )
    # A chunk of duplicates alone adds nothing, whatever was committed since.
    if plan.sealed and here.offset != plan.position:
        raise Conflict("another import of the same file was faster", hint="try again", stale=True)
    _append(to, here.thread, plan, opening or Opening())
    moved = replace(
        here,
        lines=plan.lines,
        check_from=offset,
        offset=offset + plan.consumed,
        sha256=plan.sha256,
        inside=plan.inside,
        reply=plan.reply,
        mixed=here.mixed or offset < here.offset,
        folder=plan.last_folder,
    )
    # A caller that sends only duplicates again does not move the position back under an import that is further on.
    if plan.consumed and (plan.sealed or plan.final or moved.offset > here.offset):
        to.save(moved, (import_id,))
    return plan.answer(moved.offset)


DECIDED = Decided("import", ChunkPlan, commit, bulk=True)


def _append(writer: Writer, thread_id: str, plan: ChunkPlan, opening: Opening) -> None:
    """Append the chunk's entries, and update the thread's record."""
    if not plan.sealed:
        return
    thread = threads.get(writer, thread_id)
    if thread.last_seq == 0:
        inherited_notes.put(writer, thread_id, opening.seed)
        thread = replace(thread, index=opening.index, carried=[note.id for note in opening.seed.notes])
    first, last = writer.append_many(Kind.ENTRY, (thread_id,), [verified_sealed(item) for item in plan.sealed])
    redactions.note(writer, (redactions.Found(one, ("thread", thread_id, first + index)) for index, one in plan.taken))
    for number, (index, text, at) in enumerate(plan.summaries, thread.distillations + 1):
        through = first + index - 1
        summary = DistillationRecord(number=number, imported=True, text=text, through_seq=through, at=at)
        writer.save(summary, (thread_id, number))
    usage = thread.usage
    if plan.usage_tokens:
        usage = UsageRecord(tokens=plan.usage_tokens, live=thread.live_tokens + plan.tokens_at_usage)
    after = replace(
        thread,
        last_seq=last,
        message_count=thread.message_count + plan.messages,
        tokens=thread.tokens + plan.tokens,
        live_tokens=thread.live_tokens + plan.tokens,
        distillations=thread.distillations + len(plan.summaries),
        title=thread.title or plan.title,
        model=plan.model or thread.model,
        subagent=plan.subagent or thread.subagent,
        project=opening.project if opening.moves else thread.project or opening.project,
        updated_at=plan.at or thread.updated_at,
        usage=usage,
    )
    writer.save(after, (thread_id,))
    writer.event("thread.appended", {"threadId": thread_id, "lastSeq": last})


# The remote of the repository that a session works in, by what its transcript says; for folders that are gone.
#
# A client that records the remote itself is believed (Codex does, in the first line of a session). Otherwise git's
# output of a push, pull or fetch shows it, but only of a command that ran in the session's own folder: a session also
# looks into other clones, and what it fetches there says nothing about where it works.


_TALKS_TO_REMOTE: Final = lazy_regex(r"(?<![\w./-])git\b[^;&|\n]*?\s(?:push|pull|fetch|remote\s+update)\b")
# `git fetch https://example.org/other.git`, `ssh server git pull`, `git submodule update`: of another repository.
_ELSEWHERE: Final = lazy_regex(
    r"://|\bgit@|--git-dir|--work-tree|\bGIT_(?:DIR|WORK_TREE)\b"
    r"|(?<![\w./-])(?:ssh|docker|podman|kubectl|xargs|submodule|subtree)(?![\w-])"
)
# `cd ../other && git fetch`, `git -C ../other fetch`
_CHANGED_FOLDER: Final = lazy_regex(
    r"""(?:(?<![\w./-])(?:cd|pushd)\s+|(?<!\S)-C\s*)(?P<folder>"[^"]*"|'[^']*'|[^\s;&|)]+)"""
)
_SUBMODULE: Final = lazy_regex(r"^(?:Fetching|Pushing) submodule ", re.MULTILINE)  # what follows is the submodule's


def remote_of(data: bytes, entries: Sequence[Entry], folder: str | None) -> str:
    """Return the normalized remote of the repository around `folder` by these entries; "" for none or several.

    `data` are the lines that the entries were read from: most have no output of git, which is seen faster in bytes.
    """
    stated = next((remote for entry in entries if (remote := stated_remote(entry.extra, folder))), "")
    if stated or folder is None or not remotes_in(data):
        return stated
    remotes = {remote for output in _outputs_in(entries, folder) for remote in remotes_in(orjson.dumps(output))}
    return remotes.pop() if len(remotes) == 1 else ""


def _outputs_in(entries: Sequence[Entry], folder: str) -> Iterator[str]:
    """Yield the outputs of commands that ran in `folder` and made git talk to a remote."""
    own: set[str] = set()
    for entry in entries:
        for block in _blocks(entry.content):
            if block.get("type") == "tool_use" and _is_in_folder(block, folder_of(entry.extra) or folder, folder):
                own.add(str(block.get("id")))
            elif block.get("type") == "tool_result" and block.get("tool_use_id") in own:
                yield _SUBMODULE.split(_text(block.get("content")), maxsplit=1)[0]


def _is_in_folder(call: dict[str, Any], here: str, folder: str) -> bool:
    """Return True for a call whose command makes git talk to a remote, all of it in `folder`; it begins in `here`."""
    from reverie.distill.tools import FOLDER_KEYS, canonical_calls

    given = call.get("input")
    if not isinstance(given, dict):
        return False
    commands = [
        values.get("command") for name, values in canonical_calls(str(call.get("name")), given) if name == "Bash"
    ]
    command = commands[0] if commands else None
    if not isinstance(command, str) or not _TALKS_TO_REMOTE.search(command) or _ELSEWHERE.search(command):
        return False
    said = next((given[name] for name in FOLDER_KEYS if isinstance(given.get(name), str)), "")
    start = os.path.join(here, said)  # noqa: PTH118 - a folder of another machine: nothing of it is read
    changed = [match["folder"].strip("\"'") for match in _CHANGED_FOLDER.finditer(command)]
    return all(_repository(os.path.join(start, path)) == _repository(folder) for path in ("", *changed))  # noqa: PTH118


def _repository(folder: str) -> str:
    """Return the folder that a worktree was made from by its path, else the folder itself."""
    path = os.path.normpath(folder)
    return main_folder(path) or path
