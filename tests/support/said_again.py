"""Pairs of standing wishes: one as it was forgotten, and another in other words with the same meaning."""

from __future__ import annotations

__all__ = ["SAID_AGAIN"]

SAID_AGAIN: tuple[tuple[str, str], ...] = (
    ("Always run `make lint` before you commit.", "Never commit before `make lint` was run."),
    ("Always answer in German.", "Please always write your answers in German."),
    ("Never push directly to the main branch.", "Always open a branch, never push to main itself."),
    ("Always squash the commits when merging a pull request.", "Always merge pull requests with a squash."),
    ("Never use emojis in documentation.", "Always keep the documentation free of emojis."),
    ("Always add a test for each bug that you fix.", "Never fix a bug without adding a test."),
    ("Always use `pnpm` instead of `npm`.", "Never use `npm`, the repository has `pnpm`."),
    ("Never edit files below `vendor/`.", "Always leave the files in `vendor/` as they are."),
    ("Always keep functions below fifty lines.", "Never write functions longer than fifty lines."),
    ("Never print secrets to the log.", "Always keep secrets out of log output."),
    ("Always name migrations after the ticket.", "Always put the ticket into the name of a migration."),
    ("Never bump the version in a feature branch.", "Always leave the version alone in feature branches."),
    ("Always deploy to staging before production.", "Never deploy to production without staging."),
    ("Always use British spelling in comments.", "Never use American spelling, comments are British."),
    ("Never mock the database in integration tests.", "Always use a real database in integration tests."),
    ("Always pin dependencies to exact versions.", "Never leave dependencies without exact versions."),
    ("Never wrap errors twice in the handlers.", "Always wrap errors once in handlers."),
    ("Always write changelog entries in the present tense.", "Never use the past tense in changelog entries."),
    ("Never start the server on port 8080.", "Always start the server on another port than 8080."),
    ("Always use UTC for timestamps in the database.", "Never store database timestamps in another zone than UTC."),
    ("Never add a dependency without asking me.", "Always ask me before adding a dependency."),
    ("Always explain the plan before you change the schema.", "Never change the schema before explaining your plan."),
    ("Never delete rows from the audit table.", "Always keep the rows of the audit table."),
    ("Always prefer composition over inheritance.", "Never use inheritance where composition works."),
    ("Never generate code into `src/gen` by hand.", "Always let the tool generate the code in `src/gen`."),
    ("Always run the formatter on touched files only.", "Never run the formatter on files you have not touched."),
    ("Never rebase shared branches.", "Always merge into shared branches and never rebase."),
    ("Always use feature flags for risky changes.", "Never ship risky changes without feature flags."),
    ("Never leave commented code in a commit.", "Always remove commented code before a commit."),
    ("Always document public functions with an example.", "Never leave public functions without an example."),
)
