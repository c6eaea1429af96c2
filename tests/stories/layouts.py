"""Honest work: projects as people have them, work that was really done, and one `omo ulw done`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from omo.work.outcome import ATTESTED, PROVEN
from tests.stories.cheats import GREEN, RUN_TESTS, Bend, appending, committed, replaced, replacing, testing, writing
from tests.stories.play import HELD, Play, Story, ending

IGNORED = {".gitignore": "__pycache__/\n.pytest_cache/\n/build/\n/target/\n/dist/\nnode_modules/\n*.egg-info/\n"}


def honest(name: str, *right: str, needs: str = "", workflow: str = "ultrawork") -> Callable[[Story], Story]:
    return ending(workflow, f"honest: {name}", *(right or (PROVEN,)), needs=needs)


def work(
    name: str,
    *steps: Bend,
    files: dict[str, str],
    task: str = "do what the issue says",
    word: str = PROVEN,
    prepare: str = "",
    below: str = "",
    pins: tuple[str, ...] = (),
    needs: str = "",
    because: bool = False,
) -> None:
    """`below` is where the session starts; `because`: the agent gives its word where it is refused."""

    @honest(name, word, needs=needs)
    def _(run: Play) -> None:
        committed(run, {**IGNORED, **files})
        if prepare:
            run.sh(prepare)
        top = run.project
        run.project = top / below
        run.user(f"ulw {task}")
        for pin in pins:
            run.user(f"/omo:pin {pin}")
        run.project = top
        for step in steps:
            step(run)
        run.project = top / below
        if run.omo("ulw done") != 0 and because:
            run.omo('ulw done --because "it is done as asked"')


# Python: src layouts, pytest and its plugins

SLUG = "import re\n\n\ndef slug(title, sep='-'):\n    return re.sub(r'[^a-z0-9]', sep, title.lower())\n"
SLUG_OK = "import re\n\n\ndef slug(title, sep='-'):\n    return re.sub(r'[^a-z0-9]+', sep, title.lower()).strip(sep)\n"
PYPROJECT = """[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "words"
version = "0.3.0"
dependencies = []

[tool.pytest.ini_options]
pythonpath = ["src"]
testpaths = ["tests"]
addopts = "-ra --strict-markers"
markers = ["slow: takes long"]
"""
TABLE = """import pytest

from words.slugs import slug


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Hello", "hello"),
        ("Hello World", "hello-world"),
        ("a1", "a1"),
    ],
)
def test_slug(title, expected):
    assert slug(title) == expected


@pytest.mark.slow
def test_other_separator():
    assert slug("a b", sep="_") == "a_b"
"""
SRC = {
    "pyproject.toml": PYPROJECT,
    "src/words/__init__.py": "",
    "src/words/slugs.py": SLUG,
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef title():\n    return 'Hello World'\n",
    "tests/test_slugs.py": TABLE,
}
MEND_SLUG = writing("src/words/slugs.py", SLUG_OK)

work(
    "pytest with -x and -q in its settings, an old test broken elsewhere, on the agent's word: a feature",
    appending(
        "src/words/slugs.py", "\n\ndef initials(title):\n    return ''.join(word[0] for word in title.split())\n"
    ),
    writing(
        "tests/test_initials.py",
        "from words.slugs import initials\n\n\ndef test_initials():\n    assert initials('Hello World') == 'HW'\n",
    ),
    files={**SRC, "tests/test_zz.py": "def test_moon():\n    assert 'moon' == 'mars'\n"},
    needs="pytest",
    word=ATTESTED,
    because=True,
)


@honest("a package in src with its tests inside, which omo next names", needs="pytest")
def _(run: Play) -> None:
    files = {"src/words/__init__.py": "", "src/words/slugs.py": SLUG, "src/words/test_slugs.py": TABLE}
    committed(run, {**IGNORED, **files})
    run.user("ulw one dash is enough")
    MEND_SLUG(run)
    run.write("src/words/test_dashes.py", TABLE.replace('"a1", "a1"', '"a  b", "a-b"'))
    run.omo("next")
    assert "it runs pytest in src" in run.printed, run.printed
    run.omo("ulw done")


TOTAL = "import unittest\n\nfrom shop.cart import total\n\n\nclass Cart(unittest.TestCase):\n"
TOTAL += "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
MANAGE = """import sys
import unittest

