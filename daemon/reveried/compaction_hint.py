"""The sentence by which a hook asks a client's own summary for what must not be lost."""

from __future__ import annotations

from typing import Final

COMPACTION_HINT: Final = (
    "Keep in the summary, in the words that were used: each decision and its reason, each correction by the user, what "
    "is done, and the next step."
)
