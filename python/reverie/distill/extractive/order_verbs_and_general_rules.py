"""Verbs of orders to an agent, and English rules that are quoted as they are: "the rule here is to ask first"."""

from __future__ import annotations

import re
from typing import Final

from reverie.lazy_regex import lazy_regex

__all__ = ["VERB", "holds_from_now_on", "is_general_rule"]

# Verbs of orders to an agent. Before anything else "always" and "never" are talk: "never too late".
VERB: Final = (
    r"(?:add|answer|ask|assume|avoid|be (?:brief|careful|concise|explicit|honest|polite|strict)|build|bump|call"
    r"|change|check|cite|clean|close|comment|commit|compile|configure|confirm|copy|create|debug|define|delete|deploy"
    r"|disable|do|document|edit|embed|enable|ensure|escape|explain|export|feed|fetch|fix|follow|force|format|generate"
    r"|give|handle|hard-?code|ignore|import|include|indent|inline|install|introduce|invent|keep|leave|limit|link|lint"
    r"|list|log|make|mention|merge"
    r"|migrate|mix|mock|modify|move|name|omit|open|override|overwrite|pass|pin|place|prefer|prefix|print|propose|publish"
    r"|pull|push|put|quote|raise|read|rebase|refactor|refer|reformat|regenerate|release|remove|rename|replace|reply"
    r"|report|respond"
    r"|restart|return|reuse|revert|review|rewrite|run|save|search|send|set|shed|show|sign|skip|sort|speak|split|squash"
    r"|stage|start|stick|store|suggest|summari[sz]e|swallow|tag|talk|tell|test|touch|translate|trust|type|update"
    r"|upgrade|use"
    r"|validate|verify|wait|wrap|write)"
)
# Rules in other forms, quoted: "we should use strong types wherever we can", "the rule here is to ask".
_RULE = lazy_regex(
    rf"^(?:so |and )?(?:(?:we|you|agents) should (?:be \w+ing|{VERB})\b.+\b(?:wherever|whenever|everywhere"
    rf"|at all times|in all cases)\b"
    r"|(?:the|our|my) (?:overriding |general |golden |main |first )?(?:rule|directive|principle|convention"
    r"|policy) (?:here )?is (?:to|that|never"
    r"|always)\b|as a (?:general )?rule[,:]? (?:we|you|agents|don'?t|do not|never|always)\b"
    rf"|(?:please )+{VERB}\b.+\bany\b.+\byou (?:notice|find|see|come across)\b)"
    # "Given the privacy focus, it's better not to store any personal data in the browser"
    r"|^(?:given|because of|due to) [^,:]{5,80}, (?:i think )?(?:it'?s|it is|it would be) better (?:not )?to "
    rf"{VERB} .*\bany \w"
    # "Whenever you change the schema, regenerate the client", "before every commit, run the linter"
    r"|^(?:(?:whenever you|every time you) [^,:]{3,80}|(?:before|after|for) (?:each|every|any) (?:new )?(?:commit|push"
    r"|merge|release|deploy\w*|pull request|pr|change|edit|session|task|feature|fix|bug ?fix|refactor\w*|migration"
    r"|endpoint|route|component|module|dependency|test|file|function|class|package)s?(?: [^,:]{3,40})?)"
    r", (?:please |always )*"
    rf"{VERB} ",
    re.IGNORECASE,
)
# "Open points should get a ticket from now on", also with the frame in front, and "from now on, no mocks"
_FROM_NOW_ON = lazy_regex(
    r"^\S.+\b(?:should|must|needs? to|ha(?:s|ve) to)\b.+\b(?:going forward|from now on|from here on)$"
    r"|^(?:from now on|from here on|going forward)(?:[,:]| [\u2013\u2014-])? (?!(?:i|it|this|that|he|she|they|there)\b)"
    r"(?:(?!.*\b(?:maybe|perhaps|probably|might|could|think)\b)\S.*\b(?:should|must|needs? to|ha(?:s|ve) to)\b.{6,}"
    r"|no (?:more )?(?!problems?|worries|issues?|idea|need)\S{3,}.*)$",
    re.IGNORECASE,
)
# "We don't want call sites that know the agent if we can help it": quoted as well.
_UNWANTED = lazy_regex(
    r"^we (?:do not|don't) (?:ever )?want \S.+\b(?:if we can (?:help|avoid) it|if possible|ever|anywhere|in general"
    r"|wherever possible|in (?:this|the|our) (?:project|repo(?:sitory)?|code ?base))$",
    re.IGNORECASE,
)
# Of what people use: "the user" of the product, which "The user wants" would take for the person who speaks.
_OF_USERS = lazy_regex(r"\b(?:the|a|our|end) users?\b", re.IGNORECASE)


def is_general_rule(sentence: str) -> bool:
    """Return True for a sentence that is a rule by its words: "whenever you change the schema, regenerate the client".

    Not one about the users of a product.
    """
    is_rule = _RULE.match(sentence) or _UNWANTED.match(sentence)
    return is_rule is not None and _OF_USERS.search(sentence) is None


def holds_from_now_on(sentence: str) -> bool:
    """Return True for "open points should get a ticket from now on", and "from now on, no mocks"."""
    return _FROM_NOW_ON.match(sentence) is not None