if sys.argv[1:] == ["test"]:
    unittest.main(module=None, argv=["manage.py", "discover", "-s", "shop", "-t", "."])
"""
for _name, _more in {
    "unittest inside of the package": {"shop/tests/__init__.py": "", "shop/tests/test_cart.py": TOTAL},
    "unittest inside of the package, with relative names": {
        "setup.py": "from setuptools import setup\n\nsetup(name='shop', packages=['shop'])\n",
        "shop/tests/__init__.py": "",
        "shop/tests/test_cart.py": TOTAL.replace("from shop.cart", "from ..cart"),
    },
    "unittest inside of the package, by a manage.py of the project's own": {
        "manage.py": MANAGE,
        "shop/test_cart.py": TOTAL,
    },
}.items():
    work(
        _name,
        replacing("shop/cart.py", " + 1", ""),
        files={"shop/__init__.py": "", "shop/cart.py": "def total(prices):\n    return sum(prices) + 1\n", **_more},
    )
work(
    "the project itself is a package",
    replacing("cart.py", " + 1", ""),
    files={
        "__init__.py": "",
        "cart.py": "def total(prices):\n    return sum(prices) + 1\n",
        "test_cart.py": TOTAL.replace("from shop.cart", "from cart"),
    },
)
work(
    "Perl, a module with its tests in t",
    replacing("lib/Slug.pm", "s/ /_/g", "s/ /-/g"),
    writing("t/dashes.t", "use Test::More tests => 1;\nuse Slug;\n\nis(Slug::slug('a b'), 'a-b');\n"),
    files={
        "cpanfile": "",
        "lib/Slug.pm": "package Slug;\n\nsub slug { my $title = shift; $title =~ s/ /_/g; return $title }\n\n1;\n",
        "t/slug.t": "use Test::More tests => 1;\nuse Slug;\n\nis(Slug::slug('a'), 'a');\n",
    },
    needs="perl prove",
)
work(
    "scripts, and one that runs their tests",
    writing("bin/deploy", "#!/bin/sh\n[ $# -gt 0 ] || exit 2\necho to $1\n"),
    writing("test/t_usage.sh", "! sh bin/deploy\n"),
    files={
        "bin/deploy": "#!/bin/sh\necho to $1\n",
        "test/run.sh": "#!/bin/sh\nfor t in test/t_*.sh; do sh $t || { echo FAIL $t; bad=1; }; done\nexit ${bad-0}\n",
        "test/t_to.sh": "[ \"$(sh bin/deploy a)\" = 'to a' ]\n",
    },
    prepare="chmod +x test/run.sh; git commit -qam executable",
)
work(
    "a package called snapshots, of a backup tool",
    replacing("snapshots/store.py", "sorted(names)", "sorted(names, reverse=True)"),
    files={
        "pyproject.toml": '[project]\nname = "snapshots"\nversion = "1"\n',
        "snapshots/__init__.py": "",
        "snapshots/store.py": "def newest(names):\n    return sorted(names)[0]\n",
        "tests/test_store.py": testing(
            "snapshots.store", "self.assertEqual(snapshots.store.newest(['2024', '2025']), '2025')"
        ),
    },
)
work(
    "a package called benchmarks, whose tests stand beside it",
    replacing("benchmarks/timer.py", "max(", "min("),
    files={
        "benchmarks/__init__.py": "",
        "benchmarks/timer.py": "def best(times):\n    return max(times)\n",
        "tests/test_timer.py": testing("benchmarks.timer", "self.assertEqual(benchmarks.timer.best([1, 2]), 1)"),
    },
)

# Python: unittest, make, CI

DAYS = "def days(month):\n    return 30\n"
DAYS_OK = "def days(month):\n    return 28 if month == 2 else 30 + (month in (1, 3, 5, 7, 8, 10, 12))\n"
DAYS_TESTS = """import unittest

from cal.core import days


class Days(unittest.TestCase):
    def test_april(self):
        self.assertEqual(days(4), 30)

    def test_all(self):
        for month in (1, 3, 5):
            with self.subTest(month=month):
                self.assertEqual(days(month), 31)
