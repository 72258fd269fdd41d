"""Detection of to-do items that are done and not ticked off: checks that passed, code that an edit defined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill.commands import Purpose
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.distill.commands import Run
    from reverie.distill.steps import ToolCall
    from reverie.distill.todo import TodoItem

__all__ = ["has_passed", "have_checks_run", "is_overtaken", "mark_touched", "mark_written", "runs_checks"]

# Words of an item that runs checks, with the check that each names, if any: "Run linting and the full test suite",
# "Alle Tests ausführen". An item with any other word ("Update the tests", "Run the migration and its tests") is work.
_WORDS_OF_CHECKS = (
    "test tests testing suite testsuite ci e2e prueba pruebas テスト 测试",
    "lint linting linter format formatting formatter fmt typecheck typechecks typechecking",
    "build builds compile compilation",
)
_CHECK_WORDS = {
    word: purpose
    for words, purpose in zip(_WORDS_OF_CHECKS, (Purpose.TEST, Purpose.LINT, Purpose.BUILD), strict=True)
    for word in words.split()
}
_OTHER_WORDS = frozenset(
    "run rerun re-run running execute verify ensure check checks to the all full complete whole entire unit integration"  # noqa: SIM905
    " final again and then with pass passes sure that everything project code quality type"
    " alle führe ausführen laufen lassen und den die das"
    " ejecuta ejecutar correr las los todas todos y lance lancer exécuter les tous toutes et".split()
)
# How an announcement begins that only runs checks: "run the full test suite", "verify that it builds"
_RUNS = lazy_regex(
    r"^(?:also |first |now |then )*(?:re-?run|run|execute|verify|confirm|make sure|ensure|führe|lasse|exécuter|lancer"
    r"|ejecutar|correr)\b",
    re.IGNORECASE,
)
_WORD = lazy_regex(r"[^\W_][\w-]*")

_UNFINISHED = ("pending", "in_progress")
_WRITES = lazy_regex(r"^\W*(?:add|build|create|define|extract|implement|introduce|write)\b", re.IGNORECASE)
# A name as it stands in code: `read_all`, `readAll`, `ReadAll`
_NAME = lazy_regex(r"\b(?:[a-z]+(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z0-9]+(?:_[a-z0-9]+)+)\b")
# Words of an item by which an edit is recognised as part of it; of short ones nothing follows.
_CONTENT_CHARS = 4
_ITEM_LABEL = lazy_regex(r"^[A-Za-z]*\d+[\w/]*[:.)]\s+")  # "M2: ", "L2/L3: "
_ENDING = lazy_regex(r"(?:ing|ation|ion|ed|es|s|e)$")
_SHARED = 0.6  # of these words, at least two
_SHARED_MIN = 2
# What stands before a name that is defined: "def ", "func (m *Map) ", "export class "
_DEFINES = (
    r"\b(?:class|const|def|enum|fn|fun|func|function|interface|let|struct|trait|type|val|var)\s+(?:\([^()\n]*\)\s*)?"
)


def has_passed(item: TodoItem, runs: Sequence[Run]) -> bool:
    """Return True for an item in progress that only runs checks, if each that it names passed since it was begun."""
    if item.status != "in_progress" or not _words(item.subject) <= _OTHER_WORDS | _CHECK_WORDS.keys():
        return False
    checks = _checks_named(item.subject)
    last = {run.purpose: run for run in sorted(runs, key=lambda run: run.seq) if run.seq > item.seq}
    return bool(checks) and all(check in last and not last[check].failed for check in checks)


def runs_checks(doing: str) -> bool:
    """Return True if an announced step only runs checks that it names, as in "run the full test suite"."""
    return _RUNS.match(doing) is not None and bool(_checks_named(doing))


def have_checks_run(doing: str, since: int, runs: Sequence[Run]) -> bool:
    """Return True if all checks that an announced step runs have a result that is newer than entry `since`.

    "Run the full validation again" names none: then the checks that were run count, if any were.
    """
    if _RUNS.match(doing) is None:
        return False
    run = {run.purpose for run in runs if run.seq > since} & {*_CHECK_WORDS.values()}
    return bool(run) and _checks_named(doing) <= run


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _checks_named(text: str) -> set[Purpose]:
    return {purpose for word in _words(text) if (purpose := _CHECK_WORDS.get(word))}


def mark_written(items: Iterable[TodoItem], call: ToolCall) -> None:
    """Mark pending items whose code an edit has just defined.

    Example: an edit that adds "def read_all(" marks "Add `read_all` to the importer", unless another item that is not
    finished names `read_all` too.
    """
    if not call.answered or call.failed:
        return
    new, old = call.word("new_string") or call.word("content"), call.word("old_string")
    unfinished = [(item, set(_NAME.findall(item.subject))) for item in items if item.status in _UNFINISHED]
    for item, names in unfinished:
        if item.status != "pending" or not names or _WRITES.match(item.subject) is None:
            continue
        own = {name for name in names if sum(name in others for _, others in unfinished) == 1}
        item.written = item.written or any(_is_defined(name, new) and not _is_defined(name, old) for name in own)


def mark_touched(items: Iterable[TodoItem], call: ToolCall) -> None:
    """Mark the item in progress that an edit belongs to as touched, and touched ones before it as written.

    Several are in progress where an agent begins all of a list at once; then its edits show how far it is. Example:
    with "Add a limit to the share cache" and "Log lost ships" begun, an edit of `share_cache_limit` belongs to the
    first, and one of `log_lost_ships` says that the first is done.
    """
    if not call.answered or call.failed:
        return
    begun = [item for item in items if item.status == "in_progress"]
    if len(begun) < _SHARED_MIN:
        return
    edit = " ".join(call.word(key) for key in ("file_path", "old_string", "new_string", "content")).lower()
    parts = [sum(stem in edit for stem in stems) / len(stems) if (stems := _stems(item)) else 0 for item in begun]
    best = max(parts)
    if best < _SHARED or parts.count(best) > 1:
        return
    index = parts.index(best)
    for item in begun[:index]:
        item.written = item.written or item.touched
    begun[index].touched, begun[index].written = True, False


def _stems(item: TodoItem) -> set[str]:
    """Return the stems of an item's words behind its verb: {"lost", "ship"} of "H1: Log lost ships"."""
    words = _WORD.findall(_ITEM_LABEL.sub("", item.subject))[1:]
    stems = {_ENDING.sub("", word.lower()) for word in words if len(word) >= _CONTENT_CHARS}
    return stems if len(stems) >= _SHARED_MIN else set()


def is_overtaken(place: int, items: Sequence[TodoItem]) -> bool:
    """Return True if the item at `place` is written, or in progress with a later one written: the list lags behind."""
    item = items[place]
    return item.written or (item.status == "in_progress" and any(later.written for later in items[place + 1 :]))


def _is_defined(name: str, code: str) -> bool:
    return re.search(rf"{_DEFINES}{re.escape(name)}\b", code) is not None
