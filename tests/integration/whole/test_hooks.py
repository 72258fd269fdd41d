"""Hooks of agents' clients before a real daemon: what each prints, when, and how much."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from reverie import wire
from reverie.client import Client
from reveried.session_texts import CHARS_MAX, PARTS
from support.daemon import running_daemon
from support.live_session import LiveSession
from support.session import session_file, stored_messages
from support.unrelated import UNRELATED
from support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from support.daemon import Daemon


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that sessions work in, of a name that no other test has."""
    folder = tmp_path / f"harbour-{tmp_path.parent.name[-3:]}{tmp_path.name[-24:]}"
    folder.mkdir()
    return folder


def hook(daemon: Daemon, event: dict[str, Any], *, client: str = "claude-code", query: str = "") -> str:
    """Send a hook's input; return what it prints."""
    answer = daemon.ask("POST", f"/v1/hooks/{client}{query}", event)
    assert answer.status == 200, answer.body
    return answer.body.decode()


def shown(daemon: Daemon, event: dict[str, Any], *, part: str = "state", client: str = "claude-code") -> str:
    """Return the text that a hook adds to the conversation, within the size of one hook."""
    out = hook(daemon, event, client=client, query=f"?part={part}")
    if not out:
        return ""
    output = json.loads(out)["hookSpecificOutput"]
    assert output["hookEventName"] == event["hook_event_name"]
    text = output["additionalContext"]
    assert isinstance(text, str)
    assert len(text) <= CHARS_MAX
    return text


def parts(daemon: Daemon, event: dict[str, Any], *, client: str = "claude-code") -> dict[str, str]:
    """Return what the three hooks of a session's start show, asked for in the opposite order."""
    return {part: shown(daemon, event, part=part, client=client) for part in reversed(PARTS)}


def in_the_end(
    daemon: Daemon, session: LiveSession, text: dict[str, str], wanted: Sequence[str] = PARTS
) -> dict[str, str]:
    """Send prompts until each part in `wanted` was shown; return the texts of all parts."""

    def is_complete() -> bool:
        late = shown(daemon, session.hook("UserPromptSubmit", prompt="/go"))
        text.update({part: late for number, part in enumerate(PARTS, 1) if f"part {number} of" in late})
        return all(text[part] for part in wanted)

    wait_until(is_complete, "every part")
    return text


def imported(client: Client, thread: str, number: int) -> None:
    """Wait until a thread has so many messages."""
    wait_until(lambda: len(stored_messages(client, thread)) >= number, f"{number} messages")


def begun(client: Client, session: str) -> str:
    """Return the thread of a session, once the daemon has begun it."""
    wait_until(lambda: session in {item.session for item in client.sessions().items}, "the session")
    thread = next(item.thread for item in client.sessions().items if item.session == session)
    assert thread is not None
    return thread


def finished(daemon: Daemon, client: Client, session: LiveSession, thread: str, number: int) -> None:
    """Wait until `number` messages are imported, end the session, and wait until it is no longer open."""
    imported(client, thread, number)
    assert hook(daemon, session.hook("SessionEnd", reason="other")) == ""
    wait_until(lambda: not [item for item in client.sessions(open=True).items if item.session == session.id])


