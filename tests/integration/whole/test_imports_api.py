"""The import protocol: chunks, repeats, wrong positions, concurrent imports, rewritten and hostile files."""

from __future__ import annotations

import gzip
import hashlib
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest

from reverie.client import Client
from reverie.errors import Conflict, NotFound, ReverieError
from reverie.wire import CHUNK_MAX_BYTES, ChunkAnswer, ImportPlace
from reveried.cli import send_sessions
from support.daemon import Daemon, check_refused, running_daemon
from support.pages import newest_operation, stored_messages
from support.story import generated_session, session_file
from support.talk import main_line_messages


def sent(client: Client, position: ImportPlace, data: bytes, *, size: int) -> list[ChunkAnswer]:
    """Send all of `data` from the beginning, `size` bytes at a time; return the answers."""
    offset, line, answers = 0, 1, []
    while offset < len(data):
        piece = data[offset : offset + size]
        answer = client.send_chunk(
            position.id, piece, offset=offset, first_line=line, final=offset + len(piece) == len(data)
        )
        assert answer.offset > offset, "a piece without a whole line in it"
        answers.append(answer)
        offset, line = answer.offset, answer.lines + 1
    return answers


def mark_of(data: bytes, position: ImportPlace) -> str:
    """Return the SHA-256 of the last chunk, by which a file is recognised."""
    return hashlib.sha256(data[position.check_from : position.offset]).hexdigest()


def test_chunks_of_any_size_make_the_same_thread(client: Client) -> None:
    """Chunks of any size give the thread that the library reads from the file."""
    data = generated_session(1)
    for number, size in enumerate((6_000, 9_999, 1 << 22)):
        position = client.start_import("claude-code", f"sizes-{number}", source="/home/ann/s.jsonl")
        answers = sent(client, position, data, size=size)
        assert sum(answer.added for answer in answers) == data.count(b"\n") == answers[-1].lines
        assert stored_messages(client, position.thread) == main_line_messages(data)
        thread = client.thread(position.thread)
        assert (thread.source, thread.agent, thread.model) == ("/home/ann/s.jsonl", "claude-code", "claude-generated")
        assert thread.title is not None
        assert thread.title.startswith("The ")
        assert thread.context.tokens > 900


def test_a_long_file_is_imported_in_chunks(client: Client, tmp_path: Path) -> None:
    """A file of several chunks is imported completely; the report's bytes and lines are those of the file."""
    path = session_file(tmp_path, 12, turns=150, noise=700)
    data = path.read_bytes()
    assert len(data) > send_sessions._PIECE_BYTES
    report = send_sessions.import_file(client, path, program="claude-code")

    assert (report.bytes, report.lines, report.added) == (len(data), data.count(b"\n"), data.count(b"\n"))
    assert sum(report.counts.values()) == report.added
    assert stored_messages(client, str(report.thread)) == main_line_messages(data)


