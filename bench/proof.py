"""Whether `omo proof` is right, and what it costs: changes of our own, each hunk with the answer that it has to get.

    python3 bench/proof.py [--only WORD]      exits 1 when an answer is not the one that is known

Each change is made in a project of its own and looked at hunk by hunk. `around` is the time beside the gate's own runs,
for each run, with the waits for the clock's next second taken off, and `a minute` how many hunks are looked at.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.experiment import Spent, measuring  # noqa: E402
from omo.proof import base, unchecked_lines  # noqa: E402
from omo.proof.gate_runs import Plain, Subject  # noqa: E402
from omo.proof.run import child_environment  # noqa: E402
from omo.proof.trials import Options  # noqa: E402
from omo.proof.unchecked_lines import BUILD, HELD, NOT_HELD, NOT_LOOKED_AT, UncheckedLines  # noqa: E402

TEN_MINUTES = Options()
COMMIT = "git init -q && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm base"
UNITTEST = ("python3", "-m", "unittest", "-q")

CALC = '''"""Sums."""

LIMIT = 10


def add(a, b):
    return a - b - b


def scale(a, factor):
    if factor < 0:
        raise ValueError(factor)
    return a * factor


def describe(a):
    return "value " + str(a)


def total(values):
    print("total")
    return sum(values)
'''
TEST = """import os
import unittest

import calc


class Calc(unittest.TestCase):
    def test_scale(self):
        self.assertEqual(calc.scale(2, 3), 6)

    def test_describe(self):
        self.assertEqual(calc.describe(1), "value 1")

    def test_total(self):
        self.assertEqual(calc.total([1, 2]), 3)
"""
ADDS = "\n    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"
PYTHON = {"calc.py": CALC, "test_calc.py": TEST}
FIX = ("return a - b - b", "return a + b")  # of another size: files of one size are swapped a second apart

LIB = """#include "lib.h"

int add(int a, int b)
{
    return a - b - b;
}

int limit(void)
{
    return LIMIT;
}

int spare(int a)
{
    return a;
}
"""
C_TEST = """#include <stdio.h>
#include "lib.h"