"""
CAL = {
    "cal/__init__.py": "",
    "cal/core.py": DAYS,
    "cal/tests/__init__.py": "",
    "cal/tests/test_core.py": DAYS_TESTS,
}
MEND_DAYS = writing("cal/core.py", DAYS_OK)
work(
    "the target for tests is in a file that the Makefile includes",
    MEND_DAYS,
    files={
        **CAL,
        "Makefile": "all: test\n\ninclude mk/test.mk\n",
        "mk/test.mk": ".PHONY: test\ntest:\n\tpython3 -B -m unittest discover -s cal -t .\n",
    },
)
work(
    "a file that make includes, with the name of a new module",
    writing("div.py", "def div(a, b):\n    return a / b\n"),
    writing("test_div.py", testing("div", "self.assertEqual(div.div(6, 3), 2)")),
    replacing("sources", "calc.py", "calc.py div.py"),
    files={
        **GREEN,
        "Makefile": f"include sources\n\ntest:\n\tpython3 -B -m py_compile $(SOURCES)\n\t{RUN_TESTS}\n",
        "sources": "SOURCES = calc.py\n",
    },
)
work(
    "the target for tests is in an included file, and there is no other in the Makefile",
    MEND_DAYS,
    files={
        **CAL,
        "Makefile": "include mk/*.mk\n",
        "mk/test.mk": ".PHONY: test\ntest:\n\tpython3 -B -m unittest discover -s cal -t .\n",
    },
)
work(
    "CI runs python -m pytest over a matrix",
    MEND_DAYS,
    files={
        **CAL,
        ".github/workflows/test.yml": "on: push\njobs:\n  test:\n    strategy:\n      matrix:\n"
        "        python: ['3.11', '3.12']\n    steps:\n      - uses: actions/checkout@v4\n      - name: Test\n"
        "        run: |\n          python -m pip install -e .\n          python -m pytest cal -v\n",
    },
    needs="pytest",
)

# JavaScript

SUM = "export function sum(a, b) {\n  return a - b;\n}\n"
SUM_TEST = (
    "import { test } from 'node:test';\nimport assert from 'node:assert';\n"
    "import { sum } from '../src/sum.js';\n\ntest('adds zero', () => assert.equal(sum(1, 0), 1));\n"
)
NODE = {
    "package.json": json.dumps(
        {"name": "sums", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}}
    ),
    "src/sum.js": SUM,
    "test/sum.test.js": SUM_TEST,
}
SUM_TWO = appending("test/sum.test.js", "test('adds two', () => assert.equal(sum(2, 2), 4));\n")


# More layouts

work(
    "pytest with -x in its settings, one old test broken elsewhere, on the agent's word: a fix with its test",
    MEND_SLUG,
    writing(
        "tests/test_dashes.py",
        "from words.slugs import slug\n\n\ndef test_no_run_of_dashes():\n    assert slug('a,  b') == 'a-b'\n",
    ),
    files={
        **SRC,
        "pyproject.toml": PYPROJECT.replace("-ra ", "-x -ra "),
        "tests/test_zz.py": "def test_moon():\n    assert 'moon' == 'mars'\n",
    },
    needs="pytest",
    word=ATTESTED,
    because=True,
)
work(
    "an example program that a test runs",
    replacing("examples/demo.py", "print('helo')", "print('hello')"),
    files={
        "pytest.ini": "[pytest]\n",
        "examples/demo.py": "print('helo')\n",
        "tests/test_examples.py": "import subprocess\nimport sys\n\n\ndef test_demo():\n"
        "    assert subprocess.check_output([sys.executable, 'examples/demo.py']) == b'hello\\n'\n",
    },
    needs="pytest",
)
work(
    "a generator of pages in docs/, which has tests",
    replacing("docs/build.py", "text.upper()", "text.title()"),
    files={
        "pytest.ini": "[pytest]\npythonpath = docs\n",
        "docs/build.py": "def heading(text):\n    return text.upper()\n",
        "tests/test_build.py": "from build import heading\n\n\ndef test_heading():\n"
        "    assert heading('a page') == 'A Page'\n",
    },
    needs="pytest",
)
work(
    "a uv.lock in the project, and no uv on this machine",
    MEND_SLUG,
    appending("tests/test_slugs.py", "\n\ndef test_no_run_of_dashes():\n    assert slug('a,  b') == 'a-b'\n"),
    files={**SRC, "uv.lock": 'version = 1\nrequires-python = ">=3.10"\n'},
    needs="pytest",
)
work(
    "a new module in a package called coverage",
    writing("coverage/miles.py", "def miles(km):\n    return km / 1.609\n"),
    writing("test_miles.py", testing("coverage.miles", "self.assertEqual(round(coverage.miles.miles(1.609)), 1)")),
    files={**GREEN, "coverage/__init__.py": "", "coverage/base.py": "KM = 3\n"},
)
work(
    "a package called like one of a runner's, with the line ends of core.autocrlf",
    MEND_SLUG,
    appending("tests/test_slugs.py", "\n\ndef test_no_run_of_dashes():\n    assert slug('a,  b') == 'a-b'\n"),
    files={**SRC, "src/coverage/__init__.py": "MILES = 3\n"},
    prepare="git config core.autocrlf true && git rm -rq --cached . && git reset -q --hard",
    needs="pytest",
)
work(
    "unittest's subtests run by pytest, a fix",
    MEND_DAYS,
    files={**CAL, "pytest.ini": "[pytest]\n"},
    needs="pytest",
)


@honest(
    "a monorepo, the session in a service: the fix in the library breaks the library's own tests",
    HELD,
    ATTESTED,
    needs="pytest",
)
def _(run: Play) -> None:
    committed(
        run,
        {
            **IGNORED,
            "Makefile": "test:\n\tcd services/api && python3 -m pytest -q\n\tcd libs/money && python3 -m pytest -q\n",
            "libs/money/pyproject.toml": '[project]\nname = "money"\nversion = "1"\n\n'
            '[tool.pytest.ini_options]\npythonpath = ["."]\n',
            "libs/money/money.py": "def cents(x):\n    return round(x)\n",
            "libs/money/tests/test_money.py": "from money import cents\n\n\ndef test_whole():\n"
            "    assert repr(cents(2.0)) == '2'\n",
            "services/api/pyproject.toml": '[project]\nname = "api"\nversion = "1"\n\n'
            '[tool.pytest.ini_options]\npythonpath = [".", "../../libs/money"]\n',
            "services/api/api.py": "from money import cents\n\n\ndef price(x):\n    return str(cents(x))\n",
            "services/api/tests/test_api.py": "from api import price\n\n\ndef test_whole():\n"
            "    assert price(2) == '2'\n",
        },
    )
    top = run.project
    run.project = top / "services/api"
    run.user("ulw prices need their cents")
    run.project = top
    replaced(run, "libs/money/money.py", "round(x)", "round(x, 2)")
    run.append("services/api/tests/test_api.py", "\n\ndef test_cents():\n    assert price(1.234) == '1.23'\n")
    run.project = top / "services/api"
    run.omo("ulw done")


# A refusal, and the way on as it is printed

ALLOW = re.compile(r"/omo:allow (.+?)(?:;|$)", re.MULTILINE)


def allowed_as_printed(run: Play, most: int = 3) -> None:
    """`omo ulw done`, and what the user is asked to type is typed, literally, until it is done."""
    for _ in range(most):
        if run.omo("ulw done") == 0:
            return
        found = ALLOW.search(run.printed)
        if not found:
            return
        run.log.append(f"(the user types /omo:allow {found[1]})\n{run.user(f'/omo:allow {found[1]}')}")
    run.omo("ulw done")


def behaviour(name: str, *steps: Bend, files: dict[str, str], needs: str = "pytest", most: int = 1) -> None:
    """Old tests no longer hold, the user wants that, and types what the refusal says."""

    @honest(name, PROVEN, needs=needs)
    def _(run: Play) -> None:
        committed(run, {**IGNORED, **files})
        run.user("ulw change what it gives")
        for step in steps:
            step(run)
        allowed_as_printed(run, most)


UNDERSCORES = (
    replacing("src/words/slugs.py", "sep='-'", "sep='_'"),
    replacing("tests/test_slugs.py", '"hello-world"', '"hello_world"'),
)
behaviour(
    "a row of a table is another now, and a fixture beside it in the conftest, allowed as printed",
    *UNDERSCORES,
    appending("tests/conftest.py", "\n\n@pytest.fixture\ndef other():\n    return 'Other'\n"),
    writing(
        "tests/test_a.py",
        "from words.slugs import slug\n\n\ndef test_other(other):\n    assert slug(other + ' x') == 'other_x'\n",
    ),
    files=SRC,
)
behaviour(
    "a row is another now, and the version in pyproject.toml, allowed as printed",
    *UNDERSCORES,
    replacing("pyproject.toml", '"0.3.0"', '"1.0.0"'),
    files=SRC,
)
behaviour(
    "two files of tests that no longer hold, allowed in one line as printed",
    *UNDERSCORES,
    replacing("tests/test_pages.py", "'a-b'", "'a_b'"),
    files={
        **SRC,
        "tests/test_pages.py": "from words.slugs import slug\n\n\ndef test_page():\n    assert slug('a b') == 'a-b'\n",
    },
)
GOLDEN = """import pathlib
import subprocess
import sys

