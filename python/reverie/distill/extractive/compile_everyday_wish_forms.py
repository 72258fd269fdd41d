"""Structure of the forms of standing wishes in everyday words: rules of a project, orders, and how the agent talks.

"We use Conventional Commits here", "keep your answers short", "commit messages: imperative mood, no emoji". None has a
word such as "always": what makes each a rule is a frame (this repo, here, everywhere), a label, a contrast between two
things of a kind, or that it is about how the agent talks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.lazy_regex import lazy_regex

__all__ = ["OrdinaryForms", "ordinary_forms"]


@dataclass(frozen=True, slots=True)
class OrdinaryForms:
    """Patterns of one language for standing wishes in everyday words, by what a message may have beside them.

    `standing`: rules of a project, whatever stands beside them. `alone`: orders that are a rule only where the message
    asks for nothing else, as "no semicolons, please" behind "write me a page" is about that page. `talk` and
    `talk_alone`: the same about how the agent talks, also in a chat. `passing`: words of one occasion or of doubt.
    """

    standing: re.Pattern[str]
    alone: re.Pattern[str]
    talk: re.Pattern[str]
    talk_alone: re.Pattern[str]
    passing: re.Pattern[str]


def ordinary_forms(
    passing: str, *, standing: tuple[str, ...], alone: tuple[str, ...], talk: tuple[str, ...], talk_alone: str
) -> OrdinaryForms:
    """Return the OrdinaryForms of a language, compiled from texts of patterns; each matches a whole sentence."""
    return OrdinaryForms(
        standing=_whole(standing),
        alone=_whole(alone),
        talk=_whole(talk),
        talk_alone=_whole((talk_alone,)),
        passing=lazy_regex(passing, re.IGNORECASE),
    )


def _whole(forms: tuple[str, ...]) -> re.Pattern[str]:
    return lazy_regex(rf"(?:{'|'.join(forms)})$", re.IGNORECASE)
