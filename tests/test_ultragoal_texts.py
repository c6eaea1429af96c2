"""What ultragoal tells its agents: the commands exist, the examples pass, and nobody is given more than their role."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from omo.cli.main import build_parser
from omo.hooks.tool_use import LEADERS
from omo.workflows.ultragoal.gate import models
from tests.named_commands import children

ROOT = Path(__file__).resolve().parents[1]
SKILL = ROOT / "skills" / "ultragoal" / "SKILL.md"
FRAGMENTS = ROOT / "skill-fragments" / "ultragoal"
TOOLS = {
    "executor": {"Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit", "Bash"},
    "planner": {"Read", "Grep", "Glob"},
    "architect": {"Read", "Grep", "Glob", "Bash"},
    "critic": {"Read", "Grep", "Glob"},
    "qa": {"Read", "Grep", "Glob", "Bash", "Write"},
}
AGENTS = {name: ROOT / "agents" / f"{name}.md" for name in TOOLS}
TEXTS = [SKILL, *sorted(FRAGMENTS.glob("*.md")), *AGENTS.values(), ROOT / "docs" / "ultragoal.md"]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def frontmatter(path: Path) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text(path).split("---\n")[1].splitlines())


def test_every_verb_of_ultragoal_is_explained_somewhere() -> None:
    verbs = children(children(build_parser())["ultragoal"])
    whole = " ".join(" ".join(text(path).split()) for path in TEXTS)
    assert [verb for verb in verbs if f"omo ultragoal {verb}" not in whole] == []


@pytest.mark.parametrize(("name", "model"), [("architect", models.ArchitectReview), ("qa", models.ExecutorQa)])
def test_what_a_reviewer_is_shown_to_return_fits_the_gate(name: str, model: type[BaseModel]) -> None:
    example = json.loads(text(AGENTS[name]).split("```json\n")[1].split("```")[0])
    assert set(example) == set(model.model_fields)
    model.model_validate(example)


def test_a_fragment_is_no_skill() -> None:
    assert [path.name for path in FRAGMENTS.iterdir() if text(path).startswith("---")] == []


def test_the_skill_approves_nothing_that_writes() -> None:
    allowed = frontmatter(SKILL)["allowed-tools"]
    verbs = re.findall(r"Bash\(omo (.+?)(?: \*)?\)", allowed)
    assert set(verbs) == {"ultragoal status", "ultragoal gate validate", "goal get"}
    assert len(verbs) == len(allowed.split(", "))


@pytest.mark.parametrize("name", TOOLS)
def test_an_agent_has_the_tools_of_its_role_and_starts_no_others(name: str) -> None:
    assert set(frontmatter(AGENTS[name])["tools"].split(", ")) == TOOLS[name]


def test_what_agents_are_told_to_leave_alone_is_denied_to_them() -> None:
    assert {"checkpoint", "steer"} <= set(LEADERS["ultragoal"])
    assert set(children(children(build_parser())["goal"])) - {"get"} == set(LEADERS["goal"])
