"""Runs over the API: files, working memory, completion by a call, by the end of the session, and by idleness."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, Forbidden, NotFound, ValidationError
from support.daemon import Daemon, running_daemon, scratch_home
from support.stores import files_with
from support.waiting import wait_until

GUIDE = """# Queue

## Delivery

The queue delivers each message at least once, so that every consumer must be idempotent.

## Retries

Never retry a message more than five times, because the broker then drops the whole partition.
"""


def contents(client: Client) -> set[str]:
    return {memory.content for memory in client.memories(limit=1000).items}


def test_knowledge_of_files_is_learnt(client: Client) -> None:
    """Completing a run learns what its files and working memory say, with the run's id and author as provenance."""
    run = client.start_run(agent="researcher", title="The queue")
    for number in range(13):
        client.put_run_file(run.id, f"docs/part-{number}.md", GUIDE.replace("Queue", f"Queue {number}"))
    client.put_working_memory(run.id, {"broker": "the broker listens on port 5672", "tries": 3})

    result = client.complete_run(run.id)

    learnt = [item for item in client.memories(limit=1000).items if item.provenance.get("run") == run.id]
    assert any("at least once" in item.content for item in learnt)
    assert any("five times" in item.content and item.type == "mistake" for item in learnt)
    assert any("port 5672" in item.content for item in learnt)
    assert not any("created" in item.content for item in learnt)
    assert {item.provenance["authorAgentId"] for item in learnt} == {"researcher"}
    assert len(result.candidates) >= len(learnt) >= 3
    assert {change.candidate_index for change in result.changes if isinstance(change, wire.SkipChange)} <= set(
        range(len(result.candidates))
    )
    assert (result.tier, result.fallback) == ("GENEROUS", None)
    after = client.run(run.id)
    assert (after.state, after.ended_by, after.result) == ("completed", "call", result)
    assert [file.author_agent_id for file in after.files] == ["researcher"] * 13
    assert client.complete_run(run.id) == result


def test_the_same_run_again_adds_nothing(client: Client) -> None:
    """A second run with the same file adds no memory."""
    results = []
    before: set[str] = set()
    for _ in range(2):
        run = client.start_run(agent="writer")
        client.put_run_file(
            run.id, "notes/lock.md", "# Lock\n\nThe importer holds a lock on the store while it reads a file.\n"
        )
        before = contents(client)
        results.append(client.complete_run(run.id))
    assert results[0].counts["ADD"] >= 1
    assert "ADD" not in results[1].counts
    assert contents(client) == before
    client.undo(str(results[0].operation))
    assert not any("importer holds a lock" in text for text in contents(client))


def test_the_context_is_that_of_the_document(client: Client) -> None:
    """The text that a run is learnt from has whole files, working memory, and 20 messages of 500 characters each."""
    thread = client.create_thread(agent="coder")
    client.append(thread.id, [{"role": "user", "content": "before the run"}])
    run = client.start_run(thread=thread.id)
    assert run.agent == "coder"
    long = "x" * 600
    said = [{"role": ("user", "assistant")[number % 2], "content": f"message {number}. {long}"} for number in range(24)]
    client.append(thread.id, said)
    whole = "# Whole\n\n" + "A line of a long file.\n" * 20_000
    client.put_run_file(run.id, "b/whole.md", whole)
    client.put_run_file(run.id, "a.md", "# Short\n")
    client.put_working_memory(run.id, {"port": 80, "host": "quay"})

    context = client.run_context(run.id)

    files, _, rest = context.text.partition("\n\n## Working Memory\n")
    assert files == f"## Files Created This Run\n\n### a.md\n# Short\n\n### b/whole.md\n{whole.rstrip()}"
    memory, _, history = rest.partition("\n\n## Session Histories\n")
    assert memory == "host: quay\nport: 80"
    heading, *lines = history.split("\n")
    assert heading == f"### {thread.id}"
    assert len(lines) == 20
    assert lines[0].startswith("user: message 4. ")
    assert {len(line.partition(": ")[2]) for line in lines} == {500}
    assert context.tokens > 20_000


