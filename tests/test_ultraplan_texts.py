"""What ultraplan tells its agents and its users to run is there to be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.cli.main import build_parser
from omo.workflows.ultraplan import critique, models, propose, rules
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan.models import Document
from tests.named_commands import children
from tests.texts import ROOT, agent, flat, page, skill, text

TEMPLATE = skill("ultraplan")
MANIFESTS = ROOT / "skill-fragments" / "ultraplan" / "manifests.md"
PAGE = page("ultraplan")


def shown_plan(path: Path) -> Document:
    return documents.parse(text(path).split("````markdown\n")[1].split("````")[0], "plan.md")


def test_every_verb_of_plan_is_explained_in_the_page() -> None:
    told = flat(PAGE)
    assert [verb for verb in children(children(build_parser())["plan"]) if f"omo plan {verb}" not in told] == []


def test_the_plan_of_the_page_is_valid_and_the_template_is_to_be_filled_in(tmp_path: Path) -> None:
    filled = propose.fill_in(shown_plan(PAGE), tmp_path)
    assert (filled.unplaced, rules.validate(documents.parse(filled.text, "plan.md"), tmp_path)) == ({}, [])
    filled = propose.fill_in(shown_plan(TEMPLATE), tmp_path)
    wrong = " ".join(map(str, rules.refusing(rules.validate(documents.parse(filled.text, "plan.md"), tmp_path))))
    for place in ("the title", "Files", "Changes", "Verify", "Checkpoint"):
        assert place in wrong
    keys = text(MANIFESTS)
    assert [key for key in models.KEYS if f"| `{key}` |" not in keys] == []


def test_what_the_critic_is_shown_to_return_can_be_recorded() -> None:
    verdict = critique.read_verdict(text(agent("critic")))
    assert list(verdict.dimensions) == list(critique.DIMENSIONS)
    assert not verdict.is_clean


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("ultraresearch", "You make no build decisions"),
        ("ultraplan", "you write no code here, only the plan"),
        ("ultraplan", "Manifest quality is a hard gate"),
        ("ultraexecute", "On exit 77 something it needs is missing: attempt nothing"),
        ("ultraexecute", "One step, one commit"),
        ("ultraexecute", "Later steps are not begun"),
        ("ultraexecute", "**Security outranks the plan.**"),
        ("ultraexecute", "**You do not mend the plan.**"),
        ("ultraexecute", "at most twice"),
        ("ultraexecute", "Finish is the last thing you do, also after a failure"),
    ],
)
def test_the_skills_say_what_code_cannot_enforce(name: str, rule: str) -> None:
    assert rule in flat(skill(name))
