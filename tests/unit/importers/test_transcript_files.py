"""Story files: discovery, compression, refusals of other files, and reading in bounded memory."""

from __future__ import annotations

import gzip
import io
import os
import random
import socket
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from reverie.errors import Forbidden, NotFound, ReverieError, StorageFailed, TooLarge, ValidationError
from reverie.importers import find
from reverie.importers.chunks import ChunkPlan, PartialLine
from reverie.importers.find import Unpacked, unpacked
from reverie.models import Entry, EntryKind
from support.story import Story

SESSION = "0d3f9b14-1f89-4bc8-b69c-2396e3aa6d50"


def talk(lines: int, *, width: int = 10) -> bytes:
    """Return a transcript whose text does not compress."""
    words, transcript = random.Random(lines), Story()
    for number in range(lines):
        transcript.user(f"{number} {words.randbytes(width).hex()}")
    return transcript.bytes()


def zstd(data: bytes, *, repeated: bytes = b"", times: int = 0) -> bytes:
    """Return a zstd frame (RFC 8878) of plain blocks of `data`, then of `times` 100 KiB of one byte."""
    blocks = [(0, len(part), part) for at in range(0, len(data), 1000) if (part := data[at : at + 1000])]
    blocks += [(1, 100 * 1024, repeated)] * times + [(0, 0, b"")]
    packed = b"\x28\xb5\x2f\xfd\0\x58"
    for number, (kind, size, part) in enumerate(blocks, 1):
        packed += (size << 3 | kind << 1 | (number == len(blocks))).to_bytes(3, "little") + part
    return packed


def stream_of(packed: bytes, *, limit: int = 99) -> Unpacked:
    """Return the unpacked stream of these bytes."""
    stream = unpacked(packed[:4], io.BytesIO(packed).read, limit=limit)
    assert stream is not None
    return stream


def check_refused(path: Path, error: type[ReverieError], message: str) -> None:
    """Assert that opening this file fails at once with this error and a hint."""
    with pytest.raises(error, match=message) as caught:
        list(find.read_chunks(path))
    assert caught.value.hint


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_a_transcript_is_read_plain_or_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    """A plain and a packed transcript give the same entries, numbered from 1, for any chunk size and file name."""
    data = talk(50)
    path = tmp_path / "odd.name"
    path.write_bytes(pack(data))
    entries = list(find.read_entries(path))
    assert [(entry.seq, entry.line) for entry in entries] == [(number, number) for number in range(1, 51)]
    for size in (1, 7, 100, 4096):
        monkeypatch.setattr(find, "CHUNK_BYTES", size)
        assert list(find.read_entries(path, tokens=False)) == [replace(entry, tokens=0) for entry in entries]


@pytest.mark.parametrize("packed", [False, True])
def test_reading_resumes_at_the_last_offset(tmp_path: Path, *, packed: bool) -> None:
    """A growing file is read on from the offset, line and state of the last chunk without loss or repetition."""
    data = talk(6)
    path = tmp_path / "s.jsonl"
    entries: list[Entry] = []
    offset, line, inside = 0, 1, PartialLine.NOTHING
    for size in (0, 10, 300, 300, 700, len(data) - 1, len(data)):
        path.write_bytes(gzip.compress(data[:size]) if packed else data[:size])
        for plan in find.read_chunks(path, offset=offset, first_line=line, inside=inside):
            entries += plan.entries
            offset, line, inside = offset + plan.consumed, line + plan.lines, plan.inside
    path.write_bytes(data)
    assert [replace(entry, seq=seq) for seq, entry in enumerate(entries, 1)] == list(find.read_entries(path))
    assert (offset, line, inside) == (len(data), 7, PartialLine.NOTHING)


def test_an_empty_file_is_an_empty_transcript(tmp_path: Path) -> None:
    """An empty file gives no entries and no errors."""
    for name, data in (("a.jsonl", b""), ("b.jsonl.gz", gzip.compress(b""))):
        (tmp_path / name).write_bytes(data)
        assert [plan.entries for plan in find.read_chunks(tmp_path / name)] == [()]


