"""Denials that new words of a memory drop or turn round, in six languages, and what supports that."""

from __future__ import annotations

import pytest

from reverie.consolidate.denials_dropped_or_reversed_by_new_words import is_supported, is_wish_or_choice, reversals


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Use pnpm, not npm, for the loader", "Use npm, not pnpm, for the loader"),
        ("Use tabs instead of spaces", "Use spaces instead of tabs"),
        ("Prefers tabs over spaces", "Prefers spaces over tabs"),
        ("Agents never push to main and never skip the tests", "Agents push to main and skip the tests"),
        ("Never deploy without a review", "Deploy without a review"),
        ("Deploys on Fridays are not allowed", "Deploys on Fridays are allowed"),
        ("Always sign the releases", "Never sign the releases"),
        ("Enable the cache of the loader", "Disable the cache of the loader"),
        ("The loader does not read CSV", "The loader reads CSV"),
        ("Nutze pnpm, nicht npm, für den Lader", "Nutze npm, nicht pnpm, für den Lader"),
        ("Pushe nie auf main und überspringe nie die Tests", "Pushe auf main und überspringe die Tests"),
        ("Nunca hagas push a main sin pruebas", "Haz push a main sin pruebas"),
        ("Usa pnpm en vez de npm", "Usa npm en vez de pnpm"),
        ("N'utilise jamais npm", "Utilise npm"),
        ("On utilise pnpm, pas npm", "On utilise npm, pas pnpm"),
        ("用 pnpm，不要用 npm", "用 npm，不要用 pnpm"),
        ("不要直接推送到main", "直接推送到main"),
        ("npmではなくpnpmを使ってください", "pnpmではなくnpmを使ってください"),
        ("mainに直接プッシュしないでください", "mainに直接プッシュしてください"),
    ],
)
def test_new_words_reverse_old_ones(old: str, new: str) -> None:
    """A denial that becomes an affirmation, or the reverse, needs a sentence of the person's that says so."""
    assert reversals(old, new)
    assert not reversals(old, old)
    # The old memory and a question are no reason.
    assert all(is_supported(one, [new]) for one in reversals(old, new))
    assert not all(is_supported(one, [old, f"{new}?"]) for one in reversals(old, new))


@pytest.mark.parametrize(
    "new",
    [
        "Agents never push to main; the loader is in Go",
        "Agents never skip the tests; the loader is in Go",
        "Agents never wait to push to main and never skip the tests",
        "Agents push to main and never skip the tests; never push to main on a Sunday",
    ],
)
def test_a_denial_that_is_dropped_moved_or_narrowed_is_found(new: str) -> None:
    """A denial need not be turned round to be gone: new words may leave it out, or deny something else."""
    assert reversals("Agents never push to main and never skip the tests of the loader", new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Never deploy on Fridays", "Never deploy on Fridays; deploys of the harbour go out on Monday mornings"),
        ("Use pnpm, not npm", "Use pnpm, not npm, for the loader; npm packages are pinned"),
        ("The harbour loader never pushes to main", "The harbour loader is in Go; it never pushes to main"),
        ("Never push to main, stable or beta", "Never push to main, stable or beta without a tag"),
        ("Run the linter", "Run the linter and never commit without it"),
        ("The build takes nine minutes", "The build takes 4 minutes since the cache is warm"),
        ("Don't use npm, use pnpm", "Don't use npm, use pnpm for the install"),
        ("Antworte nie auf Englisch", "Antworte nie auf Englisch, auch nicht in Commits"),
        ("提交前不要跳过测试", "提交前不要跳过测试，也不要直接推送"),
    ],
)
def test_additions_reverse_nothing(old: str, new: str) -> None:
    """A text that keeps the old denials, and denies nothing that was affirmed, is no reversal."""
    assert reversals(old, new) == []


def test_a_reason_says_all_of_it_in_one_sentence() -> None:
    """Half of a reversal, or its words from several sentences, support nothing; the project need not be named."""
    found = reversals("Never push the harbour to main", "Push the harbour to main")
    for texts in (["You can push it now."], ["Push the tags.", "The main pier of the harbour"], ["push to main?"]):
        assert not all(is_supported(one, texts, given="harbour") for one in found)
    assert all(is_supported(one, ["From now on push to main directly."], given="harbour") for one in found)
    # Who wants the other thing rejects the first one.
    found = reversals("Use npm for the install", "Use pnpm, not npm, for the install")
    assert all(is_supported(one, ["Let's switch to pnpm."]) for one in found)
    assert not all(is_supported(one, ["The install is slow."]) for one in found)


