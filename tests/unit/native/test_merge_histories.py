"""Merges over generated and recorded document histories, compared with what git makes of them."""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from reverie.merge import merge3
from support.soak import count
from support.version_cases import Triple, generated_triples, history_sets, recorded_triples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.merge import Merged

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git_merge(folder: Path, triple: Triple) -> tuple[int, str]:
    """Return the number of git's conflicts and its merged text."""
    files = [folder / name for name in ("ours", "base", "theirs")]
    for file, text in zip(files, (triple.ours, triple.base, triple.theirs), strict=True):
        file.write_text(text, newline="")
    done = subprocess.run(["git", "merge-file", "-p", *map(str, files)], capture_output=True, check=False)
    assert 0 <= done.returncode < 128, done.stderr
    return done.returncode, done.stdout.decode()


@functools.cache
def steps() -> list[tuple[list[str], list[str]]]:
    """Return every version of every generated document, and of every recorded one, with the next one, as lines."""
    documents = [document for documents in history_sets() for document in documents]
    versions = [[text.splitlines(keepends=True) for text in document] for document in documents]
    return [pair for history in versions for pair in pairwise(history)]


def changed_ranges(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the line ranges that a person changed."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return (change for change in matcher.get_opcodes() if change[0] != "equal")


def concurrent_insertions() -> Iterator[Triple]:
    """Yield merges in which each side inserts one half of the lines that a person inserted."""
    for old, new in steps():
        for tag, at, _, start, end in changed_ranges(old, new):
            if tag == "insert" and end - start >= 2:
                middle = (start + end) // 2
                sides = ([*old[:at], *new[start:middle], *old[at:]], [*old[:at], *new[middle:end], *old[at:]])
                yield Triple("".join(old), "".join(sides[0]), "".join(sides[1]))


def adjacent_edits() -> Iterator[Triple]:
    """Yield merges in which each side edits one half of adjacent lines that a person replaced."""
    for old, new in steps():
        for tag, start, end, new_start, new_end in changed_ranges(old, new):
            if tag == "replace" and end - start >= 2 and end - start == new_end - new_start:
                middle = (end - start) // 2
                ours = [*old[:start], *new[new_start : new_start + middle], *old[start + middle :]]
                theirs = [*old[: start + middle], *new[new_start + middle : new_end], *old[end:]]
                yield Triple("".join(old), "".join(ours), "".join(theirs))


def lost_lines(triple: Triple, merged: Merged, theirs: str) -> set[str]:
    """Return lines of a side that git keeps, but that are neither in the merge nor in a conflict."""
    written = {*triple.ours.splitlines(), *triple.theirs.splitlines()} - {*triple.base.splitlines()}
    kept = {*merged.text.splitlines()}
    for conflict in merged.conflicts:
        kept |= {*conflict.ours.text.splitlines(), *conflict.theirs.text.splitlines()}
    return (written & {*theirs.splitlines()}) - kept


def doubled_lines(triple: Triple, merged: str) -> set[str]:
    """Return lines of four words and more that the merge has more often than each of the three texts."""
    *texts, result = (Counter(text.splitlines()) for text in (*triple, merged))
    more = {line for line, times in result.items() if times > max(text[line] for text in texts)}
    return {line for line in more if len(line.split()) > 3}


@needs_git
def test_generated_merges_conflict_less_than_with_git(tmp_path: Path) -> None:
    """Each generated merge has at most git's conflicts, all together half, and git's text where git has none.

    Git puts a line that both sides moved to different places there twice; then the texts differ.
    """
    found = [0, 0]
    for triple in generated_triples():
        conflicts, text = git_merge(tmp_path, triple)
        merged = merge3(*triple)

        assert len(merged.conflicts) <= conflicts
        if conflicts == 0:
            assert merged.text == text or doubled_lines(triple, text)
        found = [found[0] + len(merged.conflicts), found[1] + conflicts]
    assert found[0] <= found[1] // 2


@needs_git
@pytest.mark.measures("data/merges/triples.jsonl")
def test_recorded_merges_conflict_less_than_with_git(tmp_path: Path) -> None:
    """Each recorded merge has at most git's conflicts, all together half, and git's text where git has none."""
    found = [0, 0]
    as_people = clean = 0
    for row in recorded_triples():
        triple = Triple(row["base"], row["ours"], row["theirs"])
        conflicts, text = git_merge(tmp_path, triple)
        merged = merge3(*triple)

        assert len(merged.conflicts) <= conflicts
        if conflicts == 0:
            assert merged.text == text
        found = [found[0] + len(merged.conflicts), found[1] + conflicts]
        clean += merged.clean
        as_people += merged.text == row["merged"]

    print(f"{found[0]} conflicts, git {found[1]}; {clean} merged clean, {as_people} as people merged them")
    assert found[0] <= found[1] // 2
    assert as_people >= 149


@needs_git
@pytest.mark.parametrize("cases", [concurrent_insertions, adjacent_edits])
def test_adjacent_changes_merge(cases: Any, tmp_path: Path) -> None:
    """At least 90 % of git's conflicts merge cleanly, and no line that git keeps is lost."""
    disputed = clean = 0
    for triple in list(cases())[: count(60, 1_000_000)]:
        conflicts, text = git_merge(tmp_path, triple)
        merged = merge3(*triple)

        assert len(merged.conflicts) <= conflicts
        assert lost_lines(triple, merged, text) == set()
        disputed += conflicts > 0
        clean += conflicts > 0 and merged.clean

    print(f"{cases.__name__}: {clean} of {disputed} that git finds conflicts in merge clean")
    assert disputed > 0
    assert clean >= 0.9 * disputed