int main(void)
{
    int failed = limit() != WANTED_LIMIT;
    failed += add(2, 3) != WANTED_SUM;
    printf("%d passed, %d failed\\n", 2 - failed, failed);
    return failed != 0;
}
"""
C_MAKEFILE = "test: test_lib\n\t./test_lib\n\ntest_lib: test_lib.o lib.o\n\ntest_lib.o lib.o: lib.h\n"
C = {
    "lib.c": LIB,
    "lib.h": "#define LIMIT 10\nint add(int a, int b);\nint limit(void);\nint spare(int a);\n",
    "test_lib.c": C_TEST.replace("WANTED_LIMIT", "10").replace("WANTED_SUM", "-4"),
    "Makefile": C_MAKEFILE,
    ".gitignore": "*.o\ntest_lib\n",
}
MAKE = ("make", "-s", "test")


@dataclass(frozen=True)
class Change:
    """Files before and after (None: gone), and what is known of each hunk by its place."""

    name: str
    known: Mapping[str, str]
    after: Mapping[str, str | None]
    before: Mapping[str, str] = field(default_factory=lambda: PYTHON)
    gate: tuple[str, ...] = UNITTEST
    programs: tuple[str, ...] = ()  # that become executable


def calc(*replaced: tuple[str, str], more: str = "") -> str:
    return _replaced(CALC, replaced) + more


def lib(*replaced: tuple[str, str], more: str = "") -> str:
    return _replaced(LIB, replaced) + more


def _replaced(text: str, replaced: tuple[tuple[str, str], ...]) -> str:
    for old, new in replaced:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def c_tests(total: int = 5, limit: int = 10) -> str:
    return C_TEST.replace("WANTED_LIMIT", str(limit)).replace("WANTED_SUM", str(total))


DESCRIBES = ('return "value " + str(a)', 'return "value " + shown(a)')
SHOWN = "\n\ndef shown(a):\n    return str(a)\n"
PARTS = "def shown(a):\n    return str(a)\n\n\n"
CHANGES = [
    Change("a fix with its test", {"calc.py:7": HELD}, {"calc.py": calc(FIX), "test_calc.py": TEST + ADDS}),
    Change(
        "a line beside it that no test asks for",
        {"calc.py:7": HELD, "calc.py:22": NOT_HELD},
        {"calc.py": calc(FIX, ("return sum(values)", "return sum(list(values))")), "test_calc.py": TEST + ADDS},
    ),
    Change(
        "two lines for one test",
        {"calc.py:7": HELD, "calc.py:3": HELD},
        {
            "calc.py": calc(("LIMIT = 10", "LIMIT = 200"), ("return a - b - b", "return min(a + b, LIMIT)")),
            "test_calc.py": TEST + ADDS + "        self.assertEqual(calc.add(12, 3), 15)\n",
        },
    ),
    Change(
        "a comment",
        {"calc.py:7": HELD, "calc.py:12": NOT_LOOKED_AT},
        {
            "calc.py": calc(FIX, ("        raise ValueError", "        # never\n        raise ValueError")),
            "test_calc.py": TEST + ADDS,
        },
    ),
    Change(
        "blank lines",
        {"calc.py:7": HELD, "calc.py:13": NOT_LOOKED_AT},
        {"calc.py": calc(FIX, ("    return a * factor", "\n    return a * factor")), "test_calc.py": TEST + ADDS},
    ),
    Change(
        "a docstring",
        {"calc.py:7": HELD, "calc.py:17": NOT_LOOKED_AT},
        {
            "calc.py": calc(FIX, ('    return "value', '    """In words."""\n    return "value')),
            "test_calc.py": TEST + ADDS,
        },
    ),
    Change(
        "a comment at the end of a line of code",
        {"calc.py:7": HELD, "calc.py:3": NOT_LOOKED_AT},
        {"calc.py": calc(FIX, ("LIMIT = 10", "LIMIT = 10  # at most")), "test_calc.py": TEST + ADDS},
    ),
    Change(
        "no test asks for any of it",
        {"calc.py:7": NOT_HELD, "calc.py:3": NOT_HELD},
        {"calc.py": calc(FIX, ("LIMIT = 10", "LIMIT = 110"))},
    ),
    Change(
        "half a change, and no test needs the whole",
        {"calc.py:6-7": NOT_HELD, "calc.py:21": NOT_HELD},
        {"calc.py": calc(("def add", PARTS + "def add"), DESCRIBES)},
    ),
    Change(
        "half a change beside one that a test holds",
        {"calc.py:7": HELD, "calc.py:17": NOT_HELD, "calc.py:25-26": BUILD},
        {"calc.py": calc(FIX, DESCRIBES, more=SHOWN), "test_calc.py": TEST + ADDS},
    ),
    Change(
        "a new function that its test imports",
        {"calc.py:25-26": BUILD},
        {
            "calc.py": calc(more="\n\ndef double(a):\n    return 2 * a\n"),
            "test_calc.py": TEST.replace("import calc\n", "import calc\nfrom calc import double\n")
            + "\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n",
        },
    ),
    Change(
        "a new function that its test calls",
        {"calc.py:25-26": HELD},
        {
            "calc.py": calc(more="\n\ndef double(a):\n    return 2 * a\n"),
            "test_calc.py": TEST + "\n    def test_double(self):\n        self.assertEqual(calc.double(2), 4)\n",
        },
    ),
    Change(
        "a new file that its test imports",
        {"half.py:1-2": BUILD},
        {
            "half.py": "def half(a):\n    return a / 2\n",
            "test_half.py": "import unittest\n\nfrom half import half\n\n\nclass Half(unittest.TestCase):\n"
            "    def test_half(self):\n        self.assertEqual(half(4), 2)\n",
        },
    ),
    Change(
        "a new file that a test loads when it runs",
        {"half.py:1-2": HELD},
        {
            "half.py": "def half(a):\n    return a / 2\n",
            "test_calc.py": TEST + "\n    def test_half(self):\n        import half\n\n"
            "        self.assertEqual(half.half(4), 2)\n",
        },
    ),
    Change(
        "a file that has to go",
        {"old.py:1 (removed)": HELD},
        {
            "old.py": None,
            "test_calc.py": TEST + '\n    def test_old(self):\n        self.assertFalse(os.path.exists("old.py"))\n',
        },
        {**PYTHON, "old.py": "x = 1\n"},
    ),
    Change(
        "a removed line that no test misses",
        {"calc.py:7": HELD, "calc.py:21 (removed)": NOT_HELD},
        {"calc.py": calc(FIX, ('    print("total")\n', "")), "test_calc.py": TEST + ADDS},
    ),
    Change(
        "a removed check",
        {"calc.py:11 (removed)": HELD},
        {
            "calc.py": calc(("    if factor < 0:\n        raise ValueError(factor)\n", "")),
            "test_calc.py": TEST + "\n    def test_negative(self):\n        self.assertEqual(calc.scale(2, -1), -2)\n",
        },
    ),
    Change(
        "an import and where it is used",
        {"calc.py:3": HELD, "calc.py:9": HELD},
        {
            "calc.py": calc(
                ("LIMIT = 10", "import math\n\nLIMIT = 10"), ("return a - b - b", "return math.fsum([a, b])")
            ),
            "test_calc.py": TEST + ADDS,
        },
    ),
    Change(
        "two lines that only stand together",
        {"names.py:1": BUILD, "names.py:4": BUILD},
        {
            "names.py": 'NAMES = tuple([\n    "a",\n    "b",\n])\n',
            "test_names.py": "import unittest\n\nimport names\n\n\nclass Names(unittest.TestCase):\n"
            "    def test_names(self):\n        self.assertIsInstance(names.NAMES, tuple)\n",
        },
        {**PYTHON, "names.py": 'NAMES = [\n    "a",\n    "b",\n]\n'},
    ),
    Change(
        "types alone",
        {"calc.py:7": HELD, "calc.py:16": NOT_HELD},
        {"calc.py": calc(FIX, ("def describe(a):", "def describe(a: int) -> str:")), "test_calc.py": TEST + ADDS},
    ),
    Change(
        "a file that no test reads",
        {"calc.py:7": HELD, "tool.py:1": NOT_HELD, "tool.py:6": NOT_HELD},
        {
            "calc.py": calc(FIX),
            "test_calc.py": TEST + ADDS,
            "tool.py": "import os\n\nNAME = 1\nSIZE = 2\n\nprint(os.sep)\n",
        },
        {**PYTHON, "tool.py": "import sys\n\nNAME = 1\nSIZE = 2\n\nprint(sys.path)\n"},
    ),
    Change(
        "a file that can be executed now",
        {"tool.py:1": HELD},
        {
            "tool.py": "print(1)\n",
            "test_calc.py": TEST
            + '\n    def test_tool(self):\n        self.assertTrue(os.access("tool.py", os.X_OK))\n',
        },
        {**PYTHON, "tool.py": "print(1)\n"},
        programs=("tool.py",),
    ),
    Change("tests alone", {}, {"test_calc.py": TEST.replace("2, 3), 6", "2, 4), 8")}),
    Change("data and documents", {}, {"table.json": "[1]\n", "README.md": "Sums.\n"}),
    Change(
        "as many letters as before, in the same second",
        {"calc.py:7": HELD, "calc.py:13": NOT_HELD},
        {
            "calc.py": calc(("return a - b - b", "return a + b + 0"), ("return a * factor", "return factor * a")),
            "test_calc.py": TEST + ADDS,
        },
        gate=("sh", "-c", "unset PYTHONDONTWRITEBYTECODE; exec python3 -m unittest -q"),
    ),
    Change("C: a fix with its test", {"lib.c:5": HELD}, {"lib.c": lib(FIX), "test_lib.c": c_tests()}, C, MAKE),
    Change(
        "C: a line that no test asks for",
        {"lib.c:5": HELD, "lib.c:15": NOT_HELD},
        {"lib.c": lib(FIX, ("return a;", "return -a;")), "test_lib.c": c_tests()},
        C,
        MAKE,
    ),
    Change(
        "C: comments",
        {"lib.c:5": HELD, "lib.c:8-10": NOT_LOOKED_AT, "lib.c:16": NOT_LOOKED_AT},
        {
            "lib.c": lib(
                FIX, ("int limit", "/* At most.\n * Never more.\n */\nint limit"), ("int spare", "// Spare.\nint spare")
            ),
            "test_lib.c": c_tests(),
        },
        C,
        MAKE,
    ),
    Change(
        "C: a new function that its test needs to be linked",
        {"lib.c:18-21": BUILD},
        {
            "lib.c": lib(more="\nint twice(int a)\n{\n    return 2 * a;\n}\n"),
            "test_lib.c": c_tests(total=-4)
            .replace("int main", "int twice(int a);\n\nint main")
            .replace("    printf", "    failed += twice(2) != 4;\n    printf"),
        },
        C,
        MAKE,
    ),
    Change(
        "C: a number in a header",
        {"lib.h:1": HELD},
        {"lib.h": C["lib.h"].replace("10", "200"), "test_lib.c": c_tests(total=-4, limit=200)},
        C,
        MAKE,
    ),
    Change(
        "C: no test asks for any of it", {"lib.c:15": NOT_HELD}, {"lib.c": lib(("return a;", "return -a;"))}, C, MAKE
    ),
]


def made(change: Change, directory: Path) -> Path:
    """The project with the change in it, and what it was before in a commit."""
    root = directory / "a b"
    root.mkdir(parents=True)
    for name, text in change.before.items():
        (root / name).write_text(text, encoding="utf-8")
    subprocess.run(["sh", "-c", COMMIT], cwd=root, check=True, capture_output=True)
    for name, changed in change.after.items():
        if changed is None:
            (root / name).unlink()
        else:
            (root / name).write_text(changed, encoding="utf-8")
    for name in change.programs:
        (root / name).chmod(0o755)
    return root


def looked_at(root: Path, gate: tuple[str, ...], options: Options = TEN_MINUTES) -> UncheckedLines:
    return unchecked_lines.find(subject_of(root), Plain(list(gate)), options)


def subject_of(root: Path) -> Subject:
    began = base.of_commit(str(root), "HEAD")
    state = str(root / ".sisyphus" / "cc-omo")
    return Subject(str(root), state, began, base.look(str(root), began), child_environment(os.environ), time.time())


def answers(found: UncheckedLines) -> dict[str, str]:
    return {answer.hunk.place: answer.word for answer in found.answers}


def missing(change: Change) -> list[str]:
    programs = ("make", "cc") if change.gate == MAKE else ()
    return [program for program in programs if shutil.which(program) is None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="changes with this in their name")
    chosen = [change for change in CHANGES if parser.parse_args().only in change.name]
    print(f"{'change':54} {'hunks':>5} {'runs':>5} {'gate s':>7} {'around ms':>10} {'a minute':>9}  answers")
    wrong = 0
    for change in chosen:
        if lacking := missing(change):
            print(f"{change.name:54} left out: no {', '.join(lacking)}")
            continue
        spent = Spent()
        with tempfile.TemporaryDirectory() as directory, measuring(spent):
            found = looked_at(made(change, Path(directory)), change.gate)
        is_right = answers(found) == dict(change.known)
        wrong += not is_right
        around = 1000 * (found.seconds - found.in_runs - spent.waiting) / max(1, found.runs)
        coded = [answer for answer in found.answers if answer.word != NOT_LOOKED_AT]
        rate = 60 * len(coded) / max(0.01, found.seconds)
        said = "as known" if is_right else f"{answers(found)}, known {dict(change.known)}"
        row = f"{change.name:54} {len(found.answers):5} {found.runs:5} {found.in_runs:7.2f}"
        print(f"{row} {around:10.0f} {rate:9.0f}  {said}", flush=True)
    print(f"{len(chosen)} changes, {wrong} with an answer that is not the known one")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
