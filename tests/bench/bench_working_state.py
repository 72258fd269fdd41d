"""Reading sheet: working states and summaries of sessions cut at random points, beside what was said around the cut.

    python tests/bench/bench_working_state.py FILES... [--draw 40] [--seed 1] [--sections]

A person grades the sheet: a field is right, wrong, or missing though the text before the cut names it. Half of the cuts
are behind any message, half at the end of a turn, before the person's next message. The figures at the end count what
needs no reader: in how many threads each field is non-empty, and its mean number of items and tokens.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING

from reverie import tokenizer
from reverie.distill import state_text as render_and_trim_working_state
from reverie.distill import summary_text as summary_format_and_line_choice_by_novelty
from reverie.distill.distiller import Extractive
from reverie.distill.sentences import clip
from reverie.distill.steps import Interrupted, ToolCall, Utterance, read_trace
from reverie.importers.find import read_entries
from reverie.importers.join import main_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Message, WorkingState

_BEFORE = 8  # steps of the thread shown before the cut
_AFTER = 4  # and after it
_MESSAGES_MIN = 12  # before a cut: less is no session
_CHARS = 600  # of an utterance; of a longer one the beginning and the end are shown


def draw(paths: Sequence[Path], number: int, seed: int) -> list[tuple[Path, int]]:
    """Return `number` pairs of a session and the count of messages before the cut, the same for the same seed."""
    chance = random.Random(seed)
    threads = {path: _live(path) for path in paths}
    usable = sorted(path for path, messages in threads.items() if len(messages) > _MESSAGES_MIN)
    drawn: list[tuple[Path, int]] = []
    for turn in range(number):
        path = usable[turn % len(usable)] if len(usable) >= number else chance.choice(usable)
        messages = threads[path]
        ends = [
            at for at in range(_MESSAGES_MIN, len(messages) + 1) if at == len(messages) or _is_request(messages[at])
        ]
        everywhere = range(_MESSAGES_MIN, len(messages) + 1)
        drawn.append((path, chance.choice(ends if turn % 2 and ends else everywhere)))
    return drawn


def main() -> None:
    """Print the sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--draw", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sections", action="store_true", help="print the summary too")
    parser.add_argument("--bare", action="store_true", help="print the states without the thread")
    options = parser.parse_args()
    states: list[WorkingState] = []
    for turn, (path, cut) in enumerate(draw(options.files, options.draw, options.seed), start=1):
        messages = _live(path)
        state = Extractive().working_state(messages[:cut])
        states.append(state)
        print(f"\n{'=' * 100}\n[{turn}] {path.name}, cut behind message {cut} of {len(messages)}")
        if not options.bare:
            print("\n".join(f"  {line}" for line in _steps(messages[:cut])[-_BEFORE:]))
        print(f"{'-' * 40} cut")
        if not options.bare:
            print("\n".join(f"  {line}" for line in _steps(messages[cut : cut + 40])[:_AFTER]))
        print(f"{'-' * 40} state")
        print(f"task chain: {list(state.task_chain)}")
        print(render_and_trim_working_state.render(state))
        if options.sections:
            print(f"{'-' * 40} summary")
            distilled = Extractive().distill(
                messages[:cut], number=1, previous=None, tail_from_seq=messages[cut - 1].last_seq + 1, passage_tokens=0
            )
            print(summary_format_and_line_choice_by_novelty.render(distilled.summary))
    _print_figures(states)


def _live(path: Path) -> list[Message]:
    return [message for message in main_line(list(read_entries(path, tokens=False))) if not message.rewound]


def _is_request(message: Message) -> bool:
    return any(isinstance(step, Utterance) for step in read_trace([message]).steps) and message.role == "user"


def _steps(messages: Sequence[Message]) -> list[str]:
    """Return one paragraph for each utterance and tool call."""
    lines: list[str] = []
    for step in read_trace(messages).steps:
        match step:
            case Utterance():
                lines.append(f"{step.seq} {step.role.upper()}: {_cut(step.text)}")
            case ToolCall():
                detail = step.word("command") or step.path or str(step.input)
                end = "FAILED " if step.failed else ""
                lines.append(f"{step.seq} [{step.tool}] {clip(detail, 160)} -> {end}{clip(step.result[-160:], 160)}")
            case Interrupted():
                lines.append(f"{step.seq} INTERRUPTED")
    return lines


def _cut(text: str) -> str:
    return text if len(text) <= _CHARS else f"{text[: _CHARS // 2]} [...] {text[-_CHARS // 2 :]}"


def _print_figures(states: Sequence[WorkingState]) -> None:
    size = sum(tokenizer.count(render_and_trim_working_state.render(state)) for state in states) // len(states)
    print(f"\n{len(states)} states, {size} tokens each")
    for name in render_and_trim_working_state.LISTS:
        items = [getattr(state, name) for state in states]
        print(f"{name:18s} in {sum(map(bool, items)):3d} threads, {sum(map(len, items)) / len(states):.1f} items each")


if __name__ == "__main__":
    main()
