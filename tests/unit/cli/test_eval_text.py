"""`reverie eval context|knowledge`, by the fast path and by the command tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie import evals, tokenizer
from reveried.cli.tree import run
from reveried.demo.session import sample

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli import Cli


@pytest.fixture
def transcript(tmp_path: Path) -> str:
    """Write the sample session and return its path."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(sample())
    return str(path)


@pytest.mark.parametrize("what", ["context", "knowledge"])
def test_fast_path_equals_command_tree(
    cli: Cli, transcript: str, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    """The fast path and the command tree print the same text, within the budget."""
    fast = cli("eval", what, transcript, "--max-tokens", "3000")
    assert (fast.code, fast.err) == (0, "")
    assert "make check" in fast.out
    assert tokenizer.count(fast.out) <= 3000
    assert cli("eval", what, "--max-tokens=3000", transcript).out == fast.out
    assert run(["eval", what, transcript, "--max-tokens", "3000"]) == 0
    assert capsys.readouterr().out == fast.out
    assert fast.out.endswith("\n")
    answer = cli("eval", what, transcript, "--json").json
    assert answer["tokens"] <= answer["maxTokens"] == 16_000


@pytest.mark.parametrize("what", ["context", "knowledge", "frequency"])
def test_what_is_no_session_is_refused(cli: Cli, tmp_path: Path, what: str) -> None:
    """A text file is refused with the reason that the import gives; the message begins with the whole command."""
    (tmp_path / "notes.md").write_text("# Notes\n")
    refused = cli("eval", what, str(tmp_path / "notes.md"))
    assert "notes.md is not a session" in refused.err
    if what != "frequency":  # which measures the other files
        assert (refused.code, refused.err.startswith(f"reverie eval {what}: ")) == (2, True)


def test_the_newline_counts(cli: Cli, transcript: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`eval context` counts the final newline: its output has `--max-tokens` tokens, and none if there is no text."""
    monkeypatch.setattr(evals, "context_text", lambda _, most: " ".join(["word"] * most))
    out = cli("eval", "context", transcript, "--max-tokens", "50").out
    assert out.endswith("word\n")
    assert tokenizer.count(out) == 50
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
    """A wrong command line of `eval context` is refused with its exit code and the next step."""
    done = cli("eval", "context", *words)
    assert done.code == code
    assert says in done.err
    assert done.json["error"] == "not_found" if "--json" in words else "next: " in done.err
