"""Change what redaction leaves, and restore or replace again the texts that it is about.

A text is restored from the transcript that it was imported from, where that is still there. What was typed directly was
stored nowhere as it was.
"""

from __future__ import annotations

import asyncio
import tomllib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reverie import wire
from reverie.documents.layout import folder_of, memory_project
from reverie.errors import Conflict, NotFound, ReverieError, StorageFailed
from reverie.files import write_atomic
from reverie.importers import find
from reverie.private_folder import make_private
from reverie.redact import Redactor
from reverie.store import (
    SYSTEM_SPACE,
    DocumentRecord,
    Kind,
    MemoryRecord,
    RedactionRecord,
    RedactionsCursor,
    ThreadRecord,
)
from reverie.usecases import purge_steps, redactions, sessions, unredact
from reverie.usecases.by import By
from reverie.usecases.entries import ENTRY_NAMES
from reverie.usecases.projects import of_thread
from reverie.wire import CHUNK_MAX_BYTES
from reveried.actions import purge
from reveried.actions.compact import compact
from reveried.actions.contexts import StateCache
from reveried.actions.imports import real_folders
from reveried.config import read_file
from reveried.config_lines import with_value
from reveried.drive import write
from reveried.execute import decide, read
from reveried.follower import is_own_file
from reveried.locks import keyed_lock
from reveried.log import logger
from reveried.session_texts import SessionTexts
from reveried.stored import spaces_of
from reveried.working_states import BackgroundState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader, RedactedPlace, Write
    from reverie.usecases.unredact import Line
    from reveried.services import Services

SETTING: Final = "redact.allow"
BESIDE: Final = "it is in a title, a note or a working state, and stored nowhere as it was"
TYPED: Final = "it was typed directly, and stored nowhere as it was"
GONE: Final = "its transcript is gone"
OTHER: Final = "its transcript has another text there"
UNKNOWN: Final = " (whether it had such a value is not known)"
IN_FILE: Final = "your file has it, and only you change that: edit its line there"
DELETED: Final = "its thread was deleted"


@dataclass(slots=True)
class _Concerned:
    """The places of the values that a change is about; with `everywhere` there may be others."""

    threads: dict[str, set[int]] = field(default_factory=dict)
    others: dict[tuple[str, str], RedactedPlace] = field(default_factory=dict)
    everywhere: bool = False
    is_pattern: bool = False


async def allow(services: Services, entry: str, *, who: str) -> wire.Allowed:
    """Leave from now on what an entry of `redact.allow` names, and restore the texts in which it was replaced.

    Raises:
        NotFound: no redaction has the id.
        Conflict: the setting is that of the environment.
        StorageFailed, DiskFull, Forbidden: the settings file cannot be written; nothing has changed.
    """
    async with keyed_lock("redactions", ""):
        _require(services, entry)
        entries = await asyncio.to_thread(_save_setting, services, entry, remove=False)
        await _apply(services, entries)
        if entry.startswith("rule:"):
            await _forget_values(services, entry.removeprefix("rule:"))
        answer = wire.Allowed(allow=entries)
        for space in spaces_of(services.store):
            async with keyed_lock("purge", space):
                await _Change(services, By(space, who), entry, answer).restore()
        return answer


async def disallow(services: Services, entry: str, *, who: str) -> wire.Allowed:
    """Take again what an entry of `redact.allow` named, also from all that has it by now, history included.

    Files of a person keep it, and are named. The setting loses the entry at the end: where this was killed or has
    failed, the entry is there still, and the same call goes on. The file is written as it is before any text changes.

    Raises:
        NotFound: it is not allowed.
        Conflict: the setting is that of the environment.
        StorageFailed, DiskFull, Forbidden: the settings file cannot be written; nothing has changed.
    """
    async with keyed_lock("redactions", ""):
        text, here = await asyncio.to_thread(_setting, services)
        if entry not in here:
            raise NotFound(f"{entry} is not allowed", hint=f"reverie config get {SETTING} shows what is")
        await asyncio.to_thread(_save, services, text)
        entries = [item for item in here if item != entry]
        before = Redactor(
            services.config.redact.literals,
            fingerprints=services.redactor.fingerprints,
            names=ENTRY_NAMES,
            allow=redactions.allowed(here),
        )
        await _apply(services, entries)
        answer = wire.Allowed(allow=entries)
        for space in spaces_of(services.store):
            async with keyed_lock("purge", space):
                await _Change(services, By(space, who), entry, answer).replace_again(before)
        await write(services, purge_steps.needs_compaction, By(SYSTEM_SPACE, purge.WHO), services.clock())
        await asyncio.to_thread(_save_setting, services, entry, remove=True)
        await compact(services)  # the bytes of what was replaced are in free pages
        return answer


