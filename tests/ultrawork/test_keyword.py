"""The labelled prompts, and what a table cannot say: spans, trails, settings, imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.ultrawork.keyword import RULES, prose, read_prompt
from omo.ultrawork.keyword.clause import CLAUSE_RULES
from omo.ultrawork.keyword.words import WORDS

HERE = Path(__file__).parent
SRC = Path(prose.__file__).parents[3]
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (HERE / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
]
ACTIONS = {"activate", "cancel", "cancel-and-continue", "pause", "resume", "none"}


@pytest.mark.parametrize("row", ROWS, ids=[f"{n}-{row['action']}" for n, row in enumerate(ROWS, 1)])
def test_labelled_prompt(row: dict[str, Any]) -> None:
    reading = read_prompt(row["prompt"], mode=row.get("mode", "on"))
    assert reading.action == row["action"], f"{row['prompt']!r}: {reading.rule}"
    assert reading.rule in RULES


def test_the_corpus_covers_every_action_rule_and_language() -> None:
    readings = [read_prompt(row["prompt"], mode=row.get("mode", "on")) for row in ROWS]
    assert len(ROWS) >= 200
    assert len({(row["prompt"], row.get("mode")) for row in ROWS}) == len(ROWS)
    assert {row["action"] for row in ROWS} == ACTIONS
    assert len({row["lang"] for row in ROWS if "lang" in row}) >= 8
    assert {reading.rule for reading in readings} == set(RULES)


def test_every_clause_rule_has_a_reason() -> None:
    assert {name for name, _, _ in CLAUSE_RULES} <= set(RULES)
    assert all(why.endswith(".") for why in RULES.values())


def test_a_word_is_listed_once_per_class_and_can_match() -> None:
    for name, words in WORDS.items():
        listed = words.split()
        assert len(listed) == len(set(listed)), name
        assert all(word.replace("'", "").isalpha() for word in listed), name


def test_the_span_is_where_the_deciding_word_stands() -> None:
    prompt = 'The docs say "please ulw".\r\nPlease ULW fix auth'
    reading = read_prompt(prompt)
    assert prompt[slice(*reading.span)] == "ULW"
    assert [(prompt[slice(*span)], rule) for span, rule in reading.trail] == [("ulw", "in-quote"), ("ULW", "asked")]


def test_the_trail_names_each_rejected_occurrence() -> None:
    reading = read_prompt("`ulw` in docs/ultrawork.md: what is ultrawork?")
    assert [rule for _, rule in reading.trail] == ["in-code", "compound-token", "question"]
    assert reading.rule == "question"


def test_nothing_said_has_no_place() -> None:
    reading = read_prompt("fix the tests")
    assert (reading.action, reading.rule, reading.span, reading.trail) == ("none", "no-keyword", (0, 0), [])


def test_the_first_line_decides_above_a_pasted_diff() -> None:
    prompt = "ulw fix this:\n" + "diff --git a/x b/x\n@@ -1 +1 @@\n-ulw\n+ultrawork\n" * 50
    assert read_prompt(prompt).span == (0, 3)


@pytest.mark.parametrize("prompt", ["\ud800 ulw \udfff", "\0ulw fix it", "\ufeffulw\r\nfix it", "ulw\u2028fix it"])
def test_odd_characters_do_not_hide_the_word(prompt: str) -> None:
    assert read_prompt(prompt).action == "activate"


@pytest.mark.parametrize(
    "prompt",
    [
        "```\nulw fix it\n```",
        "~~~\nulw",
        "    ulw fix it",
        "> ulw fix it",
        "| ulw | x |",
        "<div>\nulw\n</div>",
        "`ulw`",
    ],
)
def test_without_the_markdown_parser_structure_is_still_not_prose(prompt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    assert read_prompt(prompt).action == "none"
    assert read_prompt(prompt + "\n\nx").action == "none"
    assert read_prompt("ulw fix this:\n\n" + prompt).action == "activate"


def _modules_after(prompt: str) -> set[str]:
    code = (
        "import re, sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1])\n"
        "from omo.ultrawork.keyword import read_prompt; read_prompt(sys.argv[2])\n"
        "print(*(set(sys.modules) - before))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(SRC), prompt]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    return set(done.stdout.split())


@pytest.mark.parametrize("prompt", ["ulw fix the flaky tests", "fix it", "stop ulw", 'say "ulw" & go, ok? `ulw`'])
def test_plain_prose_imports_nothing_but_us(prompt: str) -> None:
    foreign = {name for name in _modules_after(prompt) if name.partition(".")[0] != "omo"}
    assert foreign <= {"__future__"}


def test_a_plain_prompt_compiles_few_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prose, "_compiled", {})
    read_prompt("ulw fix the flaky tests")
    assert len(prose._compiled) <= 5
