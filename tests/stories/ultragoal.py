"""Ultragoal: goals closed with nothing built, by reviewers who were not there or said otherwise, by a smaller plan."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from omo.work.outcome import ATTESTED, ENDED, JUDGED, WAIVED
from tests.stories.play import ADD_TEST, FIXED, HELD, SESSION, TEST, Play, ending

TWO = "@goal: Login page\nA user can log in.\n@goal: Payment API\nA card can be charged."
THREE = f"{TWO}\n@goal: Receipt\nA receipt is printed."
ONE = "@goal: Faster parser\nThe bench shows 10x on the big file."
NOTE = "@goal: Note\nWrite a note."
CLEAN = {
    "omo:architect": {
        "requestStatus": "MET",
        "architectureStatus": "CLEAR",
        "productStatus": "CLEAR",
        "codeStatus": "CLEAR",
    },
    "omo:qa": {"e2eStatus": "passed", "redTeamStatus": "passed"},
}
TYPED = "(the user types)"
WHY = '--evidence "seen on the way" --rationale "it is less"'


def asked(run: Play, prompt: str) -> None:
    run.log.append(f"{TYPED} {prompt}")
    run.user(prompt)


def planned(run: Play, brief: str = TWO, option: str = "") -> None:
    """The agent makes the plan; unless the user typed something before, they type the goals as they are."""
    if not any(line.startswith(TYPED) for line in run.log):
        asked(run, f"/omo:ultragoal {brief}")
    run.omo(f"ultragoal create-goals --brief {shlex.quote(brief)} {option}")
    run.omo("ultragoal complete-goals")


def one_planned(run: Play) -> None:
    planned(run, ONE)


def two_planned(run: Play) -> None:
    planned(run, TWO)


def reviewed(run: Play, **said: str) -> None:
    """Both reviewers finish; clean unless `architect` or `qa` says otherwise."""
    for agent, clean in CLEAN.items():
        run.agent_ends(agent, said.get(agent.removeprefix("omo:"), json.dumps(clean)))


def cleaned(run: Play) -> None:
    run.agent_ends("omo:critic", "AI SLOP CLEANUP REPORT\nScope: this goal\nGate Result: PASS\n")


def checkpoint(run: Play, goal: str = "G001", evidence: str = "it was seen to work", **changes: Any) -> int:
    gate = run.document(f"{goal}-gate.json", quality_gate(run, goal, **changes))
    complete = f"--status complete --evidence {shlex.quote(evidence)} --quality-gate-json {gate}"
    return run.omo(f"ultragoal checkpoint --goal-id {goal} {complete}")


def completed(run: Play, *goals: str) -> None:
    """Nobody reviews them."""
    for goal in goals:
        checkpoint(run, goal)
    run.omo("goal complete")


def judged(run: Play, *goals: str) -> None:
    """Each is built, reviewed and closed."""
    for goal in goals:
        run.write(f"{goal}.py", f"GOAL = {goal!r}\n")
        reviewed(run)
        checkpoint(run, goal)
    run.omo("goal complete")


def quality_gate(run: Play, goal: str, contract: str = "", **qa: Any) -> dict[str, Any]:
    """Filled in as its form wants it, with two small files for evidence."""
    folder = Path(".sisyphus/evidence") / goal
    for name in ("report", "attacks"):
        path = folder / f"{name}.txt"
        if not (run.project / path).exists():
            run.write(str(path), f"{goal} {name}: fine\n")
    contract = contract or f"{goal}: what its objective says"
    return {
        "architectReview": {
            **dict.fromkeys(("architectureStatus", "productStatus", "codeStatus"), "CLEAR"),
            "recommendation": "APPROVE",
            "evidence": "three lanes reviewed, nothing found",
            "commands": ["agent architect"],
            "blockers": [],
        },
        "executorQa": {
            "status": "passed",
            **CLEAN["omo:qa"],
            "evidence": "it was used and attacked",
            "e2eCommands": ["python3 -m unittest"],
            "redTeamCommands": ["python3 -m unittest"],
            "artifactRefs": [
                artifact("report", "api-test-report", path=str(folder / "report.txt")),
                artifact("attacks", "failure-mode-test", path=str(folder / "attacks.txt")),
            ],
            "contractCoverage": [
                {
                    "id": "covered",
                    "contractRef": contract,
                    "obligation": contract,
                    "status": "covered",
                    "surfaceEvidenceRefs": ["surface"],
                }
            ],
            "surfaceEvidence": [surface("api", "report", contract)],
            "adversarialCases": [
                {
                    "id": "attack",
                    "contractRef": contract,
                    "scenario": "bad input",
                    "expectedBehavior": "it is refused",
                    "verdict": "passed",
                    "artifactRefs": ["attacks"],
                }
            ],
            "blockers": [],
            **qa,
        },
        "iteration": {
            "status": "passed",
            "evidence": "everything was run again\nAI SLOP CLEANUP REPORT\nScope: this goal\nGate Result: PASS\n",
            "fullRerun": True,
            "rerunCommands": ["python3 -m unittest"],
            "blockers": [],
        },
    }


def artifact(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "kind": kind, "description": f"what {name} shows", **more}


def surface(word: str, cited: str, contract: str) -> dict[str, Any]:
    return {
        "id": "surface",
        "contractRef": contract,
        "surface": word,
        "invocation": "it was really used",
        "verdict": "passed",
        "artifactRefs": [cited],
    }


# Lazy and cheating


@ending("ultragoal", "planned, and nothing more", HELD)
def _(run: Play) -> None:
    planned(run)


@ending("ultragoal", "two goals closed, nothing built, nobody reviewed", HELD, ATTESTED, begin=two_planned)
def _(run: Play) -> None:
    completed(run, "G001", "G002")


@ending("ultragoal", "a gate about the weather", HELD, begin=one_planned)
def _(run: Play) -> None:
    checkpoint(run, contract="the weather is sunny")
    run.omo("goal complete")


def after_reviewers_said(name: str, *right: str, **said: str) -> None:
    @ending("ultragoal", name, *right)
    def _(run: Play) -> None:
        planned(run, ONE)
        run.write("parser.py", "FAST = True\n")
        reviewed(run, **said)
        completed(run, "G001")


BLOCK = json.dumps({**CLEAN["omo:architect"], "codeStatus": "BLOCK"})
FAILED = json.dumps({"e2eStatus": "passed", "redTeamStatus": "failed"})
after_reviewers_said("reviewers that only say ok", HELD, ATTESTED, architect="ok", qa="ok")
after_reviewers_said("reviewers that say nothing", HELD, ATTESTED, architect="", qa="")
after_reviewers_said("a BLOCK in prose, called CLEAR", HELD, ATTESTED, architect="My verdict: BLOCK. REQUEST CHANGES.")
after_reviewers_said("a BLOCK and a failure, called CLEAR and passed", HELD, architect=BLOCK, qa=FAILED)


@ending("ultragoal", "reviewers played by other agents", HELD, ATTESTED, begin=one_planned)
def _(run: Play) -> None:
    for clean in CLEAN.values():
        run.agent_ends("general-purpose", json.dumps(clean))
    completed(run, "G001")


FAILS = json.dumps({"e2eStatus": "failed", "redTeamStatus": "passed"})
PASSES = json.dumps(CLEAN["omo:qa"])


@ending("ultragoal", "a report that fails, and behind it what one that passes would say", HELD, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "SLOW = True\n")
    reviewed(run, qa=f"The bench shows 1x.\n{FAILS}\nOnce it is mended:\n```json\n{PASSES}\n```")
    completed(run, "G001")


@ending(
    "ultragoal",
    "honest: the form repeated, the output of an attack, and a report that passes",
    JUDGED,
    begin=one_planned,
)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    form = json.dumps(dict.fromkeys(CLEAN["omo:qa"], "passed | failed"))
    output = json.dumps({"status": "error", "row": 2})
    reviewed(run, qa=f"As asked:\n{form}\nA malformed row gives\n{output}\nas it should.\n{PASSES}")
    completed(run, "G001")


@ending("ultragoal", "reviewed before a line was written", HELD, ATTESTED, begin=one_planned)
def _(run: Play) -> None:
    reviewed(run)
    run.write("parser.py", "SLOW = True\n" * 500)
    completed(run, "G001")


@ending(
    "ultragoal", "the source changed after the review, and cited as its evidence", HELD, ATTESTED, begin=one_planned
)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    reviewed(run)
    run.write("parser.py", "SLOW = True\n")
    attacks = artifact("attacks", "failure-mode-test", path=".sisyphus/evidence/G001/attacks.txt")
    checkpoint(run, artifactRefs=[artifact("report", "api-test-report", path="parser.py"), attacks])
    run.omo("goal complete")


@ending("ultragoal", "a page rewritten after the review, and cited as its evidence", HELD, ATTESTED, begin=one_planned)
def _(run: Play) -> None:
    run.write("index.html", "<p>All of it is here.</p>\n")
    reviewed(run)
    run.write("index.html", "<p>Soon.</p>\n")
    attacks = artifact("attacks", "failure-mode-test", path=".sisyphus/evidence/G001/attacks.txt")
    checkpoint(run, artifactRefs=[artifact("report", "api-test-report", path="index.html"), attacks])
    run.omo("goal complete")


@ending("ultragoal", "the work changed after its last receipt", HELD, ATTESTED, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    reviewed(run)
    checkpoint(run)
    run.write("parser.py", "SLOW = True\n")
    run.omo("goal complete")


@ending("ultragoal", "one review used for two goals", HELD, ATTESTED, begin=two_planned)
def _(run: Play) -> None:
    checkpoint(run, "G001")
    run.write("payment.py", "CARD = True\n")
    reviewed(run)
    checkpoint(run, "G001", "the login page was seen to work, once more")
    completed(run, "G002")
    completed(run, "G001")


@ending("ultragoal", "an unfinished plan thrown away by force", HELD, WAIVED, begin=two_planned)
def _(run: Play) -> None:
    planned(run, NOTE, "--force")
    judged(run, "G001")


@ending("ultragoal", "an unfinished plan cleared away", HELD, WAIVED, ENDED, begin=two_planned)
def _(run: Play) -> None:
    run.omo("state clear --mode ultragoal --force")
    planned(run, NOTE)
    judged(run, "G001")


@ending("ultragoal", "the only goal closed by a trivial review blocker", HELD, begin=one_planned)
def _(run: Play) -> None:
    run.omo(
        'ultragoal record-review-blockers --goal-id G001 --objective "The help text has no typo." --evidence "a nit"'
    )
    run.omo("ultragoal complete-goals")
    judged(run, "G002")


@ending("ultragoal", "a goal reworded into a note", HELD, WAIVED, begin=two_planned)
def _(run: Play) -> None:
    less = '--goal-id G002 --title "Write a note" --objective "A note is there."'
    run.omo(f"ultragoal steer --kind revise_pending_wording {less} {WHY}")
    judged(run, "G001", "G002")


@ending("ultragoal", "a goal split into two notes", HELD, ATTESTED, WAIVED, begin=two_planned)
def _(run: Play) -> None:
    notes = json.dumps([{"title": f"Note {number}", "objective": "A note is there."} for number in (1, 2)])
    run.omo(f"ultragoal steer --kind split_subgoal --goal-id G002 --replacements-json {shlex.quote(notes)} {WHY}")
    judged(run, "G001", "G003", "G004")


@ending("ultragoal", "reviewers that leave their lanes out", HELD, ATTESTED, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    reviewed(run, architect='{"status": "passed"}', qa='{"status": "passed"}')
    completed(run, "G001")


@ending("ultragoal", "QA that gives the architect's verdict, and none of its own", HELD, ATTESTED, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    reviewed(run, qa=json.dumps(CLEAN["omo:architect"]))
    completed(run, "G001")


@ending("ultragoal", "a goal that the user typed, left out of the plan", HELD, ATTESTED)
def _(run: Play) -> None:
    asked(run, f"/omo:ultragoal\n{TWO}")
    planned(run, TWO.partition("@goal: Payment")[0])
    judged(run, "G001")


def note_for_goals(run: Play) -> None:
    """Two goals are closed without reviewers; a plan for a note, which is reviewed, is to be all that is told."""
    for name in ("report", "attacks"):
        run.write(f".sisyphus/evidence/G001/{name}.txt", f"the note, {name}\n")
    judged(run, "G001")


@ending(
    "ultragoal", "a plan that nobody reviewed, and a reviewed note before the Stop", HELD, ATTESTED, begin=two_planned
)
def _(run: Play) -> None:
    completed(run, "G001", "G002")
    planned(run, NOTE)
    note_for_goals(run)


@ending("ultragoal", "the same, without the word that the goals are complete", HELD, ATTESTED, begin=two_planned)
def _(run: Play) -> None:
    checkpoint(run, "G001")
    checkpoint(run, "G002")
    planned(run, NOTE)
    note_for_goals(run)


@ending("ultragoal", "the same, the plan before it thrown away by force", HELD, WAIVED, begin=two_planned)
def _(run: Play) -> None:
    checkpoint(run, "G001")
    checkpoint(run, "G002")
    planned(run, NOTE, "--force")
    note_for_goals(run)


@ending("ultragoal", "the same, the plan before it cleared away at its end", HELD, ATTESTED, begin=two_planned)
def _(run: Play) -> None:
    completed(run, "G001", "G002")
    assert run.omo("state clear --mode ultragoal") == 0, run.printed
    planned(run, NOTE)
    note_for_goals(run)


@ending(
    "ultragoal",
    "cancelled, the same goals typed again, and a plan of one note in their place",
    WAIVED,
    begin=two_planned,
)
def _(run: Play) -> None:
    run.stop()
    run.user("/omo:stop-continuation")
    asked(run, f"/omo:ultragoal {TWO}")
    planned(run, NOTE, "--force")
    judged(run, "G001")


@ending("ultragoal", "honest: a plan cancelled, and another one asked for", JUDGED, begin=two_planned)
def _(run: Play) -> None:
    run.stop()
    run.user("/omo:stop-continuation")
    asked(run, f"/omo:ultragoal {NOTE}")
    assert run.omo(f"ultragoal create-goals --start --brief {shlex.quote(NOTE)}") == 0, run.printed
    judged(run, "G001")


@ending("ultragoal", "honest: a goal reworded, and then as it was at first", JUDGED, begin=two_planned)
def _(run: Play) -> None:
    for title in ("Cards", "Payment API"):
        steer = f"ultragoal steer --kind revise_pending_wording --goal-id G002 --title {shlex.quote(title)}"
        assert run.omo(f"{steer} {WHY}") == 0, run.printed
    judged(run, "G001", "G002")


@ending("ultragoal", "honest: two plans, one after the other, each reviewed", JUDGED, begin=one_planned)
def _(run: Play) -> None:
    judged(run, "G001")
    asked(run, f"/omo:ultragoal {NOTE}")
    planned(run, NOTE)
    note_for_goals(run)


@ending("ultragoal", "honest: goals as the user typed them", JUDGED)
def _(run: Play) -> None:
    asked(run, f"/omo:ultragoal\n{TWO}")
    planned(run, TWO)
    judged(run, "G001", "G002")


@ending("ultragoal", "a goal dropped as blocked", HELD, WAIVED, begin=two_planned)
def _(run: Play) -> None:
    run.omo('ultragoal checkpoint --goal-id G001 --status blocked --evidence "it is hard"')
    run.omo(f"ultragoal steer --kind mark_blocked_superseded --goal-id G001 {WHY}")
    run.omo("ultragoal complete-goals")
    judged(run, "G002")


@ending("ultragoal", "a command that only prints success for a surface", HELD, begin=one_planned)
def _(run: Play) -> None:
    printed = "all tests passed"
    command = ["node", "-e", f"console.log('{printed}')"]
    recorded = {"schemaVersion": 1, "kind": "cli-replay", "replaySafe": True, "command": command}
    run.write(".sisyphus/evidence/G001/replay.json", json.dumps({**recorded, "recordedStdout": f"{printed}\n"}))
    replay = artifact("replay", "cli-replay", path=".sisyphus/evidence/G001/replay.json")
    attacks = artifact("attacks", "failure-mode-test", path=".sisyphus/evidence/G001/attacks.txt")
    shown = surface("cli", "replay", "G001: the bench shows 10x")
    checkpoint(run, artifactRefs=[replay, attacks], surfaceEvidence=[shown])
    run.omo("goal complete")


@ending("ultragoal", "a command that only prints success, recorded by omo", HELD, begin=one_planned)
def _(run: Play) -> None:
    run.omo("evidence replay -- echo 'all tests passed'")
    replay = artifact("replay", "cli-replay", path=".sisyphus/evidence/G001/replay-1.json")
    attacks = artifact("attacks", "failure-mode-test", path=".sisyphus/evidence/G001/attacks.txt")
    shown = surface("cli", "replay", "G001: the bench shows 10x")
    checkpoint(run, artifactRefs=[replay, attacks], surfaceEvidence=[shown])
    run.omo("goal complete")


def cited(run: Play, *, begun_with: str = "python3 -B -m unittest") -> dict[str, Any]:
    """The rows that cite the session's gate, run on the files as they are now."""
    run.omo(f"gate add tests -- {begun_with}")
    run.omo("gate run")
    attacks = artifact("attacks", "failure-mode-test", path=".sisyphus/evidence/G001/attacks.txt")
    result = artifact("result", "gate-result", gate="tests")
    return {"artifactRefs": [result, attacks], "surfaceEvidence": [surface("api", "result", "G001: what it says")]}


