"""Stops, waits and continues as people type them, in nine languages; and work that only sounds like one."""

from __future__ import annotations

import pytest

from omo.ultrawork.keyword import read_prompt, stop_words
from tests.ultrawork.stop_phrases import CONTINUES, QUESTIONS, STOPS, WORK

STOP_ROWS = [(language, phrase) for language, phrases in STOPS.items() for phrase in phrases]
CONTINUE_ROWS = [(language, phrase) for language, phrases in CONTINUES.items() for phrase in phrases]


@pytest.mark.parametrize(("language", "phrase"), STOP_ROWS)
def test_a_stop_pauses(language: str, phrase: str) -> None:
    assert read_prompt(phrase).action == "pause"


@pytest.mark.parametrize(("language", "phrase"), CONTINUE_ROWS)
def test_a_continue_resumes(language: str, phrase: str) -> None:
    assert read_prompt(phrase).action == "resume"


@pytest.mark.parametrize("sentence", WORK)
def test_work_does_not_pause(sentence: str) -> None:
    assert read_prompt(sentence).action not in ("pause", "cancel", "cancel-and-continue")


@pytest.mark.parametrize("question", QUESTIONS)
def test_asking_whether_to_go_on_oneself_does_nothing(question: str) -> None:
    assert read_prompt(question).action == "none"


def test_the_tables_are_large_and_say_nothing_twice() -> None:
    for rows, least in ((STOP_ROWS, 300), (CONTINUE_ROWS, 60), ([("en", one) for one in WORK], 100)):
        assert len(rows) >= least
        assert len(set(rows)) == len(rows)
    assert len(STOPS) == len(CONTINUES) == 9


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("stop ralph", ("ralph",)),
        ("please cancel ultragoal", ("ultragoal",)),
        ("stop the plan", ("ultraplan",)),
        ("end verify", ("verify",)),
        ("stop omo", ("omo",)),
        ("stop ralph and the plan", ("ralph", "ultraplan")),
        ("stop everything", ()),
        ("stop", ()),
        ("continue ralph", ("ralph",)),
        ("계획 취소해줘", ("ultraplan",)),
        ("停止 ralph", ("ralph",)),
        ("brich den Plan ab", ("ultraplan",)),
    ],
)
def test_a_workflow_is_named(prompt: str, names: tuple[str, ...]) -> None:
    assert read_prompt(prompt).names == names


@pytest.mark.parametrize(
    "prompt",
    [
        "what does this print?\n```\nstop\n```",
        "> please stop\n\nwhat did she mean by that",
        'the label is "stop"',
        "/help stop",
        "<task-notification>stop</task-notification>",
        "Stop hook feedback:\nstop",
    ],
)
def test_what_is_quoted_or_no_persons_is_no_stop(prompt: str) -> None:
    assert read_prompt(prompt).action == "none"


@pytest.mark.parametrize("prompt", ["<task-notification>done</task-notification>", "Stop hook feedback:\ngo on"])
def test_machine_text_is_known_without_the_keyword(prompt: str) -> None:
    assert read_prompt(prompt).rule == "machine-text"


def test_a_long_prompt_is_stopped_by_how_it_opens_alone() -> None:
    task = "The parser has to keep comments where they are, and to report the line of each. " * 8
    assert read_prompt("Stop. " + task).action == "pause"
    assert read_prompt(task + "Please stop.").action == "none"


def test_a_phrase_says_one_thing() -> None:
    """Between languages a phrase may stand twice ("para"), never in two tables of one language."""
    for language in stop_words.STOP:
        tables = []
        for table in (stop_words.STOP, stop_words.WAIT, stop_words.GO_ON):
            tables += [phrase.strip() for phrase in table[language].replace("\n", "").split("|")]
        assert len(tables) == len(set(tables)), language
