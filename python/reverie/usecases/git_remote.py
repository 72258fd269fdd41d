"""The remote of the repository that a session works in, by what its transcript says; for folders that are gone.

A client that records the remote itself is believed (Codex does, in the first line of a session). Otherwise git's output
of a push, pull or fetch shows it, but only of a command that ran in the session's own folder: a session also looks into
other clones, and what it fetches there says nothing about where it works.
"""

from __future__ import annotations

import os.path
import re
from typing import TYPE_CHECKING, Any, Final

import orjson

from reverie.git import main_folder, remotes_in
from reverie.importers.detect import folder_of, stated_remote
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.models import Entry

_FOLDER_INPUTS: Final = ("workdir", "cwd", "working_directory", "directory", "dir_path")
"""Names that the clients give to the input of a call that says in which folder its command runs."""

_TALKS_TO_REMOTE: Final = lazy_regex(r"(?<![\w./-])git\b[^;&|\n]*?\s(?:push|pull|fetch|remote\s+update)\b")
# `git fetch https://example.org/other.git`, `ssh server git pull`, `git submodule update`: of another repository.
_ELSEWHERE: Final = lazy_regex(
    r"://|\bgit@|--git-dir|--work-tree|\bGIT_(?:DIR|WORK_TREE)\b"
    r"|(?<![\w./-])(?:ssh|docker|podman|kubectl|xargs|submodule|subtree)(?![\w-])"
)
# `cd ../other && git fetch`, `git -C ../other fetch`
_CHANGED_FOLDER: Final = lazy_regex(
    r"""(?:(?<![\w./-])(?:cd|pushd)\s+|(?<!\S)-C\s*)(?P<folder>"[^"]*"|'[^']*'|[^\s;&|)]+)"""
)
_SUBMODULE: Final = lazy_regex(r"^(?:Fetching|Pushing) submodule ", re.MULTILINE)  # what follows is the submodule's


def remote_of(data: bytes, entries: Sequence[Entry], folder: str | None) -> str:
    """Return the normalized remote of the repository around `folder` by these entries; "" for none or several.

    `data` are the lines that the entries were read from: most have no output of git, which is seen faster in bytes.
    """
    stated = next((remote for entry in entries if (remote := stated_remote(entry.extra, folder))), "")
    if stated or folder is None or not remotes_in(data):
        return stated
    remotes = {remote for output in _outputs_in(entries, folder) for remote in remotes_in(orjson.dumps(output))}
    return remotes.pop() if len(remotes) == 1 else ""


def _outputs_in(entries: Sequence[Entry], folder: str) -> Iterator[str]:
    """Yield the outputs of commands that ran in `folder` and made git talk to a remote."""
    own: set[str] = set()
    for entry in entries:
        for block in _blocks(entry):
            if block.get("type") == "tool_use" and _is_in_folder(block, folder_of(entry.extra) or folder, folder):
                own.add(str(block.get("id")))
            elif block.get("type") == "tool_result" and block.get("tool_use_id") in own:
                yield _SUBMODULE.split(_text(block.get("content")), maxsplit=1)[0]


def _is_in_folder(call: dict[str, Any], here: str, folder: str) -> bool:
    """Return True for a call whose command makes git talk to a remote, all of it in `folder`; it begins in `here`."""
    from reverie.distill.tools import canonical_calls

    given = call.get("input")
    if not isinstance(given, dict):
        return False
    commands = [
        values.get("command") for name, values in canonical_calls(str(call.get("name")), given) if name == "Bash"
    ]
    command = commands[0] if commands else None
    if not isinstance(command, str) or not _TALKS_TO_REMOTE.search(command) or _ELSEWHERE.search(command):
        return False
    said = next((given[name] for name in _FOLDER_INPUTS if isinstance(given.get(name), str)), "")
    start = os.path.join(here, said)  # noqa: PTH118 - a folder of another machine: nothing of it is read
    changed = [match["folder"].strip("\"'") for match in _CHANGED_FOLDER.finditer(command)]
    return all(_repository(os.path.join(start, path)) == _repository(folder) for path in ("", *changed))  # noqa: PTH118


def _repository(folder: str) -> str:
    """Return the folder that a worktree was made from by its path, else the folder itself."""
    path = os.path.normpath(folder)
    return main_folder(path) or path


def _blocks(entry: Entry) -> Iterator[dict[str, Any]]:
    content = entry.content if isinstance(entry.content, list) else []
    return (block for block in content if isinstance(block, dict))


def _text(content: object) -> str:
    """Return the text of a result: a string, or the joined texts of its blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)
