"""/omo:allow TEST: the user lets a test fail as without the work, in every conversation, until it passes once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import SESSION, Project, Ran

LATER = "later-session"
CASES = """import unittest

import calc


class Calc(unittest.TestCase):
    def test_old(self):
        self.assertEqual(calc.old(), 2)

    def test_same(self):
        self.assertEqual(calc.same(), 1)
"""
NEW_CASE = "\n    def test_{0}(self):\n        self.assertEqual(calc.{0}(), 3)\n"
OLD = "def old():\n    return 1\n\n\ndef same():\n    return 1\n"
NEW = "\n\ndef {}():\n    return 3\n"
ALLOW = "/omo:allow test_calc.py::test_old"


@pytest.fixture
def project(project: Project) -> Project:
    """One with a test that fails, in which a run is on and something has been done."""
    project.write("Makefile", "test:\n\tpython3 -B -m unittest -q\n")
    project.write("calc.py", OLD)
    project.write("test_calc.py", CASES)
    project.commit("a test that fails")
    armed_and_worked(project, "new")
    return project


def armed_and_worked(project: Project, *functions: str, session: str = SESSION) -> None:
    """The last of the functions is what the run adds."""
    project.prompt(f"ulw add {functions[-1]}, with a test", session=session)
    project.write("calc.py", OLD + "".join(NEW.format(name) for name in functions))
    project.write("test_calc.py", CASES + "".join(NEW_CASE.format(name) for name in functions))


def done(project: Project, *options: str, session: str = SESSION) -> Ran:
    return project.omo("ulw", "done", *options, session=session)


def test_a_failure_of_before_is_refused_with_the_line_to_type(project: Project) -> None:
    ran = done(project)
    assert ran.code == 3
    assert ran.says("ulw-gate-fails", counts="1 failed, 2 passed: test_old (test_calc.Calc.test_old)")
    assert ran.says("proof-failed-without-the-work")
    assert ran.says("ulw-user-may-allow", command=ALLOW)
    assert ran.says("ulw-ask-the-user")
    assert ran.says("ulw-mend-or-word")


def test_on_the_agents_word_the_sentence_begins_with_what_fails(project: Project) -> None:
    done(project)
    ran = done(project, "--because", "unrelated-to-it")
    assert ran.says("end-gate-fails-on-agents-word", gate="tests")
    assert ran.says("end-agent-says", reason="unrelated-to-it")
    assert ran.out.index("test_old (test_calc") < ran.out.index("unrelated-to-it")
    assert project.summary("ulw")["outcome"]["verdict"] == "attested"


def test_allowed_by_the_user_it_is_proven_and_the_end_names_it(project: Project) -> None:
    done(project)
    answer = project.prompt(ALLOW)
    assert answer.says_to_user("prompt-test-allowed", test="test_old", file="test_calc.py")
    ran = done(project)
    assert project.summary("ulw")["outcome"]["verdict"] == "proven"
    assert ran.says("end-known-failure-allowed", count=1, tests="test_old (test_calc.Calc.test_old)")


def test_what_was_allowed_holds_in_another_conversation_too(project: Project) -> None:
    done(project)
    project.prompt(ALLOW)
    done(project)
    project.commit("new")
    armed_and_worked(project, "new", "newer", session=LATER)
    assert done(project, session=LATER).says("end-known-failure-allowed", count=1)


def test_once_the_test_has_passed_it_may_fail_no_more(project: Project) -> None:
    done(project)
    project.prompt(ALLOW)
    done(project)
    project.write("calc.py", project.root.joinpath("calc.py").read_text().replace("return 1", "return 2", 1))
    project.check("gate", "run")
    project.write("calc.py", OLD + NEW.format("new"))
    project.commit("broken anew")
    armed_and_worked(project, "new", "newer", session=LATER)
    ran = done(project, session=LATER)
    assert ran.code == 3
    assert ran.says("proof-failed-without-the-work")


def test_another_test_that_fails_is_not_allowed_with_it(project: Project) -> None:
    done(project)
    project.prompt(ALLOW)
    project.write("calc.py", OLD.replace("def same():\n    return 1", "def same():\n    return 0") + NEW.format("new"))
    ran = done(project)
    assert ran.code == 3
    assert ran.says("ulw-gates-do-not-hold", left=1, total=1)


def test_an_agent_cannot_allow_it(project: Project) -> None:
    done(project)
    assert project.prompt(ALLOW, agent_id="a1").stdout == ""
    ran = done(project)
    assert ran.code == 3
    assert ran.says("proof-failed-without-the-work")


def test_a_row_that_was_written_by_hand_allows_nothing(project: Project) -> None:
    done(project)
    ledger = Path(project.state, "sessions", SESSION, "events.jsonl")
    row = '{"kind": "test-allowed", "test": "test_old", "commands": [], "actor": "user", "seq": 99, "prev": "0"}\n'
    ledger.write_text(ledger.read_text(encoding="utf-8") + row, encoding="utf-8")
    assert done(project).code == 3


@pytest.mark.parametrize("name", ["test_nothing", "calc.test_old"])
def test_a_name_that_no_failing_test_has_is_refused(project: Project, name: str) -> None:
    done(project)
    assert project.prompt(f"/omo:allow {name}").says_to_user("typed-allow-unknown", name=name)