@pytest.mark.parametrize(
    ("old", "new", "typed"),
    [
        (
            "Will, dass Agenten keine Tests schreiben.",
            "Will, dass Agenten Tests schreiben.",
            "Schreib bitte immer Tests.",
        ),
        ("Pushe nie auf main", "Pushe auf main", "Du darfst ab heute auf main pushen."),
        ("Benutze kein npm", "Benutze npm", "Verwende ab jetzt npm."),
        ("Quiere que los agentes no usen comillas", "Quiere comillas", "A partir de ahora usa comillas en TypeScript."),
        ("Quiere que los agentes no usen npm.", "Quiere que usen npm.", "Desde ahora usa npm, ya no pnpm."),
        ("No corran las pruebas", "Corran las pruebas", "Corre las pruebas cada vez."),
        ("N'utilise jamais npm", "Utilise npm", "Désormais on peut utiliser npm."),
        ("不要使用 npm。", "使用 npm，不用 pnpm。", "以后用 npm 吧，pnpm 太慢了。"),
        ("npm を使わないでください", "npm を使う", "これからは npm を使ってください。"),
        ("Siempre usa comillas simples", "Nunca uses comillas simples", "Ya no uses comillas simples."),
    ],
)
def test_a_typed_wish_in_another_form_of_its_words_is_a_reason(old: str, new: str, typed: str) -> None:
    """An imperative affirms what an infinitive or subjunctive denies, and each word for using says the same."""
    assert all(is_supported(one, [typed]) for one in reversals(old, new))


@pytest.mark.parametrize(
    ("old", "new", "typed"),
    [
        ("Never push to main", "Push to main", "Merge main into the branch."),
        ("Pushe nie auf main", "Pushe auf main", "Der Test auf main ist rot."),
        ("Will, dass Agenten keine Tests schreiben.", "Will, dass Agenten Tests schreiben.", "Die Tests sind rot."),
        ("Quiere que los agentes no usen npm.", "Quiere que usen npm.", "Usa pnpm."),
        ("Quiere que los agentes no usen npm.", "Quiere que usen npm.", "El npm es lento."),
        ("Benutze kein npm", "Benutze npm", "Das npm ist langsam."),
        ("不要使用 npm。", "使用 npm。", "npm 太慢了。"),
        ("Quiere que los agentes no usen npm.", "Quiere que usen npm.", "No uses npm."),
        ("不要使用 npm。", "使用 npm。", "以后用 pnpm 吧。"),
        ("npm を使わないでください", "npm を使う", "pnpm を使ってください。"),
        ("Never store the core dumps", "Store the core dumps", "Store the corrected dumps."),
    ],
)
def test_a_typed_sentence_about_something_else_is_no_reason(old: str, new: str, typed: str) -> None:
    """The thing and what is done with it must both be said."""
    found = reversals(old, new)
    assert found
    assert not all(is_supported(one, [typed]) for one in found)
    assert not all(is_supported(one, [typed], is_plain=True) for one in found)


def test_a_change_that_is_told_reverses_a_plain_statement_in_another_verb() -> None:
    """Only a change, to what the statement denies, and never a wish: else a word less would mean something else."""
    found = reversals("No issues are tracked in Jira.", "Issues are tracked in Jira.")
    assert found
    for typed, is_reason in (
        ("We moved our issues to Jira.", True),
        ("We moved our issues from Jira to Linear.", False),
        ("We moved our pages to Jira.", False),
        ("I looked at the issues in Jira.", False),
        ("We have not moved our issues to Jira.", False),
        ("Have we moved our issues to Jira?", False),
    ):
        assert all(is_supported(one, [typed], is_plain=True) for one in found) is is_reason, typed
        assert not all(is_supported(one, [typed]) for one in found), typed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Never push to main", True),
        ("Please don't push to main", True),
        ("Use pnpm, not npm", True),
        ("Pushes to main are not allowed", True),
        ("Pushe nicht auf main", True),
        ("The loader does not read CSV", False),
        ("The tests can't run without the database", False),
        ("The build takes nine minutes", False),
    ],
)
def test_wishes_and_choices_are_told_from_statements(text: str, *, expected: bool) -> None:
    assert is_wish_or_choice(text) is expected
