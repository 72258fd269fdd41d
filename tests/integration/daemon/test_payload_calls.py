"""Path traversal payloads sent to a real daemon: each is refused with a hint, or is a file in the folder."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes, unquote

import pytest

from support.daemon import Answer, Daemon, Wire, check_refused, request, running_daemon
from support.hostile_cases import forms, payloads
from support.soak import count
from support.waiting import wait_until

MARK = "- These words belong into one folder\n"
UNSTABLE = ("/proc", "/sys", "/dev", "/run")


PATCHES: dict[str, Any] = {"patches": [{"oldText": MARK, "newText": MARK * 2}]}
OF_CALLS: dict[str, Any] = {"PUT": {"content": MARK}, "/patch": PATCHES, "/append": {"entry": MARK}}
OF_TOOLS: dict[str, Any] = {
    "memory_write": {"content": MARK},
    "memory_patch": PATCHES,
    "memory_append": {"entry": MARK},
}


@dataclass
class Caller:
    """One connection to the daemon, reopened after a close, with counts of the outcomes."""

    daemon: Daemon
    wire: Wire | None = None
    tally: Counter[str] = field(default_factory=Counter)

    def ask(self, method: str, target: str, body: Any = None) -> Answer:
        """Make one call; `target` is sent as it is, byte for byte."""
        self.wire = self.wire or self.daemon.wire()
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogateescape")
        self.wire.send(request(method, target, data))
        answer = self.wire.answer()
        assert answer is not None, f"{method} {target!r}: closed without an answer"
        if answer.headers.get("connection") == "close":
            self.close()
        self.tally["served" if answer.status == 200 else answer.json()["error"]] += 1
        return answer

    def close(self) -> None:
        if self.wire is not None:
            self.wire.__exit__()
            self.wire = None

    def document(self, method: str, target: str, tail: str = "") -> Answer:
        """Make a call of the documents API with a suitable body."""
        return self.ask(method, f"/v1/documents/{target}{tail}", OF_CALLS.get(tail or method))

    def tool(self, name: str, path: str) -> dict[str, Any] | None:
        """Call a memory tool; return its result, or None if the request was refused."""
        answer = self.ask("POST", f"/v1/tools/{name}", {"input": {"path": path, **OF_TOOLS.get(name, {})}})
        if answer.status == 200:
            return dict(answer.json())
        check_refused(answer, answer.status, answer.json()["error"])
        assert answer.status < 500
        return None


@pytest.fixture
def caller() -> Iterator[Caller]:
    with running_daemon() as daemon:
        connection = Caller(daemon)
        yield connection
        connection.close()


def names() -> list[str]:
    """Return a sample of the payloads, with those that end in a document suffix; in a soak run all."""
    every = payloads()
    assert len(every) > 5_000
    chance = random.Random(4)
    plain = chance.sample(every, count(150, len(every)))
    built = [name for payload in every for name in forms(payload)]
    return [*plain, *chance.sample(built, count(150, 40_000))]


def outside(root: Path, name: str) -> set[Path]:
    """Return where the name leads from the folder, decoded 0, 1 and 2 times, if that is outside of it."""
    targets = set()
    for form in (name, unquote(name), unquote(unquote(name)), unquote(name).replace("\\", "/")):
        target = Path(os.path.normpath(root / form.replace("\0", "")))
        if not target.is_relative_to(root) and not str(target).startswith(UNSTABLE):
            targets.add(target)
    return targets


def has_test_text(path: Path) -> bool:
    """Return True if the file has the test's text."""
    with suppress(OSError, ValueError):
        return path.is_file() and MARK.encode() in path.read_bytes()
    return False


def file_exists(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return os.path.lexists(path)
    return False


def beside(daemon: Daemon, root: Path) -> set[str]:
    """Return the files around the folder."""
    return {path.relative_to(daemon.home).as_posix() for path in daemon.home.rglob("*") if root not in path.parents}


def check_same(caller: Caller, root: Path, target: str, path: str) -> None:
    """Assert that an accepted name is one file of the folder, found by each call, and deleted by the last."""
    file = root / path
    assert file.read_text("utf-8").endswith(MARK)
    assert file.resolve().is_relative_to(root.resolve())
    assert caller.document("GET", target).json()["content"].endswith(MARK)
    for tail in ("/patch", "/append"):
        assert caller.document("POST", target, tail).status == 200
    assert file.read_text("utf-8").count(MARK) == 3
    assert caller.document("DELETE", target).status == 200
    assert not file.exists()


def check_documents(caller: Caller, root: Path, target: str) -> bool:
    """Put, get, patch, append and delete by the API; return True if the name was accepted."""
    written = caller.document("PUT", target)
    if written.status == 200:
        check_same(caller, root, target.partition("?")[0], written.json()["path"])
        return True
    check_refused(written, written.status, written.json()["error"])
    for method, tail in (("GET", ""), ("POST", "/patch"), ("POST", "/append"), ("DELETE", "")):
        answer = caller.document(method, target, tail)
        check_refused(answer, answer.status, answer.json()["error"])
        assert answer.status < 500
    return False


def check_tools(caller: Caller, root: Path, name: str) -> bool:
    """Write, read, patch and append by tools; return True if the name was accepted."""
    written = caller.tool("memory_write", name)
    if written is not None and not written["isError"]:
        assert (root / name).read_text("utf-8").endswith(MARK)
        assert (caller.tool("memory_read", name) or {})["content"].endswith(MARK)
        for tool in ("memory_patch", "memory_append"):
            assert not (caller.tool(tool, name) or {"isError": True})["isError"]
        assert (root / name).read_text("utf-8").count(MARK) == 3
        assert caller.document("DELETE", quoted(name)).status == 200
        return True
    for tool in ("memory_read", "memory_patch", "memory_append"):
        answer = caller.tool(tool, name)
        assert answer is None or (answer["isError"] and isinstance(answer["content"], str)), name
    return False


def quoted(name: str) -> str:
    return quote_from_bytes(name.encode("utf-8", "surrogateescape"), safe="")


def bare(name: str) -> str | None:
    """Return the name as sent without percent-encoding; None where that would end the request line."""
    data = name.encode("utf-8", "surrogateescape")
    return None if any(byte <= 0x20 or byte == 0x7F for byte in data) else data.decode("latin-1")


@pytest.mark.timeout(count(240, 7200))
def test_no_payload_leads_a_call_outside(caller: Caller) -> None:
    """Path traversal names in calls and tools are refused with a hint, or are a file inside the folder."""
    root = caller.daemon.folder
    assert caller.document("PUT", "facts/user.md").status == 200
    before = beside(caller.daemon, root)
    accepted = tried = 0
    for name in names():
        places = {file: file_exists(file) for file in outside(root, name)}
        for target in {quoted(name), bare(name)} - {None}:
            accepted += check_documents(caller, root, str(target))
        accepted += check_tools(caller, root, name)
        tried += 1
        assert not [file for file, was in places.items() if file_exists(file) != was or has_test_text(file)], name
    wait_until(
        (root / "MEMORY.md").exists, "MEMORY.md, which is written once the documents have been quiet for a while"
    )
    documents = {path.relative_to(root).as_posix() for path in root.rglob("*.md") if ".reverie" not in path.parts}
    assert documents == {"MEMORY.md", "facts/user.md"}
    assert beside(caller.daemon, root) == before
    print(f"{tried} names: 0 outside, taken {accepted} times; {dict(caller.tally.most_common())}")
    assert accepted > 0
