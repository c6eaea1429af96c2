"""A proof as lines, for a terminal and a log: the verdict, the diff with a mark on each hunk, mutants that lived."""

from __future__ import annotations

from collections.abc import Iterator

from omo.json_text import Json
from omo.proof.unchecked_lines import BUILD, HELD, NOT_HELD
from omo.text import clip
from omo.views.lines import Line
from omo.views.proof import words

VERDICT_STYLES = {"proven": "bold green", "not proven": "bold red", "cannot tell": "bold yellow"}
STYLES = {NOT_HELD: "bold red", HELD: "green", BUILD: "yellow"}
SIGN_STYLES = {"-": "red", "+": "green"}
MOST_FACTS = 12
MOST_HUNKS = 30
MOST_CODE = 8  # lines of a hunk
MOST_MUTANTS = 20
LONGEST_WHY = 100
LONGEST_PLACE = 200
LONGEST = 400


def lines_of(data: Json) -> Iterator[Line]:
    headline = clip(data["headline"], LONGEST)
    yield Line("session", "", headline, ((headline, VERDICT_STYLES.get(data["verdict"], "bold")),))
    for fact in data["facts"][:MOST_FACTS]:
        yield _detail(fact)
    if more := words.left_out(data["facts"][:MOST_FACTS], data["facts"], "fact"):
        yield _detail(more)
    if changes := words.changes_of(data):
        yield _detail(changes)
    if data["lines"] is not None:
        yield from _hunks(data)
    if data["mutants"] is not None:
        yield from _mutants(data)
    if data["fix"]:
        yield _remark(f"what would help: {data['fix']}", "bold")


def _hunks(data: Json) -> Iterator[Line]:
    hunks = words.hunks_of(data)
    shown = hunks[:MOST_HUNKS]
    widest = max([len(words.MARKS[hunk["word"]]) for hunk in shown], default=0)
    for hunk in shown:
        mark, place = words.MARKS[hunk["word"]].ljust(widest), clip(hunk["place"], LONGEST_PLACE)
        why = clip(hunk["why"], LONGEST_WHY)
        cells = ((mark, STYLES.get(hunk["word"], "dim")), (place, "bold"), (why, "dim"))
        yield Line("item", mark, f"{place} {why}".rstrip(), cells)
        if note := words.told_by_mutants(data, hunk):
            yield Line("code", "", note, ((note, "yellow"),))
        for code in words.diff_of(hunk, MOST_CODE):
            yield Line("code", "", code, ((code, SIGN_STYLES.get(code[0], "dim")),))
    if more := words.left_out(shown, hunks, "hunk"):
        yield _detail(more)
    yield _remark(words.counts_of(data["lines"]), "bold")
    if data["lines"]["counts"].get(HELD):
        yield _remark("Checked: a test fails without the hunk. It need not check all that the hunk does.", "dim")


def _mutants(data: Json) -> Iterator[Line]:
    lived = words.mutants_of(data, words.LIVED)
    for mutant in lived[:MOST_MUTANTS]:
        place = clip(f"{mutant['path']}:{mutant['line']}", LONGEST_PLACE)
        edit = f"{clip(mutant['before'], LONGEST_WHY)} → {clip(mutant['after'], LONGEST_WHY)}"
        cells = (("mutant lived", "red"), (place, "bold"), (edit, ""))
        yield Line("item", "mutant lived", f"{place} {edit}", cells)
    if more := words.left_out(lived[:MOST_MUTANTS], lived, "mutant"):
        yield _detail(more)
    for text in (data["mutants"]["text"], data["mutants"]["why"]):
        if text:
            yield _remark(text, "")


def _detail(text: str) -> Line:
    return Line("detail", "", clip(text, LONGEST), ((clip(text, LONGEST), ""),))


def _remark(text: str, style: str) -> Line:
    return Line("remark", "", clip(text, LONGEST), ((clip(text, LONGEST), style),))