def test_a_truncated_gzip_stream_gives_its_readable_lines(tmp_path: Path) -> None:
    """A truncated gzip file gives its complete lines and one error for the file."""
    data = talk(200)
    packed = gzip.compress(data)
    path = tmp_path / "s.jsonl.gz"
    for size in (0, 1, 5, 10, 11, 100, 2000, len(packed) - 8, len(packed) - 1):
        path.write_bytes(packed[:size])
        plans = list(find.read_chunks(path))
        entries = [entry for plan in plans for entry in plan.entries]
        problems = [problem for plan in plans for problem in plan.problems]
        assert all(entry.kind is EntryKind.SPEECH for entry in entries) or size == 1
        assert len(entries) >= (200 if size >= len(packed) - 8 else (size - 11) * 200 // len(packed) - 3)
        if size > 1:
            assert [problem.line for problem in problems] == [0]
            assert "cut off" in problems[0].why


def test_a_damaged_gzip_stream_gives_the_lines_before_the_damage(tmp_path: Path) -> None:
    """Lines before a damaged place in a gzip stream are read, and the damage is reported."""
    data = talk(200)
    packed = bytearray(gzip.compress(data))
    position = len(packed) // 2
    packed[position] ^= 0xFF
    packed[position + 1] ^= 0xFF
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(bytes(packed))
    entries = list(find.read_entries(path))
    problems = [problem.why for plan in find.read_chunks(path) for problem in plan.problems]
    assert len(entries) > 80
    assert "damaged" in problems[-1]


def test_a_wrong_checksum_at_the_end_costs_no_line(tmp_path: Path) -> None:
    """With a wrong checksum at the end of a gzip file every line is read, and the damage is reported."""
    packed = bytearray(gzip.compress(talk(20)))
    packed[-8] ^= 1
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(bytes(packed))
    plans = list(find.read_chunks(path))
    assert sum(len(plan.entries) for plan in plans) == 20
    assert "damaged" in plans[-1].problems[0].why


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_parts_of_a_packed_stream_are_read(pack: Callable[[bytes], bytes]) -> None:
    """A file of several gzip members or zstd frames is read whole; other bytes behind them are damage, an end a cut."""
    packed = pack(b"one") + pack(b"") + pack(b"two")
    assert stream_of(packed).read(99) == b"onetwo"
    odd = stream_of(packed + b"odder")
    assert (odd.read(99), odd.read(99)) == (b"onetwo", b"")
    assert "damaged" in str(odd.problem)
    cut = stream_of(packed[:-1])
    assert cut.read(99) == b"onetwo"
    assert cut.read(1) == b""
    assert "cut off" in str(cut.problem)


def test_zeros_behind_gzip_members_are_padding() -> None:
    """Zeros behind the last gzip member are passed over."""
    padded = stream_of(gzip.compress(b"one") + b"\0" * 99)
    assert (padded.read(99), padded.problem) == (b"one", None)


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
def test_a_decompression_bomb_is_stopped_at_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pack: str
) -> None:
    """Of a packed file that unpacks to too much only lines before the limit are read, with little memory."""
    limit = 8 * 1024 * 1024
    monkeypatch.setattr(find, "UNPACKED_BYTES_MAX", limit)
    path = tmp_path / "bomb.jsonl"
    whole = pack == "gzip"
    path.write_bytes(
        gzip.compress(talk(3) + bytes(64 * 1024 * 1024)) if whole else zstd(talk(3), repeated=b"\0", times=655)
    )
    tracemalloc.start()
    plans = list(find.read_chunks(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(len(plan.entries) for plan in plans) == 3
    assert f"more than {limit} bytes" in plans[-1].problems[0].why
    assert peak < 4 * limit


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_exactly_the_limit_is_no_bomb(pack: Callable[[bytes], bytes]) -> None:
    """A packed file that unpacks to exactly the limit is read; one byte more is refused."""
    packed = pack(b"x" * 1000)
    for limit, problem in ((1000, False), (999, True)):
        stream = stream_of(packed, limit=limit)
        while stream.read(10):
            pass
        assert (stream.problem is not None) is problem


def test_memory_depends_on_the_chunk_not_on_the_file(tmp_path: Path) -> None:
    """Reading a file of 80 MB takes memory for a few chunks only."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(talk(80, width=500_000))
    tracemalloc.start()
    lines = sum(plan.lines for plan in find.read_chunks(path, tokens=False))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines == 80
    assert peak < 10 * find.CHUNK_BYTES


def test_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    """Pipes, folders, sockets, UTF-16 and link loops are refused at once, each by an error with a hint."""
    os.mkfifo(tmp_path / "pipe")
    check_refused(tmp_path / "pipe", ValidationError, "a pipe")
    check_refused(tmp_path, ValidationError, "a folder")
    check_refused(tmp_path / "absent", NotFound, "does not exist")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        check_refused(tmp_path / "socket", ValidationError, "cannot be opened")
    (tmp_path / "utf16").write_bytes("{}\n".encode("utf-16"))
    check_refused(tmp_path / "utf16", ValidationError, "UTF-16")
    (tmp_path / "loop").symlink_to("loop")
    check_refused(tmp_path / "loop", ValidationError, "cannot be opened")


def test_a_device_is_refused() -> None:
    """A device is refused, since reading it would never end."""
    check_refused(Path("/dev/zero"), ValidationError, "a device")


def test_archives_are_refused(tmp_path: Path) -> None:
    """Zip and tar archives are refused, and nothing in them is unpacked."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../../evil.txt", "x")
    for mode, name in (("w", "a.tar"), ("w:gz", "a.tar.gz")):
        with tarfile.open(tmp_path / name, mode) as tar:  # type: ignore[call-overload]
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc"
            tar.addfile(link)
    for name in ("a.zip", "a.tar", "a.tar.gz"):
        check_refused(tmp_path / name, ValidationError, "an archive")


def test_a_file_without_read_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read raises Forbidden with a hint."""

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    check_refused(tmp_path, Forbidden, "may not be read")


def test_a_disk_error_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An I/O error while a transcript is read becomes StorageFailed."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"{}\n")

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", fail)
    check_refused(path, StorageFailed, "Input/output error")


def test_sessions_are_found_under_folders(tmp_path: Path) -> None:
    """Transcripts below folders are found sorted, each once, with subagents' files; look-alikes are skipped."""
    wanted = ["b/one.jsonl", "b/one/subagents/agent-7.jsonl", "a.jsonl.gz", "b/c.jsonl.zst"]
    for name in [*wanted, "b/notes.md", "b/x.json"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    paths = find.find_transcripts([tmp_path, tmp_path / "b", tmp_path / "b/notes.md"])
    assert paths == sorted(tmp_path / name for name in [*wanted, "b/notes.md"])


def test_the_oldest_session_comes_first(tmp_path: Path) -> None:
    """Files are ordered by the first time in them, packed ones too; those without one come first, by path."""
    (tmp_path / "a.jsonl").write_text('{"type":"summary"}\n{"timestamp":"2026-03-01T08:00:00.000Z","type":"user"}\n')
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"timestamp": "2026-01-01T08:00:00.000Z"}\n'))
    (tmp_path / "c.jsonl").write_text('{"timestamp":"2026-02-01T08:00:00.000Z"}\n')
    (tmp_path / "d.jsonl").write_text('{"type":"summary"}\n')
    (tmp_path / "e.jsonl").write_bytes(b"\x1f\x8bno gzip")

    ordered = find.oldest_first(sorted(tmp_path.iterdir()))

    assert [path.name[0] for path in ordered] == ["d", "e", "b", "c", "a"]


def test_discovery_has_a_limit_and_names_missing_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing path and too many files are errors; the missing path is named, with a hint."""
    with pytest.raises(NotFound, match="absent") as absent:
        find.find_transcripts([tmp_path / "absent"])
    assert absent.value.hint
    monkeypatch.setattr(find, "FILES_MAX", 1)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(TooLarge, match="more than 1 "):
        find.find_transcripts([tmp_path])


@pytest.mark.parametrize(
    ("name", "data", "session", "agent"),
    [
        (f"{SESSION}.jsonl", b'{"type":"x","sessionId":"other"}', SESSION, None),
        (f"2026-01-05-{SESSION}.jsonl", b"", SESSION, None),
        ("mine.jsonl", b'{"type":"summary"}\n{"type":"x","sessionId": "abc"}\n{"sessionId":"def"}', "abc", None),
        ("mine.jsonl", b'{"role":"user","content":"hello"}', "mine", None),
        ("agent-a1b2.jsonl", b'{"type":"x","sessionId":"abc","agentId":"a1b2"}', "abc", "a1b2"),
        (f"agent-{SESSION}.jsonl", b"", f"agent-{SESSION}", SESSION),
    ],
)
def test_the_session_of_a_file(tmp_path: Path, name: str, data: bytes, session: str, agent: str | None) -> None:
    """A file's session comes from its name, else from its lines, and is the same for the packed file."""
    (tmp_path / name).write_bytes(data)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
    (tmp_path / f"{name}.zst").write_bytes(zstd(data))
    identity = find.read_identity(tmp_path / name)
    assert identity == find.read_identity(tmp_path / f"{name}.zst")
    assert identity == find.read_identity(tmp_path / f"{name}.gz")
    assert identity.program == ("claude-code" if b"sessionId" in data else None)
    assert (identity.session, identity.agent) == (session, agent)


@pytest.mark.parametrize(
    "data",
    [
        b"# notes\n",
        b"{}",
        b'{"display": "a prompt", "sessionId": "s", "project": "/home/ann"}',
        b'{"type": "entity", "name": "lamp"}\n{"type": "progress", "done": 3}',
        b'{"info": {"id": "m1", "role": "user"}, "parts": [{"type": "text", "text": "a"}]}',
        b'[\n  {\n    "role": "user"\n  }\n]',
    ],
)
def test_a_file_without_a_line_of_a_session_is_refused(tmp_path: Path, data: bytes) -> None:
    """Other programs' files are refused by name, lists of prompts too; one line of a session anywhere is enough."""
    path = tmp_path / "history.jsonl"
    path.write_bytes(data)
    with pytest.raises(ValidationError, match=r"history.jsonl is not a session: no line of it is understood"):
        find.read_identity(path)
    path.write_bytes(data + b"\n" + data.ljust(70_000) + b"\n" + talk(1))
    assert find.read_identity(path).session


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """No file descriptor is left open when reading stops half-way or is refused."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(talk(20))
    lowest = os.dup(0)
    os.close(lowest)
    for _ in range(20):
        reading = find.read_chunks(path)
        next(reading)
        cast("Generator[ChunkPlan]", reading).close()
        with pytest.raises(ValidationError):
            list(find.read_chunks(tmp_path))
    again = os.dup(0)
    os.close(again)
    assert again == lowest
