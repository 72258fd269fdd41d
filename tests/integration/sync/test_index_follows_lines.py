"""Every index names what a file holds after a person's save: MEMORY.md, the list and contexts of earlier threads."""

from __future__ import annotations

from reverie import wire
from support.daemon_folder import Tree


def test_the_index_follows_the_lines_of_a_file(shared: Tree) -> None:
    """A line that a person corrects or deletes leaves every index, also that of an earlier thread."""
    name = "facts/moorings.md"
    for line in ("Mooring server: quay.example", "Tide table: tides.example"):
        shared.client.remember(wire.CreateMemory(line, "fact", document=name))
    shared.client.create_thread(id="thr_moorings")
    gone = shared.client.remember(wire.CreateMemory("Lighthouse keeper: Ida", "fact", document="facts/keepers.md"))
    shared.client.create_thread(id="thr_keepers")
    shared.agree()
    text = shared.read(name)
    assert "> Summary: Tide table: tides.example" in text
    edited = text.replace("- Tide table: tides.example\n", "").replace("Mooring server", "Berth list")
    shared.save(name, edited)
    shared.client.forget(gone.id)
    shared.agree()

    assert shared.read(name) == edited
    assert f"({name}) — Berth list: quay.example\n" in shared.read("MEMORY.md")
    listed = {item.path: item.summary for item in shared.client.index().items}
    assert listed[name] == "Berth list: quay.example"
    assert "Tide table" not in shared.read("MEMORY-INDEX.json")
    for thread in ("thr_moorings", "thr_keepers"):
        shown = str(shared.client.context(thread).request)
        assert f"{name} (" in shown
        assert "Berth list" in shown
        assert "Tide" not in shown
        assert "keeper" not in shown
