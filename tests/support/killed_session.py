"""The steps of a session in which agents and a person edit a daemon's folder, and the folder's state after them."""

from __future__ import annotations

from collections.abc import Callable

from reverie import wire
from support.daemon_folder import Tree
from support.file_texts import bytes_below

COPY = ".sync-conflict-"
LEFT = ("facts/a.md", "facts/new.md")  # what the person moves away or deletes
MOVED = "facts/moved.md"
REMEMBERED = "Remembered: this"
BEGIN = "# Facts\n\n- Role: engineer\n- Tea: green\n"


class Session:
    """The steps of agents and a person, with the person's open buffer."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.buffer = ""
        self.steps: list[Callable[[], object]] = [
            lambda: tree.client.put_document("facts/a.md", BEGIN),
            lambda: self.opens("facts/a.md"),
            lambda: tree.client.append_entry("facts/a.md", "- Agent: first"),
            lambda: self.saves("facts/a.md", self.buffer + "- Person: stale\n"),
            lambda: tree.client.put_document("facts/b.md", BEGIN),
            lambda: self.opens("facts/b.md"),
            lambda: tree.client.patch_document("facts/b.md", [("Role: engineer", "Role: cook")]),
            lambda: self.saves("facts/b.md", self.buffer.replace("engineer", "pilot")),
            lambda: tree.client.remember(wire.CreateMemory(REMEMBERED, document="facts/a.md")),
            lambda: tree.path("facts/a.md").rename(tree.path(MOVED)),
            tree.agree,
            lambda: tree.client.append_entry(MOVED, "- Agent: second"),
            lambda: tree.client.delete_document("facts/b.md"),
            lambda: self.saves("facts/new.md", "- Person: new\n"),
            lambda: tree.path("facts/new.md").unlink(),
            tree.agree,
        ]

    def opens(self, path: str) -> None:
        """Wait until folder and store agree, then read a file into the person's buffer."""
        self.tree.agree()
        self.buffer = self.tree.read(path)

    def saves(self, path: str, text: str) -> None:
        """Save a text as a person does, and wait until folder and store agree."""
        self.tree.save(path, text)
        self.tree.agree()

    def state(self) -> dict[str, str]:
        """Return the text of each .md file in the folder by path; of a conflict copy by the original's with `*`."""
        texts = {}
        for name, data in bytes_below(self.tree.root, ".md").items():
            if not name.startswith("."):
                texts[name.split(COPY)[0] + ("*" if COPY in name else "")] = data.decode()
        return texts
