"""An end is bound to the files, whatever workflow wrote it: what happens between the word done and the Stop.

What stands after `done` counts: work thrown away, files edited on, and the things that change no file of the work.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from omo.work.outcome import ATTESTED, JUDGED, PROVEN
from tests.stories import ralph, ultragoal, ultraplan, verify
from tests.stories.play import ADD_TEST, CALC, FIXED, HELD, TEST, TESTS, Play, ending


def ultrawork_ended(run: Play) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.sh("git commit -qam 'a failing test'")
    run.user("ulw mend add")
    run.gate()
    run.omo("gate run")
    run.write("calc.py", FIXED)
    ultrawork_again(run)


def ultrawork_again(run: Play) -> None:
    run.omo("gate run")
    assert run.omo("ulw done") == 0, run.printed


def verify_ended(run: Play) -> None:
    verify.with_failing_test(run)
    verify.begun(run, verify.TESTS_PASS, by="user")
    run.write("calc.py", FIXED)
    verify_again(run)


def verify_again(run: Play) -> None:
    assert verify.finished(run) == 0, run.printed


def ralph_ended(run: Play) -> None:
    ralph.failing_test(run)
    ralph.begun(run, ralph.TESTS_PASS, task="make add return the sum of its arguments")
    ralph.worked(run, "calc.py", FIXED)
    ralph_judged(run)


def ralph_judged(run: Play) -> None:
    if run.omo("ralph judge") == 4:
        nonce = ralph.nonce_of(run)
        run.agent_ends("omo:judge", ralph.answer_to_request(nonce))
        assert run.omo("ralph judge") == 0, run.printed


def ralph_again(run: Play) -> None:
    """The work is looked at again by those who look at it, in the round that it ended in."""
    run.agent_ends("omo:qa", "VERIFY is done.")
    run.agent_ends("omo:critic", "REFINE is done.")
    ralph_judged(run)


def ultragoal_ended(run: Play) -> None:
    run.user(f"/omo:ultragoal {ultragoal.NOTE}")
    run.omo(f"ultragoal create-goals --brief '{ultragoal.NOTE}' --start")
    run.write("calc.py", FIXED)
    ultragoal.reviewed(run)
    ultragoal.checkpoint(run)
    ultragoal_again(run)


def ultragoal_again(run: Play) -> None:
    assert run.omo("goal complete") == 0, run.printed


def ultraplan_ended(run: Play) -> None:
    ultraplan.started(run)
    ultraplan.done(run, 1, 2, 3)
    ultraplan_again(run)


def ultraplan_again(run: Play) -> None:
    assert run.omo("plan finish") == 0, run.printed


class Bound(NamedTuple):
    """A workflow: how work is brought to its end, how it is said again, and the word for both."""

    workflow: str
    ended: Callable[[Play], None]
    again: Callable[[Play], None]
    word: str
    word_again: str
    undo: str = "git checkout -q HEAD calc.py"


WORKFLOWS = (
    Bound("ultrawork", ultrawork_ended, ultrawork_again, PROVEN, PROVEN),
    Bound("verify", verify_ended, verify_again, PROVEN, PROVEN),
    Bound("ralph", ralph_ended, ralph_again, JUDGED, JUDGED),
    Bound("ultragoal", ultragoal_ended, ultragoal_again, JUDGED, ATTESTED),
    Bound("ultraplan", ultraplan_ended, ultraplan_again, PROVEN, PROVEN, undo="git rm -q src/part3.py"),
)


def after_the_end(bound: Bound, name: str, command: str, *right: str) -> None:
    ending(bound.workflow, name, *right, begin=bound.ended)(lambda run: run.sh(command))


def edited_on(bound: Bound) -> Callable[[Play], None]:
    def play(run: Play) -> None:
        run.write("src/README.md", "How to add.\n")
        assert run.stop() == HELD, run.told
        if bound.workflow == "ultraplan":  # whose steps are commits
            run.sh("git add src/README.md; git commit -qm 'docs: how to add'")
        bound.again(run)

    return play


def said_again_at_once(bound: Bound) -> Callable[[Play], None]:
    """The agent knows by itself that it went on."""

    def play(run: Play) -> None:
        run.write("src/README.md", "How to add.\n")
        if bound.workflow == "ultraplan":
            run.sh("git add src/README.md; git commit -qm 'docs: how to add'")
        bound.again(run)

    return play


def edited_and_told_again(bound: Bound) -> Callable[[Play], None]:
    """Sent back, and the agent does nothing but stop again."""

    def play(run: Play) -> None:
        run.sh(bound.undo)
        assert run.stop() == HELD, run.told

    return play


def pinned_after_the_end(bound: Bound, command: str, *, says_again: bool) -> Callable[[Play], None]:
    """The user thinks of one more thing that has to hold, before they are told of the end."""

    def play(run: Play) -> None:
        assert "is on again until that has run" in run.user(f"/omo:pin more -- {command}")
        assert run.stop() == HELD, run.told
        if says_again:
            assert run.omo("gate run more") == 0, run.printed
            bound.again(run)

    return play


for _bound in WORKFLOWS:
    _name, _word = _bound.workflow, _bound.word
    after_the_end(_bound, "the work thrown away between done and the Stop", _bound.undo, HELD)
    after_the_end(_bound, "honest: done, then committed", "git add -A; git commit -q --allow-empty -m done", _word)
    after_the_end(_bound, "honest: done, then a log appears", "echo started >server.log", _word)
    for _story, _right, _play in (
        ("thrown away after done, and stopped twice", HELD, edited_and_told_again(_bound)),
        (
            "a gate that fails, pinned by the user between done and the Stop",
            HELD,
            pinned_after_the_end(_bound, "test -f nothere", says_again=False),
        ),
        (
            "honest: a gate pinned by the user between done and the Stop, done again",
            _word,
            pinned_after_the_end(_bound, "test -f calc.py", says_again=True),
        ),
        ("honest: done, edited on, and done again", _bound.word_again, edited_on(_bound)),
        ("honest: done, edited on, and said again at once", _bound.word_again, said_again_at_once(_bound)),
    ):
        ending(_name, _story, _right, begin=_bound.ended)(_play)


@ending("ultrawork", "the work of a green gate made anew and worse after done", HELD, begin=ultrawork_ended)
def _(run: Play) -> None:
    run.write("calc.py", CALC.replace("a - b - b", "a + b + 0"))


@ending("ultrawork", "honest: done, thrown away and put back before the Stop", PROVEN, begin=ultrawork_ended)
def _(run: Play) -> None:
    run.write("calc.py", CALC)
    run.write("calc.py", FIXED)


@ending("ultrawork", "honest: done, and the tests run once more by hand", PROVEN, begin=ultrawork_ended)
def _(run: Play) -> None:
    run.sh(TEST)


# The user allows what stood against an end, once they were told of it

WANTS = {"id": "wants", "type": "content", "path": "test_calc.py", "regex": "4\\.0"}
STEP = """
### Step 1: feat(twice): a float

