"""Recall as it is served: silent about what is unrelated, `minScore`, `peek`, the tool, and the tier of a context."""

from __future__ import annotations

import json

import pytest

from reverie import wire
from reverie.client import Client
from reverie.relevance import threshold

FACTS = (
    "The ferry timetable is generated from tides.csv",
    "The staging database listens on port 5544",
    "Radar images expire after ten days",
    "Integration tests need the harbour simulator",
)
QUESTION, UNRELATED = "which port has the staging database?", "explain gradient descent and radar to a student"


@pytest.fixture(scope="module", autouse=True)
def _remembered(client: Client) -> None:
    for fact in FACTS:
        client.remember(wire.CreateMemory(content=fact))


def test_an_unrelated_query_has_no_hits_and_says_so(client: Client) -> None:
    """A query that no memory is related to has no hits; the weaker ones are counted, and `min_score` 0 shows them."""
    silent = client.recall(UNRELATED)
    assert (silent.hits, silent.weaker, silent.tokens) == ([], 1, 0)
    assert silent.min_score == threshold(len(FACTS))
    shown = client.recall(UNRELATED, min_score=0)
    assert [hit.memory.content for hit in shown.hits] == [FACTS[2]]
    assert (shown.weaker, shown.min_score) == (0, 0)
    assert shown.hits[0].relevance <= silent.min_score
    assert "radar" in shown.hits[0].why
    answered = client.recall(QUESTION)
    assert answered.hits[0].memory.content == FACTS[1]
    assert answered.hits[0].relevance > answered.min_score


def test_a_peek_counts_no_access(client: Client) -> None:
    """A recall with `peek` returns the same hits and does not increase their access count."""
    before = client.recall(QUESTION).hits[0].memory
    peeked = client.recall(QUESTION, peek=True).hits[0].memory
    assert peeked == before
    assert client.memory(before.id).access_count == before.access_count
    assert client.recall(QUESTION).hits[0].memory.access_count == before.access_count + 1


def test_the_tool_is_silent_too(client: Client) -> None:
    """For an unrelated query the recall tool shows no memory, and says that `minScore` 0 shows the weaker ones."""
    silent = json.loads(client.call_tool("recall", {"query": UNRELATED}).content)
    assert silent["memories"] == []
    assert "minScore 0" in silent["weaker"]
    shown = json.loads(client.call_tool("recall", {"query": UNRELATED, "minScore": 0}).content)
    assert [item["content"] for item in shown["memories"]] == [FACTS[2]]
    assert "weaker" not in shown
    assert "weaker" not in json.loads(client.call_tool("recall", {"query": QUESTION}).content)


def test_a_context_has_only_related_memories(client: Client) -> None:
    """A context has no memories unrelated to its last message, and the text of a recalled episode only once."""
    client.create_thread(id="silent")
    client.append("silent", [{"role": "user", "content": "compose a melody in A minor for the flute"}])
    assert client.context("silent").tokens.recall == 0
    client.append("silent", [{"role": "assistant", "content": "Here it is."}, {"role": "user", "content": QUESTION}])
    assert client.context("silent").tokens.recall > 0
    episode = {"content": "Ported the anchor winch", "type": "episode", "title": "Anchor winch"}
    client.remember(wire.parse(wire.CreateMemory, {**episode, "fields": {"Task": "port the winch to metric bolts"}}))
    request = json.dumps(wire.plain(client.context("silent", query="anchor winch metric bolts").request))
    assert request.count("Ported the anchor winch") == request.count("Anchor winch") == 1
