"""Exports of ChatGPT: conversations become transcripts whose last branch is the main one."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest

from reverie.errors import NotFound, ReverieError, ValidationError
from reverie.importers.chatgpt import conversations
from reverie.importers.detect import read_line
from reverie.importers.join import main_line
from reverie.models import Message


def node(key: str, parent: str | None, role: str | None, text: str = "", at: float | None = None, **more: Any) -> Any:
    """Return a node of a conversation's tree, without a message where there is no role."""
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": role}, "content": content, "create_time": at, "recipient": "all", **more}
    return {"id": key, "parent": parent, "children": [], "message": None if role is None else message}


def conversation(*nodes: Any) -> dict[str, Any]:
    """Return a conversation of these nodes."""
    return {"conversation_id": "c-1", "title": "Lamps", "mapping": {given["id"]: given for given in nodes}}


def write(path: Path, *found: dict[str, Any]) -> Path:
    """Write an export, and return its path."""
    path.write_bytes(orjson.dumps(list(found)))
    return path


def messages(path: Path) -> list[Message]:
    """Return the main line of the only conversation of an export."""
    [(name, lines)] = conversations(path)
    assert name == "c-1"
    entries = []
    for number, line in enumerate(lines.splitlines(), 1):
        entry, problem = read_line(line, number)
        assert problem is None
        entries.append(entry)
    return main_line(entries)


def said(path: Path) -> list[tuple[str, Any]]:
    """Return who said what, without what was replaced by an edited prompt."""
    return [(message.role, message.content) for message in messages(path) if not message.rewound]


TREE = conversation(
    node("root", None, None),
    node("s", "root", "system", ""),
    node("u1", "s", "user", "Which lamp is lit?", 100.0),
    node("a1", "u1", "assistant", "The left one.", 101.5, metadata={"model_slug": "gpt-x"}),
    node("u2", "a1", "user", "Why?", 110.0),
    node("a2", "u2", "assistant", "Because of the tide.", 111.0),
    node("u2b", "a1", "user", "Since when?", 120.0),
    node("a2b", "u2b", "assistant", "Since March.", 121.0),
)


def test_the_last_branch_is_the_main_one(tmp_path: Path) -> None:
    """An edited prompt replaces the one before; order, roles and times are those of the export."""
    export = write(tmp_path / "conversations.json", TREE)
    assert said(export) == [
        ("user", "Which lamp is lit?"),
        ("assistant", "The left one."),
        ("user", "Since when?"),
        ("assistant", "Since March."),
    ]
    assert messages(export)[1].at == "1970-01-01T00:01:41.500Z"


def test_the_branch_of_the_current_node_is_the_main_one(tmp_path: Path) -> None:
    """Where the export names the node that the person saw last, an older branch or answer may be the main one.

    An import of a newer export follows the person: the last line that names a node counts.
    """
    again = node("a1b", "u1", "assistant", "The right one.", 130.0)
    older = TREE | {"mapping": TREE["mapping"] | {"a1b": again}, "update_time": 130.5}
    export = tmp_path / "conversations.json"
    for current, spoken in (
        ("a2", ["Which lamp is lit?", "The left one.", "Why?", "Because of the tide."]),
        ("a1b", ["Which lamp is lit?", "The right one."]),
        ("a2b", ["Which lamp is lit?", "The left one.", "Since when?", "Since March."]),
    ):
        write(export, older | {"current_node": current})
        assert [text for _, text in said(export)] == spoken
    [(_, lines)] = conversations(write(export, older | {"current_node": "a1b"}))
    [(_, newer)] = conversations(write(export, older | {"current_node": "a2", "update_time": 140.0}))
    known = lines.splitlines()
    entries = [read_line(line, 1)[0] for line in [*known, *(line for line in newer.splitlines() if line not in known)]]
    assert [message.content for message in main_line(entries) if not message.rewound][1:3] == ["The left one.", "Why?"]
    assert said(write(export, TREE | {"current_node": "gone"})) == said(write(export, TREE))


def test_an_export_in_parts(tmp_path: Path) -> None:
    """`conversations-000.json` and the next ones are one export, in a zip file or a folder; other files are not."""
    folder = tmp_path / "export"
    folder.mkdir()
    for number, name in enumerate(["conversations-001.json", "conversations-000.json", "shared_conversations.json"]):
        write(folder / name, TREE | {"conversation_id": f"c-{number}"})
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"of 2026/{path.name}")
    for export in (folder, tmp_path / "export.zip"):
        assert [name for name, _ in conversations(export)] == ["c-1", "c-0"]
    with pytest.raises(NotFound):
        list(conversations(tmp_path))


