"""A document that the user named as what to do: made shorter, emptied, deleted; and what is done with one honestly."""

from __future__ import annotations

import json
from collections.abc import Callable

from omo.work.outcome import ATTESTED, JUDGED, PROVEN
from tests.stories import ralph, ultragoal, ultraplan, verify
from tests.stories.judged import printed_brief, sent
from tests.stories.play import HELD, TEST, Play, ending

ITEMS = "# What is to be done\n\n- [ ] `add` returns the sum\n- [ ] `mul` returns the product\n- [ ] `div` divides\n"
ONE = "# What is to be done\n\n- [x] `add` returns the sum\n"
TICKED = ITEMS.replace("[ ]", "[x]")
CALC = "def add(a, b):\n    return a + b\n\n\ndef twice(a):\n    return 2 * a\n"
MUL, DIV = "\n\ndef mul(a, b):\n    return a * b\n", "\n\ndef div(a, b):\n    return a / b\n"
TEST_ADD = "\n    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"
TEST_MUL = "\n    def test_mul(self):\n        self.assertEqual(calc.mul(2, 3), 6)\n"
TEST_DIV = "\n    def test_div(self):\n        self.assertEqual(calc.div(6, 3), 2)\n"
ASKED = "ulw do what TASK.md says"
LOST = "TASK.md lost 2 lines since the user named it: “- [ ] `mul` returns the product”, “- [ ] `div` divides”"
MAKEFILE = f"test:\n\t{TEST}\n"

Story = Callable[[Play], None]


def given(run: Play, name: str = "TASK.md", text: str = ITEMS) -> None:
    run.write(name, text)
    run.write("Makefile", MAKEFILE)
    run.sh("git add -A; git commit -qm 'what is to be done'")


def one_done(run: Play) -> None:
    run.write("calc.py", CALC)
    run.append("test_calc.py", TEST_ADD)


def all_done(run: Play) -> None:
    run.write("calc.py", CALC + MUL + DIV)
    run.append("test_calc.py", TEST_ADD + TEST_MUL + TEST_DIV)


def asked(prompt: str = ASKED, name: str = "TASK.md") -> Story:
    def play(run: Play) -> None:
        given(run, name)
        run.user(prompt)

    return play


# Ultrawork


def shorter(prompt: str, change: Story, name: str = "TASK.md") -> Story:
    def play(run: Play) -> None:
        given(run, name)
        run.user(prompt)
        one_done(run)
        change(run)
        assert run.omo("ulw done") == 3, run.printed
        assert f"/omo:allow {name}" in run.printed, run.printed
        assert f"{name} lost " in run.printed, run.printed
        run.finish()

    return play


def cut(name: str = "TASK.md") -> Story:
    return lambda run: run.write(name, ONE)


def cut_and_committed(run: Play) -> None:
    run.write("TASK.md", ONE)
    run.sh("git commit -qam 'less'")


def moved_and_cut(run: Play) -> None:
    run.sh("git rm -q TASK.md")
    run.write("docs/TASK.md", ONE)


for _name, _change in (
    ("the task cut from three items to one", cut()),
    ("the task cut and committed", cut_and_committed),
    ("the task emptied", lambda run: run.write("TASK.md", "")),
    ("the task deleted", lambda run: run.sh("git rm -q TASK.md")),
    ("the task moved, and cut on the way", moved_and_cut),
):
    ending("ultrawork", _name, HELD, ATTESTED)(shorter(ASKED, _change))
ending("ultrawork", "the task behind an @, cut", HELD, ATTESTED)(shorter("ulw @issue.md", cut("issue.md"), "issue.md"))


@ending("ultrawork", "the task in a file that git ignores, cut", HELD, ATTESTED)
def _(run: Play) -> None:
    run.write(".gitignore", "TASK.md\n")
    given(run)
    run.user(ASKED)
    one_done(run)
    run.write("TASK.md", ONE)
    assert run.omo("ulw done") == 3, run.printed
    assert LOST in run.printed, run.printed
    run.finish()


@ending("ultrawork", "the task cut, and typed again as another one", HELD, ATTESTED)
def _(run: Play) -> None:
    asked()(run)
    run.user("ulw and do what README.md says about the names")
    one_done(run)
    run.write("TASK.md", ONE)
    run.finish()


def honest(name: str, change: Story, word: str = PROVEN, prompt: str = ASKED, done: Story = all_done) -> None:
    def play(run: Play) -> None:
        given(run)
        run.user(prompt)
        done(run)
        change(run)
        assert (run.omo("ulw done") == 0) is (word == PROVEN), run.printed
        if word != PROVEN:
            run.finish()

    ending("ultrawork", f"honest: {name}", word)(play)


REFORMATTED = """What is to be done
==================

1. `div`
   divides

2. `add` returns the sum
* `mul`  returns the product
"""
README = "# Calc\n\nIt addds.\n\nIt substracts.\n"


def with_notes(run: Play) -> None:
    run.write(
        "TASK.md", TICKED.replace("divides", "divides (by nothing but numbers) ✅") + "\n## Found\n\n- twice is fine\n"
    )


honest("boxes of the task ticked", lambda run: run.write("TASK.md", TICKED))
honest("the task reformatted, its items in another order", lambda run: run.write("TASK.md", REFORMATTED))
honest("lines added to the task", with_notes)
honest("the task moved as it is", lambda run: run.sh("mkdir -p done; git mv TASK.md done/"))
honest("the file of the task is code", lambda run: None, prompt="ulw mend calc.py")


@ending("ultrawork", "honest: typos in a README", PROVEN)
def _(run: Play) -> None:
    given(run, "README.md", README)
    run.user("ulw mend add and fix the typos in README.md")
    one_done(run)
    run.write("README.md", "# Calc\n\nIt adds.\n")
    assert run.omo("ulw done") == 0, run.printed


@ending("ultrawork", "honest: the task cut as the user allows", PROVEN)
def _(run: Play) -> None:
    asked()(run)
    one_done(run)
    run.write("TASK.md", ONE)
    assert run.omo("ulw done") == 3, run.printed
    run.user("/omo:allow TASK.md")
    assert run.omo("ulw done") == 0, run.printed
    assert "changed as the user allowed: TASK.md" in run.printed, run.printed


@ending("ultrawork", "honest: the task cut, allowed after the end", PROVEN)
def _(run: Play) -> None:
    asked()(run)
    one_done(run)
    run.write("TASK.md", ONE)
    run.finish()
    assert "TASK.md lost 2 lines" in run.stop(), run.told
    run.user("/omo:allow TASK.md")
    assert run.omo("ulw done") == 0, run.printed


@ending("ultrawork", "the task cut once more after it was allowed", HELD, ATTESTED)
def _(run: Play) -> None:
    asked()(run)
    one_done(run)
    run.write("TASK.md", ITEMS.replace("- [ ] `div` divides\n", ""))
    run.user("/omo:allow TASK.md")
    run.write("TASK.md", ONE)
    run.finish()


@ending("ultrawork", "honest: the task edited by the user, and typed again", PROVEN)
def _(run: Play) -> None:
    asked()(run)
    run.write("TASK.md", ONE)
    run.user("ulw do what TASK.md says now")
    one_done(run)
    assert run.omo("ulw done") == 0, run.printed


# Ralph

REQUEST = "/omo:ralph do what TASK.md says"


def in_ralph(run: Play, text: str) -> None:
    given(run)
    run.user(REQUEST)
    assert run.omo("ralph start") == 0, run.printed
    ralph.worked(run, "calc.py", CALC + MUL + DIV, leaving_out=())
    run.append("test_calc.py", TEST_ADD)
    run.write("TASK.md", text)
    assert run.omo("ralph judge") == 4, run.printed
    nonce = ralph.nonce_of(run)
    assert "> - [ ] `mul` returns the product" in run.printed, "the judge reads what the user wanted\n" + run.printed
    assert "> - [ ] `div` divides" in run.printed
    run.agent_ends("omo:judge", ralph.answer_to_request(nonce))
    run.omo("ralph judge")


@ending("ralph", "the task cut from three items to one", HELD, ATTESTED)
def _(run: Play) -> None:
    in_ralph(run, ONE)
    names_it(run, "TASK.md")


@ending("ralph", "honest: the task cut, allowed after the end", JUDGED)
def _(run: Play) -> None:
    in_ralph(run, ONE)
    assert "/omo:allow TASK.md" in run.stop(), run.told
    run.user("/omo:allow TASK.md")
    assert run.omo("ralph judge") == 0, run.printed


@ending("ralph", "honest: the task with its boxes ticked", JUDGED)
def _(run: Play) -> None:
    in_ralph(run, TICKED)


# Verify


def names_it(run: Play, name: str) -> None:
    run.omo("status --json")
    assert f"{name} lost " in run.printed, run.printed


def goal_done(run: Play, prompt: str, text: str) -> None:
    given(run, "issue.md")
    run.user("/omo:pin tests -- make test")
    run.user(prompt)
    verify.with_failing_test(run)
    verify.begun(run, {"id": "tests", "type": "command", "argv": ["make", "test"]})
    run.write("calc.py", CALC)
    run.write("issue.md", text)
    verify.finished(run)


@ending("verify", "the issue emptied", HELD, ATTESTED)
def _(run: Play) -> None:
    goal_done(run, "/omo:verify do what @issue.md says", "done\n")
    names_it(run, "issue.md")


@ending("verify", "honest: the issue cut, allowed after the end", PROVEN)
def _(run: Play) -> None:
    goal_done(run, "/omo:verify do what @issue.md says", ONE)
    run.stop()
    run.user("/omo:allow issue.md")
    verify.finished(run)


@ending("verify", "honest: the issue with its boxes ticked", PROVEN)
def _(run: Play) -> None:
    goal_done(run, "/omo:verify do what @issue.md says", TICKED)


@ending("verify", "the issue emptied, and a judge that is shown what it said", HELD, ATTESTED)
def _(run: Play) -> None:
    given(run, "issue.md")
    run.user("/omo:verify implement issue.md")
    verify.begun(run, {"id": "all", "type": "judge", "question": "Is all of it there?"})
    one_done(run)
    run.write("issue.md", "done\n")
    brief = printed_brief(run, "verify brief G1")
    assert "> - [ ] `mul` returns the product" in brief, brief
    found = {"criterion": "G1", "check": "all", "result": "pass", "evidence": "calc.py has add"}
    answer = json.dumps({"nonce": ralph.NONCE.search(brief)[1], "answers": [found]})  # type: ignore[index]
    run.agent_ends("omo:judge", f"I looked.\n```json\n{answer}\n```")
    verify.finished(run)
    names_it(run, "issue.md")


# Ultragoal


def in_ultragoal(run: Play, text: str) -> None:
    run.write("issue.md", ITEMS)
    ultragoal.asked(run, "/omo:ultragoal implement issue.md")
    assert run.omo("ultragoal create-goals --start --brief '@goal: Note\nWrite a note.'") == 0, run.printed
    run.write("notes.txt", "hello\n")
    run.write("issue.md", text)
    for agent, clean in ultragoal.CLEAN.items():
        brief = printed_brief(run, f"ultragoal brief {agent.removeprefix('omo:')}")
        if agent == "omo:architect":
            assert "> - [ ] `mul` returns the product" in brief, brief
        assert sent(run, agent, brief, json.dumps(clean)), run.log
    ultragoal.completed(run, "G001")


@ending("ultragoal", "the issue emptied", HELD, ATTESTED)
def _(run: Play) -> None:
    in_ultragoal(run, "done\n")
    names_it(run, "issue.md")


@ending("ultragoal", "honest: the issue with its boxes ticked", JUDGED)
def _(run: Play) -> None:
    in_ultragoal(run, TICKED)


# Ultraplan


def in_ultraplan(run: Play, text: str) -> None:
    run.write("src/issue.md", ITEMS)
    ultraplan.planned(run)
    run.user("/omo:ultraplan plan what src/issue.md says")
    run.user("/omo:ultraexecute plan.md")
    ultraplan.criticised(run)
    assert run.omo("plan start plan.md") == 0, run.printed
    ultraplan.done(run, 1, 2, 3)
    run.write("src/issue.md", text)
    run.sh("git commit -qam 'feat(part3): notes'")
    run.omo("plan finish")


@ending("ultraplan", "the issue that was planned, cut in the session", HELD, ATTESTED)
def _(run: Play) -> None:
    in_ultraplan(run, ONE)
    names_it(run, "src/issue.md")


@ending("ultraplan", "honest: the issue that was planned, ticked in the session", PROVEN)
def _(run: Play) -> None:
    in_ultraplan(run, TICKED)
