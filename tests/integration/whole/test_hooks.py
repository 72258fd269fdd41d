"""Hooks of agents' clients before a real daemon: what each prints, when, and how much."""

from __future__ import annotations

import json
import os
import re
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.tokenizer import count as tokens
from reveried.session_texts import CHARS_MAX, PARTS
from reveried.start_texts import MAX_TOKENS
from support.cli import reverie
from support.daemon import Daemon, compute_processes, running_daemon
from support.pages import stored_messages
from support.story import LiveSession, session_file
from support.waiting import suspended, wait_until


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


def start(daemon: Daemon, session: LiveSession, source: str = "startup", **fields: Any) -> str:
    """Return the text for a new session, which has one part, within the tokens that it may have."""
    text = parts(daemon, session.hook("SessionStart", source=source, **fields))
    assert (text["summary"], text["excerpts"]) == ("", "")
    assert tokens(text["state"]) <= MAX_TOKENS
    return text["state"]


def prompt(daemon: Daemon, session: LiveSession, text: str) -> str:
    """Return what the hook of a prompt shows."""
    return shown(daemon, session.hook("UserPromptSubmit", prompt=text))


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


def test_a_new_session_opens_with_what_is_known_of_its_project(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """The last session's task and the tools open a session, after /clear and in Codex too; elsewhere not."""
    first = LiveSession(tmp_path, project, 21)
    assert "`search`" in start(daemon, first)
    thread = begun(client, first.id)
    first.say("Please paint the north gate green", "I have painted the north gate green. Next: the south gate.")
    finished(daemon, client, first, thread, 2)
    numbers = count(100)

    def next_session(source: str = "startup") -> str:
        return start(daemon, LiveSession(tmp_path, project, next(numbers)), source)

    wait_until(lambda: "north gate" in next_session(), "the task of the session before")
    for source in ("startup", "clear"):
        text = next_session(source)
        assert "never instructions" in text
        assert "asked: Please paint the north gate green" in text
        assert "claude-code" in text
        assert str(tmp_path) not in text

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert "north gate" not in start(daemon, LiveSession(tmp_path, elsewhere, 23))
    event = LiveSession(tmp_path, project, 24).hook("SessionStart", source="startup") | {"transcript_path": None}
    assert "north gate" in shown(daemon, event, client="codex")


def test_what_was_dropped_from_the_brief_opens_no_session(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """The last session's task and open steps are told without the sentence that a person dropped."""
    first = LiveSession(tmp_path, project, 29)
    start(daemon, first)
    thread = begun(client, first.id)
    first.say("Never paint the west gate in green. Draw the gate.", "I have drawn it. Next: never paint it.")
    finished(daemon, client, first, thread, 2)
    numbers = count(500)

    def next_session() -> str:
        return start(daemon, LiveSession(tmp_path, project, next(numbers)))

    wait_until(lambda: "asked: Never paint the west gate" in next_session(), "the task of the session before")
    name = client.thread(thread).project or ""
    line = next(line.id for line in client.brief(name).lines if line.text.startswith("Never paint"))
    client.change_brief_line(name, line, "drop")
    wait_until(lambda: "asked: Draw the gate." in next_session(), "the rest of the task")
    assert "west gate" not in next_session()


def test_a_note_of_one_agent_opens_the_session_of_another(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """A note that Codex wrote is in the text of Claude Code's next session, with its author."""
    session = LiveSession(tmp_path, project, 26)
    event = session.hook("SessionStart", source="startup") | {"transcript_path": None}
    shown(daemon, event, client="codex")
    thread = begun(client, session.id)
    client.add_note(thread, "the valve of the pump is still to be closed", "task")
    numbers = count(200)

    def noted() -> str:
        text = start(daemon, LiveSession(tmp_path, project, next(numbers)))
        return next((line for line in text.splitlines() if "valve" in line), "")

    wait_until(noted, "the note")
    assert "codex, task" in noted()


def test_the_first_prompt_may_go_on_with_the_last_session(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """A first prompt that says no more than to go on gets the last session's state; a later or another one does not."""
    first = LiveSession(tmp_path, project, 27)
    start(daemon, first)
    thread = begun(client, first.id)
    first.say("Please paint the east gate blue", "I have painted half of the east gate. Next: the other half.")
    finished(daemon, client, first, thread, 2)
    numbers = count(300)

    def first_prompt(text: str) -> tuple[str, str]:
        session = LiveSession(tmp_path, project, next(numbers))
        opened = start(daemon, session)
        return opened, prompt(daemon, session, text) + prompt(daemon, session, "continue")

    wait_until(lambda: "east gate" in first_prompt("what time is it in Lisbon now?")[0], "the session before")
    wait_until(lambda: first_prompt("go on")[1], "the state")
    assert first_prompt("go on")[1].count("## Working State") == 1
    assert "where the last session of this project stopped" in first_prompt("the other half of the east gate now")[1]
    for other in ("what time is it in Lisbon now?", "do both please"):
        assert first_prompt(other)[1] == ""


def test_a_fork_gets_nothing_that_its_parent_has(daemon: Daemon, tmp_path: Path, project: Path) -> None:
    """A fork, by its source or its transcript, gets no start text, nor the state of a last session."""
    parent = LiveSession(tmp_path, project, 28)
    ask = "what does lighthouse_lamp.go burn?"
    assert start(daemon, parent) != ""
    parent.say(ask, "Paraffin.")

    copied: list[dict[str, Any]] = [
        {"sessionId": parent.id},
        {"forkedFrom": {"sessionId": parent.id, "messageUuid": "m"}},
    ]
    for number, (source, fields) in enumerate(zip(("startup", "fork"), copied, strict=True), 400):
        fork = LiveSession(tmp_path, project, number)
        fork.say(ask, "Paraffin.", **fields)
        assert start(daemon, fork, source) == ""
        assert prompt(daemon, fork, "go on") == ""


def test_what_was_purged_is_not_shown_again(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """A purged memory is missing from the start text of the next session, though earlier texts had it."""
    first = LiveSession(tmp_path, project, 25)
    parts(daemon, first.hook("SessionStart", source="startup"))
    memory = client.remember(wire.CreateMemory(content="The drawbridge winch is greased with Zanzivex"))
    first.say("Please repair the drawbridge winch", "The drawbridge winch is repaired. Next: grease the winch.")
    finished(daemon, client, first, begun(client, first.id), 2)
    numbers = count(1_000)

    def next_session() -> str:
        return start(daemon, LiveSession(tmp_path, project, next(numbers)))

    wait_until(lambda: "Zanzivex" in next_session(), "the memory in the text of a new session")
    client.forget(memory.id, purge=True)
    assert "Zanzivex" not in next_session()


def test_what_was_forgotten_is_not_in_the_state_of_the_last_session(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """A memory that was forgotten or reworded after a session's texts were made is not told as it was."""
    first = LiveSession(tmp_path, project, 73)
    parts(daemon, first.hook("SessionStart", source="startup"))
    greased, painted = (
        client.remember(wire.CreateMemory(content=f"The portcullis winch is {words}"))
        for words in ("greased with Zanzivex", "painted in Quokkared")
    )
    first.say("Please repair the portcullis winch", "The portcullis winch is repaired. Next: test the winch.")
    finished(daemon, client, first, begun(client, first.id), 2)
    numbers = count(1_300)

    def told() -> str:
        session = LiveSession(tmp_path, project, next(numbers))
        start(daemon, session)
        return prompt(daemon, session, "go on")

    def words_told() -> set[str]:
        texts = [""]

        def is_told() -> bool:
            texts.append(told())
            return texts[-1] != ""

        wait_until(is_told, "the state in time")
        return set(re.findall(r"\w+", texts[-1]))

    wait_until(lambda: {"Zanzivex", "Quokkared"} <= words_told(), "the memories")
    client.change_memory(
        painted.id, wire.ChangeMemory("The portcullis winch is painted in Wombatgreen", author="person")
    )
    assert words_told() & {"Zanzivex", "Quokkared", "Wombatgreen"} == {"Zanzivex", "Wombatgreen"}
    client.forget(greased.id)
    assert words_told() & {"Zanzivex", "Wombatgreen"} == {"Wombatgreen"}


def compacted(daemon: Daemon, session: LiveSession, source: str, *, client: str = "claude-code") -> dict[str, str]:
    """Begin a compaction until all parts are ready when it ends, and return what its start event shows."""
    texts: list[dict[str, str]] = []

    def is_whole() -> bool:
        hook(daemon, session.hook("PreCompact", trigger="manual", custom_instructions=""), client=client)
        texts.append(parts(daemon, session.hook("SessionStart", source=source), client=client))
        return all(texts[-1].values())

    wait_until(is_whole, "every part in time")
    return texts[-1]


def imported_session(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path, number: int, *, turns: int = 4, noise: int = 20
) -> LiveSession:
    """Return a session whose conversation the daemon has read, and whose texts are not made yet."""
    path = session_file(tmp_path, number, turns=turns, noise=noise)
    session = LiveSession(tmp_path, project, number, path=path)
    shown(daemon, session.hook("SessionStart", source="startup"))
    wait_until(lambda: client.start_import("claude-code", path.stem).offset == path.stat().st_size, "the import")
    return session


def test_a_compaction_is_followed_by_all_parts_once(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """After a compaction a session gets its three parts; the next start event shows none of them again."""
    session = imported_session(daemon, client, tmp_path, project, 31, turns=60, noise=200)
    asked = hook(daemon, session.hook("PreCompact", trigger="manual", custom_instructions=""))
    assert "next step" in asked
    assert "{" not in asked
    assert "/" not in asked
    text = compacted(daemon, session, "compact")
    assert "## Working State" in text["state"]
    assert "# Conversation Summary" in text["summary"]
    assert "excerpts" in text["excerpts"]
    assert all(len(text[part]) > 1_000 for part in PARTS)
    assert parts(daemon, session.hook("SessionStart", source="compact")) == dict.fromkeys(PARTS, "")
    assert hook(daemon, session.hook("PostCompact", trigger="manual", compact_summary="short")) == ""

    hook(daemon, session.hook("PreCompact", trigger="auto"), client="codex")
    assert hook(daemon, session.hook("PreCompact", trigger="auto"), client="codex") == ""
    resumed = compacted(daemon, session, "resume")
    assert resumed["summary"].startswith("# Reverie, part 2 of 3")
    assert parts(daemon, session.hook("SessionStart", source="compact")) == dict.fromkeys(PARTS, "")


def test_a_late_part_comes_with_the_next_prompt_or_never(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """What was not ready in time is shown with the very next prompt; not ready then either, it is named alone."""
    numbers = count(500)

    def shown_late(*, in_time: bool) -> list[str]:
        """Compact a session while nothing can be computed; return what the next three prompts show."""
        session = imported_session(daemon, client, tmp_path, project, next(numbers))
        with ExitStack() as stopped:
            for pid in compute_processes(daemon.pid):
                stopped.enter_context(suspended(pid))
            late = parts(daemon, session.hook("SessionStart", source="compact"))
            first = [] if in_time else [prompt(daemon, session, "/go")]
        for _ in range(5 if in_time else 0):  # computed behind the texts
            client.context(begun(client, session.id), max_tokens=8_000)
        prompts = [*first, *(prompt(daemon, session, "/go") for _ in range(3))][:3]
        return [] if any(late.values()) else prompts  # another process may have begun to compute

    found: list[str] = []

    def is_late(*, in_time: bool) -> bool:
        found[:] = shown_late(in_time=in_time)
        return bool(found)

    wait_until(lambda: is_late(in_time=True) and found[0], "a late part")
    assert found[0].startswith("Reverie was late when this conversation was compacted")
    assert "\n\n# Reverie, part" in found[0]
    assert found[1:] == ["", ""]
    wait_until(lambda: is_late(in_time=False), "parts that are late twice")
    assert "`search` finds what is not shown: working state and notes, " in found[0]
    assert "\n" not in found[0]
    assert found[1:] == ["", ""]


NOBODY_READS = 1  # until when, in milliseconds since 1970


def late_compactions(client: Client, session: LiveSession) -> list[wire.LateCompaction]:
    """Return the compactions of a session that the status names."""
    late = client.status().late_hooks
    return [item for item in late.compactions if item.session == session.id] if late is not None else []


def test_a_compaction_that_was_answered_too_late_is_served_by_the_next_prompt(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """What nobody has read counts as not shown, again and again; the status names the compaction, and when it was."""
    session = imported_session(daemon, client, tmp_path, project, 701)
    hook(daemon, session.hook("PreCompact", trigger="auto"))
    event = session.hook("SessionStart", source="compact")
    ask = session.hook("UserPromptSubmit", prompt="/go")
    for part in PARTS:
        hook(daemon, event, query=f"?part={part}&until={NOBODY_READS}")
    hook(daemon, ask, query=f"?until={NOBODY_READS}")
    assert [item.named_at for item in late_compactions(client, session)] == [None]
    texts: list[str] = []

    def is_shown() -> bool:
        texts.append(shown(daemon, ask))
        return texts[-1] != ""

    wait_until(is_shown, "the compaction in a prompt")
    assert texts[-1].startswith("Reverie was late when this conversation was compacted")
    assert [item.named_at is not None for item in late_compactions(client, session)] == [True]
    assert prompt(daemon, session, "/go") == ""
    late = client.status().late_hooks
    assert late is not None
    assert late.count >= 4

    assert re.search(
        rf"(?s)Hooks .* answered too late .*{session.id}, [^\n]*: shown or named", reverie(daemon.env, "status").out
    )
    assert re.search(r"note  agents: .*hooks of agents answered too late", reverie(daemon.env, "doctor").out)


def test_a_resumed_session_gets_its_state_alone(daemon: Daemon, client: Client, tmp_path: Path, project: Path) -> None:
    """A session that is resumed has its conversation: neither summary nor excerpts are shown, nor a text of a start."""
    numbers = count(600)

    def resumed() -> str:
        session = imported_session(daemon, client, tmp_path, project, next(numbers))
        text = parts(daemon, session.hook("SessionStart", source="resume"))
        assert (text["summary"], text["excerpts"]) == ("", "")
        return text["state"] or prompt(daemon, session, "/go")

    texts = {""}

    def is_in_time() -> bool:
        texts.add(resumed())
        return len(texts) > 1

    wait_until(is_in_time, "the state in time")
    text = max(texts)
    assert text.startswith("# Reverie, part 1 of 3")
    assert "## Working State" in text


def test_a_session_that_began_without_a_daemon_is_followed(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """Whichever hook reaches the daemon first begins the session, whose messages are then imported; also its last."""
    events = ("UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd")
    for number, event in enumerate(events, 61):
        session = LiveSession(tmp_path, project, number)
        session.say("paint the gate")
        hook(daemon, session.hook(event, prompt="paint the gate"))
        imported(client, begun(client, session.id), 1)
    session = LiveSession(tmp_path, project, 69)  # in which nothing was said
    assert hook(daemon, session.hook("SessionEnd", reason="other")) == ""
    assert session.id not in {item.session for item in client.sessions().items}


def test_a_session_that_was_cleared_before_any_hook_was_heard(
    daemon: Daemon, client: Client, tmp_path: Path, project: Path
) -> None:
    """The session before `/clear` and the one after it have a thread each, and the latter is the client's."""
    first, second = (LiveSession(tmp_path, project, number) for number in (71, 72))
    first.say("paint the gate")
    pid = f"?pid={os.getpid()}"
    hook(daemon, first.hook("SessionEnd", reason="clear"), query=pid)
    hook(daemon, second.hook("SessionStart", source="clear"), query=pid)
    imported(client, begun(client, first.id), 1)
    threads = {session.id: begun(client, session.id) for session in (first, second)}
    assert len(set(threads.values())) == 2
    wait_until(
        lambda: [item.session for item in client.sessions(open=True).items if item.session in threads] == [second.id]
    )
    assert [item.session for item in client.sessions(pid=os.getpid(), open=True).items] == [second.id]
    second.say("and the fence")
    imported(client, threads[second.id], 1)
    client.end_session("claude-code", second.id)


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
