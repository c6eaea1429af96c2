"""The word that a user reads of a plan of goals: never better than what its ledger and the hooks know."""

from __future__ import annotations

from omo.stop import rules, sentences
from omo.workflows.ultragoal import goal_tool
from tests import texts
from tests.ultragoal.project import ONE, Project, commit


def told(project: Project) -> str:
    """At Stop."""
    project.tell()
    row = project.row()
    return sentences.release(rules.DONE, row, row, {})


def test_what_nobody_can_compare_with_the_files_of_a_review_is_no_clean_word_on_them(project: Project) -> None:
    commit(project.root, "a.py")
    project.prompt("/omo:ultragoal read the file")
    project.create(ONE)
    project.hand_out()
    project.reviewed()
    project.git("config", "core.fileMode", "false")
    assert project.agent("ultragoal", "brief", "critic").says("ultragoal-changed-files-unknown")
    project.complete("G001")
    goal_tool.operate("complete", project.run())
    assert texts.says(told(project), "end-no-clean-verdict", who="omo:architect or omo:qa", goal="G001")
