"""Quotes of a model: how long one has to be, and where it may begin and end."""

from __future__ import annotations

import pytest

from reverie.language_model.pages import Quotable, SourceEntry

SAID = (
    "Please read the guide of the vendor, use tabs.\nNo force pushes\n"
    "用中文回答。今後は必ず日本語で回答してください。 I like table-driven tests more."
)


@pytest.mark.parametrize(
    "quote",
    [
        "read the guide",
        "“read the guide”",
        "of the vendor, use tabs",
        "use tabs",  # a whole clause
        "Use tabs.",
        "use tabs.\nNo force",
        "force pushes\n用中",  # two words of one script, and the beginning of another
        "table-driven",
        "用中文回答",
        "必ず日本語で",
        "今後は必ず日本語で回答してください",
    ],
)
def test_a_quote(quote: str) -> None:
    """Three words, twelve characters, six of a script without spaces, or a whole clause are a quote."""
    found = Quotable([SourceEntry(1, "person", SAID)]).entry_with(quote)
    assert found is not None
    assert found.seq == 1


@pytest.mark.parametrize(
    "quote",
    [
        "read t",
        "the",
        "",
        '"read t"',
        "ad the guide of",
        "guide of the ven",
        "the guide",
        "日本語",
        "able-driven tests",
        "tabs",
    ],
)
def test_no_quote(quote: str) -> None:
    """Fewer words, a word cut in its middle, and a short part of a clause are in many texts by chance."""
    assert Quotable([SourceEntry(1, "person", SAID)]).entry_with(quote) is None


@pytest.mark.parametrize(
    "quote",
    [
        r"grep -i \"DEV OTP\" api.log | tail -3",
        'grep -i "DEV OTP" api.log | tail -3',
        r"| tail -3\nrg 'a\\.b' src",
        "| tail -3\nrg 'a\\.b' src",
    ],
)
def test_a_quote_of_a_call(quote: str) -> None:
    """A call is shown as JSON; its input is quoted as it is shown, or as it was meant."""
    shown = r'Bash {"command":"grep -i \"DEV OTP\" api.log | tail -3\nrg ' + r"'a\\.b' src" + '"}'
    assert Quotable([SourceEntry(1, "call", shown)]).entry_with(quote) is not None
    assert Quotable([SourceEntry(1, "result", shown)]).entry_with('grep -i "DEV OTP" api.log | tail -3') is None
