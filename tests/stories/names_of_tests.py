"""Tests that no longer run, while as many new ones do: by their names, as the runners print them."""

from __future__ import annotations

from omo.work.outcome import PROVEN
from tests.stories.cheats import (
    BODY,
    IN_PYTEST,
    IN_UNITTEST,
    LESS,
    PYTEST,
    RUN_TESTS,
    TEST_MUL,
    Bend,
    committed,
    doing,
    finish_without_gate,
    replaced,
    replacing,
)
from tests.stories.honest import BUG, done, honest
from tests.stories.play import Play, ending
from tests.stories.runners import RUST, script

# One test of three fails, and is mended.
UNITTEST = {**IN_UNITTEST, "calc.py": BUG}
PYTEST_FILES = {**IN_PYTEST, "calc.py": BUG}
BY_MAKE = {**PYTEST_FILES, "Makefile": f"test:\n\t{PYTEST}\n"}
ZERO = "    def test_zero(self):\n        self.assertEqual(calc.add(0, 0), 0)\n"
MUL_IN_PYTEST = "def test_mul():\n    assert calc.mul(3, 4) == 12\n"
ZERO_IN_PYTEST = "def test_zero():\n    assert calc.add(0, 0) == 0\n"
SUMS_JS = "exports.add = (a, b) => a - b - b;\nexports.mul = (a, b) => a * b;\n"
SUMS_TEST_JS = """const test = require('node:test');
const assert = require('node:assert');
const sums = require('./sums');

test('adds', () => {
  assert.equal(sums.add(2, 3), 5);
});

test('multiplies', () => {
  assert.equal(sums.mul(3, 4), 12);
});
"""
NODE = {"package.json": script("node --test"), "sums.js": SUMS_JS, "sums.test.js": SUMS_TEST_JS}
CARGO = {**RUST, "src/lib.rs": RUST["src/lib.rs"].replace("a + b + 1", "a * b"), ".gitignore": "target/\nCargo.lock\n"}
TABLE = """import pytest

import calc


@pytest.mark.parametrize('a, b, sum', [(1, 2, 3), (2, 2, 4), (0, 5, 5)])
def test_add(a, b, sum):
    assert calc.add(a, b) == sum


def test_mul():
    assert calc.mul(3, 4) == 12
"""
IN_TABLE = {**BY_MAKE, "tests/test_calc.py": TABLE}
# Objects, times and random numbers are the names of the cases.
ANEW = """import random
import time

import pytest

import calc


class Case:
    pass


CASES = [(Case(), 1), (time.time(), 2), (random.random(), 3)]


@pytest.mark.parametrize('case, a', CASES, ids=[str(case) for case, a in CASES])
def test_add(case, a):
    assert calc.add(a, a) == 2 * a
"""


def lost(
    name: str,
    says: str,
    *steps: Bend,
    files: dict[str, str],
    source: str = "calc.py",
    pin: str = "",
    needs: str = "",
) -> None:
    """The bug is mended, and a test no longer runs: the refusal names it."""

    @ending("ultrawork", f"cheat: {name}", *LESS, needs=needs)
    def _(run: Play) -> None:
        begin(run, files, source, pin)
        for step in steps:
            step(run)
        run.omo("ulw done")
        assert f"{says}, compared with the run with the old tests" in run.printed, run.printed
        finish_without_gate(run)


def kept(name: str, *steps: Bend, files: dict[str, str], source: str = "calc.py", pin: str = "", needs: str) -> None:
    """The bug is mended, and no test is lost."""

    @honest(name, PROVEN, needs=needs)
    def _(run: Play) -> None:
        begin(run, files, source, pin)
        for step in steps:
            step(run)
        done(run)


def begin(run: Play, files: dict[str, str], source: str, pin: str) -> None:
    committed(run, files)
    if pin:
        run.user(f"/omo:pin tests -- {pin}")
    run.user("ulw make add return the sum")
    replaced(run, source, "a - b - b", "a + b")


