"""Results of agents' tools for prose, long files and summary lines."""

from __future__ import annotations

from support.daemon_folder import Tree
from support.pages import refused, result_of


def test_prose_becomes_bullets(folder: Tree) -> None:
    """A line or paragraph without a bullet becomes a bullet and a memory, and the tool's result says so."""
    client, path = folder.client, "facts/prose.md"
    first = result_of(client, "memory_append", path=path, entry="The lighthouse keeper is called Wendelin.")
    assert first["success"]
    assert "1 bullet was made" in first["note"]
    more = "The foghorn runs\non compressed air.\n\nThe slipway is closed in winter."
    assert "2 bullets" in result_of(client, "memory_append", path=path, entry=more)["note"]
    text = "# Prose\n\nThe winch is rated for nine tons.\n\n1. Grease it\n2. Lock it\n"
    assert "3 bullets" in result_of(client, "memory_write", path="facts/winch.md", content=text)["note"]
    assert result_of(client, "memory_append", path=path, entry="- Already a bullet") == {"success": True}
    contents = {item.content for item in client.memories(limit=1000).items}
    assert {
        "The lighthouse keeper is called Wendelin.",
        "The foghorn runs\non compressed air.",
        "The slipway is closed in winter.",
        "The winch is rated for nine tons.",
        "Grease it",
        "Lock it",
    } <= contents
    assert "Wendelin" in str(result_of(client, "recall", query="who is the lighthouse keeper"))
    assert folder.read("facts/winch.md").startswith("# Prose\n")
    known = folder.read("facts/winch.md")
    result_of(client, "memory_write", path="facts/winch.md", content="The winch is sold.")
    assert "nine tons" in known
    assert "nine tons" not in folder.read("facts/winch.md")


def test_prose_beside_bullets_is_named(folder: Tree) -> None:
    """A new paragraph beside bullets is kept in the file, and the results of write, append and patch quote it."""
    client, path = folder.client, "facts/mixed.md"
    intro = "What the crew agreed on."
    folder.save(path, f"# Mixed\n\n{intro}\n\n- The anchor is rusty\n")
    client.sync_now()
    text = result_of(client, "memory_read", path=path)
    assert result_of(client, "memory_write", path=path, content=text + "- The dinghy leaks\n") == {"success": True}
    text = result_of(client, "memory_read", path=path)
    prose = "The pilot boards\nat the outer buoy, which is green and has a bell that rings at night."
    note = result_of(client, "memory_write", path=path, content=f"{text}\n{prose}\n\n- The radio is new\n")["note"]
    assert '"The pilot boards at the outer buoy, which is green and has a…"' in note
    assert intro not in note
    entry = "- The flag is torn\n\n" + "\n\n".join(f"Sail {number} is mended." for number in range(5))
    note = result_of(client, "memory_append", path=path, entry=entry)["note"]
    assert note.endswith('"Sail 0 is mended.", "Sail 1 is mended.", "Sail 2 is mended." and 2 more')
    patches = [{"oldText": "Sail 4 is mended.", "newText": "The cook is new.\n\n| a |\n"}]
    patched = result_of(client, "memory_patch", path=path, patches=patches)
    assert patched["appliedCount"] == 1
    assert patched["note"].endswith('not a memory: "The cook is new.", "| a |"')
    assert prose in folder.read(path)
    contents = {item.content for item in client.memories(limit=1000).items if item.document == path}
    assert contents == {"The anchor is rusty", "The dinghy leaks", "The radio is new", "The flag is torn"}
    patches = [{"oldText": "The cook is new.", "newText": "- The cook is new"}]
    assert result_of(client, "memory_patch", path=path, patches=patches) == {"success": True, "appliedCount": 1}


def test_prose_before_the_first_episode_is_named(folder: Tree) -> None:
    """Prose above the episodes of a file is no memory, and the result says so; prose in an episode is part of it."""
    client, path = folder.client, "episodes/2031-02.md"
    episode = "## The mast broke\n\n- Lesson: Reef early\n\nIt was dark.\n"
    assert result_of(client, "memory_append", path=path, entry=episode) == {"success": True}
    note = result_of(client, "memory_write", path=path, content=f"# February\n\nA storm came.\n\n{episode}")["note"]
    assert '"A storm came."' in note
    assert '"## Title" section' in note
    assert "dark" not in note


def test_a_repeated_write_has_the_note_of_the_first(folder: Tree) -> None:
    """A write that is repeated with its key answers with the same note, also after the file has changed."""
    client, path = folder.client, "facts/keyed.md"
    fields = {"path": path, "content": "# Keyed\n\n- The tide turns\n\nThe moon is full.\n"}
    first = client.call_tool("memory_write", fields, key="once")
    result_of(client, "memory_append", path=path, entry="- The wind drops")
    again = client.call_tool("memory_write", fields, key="once")
    assert "The moon is full." in first.content
    assert again == first


