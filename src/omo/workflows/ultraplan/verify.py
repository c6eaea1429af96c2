"""The Verify commands of a session: what is plain argv is pinned at `start` and run at `finish`.

What only a shell can run (pipes, variables, several commands in a line) is never run, and listed as not run.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from omo.proof.outputs import printed_by
from omo.proof.run import CommandOutcome, run
from omo.text import clip
from omo.workflows.ultraplan.markdown import code_texts, expectation, shell_texts
from omo.workflows.ultraplan.models import Step

SECONDS = 300.0
LONGEST = 300
PASS, FAIL, UNKNOWN, NOT_RUN = "pass", "fail", "unknown", "not run"

_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
_FOR_A_SHELL = re.compile(r"[|&;<>()$`\\*?\[\]{}~#!\n\"']")
# "status 200" is what a server answers: test_the_status_of_an_answer_is_no_exit in tests/cli/test_plan_verify.py.
_EXIT = re.compile(r"\b(?:exits?\b\D{0,12}|(?:code|status)\b\D{0,12}(?![2-5]\d\d\b))(\d{1,3})\b", re.IGNORECASE)
_NO_OUTPUT = re.compile(r"\bno (?:output|match(?:es)?|hits?|lines?)\b|\bnothing\b|\bempty\b", re.IGNORECASE)
_NO_MATCH = re.compile(r"\bno (?:match(?:es)?|hits?)\b", re.IGNORECASE)
_QUIET = re.compile(r"-[a-zA-Z]*q[a-zA-Z]*|--quiet|--silent")
_SEARCHES = ("grep", "egrep", "fgrep", "rg", "ag")


@dataclass(frozen=True)
class Verify:
    """One command of a step, `text` as it is shown. `argv` is empty where only a shell could run it. Once it was to be
    run, `result` is pass, fail, unknown (no answer in time) or not run."""

    step: int
    text: str
    argv: tuple[str, ...] = ()
    exit: int = 0
    result: str = ""
    why: str = ""

    def __str__(self) -> str:
        return f"step {self.step}: {clip(self.text, 120)}"


def verdict_of(results: Sequence[Verify]) -> str:
    """In the audit's words. What only a shell can run, or what is not there, keeps nothing open."""
    answers = {command.result for command in results}
    if FAIL in answers:
        return "drift"
    return "unknown" if UNKNOWN in answers else "pass"


def by_steps(commands: Sequence[Verify]) -> list[str]:
    """A line for each command, with every step that it is of, and what became of it."""
    steps: dict[str, list[str]] = {}
    for command in commands:
        line = clip(command.text, 120)
        if command.result:
            line += f": {command.result}"
        if command.why:
            line += f" ({command.why})"
        steps.setdefault(line, []).append(str(command.step))
    return [f"step {', '.join(numbers)}: {line}" for line, numbers in steps.items()]


def commands_of(steps: Sequence[Step]) -> list[Verify]:
    """What the Verify fields ask to be run, in their order."""
    commands = []
    for step in steps:
        expected = expectation(step.verify)
        texts = code_texts(step.verify)
        if not texts:  # words that may be talk
            commands += [Verify(step.number, clip(text, LONGEST)) for text in shell_texts(step.verify)]
        for text in texts:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            every = [_plain(line) for line in lines]
            if all(every):
                for line, argv in zip(lines, every, strict=True):
                    commands.append(Verify(step.number, clip(line, LONGEST), argv, _exit_of(argv, expected)))
            else:
                commands.append(Verify(step.number, clip(text, LONGEST)))
    return commands


def read_rows(rows: Sequence[Mapping[str, Any]]) -> tuple[Verify, ...]:
    return tuple(Verify(**{**row, "argv": tuple(row["argv"])}) for row in rows)


def _plain(line: str) -> tuple[str, ...]:
    """The words of one simple command that means the same without a shell; empty for anything else."""
    if _FOR_A_SHELL.search(_QUOTED.sub("", line)):
        return ()
    words = shlex.split(line)
    return ("env", *words) if words and "=" in words[0] else tuple(words)


def _exit_of(argv: Sequence[str], expected: str) -> int:
    """As the plan says. A search that is to find nothing ends with 1 when it does; one that is quiet never prints,
    so that its "no output" says nothing."""
    if stated := _EXIT.search(expected):
        return int(stated[1])
    is_search = argv[0] in _SEARCHES or tuple(argv[:2]) == ("git", "grep")
    if not is_search:
        return 0
    # test_a_quiet_search_is_to_find_something_though_it_prints_nothing in tests/cli/test_plan_verify.py.
    is_quiet = any(_QUIET.fullmatch(word) for word in argv[1:])
    finds_nothing = _NO_MATCH if is_quiet else _NO_OUTPUT
    return 1 if finds_nothing.search(expected) else 0


def run_all(root: Path, commands: Sequence[Verify], changed: Collection[str] = ()) -> list[Verify]:
    """Each command once, also where several steps verify with the same one. A program among the files that the session
    has `changed` is its own: that one which is gone cannot be started is no excuse."""
    outcomes: dict[tuple[str, ...], CommandOutcome] = {}
    results = []
    for command in commands:
        if command.argv and command.argv not in outcomes:
            outcomes[command.argv] = run(command.argv, cwd=root, timeout=SECONDS)
        result, why = _result(command, outcomes.get(command.argv), changed)
        results.append(replace(command, result=result, why=why))
    return results


def judge_of(command: Verify) -> Callable[[CommandOutcome], tuple[str, str]]:
    """Whether a run of the command ends as the plan says, for the experiment."""

    def judge(outcome: CommandOutcome) -> tuple[str, str]:
        return ("pass", "") if outcome.exit_code == command.exit else ("fail", "")

    return judge


def _result(command: Verify, ended: CommandOutcome | None, changed: Collection[str]) -> tuple[str, str]:
    if ended is None:
        return NOT_RUN, "only a shell can run it"
    if ended.not_found:
        why = clip(f"{command.argv[0]} cannot be started: {ended.stderr}", LONGEST)
        if os.path.normpath(command.argv[0]) in changed:
            return FAIL, why
        return NOT_RUN, why
    if ended.timed_out:
        return UNKNOWN, f"no answer within {SECONDS:g} s"
    printed = printed_by(ended)
    if ended.exit_code != command.exit:
        code = f"exit {ended.exit_code}" if ended.exit_code is not None else f"signal {ended.signal}"
        why = f"{code}, {command.exit} needed"
        if line := printed.not_here or printed.quoted:
            why += f": {line}"
        return FAIL, why
    if printed.ran_nothing:
        return FAIL, f"it says itself that it ran no test: {printed.quoted}"
    return PASS, ""
