"""`reverie completion`: what bash offers after its script was sourced; and the other shells' scripts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import Cli

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash: apt-get install bash")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script(cli: Cli, shell: str) -> None:
    """The script of each shell asks `reverie` itself; with `--json` it is a field of an object."""
    done = cli("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert f"_REVERIE_COMPLETE={shell}_complete" in done.out
    assert cli("completion", shell, "--json").json == {"shell": shell, "script": done.out}


@needs_bash
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("reverie thre", {"thread", "threads"}),
        ("reverie sync res", {"resolve"}),
        ("reverie context thr_1 --max", {"--max-tokens"}),
        ("reverie schedule add \"'0 3 * * *'\" --time", {"--timezone"}),
    ],
)
def test_bash_completes(cli: Cli, tmp_path: Path, line: str, expected: set[str]) -> None:
    """The script, sourced by bash, offers what can follow the words before the cursor."""
    script = tmp_path / "reverie.bash"
    script.write_text(cli("completion", "bash").out, encoding="utf-8")
    commands = (
        f". {script}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); "
        'complete -p reverie >&2; _reverie_completion reverie; echo "${COMPREPLY[@]}"'
    )
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", commands], capture_output=True, text=True, check=True, env=env)
    assert set(done.stdout.split()) == expected
