"""A `BaseStore` of LangGraph (no checkpointer): items by namespace and key, in a thread of Reverie.

    from reverie.adapters.langgraph import store
    from reverie.client import Client

    with Client() as client:
        graph = builder.compile(store=store(client))

Every put and deletion is one entry of the thread: it survives the process, and others that use the same name see it. It
equals `InMemoryStore` (without `index`) but for this: values are JSON and secrets in them are stored as markers; a
namespace without items is not listed; `created_at` is kept when an item is put again; a comparison in a filter is False
where a side is not a number; and with a `query` the items that have its words come first, each with its score.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import threading
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import orjson

from reverie.adapters.values import ThreadValues, require_finite, thread_id, value_message
from reverie.client.connection import run_to_end
from reverie.client.optional import load
from reverie.errors import ValidationError
from reverie.text_index import Filter, Index

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from langgraph.store.base import BaseStore

    from reverie.api.endpoint import Call
    from reverie.client import Client

_AGENT: Final = "langgraph"


def store(client: Client, name: str = "default", *, project: str | None = None) -> BaseStore:
    """Return the store of this name in the client's space; `project` is that of a new store's thread.

    It may be used by several threads of the program: calls are made one after the other, with this client alone.

    Raises:
        ModuleNotFoundError: LangGraph is not installed.
    """
    made: BaseStore = _store_class()(client, name, project)
    return made


@functools.cache
def _store_class() -> Any:
    """Return the class of LangGraph stores; it is made on first use, as its base class comes from LangGraph."""
    base = load("langgraph.store.base", "langgraph")
    return type("ReverieStore", (_Operations, base.BaseStore), {"__doc__": store.__doc__, "_base": base})


@dataclass(slots=True)
class _Stored:
    """A stored item of LangGraph: namespace, key, value, times, index paths, and its id in our search index."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]
    created_at: str
    updated_at: str
    index: Any
    number: str


