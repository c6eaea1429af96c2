"""The projects that worked examples begin with, and the files an agent writes in them that no reader needs to see."""

from __future__ import annotations

import json

TOKENS = {
    "tokens.py": "def split(text):\n    return text.split()\n",
    "test_tokens.py": """\
import unittest

from tokens import split


class Split(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(split("a b"), ["a", "b"])

    def test_quoted(self):
        self.assertEqual(split('a "b c"'), ["a", "b c"])
""",
}

INTAKE = """\
#!/usr/bin/env python3
import csv
import datetime
import pathlib
import sys


def problem(row):
    try:
        datetime.date.fromisoformat(row[0])
    except ValueError:
        return f"{row[0]!r} is no date"
    return ""


*options, directory = sys.argv[1:]
for path in sorted(pathlib.Path(directory).glob("*.csv")):
    for number, row in enumerate(csv.reader(path.open()), 1):
        if found := problem(row):
            print(f"{path.name}:{number}: refused, {found}")
"""
REPORTING = f"""{INTAKE}\
        elif "--report" in options:
            print(f"{{path.name}}:{{number}}: accepted")
"""


def gate(goal: str, title: str, obligation: str, command: str) -> str:
    """What the leading agent makes of the gate that `omo ultragoal gate init` writes."""
    evidence = f".sisyphus/evidence/{goal}"
    passed = {"status": "passed", "blockers": []}
    document = {
        "architectReview": {
            **dict.fromkeys(["architectureStatus", "productStatus", "codeStatus"], "CLEAR"),
            "recommendation": "APPROVE",
            "evidence": "one entry point, no row reaches the store unchecked",
            "commands": ["agent omo:architect"],
            "blockers": [],
        },
        "executorQa": {
            **passed,
            **dict.fromkeys(["e2eStatus", "redTeamStatus"], "passed"),
            "evidence": "the command was used as a person would, then fed malformed files",
            "e2eCommands": [command],
            "redTeamCommands": ["agent omo:qa"],
            "artifactRefs": [
                {"id": "run", "kind": "cli-replay", "path": f"{evidence}/replay-2.json", "description": command},
                {"id": "attack", "kind": "cli-replay", "path": f"{evidence}/replay-1.json", "description": "nothing"},
            ],
            "contractCoverage": [
                {
                    "id": "contract-1",
                    "contractRef": f"{goal} {title}",
                    "obligation": obligation,
                    "status": "covered",
                    "surfaceEvidenceRefs": ["command"],
                    "adversarialCaseRefs": ["malformed"],
                }
            ],
            "surfaceEvidence": [
                {
                    "id": "command",
                    "contractRef": title,
                    "surface": "cli",
                    "invocation": command,
                    "verdict": "passed",
                    "artifactRefs": ["run"],
                }
            ],
            "adversarialCases": [
                {
                    "id": "malformed",
                    "contractRef": title,
                    "scenario": "an empty directory",
                    "expectedBehavior": "an empty report",
                    "verdict": "passed",
                    "artifactRefs": ["attack"],
                }
            ],
        },
        "iteration": {
            **passed,
            "evidence": "run again after the last change\nAI SLOP CLEANUP REPORT\nGate Result: PASS",
            "fullRerun": True,
            "rerunCommands": [command],
        },
    }
    return json.dumps(document, indent=2) + "\n"


GOALS = {
    "intake": [INTAKE, REPORTING],
    ".sisyphus/evidence/G002/gate.json": [
        gate("G002", "Export the audit report", "one line for each row", "./intake --report watch")
    ],
}

