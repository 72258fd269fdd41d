"""Patterns are compiled at their first use, and then are what `re.compile` returns."""

from __future__ import annotations

import re
import subprocess
import sys
import threading

import pytest

from reverie.lazy_regex import lazy_regex

# Prints the patterns that are used, and so compiled, while a module is imported.
USED_AT_IMPORT = """
import importlib, re, sys
import reverie.lazy_regex
compile_pattern, used = re.compile, []
def watched(pattern, flags=0):
    if sys._getframe(1).f_globals["__name__"] == "reverie.lazy_regex":
        used.append(pattern)
    return compile_pattern(pattern, flags)
re.compile = watched
importlib.import_module(sys.argv[1])
print(used)
"""


def test_methods_and_attributes_are_those_of_the_compiled_pattern() -> None:
    lazy, compiled = (make(r"(?P<verb>say)s? (\w+)", re.IGNORECASE) for make in (lazy_regex, re.compile))
    text = "Say hello, she says goodbye."
    assert [m.group(0, "verb", 2) for m in lazy.finditer(text)] == [
        m.group(0, "verb", 2) for m in compiled.finditer(text)
    ]
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub(r"\2", text) == compiled.sub(r"\2", text)
    assert lazy.subn(r"\2", text) == compiled.subn(r"\2", text)
    assert lazy.split(text) == compiled.split(text)
    for name in ("search", "match", "fullmatch"):
        assert str(getattr(lazy, name)(text)) == str(getattr(compiled, name)(text)), name
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert dict(lazy.groupindex) == dict(compiled.groupindex)


def test_a_wrong_pattern_fails_at_its_first_use_with_the_error_of_re() -> None:
    wrong = lazy_regex("(")
    for _ in range(2):
        with pytest.raises(re.error, match="unterminated"):
            wrong.search("")


def test_threads_that_use_a_pattern_first_at_once_all_get_its_matches() -> None:
    for _ in range(50):
        lazy, barrier = lazy_regex(r"\d+"), threading.Barrier(4)
        found: list[str] = []

        def search(
            lazy: re.Pattern[str] = lazy, barrier: threading.Barrier = barrier, found: list[str] = found
        ) -> None:
            barrier.wait()
            found.append(str(lazy.findall("1 and 22")))

        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == ["['1', '22']"] * 4


@pytest.mark.parametrize("module", ["reverie.usecases.compute_jobs", "reveried.app", "reveried.cli"])
def test_no_pattern_is_used_while_modules_are_imported(module: str) -> None:
    done = subprocess.run([sys.executable, "-c", USED_AT_IMPORT, module], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