def since(services: Services) -> str | None:
    """Return when a store of an older release began to list redactions; None for one that always did."""
    with services.store.reader(SYSTEM_SPACE) as reader:
        cursor = reader.load(RedactionsCursor, RedactionsCursor.KEY)
    return (cursor and cursor.since) or None


# The setting


def _require(services: Services, entry: str) -> None:
    """Raise NotFound for an id that no space lists."""
    if not entry.startswith(redactions.ID):
        return
    for space in spaces_of(services.store):
        with services.store.reader(space) as reader:
            if reader.exists(Kind.REDACTION, (entry,)):
                return
    raise NotFound(f"no redaction is called {entry!r}", hint="those that are there: reverie redactions")


def _setting(services: Services) -> tuple[str, list[str]]:
    """Return the text of the settings file, and the entries of `redact.allow` in it. Raises Conflict, StorageFailed."""
    if services.config.set_by.get(SETTING) == "environment":
        raise Conflict(
            "redact.allow is set by the environment of the daemon, which overrides the file",
            hint="unset REVERIE_REDACT_ALLOW, and start the daemon again",
        )
    try:
        text = read_file(services.layout.config_file).decode("utf-8")
        return text, [str(item) for item in tomllib.loads(text).get("redact", {}).get("allow", [])]
    except (OSError, ValueError) as error:
        raise _unchanged(services, error) from error


def _save_setting(services: Services, entry: str, *, remove: bool) -> list[str]:
    """Add an entry to `redact.allow` in the settings file or remove it; return all of them.

    Raises Conflict, and what `_save` raises.
    """
    text, here = _setting(services)
    entries = [item for item in here if item != entry] + ([] if remove else [entry])
    if entries != here:
        _save(services, with_value(text, SETTING, entries))
    return entries


def _save(services: Services, text: str) -> None:
    """Write the settings file. Raises StorageFailed, DiskFull or Forbidden; the old file is then as it was."""
    path = services.layout.config_file
    try:
        make_private(path.parent)
        write_atomic(path, text.encode())
    except OSError as error:
        raise _unchanged(services, error) from error


def _unchanged(services: Services, error: Exception) -> StorageFailed:
    return StorageFailed(f"{services.layout.config_file} cannot be changed: {error}", hint="reverie config validate")


async def _apply(services: Services, entries: list[str]) -> None:
    """Make the redactors of this process leave what the entries name, and nothing else in all that is committed later.

    What was decided before is committed by the end of this, or refused as stale and decided again.
    """
    services.keeper.allow = entries
    services.store.redactor = services.keeper.forgetful()
    services.redactor.allow(redactions.allowed(entries))
    await services.worker.run_alone(lambda: None)


async def _forget_values(services: Services, rule: str) -> None:
    """Forget the values that a rule has taken: they would be found again without it."""
    names: set[str] = set()
    for space in spaces_of(services.store):
        names |= await read(
            services,
            space,
            lambda reader: {record.id for _, record in reader.records(RedactionRecord) if record.rule == rule},
        )
    await write(services, redactions.forget_fingerprints, By(SYSTEM_SPACE, "redaction"), names)
    hashes = redactions.allowed(sorted(names)).hashes
    await services.worker.run_alone(partial(services.keeper.forget, frozenset(hashes)))


def _concerned(reader: Reader, entry: str, *, is_older: bool) -> _Concerned:
    """Return the places that an entry of `redact.allow` is about."""
    records = [record for _, record in reader.records(RedactionRecord)]
    named = [record for record in records if entry in {record.id, f"rule:{record.rule}"}]
    is_pattern = entry.startswith("like:")
    found = _Concerned(
        everywhere=is_pattern or (is_older and entry.startswith("rule:")) or any(record.more for record in named),
        is_pattern=is_pattern,
    )
    # Which values are like a pattern is not known: every memory and document with a marker may have one.
    for place in (place for record in (records if is_pattern else named) for place in record.places):
        if place.kind != "thread":
            found.others[place.kind, place.key] = place
        elif not is_pattern:
            found.threads.setdefault(place.key, set()).update(place.seqs)
    return found


# Texts


