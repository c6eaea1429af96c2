"""The files a gate rests on: tests, fixtures, the runner's configuration, scripts. Judged from the diff alone.

What was removed or changed there, and a few words in any added line, can turn a failing gate green without the work
being done. Nobody can tell from the diff whether that was meant, so the lines are named and the word is the agent's.
"""

from __future__ import annotations

import difflib
import fnmatch
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo import safe_open
from omo.proof import base, own_commands, tree
from omo.proof.base import GONE
from omo.text import clip

if TYPE_CHECKING:
    from omo.proof.checks import CommandCheck, MetricCheck  # pydantic, which whoever has checks has loaded

TEST_WORDS = frozenset(
    (
        *("test", "tests", "testing", "testdata", "unittest", "unittests", "spec", "specs", "conftest", "e2e", "bats"),
        *("fixture", "fixtures", "snapshot", "snapshots", "snap", "golden", "goldens", "cassettes", "mocks"),
    )
)
_WORD = re.compile(r"e2e|[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
# Any change of these changes what the runner does.
RUNNER_FILES = (
    *("conftest.py", "pytest.ini", "pytest.toml", "tox.ini", "setup.cfg", ".coveragerc", "noxfile.py", "mypy.ini"),
    *("ruff.toml", ".ruff.toml", ".pylintrc", ".flake8", "pyrightconfig.json", ".python-version", "*.mk"),
    *("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "justfile", "Justfile", ".justfile", "Taskfile.*"),
    *("Rakefile", ".rspec", ".rubocop.yml", ".npmrc", ".nycrc*", ".mocharc*", "jest.config.*", "vitest.config.*"),
    *("karma.conf.*", "playwright.config.*", "cypress.config.*", ".eslintrc*", "eslint.config.*", ".eslintignore"),
    *(".prettierignore", "biome.json*", ".stylelintrc*", "tsconfig*.json", "phpunit.xml*", "phpstan*.neon"),
    *(".golangci.*", "maven.config", ".shellcheckrc", ".gitlab-ci.yml", "Jenkinsfile"),
)
# Here dependencies come and go: what is taken away or replaced counts, and what tells a runner what to leave out.
MANIFESTS = (
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "setup.py",
    "pom.xml",
    "build.gradle*",
    "Gemfile",
    "go.mod",
)
MANIFEST_WORDS = re.compile(
    r"testpaths|python_(?:files|classes|functions)|norecursedirs|addopts|\[tool\.(?:pytest|coverage|ruff|mypy|pylint|pyright)"
    r"|testPathIgnore|testMatch|testRegex|\"(?:jest|mocha|vitest|nyc|eslintConfig)\"|\b(?:doc)?test\s*=\s*false|\bharness\b"
    r"|skipTests|maven\.test\.skip|\b(?:exclude|ignore|omit|disable)\w*\b"
)
SCRIPT_DIRECTORIES = ("scripts/", "script/", "ci/", ".github/workflows/", ".circleci/")
# Modules that Python would load in place of the runner's own.
SHADOWS = ("unittest", "pytest", "sitecustomize", "usercustomize", "coverage", "mypy", "ruff", "nose", "doctest")
# In tests: what leaves one out. Anywhere: what silences a checker, or ends a runner before its time.
LEFT_OUT = re.compile(
    r"skip(?:If|Unless|Test|_test)?\b|\bxfail\b|expectedFailure|\.only\b|\b[xf](?:it|describe|context)\s*\(|\.todo\s*\("
    r"|@Ignore\b|@Disabled\b|#\[ignore|should_panic|__test__|load_tests|collect_ignore|def pytest_",
    re.IGNORECASE,
)
SILENCED = re.compile(
    r"\bnoqa\b|\bnosec\b|\bnolint\b|type:\s*ignore|pyright:\s*ignore|@ts-(?:ignore|nocheck|expect-error)"
    r"|(?:eslint|tslint|stylelint)-?:?disable|(?:pylint|rubocop|shellcheck)[: ]+disable|pragma:\s*no cover"
    r"|(?:biome|prettier|istanbul|c8|v8)[- ]ignore|\bNOSONAR\b|\bprocess\.exit\(0\)"
    r"|\b[\w-]*(?:lint|format|fmt|mypy|pyre|pytype|phpstan|yapf|jscs|warning)[\w-]*[-: ]+(?:off|disable|ignore)"
    r"|#!?\[(?:allow|ignore|cfg_attr|should_panic)|@SuppressWarnings|\baddopts\b|\bos\._exit\b|\bos\.exec[vl]",
    re.IGNORECASE,
)
# A removed line with one of these is a test also where it stands beside the code it tests.
ASSERTS = re.compile(r"\bassert\w*\b|\bexpect\s*\(|^\s*>>> ")
MOST_LINES = 6
LONGEST_LINE = 100
LARGEST_FILE = 1_000_000

Lines = tuple[list[str], list[str]]  # removed, added


def is_test(path: str) -> bool:
    """tests/x.py, x_test.go, x.spec.ts, XTest.java; but not latest.py or inspector.py."""
    return any(word.lower() in TEST_WORDS for word in _WORD.findall(path))


def broken(
    root: Path, began: Mapping[str, Any], changed: Mapping[str, str], *, named: Iterable[str], allowed: Iterable[str]
) -> list[str]:
    """What was done since the run began to files that gates rest on, one line each.

    `named` are files that the gates' own commands name, `allowed` those that the user let change.
    """
    looked_at = [path for path in changed if path not in set(allowed)]
    own = set(named)
    lines = _diff(root, str(began["head"]), looked_at)
    findings: list[str] = []
    for path in looked_at:
        if changed[path].startswith(tree.SCHEME):
            findings.append(f"{path} is a repository of its own, and was changed")
            continue
        is_sealed = path in own or is_test(path) or _is_script(path) or _matches(path, MANIFESTS)
        if _matches(path, RUNNER_FILES):
            findings += _runner_changed(path, changed[path], lines.get(path))
        elif path in began["files"]:
            if is_sealed:
                findings.append(f"{path} was changed, and had not been committed when the run began")
        elif changed[path] == GONE:
            if is_sealed:
                findings.append(f"{path} was deleted")
        else:
            findings += _lines_broken(path, lines.get(path), is_sealed=is_sealed)
        if _is_shadow(path):
            findings.append(f"{path} stands in the place of the runner's own module")
    return findings


def doubts_of(
    root: str,
    began: Mapping[str, Any] | None,
    commands: Sequence[CommandCheck | MetricCheck],
    look: base.Look | None = None,
) -> list[str]:
    """Why commands that failed before and pass now need not mean that the work was done.

    `began` are the files as they were when the checks were agreed on, `look` what differs from them, where known.
    """
    if not commands:
        return []
    look = look or base.look(root, dict(began) if began else None)
    if not began or look.changed is None:
        return [f"what was changed is not known ({look.unknown})"]
    if not began["head"]:
        return ["there is no commit to compare with"]
    if not look.changed:
        return ["no file was changed"]
    named = []
    for check in commands:
        named += own_commands.scripts(root, began["head"], check.argv, check.cwd)
    findings = broken(Path(root), began, look.changed, named=named, allowed=())
    return [f"files that its commands rest on were changed ({listed(findings)})"] if findings else []


def listed(findings: Sequence[str]) -> str:
    more = f" and {len(findings) - MOST_LINES} more" if len(findings) > MOST_LINES else ""
    return "; ".join(findings[:MOST_LINES]) + more


def _runner_changed(path: str, digest: str, lines: Lines | None) -> list[str]:
    if digest == GONE:
        return [f"{path} was deleted"]
    shown = ""
    if lines is not None and (lines[0] or lines[1]):
        shown = ": " + _shown("-" if lines[0] else "+", (lines[0] or lines[1])[0])
    return [f"{path} was changed{shown}"]


def _lines_broken(path: str, lines: Lines | None, *, is_sealed: bool) -> list[str]:
    if lines is None:
        return [f"{path} was changed, and how cannot be read"] if is_sealed else []
    removed, added = lines
    kept = {_plain(line) for line in added}
    gone = [line for line in removed if line.strip() and _plain(line) not in kept]
    findings = [f"{path}: {_shown('-', line)}" for line in gone if is_sealed or ASSERTS.search(line)]
    if is_sealed and not removed and not added:
        findings.append(f"{path} was changed")
    for line in added:
        is_left_out = is_test(path) and LEFT_OUT.search(line)
        is_of_manifest = _matches(path, MANIFESTS) and MANIFEST_WORDS.search(line)
        if is_left_out or is_of_manifest or SILENCED.search(line):
            findings.append(f"{path}: {_shown('+', line)}")
    return findings


def _plain(line: str) -> str:
    """A comma at the end of a list changes nothing in it. The indent does: it may put a line behind a condition."""
    return line.rstrip().rstrip(",")


def _shown(sign: str, line: str) -> str:
    return clip(f"{sign} {line.strip()}", LONGEST_LINE)


def _matches(path: str, patterns: Sequence[str]) -> bool:
    name = os.path.basename(path)
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _is_script(path: str) -> bool:
    return path.startswith(SCRIPT_DIRECTORIES)


def _is_shadow(path: str) -> bool:
    first = path.split("/")[0].removesuffix(".py")
    return first in SHADOWS or path == "node_modules/.bin/node"


def _diff(root: Path, head: str, paths: Sequence[str]) -> dict[str, Lines]:
    """The lines that each file lost and won since the commit. A binary file has none."""
    committed = base.committed(str(root), head, paths)
    lines: dict[str, Lines] = {}
    for path in paths:
        before, after = committed.get(path), _read(root / path)
        if before is None and (after is None or b"\0" in after):
            lines[path] = ([], [""])  # new, and nothing in it to be read
            continue
        if after is None or b"\0" in after or b"\0" in (before or b""):
            continue
        lines[path] = _compared(_lines(before or b""), _lines(after))
    return lines


def _compared(before: list[str], after: list[str]) -> Lines:
    removed, added = [], []
    for line in difflib.unified_diff(before, after, n=0, lineterm=""):
        if line.startswith("-") and not line.startswith("---"):
            removed.append(line[1:])
        elif line.startswith("+") and not line.startswith("+++"):
            added.append(line[1:])
    return removed, added


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def _read(path: Path) -> bytes | None:
    try:
        return safe_open.read_file(path, LARGEST_FILE)
    except OSError:
        return None
