"""Random writes, failures, undos, reopenings and purges of a store, compared with a plain model of it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reverie.errors import Conflict, NotFound
from reverie.store import Done, Failed, Kind, Store, Write, Writer
from reverie.store.check import check
from reverie.store.checksums import walk_collection
from reverie.usecases.undo import undo_operation
from support.soak import count
from support.stores import AT, opened

names = st.sampled_from(["a", "b", "c", "d"])
spaces = st.sampled_from(["one", "two"])
LONG = {6: "x" * 70_000, 7: "y" * 70_000}
values = st.integers(0, 7).map(lambda number: {"value": LONG.get(number, number)})
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), names, values),
        st.tuples(st.just("delete"), names, st.none()),
        st.tuples(st.just("append"), names, values),
        st.tuples(st.just("event"), names, st.none()),
        st.tuples(st.just("dream"), names, values),
    ),
    max_size=5,
)


class _Space:
    """The expected content of one space."""

    def __init__(self) -> None:
        self.memories: dict[str, dict[str, Any]] = {}
        self.dreams: dict[str, dict[str, Any]] = {}
        self.entries: dict[str, list[dict[str, Any]]] = {}
        self.history: dict[str, list[tuple[int, dict[str, Any] | None]]] = {}
        self.before: dict[int, dict[str, dict[str, Any] | None]] = {}  # by operation: memories that it changed
        self.appended: set[int] = set()
        self.events = 0

    @property
    def operation(self) -> int:
        return len(self.before)

    def copy(self) -> _Space:
        other = _Space()
        other.memories, other.dreams = dict(self.memories), dict(self.dreams)
        other.entries = {name: list(items) for name, items in self.entries.items()}
        other.history = {name: list(items) for name, items in self.history.items()}
        other.before, other.appended, other.events = dict(self.before), set(self.appended), self.events
        return other


def _apply(model: _Space, changes: list[tuple[str, str, Any]]) -> _Space:
    """Return the model after one write."""
    after = model.copy()
    appended = False
    for action, name, value in changes:
        match action:
            case "put":
                after.memories[name] = value
            case "delete":
                after.memories.pop(name, None)
            case "append":
                after.entries.setdefault(name, []).append(value)
                appended = True
            case "dream":
                after.dreams[name] = value
            case "event":
                after.events += 1
    ran = bool(_changed_memories(model.dreams, changes, "dream"))
    _finish(model, after, touched=_changed_memories(model.memories, changes, "put"), appended=appended, ran=ran)
    return after


def _changed_memories(memories: dict[str, Any], changes: list[tuple[str, str, Any]], how: str) -> set[str]:
    """Return the memories of which the write makes a version: put with another value, or deleted."""
    now, touched = dict(memories), set()
    for action, name, value in changes:
        if action == how and now.get(name) != value:
            now[name] = value
            touched.add(name)
        if action == "delete" and how == "put" and name in now:
            del now[name]
            touched.add(name)
    return {name for name in touched if name in memories or name in now}


def _finish(model: _Space, after: _Space, *, touched: set[str], appended: bool, ran: bool) -> None:
    """Add an operation to the model if the write made one, with its effects on the histories."""
    if not (touched or appended or ran):
        return
    operation = model.operation + 1
    after.before[operation] = {name: model.memories.get(name) for name in touched}
    if appended:
        after.appended.add(operation)
    for name in touched:
        after.history.setdefault(name, []).append((operation, after.memories.get(name)))


def _body(changes: list[tuple[str, str, Any]], error: Exception | None) -> Any:
    def body(w: Writer) -> int:
        for action, name, value in changes:
            match action:
                case "put":
                    w.put(Kind.MEMORY, (name,), value)
                case "delete":
                    w.delete(Kind.MEMORY, (name,))
                case "append":
                    w.append(Kind.ENTRY, (name,), value)
                case "dream":
                    w.put(Kind.DREAM, (name,), value)
                case "event":
                    w.event("x", {"name": name})
        if error is not None:
            raise error
        return w.number

    return body


class StoreMachine(RuleBasedStateMachine):
    """A state machine whose rules act on a store and on its model; its invariants compare the two."""

    store: Store
    folder: Path

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="store-model-"))
        self.store = opened(self.folder / "store", map_size=256 * 1024)
        self.models = {"one": _Space(), "two": _Space()}

    @rule(writes=st.lists(st.tuples(spaces, steps, st.booleans()), min_size=1, max_size=4))
    def commit(self, writes: list[tuple[str, list[Any], bool]]) -> None:
        bodies = [
            Write(space, "who", "why", _body(changes, ValueError("no") if fails else None))
            for space, changes, fails in writes
        ]
        for (space, changes, fails), outcome in zip(writes, self.store.commit(bodies, at=AT), strict=True):
            if fails:
                assert isinstance(outcome, Failed)
                continue
            assert isinstance(outcome, Done)
            before = self.models[space]
            self.models[space] = _apply(before, changes)
            grown = self.models[space].operation > before.operation
            assert outcome.operation == (self.models[space].operation if grown else None)

    @rule(space=spaces, data=st.data())
    def undo(self, space: str, data: st.DataObject) -> None:
        model = self.models[space]
        operation = data.draw(st.integers(1, model.operation + 1))
        (outcome,) = self.store.commit([Write(space, "who", "undo", lambda w: undo_operation(w, operation))], at=AT)
        if operation > model.operation:
            assert isinstance(outcome, Failed)
            assert isinstance(outcome.error, NotFound)
            return
        changed = model.before[operation]
        stale = any(model.history[name][-1][0] != operation for name in changed)
        if operation in model.appended or not changed or stale:
            assert isinstance(outcome, Failed), outcome
            assert isinstance(outcome.error, Conflict)
            return
        assert isinstance(outcome, Done), outcome
        after = model.copy()
        for name, value in changed.items():
            if value is None:
                after.memories.pop(name, None)
            else:
                after.memories[name] = value
        touched = {name for name in changed if model.memories.get(name) != after.memories.get(name)}
        _finish(model, after, touched=touched, appended=False, ran=False)
        self.models[space] = after

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = opened(self.folder / "store")

    @rule()
    def compact(self) -> None:
        self.store.compact()

    @rule(space=spaces, name=names)
    def purge_entries(self, space: str, name: str) -> None:
        before = self.models[space]
        count = len(before.entries.get(name, []))
        body = Write(space, "who", "purge", lambda w: w.purge(Kind.ENTRY, (name,), 1000))
        (outcome,) = self.store.commit([body], at=AT)
        assert isinstance(outcome, Done)
        assert outcome.value == count
        after = before.copy()
        after.entries.pop(name, None)
        if count:
            after.before[before.operation + 1] = {}
        self.models[space] = after

    @invariant()
    def content_equals_the_model(self) -> None:
        for space, model in getattr(self, "models", {}).items():
            with self.store.reader(space) as reader:
                assert {str(key[0]): value for key, value in reader.scan(Kind.MEMORY)} == model.memories
                assert {str(key[0]): value for key, value in reader.scan(Kind.DREAM)} == model.dreams
                for name, items in model.entries.items():
                    assert [value for _, value in reader.scan(Kind.ENTRY, (name,))] == items
                for name, versions in model.history.items():
                    history = [(version.operation, version.value) for version in reader.history(Kind.MEMORY, (name,))]
                    assert history == versions
                assert reader.operation() == model.operation
                assert [key for key, _ in reader.scan(Kind.EVENT)] == [(n,) for n in range(1, model.events + 1)]

    @invariant()
    def checksums_equal_those_of_a_walk(self) -> None:
        for space in getattr(self, "models", {}):
            with self.store.reader(space) as reader:
                for prefix in reader.transaction.collections(reader.transaction.space):
                    checksum = reader.transaction.checksum(prefix)
                    assert checksum is not None
                    assert walk_collection(reader.transaction.txn, prefix).same_records(checksum)

    @precondition(lambda self: hasattr(self, "store"))
    @rule()
    def the_check_finds_nothing(self) -> None:
        self.store.close()
        report = check(self.folder / "store", offline=True)
        assert report.ok, report.problems
        self.store = opened(self.folder / "store")

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            assert check(self.folder / "store", offline=True).ok
            shutil.rmtree(self.folder)


StoreMachine.TestCase.settings = settings(
    max_examples=count(20, 400), stateful_step_count=count(25, 60), deadline=None, print_blob=True
)
TestStore = StoreMachine.TestCase
