"""What ralph tells its agents and its users, held against the code that acts on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from omo.engine import checking
from omo.engine.ends import How
from omo.engine.judging import EXIT_CODES
from omo.workflows.ralph import criteria, flow
from omo.workflows.ralph.flow import FLOW
from tests.written import ROOT, agent, flat, fragments, page, section, skill, text

SKILL, JUDGE, PAGE = skill("ralph"), agent("judge"), page("ralph")
TEXTS = [SKILL, *fragments("ralph"), JUDGE, PAGE, ROOT / "docs" / "decisions" / "ralph.md"]
PHASES = "The five phases, none abridged"


def first_column(table: str) -> list[str]:
    """The words in backticks in the first column of a table."""
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [word for cell in rows for word in re.findall(r"`([^`]+)`", cell)]


# The skill


def test_the_phases_come_in_their_order() -> None:
    steps = re.findall(r"^\d\. \*\*(\w+)\*\*", section(SKILL, PHASES), re.M)
    assert steps == [step.name for step in FLOW.steps]


# Agents


def test_an_agent_that_proves_a_phase_exists_and_is_named() -> None:
    for step in FLOW.steps:
        phase, role = step.name, step.agent
        if role:
            assert (ROOT / "agents" / f"{role.removeprefix('omo:')}.md").is_file()
            (row,) = [line for line in text(PAGE).splitlines() if line.startswith(f"| `{phase}` |")]
            assert f"`{role}` finished" in row
            assert f"`{role}`" in section(SKILL, PHASES)


# Tables and numbers that repeat the code


def test_the_page_has_a_row_for_every_phase_status_and_verdict() -> None:
    phases = [step.name for step in FLOW.steps]
    assert first_column(section(PAGE, "The phases, and what proves them")) == phases
    statuses = {status.name for status in FLOW.statuses}
    assert set(first_column(section(PAGE, "What becomes of a criterion"))) == statuses
    verdicts = re.findall(r"^\| (\w+) \| .+ \| (\d)", section(PAGE, "What becomes of a criterion"), re.M)
    assert {name: int(code) for name, code in verdicts} == EXIT_CODES


def test_the_page_tells_every_end() -> None:
    told = section(PAGE, "When it stops")
    assert [how for how in get_args(How) if f"`{how}`" not in told] == []


@pytest.mark.parametrize(
    ("path", "said", "number"),
    [
        (SKILL, r"Under (\d+) changed lines", FLOW.small_change),
        (SKILL, r"--max-iterations N`, (\d+) unless told", FLOW.rounds),
        (SKILL, r"check of more than (\d+) seconds", checking.HEAVY_SECONDS),
        (PAGE, r"fewer than (\d+) lines are changed", FLOW.small_change),
        (PAGE, r"`--max-iterations` \((\d+)\)", FLOW.rounds),
        (PAGE, r"takes more than (\d+) seconds", checking.HEAVY_SECONDS),
    ],
)
def test_a_number_is_the_one_in_the_code(path: Path, said: str, number: float) -> None:
    assert [float(found) for found in re.findall(said, flat(path))] == [number]


def test_what_is_three_times_in_words_is_three_in_the_code() -> None:
    threes = (
        FLOW.most_early,
        flow.MOST_FAILURES,
        flow.MOST_REGRESSIONS,
        checking.MOST_ROUNDS_KEPT,
    )
    assert set(threes) == {3}


@pytest.mark.parametrize("path", [SKILL, PAGE], ids=lambda path: path.stem)
def test_the_criteria_that_are_shown_are_accepted(path: Path) -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", text(path), re.M | re.S)
    found = criteria.parse(yaml.safe_load(shown))
    assert {check["type"] for one in found for check in one.checks} == {"command", "content", "judge"}


@pytest.mark.parametrize("path", [SKILL, PAGE], ids=lambda path: path.stem)
def test_what_is_said_to_be_refused_is_refused(path: Path) -> None:
    told = section(path, "Criteria first" if path == SKILL else "Criteria")
    wanted = [line for line in told.splitlines() if "no bugs" in line]
    quoted = re.findall(r'"([^"]+)"', " ".join(wanted))
    assert len(quoted) >= 2
    for words in quoted:
        sentences = (f"the importer: {words.lower()}", f"it {words.lower()}")
        assert any(map(criteria.opinion_in, sentences)), words
