"""Files that a person splits, joins or appends to another: each line stays the memory that it was, with its author."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.client import Client
from reverie.errors import Conflict
from reverie.wire import CreateMemory
from support.daemon_folder import tree

BOATS = ("The pilot boat is green and has two oars", "The gate of the harbour opens with the tide")
PIERS = (
    "The lamp of the pier burns oil until dawn",
    "Boats queue at the south gate in the morning",
    "The lock keeper drinks black tea",
)


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.startswith("- ")]


def join(facts: Path) -> None:
    (facts / "all.md").write_text((facts / "boats.md").read_text() + (facts / "piers.md").read_text())
    (facts / "boats.md").unlink()
    (facts / "piers.md").unlink()


def append(facts: Path) -> None:
    with (facts / "piers.md").open("a") as file:
        file.write("\n".join(lines_of(facts / "boats.md")) + "\n")
    (facts / "boats.md").unlink()


def split(facts: Path) -> None:
    first, second = lines_of(facts / "boats.md")
    (facts / "one.md").write_text(f"# One\n\n{first}\n- Something else about the first of two boats\n")
    (facts / "two.md").write_text(f"# Two\n\n- Something else about the other one of them\n{second}\n")
    (facts / "boats.md").unlink()


def test_a_line_that_was_copied_and_then_deleted_is_not_forgotten() -> None:
    """An agent may write near to it, until the copy is deleted too."""
    near = CreateMemory(type="fact", content="The pilot boat is green and has four oars")
    with tree() as own:
        text = "# Boats\n\n" + "".join(f"- {line}\n" for line in BOATS)
        own.save("facts/boats.md", text)
        own.agree()
        own.save("facts/copy.md", text + "- Another line of this file\n")
        own.agree()
        own.path("facts/boats.md").unlink()
        own.agree()
        token = own.client.create_token("default", agent="claude").token
        with Client(own.daemon.socket, token=str(token)) as agent:
            made = agent.remember(near).id
            agent.forget(made)
            own.path("facts/copy.md").unlink()
            own.agree()
            with pytest.raises(Conflict, match="forgotten"):
                agent.remember(near)


@pytest.mark.parametrize("change", [join, append, split])
def test_the_lines_of_files_keep_their_ids_and_authors(change: object) -> None:
    """None of them counts as forgotten: an agent may write near to what is in the folder still."""
    with tree() as own:
        facts = own.path("facts")
        for name, lines in (("boats", BOATS), ("piers", PIERS)):
            own.save(f"facts/{name}.md", f"# {name}\n\n" + "".join(f"- {line}\n" for line in lines))
        own.agree()
        token = own.client.create_token("default", agent="claude").token
        with Client(own.daemon.socket, token=str(token)) as agent:
            text = own.client.document("facts/boats.md")
            agent.patch_document("facts/boats.md", [(BOATS[1], f"{BOATS[1]} at noon")])
            assert text.content != own.client.document("facts/boats.md").content
            own.agree()
            before = {memory.content: (memory.id, memory.trust) for memory in own.client.memories().items}
            assert {trust for _, trust in before.values()} == {"person", "agent"}

            assert callable(change)
            change(facts)
            own.agree()

            after = {memory.content: (memory.id, memory.trust) for memory in own.client.memories().items}
            assert before.items() <= after.items()
            agent.remember(CreateMemory(type="fact", content="The pilot boat is green and has four oars"))


def test_two_folders_that_change_places_keep_the_authors_of_their_lines() -> None:
    """The lines of two projects are much alike; an agent's stays an agent's, and has its own id at its new path."""
    with tree() as own:
        for name in ("harbour", "pier"):
            lines = (f"- The build of the {name} runs on server {number}\n" for number in range(3))
            own.save(f"facts/{name}/project.md", f"# Project\n\n{''.join(lines)}")
        own.agree()
        token = own.client.create_token("default", agent="claude").token
        with Client(own.daemon.socket, token=str(token)) as agent:
            agent.append_entry("facts/harbour/project.md", "- The build of the harbour runs on server 3")
        own.agree()
        before = {memory.content: (memory.id, memory.trust) for memory in own.client.memories().items}

        facts = own.path("facts")
        for old, new in (("harbour", "z"), ("pier", "harbour"), ("z", "pier")):
            (facts / old).rename(facts / new)
        own.agree()

        assert "harbour runs on server 3" in own.read("facts/pier/project.md")
        assert {memory.content: (memory.id, memory.trust) for memory in own.client.memories().items} == before


def test_an_edited_line_that_moves_to_another_file_is_the_same_memory() -> None:
    """A line that was edited in its file, and then cut out there and pasted elsewhere, is not named as left out."""
    with tree(REVERIE_SYNC_DEBOUNCE_MS="2000") as own:
        own.save("facts/boats.md", "# Boats\n\n" + "".join(f"- {line}\n" for line in BOATS))
        own.save("facts/piers.md", f"# Piers\n\n- {PIERS[0]}\n")
        own.agree()
        own.save("facts/boats.md", f"# Boats\n\n- {BOATS[0]}\n- {BOATS[1]} at noon\n")
        own.agree()
        before = {memory.content: memory.id for memory in own.client.memories().items}

        own.save("facts/piers.md", f"# Piers\n\n- {PIERS[0]}\n- {BOATS[1]} at noon\n")
        own.save("facts/boats.md", f"# Boats\n\n- {BOATS[0]}\n")
        own.agree()

        assert {memory.content: memory.id for memory in own.client.memories().items} == before
        assert own.client.sync_status().left_out == []