- Files: `calc.py`, `test_calc.py`
- Changes: `twice` returns a float, and `test_calc.py` wants `4.0`
- Verify: `python3 -B -m unittest` → expected: OK
"""


def old_test(run: Play) -> None:
    run.write("test_calc.py", TESTS.replace("calc.twice(2), 4", "repr(calc.twice(2)), '4'"))
    run.sh("git commit -qam 'a test of what is to change'")


def change_behaviour(run: Play) -> None:
    run.write("calc.py", CALC.replace("2 * a", "2.0 * a"))
    run.write("test_calc.py", TESTS.replace("calc.twice(2), 4", "repr(calc.twice(2)), '4.0'"))


def allowed_once_told(run: Play) -> None:
    assert "it passes only with the changed test_calc.py" in run.stop(), run.told
    run.user("/omo:allow test_calc.py")
    assert run.stop() == HELD


@ending("verify", "honest: a change of behaviour, allowed once it was told", PROVEN)
def _(run: Play) -> None:
    old_test(run)
    verify.begun(run, WANTS, verify.TESTS_PASS, by="user")
    change_behaviour(run)
    verify.finished(run, summary="twice returns a float")
    allowed_once_told(run)
    verify.finished(run, summary="twice returns a float")


@ending("ralph", "honest: a change of behaviour, allowed once it was told", PROVEN)
def _(run: Play) -> None:
    old_test(run)
    criterion = {**ralph.TESTS_PASS, "checks": [WANTS, *ralph.TESTS_PASS["checks"]]}
    run.write("criteria.json", json.dumps({"criteria": [criterion]}))
    run.user("/omo:ralph criteria.json")
    run.omo("ralph start --criteria criteria.json")
    change_behaviour(run)
    ralph.worked(run)
    run.omo("ralph judge")
    allowed_once_told(run)
    run.omo("ralph judge")


@ending("ultraplan", "honest: a change of behaviour, allowed once it was told", PROVEN)
def _(run: Play) -> None:
    old_test(run)
    run.write("plan.md", f"# A float\n\nplan_version: 1.7\n{STEP}")
    ultraplan.criticised(run)
    run.sh("git add plan.md; git commit -qm 'docs: a plan'")
    run.user("/omo:ultraexecute plan.md")
    assert run.omo("plan start plan.md") == 0, run.printed
    change_behaviour(run)
    run.sh("git commit -qam 'feat(twice): a float'")
    run.omo("plan finish")
    allowed_once_told(run)
    run.omo("plan finish")
