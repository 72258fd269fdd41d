"""Our store for LangGraph compared with its `InMemoryStore`; restarts, refused values, and a deleted thread."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from reverie.adapters.langgraph import store
from reverie.errors import ValidationError
from support.adapters import FreshSpaces, needs
from support.daemon import running_daemon
from support.soak import count

pytestmark = needs("langgraph.store.base", "langgraph-checkpoint")
LABELS = ("users", "ann", "bob", "Ann", "ü/7", "facts")


@pytest.fixture(scope="module")
def spaces() -> Iterator[FreshSpaces]:
    with running_daemon() as daemon:
        yield FreshSpaces(daemon)


def plain(result: Any) -> Any:
    """Return store items as comparable tuples of namespace, key, value and score, without their times."""
    if isinstance(result, list):
        return [plain(each) for each in result]
    if hasattr(result, "namespace"):
        return result.namespace, result.key, result.value, getattr(result, "score", None)
    return result


class Steps:
    """Random operations on a few namespaces and keys, so that they meet."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def draw(self) -> Any:
        """Return one operation."""
        from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp

        chance = self.chance
        match chance.choice(("put", "put", "put", "get", "search", "search", "list", "delete")):
            case "put":
                return PutOp(self.namespace(), self.key(), self.value())
            case "get":
                return GetOp(self.namespace(), self.key())
            case "delete":
                return PutOp(self.namespace(), self.key(), None)
            case "search":
                depth = chance.randrange(0, 3)
                size, skipped = chance.choice((1, 3, 10, 100)), chance.choice((0, 0, 1, 4))
                return SearchOp(self.namespace()[:depth], self.filter(), size, skipped)
            case _:
                path = tuple(chance.choice((*LABELS, "*")) for _ in range(chance.choice((1, 1, 2))))
                at = MatchCondition(match_type=chance.choice(("prefix", "suffix")), path=path)
                conditions = chance.choice((None, (at,)))
                return ListNamespacesOp(conditions, chance.choice((None, 1, 2)), chance.choice((2, 100)), 0)

    def namespace(self) -> tuple[str, ...]:
        """Return a namespace of one to three labels."""
        return tuple(self.chance.choice(LABELS) for _ in range(self.chance.choice((1, 2, 2, 3))))

    def key(self) -> str:
        """Return a key."""
        return self.chance.choice(("a", "A", "profile", "long " * 40, "ü/é"))

    def value(self) -> dict[str, Any]:
        """Return a value that has a number at `n`."""
        extra = self.chance.choice(({}, {"text": "likes tea"}, {"deep": {"list": [1, {"x": None}], "n": 2}}))
        return {"n": self.chance.choice((1, 2.5, -3, 4)), **extra}

    def filter(self) -> Any:
        """Return a filter, which compares numbers alone."""
        operator = self.chance.choice(("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"))
        return self.chance.choice(
            (None, {}, {"n": 1}, {"n": {operator: 2}}, {"deep": {"n": 2}}, {"deep": {"list": [1, {"x": None}]}})
        )


def test_random_steps_have_the_results_of_the_reference(spaces: FreshSpaces) -> None:
    """Random batches, by two of our stores with one name, have the results of `InMemoryStore`, in its order."""
    from langgraph.store.base import ListNamespacesOp
    from langgraph.store.memory import InMemoryStore

    steps = Steps(random.Random(15))
    reference = InMemoryStore()
    with spaces.blocking() as client, spaces.blocking() as elsewhere:
        ours = [store(client), store(client), store(client, "another")]
        store(elsewhere).put(("users",), "a", {"n": 1})
        done = 0
        while done < count(300, 10_000):
            ops = [steps.draw() for _ in range(steps.chance.choice((1, 1, 2, 5)))]
            ops.sort(key=lambda op: not isinstance(op, ListNamespacesOp))  # a get leaves an empty one in theirs
            done += len(ops)
            assert plain(steps.chance.choice(ours[:2]).batch(ops)) == plain(reference.batch(ops))
            for namespace in [name for name, items in reference._data.items() if not items]:
                del reference._data[namespace]  # one without items is not there in ours
        assert ours[2].search(()) == []


