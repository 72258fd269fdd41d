"""A person saves as fast as possible while agents append to the same file: no word of either is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support import racing_editor
from support.daemon_folder import Tree, bytes_below, tree
from support.soak import count
from support.waiting import wait_until

SAVES_EACH = 50
OURS_MOST = 200


def everywhere(own: Tree, name: str) -> set[str]:
    """Return every word of a file and its conflict copies."""
    path = own.path(name)
    texts = (data.decode() for file, data in bytes_below(path.parent).items() if file.startswith(f"{path.stem}."))
    return {word for text in texts for word in text.split()}


def undo_left_out(own: Tree, name: str) -> set[str]:
    """Undo each save that left out lines of this file; return all words that the file then had."""
    found: set[str] = set()
    for item in own.client.sync_status().left_out:
        if item.path == name:
            own.client.undo(item.operation)
            own.agree()
            found |= everywhere(own, name)
    return found


def settled(own: Tree) -> bool:
    """Return True if no displaced file is left."""
    return not any((own.root / ".reverie/swap").iterdir())


@pytest.mark.timeout(count(300, 14_400))
@pytest.mark.parametrize("how", ["rename", "truncate", "both"])
def test_no_word_of_a_raced_save_is_lost(how: str, tmp_path: Path) -> None:
    """Saves by rename or truncation from stale buffers lose no word of either side."""
    saved = said = copies = 0
    with tree(REVERIE_SYNC_DEBOUNCE_MS="1") as own:
        for seed in range(count(2, 667)):
            name, ours = f"notes/{how}-{seed}.md", 0
            own.client.put_document(name, "# Notes\n")
            words = (racing_editor.__file__, own.path(name), SAVES_EACH, seed, how, tmp_path)
            with subprocess.Popen([sys.executable, "-S", *map(str, words)]) as editor:
                while editor.poll() is None:
                    if ours < OURS_MOST:
                        own.client.append_entry(name, f"- ours{ours}")
                        ours += 1
            assert editor.returncode == 0
            wait_until(lambda: bool(own.agree()) and settled(own), "the end of what was replaced")
            own.agree()
            wanted = [*racing_editor.words(seed, SAVES_EACH), *(f"ours{number}" for number in range(ours))]
            missing = [word for word in wanted if word not in everywhere(own, name)]
            if missing:  # a save that came seconds later counts as one that deletes: what it left out is named
                brought_back = undo_left_out(own, name)
                missing = [word for word in missing if word not in everywhere(own, name) | brought_back]
            assert missing == [], f"{how}, seed {seed}"
            assert own.stored(name) == own.read(name)
            saved, said = saved + SAVES_EACH, said + ours
            copies += len(own.client.conflicts().items)
    print(f"{how}: {saved} saves, {said} entries of agents, {copies} conflicts, no word lost")