def test_a_zip_file(tmp_path: Path) -> None:
    """The export is read as it was downloaded."""
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("export/conversations.json", orjson.dumps([TREE]))
        archive.writestr("chat.html", "")
    assert len(said(tmp_path / "export.zip")) == 4


def test_what_is_not_said(tmp_path: Path) -> None:
    """Tool calls, hidden context and thoughts are left out; code becomes a fenced block, an image `[image]`."""
    code = {"content_type": "code", "language": "python", "text": "print(1)"}
    image = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "What is this?"]}
    export = write(
        tmp_path / "conversations.json",
        conversation(
            node("u1", None, "user", at=1.0, content=image),
            node("a1", "u1", "assistant", "search(tides)", 2.0, recipient="browser"),
            node("t1", "a1", "tool", "a page", 3.0),
            node("a2", "t1", "assistant", at=4.0, content={"content_type": "thoughts", "thoughts": []}),
            node("h1", "a2", "user", "hidden", 5.0, metadata={"is_visually_hidden_from_conversation": True}),
            node("a3", "h1", "assistant", at=6.0, content=code),
        ),
    )
    assert said(export) == [("user", "[image]\nWhat is this?"), ("assistant", "```python\nprint(1)\n```")]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{broken", ValidationError),
        ("3", ValidationError),
        ("[3]", ValidationError),
        ('[{"mapping": {}, "id": "../x"}]', ValidationError),
        (None, NotFound),
    ],
)
def test_what_is_no_export(tmp_path: Path, text: str | None, error: type[ReverieError]) -> None:
    """A file or a zip file that is no export is refused; for a file the hint names `conversations.json`."""
    path = tmp_path / "conversations.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(error) as raised:
        list(conversations(path))
    assert "conversations.json" in (raised.value.hint or "")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("notes.txt", "")
    with pytest.raises(ValidationError):
        list(conversations(tmp_path / "other.zip"))


HEALTHY = orjson.dumps(TREE).decode()


@pytest.mark.parametrize(
    ("bad", "name", "why"),
    [
        ('{"id": "c-2", "title": "Tides", "mapping": null}', "Tides", "`mapping`"),
        ("5", "conversation 2", "not an object"),
        ("null", "conversation 2", "not an object"),
        ('{"id": "../../c5", "title": " ", "mapping": {}}', "conversation 2", "id"),
        ('{"id": "c-1", "title": "Twice", "mapping": {}}', "Twice", "id c-1"),
        (
            '{"id": "c-2", "title": "Deep", "mapping": {"a": {"message": {"author": {"role": "user"}, "content": '
            '{"content_type": "text", "parts": ["x"]}}}, "b": {"message": {"content": '
            + "[" * 300
            + "]" * 300
            + "}}}}",
            "Deep",
            "lines",
        ),
    ],
)
def test_a_bad_conversation_is_skipped(tmp_path: Path, bad: str, name: str, why: str) -> None:
    """A bad conversation is skipped and named with the reason; those before and after it are read."""
    export = tmp_path / "conversations.json"
    export.write_text(f"[{HEALTHY}, {bad}, {HEALTHY.replace('c-1', 'c-9')}]")
    skipped: list[tuple[str, str]] = []
    found = conversations(export, on_skipped=lambda title, reason: skipped.append((title, reason)))
    assert [given for given, _ in found] == ["c-1", "c-9"]
    [(title, reason)] = skipped
    assert title == name
    assert why in reason


def test_half_of_a_surrogate_pair(tmp_path: Path) -> None:
    """An unpaired half of a surrogate pair becomes U+FFFD, as in the lines of any transcript."""
    export = tmp_path / "conversations.json"
    export.write_text(f"[{HEALTHY}]".replace("The left one.", "The left \\ud83d one."))
    assert said(export)[1] == ("assistant", "The left \ufffd one.")


def test_a_zip_file_that_breaks_off(tmp_path: Path) -> None:
    """Wherever it ends, the error says that the download is not complete."""
    export = tmp_path / "export.zip"
    with zipfile.ZipFile(export, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", orjson.dumps([TREE]))
    whole = export.read_bytes()
    damaged = bytearray(whole)
    damaged[60:90] = bytes(30)
    for content in (whole[:-10], whole[:-60], whole[:40], bytes(damaged)):
        export.write_bytes(content)
        with pytest.raises(ValidationError, match="damaged or not complete") as raised:
            list(conversations(export))
        assert raised.value.hint == "download the export again"


def test_a_conversation_without_words(tmp_path: Path) -> None:
    """A conversation in which nothing was said gives no transcript."""
    assert list(conversations(write(tmp_path / "conversations.json", conversation(node("root", None, None))))) == []
