"""Sessions of agents' clients: begin, end and list them; the privacy settings."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Final

from reverie import wire
from reverie.decode import mapped
from reverie.errors import Forbidden, NotFound, ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.store import PrivacyCursor, Reader, SessionRecord, ThreadRecord
from reverie.usecases import imported, projects, sessions
from reverie.usecases.by import By
from reveried.actions import imports
from reveried.actions.projects import registered
from reveried.drive import write
from reveried.execute import read
from reveried.follower import Follower, is_own_file
from reveried.services import Services

_FOLLOWED_CLIENTS: Final = frozenset({"claude-code", "codex"})  # whose transcripts the import reads
_SESSION_ID: Final = lazy_regex(r"[0-9A-Za-z][0-9A-Za-z_-]{7,199}")  # of a session that has a transcript
_UUID: Final = lazy_regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def begin(
    services: Services, space: str, request: wire.StartSession, *, agent: str | None = None
) -> wire.Session:
    """Record a session that begins or continues, open its thread, and follow its transcript.

    A session that a person keeps out (an ignored folder, a pause, a thread that was deleted) is answered without a
    thread, and nothing is stored. `agent` is that of the caller's token, None for a person.

    Raises:
        ValidationError: the project is no name, or the transcript is not one of this session.
        Forbidden: the transcript is not a file of this user, or an agent's token names one.
    """
    at = services.clock()
    if agent is not None and request.transcript is not None:
        # The file is read with the rights of the daemon's owner, and its lines go into the token's space.
        raise Forbidden(
            "an agent's token may not name a transcript",
            hint="leave `transcript` out; the owner's hooks name it, or `reverie import` reads it",
        )
    transcript = None if request.transcript is None else _checked(request.transcript, request.session)
    folder = real_folder(request.project) if request.project.startswith("/") else None
    kept_out = await read(services, space, sessions.privacy_of)
    if sessions.is_paused(kept_out.pauses) or sessions.is_ignored(folder, kept_out.ignored):
        return wire.Session(request.client, request.session, at, at)
    of_session = partial(imported.is_forgotten, client=request.client, session=request.session)
    if await read(services, space, of_session):
        return wire.Session(request.client, request.session, at, at)
    by = By(space, f"session:{request.client}")
    project = await registered(services, by, request.project)
    import_position = await imports.begin(services, space, request.client, request.session, transcript)
    record = SessionRecord(
        client=request.client,
        session=request.session,
        thread=import_position.thread,
        project=project,
        transcript=transcript,
        pid=request.pid,
        started_at=at,
        updated_at=at,
    )
    stored = await write(services, sessions.begin, by, record, cleared=request.source == "clear")

    def lacks_project(reader: Reader) -> bool:
        thread = reader.load(ThreadRecord, (stored.thread,))
        return thread is not None and projects.of_thread(thread) is None

    if await read(services, space, lacks_project):
        await write(services, projects.set_first_project, by, stored.thread, stored.project)
    if stored.before is not None:
        services.made(Follower).end((space, stored.client, stored.before))
    if stored.client in _FOLLOWED_CLIENTS:
        services.made(Follower).follow(services, space, stored)
    return mapped(stored, wire.Session)


def _checked(text: str, session: str) -> str:
    """Return a transcript's path unchanged. Raises ValidationError or Forbidden if it is not the session's file.

    Its name is the session's id, or ends with it behind a hyphen, so that no caller can have another file imported: the
    clients name theirs so. Of a UUID in the name, which has hyphens itself, the last group is no id. A file that does
    not exist yet is one that the client is still to write.
    """
    path = Path(text)
    is_named_so = _SESSION_ID.fullmatch(session) is not None and f"-{path.stem}".endswith(f"-{session}")
    is_named_so = is_named_so and _UUID.findall(path.stem)[-1:] in ([], [session])
    if path.suffix != ".jsonl" or not is_named_so or ".." in path.parts or "\0" in text:
        raise ValidationError(
            "the transcript is not a file of this session",
            hint="give the .jsonl file whose name has the session's id",
            field="transcript",
        )
    if os.path.lexists(path) and not is_own_file(path):
        raise Forbidden("the transcript is not a file of this user", hint="give the client's own file")
    return text


def real_folder(folder: str) -> str:
    """Return a folder's path without symbolic links, as ignored folders are stored.

    Raises:
        ValidationError: it has a zero byte, as that of a damaged hook may.
    """
    if "\0" in folder:
        raise ValidationError("the folder cannot have a zero byte", hint="give the path of a folder", field="folder")
    return os.path.realpath(folder)


async def end(services: Services, space: str, client: str, session: str) -> wire.Session:
    """Record the end of a session, and stop following its transcript once it is read. Raises NotFound."""
    stored = await write(services, sessions.end, By(space, f"session:{client}"), client, session)
    if stored is None:
        raise NotFound(f"{client} has no session {session[:100]!r} here", hint="begin one with POST /v1/sessions")
    if client in _FOLLOWED_CLIENTS and not services.made(Follower).follows((space, client, session)):
        services.made(Follower).follow(services, space, stored)  # its last lines were not read yet
    services.made(Follower).end((space, client, session))
    return mapped(stored, wire.Session)


def listed(reader: Reader, query: wire.SessionsQuery) -> wire.Page[wire.Session]:
    """Return a page of the sessions, the one with the latest sign of life first; `after` is how many to skip."""
    items = [
        mapped(session, wire.Session)
        for session in reversed(sessions.known(reader))
        if query.client in {None, session.client} and query.pid in {None, session.pid}
        if not query.open or session.ended_at is None
    ]
    skipped = int(query.after) if query.after is not None and query.after.isdecimal() else 0
    end = skipped + query.limit
    return wire.Page(items[skipped:end], str(end) if len(items) > end else None)


async def resume_following(services: Services, spaces: list[str]) -> None:
    """Follow the sessions again that were open when the daemon stopped, or had ended and were not learnt from yet."""
    follower = services.made(Follower)
    for space in spaces:
        for session in await read(services, space, _unfinished):
            follower.follow(services, space, session)
            if session.ended_at is not None:
                follower.end((space, session.client, session.session))


def _unfinished(reader: Reader) -> list[SessionRecord]:
    found = []
    for session in sessions.known(reader):
        thread = reader.load(ThreadRecord, (session.thread,))
        is_unlearnt = thread is not None and thread.last_seq > thread.extracted_seq
        if session.client in _FOLLOWED_CLIENTS and (session.ended_at is None or is_unlearnt):
            found.append(session)
    return found


async def change_privacy(services: Services, by: By, request: wire.ChangePrivacy) -> wire.Privacy:
    """Pause or resume the recording of sessions, or change the ignored folders; return the settings.

    Before a pause begins, and before one ends, the followed files are read: a line is judged by the time at which it
    was written, and one without a time by that at which it is read.
    """
    if request.paused is not None:
        await services.made(Follower).catch_up_all(services, by.space)
        await write(services, sessions.pause if request.paused else sessions.resume, by)
    for path, remove in ((request.ignore, False), (request.unignore, True)):
        if path is not None:
            await write(services, sessions.change_ignored, by, real_folder(path), remove=remove)
    return await read(services, by.space, lambda reader: privacy_answer(sessions.privacy_of(reader)))


def privacy_answer(settings: PrivacyCursor) -> wire.Privacy:
    """Return the privacy settings, as the API answers it."""
    paused = sessions.is_paused(settings.pauses)
    return wire.Privacy(
        ignored=sorted(settings.ignored),
        paused=paused,
        paused_since=settings.pauses[-1][0] if paused else None,
    )
