"""Store, folder and configuration of earlier versions open with this one and give the same answers.

A vector `tests/vectors/home-<version>.json.gz` was made by a daemon of that version: the records of its store as pairs
of key (hex) and value (base64), its rollback guard, the files of its folder, its configuration, and its answers.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmdb
import pytest

from reverie.client import Client
from reverie.places import Layout
from reverie.store.check import check
from support.daemon import Daemon, running_daemon, scratch_home
from support.pages import newest_operation
from support.waiting import wait_until

HOMES = sorted((Path(__file__).resolve().parents[2] / "vectors").glob("home-*.json.gz"))
MAP_BYTES = 1 << 26
_LINK = re.compile(r"\]\(([^)]+)\)")


def unpacked(vector: dict[str, Any], home: Path) -> Layout:
    """Write the home that a vector describes."""
    layout = Layout.from_env({"REVERIE_HOME": str(home)}, home, 1000)
    layout.store_dir.mkdir(parents=True, mode=0o700)
    store = lmdb.open(str(layout.store_dir), map_size=MAP_BYTES)
    with store.begin(write=True) as transaction:
        for key, value in vector["records"]:
            transaction.put(bytes.fromhex(key), b64decode(value))
    store.close()
    (layout.store_dir / "anchor").write_bytes(b64decode(vector["anchor"]))
    layout.config_file.parent.mkdir(parents=True, exist_ok=True)
    layout.config_file.write_text(vector["config"])
    for name, text in vector["files"].items():
        path = layout.root / "default" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return layout


def check_contains(answer: Any, expected: Any, path: str) -> None:
    """Assert that `answer` has everything that `expected` has; objects may have more fields."""
    match expected:
        case dict():
            for name, value in expected.items():
                assert name in answer, f"{path}.{name}"
                check_contains(answer[name], value, f"{path}.{name}")
        case list():
            assert len(answer) == len(expected), path
            for number, (one, other) in enumerate(zip(answer, expected, strict=True)):
                check_contains(one, other, f"{path}[{number}]")
        case _:
            assert answer == expected, path


@pytest.fixture(params=HOMES, ids=lambda path: path.name)
def older(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, Any], Daemon, Layout]]:
    """A recorded older home, a daemon over its files, and the paths of its parts."""
    vector = json.loads(gzip.decompress(request.param.read_bytes()))
    with scratch_home() as home:
        layout = unpacked(vector, home)
        with running_daemon(home) as daemon:
            yield vector, daemon, layout
        report = check(layout.store_dir, offline=True)
        assert report.ok, report


def test_an_older_home_gives_the_same_answers(older: tuple[dict[str, Any], Daemon, Layout]) -> None:
    """Each recorded answer is contained in this daemon's; markdown files are unchanged, their list has the same."""
    vector, daemon, layout = older

    for path, expected in vector["answers"].items():
        answer = daemon.ask("GET", path)
        assert answer.status == 200, path
        found = answer.json()
        if path == "/v1/operations":  # its schedule was due
            found["items"] = [one for one in found["items"] if one["who"] != "reveried" or one in expected["items"]]
        check_contains(found, expected, path)
    for name, text in vector["files"].items():
        if name.endswith(".md"):
            now = (layout.root / "default" / name).read_text()
            if name == "MEMORY.md":  # its order and descriptions are this release's
                assert sorted(_LINK.findall(now)) == sorted(_LINK.findall(text))
            else:
                assert now == text


def test_an_older_home_stays_usable(older: tuple[dict[str, Any], Daemon, Layout]) -> None:
    """After opening an older home appends, syncs and undos work, and stored idempotency keys still apply."""
    vector, daemon, layout = older
    (thread,) = vector["answers"]["/v1/threads"]["items"]
    with Client(daemon.socket) as client:
        appended = client.append(thread["id"], [{"role": "user", "content": "good morning"}])
        assert appended.first_seq == thread["messageCount"] + 1
        project = layout.root / "default" / "facts" / "project.md"
        project.write_text(project.read_text().replace("the port is 9090", "the port is 7070"))
        wait_until(lambda: any(memory.content == "the port is 7070" for memory in client.memories().items))
        client.undo(newest_operation(client).id)
        assert client.redactions().since  # what was taken before is not listed, and the list says so
    replayed = daemon.ask(
        "POST",
        "/v1/memories",
        {"type": "fact", "content": "the port is 8080", "tags": ["net"]},
        {"Idempotency-Key": "k1", "Content-Type": "application/json"},
    )
    assert replayed.status == 201
    assert replayed.json()["id"] in {memory["id"] for memory in vector["answers"]["/v1/memories"]["items"]}
