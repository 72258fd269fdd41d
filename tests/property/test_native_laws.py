"""Properties of the native core through its Python wrappers, for any value that Hypothesis generates."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reverie import tokenizer
from reverie.canonical_json import canonical, check_json, sha256
from reverie.errors import ValidationError
from reverie.markdown_blocks import parse
from reverie.redact import Redactor
from reverie.text_index import Index
from support.soak import count as campaign
from support.vocabulary import oracle

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
REDACTOR = Redactor()
law = settings(max_examples=campaign(100, 5000), deadline=None)


@law
@given(VALUES)
def test_canonical_equals_the_rfc8785_reference(value: Any) -> None:
    """Canonical JSON has the same bytes and hash as the reference implementation's."""
    expected = rfc8785.dumps(value)

    assert canonical(value) == expected
    assert sha256(value) == hashlib.sha256(expected).hexdigest()


@law
@given(VALUES, st.randoms(use_true_random=False))
def test_canonical_does_not_depend_on_spelling(value: Any, random: Any) -> None:
    """Canonical JSON is the same for any indentation, escapes and order of keys in the text."""

    def shuffled(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {key: shuffled(inner[key]) for key in random.sample(list(inner), len(inner))}
        return [shuffled(item) for item in inner] if isinstance(inner, list) else inner

    other = shuffled(value)
    for spelled in (json.dumps(other, indent=2), json.dumps(other, ensure_ascii=False)):
        check_json(spelled.encode())
        assert canonical(spelled.encode()) == canonical(value)


@law
@given(st.binary(max_size=60) | TEXT.map(str.encode) | VALUES.map(lambda value: json.dumps(value).encode()))
@example(b"[1,-0e-5]")
def test_checking_agrees_with_python(data: bytes) -> None:
    """JSON that the check accepts is read by Python without loss; JSON that Python cannot read is refused."""
    try:
        check_json(data)
    except ValidationError as refused:
        assert refused.details["reason"] in {  # noqa: PT017  # either outcome is right; the law is about both
            "malformed", "duplicate_key", "number_out_of_range", "lone_surrogate", "too_deep", "encoding",
        }  # fmt: skip
        if refused.details["reason"] == "malformed":
            try:
                value = json.loads(data)
            except ValueError:
                return
            assert isinstance(value, float)  # only Python reads NaN and Infinity
            assert not math.isfinite(value)
    else:
        json.loads(data)


@law
@given(TEXT, st.sampled_from(["o200k_base", "cl100k_base"]))
def test_counts_are_those_of_tiktoken(text: str, encoding: tokenizer.Encoding) -> None:
    """Token counts of any text are those of tiktoken, alone and in a batch."""
    reference = oracle(encoding)
    for variant in (text, f"x{text} y", f"{text}\n{text}"):
        assert tokenizer.count(variant, encoding) == len(reference.encode_ordinary(variant))


@law
@given(VALUES)
def test_redaction_of_values_keeps_their_shape(value: Any) -> None:
    """A value without secrets is the same object; redaction is idempotent."""
    once, count = REDACTOR.value(value)
    twice, again = REDACTOR.value(once)

    assert (once is value) == (count == 0)
    assert twice is once
    assert again == 0


NAMING = st.sampled_from(
    ["password", "bypass", "api_key", "Authorization", "name", "value", "type", "data", "id", "ab"]
)
SECRETIVE = st.lists(
    st.sampled_from(["Basic ", "a1B2c3D4e5", "password", "image", "base64", "[REDACTED:", "secret]", "/", "ab", " "])
).map("".join)


@law
@given(
    st.recursive(
        SECRETIVE,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMING | SECRETIVE, inner, max_size=5),
        max_leaves=10,
    ),
    st.lists(st.sampled_from(["ab", "image", "by", "REDACTED", "password"]), max_size=2),
)
def test_redaction_by_key_names_is_idempotent(value: Any, literals: list[str]) -> None:
    """Redacting a value with any keys and any known secrets a second time changes nothing."""
    redactor = Redactor(literals)
    once, _ = redactor.value(value)

    assert redactor.value(once) == (once, 0)


@law
@given(st.lists(st.sampled_from(["sk-ant-", "a1B2c3D4e5F6g7H8i9", " ", "token=", '"', "[REDACTED:", "x]", "é", "\n"])))
def test_redaction_of_text_is_idempotent(pieces: list[str]) -> None:
    """Redacting a text of any beginnings of secrets a second time changes nothing."""
    once = REDACTOR.text("".join(pieces))

    assert REDACTOR.text(once) == once
    assert REDACTOR.spans(once) == []


@law
@given(
    st.lists(st.sampled_from(["- a", "## B", "\n", "\r\n", "\r", "  ", "```", "- Date: 1", "> Summary: x", "---", "é"]))
)
def test_blocks_join_to_the_document(pieces: list[str]) -> None:
    """The blocks of any document join to its exact bytes."""
    data = "".join(pieces).encode()

    assert b"".join(data[block.start : block.end] for block in parse(data)) == data


@law
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=2), st.text("xyz ", max_size=8)), st.text("xyz ", max_size=6)
)
def test_ranking_depends_only_on_the_current_documents(texts: dict[str, str], query: str) -> None:
    """Ranking does not depend on insertion order or removed documents; a larger limit only adds results."""
    forward, backward = Index(), Index()
    for id_, text in texts.items():
        forward.add(id_, text)
    backward.add("gone", "x y z")
    for id_, text in reversed(texts.items()):
        backward.add(id_, text)
    backward.remove("gone")

    hits = forward.search(query, 50)
    assert backward.search(query, 50) == hits
    assert forward.search(query, 2) == hits[:2]
    assert [(-hit.score, hit.id) for hit in hits] == sorted((-hit.score, hit.id) for hit in hits)
