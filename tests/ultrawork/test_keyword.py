"""What a prompt is read as: the labelled prompts, and what a table cannot say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omo.hooks import keyword, places, prose, stop_words, unspaced_words, wordlists
from omo.hooks.keyword import HEARD, read_prompt
from omo.hooks.places import PLACE_RULES
from tests.ultrawork import prompts

SRC = Path(prose.__file__).parents[2]
NOT_ACTED_ON = [(rule, prompt) for rule, listed in prompts.NOT_USES.items() for prompt in listed]


# Each list, and what its prompts may be read as.
READ_AS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    **{f"use, {way}": (listed, ("activate",)) for way, listed in prompts.USES.items()},
    "a use in doubt": (prompts.TAKEN_FOR_USES, ("activate",)),
    "no use, and no rule was written for it": (prompts.NOT_USES_NOT_TUNED_TO, ("none",)),
    "cancel": (prompts.CANCELS, ("cancel",)),
    "cancel, and more for the model": (prompts.CANCELS_WITH_MORE, ("cancel-and-continue",)),
    **{f"stop, {language}": (listed, ("pause",)) for language, listed in prompts.STOPS.items()},
    **{f"continue, {language}": (listed, ("resume",)) for language, listed in prompts.CONTINUES.items()},
    "work": (prompts.WORK, ("none", "resume")),
    "a question of the user's, or a quotation": (prompts.NOTHING_SAID, ("none",)),
}


@pytest.mark.parametrize("name", READ_AS)
def test_what_a_prompt_is_read_as(name: str) -> None:
    listed, actions = READ_AS[name]
    readings = [(prompt, read_prompt(prompt)) for prompt in listed]
    assert [(prompt, one.action, one.rule) for prompt, one in readings if one.action not in actions] == []


@pytest.mark.parametrize("rule", prompts.NOT_USES)
def test_what_is_no_use_starts_nothing_and_says_why(rule: str) -> None:
    readings = [(prompt, read_prompt(prompt)) for prompt in prompts.NOT_USES[rule]]
    assert [(prompt, reading.action, reading.rule) for prompt, reading in readings] == [
        (prompt, "none", rule) for prompt in prompts.NOT_USES[rule]
    ]


@pytest.mark.parametrize(
    ("prompt", "action"),
    [
        *(("stop\n", "pause"), ("Stop.\n\nI will look at it tomorrow.\n", "pause"), ("go on\n", "resume")),
        *(("stop ulw\n", "cancel"), ("what is this?\n```\nstop\n```\n", "none")),
        *(("$ npm test\n1 failed\n\nulw fix it\n", "activate"), ("$ npm test\n1 failed\n  \nulw fix it\n", "activate")),
        ("the log has a ` in it\n\nulw fix the ` that is wrong\n", "activate"),
    ],
)
def test_lines_may_end_as_on_any_system(prompt: str, action: str) -> None:
    for end in ("\n", "\r\n", "\r"):
        assert read_prompt(prompt.replace("\n", end)).action == action


@pytest.mark.parametrize(("prompt", "names"), prompts.STOPS_BY_NAME.items())
def test_a_stop_names_its_workflow(prompt: str, names: tuple[str, ...]) -> None:
    reading = read_prompt(prompt)
    assert (reading.action, reading.names) == ("pause", names)


@pytest.mark.parametrize("name", ["ultragoal", "ultraplan", "ultraexecute", "verify"])
def test_the_command_of_a_workflow_names_it_and_one_without_omo_is_somebody_elses(name: str) -> None:
    reading = read_prompt(f"/omo:{name} do it with ulw")
    assert (reading.action, reading.rule, reading.names) == ("workflow", "workflow-command", (name,))
    assert read_prompt(f"/{name} do it").rule == "other-slash-command"


def test_a_long_prompt_is_stopped_by_how_it_opens_alone() -> None:
    task = "The parser has to keep comments where they are, and to report the line of each. " * 8
    assert read_prompt("Stop. " + task).action == "pause"
    assert read_prompt(task + "Please stop.").action == "none"


def test_every_rule_has_a_prompt_and_a_reason() -> None:
    shown = {rule for rule, _ in NOT_ACTED_ON} | {"mode-off", "mode-explicit", "workflow-command"}
    for listed in (*prompts.USES.values(), *prompts.STOPS.values(), *prompts.CONTINUES.values(), prompts.CANCELS):
        shown |= {read_prompt(prompt).rule for prompt in listed}
    assert {name for name, _, _ in PLACE_RULES} | set(HEARD) <= shown


@pytest.mark.parametrize("table", [wordlists.PHRASES_BY_KIND, unspaced_words.UNSPACED_BY_KIND])
def test_a_phrase_has_one_meaning(table: dict[str, str]) -> None:
    listed = [phrase for phrases in table.values() for phrase in wordlists.phrases(phrases)]
    assert len(listed) == len(set(listed))


def test_no_phrase_is_longer_than_what_is_looked_for() -> None:
    assert max(len(phrase.split()) for phrase in wordlists.PHRASES) <= stop_words.LONGEST_PHRASE
    assert max(len(phrase) for phrase in unspaced_words.UNSPACED) <= stop_words.LONGEST_UNSPACED


def test_no_prompt_is_listed_twice() -> None:
    listed = [prompt for _, prompt in NOT_ACTED_ON]
    listed += [prompt for one, _ in READ_AS.values() for prompt in one]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("prompt", "mode", "action"),
    [
        ("ulw fix auth", "explicit", "activate"),
        ("**ulw** fix", "explicit", "activate"),
        ("please ulw", "explicit", "none"),
        ("ulw fix auth", "off", "none"),
        ("/omo:ulw fix", "off", "activate"),
        ("stop ulw", "off", "cancel"),
    ],
)
def test_a_setting_makes_it_stricter(prompt: str, mode: str, action: str) -> None:
    reading = read_prompt(prompt, mode=mode)
    assert reading.action == action
    assert action != "none" or reading.rule == f"mode-{mode}"


def test_the_occurrence_that_decides_is_named() -> None:
    prompt = 'The docs say "please ulw".\r\nPlease ULW fix auth'
    reading = read_prompt(prompt)
    assert prompt[slice(*reading.span)] == "ULW"
    assert reading.rule == "leading"
    about = read_prompt("`ulw` in docs/ultrawork.md: what is ultrawork?")
    assert about.rule == "question"
    assert read_prompt("İ ulw x").span == (2, 5)


@pytest.mark.parametrize("prompt", ["\ud800 ulw \udfff", "\0ulw fix it", "\ufeffulw\r\nfix it", "ulw\u2028fix it"])
def test_odd_characters_do_not_hide_the_word(prompt: str) -> None:
    assert read_prompt(prompt).action == "activate"


def test_a_paste_of_any_length_hides_neither_what_is_before_it_nor_what_is_behind() -> None:
    paste = "\n" + "a line that says ulw and nothing else\n" * 10_000
    assert read_prompt("ulw fix:" + paste).span == (0, 3)
    assert read_prompt("what?\n```" + paste + "```\nulw fix").rule == "leading"
    assert read_prompt("what?\n```" + paste + "```\n").rule == "in-code"


@pytest.mark.parametrize("prompt", ["ulw fix it", "fix the `login` page ulw", "please use ultrawork:\n- a\n- b"])
@pytest.mark.parametrize("wrap", ["````\n{}\n````", "~~~~\n{}\n~~~~", "> {}", "<a-b>\n{}\n</a-b>", "``` {} ```"])
def test_a_request_that_is_quoted_asks_for_nothing(prompt: str, wrap: str) -> None:
    text = prompt.replace("\n", "\n> ") if wrap.startswith(">") else prompt
    assert read_prompt(wrap.format(text)).action == "none"


# What holds for any text.

PIECES = [
    *("ulw", "ultrawork", "ULW", "stop", "don't", "please", "fix", "the", "로", "で", "用", "é", "İ"),
    *(" ", "\n", "\r\n", "\t", "    ", "`", "```", "~~~", '"', "'", "’", "“", "”", "«", "»", "「", "」"),
    *("<", ">", "<!--", "-->", "<a-b>", "</a-b>", "[", "](", ")", "|", "|-|", "- ", "+x", "-x", "@@ -1 +1 @@"),
    *("$ ", ".", ",", "?", ":", "/", "\0", "\ufeff", "\ud800", "12:00:00 ", "Stop hook feedback:", "http://"),
]
anything = st.text(st.characters()) | st.lists(st.sampled_from(PIECES)).map("".join)
quick = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@quick
@given(anything, st.sampled_from(["on", "explicit", "off"]))
def test_any_text_is_read(prompt: str, mode: str) -> None:
    reading = read_prompt(prompt, mode=mode)
    assert reading.rule
    assert 0 <= reading.span[0] <= reading.span[1] <= len(prompt)
    if reading.action == "activate":
        assert read_prompt(prompt).action == "activate"  # a stricter setting never starts more


@quick
@given(anything)
def test_blanking_keeps_every_place(prompt: str) -> None:
    text, blanked = prose.split(prompt)
    assert len(text) == len(prompt)
    assert all(0 <= start < end <= len(prompt) for start, end, _ in blanked)


@quick
@given(anything)
def test_text_without_the_word_neither_starts_nor_stops_it(prompt: str) -> None:
    text = re.sub("(?i)ulw|ultrawork", "x", prompt).lstrip("/")
    assert read_prompt(text).action in ("none", "pause", "resume")


# What it costs.


@pytest.mark.parametrize("prompt", ["ulw fix the flaky tests", "fix it", "> ulw\n\n```\nulw\n```\nstop ulw"])
def test_reading_a_prompt_imports_nothing_but_us(prompt: str) -> None:
    code = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1])\n"
        "from omo.hooks.keyword import read_prompt; read_prompt(sys.argv[2])\n"
        "print(*(set(sys.modules) - before))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(SRC), prompt]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert {name for name in done.stdout.split() if name.partition(".")[0] != "omo"} <= {"__future__"}


def test_the_work_is_bounded_however_long_a_prompt_is(monkeypatch: pytest.MonkeyPatch) -> None:
    examined = []

    class Place(places.Place):
        def __init__(self, text: str, span: tuple[int, int]) -> None:
            examined.append(span)
            super().__init__(text, span)

    monkeypatch.setattr(places, "Place", Place)
    read_prompt("about ulw, " * 10_000)
    assert len(examined) <= 2 * keyword.MOST_EXAMINED