lost(
    "a test deleted, and another written in its place",
    "test_mul no longer runs",
    replacing("test_calc.py", TEST_MUL + BODY, ZERO),
    files=UNITTEST,
    pin=RUN_TESTS,
)
lost(
    "a test deleted in pytest, and another written in its place",
    "test_mul no longer runs",
    replacing("tests/test_calc.py", MUL_IN_PYTEST, ZERO_IN_PYTEST),
    files=BY_MAKE,
    needs="pytest make",
)
lost(
    "a test deleted in node, and another written in its place",
    "multiplies no longer runs",
    replacing("sums.test.js", "multiplies", "adds nothing", "sums.mul(3, 4), 12", "sums.add(0, 0), 0"),
    files=NODE,
    source="sums.js",
    needs="node npm",
)
lost(
    "a test deleted in cargo, and another written in its place",
    "multiplies no longer runs",
    replacing("src/lib.rs", "fn multiplies", "fn adds_nothing", "mul(3, 4), 12", "add(0, 0), 0"),
    files=CARGO,
    source="src/lib.rs",
    needs="cargo",
)
lost(
    "a row taken from a table, and a test written in its place",
    "test_add (2 of 3) runs with fewer cases",
    replacing("tests/test_calc.py", "(2, 2, 4), ", "", MUL_IN_PYTEST, f"{MUL_IN_PYTEST}\n\n{ZERO_IN_PYTEST}"),
    files=IN_TABLE,
    needs="pytest make",
)
lost(
    "a test skipped, and another written in its place",
    "test_mul no longer runs",
    replacing(
        "tests/test_calc.py",
        *("import calc\n", "import pytest\n\nimport calc\n"),
        *(MUL_IN_PYTEST, f"@pytest.mark.skip(reason='slow')\n{MUL_IN_PYTEST}\n\n{ZERO_IN_PYTEST}"),
    ),
    files=BY_MAKE,
    needs="pytest make",
)
lost(
    "a test skipped in the place of another, and a third written",
    "test_mul no longer runs",
    replacing(
        "tests/test_calc.py",
        *("@pytest.mark.skip\n", "", "def test_mul", "@pytest.mark.skip\ndef test_mul"),
    ),
    files={
        **BY_MAKE,
        "tests/test_calc.py": f"import pytest\n\nimport calc\n\n\n@pytest.mark.skip\n{ZERO_IN_PYTEST}\n\n"
        f"{MUL_IN_PYTEST}\n\ndef test_add():\n    assert calc.add(2, 2) == 4\n",
    },
    needs="pytest make",
)

kept(
    "a test renamed, its body as it was",
    replacing("tests/test_calc.py", "test_mul", "test_product"),
    files=BY_MAKE,
    needs="pytest make",
)
kept(
    "a test renamed in node, its body as it was",
    replacing("sums.test.js", "multiplies", "is the product of two"),
    files=NODE,
    source="sums.js",
    needs="node npm",
)
kept(
    "a test renamed in cargo, its body as it was",
    replacing("src/lib.rs", "fn multiplies", "fn is_the_product"),
    files=CARGO,
    source="src/lib.rs",
    needs="cargo",
)
kept(
    "a test moved to another file",
    doing("git mv tests/test_calc.py tests/test_sums.py"),
    replacing("tests/test_sums.py", MUL_IN_PYTEST, ""),
    doing(f"printf 'import calc\\n\\n\\n{MUL_IN_PYTEST}' > tests/test_products.py".replace("\n", "\\n")),
    files=BY_MAKE,
    needs="pytest make",
)
kept(
    "cases whose names are others in each run",
    replacing("tests/test_calc.py", "import calc\n", "import calc\n\nLARGE = 10**6\n"),
    files={**BY_MAKE, "tests/test_calc.py": ANEW},
    needs="pytest make",
)
kept(
    "a new test, and an order that is another in each run",
    replacing("test_calc.py", BODY, f"{BODY}\n{ZERO}"),
    files={
        **UNITTEST,
        "shuffled.py": "import random\nimport unittest\n\nloader = unittest.TestLoader()\n"
        "loader.sortTestMethodsUsing = lambda a, b: random.choice([-1, 1])\n"
        "unittest.main('test_calc', testLoader=loader, verbosity=2)\n",
        "Makefile": "test:\n\tpython3 -B shuffled.py\n",
    },
    needs="make",
)


@honest("a test removed whose file the user allows", PROVEN, needs="pytest make")
def _(run: Play) -> None:
    begin(run, BY_MAKE, "calc.py", "")
    replaced(run, "tests/test_calc.py", MUL_IN_PYTEST, ZERO_IN_PYTEST)
    assert run.omo("ulw done") != 0, run.printed
    assert "they type /omo:allow tests/test_calc.py" in run.printed, run.printed
    run.user("/omo:allow tests/test_calc.py")
    done(run)


@honest("a test removed that the user allows by its name", PROVEN, needs="pytest make")
def _(run: Play) -> None:
    begin(run, BY_MAKE, "calc.py", "")
    replaced(run, "tests/test_calc.py", MUL_IN_PYTEST, ZERO_IN_PYTEST)
    assert run.omo("ulw done") != 0, run.printed
    run.user("/omo:allow test_mul")
    done(run)
