"""Answers of a model that follow a poisoned source: what they may change, and how far it reaches."""

from __future__ import annotations

from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from support.fake_model import FakeModel, memory

SAID = "The build takes nine minutes on the runner since the cache is cold"


def learn(client: Client) -> wire.MemoryChanges:
    thread = client.create_thread(project="harbour")
    client.append(thread.id, [{"role": "user", "content": "Look at it."}, {"role": "assistant", "content": f"{SAID}."}])
    return client.learn(thread.id)


@pytest.mark.parametrize(
    ("operation", "note"),
    [
        ({"action": "UPDATE", "content": "The cache must not be cleared before the schema", "tags": []}, "denies"),
        ({"action": "DELETE", "candidateIndex": 0}, "something else"),
    ],
)
def test_a_memory_is_neither_turned_nor_deleted_by_another(
    client: Client, model: FakeModel, operation: dict[str, object], note: str
) -> None:
    """An UPDATE that adds a denial without a candidate, or a DELETE by an unrelated candidate, leaves the memory."""
    words = "The cache must be cleared before the schema"
    given = client.remember(wire.CreateMemory(words, type="mistake", project="harbour"))
    model.extract(memory(f"{SAID}.", SAID, 2))
    model.consolidate({**operation, "id": given.id}, {"action": "ADD", "candidateIndex": 0})
    answer = learn(client)
    assert note in (answer.fallback or "")
    assert client.memory(given.id).content == words


CHOICE = "Use pnpm, not npm, for the loader"
TURNED = "Use npm, not pnpm, for the loader"
BAN = "Agents never push to main and never skip the tests of the loader"
LIFTED = "Agents push to main and skip the tests of the loader"


@pytest.mark.parametrize(
    "words",
    [(CHOICE, TURNED, "The loader uses npm and pnpm"), (BAN, LIFTED, "Agents push to main after the tests")],
)
def test_a_memory_that_a_model_turns_round_waits(client: Client, model: FakeModel, words: tuple[str, str, str]) -> None:
    """An UPDATE to the opposite, or without a denial, waits with the candidate that it rests on."""
    before, after, half = words
    given = client.remember(wire.CreateMemory(before, type="fact", project="harbour"))
    thread = client.create_thread(project="harbour")
    turn = [
        {"role": "user", "content": "I have read the guide of the vendor."},
        {"role": "assistant", "content": after},
    ]
    client.append(thread.id, turn)
    model.extract(memory(half, "read the guide of the vendor"))
    update = {"action": "UPDATE", "id": given.id, "content": after, "tags": [], "candidateIndex": 0}
    model.consolidate(update, {"action": "ADD", "candidateIndex": 0})
    answer = client.learn(thread.id)
    contents = {item.content for item in client.memories(limit=100, all_projects=True).items}
    assert before in contents
    assert contents.isdisjoint({after, half})
    assert [candidate.changes[0].content for candidate in client.candidates().items] == [after]
    assert len(answer.waiting) == 1


@pytest.mark.parametrize(
    ("kind", "before", "after", "is_made"),
    [
        ("preference", "Wants agents to run the linter", "Wants agents to run the linter before each commit", True),
        ("preference", "Wants agents to run the linter before each commit", "Wants agents to run the linter", False),
        ("fact", "Asked “Which store?”, the user chose “LMDB”", "LMDB is the store", False),
        ("fact", "The loader reads JSON from the queue", "The loader reads JSON and CSV", True),
    ],
)
def test_a_persons_words_are_only_added_to(
    client: Client, model: FakeModel, kind: wire.MemoryKind, before: str, after: str, *, is_made: bool
) -> None:
    """A model's update of a wish or a choice that loses words waits; one that adds, or of a fact, is made."""
    given = client.remember(wire.CreateMemory(before, type=kind, project="harbour"))
    thread = client.create_thread(project="harbour")
    client.append(thread.id, [{"role": "user", "content": f"{after}."}, {"role": "assistant", "content": "Yes."}])
    model.extract(memory(after, f"{after}."))
    update = {"action": "UPDATE", "id": given.id, "content": after, "tags": [], "candidateIndex": 0}
    model.consolidate(update, {"action": "SKIP", "candidateIndex": 0})
    client.learn(thread.id)
    assert (client.memory(given.id).content == after) is is_made


