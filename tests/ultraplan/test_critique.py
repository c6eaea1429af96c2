"""The critic's verdict: what counts as one, for which text, and whether the host saw it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput
from omo.hooks import subagents
from omo.hooks.main import World
from omo.hosts.claude import event_of
from omo.state import paths
from omo.work import agents
from omo.work.run import Caller
from omo.workflows.ultraplan import critique
from omo.workflows.ultraplan.document import parse
from omo.workflows.ultraplan.flow import CRITIC, DIMENSIONS
from omo.workflows.ultraplan.models import Document
from tests.ultraplan.plans import plan_text

NOW = 1_771_780_801.0
SESSION = "abc123"
PLAN = parse(plan_text(2), "plan.md")
EDITED = parse(plan_text(2) + "\nOne more line.\n", "plan.md")
BLOCKING = {"dimension": "manifest-quality", "severity": "blocking", "text": "an empty file would do", "line": 12}
ADVISORY = {**BLOCKING, "severity": "advisory"}
PASSED = dict.fromkeys(DIMENSIONS, "pass")


def answer(document: Document = PLAN, **changes: Any) -> str:
    said = {"verdict": "clean", "plan_digest": document.digest, "dimensions": PASSED, "findings": [], **changes}
    return f"I read it.\n\n```json\n{json.dumps(said, indent=2)}\n```\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.fixture
def place(root: Path) -> Caller:
    return Caller(paths.state_dir(str(root), {}), str(root), SESSION, "agent", NOW, 5.0)


def hear(root: Path, message: str, agent: str = "omo:critic", session: str = SESSION) -> None:
    """The host reports that an agent finished."""
    fields = {"session_id": session, "agent_id": "a1", "agent_type": agent, "last_assistant_message": message}
    event = event_of({**fields, "cwd": str(root)})
    subagents.handle_stop(event, World(event, {}, str(root), NOW))


def said_by_critic(root: Path, place: Caller, message: str, document: Document = PLAN) -> critique.CriticVerdict:
    agents.expect(place, CRITIC.agent)
    hear(root, message)
    verdict = critique.record(place, document)
    assert verdict is not None
    return verdict


def test_the_critic_of_a_conversation_that_asked_and_is_over_counts_for_the_next(root: Path, place: Caller) -> None:
    other = Caller(place.state, str(root), "other", "agent", NOW, 5.0)
    hear(root, answer(), session="other")
    assert critique.record(place, PLAN) is None, "nobody asked it there"
    agents.expect(other, CRITIC.agent)
    hear(root, answer(), session="other")
    assert critique.record(place, PLAN) is not None
    assert critique.record(place, EDITED) is None


def test_a_ledger_that_was_edited_vouches_for_nothing(root: Path, place: Caller) -> None:
    agents.expect(place, CRITIC.agent)
    hear(root, answer(verdict="findings", findings=[BLOCKING]))
    events = Path(paths.events_file(place.state, SESSION))
    events.write_text(events.read_text().replace("an empty file would do", "nothing"))
    assert critique.record(place, PLAN) is None


def test_a_journal_that_was_edited_is_not_believed_and_the_next_verdict_begins_anew(root: Path, place: Caller) -> None:
    said_by_critic(root, place, answer(verdict="findings", findings=[BLOCKING]))
    path = Path(critique.reviews(place.state).path)
    path.write_text(
        path.read_text().replace('"clean": false', '"clean": true').replace('"clean":false', '"clean":true')
    )
    assert not critique.is_clean(critique.latest(str(place.root), place.state, PLAN.digest))
    said_by_critic(root, place, answer(EDITED), EDITED)
    assert critique.is_clean(critique.latest(str(place.root), place.state, EDITED.digest))


def test_asking_another_critic_about_the_same_text_unsays_nothing(root: Path, place: Caller) -> None:
    bad = answer(verdict="findings", findings=[BLOCKING])
    assert not said_by_critic(root, place, bad).is_clean
    assert not said_by_critic(root, place, answer()).is_clean
    assert not critique.is_clean(critique.latest(str(place.root), place.state, PLAN.digest))
    other = Caller(place.state, str(root), "other", "agent", NOW, 5.0)
    agents.expect(other, CRITIC.agent)
    hear(root, answer(), session="other")
    critique.record(other, PLAN)
    assert not critique.is_clean(critique.latest(str(place.root), place.state, PLAN.digest))
    assert said_by_critic(root, place, answer(EDITED), EDITED).is_clean


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({}, []),
        ({"findings": [ADVISORY]}, []),
        ({"dimensions": {**PASSED, "size": "concern"}}, []),
        ({"verdict": "findings"}, ["the critic's verdict is 'findings'"]),
        ({"findings": [BLOCKING]}, ["1 blocking finding"]),
        ({"dimensions": {**PASSED, "order": "fail"}}, ["order fails"]),
        (
            {"dimensions": {**PASSED, "manifest-quality": "concern"}},
            ["manifest-quality is a concern and has to pass"],
        ),
        (
            {"verdict": "findings", "findings": [BLOCKING, BLOCKING], "dimensions": dict.fromkeys(PASSED, "fail")},
            [*(f"{name} fails" for name in PASSED), "2 blocking findings", "the critic's verdict is 'findings'"],
        ),
    ],
)
def test_clean_needs_the_word_no_blocking_finding_and_strong_manifests_else_it_says_why(
    changes: dict[str, Any], reasons: list[str], root: Path, place: Caller
) -> None:
    done = said_by_critic(root, place, answer(**changes))
    assert done.reasons == reasons
    assert critique.is_clean(critique.latest(str(place.root), place.state, PLAN.digest)) is (not reasons)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("OK TO START", "no JSON object"),
        ('{"verdict": "clean"', "no JSON object"),
        ('{"result": "clean"}', "no JSON object"),
        (answer(verdict="approved"), "verdict"),
        (answer(plan_digest="abc"), "plan_digest"),
        (answer(dimensions={"manifest-quality": "pass"}), "not judged"),
        (answer(dimensions={**PASSED, "size": "great"}), "dimensions.size"),
        (answer(findings=[{"text": "x"}]), r"findings\[0\]"),
        (answer(findings=[{**BLOCKING, "severity": "minor"}]), "severity"),
        (answer(findings="none"), "findings"),
    ],
)
def test_what_is_not_in_the_form_is_no_verdict(message: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        critique.read_verdict(message)


def test_the_form_that_is_quoted_before_the_answer_is_not_the_answer(place: Caller) -> None:
    quoted = f"The form:\n```json{critique.brief(PLAN).partition('```json')[2]}\n```\nMy answer:\n{answer()}"
    assert critique.read_verdict(quoted).is_clean


def test_the_brief_names_path_digest_every_dimension_and_a_form_that_can_be_filled_in() -> None:
    brief = critique.brief(PLAN)
    assert PLAN.path in brief
    assert all(f"- {name}: " in brief for name in DIMENSIONS)
    form = json.loads(brief.partition("```json\n")[2].partition("```")[0])
    assert form["plan_digest"] == PLAN.digest
    assert set(form) == set(critique.CriticVerdict.model_fields)
    assert set(form["findings"][0]) == set(critique.CriticFinding.model_fields)