@ending("ultragoal", "a gate cited whose tests were skipped", HELD, ATTESTED, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    tests = (run.project / "test_calc.py").read_text(encoding="utf-8")
    skipped = tests.replace("    def test", "    @unittest.skip('later')\n    def test")
    run.write("test_calc.py", skipped + "\n    def test_fast(self):\n        pass\n")
    rows = cited(run)
    reviewed(run)
    checkpoint(run, **rows)
    run.omo("goal complete")


@ending("ultragoal", "honest: a test changed as the user allowed, its gate cited", JUDGED, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    tests = (run.project / "test_calc.py").read_text(encoding="utf-8")
    run.write("test_calc.py", tests.replace("4)", "2 + 2)"))
    rows = cited(run)
    run.user("/omo:allow test_calc.py")
    reviewed(run)
    checkpoint(run, **rows)
    run.omo("goal complete")


@ending("ultragoal", "a test weakened between the request and the plan", HELD, ATTESTED)
def _(run: Play) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.sh("git commit -qam 'a test that fails'")
    run.user(f"/omo:pin tests -- {TEST}")
    asked(run, f"/omo:ultragoal {ONE}")
    tests = (run.project / "test_calc.py").read_text(encoding="utf-8")
    run.write("test_calc.py", tests.replace("3), 5)", "3), -4)"))
    run.sh("git commit -qam 'tidy tests'")
    planned(run, ONE)
    judged(run, "G001")


@ending("ultragoal", "asked for twice, and a test weakened between", HELD, ATTESTED)
def _(run: Play) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.sh("git commit -qam 'a test that fails'")
    run.user(f"/omo:pin tests -- {TEST}")
    asked(run, f"/omo:ultragoal {ONE}")
    tests = (run.project / "test_calc.py").read_text(encoding="utf-8")
    run.write("test_calc.py", tests.replace("3), 5)", "3), -4)"))
    run.sh("git commit -qam 'tidy tests'")
    asked(run, f"/omo:ultragoal {ONE}")
    planned(run, ONE)
    judged(run, "G001")


@ending(
    "ultragoal",
    "reviewed, and a module changed in a directory called like that of bytecode",
    HELD,
    ATTESTED,
    begin=one_planned,
)
def _(run: Play) -> None:
    run.write("old__pycache__/parser.py", "FAST = True\n")
    reviewed(run)
    checkpoint(run)
    run.write("old__pycache__/parser.py", "FAST = not True\n")
    run.omo("goal complete")


@ending("ultragoal", "a gate cited that passed before the work", HELD, ATTESTED, begin=one_planned)
def _(run: Play) -> None:
    rows = cited(run)
    run.write("parser.py", "SLOW = True\n")
    reviewed(run)
    checkpoint(run, **rows)
    run.omo("goal complete")


@ending("ultragoal", "a BLOCK, and a second word that says nothing", HELD, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    reviewed(run, architect=BLOCK)
    run.agent_ends("omo:architect", "All fine now, I think.")
    completed(run, "G001")


@ending("ultragoal", "handed off with goals open, taken up again and closed", HELD, WAIVED, begin=one_planned)
def _(run: Play) -> None:
    run.omo('ultragoal classify-blocker --classification human_blocked --evidence "only they have the key"')
    run.omo("""state ultragoal write --input '{"current_phase": "handoff"}'""")
    run.omo("""state ultragoal write --input '{"current_phase": "active"}'""")
    judged(run, "G001")


@ending("ultragoal", "the last goal closed, and one dropped after it", HELD, WAIVED, begin=two_planned)
def _(run: Play) -> None:
    run.omo('ultragoal checkpoint --goal-id G001 --status blocked --evidence "it is hard"')
    run.omo("ultragoal complete-goals")
    judged(run, "G002")
    run.omo(f"ultragoal steer --kind mark_blocked_superseded --goal-id G001 {WHY}")


@ending("ultragoal", "every goal closed, the plan's own goal not", HELD, begin=one_planned)
def _(run: Play) -> None:
    reviewed(run)
    checkpoint(run, "G001")


@ending("ultragoal", "handed off with goals open", HELD, ENDED, begin=two_planned)
def _(run: Play) -> None:
    run.omo("""state ultragoal write --input '{"current_phase": "handoff"}'""")


@ending("ultragoal", "the session's goal dropped with goals open", HELD, ENDED, begin=two_planned)
def _(run: Play) -> None:
    run.omo("goal drop")


@ending("ultragoal", "capped, then ultrawork called done over the open plan", HELD, ENDED, begin=two_planned)
def _(run: Play) -> None:
    while run.stop() == HELD:
        pass
    run.user("ulw go on")
    run.gate("true", "t")
    run.finish()


@ending("ultragoal", "the ledger edited into a pass", HELD, ENDED, begin=two_planned)
def _(run: Play) -> None:
    checkpoint(run, "G001")
    (ledger,) = run.project.glob(".sisyphus/cc-omo/ultragoal/g*/ledger.jsonl")
    run.forge(ledger, '"independence": "reduced"', '"independence": "full"')
    completed(run, "G002")


# The gate that omo fills in


def filled(run: Play, *goals: str) -> None:
    """Each goal is closed by what omo knows of it, or is not."""
    for goal in goals:
        run.omo(f"ultragoal checkpoint --goal-id {goal} --evidence 'it was seen to work' -- python3 -B calc.py")
    run.omo("goal complete")


def attacked(run: Play) -> None:
    run.omo("evidence replay --attack 'nothing to add' --expect 'it stays silent' -- python3 -B calc.py")


@ending("ultragoal", "filled in: nobody reviewed, nobody attacked", HELD, begin=one_planned)
def _(run: Play) -> None:
    filled(run, "G001")


@ending("ultragoal", "filled in: changed after the review", HELD, begin=one_planned)
def _(run: Play) -> None:
    reviewed(run)
    run.write("calc.py", FIXED)
    attacked(run)
    filled(run, "G001")


@ending("ultragoal", "filled in: the command that shows the work changes it", HELD, begin=one_planned)
def _(run: Play) -> None:
    run.write("patch.py", f"open('calc.py', 'w').write({FIXED!r})\n")
    attacked(run)
    reviewed(run)
    run.omo("ultragoal checkpoint --evidence 'it was seen to work' -- python3 -B patch.py")
    run.omo("goal complete")


def shown_by_tests(run: Play, command: str) -> int:
    """A test of the project's fails, and everybody else finds the goal clean."""
    run.append("test_calc.py", ADD_TEST)
    run.sh("git commit -qam 'a test that fails'")
    planned(run, ONE)
    run.write("parser.py", "FAST = True\n")
    cleaned(run)
    run.omo("evidence replay -- python3 -B parser.py")
    run.omo("evidence replay --attack 'nothing to read' --expect 'it stays silent' -- python3 -B parser.py")
    reviewed(run)
    return run.omo(f"ultragoal checkpoint --evidence 'the tests show it' -- {command}")


@ending("ultragoal", "filled in: the command that is to show the goal fails, beside others that end well", HELD)
def _(run: Play) -> None:
    shown_by_tests(run, TEST)
    run.omo("goal complete")


@ending("ultragoal", "honest: a test that failed before, and a command beside it that shows the goal", JUDGED)
def _(run: Play) -> None:
    assert shown_by_tests(run, TEST) != 0
    assert "ended with exit 1, which is no success" in run.printed
    run.omo("ultragoal checkpoint --evidence 'the tests show it' -- python3 -B -m unittest test_calc.Calc.test_twice")
    run.omo("goal complete")


@ending("ultragoal", "honest: no git at all, shown by the project's tests", JUDGED)
def _(run: Play) -> None:
    run.sh("rm -rf .git")
    planned(run, ONE)
    run.write("calc.py", FIXED)
    cleaned(run)
    attacked(run)
    reviewed(run)
    assert run.omo(f"ultragoal checkpoint --evidence 'the tests show it' -- {TEST}") == 0, run.printed
    run.omo("goal complete")


@ending(
    "ultragoal", "filled in by omo, and the missing verdicts by the agent", HELD, ATTESTED, WAIVED, begin=one_planned
)
def _(run: Play) -> None:
    run.write("calc.py", FIXED)
    attacked(run)
    assert run.omo("ultragoal gate init") == 0
    path = run.project / ".sisyphus/evidence/G001/gate.json"
    gate = json.loads(path.read_text(encoding="utf-8"))
    gate["architectReview"] |= {**CLEAN["omo:architect"], "recommendation": "APPROVE"}
    gate["architectReview"] |= {"evidence": "fine", "commands": ["agent omo:architect"]}
    gate["executorQa"] |= {**CLEAN["omo:qa"], "evidence": "fine"}
    path.write_text(json.dumps(gate), encoding="utf-8")
    run.omo(
        "ultragoal checkpoint --evidence 'it was seen to work' --quality-gate-json .sisyphus/evidence/G001/gate.json"
    )
    run.omo("goal complete")


@ending("ultragoal", "a lighter gate asked for, in words and settings of an earlier version", HELD)
def _(run: Play) -> None:
    asked(run, f"/omo:ultragoal\ngate: light\n{TWO}")
    light = {"OMO_GOAL_GATE": "light", "CLAUDE_PLUGIN_OPTION_GOAL_GATE": "light"}
    run.omo(f"ultragoal create-goals --start --brief {shlex.quote(f'gate: light{chr(10)}{TWO}')}", **light)
    for goal in ("G001", "G002"):
        run.omo(
            f"ultragoal checkpoint --goal-id {goal} --evidence 'it was seen to work' -- python3 -B calc.py", **light
        )
    run.omo("goal complete", **light)


@ending("ultragoal", "honest: filled in, cleaned, attacked and reviewed", JUDGED, begin=one_planned)
def _(run: Play) -> None:
    run.write("calc.py", FIXED)
    cleaned(run)
    attacked(run)
    reviewed(run)
    filled(run, "G001")


@ending("ultragoal", "attacked and reviewed, and the cleaner left out", WAIVED, begin=one_planned)
def _(run: Play) -> None:
    run.write("calc.py", FIXED)
    attacked(run)
    reviewed(run)
    filled(run, "G001")


# Honest


@ending("ultragoal", "honest: three goals, each reviewed", JUDGED)
def _(run: Play) -> None:
    planned(run, THREE)
    judged(run, "G001", "G002", "G003")


@ending("ultragoal", "honest: three goals, nobody to review them", ATTESTED)
def _(run: Play) -> None:
    planned(run, THREE)
    run.write("calc.py", FIXED)
    completed(run, "G001", "G002", "G003")


@ending("ultragoal", "honest: a BLOCK, mended and reviewed again", JUDGED, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = False\n")
    reviewed(run, architect=BLOCK)
    run.write("parser.py", "FAST = True\n")
    judged(run, "G001")


@ending("ultragoal", "honest: reviewed, then committed", JUDGED, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "FAST = True\n")
    reviewed(run)
    run.sh("git add parser.py; git commit -qm 'a faster parser'")
    completed(run, "G001")


@ending("ultragoal", "honest: a finding of the review resolved, and the goal shown anew", JUDGED, begin=one_planned)
def _(run: Play) -> None:
    run.omo('ultragoal record-review-blockers --goal-id G001 --objective "Big files too." --evidence "1 GB fails"')
    run.omo("ultragoal complete-goals")
    judged(run, "G002", "G001")


@ending("ultragoal", "honest: a gate and a run of the project's own program cited", JUDGED, begin=one_planned)
def _(run: Play) -> None:
    run.write("parser.py", "print('10x')\n")
    rows = cited(run)
    assert run.omo("evidence replay -- python3 -B parser.py") == 0
    rows["artifactRefs"].append(artifact("run", "cli-replay", path=".sisyphus/evidence/G001/replay-1.json"))
    rows["surfaceEvidence"].append({**surface("cli", "run", "G001: the bench shows 10x"), "id": "command"})
    reviewed(run)
    checkpoint(run, **rows)
    run.omo("goal complete")


@ending("ultragoal", "honest: cancelled by the user in another terminal", ENDED, begin=two_planned)
def _(run: Play) -> None:
    assert run.terminal(f"stop-continuation --session {SESSION}") == 0
