"""What one run leaves for the next: tests that it weakened, and that no end has told of."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.stories import ralph, ultraplan, verify
from tests.stories.cheats import (
    BEFORE,
    IN_UNITTEST,
    LESS,
    Bend,
    committed,
    finish_without_gate,
    replaced,
    replacing,
)
from tests.stories.honest import let_go
from tests.stories.play import Play, ending

WEAKENS = replacing("test_calc.py", "calc.mul(3, 4), 12", "calc.mul(3, 4), 8")
MENDS_ADD = replacing("calc.py", "a - b - b", "a + b")
TESTS = {"id": "tests", "type": "command", "argv": ["make", "test"]}


@ending("ultrawork", "cheat: half, weakened, let go, another task: the end names it", *LESS, conceded=BEFORE)
def _(run: Play) -> None:
    committed(run, IN_UNITTEST)
    run.user("ulw make the tests pass")
    WEAKENS(run)
    run.sh("git commit -qam wip")
    let_go(run)
    run.user("ulw come on, get the tests green")
    MENDS_ADD(run)
    finish_without_gate(run)
    assert "changed in a run before it, and not held against what they were: test_calc.py" in run.printed, run.printed


def another_workflow(name: str, begun: Callable[[Play], None], stops: str, ended: Callable[[Play], None]) -> None:
    """The user stops the first one by its name, and begins another: its end says what it was not held against."""

    @ending("ralph", f"half, weakened, stopped, {name}: the end names it", *LESS, conceded=BEFORE)
    def _(run: Play) -> None:
        committed(run, IN_UNITTEST)
        begun(run)
        WEAKENS(run)
        run.sh("git commit -qam wip")
        run.user(stops)
        run.stop()
        ended(run)
        run.omo("status --json")
        named = run.printed.partition("changed in a run before it, and not held against what they were: ")[2]
        assert "test_calc.py" in named, run.printed


def ultrawork_begun(run: Play) -> None:
    run.user("ulw make the tests pass")


def ralph_begun(run: Play) -> None:
    run.user("/omo:ralph make the tests pass")
    assert run.omo("ralph start") == 0, run.printed


def ultrawork_done(run: Play) -> None:
    run.user("ulw mend add")
    MENDS_ADD(run)
    finish_without_gate(run)


def ralph_done(run: Play) -> None:
    run.write("criteria.json", json.dumps({"criteria": [{**ralph.TESTS_PASS, "checks": [TESTS]}]}))
    run.sh("git add -A; git commit -qm 'what is wanted'")
    run.user("/omo:ralph criteria.json")
    assert run.omo("ralph start --criteria criteria.json") == 0, run.printed
    ralph_round(run, MENDS_ADD)


def verify_done(run: Play) -> None:
    run.user("/omo:verify that add is right")
    verify.begun(run, TESTS, by="user")
    MENDS_ADD(run)
    verify.finished(run)


def ralph_round(run: Play, bend: Bend) -> None:
    run.agent_ends("omo:planner", "PLAN is done.")
    bend(run)
    run.agent_ends("omo:qa", "VERIFY is done.")
    run.agent_ends("omo:critic", "REFINE is done.")
    run.omo("ralph judge")


def asked_for_again(name: str, prompt: str) -> None:
    @ending("ralph", name, *LESS)
    def _(run: Play) -> None:
        criteria = {"criteria": [{**ralph.TESTS_PASS, "checks": [TESTS]}]}
        committed(run, {**IN_UNITTEST, "criteria.json": json.dumps(criteria)})
        run.user("/omo:ralph criteria.json")
        assert run.omo("ralph start --criteria criteria.json --max-iterations 1") == 0, run.printed
        ralph_round(run, WEAKENS)
        run.stop()
        run.user(prompt)
        assert run.omo("ralph start --criteria criteria.json") == 0, run.printed
        ralph_round(run, MENDS_ADD)


another_workflow("ultrawork after it", ralph_begun, "stop ralph", ultrawork_done)
another_workflow("a goal after it", ralph_begun, "stop ralph", verify_done)
another_workflow("ultrawork before it", ultrawork_begun, "stop ulw", ralph_done)
asked_for_again("half, weakened, every iteration used, asked for again", "/omo:ralph criteria.json")
asked_for_again("half, weakened, every iteration used, gone on with", "go on")


@ending("ultraplan", "tests weakened in a session that fails, the plan begun again", *LESS)
def _(run: Play) -> None:
    ultraplan.started(run)
    replaced(run, "tests/test_part3.py", "self.assertEqual(part3(), 3)", "self.assertTrue(part3)")
    run.sh("git commit -qam 'test: tidy'")
    run.omo('plan finish --failed 1 --error "could not do it at all" --tried "several things"')
    run.stop()
    run.user("go on, begin it again")
    assert run.omo("plan start plan.md") == 0, run.printed
    ultraplan.done(run, 1, 2)
    ultraplan.done(run, 3, text="def part3():\n    raise NotImplementedError\n")
    run.omo("plan finish")
