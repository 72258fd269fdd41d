"""Memories over the API: lists, filters, recall, documents and history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, check_refused, running_daemon
from support.pages import all_items, newest_operation
from support.story import WHY, session_file

KINDS = ("skill", "fact", "procedure", "observation", "mistake", "preference", "episode")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that has learnt from three sessions."""
    folder = tmp_path_factory.mktemp("sessions")
    with running_daemon() as running:
        with Client(running.socket) as client:
            for number in range(3):
                client.distill(
                    str(
                        import_file(
                            client, session_file(folder, number, turns=6, why=WHY), program="claude-code"
                        ).thread
                    )
                )
        yield running


def test_memories_are_listed_to_the_end(client: Client) -> None:
    """Pages of any size give every memory once; each memory is complete and can be read by its id."""
    memories = client.memories(limit=1000).items
    assert len(memories) >= 7
    assert {"preference", "episode"} <= {memory.type for memory in memories}
    for size in (1, 2, 5):
        assert all_items(client.memories, size) == memories
    for memory in memories:
        assert client.memory(memory.id) == memory
        assert memory.content
        assert memory.document.endswith(".md")
        assert memory.provenance["thread"].startswith("thr_")
        assert (memory.trust, memory.access_count, memory.last_accessed_at) == ("engine", 0, None)


@pytest.mark.parametrize("kind", KINDS)
def test_memories_are_filtered_by_type(client: Client, kind: Any) -> None:
    """The list has exactly the memories of the type, also in pages of one."""
    expected = [memory for memory in client.memories(limit=1000).items if memory.type == kind]
    assert client.memories(kind=kind).items == expected
    assert all_items(client.memories, 1, kind=kind) == expected


def test_memories_are_filtered_by_tag(client: Client) -> None:
    """The list has exactly the memories with the tag."""
    memories = client.memories(limit=1000).items
    tag = next(tag for memory in memories for tag in memory.tags)
    assert client.memories(tag=tag).items == [memory for memory in memories if tag in memory.tags]
    assert client.memories(tag=f"#{tag.upper()}").items == client.memories(tag=tag).items
    assert client.memories(tag="nobody-wrote-this").items == []


def test_a_memory_has_a_history(client: Client) -> None:
    """The history of a memory has numbered versions, each with its operation; the last is the current memory."""
    for memory in client.memories().items:
        versions = client.memory_history(memory.id).items
        assert [version.version for version in versions] == list(range(1, len(versions) + 1))
        last = versions[-1]
        assert last.memory is not None
        assert (last.memory.content, last.why) == (memory.content, "thread.distill")
        changed = [(change.kind, change.key) for change in client.operation(last.operation).changes]
        assert ("memory", [memory.id]) in changed


def test_an_unknown_memory_is_not_found(client: Client) -> None:
    """Reading a memory or a history by an unknown id raises NotFound."""
    for call in (client.memory, client.memory_history):
        with pytest.raises(NotFound, match="no memory"):
            call("mem_absent")


def test_recall_ranks_matching_memories(client: Client) -> None:
    """Recall returns matching memories best first and counts an access, without making an operation."""
    name = next(item.content for item in client.memories(kind="preference").items if "`" in item.content).split("`")[1]
    answer = client.recall(f"may I change {name}?")
    best = answer.hits[0].memory

    assert name in best.content
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert answer.hits[0].why
    assert 0 < answer.tokens <= 1_500
    record = client.memory(best.id)
    assert record.access_count == best.access_count >= 1
    assert record.last_accessed_at is not None
    operation = newest_operation(client).id
    assert client.recall(name).hits[0].memory.access_count == record.access_count + 1
    assert newest_operation(client).id == operation


def test_recall_obeys_its_parameters(client: Client) -> None:
    """Limit, token budget, types and tags are obeyed; a query of unknown words finds nothing."""
    assert len(client.recall("may I change the signature", limit=1).hits) == 1
    small = client.recall("may I change the signature", token_budget=60)
    assert small.tokens <= 60
    assert len(small.hits) < len(client.recall("may I change the signature").hits)
    typed = client.recall("a regression test, or another signature", types=["preference"], min_score=0).hits
    assert {hit.memory.type for hit in typed} == {"preference"}
    tag = next(item.tags for item in client.memories(kind="preference").items if item.tags)[:1]
    tagged = client.recall("may I change the signature", tags=tag, min_score=0).hits
    assert tagged
    for hit in tagged:
        assert set(tag) & set(hit.memory.tags)
    assert client.recall("zyzzyva quokka").hits == []
    assert client.recall("zyzzyva quokka").tokens == 0


def test_a_recall_with_a_key_counts_once(daemon: Daemon, client: Client) -> None:
    """A repeated recall with its key has the same answer and counts one access."""
    memory = client.memories(kind="preference").items[0]
    key = {"Idempotency-Key": "recalled once"}
    first, again = (daemon.ask("POST", "/v1/recall", {"query": memory.content}, key) for _ in range(2))
    assert first.body == again.body
    assert client.memory(memory.id).access_count == next(
        hit["memory"]["accessCount"] for hit in first.json()["hits"] if hit["memory"]["id"] == memory.id
    )
    check_refused(daemon.ask("POST", "/v1/recall", {"query": "other"}, key), 409, "conflict")