def test_the_position_of_an_import(client: Client) -> None:
    """A new import is at offset 0, a known one at its last offset with the checksum of its last chunk."""
    data = generated_session(2)
    fresh = client.start_import("claude-code", "placed")
    assert (fresh.offset, fresh.lines, fresh.check_from, fresh.sha256) == (0, 0, 0, "")
    half = data[: data.index(b"\n", len(data) // 2) + 20]
    client.send_chunk(fresh.id, half, offset=0, first_line=1)
    position = client.start_import("claude-code", "placed")

    assert (position.id, position.thread) == (fresh.id, fresh.thread)
    assert 0 < position.offset == half.rindex(b"\n") + 1
    assert position.lines == half.count(b"\n")
    assert position.sha256 == mark_of(data, position)


def test_a_chunk_that_skips_bytes_is_refused(client: Client) -> None:
    """A chunk whose offset is not the import's is refused with Conflict, which names the right offset."""
    position = client.start_import("claude-code", "gap")
    with pytest.raises(Conflict) as caught:
        client.send_chunk(position.id, b'{"type":"user"}\n', offset=10, first_line=2)
    assert caught.value.details["currentVersion"] == 0
    assert client.thread(position.thread).message_count == 0
    with pytest.raises(NotFound, match="no import"):
        client.send_chunk("imp_absent", b"{}\n", offset=0, first_line=1)


def test_a_chunk_beyond_the_limit_is_refused() -> None:
    """A chunk over CHUNK_MAX_BYTES is refused, also where the daemon accepts larger bodies."""
    with running_daemon(REVERIE_DAEMON_BODY_BYTES=str(2 * CHUNK_MAX_BYTES)) as own, Client(own.socket) as client:
        position = client.start_import("claude-code", "large")
        path = f"/v1/imports/{position.id}/chunks?offset=0&firstLine=1"
        check_refused(own.ask("PUT", path, b"x" * (CHUNK_MAX_BYTES + 1)), 413, "too_large")


def test_sending_again_adds_nothing(client: Client) -> None:
    """Lines sent again are duplicates, by uuid or by content, and make no operation."""
    data = (
        generated_session(3)
        + b'{"type":"summary","summary":"x"}\n'
        + b'{"type":"queue-operation","op":1}\n'
        + b"not json\n"
    )
    position = client.start_import("claude-code", "again")
    first = sent(client, position, data, size=1 << 22)[0]
    operation = newest_operation(client).id
    before = client.thread(position.thread)
    again = sent(client, position, data, size=7_000)

    assert first.added == data.count(b"\n")
    assert (sum(answer.added for answer in again), sum(answer.duplicates for answer in again)) == (0, first.added)
    assert again[-1].offset == len(data)
    assert newest_operation(client).id == operation
    assert client.thread(position.thread) == before


def test_bad_lines_are_reported(client: Client) -> None:
    """A line that is no JSON is reported by its number; the lines around it are imported."""
    good = generated_session(4)
    lines = good.splitlines(keepends=True)
    data = b"".join([lines[0], b"{broken\n", *lines[1:], b"[1, 2]\n", b"\xff\xfe\n", b'{"type":"user","message":7}\n'])
    position = client.start_import("claude-code", "bad")
    answer = sent(client, position, data, size=1 << 22)[0]

    assert {problem.line for problem in answer.problems} >= {2, len(lines) + 2, len(lines) + 3}
    assert answer.counts["bad"] >= 3
    assert stored_messages(client, position.thread) == main_line_messages(good)


def test_an_incomplete_line_is_left_for_the_next_chunk(client: Client) -> None:
    """An incomplete last line is left for the next chunk, also with `final`, until it parses."""
    data = generated_session(5)
    position = client.start_import("claude-code", "half")
    cut = len(data) - 40
    answer = client.send_chunk(position.id, data[:cut], offset=0, first_line=1, final=True)
    assert answer.offset == data.rindex(b"\n", 0, cut) + 1
    nothing = client.send_chunk(
        position.id, data[answer.offset : cut], offset=answer.offset, first_line=answer.lines + 1, final=True
    )
    assert (nothing.offset, nothing.added) == (answer.offset, 0)
    resumed = client.start_import("claude-code", "half")
    assert resumed.sha256 == mark_of(data, resumed)
    assert resumed.check_from < resumed.offset
    rest = data[answer.offset :].rstrip(b"\n")
    last = client.send_chunk(position.id, rest, offset=answer.offset, first_line=answer.lines + 1, final=True)
    assert last.added == 1
    assert stored_messages(client, position.thread) == main_line_messages(data)


def test_two_imports_of_one_file_at_once_add_it_once(
    daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two concurrent imports of a file succeed, and every message is stored once, in order."""
    monkeypatch.setattr(send_sessions, "_PIECE_BYTES", 16_384)
    for round_ in range(3):
        path = session_file(tmp_path, 100 + round_, turns=12, noise=150)
        reports: list[send_sessions.FileReport] = []
        failures: list[ReverieError] = []

        def bring(path: Path = path, reports: Any = reports, failures: Any = failures) -> None:
            try:
                with Client(daemon.socket) as own:
                    reports.append(send_sessions.import_file(own, path, program="claude-code"))
            except ReverieError as error:
                failures.append(error)

        threads = [threading.Thread(target=bring) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert [report.error for report in reports] == [None] * 3
        assert sum(report.added for report in reports) == path.read_bytes().count(b"\n")
        with Client(daemon.socket) as client:
            assert stored_messages(client, str(reports[0].thread)) == main_line_messages(path.read_bytes())


def test_a_rewritten_file_adds_what_is_new(client: Client, tmp_path: Path) -> None:
    """A rewritten file is read again from the start: known lines are duplicates, new ones are added."""
    path = session_file(tmp_path, 6, turns=3)
    lines = path.read_bytes().splitlines(keepends=True)
    first = send_sessions.import_file(client, path, program="claude-code")
    cut = lines[: len(lines) // 2]
    path.write_bytes(b"".join(cut))
    shorter = send_sessions.import_file(client, path, program="claude-code")
    assert (shorter.added, shorter.duplicates) == (0, len(cut))

    extra = orjson.loads(lines[0]) | {"uuid": "11111111-2222-4333-8444-555555555555", "parentUuid": None}
    path.write_bytes(b"".join([*cut, orjson.dumps(extra) + b"\n"]))
    grown = send_sessions.import_file(client, path, program="claude-code")
    assert (grown.added, grown.thread) == (1, first.thread)
    report = send_sessions.import_file(client, path, program="claude-code")
    assert (report.added, report.duplicates) == (0, 0)


def test_a_gzip_file_is_the_same_session(client: Client, tmp_path: Path) -> None:
    """Importing a session's gzipped file after the plain one adds nothing."""
    path = session_file(tmp_path, 7)
    first = send_sessions.import_file(client, path, program="claude-code")
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    again = send_sessions.import_file(client, packed, program="claude-code")
    assert (again.thread, again.added) == (first.thread, 0)


def test_a_line_beyond_the_limit_is_reported_and_skipped(client: Client) -> None:
    """A line over the size limit is reported and skipped; later lines are imported."""
    data = generated_session(8)
    position = client.start_import("claude-code", "endless")
    first = client.send_chunk(position.id, b"x" * CHUNK_MAX_BYTES, offset=0, first_line=1)
    assert first.offset == CHUNK_MAX_BYTES
    assert first.problems
    rest = client.send_chunk(
        position.id, b"tail of it\n" + data, offset=first.offset, first_line=first.lines + 1, final=True
    )
    assert rest.offset == CHUNK_MAX_BYTES + 11 + len(data)
    assert stored_messages(client, position.thread) == main_line_messages(data)


def test_secrets_are_redacted_and_counted(client: Client, daemon: Daemon) -> None:
    """Secrets in a transcript are redacted before they are stored, and counted."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    line = orjson.loads(generated_session(9).splitlines()[1])
    line["message"]["content"] = f"use {secret} to push"
    position = client.start_import("claude-code", "secret")
    answer = sent(client, position, orjson.dumps(line) + b"\n", size=1 << 20)[0]

    assert answer.redacted == 1
    [(_, content)] = stored_messages(client, position.thread)
    assert "[REDACTED:" in content
    assert secret.encode() not in (daemon.store / "data.mdb").read_bytes()


def test_a_deleted_thread_is_imported_only_when_asked_for(daemon: Daemon, client: Client) -> None:
    """The import of a deleted thread is refused, its chunks too; with `again` everything is imported anew."""
    data = generated_session(10)
    position = client.start_import("claude-code", "deleted")
    sent(client, position, data, size=1 << 22)
    client.delete_thread(position.thread, confirm=position.thread)
    refused = daemon.ask("POST", "/v1/imports", {"client": "claude-code", "session": "deleted"})
    check_refused(refused, 409, "conflict")
    assert refused.json()["details"]["forgotten"] is True
    assert "--again" in refused.json()["details"]["hint"]
    with pytest.raises(Conflict):
        client.send_chunk(position.id, data, offset=0, first_line=1, final=True)
    assert position.thread not in {thread.id for thread in client.threads(limit=1000).items}

    fresh = client.start_import("claude-code", "deleted", again=True)
    assert (fresh.thread, fresh.offset) == (position.thread, 0)
    assert sent(client, fresh, data, size=1 << 22)[0].added == data.count(b"\n")
    assert stored_messages(client, fresh.thread) == main_line_messages(data)
    assert client.start_import("claude-code", "deleted").offset == len(data)
    assert client.start_import("claude-code", "deleted", again=True).offset == len(data)


def test_an_imported_compaction_is_a_past_distillation(client: Client) -> None:
    """The summary of a client's compaction is listed as a distillation and opens the context; messages stay."""
    data = generated_session(11)
    lines = [orjson.loads(line) for line in data.splitlines()]
    middle = len(lines) // 2
    boundary = lines[middle] | {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b0000000-0000-4000-8000-000000000001",
        "compactMetadata": {"trigger": "auto", "preTokens": 1000},
        "message": None,
    }
    summary = lines[middle] | {
        "type": "user",
        "uuid": "b0000000-0000-4000-8000-000000000002",
        "isCompactSummary": True,
        "message": {"role": "user", "content": "What came before, in short: the tide came in."},
    }
    data = b"".join(orjson.dumps(line) + b"\n" for line in [*lines[:middle], boundary, summary, *lines[middle:]])
    position = client.start_import("claude-code", "compacted")
    sent(client, position, data, size=1 << 22)
    [past] = client.summaries(position.thread).items

    assert (past.number, past.imported) == (1, True)
    assert past.summary.text == "What came before, in short: the tide came in."
    assert client.thread(position.thread).distillations == 1
    answer = client.context(position.thread)
    assert answer.distillation == 1
    assert "the tide came in" in str(answer.request.messages[0])
    assert stored_messages(client, position.thread) == main_line_messages(data)


def test_text_blocks_without_text_leave_a_thread_readable(client: Client) -> None:
    """A transcript with malformed text blocks is imported; context, working state and learning work as for others."""
    lines = [
        {"type": role, "uuid": f"u{number}", "sessionId": "malformed", "message": {"role": role, "content": content}}
        for number, (role, content) in enumerate(
            [
                ("user", [{"type": "text"}, {"type": "text", "text": "Please fix the parser."}]),
                ("assistant", [{"type": "text", "text": None}]),
                ("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]),
                ("user", [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text"}]}]),
                ("user", [{"type": "text", "text": 3}]),
            ]
        )
    ]
    data = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    position = client.start_import("claude-code", "malformed", source="/home/ann/m.jsonl")
    sent(client, position, data, size=1 << 20)

    assert "Please fix the parser." in str(client.context(position.thread).request)
    assert client.working_state(position.thread).current_task == "Please fix the parser."
    client.learn(position.thread)
