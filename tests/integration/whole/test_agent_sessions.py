"""Sessions of agents' clients: the transcript is followed, restarts, `/clear`, ends, and what a person keeps out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.importers.lines import HEAD_BYTES, LINE_BYTES_MAX
from reveried.cli import send_sessions
from reveried.follower import FOLLOWED_MAX
from support.daemon import Daemon, running_daemon, scratch_home
from support.daemon_folder import bytes_below
from support.pages import stored_messages
from support.story import LiveSession, Story
from support.waiting import wait_until


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that sessions work in."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    return folder


def texts(client: Client, thread: str) -> list[str]:
    """Return the text of each message of a thread."""
    found = []
    for _, content in stored_messages(client, thread):
        found.append(content if isinstance(content, str) else "".join(block["text"] for block in content))
    return found


def wait_for(client: Client, thread: str, expected: list[str]) -> None:
    """Wait until a thread has exactly these texts."""
    wait_until(lambda: len(texts(client, thread)) >= len(expected), f"{len(expected)} messages")
    assert texts(client, thread) == expected


def test_a_transcript_is_imported_as_it_grows(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """A file that appears later and a line written in two parts are imported once; `import` of it adds nothing."""
    session = LiveSession(tmp_path, project, 1)
    answer = session.start(daemon)
    thread = answer["thread"]
    assert answer["project"] == "harbour"
    assert client.thread(thread).project == "harbour"

    session.say("paint the gate", "it is green")
    wait_for(client, thread, ["paint the gate", "it is green"])
    with session.path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"half","message":{"role":"user",')
        file.flush()
        file.write(b'"content":"and the fence"}}\n')
    wait_for(client, thread, ["paint the gate", "it is green", "and the fence"])

    report = send_sessions.import_file(client, session.path, program="claude-code")
    assert (report.thread, report.added) == (thread, 0)
    session.say("once more")
    wait_for(client, thread, ["paint the gate", "it is green", "and the fence", "once more"])


def test_a_rewritten_transcript_adds_only_what_is_new(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """A transcript that is replaced by a new file with changed bytes adds only the new message."""
    session = LiveSession(tmp_path, project, 2)
    thread = session.start(daemon)["thread"]
    session.say("paint the gate", "it is green")
    wait_for(client, thread, ["paint the gate", "it is green"])
    session.lines[0]["version"] = "9.9.9"
    session.user("and the fence")
    other = session.path.with_suffix(".new")
    other.write_bytes(session.bytes())
    other.replace(session.path)
    wait_for(client, thread, ["paint the gate", "it is green", "and the fence"])


def test_a_transcript_rewritten_in_place_loses_no_line(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """A transcript that is rewritten in place with other, longer content has all its new lines imported."""
    session = LiveSession(tmp_path, project, 18)
    thread = session.start(daemon)["thread"]
    session.say("paint the gate")
    wait_for(client, thread, ["paint the gate"])
    other = Story(18, str(project))
    for text in ("paint the gate", "mend the hinge of the gate first, and oil it", "and the fence"):
        other.user(text)
    first, *rest = other.bytes().splitlines(keepends=True)
    session.path.write_bytes(rest[0] + rest[1] + first)
    wait_for(client, thread, ["paint the gate", "mend the hinge of the gate first, and oil it", "and the fence"])


def test_the_rest_of_one_file_is_read_before_another(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """If a session continues in a file of another folder, all lines of the first file are imported before it."""
    first = LiveSession(tmp_path, project, 19)
    thread = first.start(daemon)["thread"]
    first.say("paint the gate")
    wait_for(client, thread, ["paint the gate"])
    second = LiveSession(tmp_path, project, 20, path=project / first.path.name)
    second.say("and the fence")
    first.say("twice")
    assert second.start(daemon)["thread"] == thread
    wait_for(client, thread, ["paint the gate", "twice", "and the fence"])


def test_the_sessions_that_spoke_last_are_followed(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """With one session too many to follow, both the newest and the quietest are imported at their next hook."""
    sessions = [LiveSession(tmp_path, project, 1000 + number) for number in range(FOLLOWED_MAX + 1)]
    threads = [session.start(daemon)["thread"] for session in sessions]
    for number in (-1, 0):
        sessions[number].say("who is there")
        assert daemon.ask("POST", "/v1/hooks/claude-code", sessions[number].hook("Stop")).status == 200
        wait_for(client, threads[number], ["who is there"])
    for known in client.sessions(open=True, limit=1000).items:
        client.end_session(known.client, known.session)


def test_following_goes_on_after_a_restart(tmp_path: Path, project: Path) -> None:
    """Lines written while no daemon ran are imported once after its restart, following a stop or a kill."""
    with scratch_home() as home, running_daemon(home) as daemon:
        session = LiveSession(tmp_path, project, 3)
        thread = session.start(daemon)["thread"]
        expected = []
        for number, stop in enumerate((daemon.stop, daemon.kill)):
            session.say(f"before {number}")
            expected.append(f"before {number}")
            with Client(daemon.socket) as client:
                wait_for(client, thread, expected)
            stop()
            session.say(f"while it was away {number}")
            expected.append(f"while it was away {number}")
            daemon.start()
            with Client(daemon.socket) as client:
                wait_for(client, thread, expected)


@pytest.mark.parametrize("ends_before", [False, True])
def test_a_session_is_learnt_from_after_a_restart(tmp_path: Path, project: Path, *, ends_before: bool) -> None:
    """What was imported before a kill, and not learnt from by then, is learnt when the session ends or has ended."""
    with scratch_home() as home, running_daemon(home) as daemon:
        session = LiveSession(tmp_path, project, 30)
        thread = session.start(daemon)["thread"]
        wish = "Never use npm in this repository, always use pnpm for installs."
        session.say(wish, "Understood.")
        with Client(daemon.socket) as client:
            wait_for(client, thread, [wish, "Understood."])
            assert client.memories().items == []
            if ends_before:
                client.end_session("claude-code", session.id)
        daemon.kill()
        daemon.start()
        with Client(daemon.socket) as client:
            if not ends_before:
                client.end_session("claude-code", session.id)
            wait_until(lambda: ["pnpm" in item.content for item in client.memories().items] == [True], "the wish")


def test_a_cleared_session_names_the_one_before(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """After `/clear` the new session names the one before, which has ended; each has its own thread."""
    first = LiveSession(tmp_path, project, 4, pid=os.getpid())
    second = LiveSession(tmp_path, project, 5, pid=os.getpid())
    before = first.start(daemon)
    after = second.start(daemon, "clear")
    assert (before["before"], after["before"]) == (None, first.id)
    assert after["thread"] != before["thread"]
    listed = client.sessions(pid=os.getpid()).items
    assert [(item.session, item.ended_at is None) for item in listed] == [(second.id, True), (first.id, False)]
    assert [item.session for item in client.sessions(pid=os.getpid(), open=True).items] == [second.id]
    first.start(daemon, "resume")
    assert [item.session for item in client.sessions(pid=os.getpid(), open=True).items] == [first.id]
    assert client.end_session("claude-code", first.id).ended_at is not None
    third, fourth = (LiveSession(tmp_path, project, number, pid=os.getpid()) for number in (14, 15))
    assert third.start(daemon)["before"] is None
    assert client.end_session("claude-code", third.id).ended_at is not None
    assert fourth.start(daemon, "clear")["before"] == third.id
    assert client.end_session("claude-code", fourth.id).ended_at is not None
    assert client.sessions(pid=os.getpid(), open=True).items == []


def test_what_is_written_at_the_end_is_imported(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """Lines written just after a session's end are imported, and a session whose process is gone is ended."""
    session = LiveSession(tmp_path, project, 6)
    thread = session.start(daemon)["thread"]
    session.say("nearly the end")
    session.user("the last words")
    client.end_session("claude-code", session.id)
    with session.path.open("ab") as file:
        file.write(session.bytes().splitlines()[-1])
    wait_for(client, thread, ["nearly the end", "the last words"])
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    other = LiveSession(tmp_path, project, 7, pid=gone.pid)
    other.say("nobody is there")
    wait_for(client, other.start(daemon)["thread"], ["nobody is there"])
    wait_until(lambda: not client.sessions(pid=gone.pid, open=True).items, "the end of the session")