def test_documents_contain_the_memories(client: Client, daemon: Daemon) -> None:
    """Documents are listed by path in pages, with ETags; every memory's document can be read."""
    documents = client.documents(limit=1000).items
    paths = [document.path for document in documents]
    assert paths == sorted(paths)
    assert {"MEMORY.md", "facts/harbour/preferences.md"} <= set(paths)
    for projected in ("MEMORY-INDEX.json", "memory/long-term-memory.json"):
        assert projected not in paths
        assert client.document(projected).content == (daemon.folder / projected).read_text("utf-8")
    assert all_items(client.documents, 2) == documents
    for document in documents:
        text = client.document(document.path)
        assert (text.etag, text.size) == (document.etag, len(text.content.encode()))
        assert daemon.ask("GET", f"/v1/documents/{document.path}").headers["etag"] == f'"{document.etag}"'
    for memory in client.memories(limit=1000).items:
        assert client.document(memory.document).content
    index = daemon.ask("GET", "/v1/index").json()
    assert index["text"].startswith("Available memory:")
    assert [item["path"] for item in index["items"]] == [
        path for path in paths if path.startswith(("facts/", "episodes/"))
    ]


@pytest.mark.parametrize("path", ["facts/absent.md", "nothing", "MEMORY.md/x"])
def test_an_absent_document_is_not_found(client: Client, path: str) -> None:
    """A valid path without a document is 404."""
    with pytest.raises(NotFound, match="no document"):
        client.document(path)


@pytest.mark.parametrize(
    "path", ["..%2fdaemon.lock", "facts/../../x", "facts//x.md", "%00", "a/./b", "~/x", "CON", "a%5Cb"]
)
def test_a_path_that_leads_elsewhere_is_refused(daemon: Daemon, path: str) -> None:
    """A path that leads outside the folder is refused with 400, and not looked up."""
    check_refused(daemon.ask("GET", f"/v1/documents/{path}"), 400, "validation_error")


def test_a_space_without_memories_has_no_index() -> None:
    """An empty space has empty lists and an empty text; recall finds nothing."""
    with running_daemon() as own, Client(own.socket) as client:
        assert own.ask("GET", "/v1/index").json() == {"text": "", "items": []}
        assert client.memories().items == []
        assert client.documents().items == []
        assert client.recall("anything").hits == []
        with pytest.raises(ValidationError):
            client.memories(limit=0)


@pytest.mark.parametrize(
    "body",
    [
        {"content": "the tide gauge is at pier 4"},
        {"content": "the tide gauge\nneeds *oil* #now", "document": "facts/gauge.md", "tags": ["ops"]},
        {"content": "deploy with ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5", "type": "procedure"},
        {"content": "- Lesson: oil it", "title": "Gauge stuck", "type": "episode"},
    ],
)
def test_an_exact_duplicate_is_the_memory_that_is_there(daemon: Daemon, body: dict[str, Any]) -> None:
    """Creating an equal memory again answers 200 with `existed`; other tags are joined, other words make a new one."""
    first = daemon.ask("POST", "/v1/memories", body)
    assert (first.status, first.json()["existed"]) == (201, False)
    before = daemon.ask("GET", "/v1/status").json()
    again = daemon.ask("POST", "/v1/memories", body)
    assert (again.status, again.json()) == (200, first.json() | {"existed": True})
    assert again.headers["location"] == first.headers["location"]
    after = daemon.ask("GET", "/v1/status").json()
    assert (after["operation"], after["counts"]) == (before["operation"], before["counts"])
    tagged = daemon.ask("POST", "/v1/memories", body | {"tags": ["more"]})
    assert (tagged.status, tagged.json()["id"]) == (200, first.json()["id"])
    assert tagged.json()["tags"] == [*first.json()["tags"], "more"]
    assert daemon.ask("POST", "/v1/memories", body | {"content": body["content"] + " too"}).status == 201


def test_tags_of_an_agent_do_not_change_a_persons_line(client: Client) -> None:
    """An agent that remembers a person's statement with another tag gets it as it is; a person adds one."""
    mine = client.remember(wire.CreateMemory("The pilot boat leaves at six", tags=["boat"], author="person"))
    theirs = client.remember(wire.CreateMemory("The pilot boat leaves at six", tags=["ops"], author="agent"))
    assert (theirs.id, theirs.existed, theirs.tags, theirs.trust) == (mine.id, True, ["boat"], "person")
    other = client.remember(wire.CreateMemory("The tug leaves at seven", author="agent"))
    joined = client.remember(wire.CreateMemory("The tug leaves at seven", tags=["tug"], author="person"))
    assert (joined.id, joined.tags) == (other.id, ["tug"])
