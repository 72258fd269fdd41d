"""The file index: read by one thread while another scans, and partial scans."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from reverie.redact import Redactor
from reverie.store import Store
from reverie.sync.root import Root
from reverie.sync.scan import FileContent, Limits, Refusal, read_file, refusal
from reveried.sync import state
from reveried.sync.state import FileIndex
from support.sync_without_daemon import sync_service


def test_a_status_during_a_scan_names_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file refused by reading it is in every status until it is read otherwise, also while a pass is at work."""
    facts = tmp_path / "root" / "default" / "facts"
    facts.mkdir(parents=True)
    (facts / "image.md").write_bytes(b"- \xff\n")
    (facts / "tea.md").write_bytes(b"- Tea: green\n")
    during: list[list[str]] = []

    async def run(store: Store) -> None:
        service = sync_service(store, tmp_path / "root")

        def refused() -> list[str]:
            return [each.path for each in service.status("default").refused]

        def observed(root: Root, path: str, *, limit: int) -> FileContent | Refusal | None:
            if path == "facts/image.md":
                during.append(refused())
            return read_file(root, path, limit=limit)

        await service.sync("default", None, whole=True)
        assert refused() == ["facts/image.md"]
        monkeypatch.setattr(state, "read_file", observed)
        await service.sync("default", None, whole=True)
        await service.sync("default", {"facts/image.md"})
        assert during == [["facts/image.md"]] * 2
        (facts / "image.md").write_bytes(b"- Coffee: black\n")
        await service.sync("default", {"facts/image.md"})
        assert refused() == []
        with (facts / "tea.md").open("ab"):  # which changes no byte, but might: the store has the text already
            await service.sync("default", None, whole=True, deep=True)
            assert refused() == ["facts/tea.md"]
        await service.sync("default", None, whole=True)
        assert refused() == []
        (facts / "image.md").write_bytes(b"\xff")
        await service.sync("default", {"facts/image.md"})
        (facts / "image.md").unlink()
        await service.sync("default", {"facts/image.md"})
        assert refused() == []
        await service.close()

    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        asyncio.run(run(store))


@pytest.mark.parametrize(
    ("name", "text", "is_read"),
    [
        ("notes 2.md", "# N\n\n- a\n- b\n- new\n", False),
        ("notes (1).md", "# N\n\n- a\n- b\n", False),
        ("notes (copy).md", "# N\n\n- a\n- b\n", False),
        ("notes - Copy.md", "# N\n\n- a\n- b\n", False),
        ("notes - Copy (2).md", "# N\n\n- a\n- b\n", False),
        ("notes copy 2.md", "# N\n\n- a\n- b\n", False),
        ("notes 2.md", "# N\n\n- another matter\n- and more\n", True),
        ("other 2.md", "# N\n\n- a\n- b\n", True),
        ("notes-2.md", "# N\n\n- a\n- b\n", True),
    ],
)
def test_a_numbered_copy_is_named_and_not_read(tmp_path: Path, name: str, text: str, *, is_read: bool) -> None:
    """A file with the name of another one and a number is a copy if it has most of its lines, until that is gone."""

    async def run() -> None:
        folder = tmp_path / "root" / "default" / "facts"
        folder.mkdir(parents=True)
        (folder / "notes.md").write_text("# N\n\n- a\n- b\n", encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
        with Store.open(tmp_path / "store", redactor=Redactor()) as store:
            service = sync_service(store, tmp_path / "root")
            await service.sync("default", None, whole=True)
            await service.sync("default", None, whole=True)
            assert (f"facts/{name}" in {each.path for each in await service.documents("default")}) == is_read
            refused = [(each.path, each.reason) for each in service.status("default").refused]
            assert refused == ([] if is_read else [(f"facts/{name}", "copy")])
            await service.sync("default", None, whole=True, answer="deletions")
            (folder / "notes.md").unlink()
            await service.sync("default", None, whole=True, answer="deletions")
            assert f"facts/{name}" in {each.path for each in await service.documents("default")}

    asyncio.run(run())


class Looking(dict[str, Refusal]):
    """A dict of refusals from which an entry vanishes once it was looked up, as by another thread."""

    def __contains__(self, path: object) -> bool:
        there = super().__contains__(path)
        self.pop(cast("str", path), None)
        return there


class Busy:
    """A refusal that adds a second one to the index when its reason is read, as another thread may."""

    def __init__(self, sight: FileIndex) -> None:
        self._sight = sight

    @property
    def reason(self) -> str:
        self._sight.refused[f"{len(self._sight.refused)}.md"] = refusal("b.md", "symlink")
        return "symlink"


def test_growing_can_be_read_during_a_scan() -> None:
    """`growing` (the paths of files still being written) can be read while the refusals change."""
    sight = FileIndex(Limits())
    sight.refused["a.md"] = cast("Refusal", Busy(sight))
    sight.refused["c.md"] = refusal("c.md", "growing")
    assert sight.growing == {"c.md"}


def test_covering_can_be_read_during_a_scan() -> None:
    """`covering` (the refusal of a path or of its folder) returns it although it is removed during the lookup."""
    sight = FileIndex(Limits())
    sight.refused = Looking({"facts": refusal("facts", "symlink")})
    found = sight.covering("facts/a.md")
    assert found is not None
    assert found.path == "facts"
