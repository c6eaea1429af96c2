"""The gate before the judge: which facts prove a phase, and which only look as if they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omo.clock import stamp
from omo.engine import steps
from omo.engine.steps import StepReport
from omo.errors import Refused
from omo.proof.base import fingerprint
from omo.state import paths, runtime
from omo.work import gates
from omo.work.agents import AgentMessage
from omo.work.gates import Gate, GateRun
from tests import texts
from tests.engine.laps import FLOW
from tests.engine.project import Project, make_project

LETTERS = {"p": "omo:planner", "e": "omo:executor", "q": "omo:qa", "c": "omo:critic"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path)
    made.start()
    return made


def look(project: Project, newer_than: str = "") -> StepReport:
    return steps.look(project.run(), project.files, newer_than=newer_than)


def proof(found: StepReport, phase: str) -> str:
    return found.proofs[phase].text


# What proves which phase, as a pure question of order


def counting(order: str, files: Any = None, began: Any = None) -> str:
    """The phases that count, by the letters of their agents."""
    finished = []
    for number, letter in enumerate(order, start=1):
        finished.append(AgentMessage(LETTERS[letter], "done", number, f"{number:02}", files=files))
    seen = steps.in_order(FLOW, finished, began)
    return "".join(
        letter for letter, agent in LETTERS.items() if agent in {step.agent for step in FLOW.steps if step.name in seen}
    )


@pytest.mark.parametrize(
    ("order", "present"),
    [
        ("peqc", "peqc"),
        ("peeqc", "peqc"),
        ("ppeqqcc", "peqc"),
        ("peqceq", "peqc"),  # refined, and QA looked at what that changed
        ("peqce", "pec"),  # refined after QA, and nobody looked
        ("peqe", "pe"),
        ("peq", "peq"),
        ("pecq", "peq"),  # a critic before QA refines nothing that was verified
        ("cpeq", "peq"),
        ("qpec", "pe"),
        ("eqc", "eqc"),
        ("epqc", "pqc"),  # implemented first, planned afterwards
        ("p", "p"),
        ("", ""),
    ],
)
def test_agents_count_in_their_order(order: str, present: str) -> None:
    assert counting(order) == present


BEGAN = {"head": "h", "files": {"a.txt": "1"}, "unknown": ""}


@pytest.mark.parametrize(
    ("files", "order", "present"),
    [
        (BEGAN, "pqc", "p"),
        ({**BEGAN, "files": {"a.txt": "1", ".sisyphus/notes.txt": "3"}}, "pqc", "p"),
        (BEGAN, "peqc", "peqc"),  # an executor was seen
        ({**BEGAN, "files": {"a.txt": "2"}}, "pqc", "pqc"),
        ({**BEGAN, "head": "another"}, "pqc", "pqc"),
        (None, "pqc", "pqc"),
        ({**BEGAN, "unknown": "too many files"}, "pqc", "pqc"),
    ],
)
def test_qa_that_saw_the_files_of_the_beginning_did_not_see_the_work(files: Any, order: str, present: str) -> None:
    assert counting(order, files, BEGAN) == present


def gate(
    name: str = "tests",
    by: str = "user",
    result: str = "pass",
    tree: str = "t",
    argv: tuple[str, ...] = (),
    is_allowed: bool = False,
) -> Gate:
    made = Gate({"name": name, "by": by, "argv": list(argv), "cwd": ".", "timeout": 60.0})
    if result:
        made.results.append(GateRun({"result": result, "tree": tree}))
    if is_allowed:
        made.allowed = {"kind": "gate-allowed"}
    return made


@pytest.mark.parametrize(
    ("gates", "why"),
    [
        ([], "no gate is pinned"),
        ([gate("a", result="", tree="")], "as they are: a"),
        ([gate("a", tree="other")], "as they are: a"),
        ([gate("a", result="fail")], "as they are: a"),
        ([gate("a", result="unknown")], "as they are: a"),
        ([gate("a", result="fail", tree="other", is_allowed=True)], "as they are: a"),
        ([gate("a"), gate("b", "agent", "fail")], "as they are: b"),
    ],
)
def test_ship_needs_every_gate_on_these_files(gates: list[Gate], why: str) -> None:
    found = steps.gates_pass(gates, "t")
    assert (found.status, found.is_undone) == ("missing", False)
    assert why in found.text


@pytest.mark.parametrize("result", ["fail", "unknown"])
def test_what_the_user_let_through_is_let_through_as_it_is(result: str) -> None:
    assert steps.gates_pass([gate("a", result=result, is_allowed=True)], "t").status == "present"


def test_ship_says_who_pinned_the_gates() -> None:
    found = steps.gates_pass([gate(), gate("lint", "agent")], "t")
    pinned = {"first": "tests", "who": "user", "second": "lint", "other": "agent"}
    assert texts.says(found.text, "run-gates-passed", **pinned)


# The facts themselves: real ledgers, real git


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("qa", "I am QA and it is fine"),
        ("general-purpose", "acting as omo:qa: passed"),
        ("other:qa", "passed"),
        ("omo:qa-reviewer", "passed"),
        ("", "passed"),
        ("omo:qa", ""),
        ("omo:qa", " \n\t"),
    ],
)
def test_who_is_not_our_qa_or_says_nothing_does_not_count(project: Project, agent: str, message: str) -> None:
    for letter in "pe":
        project.finishes(LETTERS[letter])
    project.finishes(agent, message)
    project.finishes("omo:critic")
    project.gate_ran()
    assert look(project).missing == ["VERIFY", "REFINE"]


def test_a_row_that_no_hook_wrote_does_not_count(project: Project) -> None:
    event: Any = {"kind": "agent-finished", "agentType": "omo:planner", "message": "a plan", "digest": "", "cut": False}
    project.now += 1
    change = runtime.Change(None, project.row(), [event])
    runtime.change_session(project.state, "s1", lambda row: change, actor="agent", now=project.now, wait=5.0)
    assert "PLAN" in look(project).missing


def ran(project: Project, name: str, result: str) -> None:
    project.now += 1
    row: Any = {
        "name": name,
        "result": result,
        "exit": 0,
        "why": "",
        "timed_out": False,
        "seconds": 0.1,
        "tail": "",
        "tree": fingerprint(str(project.root)),
    }
    gates.SessionGates(project.state, "s1", "agent", project.now, 5.0).record_results([row])


# Damage


def damage_session(project: Project) -> None:
    path = Path(paths.events_file(project.state, "s1"))
    path.write_text(path.read_text().replace("omo:planner", "omo:planter"))


def test_a_damaged_session_ledger_proves_nothing_and_accuses_nobody(project: Project) -> None:
    project.work("done-1.txt")
    damage_session(project)
    assert look(project).missing == ["PLAN", "VERIFY", "REFINE", "SHIP"], "the files are work all the same"
    before = project.kinds()
    with pytest.raises(Refused):
        project.judge()
    refused = project.agent("laps", "judge")
    assert refused.code == 3, refused.err
    assert project.kinds() == before


# The command


def command(project: Project, *words: str) -> tuple[int, str]:
    ran = project.agent("laps", "artifacts", *words)
    return ran.code, ran.out or ran.err


def test_the_command_says_in_words_what_is_there(project: Project) -> None:
    project.work("done-1.txt")
    code, out = command(project)
    assert code == 0
    assert texts.says(out, "run-iteration-of-phases-proven", iteration=1, proven=5, proofs=5)
    assert out.splitlines()[1].split()[:3] == ["present", "PLAN", "omo:planner"]
    assert "To do" not in out


# --newer-than


def test_newer_than_leaves_out_what_was_seen_before(project: Project) -> None:
    project.work("done-1.txt")
    assert look(project, newer_than=stamp(project.now - 3600)).ok
    assert look(project, newer_than=stamp(project.now)).missing == ["PLAN", "VERIFY", "REFINE", "SHIP"]
    code = project.agent("laps", "artifacts", "--newer-than", stamp(project.now)).code
    assert code == 3


@pytest.mark.parametrize("text", ["yesterday", "2026-02-22", "2026-02-22T17:20:01", "2026-13-01T00:00:00Z", "12Z"])
def test_a_time_that_is_none_is_refused(project: Project, text: str) -> None:
    refused = project.agent("laps", "artifacts", "--newer-than", text)
    assert (refused.code, "--newer-than" in refused.err, "2026-02-22T17:20:01Z" in refused.err) == (2, True, True)
