"""What ralph tells its agents and its users, held against the code that acts on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from omo.cli.main import build_parser
from omo.workflows.ralph import criteria, evaluate_criteria, rules
from omo.workflows.ralph.end import ENDS
from omo.workflows.ralph.judge import EXIT_CODES
from tests.named_commands import children

ROOT = Path(__file__).resolve().parents[1]
SKILL = ROOT / "skills" / "ralph" / "SKILL.md"
FRAGMENTS = ROOT / "skill-fragments" / "ralph"
JUDGE = ROOT / "agents" / "judge.md"
PAGE = ROOT / "docs" / "ralph.md"
DECISION = ROOT / "docs" / "decisions" / "ralph.md"
TEXTS = [SKILL, *sorted(FRAGMENTS.glob("*.md")), JUDGE, PAGE, DECISION]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def frontmatter(path: Path) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text(path).split("---\n")[1].splitlines())


def flat(path: Path) -> str:
    """Without line breaks, so that a sentence is found wherever it is wrapped."""
    return " ".join(text(path).split())


def section(path: Path, title: str) -> str:
    return text(path).split(f"## {title}\n")[1].split("\n## ")[0]


def first_column(table: str) -> list[str]:
    """The words in backticks in the first column of a table."""
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [word for cell in rows for word in re.findall(r"`([^`]+)`", cell)]


# The skill


def test_the_description_says_when_and_not_how() -> None:
    told = frontmatter(SKILL)
    assert told["name"] == "ralph"
    assert "Use when" in told["description"]
    assert "/omo:ralph" in told["description"]
    assert not re.search(r"brief|replan|phase|exec\b|artifacts|nonce", told["description"])


def test_the_skill_approves_looking_and_nothing_else() -> None:
    """Starting pins commands and judging runs them: both are where the host asks the user."""
    allowed = frontmatter(SKILL)["allowed-tools"].split(", ")
    stems = [re.fullmatch(r"Bash\(omo (.+?)(?: \*)?\)", one) for one in allowed]
    assert {one[1] if one else "?" for one in stems} == {"ralph status", "ralph artifacts"}


def test_the_skill_stays_short() -> None:
    assert len(text(SKILL).splitlines()) <= 110


@pytest.mark.parametrize(
    "said",
    [
        "Show the criteria to the user, with their checks, and wait for their yes before the first iteration",
        "two strangers come to the same answer",
        "False today",
        "A machine decides wherever it can",
        "The five phases, none abridged",
        "**stop and ask the user first.**",
        "Playing a role yourself, a general agent that is told to be QA",
        "Never judge your own work. Only where agents cannot be started at all",
        "the prompt `omo ralph brief` and nothing more",
        "An answer that nobody can read is unknown, never a pass",
        "Read the diff since it last passed, find the change that broke it",
        "What passed is out of scope for work; it is judged all the same",
        "Both are honest results if you say them first",
        "no criterion made easier",
    ],
)
def test_the_skill_says_what_code_cannot_enforce(said: str) -> None:
    assert said in flat(SKILL)


def test_the_phases_come_in_their_order() -> None:
    steps = re.findall(r"^\d\. \*\*(\w+)\*\*", section(SKILL, "The five phases, none abridged"), re.M)
    assert tuple(steps) == rules.PHASES


def test_the_loop_is_told_in_its_order() -> None:
    table = section(SKILL, "When → command")
    verbs = re.findall(r"^\|[^|]+\| `omo ralph (\w+)", table, re.M)
    assert verbs == ["start", "judge", "abandon", "status"]


def test_the_skill_names_every_fragment() -> None:
    named = set(re.findall(r"skill-fragments/ralph/([\w.-]+\.md)", text(SKILL)))
    assert named == {path.name for path in FRAGMENTS.iterdir()}


def test_a_fragment_is_no_skill() -> None:
    for path in FRAGMENTS.iterdir():
        assert not text(path).startswith("---"), f"{path.name} has frontmatter, so a host could list it"


# Agents


def test_an_agent_that_proves_a_phase_exists_and_is_named() -> None:
    for phase, agent in rules.PROVEN_BY.items():
        if agent:
            assert (ROOT / "agents" / f"{agent.removeprefix('omo:')}.md").is_file()
            (row,) = [line for line in text(PAGE).splitlines() if line.startswith(f"| `{phase}` |")]
            assert f"`{agent}` finished" in row
            assert f"`{agent}`" in section(SKILL, "The five phases, none abridged")


def test_the_judge_reads_and_runs_only() -> None:
    assert set(frontmatter(JUDGE)["tools"].split(", ")) == {"Read", "Grep", "Glob", "Bash"}


# Tables and numbers that repeat the code


def test_the_page_has_a_row_for_every_phase_status_and_verdict() -> None:
    assert tuple(first_column(section(PAGE, "The phases, and what proves them"))) == rules.PHASES
    assert tuple(first_column(section(PAGE, "What becomes of a criterion"))) == rules.STATUSES
    verdicts = re.findall(r"^\| (\w+) \| .+ \| (\d)", section(PAGE, "What becomes of a criterion"), re.M)
    assert {name: int(code) for name, code in verdicts} == EXIT_CODES


def test_the_page_tells_every_end() -> None:
    told = section(PAGE, "When it stops")
    assert [how for how in ENDS if f"`{how}`" not in told] == []


@pytest.mark.parametrize(
    ("path", "said", "number"),
    [
        (SKILL, r"Under (\d+) changed lines", rules.SMALL_CHANGE),
        (SKILL, r"--max-iterations N`, (\d+) unless told", rules.DEFAULT_ITERATIONS),
        (SKILL, r"check of more than (\d+) seconds", evaluate_criteria.HEAVY_SECONDS),
        (PAGE, r"fewer than (\d+) lines are changed", rules.SMALL_CHANGE),
        (PAGE, r"`--max-iterations` \((\d+)\)", rules.DEFAULT_ITERATIONS),
        (PAGE, r"takes more than (\d+) seconds", evaluate_criteria.HEAVY_SECONDS),
    ],
)
def test_a_number_is_the_one_in_the_code(path: Path, said: str, number: float) -> None:
    assert [float(found) for found in re.findall(said, flat(path))] == [number]


def test_what_is_three_times_in_words_is_three_in_the_code() -> None:
    threes = (
        rules.MOST_CIRCUMVENTIONS,
        rules.MOST_FAILURES,
        rules.MOST_REGRESSIONS,
        evaluate_criteria.MOST_ITERATIONS_CACHED,
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
        assert criteria.subjective(f"the importer: {words.lower()}") or criteria.subjective(f"it {words.lower()}"), (
            words
        )


# Commands


def test_every_verb_of_ralph_is_explained_somewhere() -> None:
    verbs = children(children(build_parser())["ralph"])
    told = " ".join(flat(path) for path in TEXTS)
    assert [verb for verb in verbs if f"omo ralph {verb}" not in told] == []