@dataclass(slots=True)
class _Done:
    """The entries of a thread that were restored, those that its transcripts have, and the lines that changed."""

    seqs: list[int] = field(default_factory=list)
    met: set[int] = field(default_factory=set)
    pieces: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class _Change:
    """The work on the texts of one space after a change of `redact.allow`; the answer says what became of them."""

    services: Services
    by: By
    entry: str
    answer: wire.Allowed

    @property
    def space(self) -> str:
        """The space whose texts change."""
        return self.by.space

    async def restore(self) -> None:
        """Restore the texts that have transcripts, and name the others."""
        found = await self._found()
        restored = 0
        beside = {name for name, seqs in found.threads.items() if not seqs}
        for thread in await read(self.services, self.space, partial(_threads, found=found)):
            done = await self._restore_thread(thread, found)
            restored += len(done.seqs)
        await self._restore_documents()
        name = partial(_name_others, found=found, beside=beside, answer=self.answer)
        await read(self.services, self.space, name)
        await self._end(restored, allowed=True)

    async def replace_again(self, before: Redactor) -> None:
        """Redact the texts again that have what is no longer allowed, and `before` was."""
        retaken = unredact.Retaken(before, self.services.redactor)
        replaced = 0
        threads = await read(self.services, self.space, partial(_threads, found=_Concerned(everywhere=True)))
        for thread in threads:
            plan = await read(self.services, self.space, partial(unredact.again, thread=thread, retaken=retaken))
            if not plan.restored:
                continue
            done = await write(self.services, unredact.commit, self.by, thread.id, plan)
            self.answer.values += plan.values
            self.answer.restored.append(_in_thread(thread, done))
            self._state_again(thread)
            replaced += len(done)
        await _apply(self.services, self.answer.allow)  # what is being made of the messages as they were is stale too
        async with keyed_lock("memories", self.space):
            await self._repeated(unredact.documents_again.write(self.by, retaken))
            await self._history_again(retaken)
        for path, text in (await self._files()).items():
            if retaken.holds(text):
                self.answer.left.append(wire.UnrestoredPlace(document=path, project=folder_of(path), why=IN_FILE))
        await self.services.sync_service.settle_displaced(self.space)
        await self._end(replaced, allowed=False)

    async def _history_again(self, retaken: unredact.Retaken) -> None:
        """Take what is no longer allowed from every version, and from all that is a copy, as a purge does."""
        services, space = self.services, self.space
        found = await read(services, space, partial(unredact.versions_with, retaken=retaken))
        for start in range(0, len(found), purge_steps.BATCH):
            part = found[start : start + purge_steps.BATCH]
            await write(services, unredact.versions_again, self.by, part, retaken)
        await services.sync_service.forget_texts(
            space, partial(purge_steps.without_words, holds=retaken.holds), retaken.holds
        )
        await purge.forget_answers(services, self.by, retaken.holds)
        await purge.forget_all(space)
        await asyncio.to_thread(purge.clear_spool, services, retaken.holds)
        await services.sync_service.write_all(space)

    async def _found(self) -> _Concerned:
        is_older = since(self.services) is not None
        return await read(self.services, self.space, partial(_concerned, entry=self.entry, is_older=is_older))

    async def _end(self, entries: int, *, allowed: bool) -> None:
        """Announce the change and how many entries of threads it changed, without its content."""
        if entries:
            texts = self.services.made(SessionTexts)
            texts.forget(self.space)
            texts.starts.forget(self.space)
        await write(self.services, redactions.announce, self.by, entries, allowed=allowed)

    async def _restore_thread(self, thread: ThreadRecord, found: _Concerned) -> _Done:
        """Read the transcripts of a thread again, and restore its entries and what repeats them."""
        named = found.threads.get(thread.id, set())
        marked = await read(self.services, self.space, partial(unredact.marked, thread_id=thread.id))
        if not found.everywhere:
            marked = [row for row in marked if row[0] in named]
        named &= {seq for seq, _ in marked}
        paths = [] if not marked else await read(self.services, self.space, partial(unredact.sources, thread=thread))
        there = [Path(path) for path in paths if is_own_file(Path(path))]
        done = _Done()
        for path in there:
            try:
                await self._read_again(thread.id, path, marked, done)
            except ReverieError as error:  # a file that cannot be read is as one that is gone
                logger("reveried.redactions").warning("a transcript was not read", code=error.code, thread=thread.id)
        if done.pieces:
            await self._repeated(unredact.derived.write(self.by, thread.id, done.pieces), thread)
        if done.seqs:
            self.answer.restored.append(_in_thread(thread, sorted(done.seqs)))
        left = sorted(named - done.met)
        if left or (marked and found.everywhere and not there):
            why = (OTHER if there else GONE if paths else TYPED) + ("" if left else UNKNOWN)
            self.answer.left.append(
                wire.UnrestoredPlace(thread=thread.id, project=of_thread(thread), messages=left, why=why)
            )
        return done

    async def _restore_documents(self) -> None:
        """Restore the documents whose files have what was redacted."""
        files = await self._files()
        if files:
            for path in await write(self.services, unredact.from_files, self.by, files, self.services.redactor):
                place = wire.RedactedPlace(document=path, project=folder_of(path))
                self.answer.restored.append(place)
                self.answer.values += 1

    async def _files(self) -> dict[str, str]:
        """Return the texts of the files, by path, whose documents have markers."""
        paths = await read(self.services, self.space, unredact.marked_documents)
        texts = [(path, await self.services.sync_service.text(self.space, path)) for path in paths]
        return {path: text for path, text in texts if text is not None}

    async def _repeated(self, change: Write[list[str]], *threads: ThreadRecord) -> None:
        """Change what repeats the messages of threads, and the files of the documents among it."""
        paths = (await self.services.submit(change, bulk=True)).value
        if paths:
            self.answer.restored += [wire.RedactedPlace(document=path, project=folder_of(path)) for path in paths]
            self.answer.values += len(paths)
            await self.services.sync_service.write_documents(self.space, set(paths))
        for thread in threads:
            self._state_again(thread)

    def _state_again(self, thread: ThreadRecord) -> None:
        """Make the working state of a thread anew."""
        self.services.made(StateCache).remove((self.space, thread.id), 0)
        self.services.made(BackgroundState).schedule(self.services, self.space, thread.id)

    async def _read_again(self, thread_id: str, path: Path, marked: Sequence[tuple[int, bytes]], done: _Done) -> None:
        """Read one transcript from its beginning, chunk by chunk, and restore the entries that it has."""
        kept_out = await read(self.services, self.space, sessions.privacy_of)
        rules = self.services.redact_rules
        job = unredact.ReadJob(
            data=b"",
            first_line=1,
            final=False,
            marked=list(marked),
            literals=rules.literals,
            fingerprints=self.services.redactor.fingerprints,
            allow=rules.allow,
            at=self.services.clock(),
            ignored=kept_out.ignored,
            pauses=kept_out.pauses,
        )
        with find.open_transcript(path) as stream:
            while not job.final:
                size = min(find.CHUNK_BYTES, CHUNK_MAX_BYTES - len(job.data))
                piece = await asyncio.to_thread(stream.read, size)
                job.data, job.final = job.data + piece, not piece
                job.real_folders = await real_folders(self.services, self.space, job.data, job.folder)
                plan = await decide(self.services, "unredact", job, unredact.ReadPlan, bulk=True)
                done.met.update(plan.met)
                if plan.restored:
                    restored = await write(self.services, unredact.commit, self.by, thread_id, plan)
                    done.seqs += restored
                    done.pieces += plan.pieces
                    self.answer.values += plan.values
                job.data = job.data[plan.consumed :]
                job.first_line, job.inside, job.folder = plan.lines + 1, plan.inside, plan.folder