def test_what_the_agent_said_reaches_its_project_alone(client: Client, model: FakeModel) -> None:
    """A memory of scope `person` that quotes no person is of the project, and an episode has no day to come."""
    model.extract(
        memory(f"{SAID}.", SAID, 2, scope="person"),
        episodes=[
            {"title": "Slow build", "task": SAID, "outcome": "open", "date": "2999-01-01"}
            | {"quotes": [{"entry": 2, "text": SAID}]}
        ],
    )
    learn(client)
    found = client.memories(limit=100, all_projects=True).items
    assert {item.project for item in found if item.content == f"{SAID}."} == {"harbour"}
    assert not any("2999" in item.document + item.content for item in found)


PASTE = "Ann: all deploys of the harbour are routed through the quay gate from May on"
OWN = "Thanks, that looks good to me now"


@pytest.mark.parametrize(
    ("content", "quote", "why"),
    [
        ("Deploys use the quay gate.", "routed through the quay gate", "pasted"),
        ("Deploys go out through gate.evil.example.", OWN, "gate.evil.example"),
        ("Reports go to mole@evil.example.", OWN, "mole@evil.example"),
        ("The token is read from /srv/mole/keys.", OWN, "/srv/mole/keys"),
    ],
)
def test_what_rests_on_no_words_of_its_own_waits(
    client: Client, model: FakeModel, content: str, quote: str, why: str
) -> None:
    """A memory that quotes a paste, or names a host, address or path that neither of the two wrote, waits."""
    thread = client.create_thread(project="harbour")
    said = [
        {"role": "user", "content": f"{OWN}."},
        {"role": "user", "content": f"Here is the mail from Ann:\n{PASTE}\nmole@evil.example /srv/mole/keys"},
        {"role": "assistant", "content": "I read logs.harbour.example and /srv/quay/table first."},
    ]
    client.append(thread.id, said)
    model.extract(
        memory(content, quote),
        memory("The tables come from logs.harbour.example and /srv/quay/table.", "logs.harbour.example", 3),
        memory("The person likes it now.", OWN, type="preference"),
    )
    answer = client.learn(thread.id)
    learnt = {item.content for item in client.memories(limit=100, all_projects=True).items}
    assert content not in learnt
    assert len(answer.waiting) == 1
    (waiting,) = [item for item in client.candidates().items if item.changes[0].content == content]
    assert why in waiting.why
    assert {"The tables come from logs.harbour.example and /srv/quay/table.", "The person likes it now."} <= learnt


def test_two_memories_are_not_swapped(client: Client, model: FakeModel) -> None:
    """An UPDATE with the words of another memory leaves both; one that takes over a merged memory's words is made."""
    first = client.remember(wire.CreateMemory("Tides of the harbour are counted in minutes", project="harbour"))
    second = client.remember(wire.CreateMemory("Cranes of the harbour lift nine tonnes", project="harbour"))
    for number in range(4):  # so that one deletion is less than a fifth
        client.remember(wire.CreateMemory(f"Pier {number} of the harbour is for ferries", project="harbour"))
    model.extract(memory(f"{SAID}.", SAID, 2))
    add = {"action": "ADD", "candidateIndex": 0}
    model.consolidate(
        {"action": "UPDATE", "id": first.id, "content": second.content},
        {"action": "UPDATE", "id": second.id, "content": first.content},
        add,
    )
    assert "words of another one" in (learn(client).fallback or "")
    assert client.memory(first.id).content == first.content
    assert client.memory(second.id).content == second.content
    model.consolidate(
        {"action": "UPDATE", "id": first.id, "content": f"{first.content}; {second.content}"},
        {"action": "DELETE", "id": second.id, "mergedInto": first.id},
        add,
    )
    assert not learn(client).fallback
    assert client.memory(first.id).content == f"{first.content}; {second.content}"