UNREFUSED = """\
def read(lines):
    return [line.rstrip("\\n").split(",") for line in lines]
"""
REFUSING = """\
from intake.dates import problem


def read(lines):
    rows, refused = [], []
    for number, line in enumerate(lines, 1):
        row = line.rstrip("\\n").split(",")
        found = problem(row[0])
        refused += [(number, found)] if found else []
        rows += [] if found else [row]
    return rows, refused
"""
DATES = """\
import datetime


def problem(text):
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return f"{text!r} is no date"
    return None
"""
TEST = """\
import sys
import unittest

sys.path.insert(0, "src")
from intake.{module} import {name}


class {title}(unittest.TestCase):
    def test_{what}(self):
        self.assertEqual({seen}, {wanted})
"""
INTAKE_PROJECT = {
    ".gitignore": "__pycache__/\n",
    "src/intake/rows.py": UNREFUSED,
    "src/intake/api.py": "from intake.rows import read\n",
    "tests/test_rows.py": TEST.format(
        module="rows", name="read", title="Rows", what="a_row_is_read", seen='read(["a,b"])', wanted='[["a", "b"]]'
    ),
    "bin/old-report": "#!/bin/sh\necho old\n",
    "pyproject.toml": "",
}
STEPS = {
    "src/intake/dates.py": [DATES],
    "tests/test_dates.py": [
        TEST.format(
            module="dates",
            name="problem",
            title="Dates",
            what="good_and_bad",
            seen='[problem("2026-03-01"), problem("soon")]',
            wanted="[None, \"'soon' is no date\"]",
        )
    ],
    "src/intake/rows.py": [REFUSING],
    "tests/test_rows.py": [
        TEST.format(
            module="rows",
            name="read",
            title="Rows",
            what="a_malformed_date_is_refused_by_number",
            seen='[number for number, _ in read(["2026-03-01,1", "x,2", "2026-03-02,3", "y,4", "2026-03-03,5"])[1]]',
            wanted="[2, 4]",
        )
    ],
    "bin/report": ['#!/bin/sh\nPYTHONPATH=src exec python3 -c "import sys, intake.rows" "$1"\n'],
}

README = """\
# Intake

A row with a malformed date is refused:

row 2: 'soon' is no date
"""
ROWS_PROJECT = {
    ".gitignore": "__pycache__/\n",
    "README.md": "# Intake\n",
    "intake/rows.py": UNREFUSED,
    "tests/test_refused.py": TEST.replace("src", ".").format(
        module="rows",
        name="read",
        title="Refused",
        what="by_number",
        seen='read(["2026-03-01,1", "soon,2"])[1]',
        wanted="[(2, \"'soon' is no date\")]",
    ),
}
ROUNDS = {
    "intake/rows.py": [REFUSING],
    "intake/dates.py": [DATES],
    "README.md": [README, f"{README}\nMend the row in its file and run the command again.\n"],
}

CALC = """\
LIMIT = 10


def add(a, b):
    return a - b
"""
CALC_TEST = """\
import unittest

import calc


class Calc(unittest.TestCase):
    def test_same(self):
        self.assertEqual(calc.add(2, 0), 2)
"""
ADD_TEST = """
    def test_add(self):
        self.assertEqual(calc.add(2, 3), 5)
"""
PASSES_ANYWAY = """
    def test_add(self):
        self.assertTrue(calc.add(2, 3))
"""

START: dict[str, dict[str, str]] = {
    "proof": {"calc.py": CALC, "test_calc.py": CALC_TEST},
    "verify": TOKENS,
    "checks": {"src/intake.py": "ROWS = []\n"},
    "ralph": ROWS_PROJECT,
    "ultraplan": INTAKE_PROJECT,
    "ultragoal": {"watch/a.csv": "2026-02-28,3\n2026-02-31,5\n"},
}
# What is written under a name the first time, the second time, …
WORK: dict[str, dict[str, list[str]]] = {
    "proof": {
        "calc.py": [CALC.replace("10", "20").replace("a - b", "a + b")],
        "test_calc.py": [
            CALC_TEST + ADD_TEST,
            CALC_TEST + PASSES_ANYWAY,
            CALC_TEST.replace("same", "add").replace("2, 0), 2", "2, 3), 5"),
            CALC_TEST + ADD_TEST,
        ],
    },
    "ralph": ROUNDS,
    "ultragoal": GOALS,
    "ultraplan": STEPS,
    "verify": {"tokens.py": ["import shlex\n\n\ndef split(text):\n    return shlex.split(text)\n"]},
}
