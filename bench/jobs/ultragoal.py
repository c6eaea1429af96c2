"""Three goals of one brief, each built, attacked, cleaned, reviewed and closed."""

from __future__ import annotations

import json
import shlex

from bench.ceremony import Session, job
from omo.work.outcome import JUDGED

BRIEF = """\
Python 3.11, standard library only. The public API stays as it is.

@goal: Parse the intake files
Read every CSV of the watch directory; refuse a malformed row with its number and the reason.

@goal: Normalize records
Map raw rows onto the canonical schema and drop what has the same id.

@goal: Export the audit report
One line for each accepted and each refused row.
"""
READER = """\
import csv
import pathlib
import sys


def rows(directory):
    for path in sorted(pathlib.Path(directory).glob("*.csv")):
        for number, row in enumerate(csv.reader(path.open()), 1):
            yield path.name, number, row


"""
# What the program does once each goal is built, the command that shows it, and one attempt to break it.
GOALS = {
    "G001": (
        READER
        + """for name, number, row in rows(sys.argv[1]):
    print(f"{name}:{number}:", "accepted" if len(row) == 2 else f"refused, {len(row)} fields")
""",
        "python3 intake.py watch",
        ("a row with a field too many", "it is refused by its number", "python3 intake.py odd"),
    ),
    "G002": (
        READER
        + """seen = set()
for name, number, row in rows(sys.argv[1]):
    word = "accepted" if len(row) == 2 and row[0] not in seen else "refused"
    seen.add(row[0])
    print(f"{name}:{number}: {word}")
""",
        "python3 intake.py watch",
        ("the same id twice", "the second one is dropped", "python3 intake.py twice"),
    ),
    "G003": (
        READER
        + """seen = set()
for name, number, row in rows(sys.argv[1]):
    word = "accepted" if len(row) == 2 and row[0] not in seen else "refused"
    seen.add(row[0])
    print(name, number, word, sep="\\t")
""",
        "python3 intake.py watch",
        ("an empty directory", "an empty report", "python3 intake.py empty"),
    ),
}
CLEAN = {
    "omo:architect": {
        "requestStatus": "MET",
        "architectureStatus": "CLEAR",
        "productStatus": "CLEAR",
        "codeStatus": "CLEAR",
    },
    "omo:qa": {"e2eStatus": "passed", "redTeamStatus": "passed"},
}


@job("ultragoal", "three goals")
def _(run: Session) -> None:
    """The briefs of its reviewers, the cleaner among them, are not asked for: 0.1 had none to print."""
    for path, text in {"watch/a.csv": "1,a\n2\n", "odd/a.csv": "1,a,b\n", "twice/a.csv": "1,a\n1,b\n"}.items():
        run.write(path, text)
    run.write("empty/none.txt", "no CSV here\n")
    run.user(f"/omo:ultragoal {BRIEF}")
    run.read("skills/ultragoal/SKILL.md")
    run.run("ultragoal create-goals --start", f"--brief {shlex.quote(BRIEF)}")
    for goal, (program, command, (attack, expected, attacked)) in GOALS.items():
        run.write("intake.py", program)
        run.agent_ends("omo:critic", "AI SLOP CLEANUP REPORT\nGate Result: PASS\n")
        run.run("evidence replay", f"--attack {shlex.quote(attack)} --expect {shlex.quote(expected)} -- {attacked}")
        for agent, report in CLEAN.items():
            run.agent_ends(agent, json.dumps(report))
        run.run(
            "ultragoal checkpoint", f"--evidence {shlex.quote(f'{goal} does what its objective says')} -- {command}"
        )
    run.run("goal complete")
    run.ends(JUDGED)
