"""`reverie import`: chunks from the last import on, unreadable lines and files, retries, and --follow."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie import wire
from reverie.client import Client
from reverie.errors import Busy, TooLarge
from reverie.importers import find
from reveried.cli import imports, output, send_sessions
from support.cli import Cli, Routes
from support.fake_daemon import Answer, FakeDaemon, Request, envelope, fake_daemon

LINE = b'{"type":"a","uuid":"1"}\n'
SESSION = "5a0f7d0e-6a0b-4b7e-8f43-0c5f4f0d9b11"


class FakeImporter:
    """The daemon's side of the import protocol: stores the bytes of each session, whole lines only."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        self.last: dict[str, tuple[int, str]] = {}
        self.busy = 0
        self.fallback: str | None = None
        self.stale: set[str] = set()  # threads of which learning fails

    def begin(self, request: Request) -> Any:
        session = request.json["session"]
        data = self.stored.setdefault(session, b"")
        check_from, sha256 = self.last.get(session, (0, ""))
        return {
            "id": session.replace("/", "+"),
            "thread": f"thr_{session[:4]}",
            "offset": len(data),
            "lines": data.count(b"\n"),
            "checkFrom": check_from,
            "sha256": sha256,
        }

    def store_chunk(self, request: Request) -> Any:
        if self.busy:
            self.busy -= 1
            return envelope("busy", "full", status=503, retryAfter=0.01)
        session = request.path.split("/")[3].replace("+", "/")
        query = wire.parse_query(wire.ChunkQuery, request.query)
        before = self.stored[session][: query.offset]
        assert before.count(b"\n") == query.first_line - 1
        whole = len(request.body) if query.final and request.body.endswith(b"}") else request.body.rfind(b"\n") + 1
        taken = request.body[:whole]
        self.stored[session] = before + taken
        self.last[session] = (query.offset, hashlib.sha256(taken).hexdigest())
        bad = [n for n, line in enumerate(taken.splitlines(), query.first_line) if b"bad" in line]
        return {
            "offset": query.offset + whole,
            "lines": self.stored[session].count(b"\n") + (not taken.endswith(b"\n") and bool(taken)),
            "added": len(taken.splitlines()),
            "duplicates": 0,
            "redacted": taken.count(b"REDACTED"),
            "kinds": {"password": taken.count(b"REDACTED")} if b"REDACTED" in taken else {},
            "counts": {"speech": len(taken.splitlines())},
            "problems": [{"line": number, "why": "not JSON"} for number in bad],
        }

    def __call__(self, request: Request) -> Answer:
        if request.path == "/v1/health":
            return Answer({"status": "ok", "version": "1", "protocol": 1, "pid": 1, "uptimeSeconds": 1})
        if request.path == "/v1/privacy":
            return Answer({"paused": False, "ignored": []})
        if request.path.endswith("/learn"):
            if request.path.split("/")[3] in self.stale:
                return envelope("conflict", "the memories changed meanwhile", status=409)
            learnt = {"candidates": 2, "counts": {"ADD": 1, "SKIP": 1}, "tier": "GENEROUS", "operation": "7"}
            return Answer(learnt | {"fallback": self.fallback})
        answer = self.begin(request) if request.method == "POST" else self.store_chunk(request)
        return answer if isinstance(answer, Answer) else Answer(answer)


@pytest.fixture
def importer(routes: Routes) -> FakeImporter:
    """Let the fake daemon answer imports."""
    importer_ = FakeImporter()
    routes.table = _Everything(importer_)
    return importer_


class _Everything(dict[str, Any]):
    """Answers every call with one function."""

    def __init__(self, respond: Callable[[Request], Answer]) -> None:
        super().__init__()
        self._respond = respond

    def get(self, _call: str, _default: Any = None) -> Any:
        return self._respond


def session(folder: Path, text: bytes, name: str = f"{SESSION}.jsonl") -> Path:
    """Write a session file, gzipped if its name ends in .gz, and return its path."""
    path = folder / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


