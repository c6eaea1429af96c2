"""What holds for any text."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omo.ultrawork.keyword import RULES, read_prompt

ROWS = [json.loads(line) for line in (Path(__file__).parent / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
ACTIVATING = [row["prompt"] for row in ROWS if row["action"] == "activate"]
PIECES = [
    "ulw", "ultrawork", "ULW", " ", "\n", "\r\n", "\t", "    ", "`", "```", "~~~", '"', "'", "’", "“", "”", "«", "»",
    "「", "」", "<", ">", "<!--", "-->", "<a-b>", "</a-b>", "[", "](", ")", "|", "|-|", "- ", "+x", "-x",
    "@@ -1 +1 @@", "$ ", ".", ",", "?", ":", "stop", "don't", "please", "fix", "the", "로", "で",
    "用", "/", "\0", "\ufeff", "\ud800",
    "é", "12:00:00 ", "Stop hook feedback:",
]  # fmt: skip
HARMLESS = ["fix", "the", "login", "page", "tests", "add", "coverage", "for", "parser", "refactor", "module"]

anything = st.text(st.characters()) | st.lists(st.sampled_from(PIECES)).map("".join)
quick = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@quick
@given(anything, st.sampled_from(["on", "explicit", "off"]))
def test_any_text_is_read(prompt: str, mode: str) -> None:
    reading = read_prompt(prompt, mode=mode)
    assert reading.rule in RULES
    assert 0 <= reading.span[0] <= reading.span[1] <= len(prompt)
    assert all(rule in RULES for _, rule in reading.trail)


@quick
@given(anything)
def test_text_without_the_word_neither_starts_nor_stops_it(prompt: str) -> None:
    text = re.sub("(?i)ulw|ultrawork", "x", prompt).lstrip("/")
    assert read_prompt(text).action in ("none", "pause", "resume")


@quick
@given(anything, st.sampled_from(["explicit", "off"]))
def test_a_stricter_setting_never_starts_more(prompt: str, mode: str) -> None:
    if read_prompt(prompt, mode=mode).action == "activate":
        assert read_prompt(prompt).action == "activate"


def _longest(char: str, text: str) -> int:
    return max((len(run) for run in re.findall(f"{char}+", text)), default=0)


@pytest.mark.parametrize("char", ["`", "~"])
@pytest.mark.parametrize("prompt", ACTIVATING)
def test_a_fence_around_a_request_silences_it(prompt: str, char: str) -> None:
    fence = char * max(3, _longest(char, prompt) + 1)
    assert read_prompt(f"{fence}\n{prompt}\n{fence}").action == "none"


@pytest.mark.parametrize("prompt", ACTIVATING)
def test_a_block_quote_around_a_request_silences_it(prompt: str) -> None:
    assert read_prompt("\n".join(f"> {line}" for line in prompt.splitlines())).action == "none"


@pytest.mark.parametrize("prompt", [prompt for prompt in ACTIVATING if "\n" not in prompt.strip()])
def test_inline_code_around_a_request_silences_it(prompt: str) -> None:
    ticks = "`" * (_longest("`", prompt) + 1)
    assert read_prompt(f"{ticks} {prompt.strip()} {ticks}").action == "none"


@quick
@given(st.lists(st.sampled_from(HARMLESS), min_size=1, max_size=12))
def test_the_word_in_front_of_a_task_starts_it(words: list[str]) -> None:
    assert read_prompt("ulw " + " ".join(words)).action == "activate"


def _seconds(prompt: str) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()  # our own work only, however busy the machine is
        read_prompt(prompt)
        best = min(best, time.process_time() - start)
    return best


UNITS = [
    "`", "` `` ``` ", '"', "' a", "“", "«»「", "[", "[a](", "<", "<a-b>", "<a-b></c-d>", "<!--", ">", "> ",
    "|", "|a|b|\n|-|-|\n", "the ulw thing, ", "ulw는 ", " ", "\n", " \n", "\t", "a", "A.", "a@b:", "a/", ".",
    "+a\n-b\n", "12:00:00 x\n", "- ", "1. ", "```\n~~~\n", "a:\n    b\n", "\ud800", "\0", "\r",
    "{\n", "$ a\n", "don't ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_length_not_with_its_square(unit: str) -> None:
    small, large = (f"x {unit * (size // len(unit))}\nabout ulw\n" for size in (10_000, 40_000))
    # Four times the text: 4 if linear, 16 if quadratic. Half a millisecond stands in for noise.
    assert _seconds(large) < 10 * (_seconds(small) + 0.0005)
