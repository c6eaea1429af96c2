"""A proof as GitHub Markdown, for a pull request's comment or a job's summary: short, with the lines folded away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omo import masking
from omo.json_text import Json
from omo.proof.gate_runs import AS_IT_IS, OLD_TESTS, WITHOUT
from omo.proof.unchecked_lines import NOT_HELD
from omo.text import clip, counted
from omo.views.markdown_text import text
from omo.views.proof import words

SIGNS = {"proven": "✅", "nothing to prove": "➖", "not proven": "❌", "cannot tell": "❔"}
COLUMNS = (WITHOUT, OLD_TESTS, AS_IT_IS)
LONGEST = 59_000  # GitHub takes 65,536 characters in a comment
LONGEST_CELL = 160
LONGEST_FACT = 400
MOST_COMMANDS = 4
MOST_FACTS = 4
MOST_CODE = 40  # lines of a hunk
ROOM_FOR_THE_REST = 200  # what says how many are left out, and closes the part


def markdown(data: Json) -> str:
    """Return the whole; what does not fit is left out of the folded parts, and these say so."""
    before = [f"**{SIGNS[data['verdict']]} {data['verdict']}.** {text(words.fact_of(data), LONGEST_FACT)}"]
    before += _commands(data["commands"])
    before += _facts(data["facts"])
    if data["lines"] is not None:
        before += ["", _sentence(words.counts_of(data["lines"]))]
    if data["mutants"] is not None:
        before += ["", text(f"{data['mutants']['text']} {data['mutants']['why']}", LONGEST_FACT)]
    after = []
    if data["fix"]:
        after += ["", f"What would help: {text(data['fix'], LONGEST_FACT)}"]
    made = ", ".join(filter(None, [f"omo {data['omo']}", words.changes_of(data)]))
    after += ["", f"<sub>{text(made, LONGEST_CELL)}</sub>"]
    room = LONGEST - len("\n".join(before + after))
    mutants = _lived(data, room // 2)
    hunks = _unchecked(data, room - len("\n".join(mutants)))
    return "\n".join([*before, *hunks, *mutants, *after]) + "\n"


def _sentence(words_of_it: str) -> str:
    return f"{words_of_it[:1].upper()}{words_of_it[1:]}."


def _commands(commands: Sequence[Json]) -> list[str]:
    if not any(command["runs"] for command in commands):
        return []
    columns = [name for name in COLUMNS if any(name in command["runs"] for command in commands)]
    rows = ["", f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for command in commands[:MOST_COMMANDS]:
        where = "" if command["directory"] in ("", ".") else f" in {text(command['directory'], LONGEST_CELL)}"
        cells = [f"{text(command['command'], LONGEST_CELL)}{where}"]
        for name in columns:
            run = command["runs"].get(name)
            cells.append("–" if run is None else text(_run(run), LONGEST_CELL))
        rows.append(f"| {' | '.join(cells)} |")
    if more := words.left_out(commands[:MOST_COMMANDS], commands, "command"):
        rows.append(f"| {more} |{' |' * len(columns)}")
    return rows


def _run(run: Json) -> str:
    return f"{run['result']}: {run['said']}" if run["said"] else str(run["result"])


def _facts(facts: Sequence[str]) -> list[str]:
    rows = [f"- {text(fact, LONGEST_FACT)}" for fact in facts[:MOST_FACTS]]
    if more := words.left_out(facts[:MOST_FACTS], facts, "fact"):
        rows.append(f"- {more}")
    return ["", *rows] if rows else []


def _unchecked(data: Json, room: int) -> list[str]:
    hunks = words.hunks_of(data, NOT_HELD)
    return _folded(f"{counted(len(hunks), 'hunk')} that no test checks", _diffs(data, hunks), len(hunks), "hunk", room)


def _diffs(data: Json, hunks: Sequence[Json]) -> Iterator[str]:
    """Yield each hunk as a block of code, which no line of it can end: each has a sign in front."""
    for hunk in hunks:
        place = clip(masking.mask(hunk["place"]), LONGEST_CELL)
        lines = [f"@@ {place} @@"]
        if note := words.told_by_mutants(data, hunk):
            lines.append(f"# {note}")
        lines += map(masking.mask, words.diff_of(hunk, MOST_CODE))
        yield "\n".join(["", "```diff", *lines, "```"])


def _lived(data: Json, room: int) -> list[str]:
    mutants = words.mutants_of(data, words.LIVED)
    title = f"{counted(len(mutants), 'mutant')} that lived: no test fails when the code says this instead"
    return _folded(title, _edits(mutants), len(mutants), "mutant", room)


def _edits(mutants: Sequence[Json]) -> Iterator[str]:
    for number, mutant in enumerate(mutants):
        place = text(f"{mutant['path']}:{mutant['line']}", LONGEST_CELL)
        edit = f"{text(mutant['before'], LONGEST_CELL)} → {text(mutant['after'], LONGEST_CELL)}"
        blank = "" if number else "\n"  # Markdown begins after an empty line
        yield f"{blank}- {place}: {edit}"


def _folded(title: str, pieces: Iterator[str], total: int, what: str, room: int) -> list[str]:
    """Return a part that opens on a click, with as many of its pieces as there is room for."""
    if not total:
        return []
    rows = ["", "<details>", f"<summary>{title}</summary>"]
    room -= len("\n".join(rows)) + ROOM_FOR_THE_REST
    shown: list[str] = []
    for piece in pieces:
        room -= len(piece) + 1
        if room < 0:
            break
        shown.append(piece)
    rows += shown
    if more := words.left_out(shown, range(total), what):
        rows += ["", more]
    return [*rows, "", "</details>"]
