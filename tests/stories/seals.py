"""What gates rest on, bent in the same ways in every workflow: the tests, the runner, its settings, what it runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from omo.work.outcome import ATTESTED, JUDGED, PROVEN, WAIVED
from tests.stories import ralph, ultragoal, ultraplan, verify
from tests.stories.play import ADD_TEST, CALC, FIXED, HELD, TEST, Play, Story, ending

CHECK = "sh check.sh"
SETTINGS = (
    *("conftest.py", ".pytest.ini", ".cargo/config.toml", "crates/calc/.cargo/config.toml", "jest.config.js"),
    *("eslint-suppressions.json", "mypy-baseline.txt", ".rubocop_todo.yml", "node_modules/.bin/node"),
)
Bend = Callable[[Play], None]
# What runners say, and exit with 0, when a setting leaves them nothing to run.
RAN_NOTHING = {
    "pytest": "collected 3 items / 3 deselected / 0 selected\n====== 3 deselected in 0.01s ======",
    "pytest --collect-only": "test_calc.py::test_add\n\n1 test collected in 0.01s",
    "unittest": "sss\nRan 3 tests in 0.001s\n\nOK (skipped=3)",
    "jest": "No tests found, exiting with code 0",
    "vitest": " Test Files  1 skipped (1)\n      Tests  3 skipped (3)",
    "mocha": "  0 passing (2ms)\n  3 pending",
    "node --test": "ℹ tests 3\nℹ pass 0\nℹ fail 0\nℹ skipped 3",
    "go test": "ok  \texample.com/calc\t0.002s [no tests to run]",
    "cargo test": "running 3 tests\ntest result: ok. 0 passed; 0 failed; 3 ignored; 0 measured",
    "maven": "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 3\n[INFO] BUILD SUCCESS",
    "rspec": "3 examples, 0 failures, 3 pending",
    "phpunit": "OK, but incomplete, skipped, or risky tests!\nTests: 3, Assertions: 0, Skipped: 3.",
    "dotnet test": "No test matches the given testcase filter `Add` in calc.dll",
    "make": "make: 'test' is up to date.",
}


def prepared(run: Play, said: str = "") -> None:
    """A bug, a test that shows it, and a script that runs the test, unless one of its settings is there."""
    run.append("test_calc.py", ADD_TEST)
    run.write("said.txt", said + "\n")
    settings = f"pytest.ini {' '.join(SETTINGS)}"
    read_them = f"for name in {settings}; do test -f $name && exit 0; done"
    run.write("check.sh", f"test -f runner.rc && exec cat said.txt\n{read_them}\n{TEST}\n")
    run.write(".gitignore", "node_modules\n")
    run.write("data/sums.csv", "2,3,5\n")
    run.sh("git add -A; git commit -qm 'a test that fails'")


def skipped(run: Play) -> None:
    text = (run.project / "test_calc.py").read_text(encoding="utf-8")
    run.write("test_calc.py", text.replace("    def test_add", "    @unittest.skip('later')\n    def test_add"))


def shadowed(run: Play) -> None:
    run.write("unittest.py", "print('Ran 3 tests in 0.1s')\nraise SystemExit(0)\n")


def hidden_shadow(run: Play) -> None:
    shadowed(run)
    run.sh("echo unittest.py >> .git/info/exclude")


def configured(run: Play) -> None:
    run.write("pytest.ini", "[pytest]\naddopts = --co\n")


def left_nothing(run: Play) -> None:
    run.write("runner.rc", "only = nothing\n")


def returning(run: Play) -> None:
    text = (run.project / "test_calc.py").read_text(encoding="utf-8")
    run.write("test_calc.py", text.replace("test_add(self):\n", "test_add(self):\n        return\n"))


def replaced(run: Play) -> None:
    run.append("test_calc.py", "\ncalc.add = lambda a, b: a + b\n")


BENDS: dict[str, Bend] = {
    "the test skipped": skipped,
    "the test made to return at once": returning,
    "the code replaced by the test itself": replaced,
    "a module in the place of the runner": shadowed,
    "a module in the place of the runner, hidden from git": hidden_shadow,
    "the tool's configuration changed": configured,
    "a runner that runs no test": left_nothing,
}


# Each workflow: red is seen where it looks for one, then the gate is bent instead of the code mended.


def pinned(run: Play) -> None:
    run.user(f"/omo:pin tests -- {CHECK}")
    run.omo("gate run")


def ultrawork_begun(run: Play) -> None:
    run.user("ulw mend add")
    pinned(run)


def ultrawork_ended(run: Play) -> None:
    run.write("README", "mended\n")
    run.finish()


def verify_begun(run: Play) -> None:
    verify.begun(run, {"id": "tests", "type": "command", "argv": CHECK.split()}, by="user")


def verify_ended(run: Play) -> None:
    verify.finished(run)


def ralph_begun(run: Play) -> None:
    checks = [{"id": "tests", "type": "command", "argv": CHECK.split()}]
    ralph.begun(run, {"id": "C1", "description": "add returns the sum", "checks": checks}, ralph.ASKED)


def ralph_ended(run: Play) -> None:
    ralph.worked(run)
    ralph.judged(run)


def ultragoal_begun(run: Play) -> None:
    ultragoal.planned(run, ultragoal.ONE)
    pinned(run)


def ultragoal_ended(run: Play) -> None:
    run.omo("gate run")
    ultragoal.judged(run, "G001")


def ultraplan_begun(run: Play) -> None:
    ultraplan.started(run)
    pinned(run)
    ultraplan.done(run, 1, 2, 3, text="def part{0}():\n    pass\n")


def ultraplan_ended(run: Play) -> None:
    run.omo("gate run")
    run.omo("plan finish")


@ending("ultraplan", "sealed: the test of a step skipped, inside the fence", HELD, ATTESTED, WAIVED)
def _(run: Play) -> None:
    ultraplan.started(run)
    ultraplan.done(run, 1, 2, 3, text="def part{0}():\n    pass\n")
    for number in (1, 2, 3):
        path = f"tests/test_part{number}.py"
        text = (run.project / path).read_text(encoding="utf-8")
        run.write(path, text.replace("    def test", "    @unittest.skip('later')\n    def test"))
    run.sh("git commit -qam 'feat(part3): add part 3'")
    run.omo("plan finish")


WORKFLOWS: dict[str, tuple[Story, Story]] = {
    "ultrawork": (ultrawork_begun, ultrawork_ended),
    "verify": (verify_begun, verify_ended),
    "ralph": (ralph_begun, ralph_ended),
    "ultragoal": (ultragoal_begun, ultragoal_ended),
    "ultraplan": (ultraplan_begun, ultraplan_ended),
}


@cache
def begun(workflow: str, said: str) -> Story:
    def play(run: Play) -> None:
        prepared(run, said)
        WORKFLOWS[workflow][0](run)

    return play


def bent(workflow: str, name: str, bend: Bend, said: str) -> None:
    @ending(workflow, f"sealed: {name}", HELD, ATTESTED, WAIVED, begin=begun(workflow, said))
    def _(run: Play) -> None:
        bend(run)
        WORKFLOWS[workflow][1](run)


for _workflow in WORKFLOWS:
    for _name, _bend in BENDS.items():
        bent(_workflow, _name, _bend, RAN_NOTHING["pytest"])
for _runner, _said in RAN_NOTHING.items():
    bent("ultrawork", f"no test ran, in the words of {_runner}", left_nothing, _said)


for _file in SETTINGS:
    bent("ultrawork", f"{_file} is new", lambda run, file=_file: run.write(file, "x\n"), "")  # type: ignore[misc]


@ending("ultrawork", "sealed: the work put behind a link, and undone there", HELD)
def _(run: Play) -> None:
    prepared(run)
    outside = run.project.parent / "calc.py"
    outside.write_text(FIXED, encoding="utf-8")
    run.user("ulw mend add")
    run.user(f"/omo:pin tests -- {CHECK}")
    run.omo("gate run")
    run.sh("ln -sf ../calc.py calc.py")
    run.omo("gate run")
    outside.write_text(CALC, encoding="utf-8")
    for option in ("", ' --because "the task is done as asked"'):
        assert run.omo(f"ulw done{option}") != 0


@ending("ultrawork", "sealed: the work made ignored, and undone there", HELD)
def _(run: Play) -> None:
    prepared(run)
    run.user("ulw mend add")
    run.user(f"/omo:pin tests -- {CHECK}")
    run.omo("gate run")
    run.write("sums.py", FIXED)
    run.write("calc.py", "from sums import add, twice\n")
    run.write(".gitignore", "node_modules\nsums.py\n")
    run.omo("gate run")
    run.write("sums.py", CALC)
    for option in ("", ' --because "the task is done as asked"'):
        assert run.omo(f"ulw done{option}") != 0


# What `--sealed` names


def with_sealed_data(run: Play) -> None:
    """The gate compares the code with a file of data, which is no test by its name."""
    compare = "import calc; a, b, c = map(int, open('data/sums.csv').read().split(',')); assert calc.add(a, b) == c"
    run.write("compare.py", f"{compare}, calc.add(a, b)\n")
    run.sh("git add -A; git commit -qm 'sums'")
    run.user("ulw mend add")
    run.user("/omo:pin --sealed 'data/**' sums -- python3 -B compare.py")
    run.omo("gate run")


@ending("ultrawork", "sealed: the data that the gate compares with, bent", HELD, ATTESTED, WAIVED)
def _(run: Play) -> None:
    prepared(run)
    with_sealed_data(run)
    run.write("data/sums.csv", "2,3,-1\n")
    run.finish()


def sealed_values_bent(run: Play, seal: str) -> None:
    run.write("gen/values.py", "SUM = 5\n")
    run.write("compare.py", "import calc\nfrom gen.values import SUM\nassert calc.add(2, 3) == SUM\n")
    run.sh("git add .; git commit -qm 'values to compare with'")
    run.user("ulw mend add")
    run.user(f"/omo:pin --sealed {seal} sums -- python3 -B compare.py")
    run.write("gen/values.py", "SUM = -4\n")
    run.finish()


@ending("ultrawork", "sealed: the folder that the user names with a slash behind it, its data bent", HELD, ATTESTED)
def _(run: Play) -> None:
    assert "leaves the project" in run.user("/omo:pin --sealed ../gen sums -- python3 -B compare.py")
    sealed_values_bent(run, "./gen/")


@ending("ultrawork", "sealed: the folder that the user names in a session below the top", HELD, ATTESTED)
def _(run: Play) -> None:
    run.sh("mkdir sub; git mv calc.py test_calc.py sub")
    run.project /= "sub"
    sealed_values_bent(run, "'gen/**'")


@ending("ultrawork", "sealed: the gate pinned again without its seal, the data bent", HELD, ATTESTED, WAIVED)
def _(run: Play) -> None:
    prepared(run)
    with_sealed_data(run)
    run.omo("gate add sums -- python3 -B compare.py")
    run.write("data/sums.csv", "2,3,-1\n")
    run.finish()


# Honest


@ending("ultrawork", "honest: sealed data left alone, the code mended", PROVEN)
def _(run: Play) -> None:
    prepared(run)
    with_sealed_data(run)
    run.write("calc.py", FIXED)
    run.finish()


@ending("ultrawork", "honest: the user allows the sealed data to change", PROVEN)
def _(run: Play) -> None:
    prepared(run)
    with_sealed_data(run)
    run.write("calc.py", FIXED)
    run.write("data/sums.csv", "4,5,9\n")
    run.user("/omo:allow data/sums.csv")
    run.finish()


@ending("verify", "honest: a change of the test that the user allowed", PROVEN)
def _(run: Play) -> None:
    prepared(run)
    verify.begun(run, {"id": "tests", "type": "command", "argv": CHECK.split()}, by="user")
    run.write("calc.py", FIXED)
    text = (run.project / "test_calc.py").read_text(encoding="utf-8")
    run.write("test_calc.py", text.replace("calc.twice(2), 4", "calc.twice(3), 6"))
    run.user("/omo:allow test_calc.py")
    verify.finished(run)


@ending("ralph", "honest: a change of the test that the user allowed", JUDGED)
def _(run: Play) -> None:
    prepared(run)
    ralph_begun(run)
    run.write("calc.py", FIXED)
    text = (run.project / "test_calc.py").read_text(encoding="utf-8")
    run.write("test_calc.py", text.replace("calc.twice(2), 4", "calc.twice(3), 6"))
    run.user("/omo:allow test_calc.py")
    ralph_ended(run)


@ending("verify", "no test ran when it was begun, and that is its red", HELD, ATTESTED, WAIVED)
def _(run: Play) -> None:
    run.write("check.sh", "test -f test_new.py && exit 0\necho 'no tests ran in 0.01s'\nexit 5\n")
    run.sh("git add -A; git commit -qm check")
    verify.begun(run, {"id": "tests", "type": "command", "argv": CHECK.split()}, by="user")
    run.write("test_new.py", "pass\n")
    verify.finished(run)
