"""The memory tool beside the reference of the `anthropic` package: the same commands, the same texts.

What differs, and is therefore not drawn or made equal before the comparison:

* file types: only `.md` and `.txt` can be created, and no folder has such an ending;
* names: no hidden, temporary or reserved ones, and none that another system could not have;
* texts: secrets are stored as markers, a NUL or more than a megabyte is refused, and the summary line of files below
  `facts/` and `episodes/` is kept up to date;
* folders: one without a file in it is not there, and the size of each is that of a small folder;
* `MEMORY.md`: Reverie's own list of the files is there after a while.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

from reverie.client import AsyncClient, Client
from reverie.client.memory_tool import AsyncMemoryTool, MemoryTool
from support.daemon import Daemon, check_refused, running_daemon
from support.soak import count

COMMANDS = count(200, 10_000)
FILES = ("a.md", "b.txt", "log.md", "x/a.md", "x/b.txt", "x/y/deep.md", "x/y/z/deeper.txt", "w/one.md")
FOLDERS = ("", "x", "x/y", "x/y/z", "w", "v")
LINES = ("", "one", "two words", "- a bullet", "# A title", "\ttab", "a\rb", "ünïcode", "one", "> Summary: x", "  ")
_LIST = re.compile(r"\n\S+\t/memories/+MEMORY\.md")
_FOLDER_SIZE = re.compile(r"^\S+(\t\S+/|\t/memories\S*(?<!\.md)(?<!\.txt))$", re.MULTILINE)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[tuple[MemoryTool, BetaLocalFilesystemMemoryTool, Daemon]]:
    """Yield our memory tool with its daemon, and the `anthropic` package's tool with an empty folder."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        yield MemoryTool(client), BetaLocalFilesystemMemoryTool(str(tmp_path)), daemon


def outcome(tool: Any, command: dict[str, Any]) -> tuple[bool, str]:
    """Return whether a command failed, and its text with the sizes of folders left out."""
    try:
        text, failed = tool.call(command), False
    except ToolError as error:
        text, failed = str(error.content), True
    return failed, _FOLDER_SIZE.sub(r"-\1", _LIST.sub("", str(text)))


def prune(folder: Path) -> None:
    """Remove the folders in which nothing is."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every .md and .txt file in a folder but MEMORY.md, by its path."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix in {".md", ".txt"})
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.name != "MEMORY.md"}


class Commands:
    """Source of random memory tool commands on a few paths, so that existing and missing files are both used."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def draw(self) -> dict[str, Any]:
        """Return a random command for the memory tool."""
        chance = self.chance
        match chance.choice(("view", "view", "create", "create", "replace", "replace", "insert", "delete", "rename")):
            case "view":
                ranged = chance.random() < 0.4
                lines = [chance.randrange(-2, 8), chance.choice((-1, 0, 1, 2, 5, 50))]
                return {"command": "view", "path": self.path(), **({"view_range": lines} if ranged else {})}
            case "create":
                return {"command": "create", "path": self.file(), "file_text": self.text()}
            case "replace":
                old = chance.choice(("one", "w", "- a", "two words\none", "absent", "", "\n", self.text()))
                return {"command": "str_replace", "path": self.path(), "old_str": old, "new_str": self.text()}
            case "insert":
                line = chance.randrange(-1, 9)
                return {"command": "insert", "path": self.path(), "insert_line": line, "insert_text": self.text()}
            case "delete":
                return {"command": "delete", "path": self.path() if chance.random() < 0.7 else "/memories/none.md"}
            case _:
                if chance.random() < 0.6:
                    return {"command": "rename", "old_path": self.file(), "new_path": self.file()}
                return {"command": "rename", "old_path": self.folder(), "new_path": self.folder(new=True)}

    def file(self) -> str:
        """Return the path of a file."""
        return f"/memories/{self.chance.choice(FILES)}"

    def folder(self, *, new: bool = False) -> str:
        """Return the path of a folder; a new one is in no other, so that none is moved into itself."""
        name = self.chance.choice(("v", "u", "w") if new else FOLDERS)
        return f"/memories/{name}".rstrip("/")

    def path(self) -> str:
        """Return a random file or folder path; some are not in shortest form, or lead out of the memory folder."""
        chance = self.chance.random()
        if chance < 0.6:
            return self.file()
        if chance < 0.9:
            return self.folder()
        return self.chance.choice(
            ("/memories/../etc/passwd", "/etc/passwd", "/memories/x/../a.md", "/memories//a.md", "/memories/", "a.md")
        )

    def text(self) -> str:
        """Return some lines, with or without a line end after the last."""
        lines = [self.chance.choice(LINES) for _ in range(self.chance.randrange(5))]
        return "\n".join(lines) + self.chance.choice(("", "\n"))


