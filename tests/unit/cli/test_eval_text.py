"""`reverie eval context|knowledge`."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie import tokenizer
from reverie.evals import after_transcript
from reveried.demo.session import sample
from support.cli import Cli


@pytest.fixture
def transcript(tmp_path: Path) -> str:
    """Write the sample session and return its path."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(sample())
    return str(path)


@pytest.mark.parametrize("what", ["context", "knowledge"])
def test_text_within_the_budget(cli: Cli, transcript: str, what: str) -> None:
    """The text has at most so many tokens."""
    done = cli("eval", what, transcript, "--max-tokens", "3000")
    assert (done.code, done.err) == (0, "")
    assert "make check" in done.out
    assert tokenizer.count(done.out) <= 3000
    assert done.out.endswith("\n")
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
    monkeypatch.setattr(after_transcript, "context_text", lambda _, most: " ".join(["word"] * most))
    out = cli("eval", "context", transcript, "--max-tokens", "50").out
    assert out.endswith("word\n")
    assert tokenizer.count(out) == 50
    monkeypatch.setattr(after_transcript, "context_text", lambda *_: "")
    assert cli("eval", "context", transcript).out == ""