def test_files_that_tools_wrote(client: Client) -> None:
    """A file that a tool call of the thread wrote and edited is a file of the run; a failed or read one is not."""
    thread = client.create_thread(agent="coder")
    run = client.start_run(thread=thread.id)
    calls: list[tuple[str, dict[str, Any], bool]] = [
        (
            "Write",
            {"file_path": "/srv/quay/docs/cache.md", "content": "# Cache\n\nThe cache keeps entries for an hour.\n"},
            False,
        ),
        (
            "Edit",
            {"file_path": "/srv/quay/docs/cache.md", "old_string": "an hour", "new_string": "nine minutes in memory"},
            False,
        ),
        ("Write", {"file_path": "/srv/quay/docs/failed.md", "content": "# Failed\n"}, True),
        ("Read", {"file_path": "/srv/quay/docs/read.md"}, False),
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Document the cache."}]
    for number, (name, given, failed) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok", "is_error": failed}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    client.append(thread.id, [*messages, {"role": "assistant", "content": "Done."}])

    client.complete_run(run.id)

    (file,) = client.run(run.id).files
    assert (file.source, file.author_agent_id, file.path.endswith("cache.md")) == ("tool", "coder", True)
    assert (
        client.run_file(run.id, file.path).content == "# Cache\n\nThe cache keeps entries for nine minutes in memory.\n"
    )
    assert any("nine minutes in memory" in text for text in contents(client))
    assert client.learn(thread.id).operation is None


def test_files_that_patches_of_codex_wrote(client: Client) -> None:
    """A file that a Codex patch added is a file of the run, with the changes of later patches."""
    thread = client.create_thread(agent="coder")
    run = client.start_run(thread=thread.id)
    patches = (
        "*** Add File: docs/cache.md\n+# Cache\n+\n+The cache keeps entries for an hour.\n+It is slow.\n",
        "*** Update File: docs/cache.md\n@@\n-The cache keeps entries for an hour.\n+It has nine minutes in memory.\n",
    )
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Document the cache."}]
    for number, patch in enumerate(patches):
        given = {"input": f"*** Begin Patch\n{patch}*** End Patch"}
        use = {"type": "tool_use", "id": f"t{number}", "name": "apply_patch", "input": given}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "Exit code: 0\nOutput:\nSuccess"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    client.append(thread.id, messages)

    client.complete_run(run.id)

    (file,) = client.run(run.id).files
    assert (file.path, file.source, file.author_agent_id) == ("docs/cache.md", "tool", "coder")
    text = str(client.run_file(run.id, file.path).content)
    assert text.rstrip() == "# Cache\n\nIt has nine minutes in memory.\nIt is slow."
    assert any("nine minutes in memory" in text for text in contents(client))


def test_binary_and_large_files_are_noted(client: Client) -> None:
    """Binary and large files of a run are recorded without their content; secrets in its text files are redacted."""
    run = client.start_run(agent="coder")
    assert client.put_run_file(run.id, "logo.png", b"\x89PNG\r\n\x1a\n\x00\x00").omitted == "binary"
    assert client.put_run_file(run.id, "latin.txt", "Grüße".encode("latin-1")).omitted == "binary"
    large = client.put_run_file(run.id, "data.csv", "1,2,3\n" * 1_700_000)
    assert (large.omitted, large.size) == ("large", 10_200_000)
    assert client.run_file(run.id, "data.csv").content is None
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    client.put_run_file(run.id, "deploy.md", f"# Deploy\n\nThe deployment reads {secret} from the environment.\n")
    assert secret not in str(client.run_file(run.id, "deploy.md").content)
    client.complete_run(run.id)
    assert not any(secret in text for text in contents(client))


@pytest.mark.parametrize("path", ["/etc/passwd", "../a.md", "a/../../b.md", "a//b.md"])
def test_a_path_that_leads_outside_is_refused(client: Client, daemon: Daemon, path: str) -> None:
    run = client.start_run(agent="coder")
    answer = daemon.ask("PUT", f"/v1/runs/{run.id}/files/{path.replace('/', '%2F')}", {"content": "x"})
    assert (answer.status, answer.json()["error"]) == (400, "validation_error")


def test_errors(client: Client, daemon: Daemon) -> None:
    """Unknown runs, changes of a completed run, invalid base64 and another agent's name raise their own errors."""
    for unknown in (client.run, client.complete_run, client.run_context):
        with pytest.raises(NotFound):
            unknown("run_none")
    with pytest.raises(NotFound):
        client.start_run(thread="thr_none")
    run = client.start_run(agent="coder")
    answer = daemon.ask("PUT", f"/v1/runs/{run.id}/files/a.bin", {"content": "%", "encoding": "base64"})
    assert answer.status == 400
    with pytest.raises(NotFound):
        client.run_file(run.id, "a.md")
    client.complete_run(run.id)
    with pytest.raises(Conflict):
        client.put_run_file(run.id, "a.md", "late")
    with pytest.raises(Conflict):
        client.put_working_memory(run.id, {})
    with Client(daemon.socket, token=client.create_token("default", agent="mole").token) as agent:
        with pytest.raises(Forbidden):
            agent.start_run(agent="coder")
        own = agent.start_run()
        assert own.agent == "mole"
        agent.put_run_file(own.id, "a.md", "# A\n")
        assert agent.run(own.id).files[0].author_agent_id == "mole"
        with pytest.raises(ValidationError):
            agent.start_run(title="")


def test_calls_at_the_same_time_have_one_result(client: Client, daemon: Daemon) -> None:
    """A run that six callers complete at once is completed once, and each of them gets the same result."""
    run = client.start_run(agent="writer")
    client.put_run_file(run.id, "a.md", GUIDE.replace("Queue", "Relay"))

    with ThreadPoolExecutor(6) as pool:
        path = f"/v1/runs/{run.id}/complete"
        answers = [answer.result() for answer in [pool.submit(daemon.ask, "POST", path) for _ in range(6)]]

    assert [answer.status for answer in answers] == [200] * 6
    assert {answer.body for answer in answers} == {answers[0].body}
    assert client.run(run.id).result == client.complete_run(run.id)


def test_runs_are_listed(client: Client) -> None:
    """Runs are listed newest first, filtered by state, in pages."""
    begun = [client.start_run(title=str(number)).id for number in range(3)]
    listed = client.runs(state="running", limit=2)
    assert [run.id for run in listed.items] == begun[:0:-1]
    assert client.runs(state="running", limit=1, after=listed.next).items[0].id == begun[0]
    client.complete_run(begun[0])
    assert begun[0] in {run.id for run in client.runs(state="completed").items}


def test_a_run_ends_with_its_session(client: Client, tmp_path: Any) -> None:
    """A run is completed by the daemon when the session of its thread has ended, and its files are learnt from."""
    session = client.start_session(wire.StartSession(client="codex", session="s-1", project=str(tmp_path)))
    run = client.start_run(thread=session.thread, agent="codex")
    client.put_run_file(run.id, "a.md", "# Ports\n\nThe ledger service listens on port 7070 in every environment.\n")
    client.end_session("codex", "s-1")
    wait_until(lambda: client.run(run.id).state == "completed")
    assert client.run(run.id).ended_by == "session"
    assert any("port 7070" in text for text in contents(client))


def test_a_run_that_is_idle_ends() -> None:
    """A run without a call for the configured minutes is completed by the daemon; one with a later call is not."""
    with scratch_home() as home:
        clock = home / "clock"
        clock.write_text("2026-05-04T12:00:00Z")
        with running_daemon(home, REVERIE_RUNS_IDLE_MINUTES="30") as daemon, Client(daemon.socket) as client:
            idle, busy = client.start_run(agent="coder"), client.start_run(agent="coder")
            clock.write_text("2026-05-04T12:20:00Z")
            client.put_working_memory(busy.id, {"a": "b"})
            clock.write_text("2026-05-04T12:40:00Z")
            wait_until(lambda: client.run(idle.id).state == "completed")
            assert client.run(idle.id).ended_by == "idle"
            assert client.run(busy.id).state == "running"


def test_files_of_a_watched_folder_join_the_run(tmp_path: Path) -> None:
    """Files written in a watched folder during a run join it; ignored, private, older and already given ones do not."""
    work, private = tmp_path / "work", tmp_path / "work" / "private"
    private.mkdir(parents=True)
    (work / ".gitignore").write_text("*.log\n")
    (work / "old.md").write_text("# Old\n\nThe old service listens on port 1111 in every environment.\n")
    os.utime(work / "old.md", (1, 1))
    with running_daemon(REVERIE_WORKSPACE_PATHS=f'["{work}"]') as daemon, Client(daemon.socket) as client:
        client.change_privacy(wire.ChangePrivacy(ignore=str(private)))
        wait_until(lambda: time.time() > (work / "old.md").stat().st_ctime + 0.1)
        run = client.start_run(agent="coder")
        client.put_run_file(run.id, "given.md", "# Given\n\nThe ledger listens on port 7070 in every environment.\n")
        for name in ("new.md", "given.md", "a.log", "private/secret.md"):
            (work / name).write_text(f"# Ports\n\nThe {name[0]} service listens on port 8080 in every environment.\n")
        (work / "a.bin").write_bytes(b"\0")
        client.complete_run(run.id)
        files = {file.path: file for file in client.run(run.id).files}
        assert set(files) == {"given.md", "new.md", "a.bin"}
        assert [files[name].source for name in ("given.md", "new.md", "a.bin")] == ["api", "folder", "folder"]
        assert (files["new.md"].author_agent_id, files["a.bin"].omitted) == ("coder", "binary")
        assert any("n service listens on port 8080" in text for text in contents(client))
        assert not any("1111" in text or "p service" in text for text in contents(client))
        assert client.complete_run(run.id) == client.run(run.id).result


def test_of_two_agents_at_work_nobody_is_the_author(tmp_path: Path) -> None:
    """A file written in a watched folder while two agents have runs joins both runs, without an author."""
    with running_daemon(REVERIE_WORKSPACE_PATHS=f'["{tmp_path}"]') as daemon, Client(daemon.socket) as client:
        runs = [client.start_run(agent=agent) for agent in ("ann", "bob")]
        (tmp_path / "a.md").write_text("# Ports\n\nThe ledger service listens on port 7070 in every environment.\n")
        for run in runs:
            client.complete_run(run.id)
            assert [(file.path, file.author_agent_id) for file in client.run(run.id).files] == [("a.md", None)]
        (learnt,) = [item for item in client.memories(limit=1000).items if "7070" in item.content]
        assert "authorAgentId" not in learnt.provenance


def test_a_purged_thread_takes_its_runs_along(client: Client, daemon: Daemon) -> None:
    """Purging a thread deletes its runs; no file under the home has the words of their files or titles."""
    word = "Zanziquokvexlom"
    thread = client.create_thread()
    client.append(thread.id, [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}])
    run = client.start_run(thread=thread.id, title=word)
    client.put_run_file(run.id, "a.md", f"# Hosts\n\nThe staging host is called {word} in all documents.\n")
    client.put_working_memory(run.id, {"host": f"{word} is the host"})
    client.complete_run(run.id)
    client.delete_thread(thread.id, confirm=thread.id, purge=True)
    with pytest.raises(NotFound):
        client.run(run.id)
    assert files_with(daemon.home, word) == []
