"""The words for people that all views of a proof share. The data says held and not held; people read checked."""

from __future__ import annotations

from collections.abc import Sequence

from omo.json_text import Json
from omo.proof.unchecked_lines import BUILD, HELD, NOT_HELD, NOT_LOOKED_AT
from omo.text import block, counted

MARKS = {HELD: "checked", NOT_HELD: "NOT CHECKED", BUILD: "only breaks the build", NOT_LOOKED_AT: "not looked at"}
KILLED, LIVED = "killed", "lived"
LONGEST_CODE = 200
SHORT_COMMIT = 12


def fact_of(data: Json) -> str:
    """Return the headline without the verdict that it begins with."""
    headline: str = data["headline"]
    return headline.removeprefix(f"{data['verdict']}. ")


def hunks_of(data: Json, *words: str) -> list[Json]:
    """Return the hunks that have one of these words, or all."""
    lines = data["lines"]
    if lines is None:
        return []
    return [hunk for hunk in lines["hunks"] if not words or hunk["word"] in words]


def mutants_of(data: Json, word: str) -> list[Json]:
    mutants = data["mutants"]
    if mutants is None:
        return []
    return [mutant for mutant in mutants["mutants"] if mutant["word"] == word]


def counts_of(lines: Json) -> str:
    """Say how many hunks are checked: 3 hunks: 2 checked, 1 not checked."""
    total = sum(lines["counts"].values())
    counts = []
    for word, mark in MARKS.items():
        if number := lines["counts"].get(word, 0):
            counts.append(f"{number} {mark.lower()}")
    return f"{counted(total, 'hunk')}: {', '.join(counts)}" if counts else "no hunk was looked at"


def changes_of(data: Json) -> str | None:
    """Say what was looked at: changes since 0123456789ab (main), also those in no commit."""
    if not data["base"]:
        return None
    text = f"changes since {data['base'][:SHORT_COMMIT]}"
    if data["since"]:
        text += f" ({data['since']})"
    return f"{text}, also those in no commit" if data["is_dirty"] else text


def told_by_mutants(data: Json, hunk: Json) -> str | None:
    """Say where the mutants of a hunk show something else than the run without it."""
    killed = lived = 0
    for mutant in data["mutants"]["mutants"] if data["mutants"] is not None else ():
        if mutant["path"] == hunk["path"] and hunk["first"] <= mutant["line"] <= hunk["last"]:
            killed += mutant["word"] == KILLED
            lived += mutant["word"] == LIVED
    if hunk["word"] == NOT_HELD and killed and not lived:
        return f"no test fails when it is reverted, but tests kill {counted(killed, 'mutant')} of it"
    if hunk["word"] == HELD and lived:
        return f"tests fail when it is reverted, but {counted(lived, 'mutant')} of it lived"
    return None


def diff_of(hunk: Json, most: int) -> list[str]:
    """Return the lines of a hunk, each with its sign in front, none with a control character."""
    lines: list[str] = []
    for sign, written in (("-", hunk["before"]), ("+", hunk["after"])):
        lines += [f"{sign} {one_line(line)}".rstrip() for line in written]
    return lines if len(lines) <= most else [*lines[: most - 1], "…"]


def one_line(code: str) -> str:
    return block(code.replace("\n", " "), LONGEST_CODE)


def left_out(shown: Sequence[object], all_of_them: Sequence[object], what: str) -> str | None:
    """Say how many are not shown."""
    more = len(all_of_them) - len(shown)
    return f"and {counted(more, f'more {what}')}: omo proof --json has them all" if more else None