def test_a_query_ranks_what_has_its_words(spaces: FreshSpaces) -> None:
    """Items with the words of a query come first, with a score; `index` says which texts of an item count."""
    with spaces.blocking() as client:
        kept = store(client)
        kept.put(("facts",), "boat", {"text": "The pilot boat is at pier 7."})
        kept.put(("facts",), "tea", {"text": "Ann likes tea."})
        kept.put(("facts",), "hidden", {"text": "Another pilot boat."}, index=False)
        kept.put(("facts",), "part", {"title": "crane", "text": "pilot boat"}, index=["title"])

        found = kept.search(("facts",), query="where is the pilot boat?")
        assert [item.key for item in found] == ["boat", "tea", "hidden", "part"]
        assert [item.score is None for item in found] == [False, True, True, True]
        assert kept.search(("facts",), query="crane", limit=1)[0].key == "part"
        kept.put(("facts",), "tea", {"text": "Ann likes the pilot boat, the pilot boat alone."})
        kept.delete(("facts",), "boat")
        assert kept.search(("facts",), query="pilot boat", limit=1)[0].key == "tea"


def test_another_process_finds_what_was_put(spaces: FreshSpaces) -> None:
    """A second store object returns the items; no context has any of them, and no memory is learnt from them."""
    with spaces.blocking() as client:
        kept: Any = store(client, "shared", project="harbour")
        kept.put(("users", "ann"), "profile", {"text": "I always prefer green tea over coffee."})
        kept.put(("users", "ann"), "profile", {"text": "I always prefer black tea over coffee."})
        item = store(client, "shared").get(("users", "ann"), "profile")

        assert item is not None
        assert item.value == {"text": "I always prefer black tea over coffee."}
        assert item.created_at <= item.updated_at
        item.value["text"] = "changed"
        assert kept.get(("users", "ann"), "profile").value["text"] != "changed"
        client.learn(kept.thread)
        assert client.memories().items == []
        assert "tea" not in str(client.context(kept.thread).request)
        assert (client.thread(kept.thread).tokens, client.thread(kept.thread).project) == (0, "harbour")


def test_what_is_no_json_is_refused(spaces: FreshSpaces) -> None:
    """A batch with a value that cannot be stored changes nothing, and a time to live is refused by the base class."""
    from langgraph.store.base import PutOp

    with spaces.blocking() as client:
        kept = store(client)
        with pytest.raises(ValidationError, match="not JSON"):
            kept.batch([PutOp(("a",), "fine", {"n": 1}), PutOp(("a",), "wrong", {"n": object()})])
        with pytest.raises(ValidationError, match="JSON has no number"):
            kept.batch([PutOp(("a",), "fine", {"n": 1}), PutOp(("a",), "wrong", {"n": float("nan")})])
        assert kept.search(()) == []
        with pytest.raises(RuntimeError, match="TTL"):
            kept.put(("a",), "k", {"n": 1}, ttl=5)


def test_a_deleted_thread_empties_the_store(spaces: FreshSpaces) -> None:
    """After the thread is deleted the store is empty, also one that had read it; it can be used again."""
    with spaces.blocking() as client:
        kept: Any = store(client)
        for key in "abc":
            kept.put(("n",), key, {"n": 1})
        assert len(kept.search(())) == 3
        client.delete_thread(kept.thread, confirm=kept.thread)
        assert kept.search(()) == []
        kept.put(("n",), "d", {"n": 1})
        assert [item.key for item in kept.search(())] == ["d"]


def test_asynchronous_calls(spaces: FreshSpaces) -> None:
    """Twenty concurrent `aput` calls are all stored; `asearch` and `alist_namespaces` return them."""

    async def run() -> None:
        with spaces.blocking() as client:
            kept = store(client)
            await asyncio.gather(*(kept.aput(("n",), str(number), {"n": number}) for number in range(20)))
            found = await kept.asearch(("n",), limit=50)
            assert sorted(item.value["n"] for item in found) == list(range(20))
            assert await kept.alist_namespaces() == [("n",)]

    asyncio.run(run())
