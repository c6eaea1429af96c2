"""What ultragoal tells its agents, held against the code that acts on it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from omo.cli.main import build_parser
from omo.hooks.tool_use import LEADERS
from omo.ultragoal import create, plan
from omo.ultragoal.gate import models
from tests.named_commands import assert_named_commands_exist, assert_parses, children, whole_commands

ROOT = Path(__file__).resolve().parents[1]
SKILL = ROOT / "skills" / "ultragoal" / "SKILL.md"
FRAGMENTS = ROOT / "skill-fragments" / "ultragoal"
CLEANER = FRAGMENTS / "ai-slop-cleaner.md"
PAGE = ROOT / "docs" / "ultragoal.md"
TOOLS = {
    "executor": {"Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit", "Bash"},
    "planner": {"Read", "Grep", "Glob"},
    "architect": {"Read", "Grep", "Glob", "Bash"},
    "critic": {"Read", "Grep", "Glob"},
    "qa": {"Read", "Grep", "Glob", "Bash", "Write"},
}
AGENTS = {name: ROOT / "agents" / f"{name}.md" for name in TOOLS}
TEXTS = [SKILL, *sorted(FRAGMENTS.glob("*.md")), *AGENTS.values(), PAGE]
KINDS = [
    "add_subgoal",
    "split_subgoal",
    "reorder_pending",
    "revise_pending_wording",
    "annotate_ledger",
    "mark_blocked_superseded",
]


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
    return [word for line in table.splitlines() if line.startswith("| `") for word in _quoted(line.split("|")[1])]


def _quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


# The skill


def test_the_gate_runs_in_its_order() -> None:
    steps = re.findall(r"^\d\. \*\*(.+?)\*\*", section(SKILL, "The gate, in this order"), re.M)
    assert steps == ["Verify", "Cleaner", "Verify again", "Architect", "QA and red team", "Final review"]


def test_the_skill_approves_nothing_that_writes() -> None:
    allowed = frontmatter(SKILL)["allowed-tools"].split(", ")
    stems = {re.fullmatch(r"Bash\(omo (.+?)(?: \*)?\)", one) for one in allowed}
    assert {one[1] for one in stems if one} == {"ultragoal status", "ultragoal gate validate", "goal get"}
    assert None not in stems


def test_the_description_says_when_and_not_how() -> None:
    description = frontmatter(SKILL)["description"]
    assert "Use when" in description
    assert not re.search(r"cleaner|architect|checkpoint|validate|verify", description)


def test_the_skill_stays_short() -> None:
    assert len(text(SKILL).splitlines()) <= 120


@pytest.mark.parametrize(
    "said",
    [
        "Plan first",
        "always, also when nothing was edited",
        "fix the blocking findings, and only those, then run it again, until there are none",
        "Advisory findings stay in the report and never enter the ledger",
        "The report goes into `iteration.evidence`",
        "from the contract first, the code last",
        "take it for *resolvable* unless you can name what only a person can do",
        "An agent that is still running has not failed",
        "Workers of any kind return evidence and never checkpoint, steer or touch the goal",
        "independence: reduced",
    ],
)
def test_the_skill_says_what_code_cannot_enforce(said: str) -> None:
    assert said in flat(SKILL)


def test_the_skill_names_every_fragment() -> None:
    named = set(re.findall(r"skill-fragments/ultragoal/(\S+\.md)", text(SKILL)))
    assert named == {path.name for path in FRAGMENTS.iterdir()}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_agents_that_are_named_exist(path: Path) -> None:
    for name in re.findall(r"`omo:(\w+)`", text(path)):
        assert (ROOT / "agents" / f"{name}.md").is_file()


# The cleaner


def test_a_fragment_is_no_skill() -> None:
    assert not (ROOT / "skills" / "ai-slop-cleaner").exists()
    for path in FRAGMENTS.iterdir():
        assert not text(path).startswith("---"), f"{path.name} has frontmatter, so a host could list it"


def test_the_cleaner_knows_seven_kinds() -> None:
    kinds = re.findall(r"^\d\. \*\*(.+?)\.\*\*", section(CLEANER, "What it looks for"), re.M)
    assert kinds == [
        "Fallbacks",
        "Duplication",
        "Dead code",
        "Needless abstraction",
        "Boundary violations",
        "UI and design",
        "Missing tests",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "*Masking*",
        "*Grounded*",
        "Signals, not bans",
        "Edit, write, format, commit, install, checkpoint, steer, touch the goal or omo's state, start an agent",
        "A goal without relevant edits gets a report as well",
        "They are not written to the ledger",
        "One pass, one report",
        "`iteration.evidence`",
    ],
)
def test_the_cleaner_reads_and_reports(said: str) -> None:
    assert said in flat(CLEANER)


def test_the_cleaners_report_has_every_label_in_order() -> None:
    lines = [line.strip() for line in section(CLEANER, "The report").splitlines() if line.startswith("    ")]
    assert lines[0] == "AI SLOP CLEANUP REPORT"
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "Scope",
        "Mode",
        "Blocking Findings",
        "Advisory Findings",
        "Fallback Findings",
        "UI/Design Findings",
        "Missing Test Findings",
        "Recursion Guard",
        "Changed Files Reviewed",
        "Gate Result",
        "Leader Action",
        "Remaining Risks",
    ]
    assert "`PASS`" in text(CLEANER)
    assert "`BLOCKED`" in text(CLEANER)


# The agents


@pytest.mark.parametrize("name", TOOLS)
def test_an_agent_has_the_tools_of_its_role_and_starts_no_others(name: str) -> None:
    tools = set(frontmatter(AGENTS[name])["tools"].split(", "))
    assert tools == TOOLS[name]
    assert not tools & {"Agent", "Task", "Skill", "AskUserQuestion"}


@pytest.mark.parametrize("name", TOOLS)
def test_an_agent_is_told_that_it_starts_no_agents(name: str) -> None:
    assert re.search(r"[Ss]tart no agents", flat(AGENTS[name]))


@pytest.mark.parametrize("name", [name for name, tools in TOOLS.items() if "Bash" in tools])
def test_an_agent_with_a_shell_is_told_to_leave_the_plan_alone(name: str) -> None:
    """Without one it cannot; with one the tool gate denies it, as far as a hook can see the command."""
    for verb in ("omo ultragoal checkpoint", "omo ultragoal steer", "any verb of `omo goal`"):
        assert verb in flat(AGENTS[name])


def test_what_they_are_told_to_leave_alone_is_denied_to_them() -> None:
    assert {"checkpoint", "steer"} <= set(LEADERS["ultragoal"])
    assert set(children(children(build_parser())["goal"])) - {"get"} == set(LEADERS["goal"])


def example(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(AGENTS[name]).split("```json\n")[1].split("```")[0])
    return found


def test_what_the_architect_returns_fits_the_gate() -> None:
    found = example("architect")
    assert set(found) == set(models.ArchitectReview.model_fields)
    models.ArchitectReview.model_validate(found)


def test_what_qa_returns_fits_the_gate() -> None:
    found = example("qa")
    assert set(found) == set(models.ExecutorQa.model_fields)
    models.ExecutorQa.model_validate(found)


def test_the_rows_of_the_qa_example_lead_to_each_other() -> None:
    found = example("qa")
    ids = {table: {row["id"] for row in found[table]} for table in models.ROWS}
    links = {
        "artifactRefs": "artifactRefs",
        "surfaceEvidenceRefs": "surfaceEvidence",
        "adversarialCaseRefs": "adversarialCases",
    }
    for table in ("surfaceEvidence", "adversarialCases", "contractCoverage"):
        for row in found[table]:
            for key in row.keys() & links:
                assert set(row[key]) <= ids[links[key]]


def test_the_architect_has_three_lanes_and_three_words_for_each() -> None:
    lanes = re.findall(r"^\| (architecture|product|code) \|", text(AGENTS["architect"]), re.M)
    assert lanes == ["architecture", "product", "code"]
    assert re.findall(r"\*\*([A-Z]+)\*\*:", text(AGENTS["architect"])) == ["CLEAR", "WATCH", "BLOCK"]
    for word in ("`APPROVE`", "`REQUEST CHANGES`", "`COMMENT`"):
        assert word in text(AGENTS["architect"])


@pytest.mark.parametrize("path", [AGENTS["qa"], FRAGMENTS / "gate.md", AGENTS["planner"]], ids=lambda path: path.stem)
def test_every_surface_is_named(path: Path) -> None:
    assert set(models.SURFACES) <= set(_quoted(text(path)))


def test_qa_starts_from_the_contract() -> None:
    body = flat(AGENTS["qa"])
    assert body.index("Start from the contract") < body.index("read the implementation last")


# Tables that repeat the code


def test_the_gate_fragment_has_a_row_for_every_surface() -> None:
    assert set(first_column(section(FRAGMENTS / "gate.md", "Evidence for each surface"))) == set(models.SURFACES)


def test_the_page_has_a_row_for_every_status() -> None:
    assert sorted(first_column(section(PAGE, "The loop"))) == sorted(plan.STATUSES)


def test_steering_has_one_example_and_one_row_for_each_kind() -> None:
    body = text(FRAGMENTS / "steering.md")
    assert re.findall(r"^ {4}omo ultragoal steer --kind (\w+)", body, re.M) == KINDS
    assert first_column(body) == KINDS


@pytest.mark.parametrize("path", [SKILL, PAGE], ids=lambda path: path.stem)
def test_the_brief_that_is_shown_makes_two_goals(path: Path) -> None:
    shown = next(one for one in re.findall(r"^```\n(.*?)^```", text(path), re.M | re.S) if "@goal" in one)
    parsed = create.parse(shown)
    assert [story.title for story in parsed.stories] == ["Parse the intake files", "Export the audit report"]
    assert parsed.preamble.startswith("Python 3.11")


# Commands


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_every_command_that_is_named_exists_with_its_options(path: Path) -> None:
    assert_named_commands_exist(path)


def test_there_are_commands_to_copy() -> None:
    assert len(whole_commands(TEXTS)) >= 18


@pytest.mark.parametrize("line", whole_commands(TEXTS))
def test_a_command_that_can_be_copied_parses(line: str) -> None:
    assert_parses(line)


def test_every_verb_of_ultragoal_is_explained_somewhere() -> None:
    verbs = children(children(build_parser())["ultragoal"])
    told = " ".join(flat(path) for path in TEXTS)
    assert [verb for verb in verbs if f"omo ultragoal {verb}" not in told] == []
