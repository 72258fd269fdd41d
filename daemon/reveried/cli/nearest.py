"""The known name that a mistyped one is nearest to, for the question "Did you mean ...?"."""

from collections.abc import Iterable

_CHARS_PER_ERROR = 3  # a suggestion may have one typing error for every three characters: `statsu` (6) may have two


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate with the smallest edit distance, if that is at most one error per three typed characters."""
    best = min(candidates, key=lambda name: edit_distance(word, name), default=None)
    if best is None or edit_distance(word, best) > max(1, len(word) // _CHARS_PER_ERROR):
        return None
    return best


def edit_distance(typed: str, meant: str) -> int:
    """Return the optimal string alignment distance: characters missing, added, wrong, or swapped with the next."""
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, left in enumerate(typed, 1):
        older, before, row = before, row, [i]
        for j, right in enumerate(meant, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and (left, typed[i - 2]) == (meant[j - 2], right):
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