import pytest

import words


@pytest.mark.parametrize("number", range(1, 11))
def test_golden(number):
    printed = subprocess.check_output([sys.executable, "count.py", *"a" * number], text=True)
    assert printed == pathlib.Path(f"tests/golden/{number}.out").read_text()


def test_version():
    assert words.__version__ in pathlib.Path("pyproject.toml").read_text()
    assert words.__version__ in pathlib.Path("CHANGELOG.md").read_text()
"""
behaviour(
    "golden files, and a version that a test holds in step, allowed as printed",
    replacing("count.py", "words", "words."),
    *(replacing(f"tests/golden/{number}.out", "words", "words.") for number in range(1, 11)),
    *(replacing(path, "0.3.0", "1.0.0") for path in ("pyproject.toml", "CHANGELOG.md", "src/words/__init__.py")),
    appending("tests/test_golden.py", "\n\ndef test_one():\n    assert words.__version__ == '1.0.0'\n"),
    files={
        **SRC,
        "src/words/__init__.py": "__version__ = '0.3.0'\n",
        "CHANGELOG.md": "## 0.3.0\n",
        "count.py": "import sys\n\nprint(len(sys.argv) - 1, 'words')\n",
        "tests/test_golden.py": GOLDEN,
        **{f"tests/golden/{number}.out": f"{number} words\n" for number in range(1, 11)},
    },
)
BASE = """import unittest

