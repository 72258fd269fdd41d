"""Laws of three-way merges, and conflicts compared with git's, for any three texts."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.merge import merge3
from support.soak import count

TEXT = st.lists(st.sampled_from(["- a", "- b b", "- c #t", "  d", "", "# H", "## I", "text of words", "é"])).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)
law = settings(max_examples=count(200, 20_000), deadline=None)


@law
@given(TEXT, TEXT)
def test_what_one_side_changed_is_taken(base: str, side: str) -> None:
    """A change of one side, or the same change of both, is taken byte for byte without conflicts."""
    assert merge3(base, base, side).text == side
    assert merge3(base, side, base).text == side
    assert merge3(base, side, side).text == side
    assert merge3(base, side, side).clean


@law
@given(TEXT, TEXT, TEXT)
def test_conflicts_are_values(base: str, ours: str, theirs: str) -> None:
    """A conflict has its lines in all three texts, and the merged text has our side of it."""
    merged = merge3(base, ours, theirs)
    for conflict in merged.conflicts:
        for part, text in ((conflict.base, base), (conflict.ours, ours), (conflict.theirs, theirs)):
            assert "".join(text.splitlines(keepends=True)[part.start : part.end]) == part.text
        assert merged.text[slice(*conflict.span)] == conflict.ours.text
        assert "".join(merged.text.splitlines(keepends=True)[slice(*conflict.lines)]) == conflict.ours.text


def document(pick: random.Random) -> list[str]:
    """Return a memory document of random lines."""
    lines = ["# Memory\n", "\n"]
    for section in range(pick.randint(1, 4)):
        lines += [f"## Topic {section}\n", "\n"]
        lines += [f"- item {pick.randint(0, 99)} about {pick.choice('abcdef')}\n" for _ in range(pick.randint(1, 9))]
        lines.append("\n")
    return lines


def edited(lines: list[str], pick: random.Random) -> str:
    """Return the document after random edits."""
    lines = list(lines)
    for _ in range(pick.randint(1, 5)):
        at = pick.randrange(len(lines))
        new = f"- item {pick.randint(0, 99)} about {pick.choice('abcdef')}\n"
        lines[at : at + pick.randint(0, 2)] = pick.choice([[], [new], [new, lines[at]]])
        lines = lines or [new]
    return "".join(lines)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_there_are_no_more_conflicts_than_git_finds(tmp_path: Path) -> None:
    """At most one document in a thousand has more conflicts than git finds, and all together have fewer."""
    found = [0, 0]
    worse = 0
    pick = random.Random(3)
    rounds = count(300, 20_000)
    for _ in range(rounds):
        lines = document(pick)
        texts = {"ours": edited(lines, pick), "base": "".join(lines), "theirs": edited(lines, pick)}
        ours = len(merge3(texts["base"], texts["ours"], texts["theirs"]).conflicts)
        if ours:
            for name, text in texts.items():
                (tmp_path / name).write_text(text)
            command = ["git", "merge-file", "-p", *(str(tmp_path / name) for name in texts)]
            theirs = subprocess.run(command, capture_output=True, check=False).returncode
            found = [found[0] + ours, found[1] + theirs]
            worse += ours > theirs

    assert worse <= rounds // 1000
    assert found[0] < found[1]
