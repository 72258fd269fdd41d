"""Deletions by people and saves of stale editors, with a real daemon: lines that go, stay, or are named."""

from __future__ import annotations

import os
import pty
import random
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

import orjson
import pytest

from reverie import wire
from reverie.client import Client
from support.cli import reverie
from support.daemon import environment, running_daemon, scratch_home, set_clock
from support.daemon_folder import QUICK, Tree
from support.soak import count
from support.waiting import wait_until

WAIT_S = 20.0


def _installed(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed: apt-get install {name}")
    return path


class OpenEditor(Protocol):
    """An editor that has loaded a file, and saves it later with one more line at its end."""

    def save(self, line: str) -> None:
        """Add a line at the end of what was loaded, save it whatever is on disk, and quit."""


class _Terminal:
    """A program in a terminal of its own."""

    def __init__(self, *command: str, shows: str) -> None:
        self.pid, self.handle = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm", LINES="50", COLUMNS="200")
            os.execv(command[0], command)  # noqa: S606
        self.output = b""
        self.wait_for(shows)

    def wait_for(self, text: str) -> None:
        """Read until the program has printed a text."""
        deadline = time.monotonic() + WAIT_S
        while text.encode() not in self.output:
            assert time.monotonic() < deadline, self.output[-2_000:]
            self._read()

    def _read(self) -> bool:
        if select.select([self.handle], [], [], 0.05)[0]:
            try:
                self.output += os.read(self.handle, 65_536)
            except OSError:  # the program has ended
                return False
        return True

    def send(self, keys: str) -> None:
        """Type keys."""
        os.write(self.handle, keys.encode())

    def quit(self) -> None:
        """Wait until the program has ended."""
        deadline = time.monotonic() + WAIT_S
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            assert time.monotonic() < deadline, self.output[-2_000:]
            self._read()
        os.close(self.handle)


class Vim:
    """Vim with a file that it has loaded, reading commands from a pipe."""

    def __init__(self, path: Path) -> None:
        command = [_installed("vim"), "-u", "NONE", "-n", "-es", str(path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
        loaded = path.parent / f".{path.name}.loaded"
        self._type(f"call writefile(getline(1, '$'), '{loaded}')")
        wait_until(loaded.exists)

    def _type(self, *commands: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{command}\n" for command in commands))
        self._process.stdin.flush()

    def save(self, line: str) -> None:
        """As `OpenEditor.save`; loading the file again before keeps Vim from asking whether to write over it."""
        self._type(f"call append('$', '{line}')", "let old = getline(1, '$')", "edit!", "%delete _")
        self._type("call setline(1, old)", "w!", "qa!")
        self._process.communicate(timeout=WAIT_S)


class Nano:
    """Nano with a file that it has loaded."""

    def __init__(self, path: Path) -> None:
        self._terminal = _Terminal(_installed("nano"), "-I", "-t", str(path), shows="# ")

    def save(self, line: str) -> None:
        """As `OpenEditor.save`; with -t it saves at the end, and asks if the file on disk is another one."""
        self._terminal.send(f"\x1b/{line}\r\x18")  # M-/ goes to the end of the text, ^X leaves
        time.sleep(0.3)
        self._terminal.send("y")
        self._terminal.quit()


class _Buffer:
    """A program that has read a file, and writes it later in some way."""

    def __init__(self, path: Path, write: Callable[[Path, str], None]) -> None:
        self.path, self.write, self.text = path, write, path.read_text()

    def save(self, line: str) -> None:
        """As `OpenEditor.save`."""
        self.write(self.path, f"{self.text}{line}\n")


def _renamed(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.save")
    beside.write_text(text)
    beside.replace(path)


def _truncated(path: Path, text: str) -> None:
    path.write_text(text)


OPENED: dict[str, Callable[[Path], OpenEditor]] = {
    "vim": Vim,
    "nano": Nano,
    "a rename save": lambda path: _Buffer(path, _renamed),
    "a truncating save": lambda path: _Buffer(path, _truncated),
}


def _with_sed(path: Path, words: list[str]) -> None:
    subprocess.run(
        [_installed("sed"), "-i", *(part for word in words for part in ("-e", rf"/\b{word}\b/d")), str(path)],
        check=True,
    )


def _with_vim(path: Path, words: list[str]) -> None:
    commands = [part for word in words for part in ("-c", rf"g/\<{word}\>/d")]
    subprocess.run(
        [_installed("vim"), "-u", "NONE", "-n", "-es", *commands, "-c", "wq", str(path)], check=True, timeout=WAIT_S
    )


def _with_nano(path: Path, words: list[str]) -> None:
    """Cut each line that is found: ^W searches, ^K cuts."""
    lines = path.read_text().splitlines()
    terminal = _Terminal(_installed("nano"), "-I", "-t", str(path), shows="# ")
    for word in words:
        for _ in range(sum(word in line for line in lines)):
            terminal.send(f"\x17{word}\r\x0b")
        lines = [line for line in lines if word not in line]
    terminal.send("\x18")
    terminal.quit()


def _without(path: Path, words: list[str]) -> str:
    lines = path.read_text().splitlines(keepends=True)
    return "".join(line for line in lines if not {part.strip(".,:") for part in line.split()} & {*words})


DELETES: dict[str, Callable[[Path, list[str]], None]] = {
    "sed -i": _with_sed,
    "vim -es": _with_vim,
    "nano": _with_nano,
    "a rename save": lambda path, words: _renamed(path, _without(path, words)),
    "a truncating save": lambda path, words: _truncated(path, _without(path, words)),
}


CASES = count(2, 40)
LINES = 6


class Aged(Tree):
    """A folder and daemon whose clock is set back while agents write, so that their texts are old when saved over."""

    def old(self, seconds: float) -> None:
        """Set the daemon's clock `seconds` behind the real time, which is that of the files."""
        now = datetime.now(UTC) - timedelta(seconds=seconds)
        set_clock(self.daemon.home, int(now.timestamp() * 1_000))

    def remembers(self, name: str, *texts: str) -> None:
        """Remember facts in a file, by the API: these words are written though a line like them was deleted."""
        for text in texts:
            self.client.remember(wire.CreateMemory(content=text, document=name, author="person"))
        self.agree()

    def announced(self, first: int) -> list[tuple[str, dict[str, Any]]]:
        """Return the events of lines that saves lack, after the event `first`."""
        last = self.client.status().counts["events"]
        events = takewhile(lambda event: event.seq < last, self.client.events(after=first))
        return [(event.type, event.data) for event in events if event.type.startswith("lines.")]

    def left_out(self, name: str) -> list[wire.LeftOutLines]:
        """Return the entries of the sync status for lines that saves of this file left out."""
        return [item for item in self.client.sync_status().left_out if item.path == name]

    def reverie(self, *words: str) -> str:
        """Return what a `reverie` command prints."""
        done = reverie(environment(self.daemon.home), *words)
        assert done.code == 0, done.err
        return done.out


@contextmanager
def aged_tree() -> Iterator[Aged]:
    """Yield a folder with a daemon of its own, whose clock the tests set."""
    with scratch_home() as home:
        set_clock(home, int(datetime.now(UTC).timestamp() * 1_000))
        with running_daemon(home, **QUICK) as daemon, Client(daemon.socket) as client:
            made = Aged(daemon, client)
            made.root.mkdir(parents=True, exist_ok=True)
            yield made


@pytest.fixture(scope="module")
def aged() -> Iterator[Aged]:
    """Yield a folder shared by tests that use files of their own."""
    with aged_tree() as made:
        yield made


def facts(pick: random.Random, number: int) -> list[str]:
    """Return facts, each with a word that no other has; some have keys, some have few words."""
    keys = ("Editor", "Language", "City", "Build")
    return [
        f"{pick.choice(keys)}: w{number}x{at} {'of all ' * pick.randint(0, 2)}tools"
        if pick.random() < 0.5
        else f"The w{number}x{at} server is {pick.choice(('green', 'slow', 'new'))}"
        for at in range(LINES)
    ]


@pytest.mark.parametrize("how", DELETES)
def test_what_a_person_deletes_stays_deleted(aged: Aged, how: str) -> None:
    """Bullets that a person deletes are gone, two seconds or more after they were written; all others stay."""
    pick = random.Random(how)
    for case in range(CASES):
        name = f"facts/gone-{''.join(filter(str.isalpha, how))}-{case}.md"
        aged.old(pick.choice((3, 10, 70)))
        aged.remembers(name, *facts(pick, case))
        gone = pick.sample([f"w{case}x{at}" for at in range(LINES)], pick.randint(1, LINES - 1))
        if case == 0:
            gone = [f"w{case}x{LINES - 1}"]  # the newest alone

        DELETES[how](aged.path(name), gone)
        aged.agree()

        text = aged.read(name)
        assert [f"w{case}x{at}" in text for at in range(LINES)] == [f"w{case}x{at}" not in gone for at in range(LINES)]
        assert aged.stored(name) == text


@pytest.mark.parametrize("how", OPENED)
def test_a_stale_editor_deletes_nothing_of_others(aged: Aged, how: str) -> None:
    """A stale buffer saved after agents' writes and an `echo >>` deletes none of their lines."""
    pick = random.Random(how)
    for case in range(CASES):
        name = f"facts/stale-{''.join(filter(str.isalpha, how))}-{case}.md"
        aged.old(60)
        first = facts(pick, case)
        aged.remembers(name, *first[: pick.randint(1, 3)])
        loaded = aged.read(name)
        editor = OPENED[how](aged.path(name))
        aged.old(pick.choice((0, 5, 30)))
        aged.remembers(name, *first[3:])
        with aged.path(name).open("a") as file:
            file.write("- echoed by a script\n")
        aged.agree()
        before = aged.read(name)
        assert before != loaded

        editor.save("- typed by a person")
        aged.agree()

        lines = set(aged.read(name).splitlines())
        missing = {line for line in before.splitlines() if line.startswith("- ")} - lines
        assert "- typed by a person" in lines
        assert not missing or aged.left_out(name), (missing, loaded, before)


def test_a_buffer_from_before_many_writes_deletes_nothing(aged: Aged) -> None:
    """An editor that was open while agents wrote more than twenty versions deletes none of their lines."""
    name = "facts/many.md"
    aged.old(60)
    aged.remembers(name, "Editor: vim", "City: Oslo")
    loaded = aged.read(name)
    added = [f"Tool {number}: the one with the number {number}" for number in range(30)]
    for text in added:
        aged.client.remember(wire.CreateMemory(content=text, document=name))
    aged.agree()

    aged.save(name, loaded.replace("Oslo", "Bergen"))
    aged.agree()

    text = aged.read(name)
    assert "Bergen" in text
    assert [line for line in added if f"- {line}\n" not in text] == []


def test_a_file_moved_out_of_facts_names_the_memories_that_went(aged: Aged) -> None:
    """Status and log say how many memories a moved file has no more, and an undo brings file and memories back."""
    aged.remembers("facts/moved.md", "The pier lamp is amber", "The pier crane lifts nine tons")
    aged.path("notes").mkdir(exist_ok=True)
    aged.path("facts/moved.md").rename(aged.path("notes/moved.md"))
    aged.agree()

    assert "The pier lamp is amber" not in aged.memories()
    [left_out] = aged.left_out("notes/moved.md")
    assert (left_out.memories, left_out.lines) == (2, 0)
    said = f"2 memories of notes/moved.md, which moved to where files have none; to bring back: {left_out.undo}"
    for words in (["status"], ["sync", "status"]):
        assert said in " ".join(aged.reverie(*words).split())
    assert left_out.undo in aged.daemon.log.read_text()

    aged.reverie(*left_out.undo.split()[1:])
    aged.agree()
    assert "The pier lamp is amber" in aged.memories()
    assert not aged.path("notes/moved.md").exists()
    assert aged.left_out("notes/moved.md") == []


def test_what_is_left_out_is_named_and_an_undo_brings_it_back(aged: Aged) -> None:
    """A save without trace of newer lines wins; status, log and an event name the lines, and an undo restores them."""
    name = "notes/plain.md"
    aged.old(60)
    aged.client.put_document(name, "# Plain\n\n- one\n- two\n")
    aged.agree()
    aged.client.append_entry(name, "- three of an agent\n- four of an agent\n")
    aged.agree()
    events = aged.client.status().counts["events"]

    aged.save(name, "# Plain\n\n- one\n- two and a half\n")
    aged.agree()

    assert aged.read(name) == "# Plain\n\n- one\n- two and a half\n"
    [left_out] = aged.left_out(name)
    assert (left_out.lines, left_out.undo) == (2, f"reverie undo {left_out.operation}")
    aged.client.put_document(f"notes/after-{events}.md", "# Last\n")  # an event behind those that are read
    assert aged.announced(events) == [("lines.left_out", {"path": name, "lines": 2})]
    assert left_out.undo in aged.reverie("sync", "status")
    assert left_out.first == "three of an agent"
    said = f'2 lines of {name}, by a save ("three of an agent", …); to bring back: {left_out.undo}'
    assert said in " ".join(aged.reverie("status").split())
    printed = orjson.loads(aged.reverie("sync", "status", "--json"))["leftOut"]
    assert [item["undo"] for item in printed if item["path"] == name] == [left_out.undo]
    assert left_out.undo in aged.daemon.log.read_text()

    aged.reverie(*left_out.undo.split()[1:])
    aged.agree()

    assert aged.read(name) == "# Plain\n\n- one\n- two and a half\n- three of an agent\n- four of an agent\n"
    assert aged.left_out(name) == []


def test_lines_that_a_save_had_not_seen_stay_and_are_announced(aged: Aged) -> None:
    """A stale buffer with the old summary changes its own line; what agents wrote stays, and an event says so."""
    name = "facts/kept.md"
    aged.old(60)
    aged.remembers(name, "Editor: vim")
    loaded = aged.read(name)
    aged.remembers(name, "City: Oslo")
    events = aged.client.status().counts["events"]

    aged.save(name, loaded.replace("vim", "emacs"))
    aged.agree()

    assert "emacs" in aged.read(name)
    assert "Oslo" in aged.read(name)
    aged.client.put_document(f"notes/after-{events}.md", "# Last\n")  # an event behind those that are read
    assert aged.announced(events) == [("lines.kept", {"path": name, "lines": 1})]
    assert aged.left_out(name) == []


@pytest.mark.parametrize("back", ["undo", "rollback"])
def test_a_change_of_a_restored_line_is_taken_back(aged: Aged, back: str) -> None:
    """Text that `reverie undo` or a rollback restored is current: a person's change of it may be taken back."""
    name = f"facts/restored-{back}.md"
    aged.old(60)
    aged.client.append_entry(name, "- The build farm is in Graz, queue linux-small.")
    aged.agree()
    first = aged.client.document_history(name).items[-1].operation
    aged.client.put_document(name, "# x\n")
    aged.agree()
    overwritten = aged.client.document_history(name).items[-1].operation
    aged.reverie(*(("undo", overwritten, "-y") if back == "undo" else ("rollback", first, "-y")))
    aged.agree()
    restored = aged.read(name)

    for text in (restored.replace("small", "arm"), restored, restored.replace("small", "large"), restored):
        aged.save(name, text)
        aged.agree()
        assert (aged.read(name), aged.stored(name)) == (text, text)
    assert aged.left_out(name) == []
    assert len(aged.client.document_history(name).items) == 3 + 4


def test_a_person_alone_gets_no_notice(aged: Aged) -> None:
    """One operation for each save of a person who saves while typing, changes a line and changes it back; no notice."""
    name = "facts/alone.md"
    texts = ["green", "green, n", "green, no sugar", "green, no milk", "green, no sugar", "green", "black", "blue"]

    for drink in texts:
        aged.save(name, f"# Drinks\n\n- Tea: {drink}\n")
        aged.agree()
        assert aged.read(name) == f"# Drinks\n\n- Tea: {drink}\n"
        assert aged.left_out(name) == []

    assert len(aged.client.document_history(name).items) == len(texts)
