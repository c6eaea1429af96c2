"""The bench that watches conditions: what it notes of each, that a page does what it did before, and what is picked."""

from __future__ import annotations

import runpy
import sys
import types
from pathlib import Path

import pytest

from bench import short_endings
from bench.conditions import watch

PAGE = """from __future__ import annotations


def kind(name, size=0):
    if (
        name and (size or name == "ö")
        and not size < 0
    ):
        return ("big " if size > 9 else f"{'my ' if size else ''}") + name
    return [letter for letter in name if letter != "-"]
"""


def test_each_condition_is_noted_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, record = tmp_path / "src" / "omo", tmp_path / "record"
    package.mkdir(parents=True)
    (package / "page.py").write_text(PAGE, encoding="utf-8")
    conditions = watch(tmp_path, record)
    watched = types.ModuleType("omo._watched")
    vars(watched).update(runpy.run_path(str(package / "_watched.py")))
    monkeypatch.setitem(sys.modules, "omo._watched", watched)
    kind = runpy.run_path(str(package / "page.py"))["kind"]
    assert [kind("a", 1), kind("ö"), kind("-b-")] == ["my a", "ö", ["b"]]
    seen = record.read_bytes()
    noted = {each.text: tuple(seen[2 * number : 2 * number + 2]) for number, each in enumerate(conditions)}
    assert noted == {
        "name": (0, 1),
        "size": (1, 1),
        'name == "ö"': (1, 1),
        "not size < 0": (0, 1),
        "size > 9": (1, 0),
        'letter != "-"': (1, 1),
    }
    assert [each.line for each in conditions] == [6, 6, 6, 7, 9, 10]


def test_the_fewest_endings_are_picked_that_decide_what_all_decide() -> None:
    """One that needs a program comes in for what only it shows, and then makes a plain one needless."""
    seen = {
        "true alone": frozenset({(1, True), (2, True)}),
        "false alone": frozenset({(1, False)}),
        "both": frozenset({(1, True), (1, False)}),
        "a program": frozenset({(2, True), (2, False), (3, True)}),
        "a program, and less": frozenset({(2, False)}),
    }
    levels = {name: int("program" in name) for name in seen}
    required = short_endings.decided(frozenset().union(*seen.values()))
    assert required == {(1, True), (1, False), (2, True), (2, False)}
    seconds = dict.fromkeys(seen, 1.0)
    assert sorted(short_endings.smallest(seen, required, levels, seconds)) == ["a program", "both"]


def test_of_endings_that_decide_the_same_the_quickest_is_picked() -> None:
    both = frozenset({(1, True), (1, False)})
    seen, seconds = {"slow": both, "quick": both, "slower": both}, {"slow": 2.0, "quick": 1.0, "slower": 3.0}
    assert short_endings.smallest(seen, both, dict.fromkeys(seen, 0), seconds) == ["quick"]
