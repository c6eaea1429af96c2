"""What ultraplan tells its agents and its users to run is there to be run."""

from __future__ import annotations

import re
from pathlib import Path

from omo.cli.main import build_parser
from omo.workflows.ultraplan import critique, manifest, rules
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan.models import Document
from tests.named_commands import children

ROOT = Path(__file__).resolve().parents[1]
SKILLS = [ROOT / "skills" / name / "SKILL.md" for name in ("ultraresearch", "ultraplan", "ultraexecute")]
FRAGMENTS = [*ROOT.glob("skill-fragments/ultraplan/*.md"), *ROOT.glob("skill-fragments/ultraexecute/*.md")]
TEMPLATE = ROOT / "skill-fragments" / "ultraplan" / "plan-template.md"
CRITIC = ROOT / "agents" / "critic.md"
PAGE = ROOT / "docs" / "ultraplan.md"
TEXTS = [*SKILLS, *sorted(FRAGMENTS), CRITIC, ROOT / "agents" / "planner.md", PAGE]


def shown_plan(path: Path) -> Document:
    text = path.read_text(encoding="utf-8")
    return documents.parse(text.split("````markdown\n")[1].split("````")[0], "plan.md")


def test_every_verb_of_plan_is_explained_in_the_page() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert [verb for verb in children(children(build_parser())["plan"]) if f"omo plan {verb}" not in page] == []


def test_the_plan_of_the_page_is_valid_and_the_template_is_to_be_filled_in(tmp_path: Path) -> None:
    assert rules.validate(shown_plan(PAGE), tmp_path) == []
    wrong = " ".join(map(str, rules.refusing(rules.validate(shown_plan(TEMPLATE), tmp_path))))
    for place in ("needs", "Touch", "the title", *(label for label, _, _ in rules.FIELDS.values())):
        assert place in wrong
    shown = re.findall(r"^ {4}(\w+):", TEMPLATE.read_text(encoding="utf-8"), re.M)
    assert set(manifest.REQUIRED) <= set(shown)


def test_what_the_critic_is_shown_to_return_can_be_recorded() -> None:
    verdict = critique.read_verdict(CRITIC.read_text(encoding="utf-8"))
    assert list(verdict.dimensions) == list(critique.DIMENSIONS)
    assert not verdict.is_clean
