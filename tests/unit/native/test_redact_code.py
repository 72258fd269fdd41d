"""Redaction in code and in the output of tests: values that only look like passwords stay."""

from __future__ import annotations

import json

import pytest

from reverie.redact import Redactor

ORDINARY = {
    "Go test": "--- PASS: TestPhaseTransitions2 (0.00s)\n    --- PASS: TestPhaseTransitions2/empty_Input (0.00s)",
    "runner with a path": "PASS: src/a2.test.ts\nPASS src/a2.test.ts\nXPASS: tests/link2",
    "runner with an extension": "PASS: gcc.dg/pr12345.c (test for excess errors)",
    "runner with a name": "PASS: test_merge_v2\nPASSED: tests/a2.py::test_b1",
    "verb in JSON": '{"text":"a","passed":true},{"text":"Describes b"}',
    "verb in JSON, the end of lists": '{"passed":true}]}],"assertions":[{"text":"[safety]Describes"}]',
    "verb in Python": "{'passed':True},{'text':'Describes'}",
    "verb before a call": 'the ids were passed, `CheckpointPath("../")` would fail',
    "literal in JSON": '{"password":null,"user":{"name":"b"}},{"text":"Describes b"}',
    "literal in code": '{pass:true},{text:"Describes b"}',
    "count in JSON": '{"tokens":12,"a":{"b":[{"c":"d!"}]}}',
    "conditional": "verdict: pass ? 'pass' : 'fail',\nverdict: pass ? 'pass' : 'inconclusive',",
    "conditional of an input": "<input type={shown ? 'text' : 'password'} /> <i type={shown ? 'password' : 'text'} />",
    "conditional in a template": '${result == "pass" ? "PASS" : "FAIL"}: ${name}',
    "conditional on lines": "verdict: all\n    ? 'pass' : 'inconclusive',",
    "results": 'pass = "skipped"; pass: "error"; DB_PASS=failed',
    "boundary": "Content-Type: multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk",
    "boundary without dashes": 'boundary="d8Kq29Xz7Lm4Nc1Rb5Tv"',
    "boundary line": '------WebKitFormBoundary7MA4YWxkTrZu0gW\r\nContent-Disposition: form-data; name="password"\r\n',
    "Go module": "token: go: downloading example.org/lib v0.0.0-20220910002029-abceb7e1c41e",
    "session of a client": 'claudeSessionID := "8f76b0e8-b8f1-4a87-9186-848bdd83d62e"',
}

SECRETS = {
    "PASS: {S}": "c0ral!42-lx9",
    "pass: {S}": "c0ral!42-lx9",
    "USER: ann PASS: {S}": "aB3/xYz9kQ",
    "DB_PASSPROD={S}": "c0ral!42-lx9",
    '"pass": "{S}"': "c0ral!42-lx9",
    '{"passed":true,"password":"{S}"}': "c0ral!42-lx9",
    'Is it right? "password": "{S}"': "c0ral!42-lx9",
    "login = pass ? x : y; password = '{S}'": "c0ral!42-lx9",
    "password: {S}": "a,b:c$%^&*(9",
    '{"command":"PASS={S}","cwd":"x"}': "x#$%!a^9q",
    '{password:{S},name:"x"}': "k%9$!x#q&",
    'multipart/form-data; boundary=x1; token="{S}"': "d8Kq29Xz7Lm4Nc1Rb5Tv",
}


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_code_stays(text: str) -> None:
    """Results of tests, conditional expressions and JSON stay, also as a string inside of JSON."""
    assert Redactor().text(text) == text
    quoted = json.dumps(text)
    assert Redactor().text(quoted) == quoted


@pytest.mark.parametrize(("template", "value"), SECRETS.items())
def test_secrets_in_code_are_redacted(template: str, value: str) -> None:
    """A secret in code or in the output of tests is redacted, beside text that is written alike and is none."""
    redacted = Redactor().text(template.replace("{S}", value))

    assert value not in redacted
    assert "[REDACTED:" in redacted
