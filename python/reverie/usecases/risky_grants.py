"""Harm of what an agent's files and working memory say: words for a person, rights, data sent away, orders in secret.

A file may have copied its sentences from anywhere, so in doubt one waits for a person: where it names another machine,
in any language, or has one of a few words of wishes, rights and secrets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from reverie.models import Candidate

# Another machine, whatever is said of it: "https://…", "ann@…", "203.0.113.7", "collect.evil.example".
_FILE: Final = (
    r"(?!\S*\.(?:py|[jt]sx?|json|toml|ya?ml|lock|txt|csv|log|html?|css|cfg|ini|xml|sql|java|go|rs|rb|sh|md)\b)"
)
_FAR_AWAY: Final = lazy_regex(
    r"\b(?:https?|ftp|ssh|s3|wss?)://(?!localhost|127\.|0\.0\.0\.0|\[::1\])\S|[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}"
    rf"|(?<![\w.])(?!127\.)\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.])|\\\\[\w.-]+\\\w|(?<![a-z0-9./`-]){_FILE}(?:[a-z0-9-]+\.){{2,}}[a-z]{{2,}}(?![a-z0-9(])"
    rf"|(?<![a-z0-9./`-]){_FILE}[a-z0-9-]+\.(?:example|com|net|org|io|dev)(?![a-z0-9])",
    re.IGNORECASE,
)
_PERSON: Final = r"(?:user|person|owner|maintainer|boss|customer|management|team)"
_SECRETS: Final = r"(?:secrets?|credentials?|passwords?|tokens?|private keys?)\b|\.env\b|\.ssh\b"
# Orders not to ask, rights, secrets given away, wishes of others; `mem_…` is an order about another memory.
_RISKY: Final = lazy_regex(
    r"\bwithout (?:\w+ )?(?:asking|telling|permission|approval|confirmation)\b|\b(?:not|don't)(?: to)? (?:ask|tell)\b"
    r"|\b(?:skip|bypass|ignore|auto-?approve)\b.*\b(?:confirmation|approval|permission|previous|check)"
    r"|\b(?:granted?|grants|full|write|unlimited|has) (?:\w+ )?access\b|\bagents? may (?:\w+ )?(?:to|every|all|any)\b"
    rf"|\bmay \w+ (?:every|all|any)\b.*\b(?:spaces?|memor\w+|{_SECRETS})"
    rf"|\b(?:send|upload|post|copy|mail|export|push)\b.*(?:{_SECRETS})"
    rf"|\b{_PERSON}(?:s|'s|\u2019s)? (?:\w+ ){{0,5}}(?:wants?|wish\w*|prefers?|said|asked|requires?|allows?|trusts)\b"
    rf"|\b{_PERSON}_\w+:|\bmem_[0-9a-z]{{20,}}|\bno longer true\b",
    re.IGNORECASE,
)


def harm_of_file(candidate: Candidate) -> str | None:
    """Return why a candidate of a file or of working memory has to wait for a person; None where it is harmless."""
    from reverie.language_model.extraction import UNSAFE

    if candidate.provenance.get("seqs"):
        return None
    # "release.md" has the form of a host.
    text = candidate.content.removesuffix(f" (from {candidate.provenance.get('path')})")
    if _FAR_AWAY.search(text):
        return "it names another machine"
    if UNSAFE.search(text) or _RISKY.search(text):
        return "its advice could do harm where it is followed"
    return None