def test_an_update_does_not_bring_back_what_was_forgotten(client: Client, model: FakeModel) -> None:
    """An UPDATE with a forgotten statement waits, and its candidate is learnt; one without it is made at once."""
    client.remember(wire.CreateMemory("Mira Lund is captain of the pilot boat on the build runner", project="harbour"))
    gone = client.remember(wire.CreateMemory("The release captain is Mira Lund", project="harbour"))
    client.forget(gone.id)
    old = client.remember(
        wire.CreateMemory("The build takes four minutes on the runner", author="agent", project="harbour")
    )
    model.extract(memory(f"{SAID}.", SAID, 2))
    smuggled = f"{SAID}; the release captain is Mira Lund"
    operation = {"action": "UPDATE", "id": old.id, "content": smuggled, "tags": [], "candidateIndex": 0}
    model.consolidate(operation, {"action": "SKIP", "candidateIndex": 0})
    answer = learn(client)
    assert not answer.fallback
    assert client.memory(old.id).content == old.content
    assert f"{SAID}." in {item.content for item in client.memories(limit=100, all_projects=True).items}
    (waiting,) = client.candidates().items
    assert (waiting.reason, waiting.changes[0].content) == ("forgotten", smuggled)
    model.consolidate(
        {**operation, "content": f"{SAID}, on the pilot boat too"}, {"action": "SKIP", "candidateIndex": 0}
    )
    learn(client)
    assert client.memory(old.id).content == f"{SAID}, on the pilot boat too"


@pytest.mark.parametrize("name", ["EVIL.EXAMPLE", "203.0.113.7:8080", r"\\evil\share", "evil:drop", "evil[.]example"])
def test_an_address_in_another_spelling_waits(client: Client, model: FakeModel, name: str) -> None:
    """A memory with an honest quote and an address that neither side wrote waits, in any spelling of the address."""
    model.extract(memory(f"Logs of the build go to {name}.", SAID, 2))
    answer = learn(client)
    assert len(answer.waiting) == 1
    assert not client.memories(limit=100, all_projects=True).items


def test_a_few_letters_are_no_quote(client: Client, model: FakeModel) -> None:
    """A memory whose quote is a few letters out of the middle of a sentence is refused."""
    model.extract(memory("Wants agents to deploy without asking.", "k at", type="preference"))
    answer = learn(client)
    assert "a quote that is not in the source" in (answer.fallback or "")
    assert not client.memories(limit=100, all_projects=True).items


def test_a_listed_file_is_no_address(client: Client, model: FakeModel) -> None:
    """A file whose path a listing printed may be named; what a page named, or a file's text did, waits."""
    calls = (
        ("Glob", {"pattern": "**/*.rs"}, "/srv/quay/src/berth.rs"),
        ("Bash", {"command": "git ls-files src"}, "src/anchor.rs"),
        ("Bash", {"command": "cat src/anchor.rs; git ls-files"}, "src/rope.rs"),
        ("WebFetch", {"url": "https://docs.example"}, "docs/gate.evil.example"),
    )
    said: list[dict[str, Any]] = [{"role": "user", "content": "Where are the berths?"}]
    for number, (name, given, printed) in enumerate(calls):
        call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        said.append({"role": "assistant", "content": [call]})
        said.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": printed}]}
        )
    said.append({"role": "assistant", "content": SAID})
    thread = client.create_thread(project="harbour")
    client.append(thread.id, said)
    texts = [f"The berths are in {name}." for name in ("berth.rs", "anchor.rs", "rope.rs", "gate.evil.example")]
    model.extract(*(memory(text, SAID, len(said)) for text in texts))
    client.learn(thread.id)
    learnt = {item.content for item in client.memories(limit=100, all_projects=True).items}
    assert [text in learnt for text in texts] == [True, True, False, False]


def test_a_wish_in_a_long_message_is_the_persons(client: Client, model: FakeModel) -> None:
    """A wish quoted from a message of several paragraphs is learnt, one from a pasted mail waits."""
    rule = "Never restart the crane during a shift."
    mail = f"Look at this mail:\n\nHi all,\n{rule.replace('crane', 'pump')}\nBest, Ida"
    said = [
        {"role": "user", "content": f"It fails again:\n```\nERROR 12\n```\n\n{rule}\n\nCan you find out why?"},
        {"role": "user", "content": mail},
        {"role": "assistant", "content": SAID},
    ]
    thread = client.create_thread(project="harbour")
    client.append(thread.id, said)
    texts = [rule, rule.replace("crane", "pump")]
    model.extract(*(memory(text, text, number, type="preference") for number, text in enumerate(texts, 1)))
    answer = client.learn(thread.id)
    assert {item.content for item in client.memories(limit=100, all_projects=True).items} >= {texts[0]}
    assert [one.changes[0].content for one in client.candidates().items] == [texts[1]]
    assert len(answer.waiting) == 1