class _Operations:
    """The methods of Reverie's store for LangGraph; `_base` is the module `langgraph.store.base`."""

    _base: Any

    def __init__(self, client: Client, name: str, project: str | None) -> None:
        async def send(call: Call[Any]) -> Any:
            return client.send(call)

        self.thread = thread_id(_AGENT, name)
        self._values = ThreadValues(send, self.thread, agent=_AGENT, title=f"LangGraph store {name}", project=project)
        self._lock = threading.Lock()
        self._forget()

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Return the results of operations, in order; none of them sees what another one of the batch puts."""
        with self._lock:
            return run_to_end(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Return the results of operations as `batch` does, from a thread of its own."""
        return await asyncio.to_thread(self.batch, list(ops))

    async def _batch(self, ops: list[Any]) -> list[Any]:
        await self._catch_up()
        results: list[Any] = []
        puts: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {}
        for op in ops:
            match op:
                case self._base.GetOp():
                    stored = self._items.get(op.namespace, {}).get(op.key)
                    results.append(None if stored is None else self._item(stored))
                case self._base.SearchOp():
                    results.append(self._search(op))
                case self._base.ListNamespacesOp():
                    results.append(self._list_namespaces(op))
                case self._base.PutOp():
                    puts[(op.namespace, op.key)] = _change(op)
                    results.append(None)
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
        changes = [
            change
            for (namespace, key), change in puts.items()
            if "value" in change or key in self._items.get(namespace, {})
        ]
        await self._values.append([value_message(change) for change in changes])
        return results

    async def _catch_up(self) -> None:
        """Apply the puts and deletions that this or another program has stored since the last read."""
        anew, stored_values = await self._values.read()
        if anew:
            self._forget()
        for stored in stored_values:
            self._apply(stored.value, stored.at, stored.seq)

    def _forget(self) -> None:
        self._items: dict[tuple[str, ...], dict[str, _Stored]] = {}
        self._numbered: dict[str, _Stored] = {}
        self._index: Index | None = None

    def _apply(self, change: dict[str, Any], at: str, seq: int) -> None:
        namespace, key = tuple(change["namespace"]), change["key"]
        before = self._items.get(namespace, {}).get(key)
        if "value" not in change:
            self._remove(before)
            return
        number = str(seq) if before is None else before.number
        created = at if before is None else before.created_at
        stored = _Stored(namespace, key, change["value"], created, at, change.get("index"), number)
        self._items.setdefault(namespace, {})[key] = stored
        self._numbered[number] = stored
        if self._index is not None:
            self._index.add(number, self._text(stored))

    def _remove(self, stored: _Stored | None) -> None:
        if stored is None:
            return
        del self._items[stored.namespace][stored.key], self._numbered[stored.number]
        if not self._items[stored.namespace]:
            del self._items[stored.namespace]
        if self._index is not None:
            self._index.remove(stored.number)

    def _search(self, op: Any) -> list[Any]:
        prefix = op.namespace_prefix
        matches = [
            stored
            for namespace, items in self._items.items()
            if namespace[: len(prefix)] == prefix
            for stored in items.values()
            if _matches(stored.value, op.filter or {})
        ]
        scores = self._scores(op.query, matches) if op.query else {}
        matches.sort(key=lambda stored: -scores.get(stored.number, 0.0))  # stable: equal ones stay in order
        return [self._item(stored, scores.get(stored.number)) for stored in matches[op.offset : op.offset + op.limit]]

    def _scores(self, query: str, found: list[_Stored]) -> dict[str, float]:
        """Return the score of each item that has words of a query."""
        if self._index is None:
            self._index = Index()
            for stored in self._numbered.values():
                self._index.add(stored.number, self._text(stored))
        within = Filter(ids={stored.number for stored in found})
        return {hit.id: hit.score for hit in self._index.search(query, len(found), within)} if found else {}

    def _text(self, stored: _Stored) -> str:
        """Return the text of an item that a search looks at: all its texts, those at its `index` paths, or none."""
        if stored.index is False:
            return ""
        if stored.index is None:
            return "\n".join(_strings(stored.value))
        at, tokens = self._base.get_text_at_path, self._base.tokenize_path
        return "\n".join(text for path in stored.index for text in at(stored.value, tokens(path)))

    def _item(self, stored: _Stored, score: float | None = None) -> Any:
        """Return a stored item as LangGraph's `SearchItem`, with a copy of its value that the caller may change."""
        return self._base.SearchItem(
            namespace=stored.namespace,
            key=stored.key,
            value=copy.deepcopy(stored.value),
            created_at=datetime.fromisoformat(stored.created_at),
            updated_at=datetime.fromisoformat(stored.updated_at),
            score=score,
        )

    def _list_namespaces(self, op: Any) -> list[tuple[str, ...]]:
        namespaces = {
            namespace if op.max_depth is None else namespace[: op.max_depth]
            for namespace in self._items
            if all(_is_at(namespace, condition) for condition in op.match_conditions or ())
        }
        return sorted(namespaces)[op.offset : op.offset + op.limit]


def _change(op: Any) -> dict[str, Any]:
    """Return the JSON value that records a put or a deletion. Raises ValidationError for a value that is not JSON."""
    change = {"namespace": list(op.namespace), "key": op.key}
    if op.value is None:
        return change
    require_finite(op.value)
    try:
        value = orjson.loads(orjson.dumps(op.value))
    except TypeError as error:
        raise ValidationError(
            f"the value of {op.key!r} is not JSON: {error}", hint="put texts, numbers, lists"
        ) from None
    if not isinstance(value, dict):
        raise ValidationError(f"the value of {op.key!r} is no dict", hint="put a dict")
    return {**change, "value": value, **({} if op.index is None else {"index": op.index})}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _is_at(namespace: tuple[str, ...], condition: Any) -> bool:
    """Return True for a namespace that begins or ends with a path, in which `*` is any label."""
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(labels, path, strict=True))


def _matches(value: Any, wanted: Any) -> bool:
    """Return True where a value has all that a filter wants of it."""
    if isinstance(wanted, dict):
        if any(name.startswith("$") for name in wanted):
            return all(_compares(value, name, operand) for name, operand in wanted.items())
        return isinstance(value, dict) and all(
            _matches(value.get(name), condition) for name, condition in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(_matches, value, wanted))
    return bool(value == wanted)


def _compares(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return bool(value == operand)
    if operator == "$ne":
        return bool(value != operand)
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        left, right = float(value), float(operand)
    except (TypeError, ValueError):
        return False
    return {"$gt": left > right, "$gte": left >= right, "$lt": left < right, "$lte": left <= right}[operator]