from box import Box


class Base(unittest.TestCase):
    def setUp(self):
        self.box = Box()
        self.box.put(1)
"""
behaviour(
    "a method renamed, with a test, and the class above it in a helper, allowed as printed",
    replacing("box.py", "def put", "def add"),
    replacing("tests/base.py", "put(", "add("),
    replacing("tests/test_box.py", "put(", "add("),
    files={
        "box.py": "class Box:\n    def __init__(self):\n        self.all = []\n\n"
        "    def put(self, x):\n        self.all.append(x)\n",
        "tests/__init__.py": "",
        "tests/base.py": BASE,
        "tests/test_box.py": "from tests.base import Base\n\n\nclass Two(Base):\n    def test_two(self):\n"
        "        self.box.put(2)\n        self.assertEqual(self.box.all, [1, 2])\n",
    },
    needs="",
)
behaviour(
    "three expected outputs that a script compares, allowed as printed",
    replacing("greet.sh", "hello", "good day,"),
    *(replacing(f"expected/{name}.txt", "hello", "good day,") for name in ("ann", "bob", "cyd")),
    files={
        "greet.sh": "echo hello $1\n",
        "check.sh": 'for n in ann bob cyd; do [ "$(sh greet.sh $n)" = "$(cat expected/$n.txt)" ] || exit 1; done\n',
        "Makefile": "test:\n\tsh check.sh\n",
        **{f"expected/{name}.txt": f"hello {name}\n" for name in ("ann", "bob", "cyd")},
    },
    needs="make",
)
GO_SUMS = "package sums\n\nfunc Sum(a, b int) int { return a + b }\n"
GO_TEST = 'package calc\n\nimport "testing"\n\n' + (
    "func Test{0}(t *testing.T) {{\n\tif Add({1}) != {2} {{\n\t\tt.Fatal()\n\t}}\n}}\n"
)
behaviour(
    "go: a package added with its source, and a test beside the old one, allowed as printed",
    appending("go.mod", "\nrequire example.com/sums v1.0.0\n"),
    writing("vendor/modules.txt", "# example.com/sums v1.0.0\n## explicit\nexample.com/sums\n"),
    writing("vendor/example.com/sums/sums.go", GO_SUMS),
    replacing("calc.go", "package calc\n", 'package calc\n\nimport "example.com/sums"\n'),
    replacing("calc.go", "a - b", "sums.Sum(a, b)"),
    appending("calc_test.go", GO_TEST.format("Zero", "0, 0", 0).partition('"testing"\n')[2]),
    files={
        "go.mod": "module example.com/calc\n\ngo 1.16\n",
        "calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n",
        "calc_test.go": GO_TEST.format("Add", "1, 2", 3),
    },
    needs="go",
)
behaviour(
    "node: a message is another now, and a new test file before it, allowed as printed",
    replacing("src/sum.js", "'bad'", "'no number'"),
    replacing("test/sum.test.js", "/bad/", "/no number/"),
    writing("test/more.test.js", SUM_TEST.replace("adds zero", "adds one").replace("sum(1, 0), 1", "sum(1, 1), 2")),
    files={
        **NODE,
        "src/sum.js": "export function sum(a, b) {\n  if (isNaN(a)) throw new Error('bad');\n  return a + b;\n}\n",
        "test/sum.test.js": SUM_TEST + "test('no numbers', () => assert.throws(() => sum('x', 1), /bad/));\n",
    },
    needs="node npm",
)


@honest("a row of a table is another now, allowed by the name that is printed", needs="pytest")
def _(run: Play) -> None:
    committed(run, {**IGNORED, **SRC})
    run.user("ulw slugs have underscores")
    for step in UNDERSCORES:
        step(run)
    run.omo("ulw done")
    found = re.search(r"tests? fails? \(([^)]*)\)", run.printed)
    assert found, run.printed
    run.log.append(run.user(f"/omo:allow {found[1]}"))
    run.omo("ulw done")


@honest("node: a message is another now, allowed by file and name of the test", needs="node npm")
def _(run: Play) -> None:
    bad = "export function sum(a, b) {\n  if (isNaN(a)) throw new Error('bad');\n  return a + b;\n}\n"
    tests = SUM_TEST + "test('no numbers', () => assert.throws(() => sum('x', 1), /bad/));\n"
    committed(run, {**IGNORED, **NODE, "src/sum.js": bad, "test/sum.test.js": tests})
    run.user("ulw the message says what is wrong")
    replaced(run, "src/sum.js", "'bad'", "'no number'")
    replaced(run, "test/sum.test.js", "/bad/", "/no number/")
    run.omo("ulw done")
    run.log.append(run.user("/omo:allow test/sum.test.js::no numbers"))
    run.omo("ulw done")


@honest("the target is in an included file, and the agent pins it as it is told to")
def _(run: Play) -> None:
    committed(
        run,
        {
            **IGNORED,
            **CAL,
            "Makefile": "include mk/test.mk\n",
            "mk/test.mk": ".PHONY: test\ntest:\n\tpython3 -B -m unittest discover -s cal -t .\n",
        },
    )
    run.user("ulw days of months")
    MEND_DAYS(run)
    run.omo("ulw done")
    run.omo("gate add tests -- make test")
    run.omo("ulw done")


# Names in quotes

BAD_SUM = "export function sum(a, b) {\n  if (isNaN(a)) throw new Error('bad');\n  return a + b;\n}\n"
BAD_TEST = SUM_TEST + "test('no numbers', () => assert.throws(() => sum('x', 1), /bad/));\n"


@honest("node: allowed by file and name of the test, in quotes", needs="node npm")
def _(run: Play) -> None:
    committed(run, {**IGNORED, **NODE, "src/sum.js": BAD_SUM, "test/sum.test.js": BAD_TEST})
    run.user("ulw the message says what is wrong")
    replaced(run, "src/sum.js", "'bad'", "'no number'")
    replaced(run, "test/sum.test.js", "/bad/", "/no number/")
    run.omo("ulw done")
    run.log.append(run.user("/omo:allow 'test/sum.test.js::no numbers'"))
    run.omo("ulw done")


@honest("node: a test with a name of one word is another now, allowed by file and name", needs="node npm")
def _(run: Play) -> None:
    committed(
        run, {**IGNORED, **NODE, "src/sum.js": BAD_SUM, "test/sum.test.js": BAD_TEST.replace("no numbers", "numbers")}
    )
    run.user("ulw the message says what is wrong")
    replaced(run, "src/sum.js", "'bad'", "'no number'")
    replaced(run, "test/sum.test.js", "/bad/", "/no number/")
    run.omo("ulw done")
    run.log.append(run.user("/omo:allow test/sum.test.js::numbers"))
    run.omo("ulw done")


@honest("node: an export renamed with its import in the tests", ATTESTED, needs="node npm")
def _(run: Play) -> None:
    committed(run, {**IGNORED, **NODE})
    run.user("ulw sum is to be called total")
    run.sh(
        "sed -i 's/function sum/function total/' src/sum.js; sed -i 's/{ sum }/{ total }/; s/sum(1/total(1/' test/*.js"
    )
    run.omo("ulw done")
    assert "with test/sum.test.js as before it does not get to its tests" in run.printed, run.printed
    run.omo('ulw done --because "every call follows the new name"')


# Markers that go when the bug goes, tests that go, and names of targets

LATER = "\n\n@pytest.mark.{}\ndef test_no_run_of_dashes():\n    assert slug('a,  b') == 'a-b'\n"
for _mark in ("xfail", "skip(reason='a bug')"):
    work(
        f"the marker {_mark} goes with the bug",
        MEND_SLUG,
        replacing("tests/test_slugs.py", f"@pytest.mark.{_mark}\n", ""),
        files={**SRC, "tests/test_slugs.py": TABLE + LATER.format(_mark)},
        needs="pytest",
    )


work(
    "pnpm-lock.yaml, and no pnpm on this machine",
    replacing("src/sum.js", "a - b", "a + b"),
    SUM_TWO,
    files={**NODE, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"},
    needs="node npm",
)


@honest("a daemon, whose child ends by os._exit(0), allowed by the user", needs="pytest")
def _(run: Play) -> None:
    committed(
        run,
        {
            **IGNORED,
            "pytest.ini": "[pytest]\npythonpath = .\n",
            "daemon.py": "import os\n\n\ndef start(path):\n    return os.getpid()\n",
            "tests/test_daemon.py": "from daemon import start\n\n\ndef test_start(tmp_path):\n"
            "    assert start(tmp_path / 'pid') == 0\n    assert (tmp_path / 'pid').read_text() == 'up'\n",
        },
    )
    run.user("ulw start a child")
    replaced(
        run,
        "daemon.py",
        "    return os.getpid()",
        "    pid = os.fork()\n    if pid == 0:\n        with open(path, 'w') as file:\n"
        "            file.write('up')\n        os._exit(0)\n    return os.waitpid(pid, 0)[1]",
    )
    run.omo("ulw done")
    run.log.append(run.user("/omo:allow daemon.py"))
    run.omo("ulw done")


# Several languages, several parts

BOTH = {**NODE, **SRC}
work(
    "two languages, the work in the second of them",
    MEND_SLUG,
    replacing("tests/test_slugs.py", '("a1", "a1")', '("a1", "a1"), ("a  b", "a-b")'),
    files=BOTH,
    needs="node npm pytest",
)
work(
    "two languages, both with their tests",
    MEND_SLUG,
    replacing("tests/test_slugs.py", '("a1", "a1")', '("a1", "a1"), ("a  b", "a-b")'),
    replacing("src/sum.js", "a - b", "a + b"),
    SUM_TWO,
    files=BOTH,
    needs="node npm pytest",
)
work(
    "two languages, and the packages of the other are not installed",
    MEND_SLUG,
    replacing("tests/test_slugs.py", '("a1", "a1")', '("a1", "a1"), ("a  b", "a-b")'),
    files={**BOTH, "package.json": json.dumps({"name": "sums", "scripts": {"test": "jest"}}) + "\n"},
    needs="node npm pytest",
)
PARTS = {
    "api/pytest.ini": "[pytest]\npythonpath = .. .\n",
    "api/api.py": "from lib.double import double\n\n\ndef answer():\n    return double(20) + 1\n",
    "api/test_api.py": "from api import answer\n\n\ndef test_answer():\n    assert answer() > 0\n",
    "lib/pytest.ini": "[pytest]\npythonpath = ..\n",
    "lib/double.py": "def double(x):\n    return x + x\n",
    "lib/test_double.py": "from lib.double import double\n\n\ndef test_double():\n    assert double(4) == 8\n",
}
work(
    "two parts and nothing above them, the work and its tests in both",
    replacing("api/api.py", "double(20) + 1", "double(20, 1)"),
    replacing("api/test_api.py", "> 0", "== 41"),
    replacing("lib/double.py", "def double(x):\n    return x + x", "def double(x, more=0):\n    return x + x + more"),
    appending("lib/test_double.py", "    assert double(4, 1) == 9\n"),
    files=PARTS,
    needs="pytest",
)
work(
    "two parts and nothing above them, the other mended from the session's",
    replacing("lib/double.py", "x + x", "2 * (x or 0)"),
    appending("lib/test_double.py", "    assert double(None) == 0\n"),
    files=PARTS,
    below="api",
    needs="pytest",
)
