"""`--exit-code` of `omo status` and `omo report`: what a job that reads no sentences is told of the newest run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from omo.state import paths
from tests import texts
from tests.project import SESSION, Project
from tests.stories.play import SESSION as PLAYED
from tests.stories.play import Play, make_project
from tests.stories.ultraplan import done, planned, unreviewed

LATER = "later-session"
CASE = """import unittest

import calc


class Case(unittest.TestCase):
    def test_{0}(self):
        self.assertEqual(calc.{0}(), {1})
"""


def arm(project: Project, session: str = SESSION) -> None:
    project.now += 60
    project.check("ulw", "start", "--session", session, by="user")


def proven(project: Project) -> None:
    project.write("check.sh", "grep -q new value\n")
    project.commit("a check")
    arm(project)
    project.check("gate", "add", "--session", SESSION, "check", "--", "sh", "check.sh", by="user")
    project.write("value", "newer\n")
    assert "Done, proven" in project.check("ulw", "done").out


def failed_before(project: Project) -> None:
    """A test of the project's own fails without the work too, beside the new one that it mends, as the user allows."""
    project.write("Makefile", "test:\n\tpython3 -B -m unittest -q\n")
    project.write("calc.py", "def old():\n    return 1\n")
    project.write("test_old.py", CASE.format("old", 2))
    project.commit("a test that fails")
    arm(project)
    project.write("calc.py", "def old():\n    return 1\n\n\ndef new():\n    return 3\n")
    project.write("test_new.py", CASE.format("new", 3))
    project.prompt("/omo:pin tests -- make test")
    for word in ([], ["--because", "the new one is there"]):  # only the user lets theirs through
        refused = project.check("ulw", "done", *word, code=3)
        assert "without the work that failed too" in refused.err
    project.prompt("/omo:allow test_old.py::test_old")
    assert "1 known failure allowed: test_old" in project.check("ulw", "done").out


def failed_before_and_again(project: Project) -> None:
    """What a gate says after the end counts again."""
    failed_before(project)
    project.check("gate", "run", code=3)


def attested(project: Project) -> None:
    arm(project)
    project.write("value", "newer\n")
    project.check("ulw", "done", "--because", "the value is the new one")


def changed_since(project: Project) -> None:
    proven(project)
    project.write("value", "new, and more\n")


def put_back(project: Project) -> None:
    """Another file, and back: what counts is how they are now."""
    changed_since(project)
    project.write("value", "newer\n")


def committed(project: Project) -> None:
    proven(project)
    project.commit("the work")


def asked_for_more(project: Project) -> None:
    """The user typed another command since, of which nothing was begun."""
    proven(project)
    project.stop()
    project.prompt("/omo:verify the value is newest")


def cancelled(project: Project) -> None:
    arm(project)
    project.cancel()


def newer_is_open(project: Project) -> None:
    proven(project)
    arm(project, LATER)


def older_is_open(project: Project) -> None:
    arm(project, "earlier-session")
    proven(project)


def only_stopped(project: Project) -> None:
    """A later conversation in which nothing but a stop was typed has no run."""
    proven(project)
    project.now += 60
    project.prompt("/omo:stop-continuation", session=LATER)


def pinned_only(project: Project) -> None:
    project.check("gate", "add", "--session", SESSION, "check", "--", "git", "--version", by="user")


def unreadable(project: Project) -> None:
    proven(project)
    Path(paths.runtime_file(project.state)).write_text("{", encoding="utf-8")


def damaged(project: Project) -> None:
    proven(project)
    path = Path(paths.events_file(project.state, SESSION))
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], *lines[2:]]) + "\n", encoding="utf-8")


def nothing(project: Project) -> None:
    pass


STORIES: list[tuple[Callable[[Project], None], int]] = [
    (proven, 0),
    (put_back, 0),
    (committed, 0),
    (older_is_open, 0),
    (only_stopped, 0),
    (failed_before, 0),
    (arm, 3),
    (attested, 3),
    (changed_since, 3),
    (failed_before_and_again, 3),
    (asked_for_more, 3),
    (cancelled, 3),
    (newer_is_open, 3),
    (nothing, 4),
    (pinned_only, 4),
    (unreadable, 4),
    (damaged, 4),
]


@pytest.mark.parametrize(("story", "code"), STORIES, ids=[story.__name__ for story, _ in STORIES])
def test_the_code_says_what_the_sentence_says(project: Project, story: Callable[[Project], None], code: int) -> None:
    story(project)
    without = project.omo("status", by="script")
    status = project.omo("status", "--exit-code", by="script")
    report = project.omo("report", "--exit-code", "--md", by="script")
    data = project.omo("status", "--exit-code", "--json", by="script")
    assert (status.code, report.code, data.code) == (code, code, code), (status, report)
    assert (f"session {LATER if story is newer_is_open else SESSION}" in status.out) is (code != 4 or story is damaged)
    assert without.code == (3 if story is unreadable else 0), "who does not ask is told as before"
    assert data.json["verdict"]["proven"] is (code == 0)
    assert ("NOT proven" in status.err) is (code != 0 and story is not attested)
    assert ("no such run is known" in status.err) is (story in (nothing, pinned_only))
    assert data.json["ok"] is (code == 0)


def test_another_session_is_named_in_full_and_one_that_nobody_knows_proves_nothing(project: Project) -> None:
    newer_is_open(project)
    for name, code in ((SESSION, 0), (LATER, 3), (SESSION[:-1], 4), ("nobody", 4)):
        assert project.omo("status", "--exit-code", "--session", name, by="script").code == code
        assert project.omo("report", "--exit-code", "--session", name, by="script").code == code


def test_what_was_cleared_away_since_ended_as_it_was_told(tmp_path: Path) -> None:
    run = Play(make_project(tmp_path))
    planned(run)
    unreviewed(run)
    done(run, 1, 2, 3)
    run.omo("plan finish")
    run.omo("state clear --mode ultraplan")
    assert texts.says(run.stop(), "end-with-no-clean-critique")
    for command in ("status", "report --md"):
        assert run.terminal(f"{command} --exit-code --session {PLAYED}") == 3, run.printed
        assert texts.says(run.printed, "end-with-no-clean-critique")