def test_a_new_session_starts_where_the_last_one_of_the_project_stopped(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """A new session gets text of the project's last one, in Codex too; a session of another project gets none of it."""
    first = LiveSession(tmp_path, project, 21)
    assert parts(daemon, first.hook("SessionStart", source="startup"))["excerpts"] == ""
    thread = client.sessions().items[0].thread
    assert thread is not None
    first.say("Please paint the north gate green", "I have painted the north gate green. Next: the south gate.")
    finished(daemon, client, first, thread, 2)
    client.add_note(thread, "the paint is in the shed", "context")

    def next_session() -> dict[str, str]:
        number[0] += 1
        return parts(daemon, LiveSession(tmp_path, project, number[0]).hook("SessionStart", source="startup"))

    number = [100]
    wait_until(lambda: "north gate" in "".join(next_session().values()), "the text of the session before")
    text = next_session()
    assert "`note`" in text["state"]
    assert "never instructions" in text["state"]
    assert "the last session of this project (claude-code" in text["state"]
    assert text["state"].startswith("# Reverie, part 1 of 3")
    assert "north gate" in "".join(text.values())
    assert str(tmp_path) not in "".join(text.values())

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = parts(daemon, LiveSession(tmp_path, elsewhere, 23).hook("SessionStart", source="startup"))
    assert "north gate" not in "".join(other.values())
    assert (other["summary"], other["excerpts"]) == ("", "")
    by_codex = LiveSession(tmp_path, project, 24).hook("SessionStart", source="startup")
    assert "north gate" in "".join(parts(daemon, by_codex | {"transcript_path": None}, client="codex").values())


def test_what_was_purged_is_not_shown_again(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """A purged memory is missing from the start text of the next session, though earlier texts had it."""
    first = LiveSession(tmp_path, project, 25)
    parts(daemon, first.hook("SessionStart", source="startup"))
    memory = client.remember(wire.CreateMemory(content="The drawbridge winch is greased with Zanzivex"))
    first.say("Please repair the drawbridge winch", "The drawbridge winch is repaired. Next: grease the winch.")
    finished(daemon, client, first, begun(client, first.id), 2)
    numbers = count(1_000)

    def next_session() -> str:
        session = LiveSession(tmp_path, project, next(numbers))
        return "".join(parts(daemon, session.hook("SessionStart", source="startup")).values())

    wait_until(lambda: "Zanzivex" in next_session(), "the memory in the text of the session before")
    client.forget(memory.id, purge=True)
    assert "Zanzivex" not in next_session()


def test_a_compaction_is_followed_by_all_parts_once(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """After a compaction or a resume a session gets its three parts; the next start event shows none of them again."""
    long = session_file(tmp_path, 31, turns=60, noise=200)
    session = LiveSession(tmp_path, project, 31, path=long)
    event = session.hook("SessionStart", source="startup")
    parts(daemon, event)
    thread = client.start_import("claude-code", long.stem).thread
    wait_until(lambda: client.start_import("claude-code", long.stem).offset == long.stat().st_size, "the import")

    asked = hook(daemon, session.hook("PreCompact", trigger="manual", custom_instructions=""))
    assert "next step" in asked
    assert "{" not in asked
    assert "/" not in asked
    wait_until(lambda: client.thread(thread).message_count > 100)
    after = session.hook("SessionStart", source="compact")
    text = in_the_end(daemon, session, parts(daemon, after))
    assert "## Working State" in text["state"]
    assert "# Conversation Summary" in text["summary"]
    assert "excerpts" in text["excerpts"]
    assert all(len(text[part]) > 1_000 for part in PARTS)
    assert parts(daemon, session.hook("SessionStart", source="compact")) == dict.fromkeys(PARTS, "")
    assert hook(daemon, session.hook("PostCompact", trigger="manual", compact_summary="short")) == ""

    hook(daemon, session.hook("PreCompact", trigger="auto"), client="codex")
    assert hook(daemon, session.hook("PreCompact", trigger="auto"), client="codex") == ""
    hook(daemon, session.hook("PreCompact", trigger="auto"))
    resumed = in_the_end(daemon, session, parts(daemon, session.hook("SessionStart", source="resume")))
    assert resumed["summary"].startswith("# Reverie, part 2 of 3")
    assert parts(daemon, session.hook("SessionStart", source="compact")) == dict.fromkeys(PARTS, "")


def test_after_a_clear_only_the_state_is_shown(daemon: Daemon, tmp_path: Path, project: Path) -> None:
    """A start event with source `clear` or `resume` shows the state part, but neither summary nor excerpts."""
    for source in ("clear", "resume"):
        session = LiveSession(tmp_path, project, 41)
        text = in_the_end(daemon, session, parts(daemon, session.hook("SessionStart", source=source)), ["state"])
        assert text["state"].startswith("# Reverie, part 1 of 3")
        assert (text["summary"], text["excerpts"]) == ("", "")


def test_a_prompt_gets_memories_that_it_is_about_once(daemon: Daemon, tmp_path: Path, project: Path) -> None:
    """A prompt gets the memory that it is about; the same prompt again, a command and an empty one get nothing."""
    for text in UNRELATED[:60]:
        daemon.ask("POST", "/v1/memories", {"content": text, "author": "person"})
    daemon.ask(
        "POST", "/v1/memories", {"content": "The zeppelin hangar is locked with a brass key", "author": "person"}
    )
    session = LiveSession(tmp_path, project, 51)
    hook(daemon, session.hook("SessionStart", source="startup"))
    ask = "where is the brass key of the zeppelin hangar"
    text = shown(daemon, session.hook("UserPromptSubmit", prompt=ask))
    assert "brass key" in text
    assert [line[:3] for line in text.splitlines()[1:]] == ["- ["] * (len(text.splitlines()) - 1)
    assert shown(daemon, session.hook("UserPromptSubmit", prompt=ask)) == ""
    assert shown(daemon, session.hook("UserPromptSubmit", prompt="/compact")) == ""
    assert shown(daemon, session.hook("UserPromptSubmit", prompt="")) == ""


def test_a_session_that_began_without_a_daemon_is_followed(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """Whichever hook reaches the daemon first begins the session, whose messages are then imported."""
    for number, event in enumerate(("UserPromptSubmit", "Stop", "PostCompact"), 61):
        session = LiveSession(tmp_path, project, number)
        session.say("paint the gate")
        hook(daemon, session.hook(event, prompt="paint the gate"))
        imported(client, begun(client, session.id), 1)
    assert hook(daemon, LiveSession(tmp_path, project, 69).hook("SessionEnd", reason="other")) == ""


@pytest.mark.parametrize(
    ("client_name", "body", "refusal"),
    [
        ("claude-code", b'{"session_id": "a", "hook_event_na', (400, "validation_error")),
        ("claude-code", b"", (400, "validation_error")),
        ("claude-code", b"[" * 100_000, (400, "validation_error")),
        ("claude-code", b'{"session_id": "a", "hook_event_name": "PostToolUse"}', (400, "validation_error")),
        ("claude-code", b'{"session_id": 7, "hook_event_name": "Stop"}', (400, "validation_error")),
        ("emacs", b'{"session_id": "a", "hook_event_name": "Stop"}', (404, "not_found")),
        ("claude-code", b'{"session_id": "' + b"a" * (17 << 20) + b'", "hook_event_name": "Stop"}', (413, "too_large")),
    ],
)
def test_bad_input_is_refused_with_a_code(
    daemon: Daemon, client_name: str, body: bytes, refusal: tuple[int, str]
) -> None:
    """Bad input is refused with its status and error code."""
    answer = daemon.ask("POST", f"/v1/hooks/{client_name}", body)
    assert (answer.status, answer.json()["error"]) == refusal


def test_foreign_transcripts_and_ids_store_nothing(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """A hook with a file that is no transcript, or with an invalid session id, stores no session and no thread."""
    before = len(client.sessions().items), len(client.threads(limit=1000).items)
    session = LiveSession(tmp_path, tmp_path, 71)
    hook(daemon, session.hook("SessionStart", source="startup") | {"transcript_path": "/etc/passwd"})
    hook(daemon, session.hook("Stop") | {"session_id": "../../x"})
    assert (len(client.sessions().items), len(client.threads(limit=1000).items)) == before


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"])
def test_a_folder_that_no_system_has_is_answered_with_nothing(daemon: Daemon, tmp_path: Path, event: str) -> None:
    """A hook never fails, also where its folder has a zero byte."""
    session = LiveSession(tmp_path, tmp_path, 72)
    assert hook(daemon, session.hook(event) | {"cwd": "/srv/\0"}) == ""


def test_nothing_is_shown_or_recorded_in_a_pause(tmp_path: Path) -> None:
    """While recording is paused, or in an ignored folder, a hook prints nothing and no session is recorded."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        daemon.ask("PATCH", "/v1/privacy", {"paused": True})
        session = LiveSession(tmp_path, tmp_path, 81)
        assert hook(daemon, session.hook("SessionStart", source="startup")) == ""
        daemon.ask("PATCH", "/v1/privacy", {"paused": False, "ignore": str(tmp_path)})
        assert hook(daemon, session.hook("SessionStart", source="startup")) == ""
        (tmp_path.parent / f"{tmp_path.name}-link").symlink_to(tmp_path)
        linked = {"cwd": f"{tmp_path}-link"}
        assert hook(daemon, session.hook("SessionStart", source="startup") | linked) == ""
        assert client.sessions().items == []
