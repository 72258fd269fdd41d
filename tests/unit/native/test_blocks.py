"""Memory documents fall into blocks that join to them again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.blocks import Block, BlockKind, parse
from reverie.errors import ValidationError
from support.document_cases import AWKWARD, NOT_UTF8, awkward_documents
from support.shared import shared_files
from support.version_cases import generated_histories, recorded_triples

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "vectors" / "blocks.jsonl").read_text().splitlines()
]


def check(document: str, *, sections: bool | None = None) -> list[Block]:
    """The blocks of a document, after their spans were found to join to it."""
    data = document.encode()
    blocks = parse(data, sections=sections)

    assert b"".join(data[block.start : block.end] for block in blocks) == data
    assert [block.start for block in blocks] == [0, *(block.end for block in blocks)][: len(blocks)]
    return blocks


def only(document: str, kind: BlockKind, *, sections: bool | None = None) -> Block:
    """The one block of that kind."""
    (block,) = (block for block in check(document, sections=sections) if block.kind is kind)
    return block


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: repr(vector["document"][:24]))
def test_vectors(vector: dict[str, list[str]]) -> None:
    """A document falls into blocks of these kinds."""
    document = "".join(vector["document"])

    assert [str(block.kind) for block in check(document)] == vector["kinds"]


def test_a_bullet_says_its_text_and_its_tags() -> None:
    """Marks, indentation and trailing tags are not part of the text; numbers after `#` are."""
    bullet = only("* Fixed in #12\n  on\tMonday\n\n      code\n   #Alpha #b-c/d #42x\n", BlockKind.BULLET)

    assert bullet.text == "Fixed in #12\non\tMonday\n\n    code"
    assert bullet.tags == ("alpha", "b-c/d", "42x")
    assert only("- see #7\n", BlockKind.BULLET).text == "see #7"
    assert only("- #tag\n", BlockKind.BULLET).text == "#tag"
    assert only("-\n", BlockKind.BULLET).text == ""
    assert only("+ a #x y\n", BlockKind.BULLET).tags == ()


def test_title_summary_and_headings_say_their_text() -> None:
    """The first of each kind counts; closing marks of a heading are not text."""
    document = "# A #\n> Summary:  a, b \n> Summary: later\n## B ##\n####### no\n#c\n# C\n"
    blocks = [block for block in check(document) if block.kind is not BlockKind.OPAQUE]

    assert [(block.kind.value, block.level, block.text) for block in blocks] == [
        ("title", 1, "A"),
        ("summary", 0, "a, b"),
        ("heading", 2, "B"),
        ("heading", 1, "C"),
    ]


def test_a_section_says_its_fields() -> None:
    """Keys and values in order, continuation lines joined; what is no field is part of the span and of nothing else."""
    document = "## Fix ## \n- Summary: pipe → file\n- Date: 2026-02-24\n- Problem: one\n  two\n- no field\n- Url: http://x:1\n\ntext\n\n"
    section = only(document, BlockKind.SECTION)

    assert section.text == "Fix"
    assert section.level == 2
    assert dict(section.fields) == {
        "Summary": "pipe → file", "Date": "2026-02-24", "Problem": "one\ntwo", "Url": "http://x:1",
    }  # fmt: skip
    assert document.encode()[: section.end].endswith(b"text\n")


def test_headings_are_sections_only_where_they_are_meant() -> None:
    """By their fields, or by the caller's word."""
    document = "## Tools\n- Editor: vim\n"

    assert [block.kind.value for block in check(document)] == ["heading", "bullet"]
    assert only(document, BlockKind.SECTION, sections=True).fields == (("Editor", "vim"),)
    assert [block.kind.value for block in check("## X\n- Date: 1\n", sections=False)] == ["heading", "bullet"]


def test_a_section_ends_where_the_next_heading_stands() -> None:
    """Deeper headings and code belong to it, a heading inside code does not end it."""
    document = "## A\n- Date: 1\n### more\n```\n## no\n```\n# Next\n## B\n- Date: 2\n"

    assert [block.kind.value for block in check(document)] == ["section", "title", "section"]


def test_front_matter() -> None:
    """Its text is what stands between the marks."""
    assert only("---\na: 1\nb: 2\n...\n- x\n", BlockKind.FRONT_MATTER).text == "a: 1\nb: 2"
    assert only("---\n---\n", BlockKind.FRONT_MATTER).text == ""


def test_text_that_is_not_utf8_is_refused() -> None:
    """With the offset of the first byte that is wrong."""
    with pytest.raises(ValidationError) as refused:
        parse("# é\n- ".encode() + b"\xe9\n")

    assert refused.value.details["offset"] == 7
    assert refused.value.details["reason"] == "encoding"


def test_awkward_files() -> None:
    """Every awkward memory file is parsed or refused for its encoding."""
    refused = set()
    for name, data in awkward_documents().items():
        try:
            check(data.decode())
        except UnicodeDecodeError:
            with pytest.raises(ValidationError):
                parse(data)
            refused.add(name)

    assert refused - NOT_UTF8.keys() <= {"invalid_utf8.md", "overlong.md", "utf16.md"}
    assert refused >= NOT_UTF8.keys()


def test_awkward_files_cut_anywhere() -> None:
    """Spans join for every beginning of the awkward documents, and for all of them in one file."""
    for data in AWKWARD.values():
        text = data.decode()
        for cut in range(0, len(text), max(1, len(text) // 50)):
            check(text[:cut])
    check("\n".join(data.decode() for data in AWKWARD.values()))


def test_every_version_of_edited_files() -> None:
    """Spans join for documents of prose, lists and code; for recorded ones and the CommonMark specification too."""
    for versions in generated_histories():
        for text in versions:
            check(text)
    for row in recorded_triples():
        for text in row.values():
            if isinstance(text, str):
                check(text)
    for path in shared_files("data/markdown/cmark/test", "*.txt"):
        text = path.read_text()
        for cut in range(0, len(text), max(1, len(text) // 50)):
            check(text[:cut])


@pytest.mark.parametrize(
    "line",
    [
        "## a\n", "- a\n", "```\n", "<!--\n", "<!--\n\n", "<a>\n", "<a>\n\n", "<pre>\n\n", "---\n", "\n", "- \n\n",
        "## a\n~~~\n\n<!--\n", "- a\n\n", "- #a", "#a ", "`", "[", "![](", "*a **b ", "&", "<", "a\r", "\r\n", "\t- ",
        " x\n", "> ", "> \n", "<pre></", "1. a\n", "1. a\n   - b\n\n",
    ],
    ids=repr,
)  # fmt: skip
def test_no_document_takes_longer_than_its_length(line: str) -> None:
    """A document of 100,000 times what opens something is read, which a quadratic reader would not end in hours."""
    for sections in (None, True):
        assert check(line * 100_000, sections=sections)


def test_large_documents() -> None:
    """Lines of 1 MB, 100,000 items, lists 500 deep and quotes 5,000 deep."""
    assert len(only("- " + "word " * 200_000, BlockKind.BULLET).text) == 999_999
    assert len(check("- an item\n" * 100_000)) == 100_000
    assert len(check("".join(f"{'  ' * depth}- a\n" for depth in range(500)))) == 1
    assert [block.kind.value for block in check(">" * 5000 + " a\n- b\n")] == ["opaque", "bullet"]


def test_ids_are_never_in_the_text() -> None:
    """A comment that looks like an id of somebody else is text like any other."""
    bullet = only("- a <!-- id: 1 --> #t\n", BlockKind.BULLET)

    assert bullet.text == "a <!-- id: 1 -->"
    assert bullet.tags == ("t",)
