"""What `omo proof --json` prints of three changes: one that is proven, one that is not, one that nobody can tell."""

from __future__ import annotations

import copy

from omo.json_text import Json

BASE, HEAD = "0123456789abcdef0123456789abcdef01234567", "89abcdef0123456789abcdef0123456789abcdef"


def hunk(place: str, word: str, why: str = "", before: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> Json:
    path, _, lines = place.rpartition(":")
    first, _, last = lines.partition("-")
    row: Json = {"path": path, "first": int(first), "last": int(last or first), "place": place, "word": word}
    return row | {"why": why, "before": list(before), "after": list(after)}


def mutant(path: str, line: int, word: str, before: str = "<", after: str = "<=") -> Json:
    return {"path": path, "line": line, "kind": "compare", "before": before, "after": after, "word": word, "why": ""}


def lines(*hunks: Json) -> Json:
    counts = dict.fromkeys(("held", "not held", "only breaks the build", "not looked at"), 0)
    for each in hunks:
        counts[each["word"]] += 1
    return {"command": "make test", "counts": counts, "text": "", "hunks": list(hunks)}


def mutants(*found: Json, text: str = "") -> Json:
    counts = dict.fromkeys(("killed", "lived", "cannot tell", "not run"), 0)
    for each in found:
        counts[each["word"]] += 1
    return {"text": text, "why": "", "counts": counts, "is_sampled": False, "mutants": list(found)}


def command(verdict: str, reason: str, **said: str) -> Json:
    names = {"without": "without the work", "old": "with the old tests", "now": "as it is"}
    runs = {}
    for name, text in said.items():
        result, _, printed = text.partition(": ")
        runs[names[name]] = {"result": result, "said": printed}
    row: Json = {"command": "make test", "directory": ".", "verdict": verdict, "reason": reason}
    return row | {"runs": runs, "notes": []}


def data(verdict: str, fact: str, code: int, **more: object) -> Json:
    row: Json = {"ok": code == 0, "omo": "0.2.0", "base": BASE, "since": "main", "head": HEAD, "is_dirty": False}
    row |= {"verdict": verdict, "headline": f"{verdict}. {fact}", "exit": code, "facts": [], "fix": "", "commands": []}
    return copy.deepcopy(row | {"lines": None, "mutants": None} | more)


PROVEN = data(
    "proven",
    "test_two fails without the change; 2 tests pass with it.",
    0,
    facts=["make test: fails without the work and passes with it"],
    commands=[command("holds", "holds", without="fail: 1 failed, 1 passed: test_two", now="pass: 2 passed")],
    lines=lines(
        hunk("src/calc.py:1", "not held", "2 passed", ("LIMIT = 9",), ("LIMIT = 11",)),
        hunk("src/calc.py:5-6", "held", "1 failed: test_two", ("    return a",), ("    c = a + b", "    return c")),
    ),
    mutants=mutants(
        mutant("src/calc.py", 1, "killed"),
        mutant("src/calc.py", 5, "lived", "+", "-"),
        text="1 of 2 mutants killed.",
    ),
)
NOT_PROVEN = data(
    "not proven",
    "All 2 tests pass without the change too.",
    3,
    is_dirty=True,
    facts=["make test: passes without the work"],
    fix="write a test that fails without the change",
    commands=[command("passes without the work", "it passes", without="pass: 2 passed", now="pass: 2 passed")],
    lines=lines(
        hunk("src/calc.py:1", "not held", "it passes without all of the work", ("LIMIT = 9",), ("LIMIT = 11",))
    ),
)
CANNOT_TELL = data("cannot tell", "It fails and passes on the same files.", 4, since="")