def test_random_commands_have_the_texts_of_the_reference(
    memory: tuple[MemoryTool, BetaLocalFilesystemMemoryTool, Daemon],
) -> None:
    """Each command gives the same text on both, errors too, and both have the same files at the end."""
    ours, reference, daemon = memory
    root = reference.memory_root
    commands = Commands(random.Random(7))
    failures = 0
    for number in range(COMMANDS):
        command = commands.draw()
        expected = outcome(reference, command)
        prune(root)
        assert outcome(ours, command) == expected, (number, command)
        failures += expected[0]
    assert 0.1 < failures / COMMANDS < 0.8
    assert files_in(daemon.folder) == files_in(root)


def test_listed_differences(memory: tuple[MemoryTool, BetaLocalFilesystemMemoryTool, Daemon]) -> None:
    """Names and texts that are refused, with what to do; a secret is a marker; undo takes back what the tool did."""
    ours, _, daemon = memory
    for path in ("x.json", "noending", ".hidden.md", "con.md", "a.tmp.md~", "archives/a.md", "x.md/y.md"):
        failed, text = outcome(ours, {"command": "create", "path": f"/memories/{path}", "file_text": "x"})
        assert failed, path
        assert "facts/user.md" in text
    failed, text = outcome(ours, {"command": "create", "path": "/memories/nul.txt", "file_text": "a\0b"})
    assert failed
    burn = daemon.ask("POST", "/v1/tools/memory", {"input": {"command": "burn", "path": "/memories/a.md"}}).json()
    assert burn["isError"]
    assert "str_replace" in burn["content"]
    token = "ghp_" + "a1B2" * 9
    ours.call({"command": "create", "path": "/memories/keys.txt", "file_text": f"token: {token}\n"})
    shown = outcome(ours, {"command": "view", "path": "/memories/keys.txt"})[1]
    assert token not in shown
    assert "[REDACTED:" in shown
    ours.call({"command": "create", "path": "/memories/facts/gates.md", "file_text": "- The gate is green\n"})
    assert "> Summary:" in outcome(ours, {"command": "view", "path": "/memories/facts/gates.md"})[1]
    newest = daemon.ask("GET", "/v1/operations?limit=1").json()["items"][0]
    daemon.ask("POST", f"/v1/operations/{newest['id']}/undo", {})
    assert outcome(ours, {"command": "view", "path": "/memories/facts/gates.md"})[0]


def test_over_http_and_asyncio(memory: tuple[MemoryTool, BetaLocalFilesystemMemoryTool, Daemon]) -> None:
    """The memory tool works over `POST /v1/tools/memory`, once for each key, and with an asyncio client."""
    _, _, daemon = memory
    created = {"input": {"command": "create", "path": "/memories/a.md", "file_text": "one\n"}}
    headers = {"Idempotency-Key": "create-1"}
    for _ in range(2):
        answer = daemon.ask("POST", "/v1/tools/memory", created, headers).json()
        assert answer == {"content": "File created successfully at: /memories/a.md", "isError": False}
    again = daemon.ask("POST", "/v1/tools/memory", created).json()
    assert again == {"content": "File /memories/a.md already exists", "isError": True}
    check_refused(daemon.ask("POST", "/v1/tools/memory", {"inputs": {}}), 400, "validation_error")

    async def edited() -> str:
        async with AsyncClient(daemon.socket) as client:
            tool = AsyncMemoryTool(client)
            command = {"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "two"}
            with pytest.raises(ToolError):
                await tool.call({**command, "old_str": "absent"})
            return str(await tool.call(command))

    assert anyio.run(edited).endswith("     1\ttwo\n     2\t")
    assert MemoryTool(Client(daemon.socket)).to_dict() == {"type": "memory_20250818", "name": "memory"}
