"""Tests of the block parser: kinds, texts, tags and fields of blocks, and spans that join to the document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.errors import ValidationError
from reverie.markdown_blocks import Block, BlockKind, parse
from support.document_cases import AWKWARD, NOT_UTF8, awkward_documents, generated_histories, recorded_triples
from support.shared import shared_files

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "vectors" / "blocks.jsonl").read_text().splitlines()
]


def parse_and_check(document: str, *, sections: bool | None = None) -> list[Block]:
    """Parse a document and verify that the spans join to it."""
    data = document.encode()
    blocks = parse(data, sections=sections)

    assert b"".join(data[block.start : block.end] for block in blocks) == data
    assert [block.start for block in blocks] == [0, *(block.end for block in blocks)][: len(blocks)]
    return blocks


def only_block(document: str, kind: BlockKind, *, sections: bool | None = None) -> Block:
    """Return the only block of a kind."""
    (block,) = (block for block in parse_and_check(document, sections=sections) if block.kind is kind)
    return block


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: repr(vector["document"][:24]))
def test_vectors(vector: dict[str, list[str]]) -> None:
    """The documents of the golden vectors are parsed into blocks of the listed kinds."""
    document = "".join(vector["document"])

    assert [str(block.kind) for block in parse_and_check(document)] == vector["kinds"]


def test_text_and_tags_of_a_bullet() -> None:
    """Markers, indentation and trailing tags are not part of the text; numbers after `#` are."""
    bullet = only_block("* Fixed in #12\n  on\tMonday\n\n      code\n   #Alpha #b-c/d #42x\n", BlockKind.BULLET)

    assert bullet.text == "Fixed in #12\non\tMonday\n\n    code"
    assert bullet.tags == ("alpha", "b-c/d", "42x")
    assert only_block("- see #7\n", BlockKind.BULLET).text == "see #7"
    assert only_block("- #tag\n", BlockKind.BULLET).text == "#tag"
    assert only_block("-\n", BlockKind.BULLET).text == ""
    assert only_block("+ a #x y\n", BlockKind.BULLET).tags == ()


def test_text_of_title_summary_and_headings() -> None:
    """Only the first title and summary count; the closing `#` of a heading are not part of its text."""
    document = "# A #\n> Summary:  a, b \n> Summary: later\n## B ##\n####### no\n#c\n# C\n"
    blocks = [block for block in parse_and_check(document) if block.kind is not BlockKind.OPAQUE]

    assert [(block.kind.value, block.level, block.text) for block in blocks] == [
        ("title", 1, "A"),
        ("summary", 0, "a, b"),
        ("heading", 2, "B"),
        ("heading", 1, "C"),
    ]


def test_fields_of_a_section() -> None:
    """Fields are (key, value) in order, continuation lines joined; other content is only part of the span."""
    document = "## Fix ## \n- Summary: pipe → file\n- Date: 2026-02-24\n- Problem: one\n  two\n- no field\n- Url: http://x:1\n\ntext\n\n"
    section = only_block(document, BlockKind.SECTION)

    assert section.text == "Fix"
    assert section.level == 2
    assert dict(section.fields) == {
        "Summary": "pipe → file", "Date": "2026-02-24", "Problem": "one\ntwo", "Url": "http://x:1",
    }  # fmt: skip
    assert document.encode()[: section.end].endswith(b"text\n")


def test_which_headings_begin_sections() -> None:
    """A `##` heading begins a section by its fields, or as the caller requests."""
    document = "## Tools\n- Editor: vim\n"

    assert [block.kind.value for block in parse_and_check(document)] == ["heading", "bullet"]
    assert only_block(document, BlockKind.SECTION, sections=True).fields == (("Editor", "vim"),)
    assert [block.kind.value for block in parse_and_check("## X\n- Date: 1\n", sections=False)] == ["heading", "bullet"]


def test_a_section_ends_before_the_next_heading() -> None:
    """Deeper headings and code belong to a section; a heading inside code does not end it."""
    document = "## A\n- Date: 1\n### more\n```\n## no\n```\n# Next\n## B\n- Date: 2\n"

    assert [block.kind.value for block in parse_and_check(document)] == ["section", "title", "section"]


def test_front_matter() -> None:
    """The text of front matter is what is between its `---` lines."""
    assert only_block("---\na: 1\nb: 2\n...\n- x\n", BlockKind.FRONT_MATTER).text == "a: 1\nb: 2"
    assert only_block("---\n---\n", BlockKind.FRONT_MATTER).text == ""


def test_invalid_utf8_is_rejected() -> None:
    """Invalid UTF-8 is rejected with the offset of the first invalid byte."""
    with pytest.raises(ValidationError) as refused:
        parse("# é\n- ".encode() + b"\xe9\n")

    assert refused.value.details["offset"] == 7
    assert refused.value.details["reason"] == "encoding"


def test_difficult_files() -> None:
    """Every difficult memory file is parsed, or rejected for its encoding."""
    refused = set()
    for name, data in awkward_documents().items():
        try:
            parse_and_check(data.decode())
        except UnicodeDecodeError:
            with pytest.raises(ValidationError):
                parse(data)
            refused.add(name)

    assert refused - NOT_UTF8.keys() <= {"invalid_utf8.md", "overlong.md", "utf16.md"}
    assert refused >= NOT_UTF8.keys()


def test_prefixes_of_difficult_files() -> None:
    """The spans join for every prefix of the difficult documents, and for all of them in one file."""
    for data in AWKWARD.values():
        text = data.decode()
        for cut in range(0, len(text), max(1, len(text) // 50)):
            parse_and_check(text[:cut])
    parse_and_check("\n".join(data.decode() for data in AWKWARD.values()))


def test_every_version_of_edited_files() -> None:
    """The spans join for every version of generated and recorded documents, and the CommonMark specification."""
    for versions in generated_histories():
        for text in versions:
            parse_and_check(text)
    for row in recorded_triples():
        for text in row.values():
            if isinstance(text, str):
                parse_and_check(text)
    for path in shared_files("data/markdown/cmark/test", "*.txt"):
        text = path.read_text()
        for cut in range(0, len(text), max(1, len(text) // 50)):
            parse_and_check(text[:cut])


@pytest.mark.parametrize(
    "line",
    [
        "## a\n", "- a\n", "```\n", "<!--\n", "<!--\n\n", "<a>\n", "<a>\n\n", "<pre>\n\n", "---\n", "\n", "- \n\n",
        "## a\n~~~\n\n<!--\n", "- a\n\n", "- #a", "#a ", "`", "[", "![](", "*a **b ", "&", "<", "a\r", "\r\n", "\t- ",
        " x\n", "> ", "> \n", "<pre></", "1. a\n", "1. a\n   - b\n\n",
    ],
    ids=repr,
)  # fmt: skip
def test_parsing_takes_linear_time(line: str) -> None:
    """A document of 100,000 block openers is parsed, which a quadratic parser would not finish in hours."""
    for sections in (None, True):
        assert parse_and_check(line * 100_000, sections=sections)


def test_large_documents() -> None:
    """Lines of 1 MB, 100,000 items, lists 500 deep and quotes 5,000 deep are parsed."""
    assert len(only_block("- " + "word " * 200_000, BlockKind.BULLET).text) == 999_999
    assert len(parse_and_check("- an item\n" * 100_000)) == 100_000
    assert len(parse_and_check("".join(f"{'  ' * depth}- a\n" for depth in range(500)))) == 1
    assert [block.kind.value for block in parse_and_check(">" * 5000 + " a\n- b\n")] == ["opaque", "bullet"]


def test_comments_with_ids_are_text() -> None:
    """A comment that looks like another tool's id is text like any other."""
    bullet = only_block("- a <!-- id: 1 --> #t\n", BlockKind.BULLET)

    assert bullet.text == "a <!-- id: 1 -->"
    assert bullet.tags == ("t",)