def test_what_would_not_be_remembered_is_refused(folder: Tree) -> None:
    """Code, tables, quotes or an episode without a title are refused with the expected form; no file is made."""
    client = folder.client
    for text in ("```sh\nmake\n```", "| a | b |\n|---|---|\n| 1 | 2 |", "> quoted", "<b>bold</b>"):
        for name, field in (("memory_write", "content"), ("memory_append", "entry")):
            error = refused(client, name, path="facts/none.md", **{field: text})
            assert "as a bullet" in error
    assert "## Title" in refused(client, "memory_append", path="episodes/2031-01.md", entry="The mast broke.")
    assert "## Title" in refused(client, "memory_write", path="episodes/2031-01.md", content="The mast broke.")
    assert not (folder.root / "facts/none.md").exists()
    assert not (folder.root / "episodes/2031-01.md").exists()
    assert result_of(client, "memory_write", path="facts/none.md", content="# None yet\n")["success"]
    assert result_of(client, "memory_append", path="notes/log.md", entry="Any prose.") == {
        "success": True,
        "note": "this file holds no memories: facts/ and episodes/ do",
    }


def test_an_appended_list_is_a_memory_of_its_own(folder: Tree) -> None:
    """Each top bullet of an appended list is its own memory, though indented, numbered or marked by `•`."""
    client, path = folder.client, "facts/lists.md"
    result_of(client, "memory_append", path=path, entry="- The crane is blue")
    for entry in (
        "  - The quay is long\n    - and wet",
        "\t- The shed is red",
        "  1. The gate is shut\n  2. The bell is loud",
    ):
        result_of(client, "memory_append", path=path, entry=entry)
    assert (
        "2 bullets"
        in result_of(client, "memory_append", path=path, entry="• The lamp is lit\n• The rope is new")["note"]
    )
    contents = {item.content for item in client.memories(limit=1000).items if item.document == path}
    assert contents == {
        "The crane is blue",
        "The quay is long\n- and wet",
        "The shed is red",
        "The gate is shut",
        "The bell is loud",
        "The lamp is lit",
        "The rope is new",
    }


def test_an_entry_that_remembers_nothing_is_refused(folder: Tree) -> None:
    """Appending only a heading, an empty bullet, a day or a summary line is refused, and the file does not change."""
    client, path = folder.client, "facts/bare.md"
    text = "# Bare\n\n> Summary: Masts: three\n\n- Masts: three\n"
    result_of(client, "memory_append", path=path, entry="> Summary: Masts: three\n\n- Masts: three")
    before = folder.read(path)
    assert before.startswith(text)
    for entry in ("# Sails", "- ", "-", " ", "- Updated: 2026-01-01", "## Sails\n\n- Updated: 2026-01-01"):
        assert "as a bullet" in refused(client, "memory_append", path=path, entry=entry)
    for entry in ("> Summary: sails", "- Sails: two\n\n> Summary: sails"):
        assert "as `summary`" in refused(client, "memory_append", path=path, entry=entry)
    assert folder.read(path) == before


def test_a_long_file_is_read_in_parts(folder: Tree) -> None:
    """A long file is read in bounded parts, each naming the next offset, and may be written once all were read."""
    client, path = folder.client, "facts/long.md"
    text = "# Long\n\n" + "".join(f"- Buoy {number}: {'bright ' * 12}\n" for number in range(3_000))
    folder.save(path, text)
    client.sync_now()
    text = folder.read(path)
    parts: list[str] = []
    offset = 1
    while offset:
        part = result_of(client, "memory_read", path=path, offset=offset)
        assert len(part) < 33_000
        *lines, last = part.splitlines(keepends=True)
        if last.startswith("[lines "):
            offset = int(last.rpartition(" ")[2].rstrip("]\n"))
        else:
            lines, offset = [*lines, last], 0
        parts += lines
        if offset:
            assert "memory_read" in refused(client, "memory_write", path=path, content="# Long\n\n- Gone\n")
    assert "".join(parts) == text
    assert len(result_of(client, "memory_read", path=path, offset=7, limit=2).splitlines()) == 3
    assert "smaller offset" in refused(client, "memory_read", path=path, offset=9_999_999)
    assert "`limit` must be" in refused(client, "memory_read", path=path, limit=0)
    result_of(client, "memory_write", path=path, content="# Long\n\n- All read\n")


def test_a_patched_summary_line_holds_or_is_refused(folder: Tree) -> None:
    """A patch may set a summary line of up to ten words; a longer one, or a patch of the Updated line, is refused."""
    client, path = folder.client, "facts/summed.md"
    result_of(client, "memory_append", path=path, entry="- Cranes: two\n- Updated: 2026-01-01")
    day = next(line for line in folder.read(path).splitlines() if line.startswith("- Updated:"))
    error = refused(client, "memory_patch", path=path, patches=[{"oldText": day, "newText": "- Updated: 1999-01-01"}])
    assert "Reverie writes itself" in error
    line = next(line for line in folder.read(path).splitlines() if line.startswith("> Summary:"))
    result_of(client, "memory_patch", path=path, patches=[{"oldText": line, "newText": "> Summary: all about cranes"}])
    assert "> Summary: all about cranes\n" in folder.read(path)
    before = folder.read(path)
    long = "> Summary: " + "crane " * 11
    error = refused(
        client, "memory_patch", path=path, patches=[{"oldText": "> Summary: all about cranes", "newText": long}]
    )
    assert "ten words" in error
    assert folder.read(path) == before
    both = [{"oldText": "all about cranes", "newText": "cranes, three"}, {"oldText": "two", "newText": "three"}]
    result_of(client, "memory_patch", path=path, patches=both)
    assert "> Summary: cranes, three\n" in folder.read(path)
    assert "- Cranes: three\n" in folder.read(path)