def _threads(reader: Reader, found: _Concerned) -> list[ThreadRecord]:
    """Return the threads to look into."""
    if found.everywhere:
        return [thread for _, thread in reader.records(ThreadRecord)]
    loaded = (reader.load(ThreadRecord, (name,)) for name in found.threads)
    return [thread for thread in loaded if thread is not None]


def _in_thread(thread: ThreadRecord, messages: list[int]) -> wire.RedactedPlace:
    return wire.RedactedPlace(thread=thread.id, project=of_thread(thread), messages=messages)


def _name_others(reader: Reader, found: _Concerned, beside: set[str], answer: wire.Allowed) -> None:
    """Add the memories, documents and deleted threads to the answer that cannot be restored.

    `beside` are the threads that have a value in their title, a note or a working state.
    """
    for name, seqs in found.threads.items():
        if not reader.exists(Kind.THREAD, (name,)):
            answer.left.append(wire.UnrestoredPlace(thread=name, messages=sorted(seqs), why=DELETED))
        elif name in beside and unredact.is_marked_beside(reader, name):
            answer.left.append(wire.UnrestoredPlace(thread=name, why=BESIDE))
    unknown = UNKNOWN if found.is_pattern else ""
    for place in found.others.values():
        record: MemoryRecord | DocumentRecord | None = (
            reader.load(MemoryRecord, (place.key,))
            if place.kind == "memory"
            else reader.load(DocumentRecord, (place.key,))
        )
        if record is None or not unredact.MARKER.search(record.content):
            continue
        path = record.document if isinstance(record, MemoryRecord) else record.path
        why = f"{TYPED}{unknown}; edit its line in {path}"
        if isinstance(record, MemoryRecord):
            project = memory_project(record) or None
            answer.left.append(wire.UnrestoredPlace(memory=place.key, project=project, why=why))
        else:
            answer.left.append(wire.UnrestoredPlace(document=place.key, project=folder_of(place.key), why=why))
