"""What a model's program printed, from bytes to the value that was asked for: read, repaired by rule, or refused."""

from __future__ import annotations

import json

import pytest

from reverie.errors import ModelFailed
from reverie.language_model.answers import read_answer
from reverie.language_model.extraction import Answer
from reverie.language_model.requests import ModelMessage, ModelRequest
from reveried.models.command import read_output
from support.fake_model import memory

GOOD = memory("The relay drops the first connection.", "the relay drops the first connection")
ANSWER = json.dumps({"memories": [GOOD], "episodes": [], "wrong": []})
REQUEST = ModelRequest(
    id="req_1",
    purpose="extract",
    role="strong",
    system="Answer in JSON.",
    messages=[ModelMessage("user", "What is new?")],
    schema={},
    max_output_tokens=1000,
    prompt_version="extract-5",
)


def read(printed: str | bytes) -> Answer:
    data = printed if isinstance(printed, bytes) else printed.encode("utf-8", "surrogatepass")
    return read_answer(read_output(data, REQUEST, "m"), Answer)


def said(stop: str, answer: object = "") -> str:
    return json.dumps({"answer": answer, "stopReason": stop})


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("", "unparseable"),
        ("null", "unparseable"),
        ("17", "unparseable"),
        ("[]", "unparseable"),
        ("Sure! Here is the JSON you asked for.", "unparseable"),
        (f"{ANSWER}\n{ANSWER}", "unparseable"),
        (f"```json\n{ANSWER}\n```\nor\n```json\n{ANSWER}\n```", "unparseable"),
        (ANSWER[:-40], "unparseable"),
        (ANSWER.replace('"wrong": []', '"wrong": [],'), "unparseable"),
        (ANSWER.replace('"', "'"), "unparseable"),
        ('{"memories": NaN}', "unparseable"),
        ('{"memories": [], "memories": []}', "unparseable"),
        (ANSWER.replace('"fact"', '"root"'), "unparseable"),
        (ANSWER.replace(json.dumps(GOOD["content"]), "{}"), "unparseable"),
        (ANSWER.replace('["cache"]', "5"), "unparseable"),
        (ANSWER.replace('"scope"', '"path": "../../x", "scope"'), "unparseable"),
        (ANSWER.replace("The relay", "\\ud800"), "unparseable"),
        (ANSWER.replace('"scope"', '"\\ud800": 1, "scope"'), "unparseable"),
        ('{"answer": "\\ud800"}', "unparseable"),
        (json.dumps({"answer": json.loads(ANSWER), "model": "\ud800"}), "unparseable"),
        ('{"answer": ' + "[" * 900 + "]" * 900 + "}", "unparseable"),
        ("[" * 100_000, "unparseable"),
        (ANSWER.encode().replace(b"relay", b"rel\xffay", 1), "unparseable"),
        ("x" * (1 << 22), "unparseable"),
        (said("tool_use"), "unparseable"),
        (said("refusal", "I cannot help."), "refused"),
        (said("max_tokens", json.loads(ANSWER)), "truncated"),
        (json.dumps({"type": "result", "is_error": True}), "failed"),
    ],
)
def test_what_cannot_be_used_is_refused(printed: str | bytes, reason: str) -> None:
    with pytest.raises(ModelFailed) as refused:
        read(printed)
    assert refused.value.reason == reason
    assert refused.value.hint


@pytest.mark.parametrize(
    "printed",
    [
        ANSWER,
        f"```json\n{ANSWER}\n```",
        f"Here you are:\n```\n{ANSWER}\n```\nAnything else?",
        f"Sure! {ANSWER}",
        json.dumps({"answer": json.loads(ANSWER), "inputTokens": 10**18, "outputTokens": -4, "model": "other"}),
        json.dumps({"type": "result", "is_error": False, "result": ANSWER, "usage": {}}),
        "\ufeff" + ANSWER,
    ],
)
def test_what_can_be_repaired_by_rule_is_read(printed: str) -> None:
    """An answer in a code fence, in prose, or in a known envelope is read."""
    (found,) = read(printed).memories
    assert found.content == GOOD["content"]
