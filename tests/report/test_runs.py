"""A report counts one run: what came before it in the conversation, and after it in the project, is told apart."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from omo.context import Context
from omo.views.report import gather, page
from omo.views.report.gather import Report
from tests import texts
from tests.project import Project
from tests.ultraplan import plans as ultraplan_plans
from tests.ultraplan import project as ultraplan

CHECK = "from value import VALUE\nassert VALUE == 2, f'VALUE is {VALUE}'\nprint('all well')\n"


def begun(tmp_path: Path) -> Project:
    """A project with something to mend, and what says whether it is."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root)
    project.git("init", "-q")
    project.write("value.py", "VALUE = 10\n")
    project.write("check.py", CHECK)
    project.commit()
    return project


def until_the_cap(project: Project, task: str) -> int:
    project.prompt(task)
    blocks = 0
    while project.stop(stop_hook_active=bool(blocks)).blocks:
        blocks += 1
    return blocks


def report(project: Project, *arguments: str) -> Report:
    project.now += 1
    return gather.gather(project_context(project), project.session, *arguments)


def project_context(project: Project) -> Context:
    return Context(project.environ, str(project.root), project.now, has_terminal=True)


def earlier_runs(found: Report) -> list[str]:
    """What the report says of runs before this one."""
    return [notice.text for notice in found.notices if texts.says(notice.what, "report-earlier-run")]


@pytest.fixture
def second_try(tmp_path: Path) -> Project:
    project = begun(tmp_path)
    assert until_the_cap(project, "ulw two") == 8
    project.prompt("ulw two, please")
    project.prompt(f"/omo:pin check -- {shlex.quote(sys.executable)} -B check.py")
    assert project.stop(stop_hook_active=False).blocks
    project.write("value.py", "VALUE = 2\n")
    project.check("ulw", "done")
    project.stop()
    return project


def test_a_second_try_is_counted_alone_and_the_first_is_named(second_try: Project) -> None:
    found = report(second_try)
    assert (found.verdict.word, found.blocks) == ("done, proven", 1)
    assert found.task == "ulw two, please"
    (before,) = earlier_runs(found)
    assert texts.says(before, "report-earlier-run-at-cap", task="ulw two", blocks="8 times")
    text = second_try.check("report", "--md", by="user").out
    assert "sent back 1 " in text
    assert "- **a run " in text


def test_of_the_runs_before_it_one_that_was_proven_is_not_named(second_try: Project) -> None:
    second_try.prompt("ulw green")
    second_try.prompt("ulw green, blue")
    second_try.check("ulw", "blocked", "--evidence", "there is no paint in this house")
    second_try.prompt("/omo:stop-continuation")
    second_try.prompt("ulw make it three")
    first, second = earlier_runs(report(second_try))
    assert first.startswith("ulw two: ")
    assert texts.says(second, "report-earlier-run-called-off", task="ulw green")


def test_the_red_stands_beside_the_green(second_try: Project) -> None:
    found = report(second_try)
    red, green = found.parts[0].evidence("check").attachments
    assert texts.says(red.name, "report-run-without-work")
    assert "VALUE is 1" in red.text
    assert texts.says(green.name, "report-last-run")
    assert green.text.strip() == "all well"
    assert "VALUE is 1" in page.render(found)
    text = second_try.check("report", "--md", by="user").out
    assert texts.says(text, "report-run-without-work-of-gate", gate="check", result="fail")


def test_what_a_later_run_writes_is_not_what_this_one_changed(second_try: Project) -> None:
    first = [path for path, _ in report(second_try).changed.files]
    assert first == ["value.py"]
    second_try.write("later.py", "LATER = True\n")
    second_try.write(".sisyphus/evidence/G001/replay-1.json", "{}")
    found = report(second_try)
    assert [path for path, _ in found.changed.files] == first
    assert texts.says(found.verdict.text, "report-was-proven")


def test_a_plan_lists_what_was_changed_when_it_ended(tmp_path: Path) -> None:
    project = ultraplan.started(tmp_path, 1, done=(1,))
    assert project.finish().exit_code == 0
    run = project.record().run
    before = [path for path, _ in report(project, run).changed.files]
    project.write("later.py", "LATER = True\n")
    project.commit("feat: later")
    assert [path for path, _ in report(project, run).changed.files] == before
    assert before == [ultraplan_plans.path_of(1)]
