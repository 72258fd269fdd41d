"""What a terminal without UTF-8 shows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reverie import wire
from reverie.client import Client
from support.daemon import running_daemon


@pytest.mark.parametrize("words", ["recall grussformel", "memories"])
def test_a_letter_that_the_terminal_lacks_is_a_question_mark(words: str) -> None:
    """In the C locale without UTF-8 mode the output is ASCII."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as client:
            client.remember(wire.CreateMemory(content="grussformel: “Schöne Grüße”", type="skill"))
        done = subprocess.run(
            [sys.executable, "-c", "import sys; from reveried.cli import main; sys.exit(main())", *words.split(" ")],
            env=daemon.env | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONIOENCODING": ""},
            capture_output=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"grussformel: ?Sch?ne Gr??e?" in done.stdout
