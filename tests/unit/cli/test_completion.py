"""The completion scripts: every command and option is in them, and bash completes by its script."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from reveried.cli.completion import completion_script
from reveried.cli.tree import tree

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli import Cli

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash: apt-get install bash")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_in_the_script(cli: Cli, shell: str) -> None:
    """The script of each shell has every command, the commands of groups, and long options."""
    script = cli("completion", shell).out
    for name, command in tree().commands.items():
        assert name in script
        for verb in getattr(command, "commands", {}):
            assert verb in script
    for option in ("max-tokens", "around", "all-projects", "dry-run"):
        assert option in script


def test_a_script_as_json(cli: Cli) -> None:
    """With `--json` the script is a field of an object."""
    assert cli("completion", "bash", "--json").json == {"shell": "bash", "script": cli("completion", "bash").out}


def test_an_unknown_shell_is_refused(cli: Cli) -> None:
    """Another shell is a usage error that names the known ones."""
    done = cli("completion", "tcsh")
    assert done.code == 2
    assert "give bash, zsh, fish" in done.err


@needs_bash
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("reverie thre", {"thread", "threads"}),
        ("reverie sync res", {"resolve"}),
        ("reverie context thr_1 --max", {"--max-tokens"}),
        ("reverie schedule add '0 3 * * *' --time", {"--timezone"}),
    ],
)
def test_bash_completes(tmp_path: Path, line: str, expected: set[str]) -> None:
    """The script, sourced by bash, offers what can follow the words before the cursor."""
    script = tmp_path / "reverie.bash"
    script.write_text(completion_script("bash", tree()), encoding="utf-8")
    commands = (
        f'. {script}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _reverie; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", commands], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected
