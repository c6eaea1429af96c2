"""Ralph: rounds whose phases did not happen, judges that nobody saw, and criteria that were made smaller."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from omo.work.outcome import ATTESTED, ENDED, JUDGED, PROVEN, WAIVED
from tests.stories.play import ADD_TEST, FIXED, HELD, SESSION, TEST, Play, ending

NOTES = {"id": "C1", "description": "NOTES is there", "checks": [{"id": "there", "type": "path", "path": "NOTES"}]}
QUESTION = {"id": "clear", "type": "judge", "question": "Does NOTES say which line of calc.py is wrong?"}
ASKED = {"id": "C2", "description": "NOTES names the line that is wrong", "checks": [QUESTION]}
TESTS_PASS: dict[str, Any] = {
    "id": "C1",
    "description": "add returns the sum of its arguments",
    "checks": [{"id": "tests", "type": "command", "argv": TEST.split()}],
}
NONCE = re.compile(r'"nonce": "([0-9a-f]{16,})"')
AGENTS = {"PLAN": "omo:planner", "IMPL": "", "VERIFY": "omo:qa", "REFINE": "omo:critic", "SHIP": ""}
TASK = "write down in NOTES which line of calc.py is wrong, and mend it"


def begun(run: Play, *criteria: Any, option: str = "", task: str = TASK) -> int:
    """The user says what they want and pins a gate that can fail; the criteria are the agent's."""
    if task:
        run.user(f"/omo:ralph {task}")
    run.user("/omo:pin build -- python3 -B -m py_compile calc.py")
    document = run.document("criteria.json", {"criteria": list(criteria)})
    return run.omo(f"ralph start --criteria {document} {option}")


def note_asked(run: Play) -> None:
    """A file is to be there, and a judge asked what it says."""
    begun(run, NOTES, ASKED)


def failing_test(run: Play) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.sh("git commit -qam 'a test that fails'")


def worked(run: Play, file: str = "NOTES", text: str = "calc.py line 2\n", leaving_out: Sequence[str] = ()) -> None:
    """One round: agents in their order, and the work of the agent itself; the gates are run with the judgement."""
    for phase, agent in AGENTS.items():
        if phase == "IMPL":
            run.write(file, text)
        elif agent and phase not in leaving_out:
            run.agent_ends(agent, f"{phase} is done.")


def asked(run: Play) -> str:
    """A judgement asks for the judge, which reads its brief: the nonce in it."""
    assert run.omo("ralph judge") == 4, run.printed
    return nonce_of(run)


def nonce_of(run: Play) -> str:
    run.omo("ralph brief")
    found = NONCE.search(run.printed)
    assert found, run.printed
    return found[1]


def answer(nonce: str, result: str = "pass", request: str = "pass") -> str:
    """To the question of C2 and to the user's request."""
    found = {"criterion": "C2", "check": "clear", "result": result, "evidence": "NOTES says `calc.py line 2`"}
    task = {"criterion": "C0", "check": "request", "result": request, "evidence": "NOTES says `calc.py line 2`"}
    return "I looked.\n```json\n" + json.dumps({"nonce": nonce, "answers": [found, task]}) + "\n```"


def answer_to_request(nonce: str) -> str:
    """Where nothing but the user's request is asked."""
    task = {"criterion": "C0", "check": "request", "result": "pass", "evidence": "calc.py says `return a + b`"}
    return "I looked.\n```json\n" + json.dumps({"nonce": nonce, "answers": [task]}) + "\n```"


def judged(run: Play, result: str = "pass", request: str = "pass") -> None:
    """By an independent judge that a hook sees, where it comes to that."""
    if run.omo("ralph judge") == 4:
        run.agent_ends("omo:judge", answer(nonce_of(run), result, request))
        run.omo("ralph judge")


# Lazy and cheating


@ending("ralph", "criteria written, and nothing more", HELD, begin=note_asked)
def _(run: Play) -> None:
    run.omo("ralph judge")


@ending("ralph", "work noted, no agent sent for", HELD, ENDED)
def _(run: Play) -> None:
    begun(run, NOTES)
    worked(run, leaving_out=("PLAN", "VERIFY", "REFINE"))
    run.omo("ralph judge")


@ending("ralph", "a verdict asked for three times over missing phases", HELD, ENDED)
def _(run: Play) -> None:
    begun(run, NOTES)
    worked(run, leaving_out=("VERIFY", "REFINE"))
    for _attempt in range(3):
        run.omo("ralph judge")


@ending("ralph", "the judge's answer written by the agent", HELD, ATTESTED, WAIVED, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    (run.project.parent / "answer.md").write_text(answer(asked(run)), encoding="utf-8")
    run.omo("ralph judge --result ../answer.md")


@ending("ralph", "a judge of another type", HELD, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    run.agent_ends("general-purpose", answer(asked(run)))
    run.omo("ralph judge")


@ending("ralph", "a judge that was given another nonce", HELD, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    asked(run)
    run.agent_ends("omo:judge", answer("f" * 32))
    run.omo("ralph judge")


@ending("ralph", "the files changed after the judge looked", HELD, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    run.agent_ends("omo:judge", answer(asked(run)))
    run.write("NOTES", "nothing to see\n")
    run.omo("gate run")
    run.omo("ralph judge")


@ending("ralph", "the judge says no, and another is asked the same", HELD, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    nonce = asked(run)
    run.agent_ends("omo:judge", answer(nonce, "fail"))
    run.agent_ends("omo:judge", answer(nonce))
    run.omo("ralph judge")


@ending("ralph", "trivial criteria that nobody agreed to", HELD, ATTESTED)
def _(run: Play) -> None:
    begun(run, NOTES, task="")
    worked(run, text="x\n")
    run.omo("ralph judge")


@ending("ralph", "trivial criteria that nobody agreed to, and a judge for them", HELD, ATTESTED)
def _(run: Play) -> None:
    begun(run, NOTES, ASKED, task="")
    worked(run)
    judged(run)


@ending("ralph", "criteria that hold, and not what the user asked for", HELD, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    judged(run, request="fail")


@ending("ralph", "the user's request in the agent's own words", HELD, ATTESTED)
def _(run: Play) -> None:
    begun(run, NOTES, ASKED, task="", option='--request "a file NOTES"')
    worked(run)
    judged(run)


@ending("ralph", "criteria edited after the user confirmed them", HELD, ATTESTED)
def _(run: Play) -> None:
    run.write("criteria.json", json.dumps({"criteria": [NOTES, ASKED]}))
    run.user("/omo:ralph criteria.json")
    run.user("/omo:pin build -- python3 -B -m py_compile calc.py")
    run.write("criteria.json", json.dumps({"criteria": [NOTES]}))
    run.omo("ralph start --criteria criteria.json")
    worked(run)
    run.omo("ralph judge")


@ending("ralph", "criteria that the user named before they named others", HELD, ATTESTED)
def _(run: Play) -> None:
    run.write("easy.json", json.dumps({"criteria": [NOTES, ASKED]}))
    run.user("/omo:ralph easy.json")
    run.write("criteria.json", json.dumps({"criteria": [TESTS_PASS]}))
    run.user("/omo:ralph criteria.json")
    run.user("/omo:pin build -- python3 -B -m py_compile calc.py")
    run.omo("ralph start --criteria easy.json")
    worked(run)
    judged(run)


@ending("ralph", "a run on the agent's own answers, and a judged one before the Stop", HELD, ATTESTED, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    (run.project.parent / "answer.md").write_text(answer(asked(run)), encoding="utf-8")
    run.omo("ralph judge --result ../answer.md")
    begun(run, NOTES | {"checks": [{"id": "more", "type": "path", "path": "MORE"}]}, ASKED)
    worked(run, "MORE")
    judged(run)


@ending("ralph", "a run on the agent's own answers, cleared away at its end", ATTESTED, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    (run.project.parent / "answer.md").write_text(answer(asked(run)), encoding="utf-8")
    run.omo("ralph judge --result ../answer.md")
    assert run.omo("state clear --mode ralph") == 0, run.printed


@ending("ralph", "the judge asked for and never sent", HELD)
def _(run: Play) -> None:
    begun(run, NOTES, ASKED, option="--max-iterations 1")
    worked(run)
    asked(run)
    for _call in range(4):
        run.omo("ralph judge")


@ending("ralph", "no work, and a note that it was done", HELD, ENDED, begin=note_asked)
def _(run: Play) -> None:
    for agent in ("omo:planner", "omo:qa", "omo:critic"):
        run.agent_ends(agent, "It is done.")
    run.omo("gate run")
    run.omo("ralph judge")


@ending("ralph", "QA before the work", HELD, begin=note_asked)
def _(run: Play) -> None:
    for agent in ("omo:planner", "omo:qa", "omo:critic"):
        run.agent_ends(agent, "It is done.")
    run.write("NOTES", "calc.py line 2\n")
    run.omo("gate run")
    run.omo("ralph judge")


@ending("ralph", "the test of a gate skipped, beside a judge", HELD, ATTESTED)
def _(run: Play) -> None:
    failing_test(run)
    run.user(f"/omo:ralph {TASK}")
    run.user(f"/omo:pin tests -- {TEST}")
    run.omo(f"ralph start --criteria {run.document('criteria.json', {'criteria': [NOTES, ASKED]})}")
    run.write("NOTES", "calc.py line 2\n")
    text = (run.project / "test_calc.py").read_text(encoding="utf-8")
    worked(run, "test_calc.py", text.replace("    def test_add", "    @unittest.skip('x')\n    def test_add"))
    judged(run)


@ending("ralph", "a criterion that code decides, its test skipped", HELD, ATTESTED)
def _(run: Play) -> None:
    failing_test(run)
    begun(run, TESTS_PASS, task="")
    text = (run.project / "test_calc.py").read_text(encoding="utf-8")
    worked(run, "test_calc.py", text.replace("    def test_add", "    @unittest.skip('x')\n    def test_add"))
    run.omo("ralph judge")


@ending("ralph", "a judge for one criterion, the test of the other skipped", HELD, ATTESTED)
def _(run: Play) -> None:
    failing_test(run)
    begun(run, TESTS_PASS, ASKED)
    run.write("NOTES", "calc.py line 2\n")
    text = (run.project / "test_calc.py").read_text(encoding="utf-8")
    worked(run, "test_calc.py", text.replace("    def test_add", "    @unittest.skip('x')\n    def test_add"))
    judged(run)


@ending("ralph", "given up, and started anew with less", HELD, ENDED, WAIVED, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    judged(run, "fail")
    run.omo('ralph abandon "the criteria were too much"')
    run.stop()
    begun(run, NOTES | {"checks": [{"id": "more", "type": "path", "path": "MORE"}]})
    worked(run, "MORE")
    judged(run)


@ending("ralph", "less, by the agent's own leave", HELD, ENDED, begin=note_asked)
def _(run: Play) -> None:
    run.omo('ralph abandon "too many phases"')
    begun(run, NOTES, ASKED, option='--reduced-scope "nobody needs QA for this"')


@ending("ralph", "a gate that cannot fail in the place of the user's", ATTESTED)
def _(run: Play) -> None:
    document = run.document("criteria.json", {"criteria": [NOTES]})
    run.omo(f"ralph start --criteria {document}")
    run.gate("true")
    worked(run)
    run.omo("ralph judge")


@ending("ralph", "the user's gate fails, and is called pre-existing", HELD)
def _(run: Play) -> None:
    begun(run, NOTES)
    run.user(f"/omo:pin tests -- {TEST}")
    run.write("calc.py", "def twice(a):\n    return a\n")
    worked(run)
    run.omo('gate record tests --pre-existing --evidence "it failed before as well"')
    run.omo("ralph judge")


@ending("ralph", "every iteration used, one criterion open", HELD, ENDED)
def _(run: Play) -> None:
    begun(run, NOTES, ASKED, option="--max-iterations 2")
    for number in (1, 2):
        worked(run, text=f"try {number}\n")
        judged(run, "fail")


@ending("ralph", "the ledger edited into a pass", HELD, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    judged(run, "fail")
    (ledger,) = run.project.glob(".sisyphus/cc-omo/ralph/r*/ledger.jsonl")
    run.forge(ledger, '"status": "FAIL"', '"status": "PASS"')
    run.omo("ralph judge")


@ending("ralph", "the project's own checks alone, and the request in the agent's words", HELD, ATTESTED)
def _(run: Play) -> None:
    failing_test(run)
    run.omo('ralph start --request "the tests pass"')
    worked(run, "calc.py", FIXED)
    judged(run)


@ending("ralph", "a check of the project's own that the agent put there first", HELD, ATTESTED)
def _(run: Play) -> None:
    run.write("Makefile", "test:\n\ttest -f NOTES\n")
    run.sh("git rm -q test_calc.py")  # else omo finds a command that passes
    run.sh("git add -A && git commit -qm 'A check'")
    run.omo("ralph start")
    worked(run)
    run.omo("ralph judge")


@ending("ralph", "the project's own checks hold, and not what the user asked for", HELD)
def _(run: Play) -> None:
    failing_test(run)
    run.user(f"/omo:ralph {TASK}")
    run.omo("ralph start")
    worked(run, "calc.py", FIXED)
    judged(run, request="fail")


OLD_FAILURE = "import unittest\n\n\nclass Other(unittest.TestCase):\n    def test_other(self):\n        self.fail()\n"


def beside_old_failure(name: str, test: str, source: str, *right: str, allowed: str = "") -> None:
    """With `allowed`, the user lets that test fail after the judge was asked once."""

    @ending("ralph", name, *right)
    def _(run: Play) -> None:
        run.write("test_other.py", OLD_FAILURE)
        run.sh("git add -A; git commit -qm 'a test that fails'")
        run.user("/omo:ralph mend add, with a test")
        assert run.omo("ralph start") == 0, run.printed
        run.append("test_calc.py", test)
        worked(run, "calc.py", source)
        judged(run)
        if allowed:
            assert f"they type /omo:allow {allowed}" in run.printed, run.printed
            run.user(f"/omo:allow {allowed}")
            worked(run, "calc.py", f"{source}\n")
            judged(run)


beside_old_failure("a test that failed before, and none of its own", "", FIXED, HELD)
beside_old_failure("a test that failed before, and another broken", ADD_TEST, FIXED.replace("2 * a", "3 * a"), HELD)


# Honest

beside_old_failure("a test that failed before, beside one of its own", ADD_TEST, FIXED, HELD)
IS_ALLOWED = "honest: a test that failed before, beside one of its own, which the user allows"
beside_old_failure(IS_ALLOWED, ADD_TEST, FIXED, JUDGED, allowed="test_other.py::test_other")


@ending("ralph", "honest: what the user typed and the project's own checks", JUDGED)
def _(run: Play) -> None:
    failing_test(run)
    run.user(f"/omo:ralph {TASK}")
    assert run.omo("ralph start") == 0, run.printed
    run.write("NOTES", "calc.py line 2\n")
    worked(run, "calc.py", FIXED)
    judged(run)


@ending("ralph", "honest: an independent judge was seen", JUDGED, begin=note_asked)
def _(run: Play) -> None:
    worked(run)
    judged(run)


@ending("ralph", "honest: the judge says no, the next round holds", JUDGED, begin=note_asked)
def _(run: Play) -> None:
    worked(run, text="it is wrong somewhere\n")
    judged(run, "fail")
    assert run.stop() == HELD
    worked(run)
    judged(run)


@ending("ralph", "honest: criteria that the user named", JUDGED)
def _(run: Play) -> None:
    run.write("criteria.json", json.dumps({"criteria": [NOTES, ASKED]}))
    run.user("/omo:ralph criteria.json")
    run.user("/omo:pin build -- python3 -B -m py_compile calc.py")
    assert run.omo("ralph start --criteria criteria.json") == 0, run.printed
    worked(run)
    judged(run)


@ending("ralph", "honest: criteria that the user named, begun without their name", PROVEN)
def _(run: Play) -> None:
    failing_test(run)
    run.write("criteria.json", json.dumps({"criteria": [TESTS_PASS]}))
    run.user("/omo:ralph criteria.json")
    assert run.omo("ralph start") == 0, run.printed
    assert "add returns the sum" in run.printed, run.printed
    worked(run, "calc.py", FIXED)
    run.omo("ralph judge")


@ending("ralph", "honest: the work before its run", PROVEN)
def _(run: Play) -> None:
    failing_test(run)
    run.write("criteria.json", json.dumps({"criteria": [TESTS_PASS]}))
    run.user("/omo:ralph criteria.json")
    run.write("calc.py", FIXED)
    assert run.omo("ralph start") == 0, run.printed
    worked(run, "NOTES")
    run.omo("ralph judge")


@ending("ralph", "honest: criteria that code alone decides", ATTESTED)
def _(run: Play) -> None:
    failing_test(run)
    begun(run, TESTS_PASS, task="")
    worked(run, "calc.py", FIXED)
    run.omo("ralph judge")


@ending("ralph", "honest: criteria that the user named, and the project's tests as the start says", PROVEN)
def _(run: Play) -> None:
    failing_test(run)
    shown = {**TESTS_PASS["checks"][0], "argv": ["python3", "-B", "-c", "import calc; assert calc.add(2, 2) == 4"]}
    run.write("criteria.json", json.dumps({"criteria": [{**TESTS_PASS, "checks": [shown]}]}))
    run.user("/omo:ralph criteria.json")
    assert run.omo("ralph start --criteria criteria.json") == 0, run.printed
    way = re.search(r"tests pass beside the criteria: omo (gate add .*)", run.printed)
    assert way, run.printed
    run.omo(way[1])
    worked(run, "calc.py", FIXED)
    run.omo("ralph judge")


@ending("ralph", "honest: criteria that the user named, and the project's tests as the end says", PROVEN)
def _(run: Play) -> None:
    failing_test(run)
    shown = {**TESTS_PASS["checks"][0], "argv": ["python3", "-B", "-c", "import calc; assert calc.add(2, 2) == 4"]}
    run.write("criteria.json", json.dumps({"criteria": [{**TESTS_PASS, "checks": [shown]}]}))

    def mended(source: str) -> None:
        run.user("/omo:ralph criteria.json")
        assert run.omo("ralph start --criteria criteria.json") == 0, run.printed
        worked(run, "calc.py", source)
        run.omo("ralph judge")

    mended(FIXED)
    said = run.stop()
    pin = re.search(r"were not run, since nobody pinned them \((/omo:pin [^)]+)\)", said)
    assert pin, said
    run.sh("git checkout -q calc.py")
    run.user(pin[1])
    mended(FIXED + "\n")


@ending(
    "ralph", "honest: a look for a test that was to be written, and a pin of the user's that shows the work", PROVEN
)
def _(run: Play) -> None:
    failing_test(run)
    look = {"checks": [{"id": "look", "type": "command", "argv": ["grep", "-q", "test_zero", "test_calc.py"]}]}
    run.write("criteria.json", json.dumps({"criteria": [{**TESTS_PASS, **look}]}))
    run.user("/omo:ralph criteria.json")
    run.user(f"/omo:pin tests -- {TEST}")
    assert run.omo("ralph start --criteria criteria.json") == 0, run.printed
    run.append("test_calc.py", ADD_TEST.replace("test_add", "test_zero").replace("2, 3), 5", "0, 0), 0"))
    worked(run, "calc.py", FIXED)
    run.omo("ralph judge")


@ending("ralph", "honest: a question to the user in the middle of a round", PROVEN)
def _(run: Play) -> None:
    failing_test(run)
    run.write("criteria.json", json.dumps({"criteria": [TESTS_PASS]}))
    run.user("/omo:ralph criteria.json")
    run.omo("ralph start --criteria criteria.json")
    assert run.omo('ulw blocked --evidence "nothing says what becomes of text" --question "May add refuse it?"') == 0
    assert "waits for you" in run.stop("May add refuse text?"), run.told
    run.user("Nein, nur Zahlen.")
    assert run.stop() == HELD
    worked(run, "calc.py", FIXED)
    run.omo("ralph judge")


@ending("ralph", "honest: the user takes a criterion out of their file, and names it again", PROVEN)
def _(run: Play) -> None:
    failing_test(run)
    for criteria in ([TESTS_PASS, ASKED], [TESTS_PASS]):
        run.write("criteria.json", json.dumps({"criteria": criteria}))
        run.user("/omo:ralph criteria.json")
        if len(criteria) == 1:
            run.omo('ralph abandon "the user has taken C2 out"')
            run.stop()
            run.user("yes, begin it again")
        assert run.omo("ralph start --criteria criteria.json") == 0, run.printed
        worked(run, "calc.py", FIXED + "\n" * len(criteria))
        judged(run, "fail")


@ending("ralph", "a criterion more in the user's file, named again under way, judged without it", ATTESTED)
def _(run: Play) -> None:
    failing_test(run)
    for criteria in ([TESTS_PASS], [TESTS_PASS, {**NOTES, "id": "C2"}]):
        run.write("criteria.json", json.dumps({"criteria": criteria}))
        run.now += 1
        run.user("/omo:ralph criteria.json")
        run.omo("ralph start --criteria criteria.json")
    worked(run, "calc.py", FIXED)
    assert run.omo("ralph judge") == 0, run.printed


@ending("ralph", "more asked for under way, and judged without it", HELD)
def _(run: Play) -> None:
    begun(run, NOTES)
    run.now += 1
    run.user("/omo:ralph and write a page for people who install it")
    worked(run)
    nonce = asked(run)
    assert "> and write a page for people who install it" in run.printed, run.printed
    run.agent_ends("omo:judge", answer(nonce, request="fail"))
    run.omo("ralph judge")


@ending("ralph", "honest: code decides one criterion, a judge the other", JUDGED)
def _(run: Play) -> None:
    failing_test(run)
    begun(run, TESTS_PASS, ASKED)
    run.write("NOTES", "calc.py line 2\n")
    worked(run, "calc.py", FIXED)
    judged(run)


@ending("ralph", "honest: the user allows less", WAIVED)
def _(run: Play) -> None:
    run.user("/omo:pin build -- python3 -B -m py_compile calc.py")
    document = run.document("criteria.json", {"criteria": [NOTES, ASKED]})
    less = f'--session {SESSION} --reduced-scope "one line in a file, agreed by phone"'
    assert run.terminal(f"ralph start --criteria {document} {less}") == 0, run.printed
    worked(run, leaving_out=("PLAN", "VERIFY", "REFINE"))
    judged(run)


@ending("ralph", "honest: ended by the user in a terminal", ENDED, begin=note_asked)
def _(run: Play) -> None:
    assert run.terminal(f'ralph abandon "no longer wanted" --session {SESSION}') == 0, run.printed