@pytest.mark.parametrize(
    ("transcript", "refusal"),
    [
        ("/etc/passwd", (400, "validation_error")),
        ("{folder}/../{id}.jsonl", (400, "validation_error")),
        ("{folder}/another.jsonl", (400, "validation_error")),
        ("{folder}/link-{id}.jsonl", (403, "forbidden")),
        ("{folder}/folder-{id}.jsonl", (403, "forbidden")),
        ("relative-{id}.jsonl", (400, "validation_error")),
    ],
)
def test_foreign_files_are_refused(
    daemon: Daemon, client: Client, tmp_path: Path, *, transcript: str, refusal: tuple[int, str]
) -> None:
    """A path that is no transcript of the session is refused with a stable code; no thread or session is made."""
    session = LiveSession(tmp_path, tmp_path, 8)
    (tmp_path / "secret.jsonl").write_text('{"type":"user"}\n')
    (tmp_path / f"link-{session.id}.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (tmp_path / f"folder-{session.id}.jsonl").mkdir()
    body = {"client": "claude-code", "session": session.id, "project": str(tmp_path)}
    body["transcript"] = transcript.format(folder=tmp_path, id=session.id)
    threads = len(client.threads(limit=1000).items)
    answer = daemon.ask("POST", "/v1/sessions", body)
    assert (answer.status, answer.json()["error"]) == refusal
    assert len(client.threads(limit=1000).items) == threads
    assert session.id not in {item.session for item in client.sessions().items}


@pytest.mark.parametrize(
    ("session", "name"), [("{last}", "{id}"), ("{tail}", "{id}"), ("{id}", "x{id}"), ("short", "short")]
)
def test_an_id_names_its_own_file_alone(
    daemon: Daemon, client: Client, tmp_path: Path, *, session: str, name: str
) -> None:
    """A session id that is too short, or only the end of the one in the file's name, is refused."""
    live = LiveSession(tmp_path, tmp_path, 16)
    session, name = (text.format(id=live.id, last=live.id[-1], tail=live.id[-12:]) for text in (session, name))
    (tmp_path / f"{name}.jsonl").write_text("")
    body = {"client": "claude-code", "session": session, "project": str(tmp_path)}
    answer = daemon.ask("POST", "/v1/sessions", body | {"transcript": str(tmp_path / f"{name}.jsonl")})
    assert (answer.status, answer.json()["error"]) == (400, "validation_error")
    assert session not in {item.session for item in client.sessions().items}


def test_a_token_of_an_agent_has_no_file_followed(daemon: Daemon, tmp_path: Path) -> None:
    """With a token a session may not name a transcript (403) and a hook begins no session; one without file may."""
    daemon.ask("POST", "/v1/spaces", {"id": "visitors"})
    token = daemon.ask("POST", "/v1/tokens", {"space": "visitors", "agent": "guest"}).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    session = LiveSession(tmp_path, tmp_path, 17)
    session.say("a secret of the owner")
    body = {"client": "claude-code", "session": session.id, "project": str(tmp_path)}
    answer = daemon.ask("POST", "/v1/sessions", body | {"transcript": str(session.path)}, headers=headers)
    assert (answer.status, answer.json()["error"]) == (403, "forbidden")
    assert b"reverie import" in answer.body
    hooked = daemon.ask("POST", "/v1/hooks/claude-code", session.hook("Stop"), headers=headers)
    assert (hooked.status, hooked.body) == (200, b"")
    assert daemon.ask("GET", "/v1/sessions", headers=headers).json()["items"] == []
    assert daemon.ask("POST", "/v1/sessions", body, headers=headers).status == 200


def change(daemon: Daemon, **fields: Any) -> Any:
    """Change the privacy settings (pause, ignored folders) over the API; return the answer."""
    answer = daemon.ask("PATCH", "/v1/privacy", fields)
    assert answer.status == 200, answer.body
    return answer.json()


def test_ignored_folders_are_not_recorded(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """Messages in an ignored folder are not recorded: not by a session, by an import, nor after changing into it."""
    diary = project / "diary"
    diary.mkdir()
    assert change(daemon, ignore=str(diary))["ignored"] == [str(diary)]
    session = LiveSession(tmp_path, diary, 9)
    session.say("dear diary")
    assert session.start(daemon)["thread"] is None
    assert send_sessions.import_file(client, session.path, program="claude-code").added == 0

    other = LiveSession(tmp_path, project, 10)
    thread = other.start(daemon)["thread"]
    other.say("paint the gate")
    other.say("look into the diary", "dear diary", cwd=str(diary / "may"))
    other.say("and the fence")
    wait_for(client, thread, ["paint the gate", "and the fence"])
    assert change(daemon, unignore=str(diary))["ignored"] == []
    assert daemon.ask("PATCH", "/v1/privacy", {"unignore": str(diary)}).status == 404
    assert session.start(daemon)["thread"] is not None


def caught_up(client: Client, session: LiveSession) -> None:
    """Wait until all of a session's file is imported."""
    size = session.path.stat().st_size
    wait_until(lambda: client.start_import("claude-code", session.id).offset == size, "the import")


def test_lines_without_a_folder_are_of_the_one_before(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """Lines without a folder after lines of an ignored folder are left out too, also in later chunks."""
    session = LiveSession(tmp_path, project, 17)
    thread = session.start(daemon)["thread"]
    change(daemon, ignore=str(project / "diary"))
    session.say("paint the gate")
    wait_for(client, thread, ["paint the gate"])
    imported = client.start_import("claude-code", session.id).offset
    for number in range(3):
        session.say(f"dear diary {number}", **({"cwd": str(project / "diary")} if number == 0 else {"cwd": None}))
        caught_up(client, session)
    assert imported < session.path.stat().st_size
    session.say("and the fence")
    wait_for(client, thread, ["paint the gate", "and the fence"])
    change(daemon, unignore=str(project / "diary"))


def test_a_pause_leaves_out_what_was_said_in_it(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """Messages of a pause are never imported, also not by hand later, nor from a session begun in the pause."""
    session = LiveSession(tmp_path, project, 11)
    thread = session.start(daemon)["thread"]
    session.say("paint the gate")
    wait_for(client, thread, ["paint the gate"])
    assert change(daemon, paused=True)["paused"] is True
    session.say("this is between us", "my lips are sealed")
    session.add_outside_tree("last-prompt", lastPrompt="this is between us")
    session.flush()
    other = LiveSession(tmp_path, project, 12)
    other.say("nobody hears this")
    assert other.start(daemon)["thread"] is None
    assert change(daemon, paused=False)["paused"] is False
    session.say("and the fence")
    wait_for(client, thread, ["paint the gate", "and the fence"])
    send_sessions.import_file(client, other.path, program="claude-code")
    send_sessions.import_file(client, session.path, program="claude-code")
    found = client.search("between us lips nobody hears", where="all").hits
    assert not [hit for hit in found if "between us" in str(hit) or "nobody hears" in str(hit)]
    assert texts(client, thread) == ["paint the gate", "and the fence"]
    assert daemon.ask("PATCH", "/v1/privacy", {"paused": False}).status == 409
    assert daemon.ask("PATCH", "/v1/privacy", {}).status == 400


def test_private_text_is_stored_nowhere(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """Text in `<private>` marks is stored nowhere, by whatever call it comes; the text around it is stored."""
    diary = "my neighbour's name is Ludmilla"
    text = f"before <private>{diary}\nand more</private> after"
    session = LiveSession(tmp_path, project, 16)
    thread = session.start(daemon)["thread"]
    session.say(text)
    session.add_outside_tree("last-prompt", lastPrompt=text)
    session.flush()
    wait_for(client, thread, ["before [REDACTED:private] after"])
    client.append(thread, [{"role": "user", "content": [{"type": "text", "text": text}]}])
    client.add_note(thread, text, "context")
    client.remember(
        wire.CreateMemory(content=f"The gate is green <private>{diary}</private> and wide", author="person")
    )
    client.put_document("facts/gates.md", f"# Gates\n\n- The fence is red. <private>{diary}</private>\n")
    daemon.ask("POST", "/v1/hooks/claude-code", session.hook("UserPromptSubmit", prompt=text))
    assert texts(client, thread)[1] == "before [REDACTED:private] after"
    assert "[REDACTED:private]" in client.notes(thread).items[0].content
    assert "Ludmilla" not in client.document("facts/gates.md").content
    for folder in ("data", "root", "state"):
        assert not [path for path, data in bytes_below(daemon.home / folder).items() if b"Ludmilla" in data]
    assert "Ludmilla" not in daemon.log_text()


def test_private_text_however_it_is_marked(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """Private marks count in capitals, with spaces, over several blocks and without end; not in backticks."""
    session = LiveSession(tmp_path, project, 71)
    thread = session.start(daemon)["thread"]
    said = [
        ("a <PRIVATE>Ludmilla</PRIVATE> b", "a [REDACTED:private] b"),
        ("a <private >Ludmilla</ Private> b", "a [REDACTED:private] b"),
        ("a <private>Ludmilla\nand her cat", "a [REDACTED:private]"),
        ("write it between `<private>` marks", "write it between `<private>` marks"),
    ]
    for text, _ in said:
        session.say(text)
    wait_for(client, thread, [expected for _, expected in said])
    blocks = ("a <private>Ludmilla", "Ludmilla", "Ludmilla</private> b", "c")
    client.append(thread, [{"role": "user", "content": [{"type": "text", "text": block} for block in blocks]}])
    _, content = stored_messages(client, thread)[-1]
    assert [block["text"] for block in content] == [
        "a [REDACTED:private]",
        "[REDACTED:private]",
        "[REDACTED:private] b",
        "c",
    ]
    for folder in ("data", "root", "state"):
        assert not [path for path, data in bytes_below(daemon.home / folder).items() if b"Ludmilla" in data]


def test_a_line_beyond_the_limit(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """Of a line over the size limit only the beginning is stored, marked as unreadable; other lines are imported."""
    for number, follows in ((81, False), (91, True)):
        session = LiveSession(tmp_path, project, number)
        thread = session.start(daemon)["thread"] if follows else ""
        session.say("before it")
        session.say("x" * (LINE_BYTES_MAX + 4_000_000))
        session.say("after it")
        if not follows:
            report = send_sessions.import_file(client, session.path, program="claude-code")
            assert [problem.line for problem in report.problems] == [2]
            thread = str(report.thread)
        wait_for(client, thread, ["before it", "after it"])
        [bad] = [entry for entry in client.entries(thread).items if entry.kind == "bad"]
        assert bad.line == 2
        assert len(str(bad.raw)) == HEAD_BYTES
        assert (thread in daemon.log_text()) == follows
