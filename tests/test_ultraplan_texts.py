"""What ultraplan tells its agents and its users to run is there to be run."""

from __future__ import annotations

from pathlib import Path

from omo.cli.main import build_parser
from omo.workflows.ultraplan import critique, manifest, propose, rules
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan.models import Document
from tests.named_commands import children

ROOT = Path(__file__).resolve().parents[1]
SKILLS = [ROOT / "skills" / name / "SKILL.md" for name in ("ultraresearch", "ultraplan", "ultraexecute")]
FRAGMENTS = [*ROOT.glob("skill-fragments/ultraplan/*.md"), *ROOT.glob("skill-fragments/ultraexecute/*.md")]
TEMPLATE = ROOT / "skill-fragments" / "ultraplan" / "plan-template.md"
MANIFESTS = ROOT / "skill-fragments" / "ultraplan" / "manifests.md"
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
    filled = propose.fill_in(shown_plan(PAGE), tmp_path)
    assert (filled.unplaced, rules.validate(documents.parse(filled.text, "plan.md"), tmp_path)) == ({}, [])
    filled = propose.fill_in(shown_plan(TEMPLATE), tmp_path)
    wrong = " ".join(map(str, rules.refusing(rules.validate(documents.parse(filled.text, "plan.md"), tmp_path))))
    for place in ("the title", "Files", "Changes", "Verify", "Checkpoint"):
        assert place in wrong
    keys = MANIFESTS.read_text(encoding="utf-8")
    assert [key for key in manifest.KEYS if f"| `{key}` |" not in keys] == []


def test_what_the_critic_is_shown_to_return_can_be_recorded() -> None:
    verdict = critique.read_verdict(CRITIC.read_text(encoding="utf-8"))
    assert list(verdict.dimensions) == list(critique.DIMENSIONS)
    assert not verdict.is_clean
