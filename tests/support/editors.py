"""Real editors and tools that save a file: some load it and save later, some edit it at once."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Protocol

import pytest

from support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
