"""Three rounds: the tests pass and the README lacks a sentence; the sentence comes and the tests break; both hold."""

from __future__ import annotations

import json
import re

from bench.ceremony import Session, job
from omo.work.outcome import JUDGED
from tests.stories.play import ADD_TEST, CALC, FIXED

TASK = "make add return the sum of its arguments, and say in README.md what twice does"
SENTENCE = "`twice(a)` returns a and a.\n"
# What each round writes, and what the judge finds of the user's request in it.
ROUNDS = (
    ({"calc.py": FIXED, "README.md": "# Calc\n"}, "fail", "README.md ends after `# Calc`"),
    ({"calc.py": CALC, "README.md": f"# Calc\n\n{SENTENCE}"}, "fail", "`calc.add(2, 3)` gives -1"),
    (
        {"calc.py": FIXED, "README.md": f"# Calc\n\n{SENTENCE}"},
        "pass",
        "`calc.add(2, 3)` gives 5, `twice` is there",
    ),
)
NONCE = re.compile(r'"nonce": "([0-9a-f]{32})"')


@job("ralph", "three rounds, the second breaks what the first mended")
def _(run: Session) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.sh("git add -A && git commit -qm 'A test that fails'")
    run.user(f"/omo:ralph {TASK}")
    run.read("skills/ralph/SKILL.md")
    run.run("ralph start")
    for number, (files, result, evidence) in enumerate(ROUNDS, start=1):
        run.agent_ends("omo:planner", "One change in each file.")
        for path, text in files.items():
            run.write(path, text)
        run.agent_ends("omo:qa", "I tried both functions and read the README.")
        run.agent_ends("omo:critic", "Nothing to simplify.")
        run.run("ralph judge", code=4)
        _judge(run, result, evidence)
        run.run("ralph judge", code=0 if result == "pass" else 3)
        assert _status_of(run, "C1") == ("REGRESSED" if number == 2 else "PASS"), run.printed
    run.ends(JUDGED)


def _judge(run: Session, result: str, evidence: str) -> None:
    """It reads its brief itself; what it writes is not the agent's, and its call is counted all the same."""
    run.run("ralph brief")
    nonce = NONCE.search(run.printed)
    assert nonce, run.printed
    answer = {"criterion": "C0", "check": "request", "result": result, "evidence": evidence}
    run.agent_ends("omo:judge", "I looked.\n" + json.dumps({"nonce": nonce[1], "answers": [answer]}))


def _status_of(run: Session, criterion: str) -> str:
    found = re.search(rf"^  {criterion} +([A-Z]+)", run.printed, re.MULTILINE)
    assert found, run.printed
    return found[1]
