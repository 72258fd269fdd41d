"""A person's file and an agent's write in the same moment: every line is in one memory."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from support.daemon_folder import Tree, tree
from support.soak import count

ROUNDS = count(3, 40)


@pytest.fixture(scope="module")
def own() -> Iterator[Tree]:
    """Yield one folder for tests with files of their own."""
    with tree() as made:
        yield made


def memories(own: Tree, *words: str) -> Counter[str]:
    """Return how many memories, and lines of files, have each of these words."""
    own.agree()
    found = [memory.content for memory in own.client.memories(limit=1000).items]
    lines = [line for file in own.root.glob("facts/**/*.md") for line in file.read_text("utf-8").splitlines()]
    listed = [line for line in lines if not line.startswith("> Summary:")]
    return Counter({word: sum(word in text for text in (*found, *listed)) for word in words})


@pytest.mark.parametrize("new", ["facts/Host{}.md", "facts/moved/host{}.md", "facts/farm{}.md"])
def test_a_rename_beside_an_agents_write(own: Tree, new: str) -> None:
    """The file is renamed while an agent writes to its old path: no memory is there twice, none is lost."""
    for number in range(ROUNDS):
        case = f"{new.count('o')}{len(new)}x{number}"
        old, words = f"facts/host{case}.md", [f"w{case}x{at}" for at in range(3)]
        own.client.put_document(old, f"# Hosts\n\n- The {words[0]} server is slow\n- The {words[1]} server is green\n")
        own.agree()
        target = own.path(new.format(case))
        target.parent.mkdir(parents=True, exist_ok=True)
        write = threading.Thread(target=own.client.append_entry, args=(old, f"- The {words[2]} server is new"))
        write.start()
        own.path(old).rename(target)
        write.join()

        assert memories(own, *words) == dict.fromkeys(words, 2)


def test_a_file_made_beside_an_agents_first_memory(own: Tree) -> None:
    """A person makes the file that an agent's first memory is being written to: both lines are memories."""
    for number in range(ROUNDS):
        name, words = f"facts/made{number}.md", [f"pw{number}x", f"aw{number}x"]
        write = threading.Thread(target=own.client.append_entry, args=(name, f"- The {words[1]} server is new"))
        write.start()
        own.save(name, f"# Mine\n\n- The {words[0]} server is slow\n")
        write.join()

        assert memories(own, *words) == dict.fromkeys(words, 2)
        assert own.client.conflicts().items == []
