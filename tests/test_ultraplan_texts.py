"""What ultraplan tells its agents and its users to run is there to be run."""

from __future__ import annotations

from pathlib import Path

from omo.workflows.ultraplan import critique, models, propose, rules
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan.flow import DIMENSIONS
from omo.workflows.ultraplan.models import Document
from tests.written import ROOT, agent, page, skill, text

TEMPLATE = skill("ultraplan")
MANIFESTS = ROOT / "skill-fragments" / "ultraplan" / "manifests.md"
PAGE = page("ultraplan")


def shown_plan(path: Path) -> Document:
    return documents.parse(text(path).split("````markdown\n")[1].split("````")[0], "plan.md")


def test_the_plan_of_the_page_is_valid_and_the_template_is_to_be_filled_in(tmp_path: Path) -> None:
    filled = propose.fill_in(shown_plan(PAGE), tmp_path)
    assert rules.validate(documents.parse(filled.text, "plan.md"), tmp_path) == []
    filled = propose.fill_in(shown_plan(TEMPLATE), tmp_path)
    wrong = " ".join(map(str, rules.refusing(rules.validate(documents.parse(filled.text, "plan.md"), tmp_path))))
    for place in ("the title", "Files", "Changes", "Verify", "Checkpoint"):
        assert place in wrong
    keys = text(MANIFESTS)
    assert [key for key in models.Manifest.model_fields if f"| `{key}` |" not in keys] == []


def test_what_the_critic_is_shown_to_return_can_be_recorded() -> None:
    verdict = critique.read_verdict(text(agent("critic")))
    assert list(verdict.dimensions) == list(DIMENSIONS)
    assert not verdict.is_clean
