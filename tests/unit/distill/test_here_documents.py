"""Here-documents of a shell command: their texts, and what is left of the command without them."""

from __future__ import annotations

import pytest

from reverie.distill.commands import here_documents


@pytest.mark.parametrize(
    ("command", "texts", "rest"),
    [
        ("git status", [], "git status"),
        ("cat <<EOF\none\ntwo\nEOF\nls", ["one\ntwo\n"], "cat \nls"),
        (
            "git commit -m \"$(cat <<'EOF'\nSubject\n\nBody\nEOF\n)\"",
            ["Subject\n\nBody\n"],
            'git commit -m "$(cat \n)"',
        ),
        ('cat <<-  "A"\n\tx\n\tA\ncat << B\ny\nB', ["\tx\n", "y\n"], "cat \ncat "),
        ("cat <<A\n<<B\nin A\nB\nA\nls", ["<<B\nin A\nB\n"], "cat \nls"),
        ("cat <<EOF\nEOFS\nnot EOF\nEOF", ["EOFS\nnot EOF\n"], "cat "),
        ("cat <<EOF\nEOF\nls", [""], "cat \nls"),
        ("cout << value\n; git revert HEAD", [], "cout << value\n; git revert HEAD"),
    ],
)
def test_texts_and_rest(command: str, texts: list[str], rest: str) -> None:
    """The texts of a command's here-documents, and the command without them, are returned as expected."""
    assert here_documents(command) == (texts, rest)


def test_many_unclosed_ones_and_many_empty_lines() -> None:
    """A megabyte of unclosed here-documents, or of empty lines in one, is read in linear time."""
    for command in ("cat <<EOF\n" * 100_000, "cat <<EOF\n" + " \n" * 500_000, "cat <<EOF\nEOT\n" * 70_000):
        assert here_documents(command) == ([], command)
