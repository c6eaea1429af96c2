"""`tests/run`: which part it runs, what it fetches, and that no test is in neither part or in both."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import packages, parts
from tests.kept import PYCACHE

ROOT = parts.ROOT
# In the place of npm: it notes where it was called, and leaves what a package would.
NPM = """#!/bin/sh
echo "$1 in $PWD" >>"$CALLS"
mkdir -p node_modules/.bin
"""
# What a test starts compiles what it imports.
TEST = """import os
import subprocess
import sys


def test_it():
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
    subprocess.run([sys.executable, "-c", "import it"], cwd="src", env=environ, check=True)
    assert os.listdir("src") != ["it.py"]
"""
CONFTEST = """def pytest_addoption(parser):
    parser.addoption("--part")


def pytest_report_header(config):
    return f"part {config.option.part}, workers {config.option.numprocesses}"
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What git has of `tests/run`, with one test; its environment is ours."""
    root = tmp_path / "a clone"
    listed = [f"{folder}/{name}" for folder in packages.FOLDERS for name in ("package.json", "package-lock.json")]
    for name in ("tests/run", "tests/packages.py", "tests/needs.sh", *listed):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "tests" / "python").write_text(f"#!/bin/sh\necho '{sys.executable}'\n", encoding="utf-8")
    (root / "tests" / "python").chmod(0o755)
    for folder in ("src", "docs", "bench", "hooks"):
        (root / folder).mkdir()
    (root / "src" / "it.py").touch()
    (root / "tests" / "test_it.py").write_text(TEST, encoding="utf-8")
    (root / "tests" / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (root / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\ntestpaths = tests\n", encoding="utf-8")
    # Else each run would compile pytest anew.
    compiled = Path(os.environ["HOME"], ".cache", "omo", "dev", "pycache")
    compiled.parent.mkdir(parents=True)
    compiled.symlink_to(sys.pycache_prefix or os.environ[PYCACHE])
    return root


def run(clone: Path, *arguments: str) -> tuple[str, str]:
    """What a run prints, and how it called npm."""
    programs, calls = clone.parent / "programs", clone.parent / "calls"
    programs.mkdir(exist_ok=True)
    (programs / "npm").write_text(NPM, encoding="utf-8")
    (programs / "npm").chmod(0o755)
    calls.write_text("", encoding="utf-8")
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "CALLS": str(calls), packages.HOME: ""}
    done = subprocess.run(
        [clone / "tests" / "run", *arguments], env=environ, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr, calls.read_text(encoding="utf-8")


def files(root: Path) -> set[Path]:
    return set(root.rglob("*"))


def test_a_plain_run_fetches_nothing_and_leaves_nothing_in_the_clone(clone: Path) -> None:
    before = files(clone)
    printed, calls = run(clone, "-n", "0")
    assert "\npart short, workers 0\n" in printed
    assert (calls, files(clone)) == ("", before)


def test_the_packages_for_the_rest_are_fetched_once_and_outside_the_clone(clone: Path) -> None:
    home = Path(os.environ["HOME"], ".cache", "omo", "dev", "npm")
    (home / "0123456789abcdef" / "node_modules").mkdir(parents=True)
    os.utime(home / "0123456789abcdef", (1e9, 1e9))
    before = files(clone)
    printed, calls = run(clone, "tests/test_it.py", "--clients", "-n", "0")
    assert "\npart clients, workers 0\n" in printed
    assert re.sub(r" in .*", "", calls).split() == ["ci"] * len(packages.FOLDERS)
    assert {path.name for path in home.iterdir()} == {packages.directory(name) for name in packages.FOLDERS}
    assert run(clone, "--clients", "-n", "0")[1] == ""
    assert files(clone) == before


def test_the_table_names_what_is_there() -> None:
    assert [name for name in parts.IN_CLIENTS if not (ROOT / name).exists()] == []


@pytest.mark.long
def test_each_test_is_in_one_part() -> None:
    every, short, clients = (collected(*options) for options in ((), ("--part", "short"), ("--part", "clients")))
    assert len(every) == len(set(every)) > 5000
    assert sorted(short + clients) == sorted(every)
    assert len(short) >= 2500


def collected(*options: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--collect-only", "-q", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout
    return [line for line in done.stdout.splitlines() if line.startswith("tests/")]


@pytest.mark.parametrize(
    ("short", "clients", "code"),
    [
        ("passed", "passed", 0),
        ("passed", "root reads everything", 0),
        ("zsh is not here", "passed", 1),
        ("passed", "", 1),
    ],
)
def test_ci_fails_if_a_part_has_skipped_what_should_have_run(
    tmp_path: Path, short: str, clients: str, code: int
) -> None:
    reports = []
    for name, outcome in {"short": short, "clients": clients}.items():
        skipped = "" if outcome == "passed" else f'<skipped message="{outcome}"/>'
        case = f'<testcase classname="tests.test_it" name="test_it">{skipped}</testcase>' if outcome else ""
        reports.append(tmp_path / f"{name}.xml")
        reports[-1].write_text(f"<testsuites><testsuite>{case}</testsuite></testsuites>", encoding="utf-8")
    command = [sys.executable, str(ROOT / ".ci" / "skipped.py"), *map(str, reports)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stdout + done.stderr


def test_ci_runs_both_parts_and_reads_both_reports() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert './tests/run --junitxml="$report/short.xml"' in lines
    assert './tests/run --clients --junitxml="$report/clients.xml"' in lines
    assert '"$python" .ci/skipped.py "$report/short.xml" "$report/clients.xml"' in lines
    assert '"$python" docs/make_hosts.py "$report/clients.xml" --check' in lines


def test_each_folder_of_the_source_has_tests_to_run_after_a_change() -> None:
    _, _, rest = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| folder | tests |\n|---|---|\n")
    rows = dict(line.strip("| ").split(" | ") for line in rest.partition("\n\n")[0].splitlines())
    source = ROOT / "src" / "omo"
    folders = {path.parent.relative_to(source).as_posix() for path in source.rglob("*.py")} - {"."}
    assert {name.strip("`") for name in rows} == folders
    named = re.findall(r"tests/[\w/.]+", " ".join(rows.values()))
    assert [name for name in named if not (ROOT / name).exists()] == []
