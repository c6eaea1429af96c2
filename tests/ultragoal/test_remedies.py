"""What a refusal says to do can be done, as it stands; and what is shown tells apart what is different."""

from __future__ import annotations

import pytest

from omo.errors import OmoError
from omo.workflows.ultragoal.checkpoint import subject_of
from omo.workflows.ultragoal.gate import rules
from tests.project import Project as AnyProject
from tests.ultragoal.project import ONE, Project, commit


@pytest.mark.parametrize("option", ["--goal-json", "--executor-qa-json"])
def test_half_a_character_never_ends_in_a_crash(shell: AnyProject, option: str) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", ONE)
    shell.agent("ultragoal", "complete-goals")
    text = '{"objective": "\\ud800", "blockers": ["\\ud800"]}'
    command = (
        ("ultragoal", "checkpoint", "--goal-id", "G001", "--status", "blocked", "--evidence", "e")
        if option == "--goal-json"
        else ("ultragoal", "review")
    )
    ran = shell.agent(*command, option, text)
    assert ran.code in (2, 3)


@pytest.mark.parametrize("now", [None, "{}", "rubbish", '{"computer_control": ["other"]}'])
def test_what_was_computer_control_when_the_plan_began_stays_so(project: Project, now: str | None) -> None:
    path = project.root / ".sisyphus" / "omo.json"
    commit(project.root, ".sisyphus/omo.json", '{"computer_control": ["native"]}')
    project.create(ONE)
    project.hand_out()
    path.unlink()
    if now is not None:
        path.write_text(now)
    (project.root / "native").mkdir()
    (project.root / "native" / "mouse.c").write_text("int x;")
    run = project.run(control_globs=("other",))
    subject = subject_of(run, project.goal("G001"))
    assert subject.control_globs == ("other", "native")
    assert rules.suite_triggers(subject) == ["native/mouse.c"]
    with pytest.raises(OmoError, match="is not shown yet"):
        project.complete("G001")