@pytest.mark.usefixtures("daemon")
def test_a_file_that_grows(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """An incomplete last line is not imported; another import sends only what is new, a third nothing."""
    path = session(tmp_path, b'{"type":"a","uuid":"1"}\n{"type":"b","uuid":"2"}\n{"c"')
    done = cli("import", "claude-code", str(path))
    assert (done.code, done.err) == (0, "")
    assert "2 new lines from 1 file." in done.out
    assert importer.stored[SESSION] == b'{"type":"a","uuid":"1"}\n{"type":"b","uuid":"2"}\n'
    path.write_bytes(b'{"type":"a","uuid":"1"}\n{"type":"b","uuid":"2"}\n{"type":"c","uuid":"3"}\n')
    assert "1 new line from 1 file." in cli("import", "claude-code", str(path)).out
    assert "0 new lines from 1 file." in cli("import", "claude-code", str(path)).out
    assert importer.stored[SESSION] == path.read_bytes()


@pytest.mark.usefixtures("daemon")
def test_an_answer_of_a_model_that_is_missing(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """An import prints that a model has not answered, why, and for how many threads."""
    path = session(tmp_path, b'{"type":"a","uuid":"1"}\n')
    assert "Without the model" not in cli("import", "claude-code", str(path)).out
    importer.fallback = "extraction failed (timeout): not there yet; the next run reads it again."
    said = cli("import", "claude-code", str(path)).out
    assert f"Without the model, in 1 thread: {importer.fallback}\nTo read it again: the same import again, or" in said


@pytest.mark.usefixtures("daemon")
def test_a_thread_that_cannot_be_learnt_from(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """Threads that cannot be learnt from stop no others; the report has them, and the command exits with 1."""
    for name in ("aaaa", "bbbb", "cccc"):
        session(tmp_path, b'{"type":"a","uuid":"1"}\n', f"{name}.jsonl")
    importer.stale = {"thr_aaaa", "thr_cccc"}
    done = cli("import", "claude-code", str(tmp_path))
    assert done.code == 1
    assert "3 new lines from 3 files." in done.out
    assert "Memories: 1 new" in done.out
    assert done.err == (
        "From 2 threads no memories were extracted: the memories changed meanwhile.\n"
        "To extract them: the same command again; it adds only what is new.\n"
    )
    told = cli("import", "claude-code", str(tmp_path), "--json")
    assert (json.loads(told.out)["learnt"], json.loads(told.out)["unlearnt"]) == ({"ADD": 1, "SKIP": 1}, 2)
    importer.stale.clear()
    assert cli("import", "claude-code", str(tmp_path)).code == 0


@pytest.mark.usefixtures("daemon")
def test_a_last_line_without_newline(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """The last chunk of a file whose last line has no newline is sent with `final`."""
    path = session(tmp_path, b'{"type":"a","uuid":"1"}\n{"type":"b","uuid":"2"}')
    cli("import", "claude-code", str(path))
    assert importer.stored[SESSION] == b'{"type":"a","uuid":"1"}\n{"type":"b","uuid":"2"}'


@pytest.mark.usefixtures("daemon")
def test_a_file_that_was_rewritten(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """A file with other bytes in its last chunk, or with fewer bytes, is sent from the beginning."""
    path = session(tmp_path, b'{"type":"a","uuid":"1"}\n{"type":"b","uuid":"2"}\n')
    cli("import", "claude-code", str(path))
    for text in (
        b'{"type":"x","uuid":"1"}\n{"type":"b","uuid":"2"}\n{"type":"c","uuid":"3"}\n',
        b'{"type":"y","uuid":"1"}\n',
    ):
        path.write_bytes(text)
        assert cli("import", "claude-code", str(path)).code == 0
        assert importer.stored.get(SESSION, b"") == text


@pytest.mark.usefixtures("daemon")
def test_a_gzipped_file(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """A .gz file is unpacked by the command; a truncated one is imported as far as it goes, with a message."""
    text = b"".join(b'{"type":"n","uuid":"%d"}\n' % number for number in range(2000))
    path = session(tmp_path, text, f"{SESSION}.jsonl.gz")
    assert cli("import", "claude-code", str(path)).code == 0
    assert importer.stored.get(SESSION, b"") == text
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    importer.stored.clear()
    importer.last.clear()
    done = cli("import", "claude-code", str(path))
    assert done.code == 0
    assert text.startswith(importer.stored[SESSION])
    assert "could not be read" in done.out


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=40
)
@given(
    lines=st.lists(st.integers(0, 90), max_size=40),
    piece=st.integers(1, 64),
    largest=st.integers(120, 220),
    cut=st.integers(0, 4000),
)
def test_any_chunk_size(tmp_path: Path, lines: list[int], piece: int, largest: int, cut: int) -> None:
    """For any chunk size and any earlier end of the file, every whole line arrives once, in order."""
    text = b"".join(b'{"type":"n","uuid":"%s"}\n' % (b"x" * length) for length in lines)
    path = tmp_path / f"{SESSION}.jsonl"
    socket = tmp_path / f"{time.monotonic_ns()}.sock"
    importer = FakeImporter()
    with fake_daemon(socket, importer), Client(socket) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(send_sessions, "_PIECE_BYTES", piece)
        patch.setattr(send_sessions, "CHUNK_MAX_BYTES", largest)
        for part in (text[:cut], text):
            path.write_bytes(part)
            offsets: list[int] = []
            send_sessions.import_file(client, path, program="claude-code", on_bytes=offsets.append)
            assert offsets == sorted(offsets)
    assert importer.stored.get(SESSION, b"") == text


def test_a_line_longer_than_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line longer than a chunk that the daemon does not skip is an error with its number, not an endless loop."""
    monkeypatch.setattr(send_sessions, "CHUNK_MAX_BYTES", 64)
    path = session(tmp_path, b'{"type":"a","uuid":"1"}\n' + b"x" * 500)
    longer = pytest.raises(TooLarge, match="line 2 is longer than 64 bytes")
    with fake_daemon(tmp_path / "s", FakeImporter()), Client(tmp_path / "s") as client, longer:
        send_sessions.import_file(client, path, program="claude-code")


@pytest.mark.usefixtures("daemon")
def test_busy_daemon(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """A chunk answered `busy` is sent again, up to BUSY_TRIES_MAX times."""
    importer.busy = 3
    assert cli("import", "claude-code", str(session(tmp_path, LINE))).code == 0
    assert importer.stored[SESSION] == LINE


def test_retry_delay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The delay is the daemon's retryAfter within bounds; after the last try `busy` is an error."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(send_sessions, "BUSY_TRIES_MAX", 4)
    delays = iter([0, 999, "soon", None, 1])
    path = session(tmp_path, LINE)
    importer = FakeImporter()

    def respond(request: Request) -> Answer:
        return envelope("busy", status=503, retryAfter=next(delays)) if request.method == "PUT" else importer(request)

    with fake_daemon(tmp_path / "s", respond), Client(tmp_path / "s") as client, pytest.raises(Busy):
        send_sessions.import_file(client, path, program="claude-code")
    assert waited == [0.05, 10.0, 1.0, 1.0]


@pytest.mark.usefixtures("daemon")
def test_the_report(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """The report has a row per file, the kinds of new lines, redacted secrets, and the first unreadable lines."""
    session(tmp_path, LINE + b"[REDACTED:x]\n" + b"bad\n" * 30, "a.jsonl")
    session(tmp_path, LINE, "b.jsonl")
    done = cli("import", "claude-code", str(tmp_path))
    assert done.code == 0
    for part in (
        "a.jsonl",
        "33 new lines from 2 files.",
        "New: 33 messages.",
        "Replaced 1 value: 1 password; see reverie redactions.",
        "a.jsonl:3: not JSON",
        "and 10 more lines",
    ):
        assert part in done.out
    importer.stored.clear()
    report = cli("import", "claude-code", str(tmp_path), "--json").json
    assert (report["added"], report["redacted"], report["failed"]) == (33, 1, 0)
    assert [entry["lines"] for entry in report["files"]] == [32, 1]
    assert len(report["files"][0]["problems"]) == 30


@pytest.mark.usefixtures("daemon", "importer")
def test_files_without_anything_new_are_counted(cli: Cli, tmp_path: Path) -> None:
    """Only files with new lines or errors have a row in the report, all others are counted; the JSON has all files."""
    paths = [session(tmp_path, b'{"type":"a","uuid":"1"}\n', f"{number:04}-session.jsonl") for number in range(5)]
    cli("import", "claude-code", str(tmp_path))
    paths[3].write_bytes(b'{"type":"a","uuid":"1"}\n{"type":"b","uuid":"2"}\n')
    done = cli("import", "claude-code", str(tmp_path))
    assert [path.name for path in paths if path.name in done.out] == [paths[3].name]
    assert "4 files without anything new; --json lists all." in done.out
    assert "1 new line from 5 files." in done.out
    done = cli("import", "claude-code", str(tmp_path))
    assert "File" not in done.out
    assert "5 files without anything new" in done.out
    assert len(cli("import", "claude-code", str(tmp_path), "--json").json["files"]) == 5


@pytest.mark.usefixtures("daemon", "importer")
def test_sessions_of_another_program(cli: Cli, tmp_path: Path) -> None:
    """Sessions of another program are one line with the command that imports them all, and have no rows."""
    paths = [session(tmp_path, b'{"type":"session_meta","payload":{"id":"s"}}', f"{n:02}.jsonl") for n in range(23)]
    done = cli("import", "claude-code", str(tmp_path))
    assert "failed" not in done.out
    assert done.err.splitlines() == [
        f"{paths[0]} and 22 more files is a session of codex, not of claude-code",
        f"next: reverie import codex {tmp_path}",
    ]
    done = cli("import", "claude-code", str(paths[3]))
    assert done.err.splitlines()[1:] == [f"next: reverie import codex {paths[3]}"]


@pytest.mark.usefixtures("daemon", "importer")
def test_a_file_that_cannot_be_read(cli: Cli, tmp_path: Path) -> None:
    """One file that fails does not stop the others; the exit code is 1."""
    session(tmp_path, b"PK\x03\x04zip", "a.jsonl")
    session(tmp_path, LINE, "b.jsonl")
    done = cli("import", "claude-code", str(tmp_path))
    assert done.code == 1
    assert "is an archive of files" in done.err
    assert "1 new line from 2 files." in done.out


@pytest.mark.usefixtures("daemon", "importer")
def test_nothing_to_import(cli: Cli, tmp_path: Path) -> None:
    """A folder without sessions, or a missing path, is an error that says what to give."""
    for path in (tmp_path, tmp_path / "nowhere"):
        done = cli("import", "claude-code", str(path))
        assert done.code == 1
        assert "next: give " in done.err


@pytest.mark.usefixtures("daemon")
def test_a_subagents_file_is_a_thread_of_its_own(cli: Cli, importer: FakeImporter, tmp_path: Path) -> None:
    """A subagent's file names its session; it becomes a thread of its own, `session/agent`."""
    session(tmp_path, b'{"type":"a","sessionId":"abc"}\n', "agent-7.jsonl")
    cli("import", "claude-code", str(tmp_path))
    assert list(importer.stored) == ["abc/7"]


def test_a_daemon_that_stops(cli: Cli, daemon: FakeDaemon, routes: Routes, tmp_path: Path) -> None:
    """If the daemon stops, the import stops at that file with exit code 3, and says what is stored."""
    routes["POST /v1/imports"] = Answer(hang_up=True)
    routes["GET /v1/privacy"] = {"paused": False, "ignored": []}
    session(tmp_path, LINE, "a.jsonl")
    session(tmp_path, LINE, "b.jsonl")
    run = cli("import", "claude-code", str(tmp_path))
    assert run.code == 3
    assert "0 of 2 files are in" in run.err
    assert sum(request.method == "POST" for request in daemon.requests) == 1


def taking(turns: Iterator[Callable[[], object]]) -> Callable[[float], None]:
    """Return a `sleep` that takes the next turn instead, and interrupts behind the last one."""

    def sleep(_: float) -> None:
        try:
            next(turns)()
        except StopIteration:
            raise KeyboardInterrupt from None

    return sleep


@pytest.mark.parametrize("flags", [(), ("--json",)])
@pytest.mark.usefixtures("daemon")
def test_follow(
    cli: Cli, importer: FakeImporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    """--follow imports appended lines and new files, and names unreadable ones; Ctrl-C stops it."""
    path = session(tmp_path, LINE, "a.jsonl")
    turns: Iterator[Callable[[], object]] = iter(
        [
            lambda: path.write_bytes(LINE * 2),
            lambda: None,
            lambda: session(tmp_path, LINE, "b.jsonl"),
            lambda: session(tmp_path, b"PK\x03\x04", "c.jsonl"),
        ]
    )
    monkeypatch.setattr(time, "sleep", taking(turns))
    done = cli("import", "claude-code", str(tmp_path), "--follow", *flags)
    assert done.code == 130
    assert importer.stored["a"] == LINE * 2
    assert importer.stored["b"] == LINE
    if not flags:
        assert "a.jsonl: 1 new line" in done.out
        assert "archive of files" in done.err


@pytest.mark.usefixtures("daemon")
def test_what_grows_or_fails_while_it_is_imported_is_followed(
    cli: Cli, importer: FakeImporter, routes: Routes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--follow imports what came during the first import, and again what the daemon did not take, naming that once."""
    paths = [session(tmp_path, LINE, f"{name}.jsonl") for name in "ab"]

    def answer(request: Request) -> Answer:
        if request.path.endswith("/learn") and "b" in importer.stored:
            paths[1].write_bytes(LINE * 2)
            session(tmp_path, LINE, "c.jsonl")
        return importer(request)

    routes.table = _Everything(answer)
    importer.busy = 1
    monkeypatch.setattr(send_sessions, "BUSY_TRIES_MAX", 0)

    def fail() -> None:
        importer.busy = 2
        paths[0].write_bytes(LINE * 2)

    monkeypatch.setattr(time, "sleep", taking(iter([lambda: None, fail, lambda: None, lambda: None])))
    done = cli("import", "claude-code", str(tmp_path), "--follow")
    assert importer.stored == {"a": LINE * 2, "b": LINE * 2, "c": LINE}
    assert done.err.count("full") == 2


def test_a_file_that_vanishes_while_followed(tmp_path: Path) -> None:
    """A file that is deleted between listing and stat counts as empty."""
    assert imports._stamp(tmp_path / "gone") == (0, 0)


def test_progress_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Progress is shown on a terminal only."""
    paths = [session(tmp_path, b"x" * 100, "a.jsonl"), session(tmp_path, b"x" * 100, "b.jsonl.gz")]
    with output.import_progress(paths, quiet=False) as begin:
        begin(paths[0])(50)
    with output.spinner("Thinking"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with output.import_progress(paths, quiet=False) as begin:
        for path in paths:
            begin(path)(10_000)
    with output.spinner("Thinking"):
        threading.Event().wait(0.2)
    assert "Thinking" in capsys.readouterr().err


def test_a_path_given_twice(tmp_path: Path) -> None:
    """A file that is given twice is found once."""
    path = session(tmp_path, LINE)
    assert find.find_transcripts([path, tmp_path]) == [path]
