"""`reverie eval` prints an agent's context after a transcript without a daemon, by either way into the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie import evals, tokens
from reveried.cli.run import run
from reveried.demo.sample import sample

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli import Cli


@pytest.fixture
def transcript(tmp_path: Path) -> str:
    """A session file."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(sample())
    return str(path)


@pytest.mark.parametrize("what", ["context", "knowledge"])
def test_both_ways_say_the_same(cli: Cli, transcript: str, capsys: pytest.CaptureFixture[str], what: str) -> None:
    """The quick way and the command tree print the same text, within the budget."""
    quick = cli("eval", what, transcript, "--max-tokens", "3000")
    assert (quick.code, quick.err) == (0, "")
    assert "make check" in quick.out
    assert tokens.count(quick.out) <= 3000
    assert cli("eval", what, "--max-tokens=3000", transcript).out == quick.out
    assert run(["eval", what, transcript, "--max-tokens", "3000"]) == 0
    assert capsys.readouterr().out == quick.out
    assert quick.out.endswith("\n")
    found = cli("eval", what, transcript, "--json").json
    assert found["tokens"] <= found["maxTokens"] == 16_000


def test_the_newline_counts(cli: Cli, transcript: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the newline at the end would be one token too many, the text gives way."""
    monkeypatch.setattr(evals, "context_text", lambda _, most: " ".join(["word"] * most))
    out = cli("eval", "context", transcript, "--max-tokens", "50").out
    assert out.endswith("word\n")
    assert tokens.count(out) == 50
    monkeypatch.setattr(evals, "context_text", lambda *_: "")
    assert cli("eval", "context", transcript).out == ""


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--max-tokens", "many", "x"), 2, "--max-tokens must be a whole number above 0"),
        (("--max-tokens", "0", "x"), 2, "--max-tokens must be"),
        (("x", "--max-tokens"), 2, "--max-tokens must be"),
        (("--colour", "x"), 2, "no such option: --colour"),
        (("a", "b"), 2, "one FILE is needed, 2 were given"),
        (("/nowhere.jsonl",), 1, "is not a file"),
        (("/nowhere.jsonl", "--json"), 1, ""),
    ],
)
def test_refusals(cli: Cli, words: tuple[str, ...], code: int, says: str) -> None:
    """What was typed wrongly is named, with how it is used."""
    done = cli("eval", "context", *words)
    assert done.code == code
    assert says in done.err
    assert done.json["error"] == "not_found" if "--json" in words else "next: " in done.err
