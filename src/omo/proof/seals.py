"""The files a gate rests on: tests, fixtures, the runner's configuration, scripts. Judged from the diff alone.

What was removed or changed there, and a few words in any added line, can turn a failing gate green without the work
being done. Nobody can tell from the diff whether that was meant, so the lines are named and the word is the agent's.
"""

from __future__ import annotations

import ast
import difflib
import fnmatch
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from omo import globs, safe_open
from omo.proof import base, own_commands, tree
from omo.proof.base import GONE
from omo.text import clip, listed

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
    *(".pytest.ini", ".pytest.toml", "Makefile.*"),
    *("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "justfile", "Justfile", ".justfile", "Taskfile.*"),
    *("Rakefile", ".rspec", ".rubocop*.yml", ".npmrc", ".nycrc*", ".mocharc*", "jest.config.*", "vitest.config.*"),
    *("karma.conf.*", "playwright.config.*", "cypress.config.*", ".eslintrc*", "eslint.config.*", ".eslintignore"),
    *(".prettierignore", "biome.json*", ".stylelintrc*", "tsconfig*.json", "phpunit.xml*", "phpstan*.neon"),
    *(".golangci.*", "maven.config", ".shellcheckrc", ".gitlab-ci.yml", "Jenkinsfile", ".pre-commit-config.yaml"),
    *(".cargo/config*", "rust-toolchain*", "bunfig.toml", ".yarnrc*", ".pnpmfile.cjs", "babel.config.*", ".babelrc*"),
    *(".bazelrc", "gradle.properties", "*.runsettings", "Directory.Build.*", "nx.json", "turbo.json", "go.work"),
    # What checkers are told to look past, as they write it themselves.
    *("eslint-suppressions.json", "*-baseline.xml", "mypy-baseline.txt", ".basedpyright/baseline.json"),
    *("*/.cargo/config*", "node_modules/.bin/node"),
)
# Here dependencies come and go: what is taken away or replaced counts, and what tells a runner what to leave out.
MANIFESTS = (
    *("pyproject.toml", "package.json", "Cargo.toml", "setup.py", "pom.xml", "build.gradle*", "Gemfile", "go.mod"),
    *("composer.json", "mix.exs", "deno.json*", "Package.swift", "*.csproj"),
)
# Of the build, and read by a runner of tests too: only what it is told to leave out counts.
READ_BY_RUNNERS = (*MANIFESTS, "vite.config.*")
MANIFEST_WORDS = re.compile(
    r"testpaths|python_(?:files|classes|functions)|norecursedirs|addopts|\[tool\.(?:pytest|coverage|ruff|mypy|pylint|pyright)"
    r"|testPathIgnore|testMatch|testRegex|\"(?:jest|mocha|vitest|nyc|eslintConfig)\"|\b(?:doc|auto)?tests?\s*=\s*false|\bharness\b"
    r"|\"(?:pre|post)test\""
    r"|skipTests|maven\.test\.skip|\b(?:exclude|ignore|omit|disable)\w*\b"
)
SCRIPT_DIRECTORIES = ("scripts/", "script/", "ci/", ".github/workflows/", ".circleci/")
# Modules that Python would load in place of the runner's own.
SHADOWS = (
    *("unittest", "pytest", "_pytest", "pluggy", "sitecustomize", "usercustomize", "coverage", "mypy", "ruff", "nose"),
    *("doctest", "argparse", "traceback", "warnings", "difflib", "inspect", "importlib"),
)
# Those that it loads in its turn, also good names for a module of a package: looked for where a command runs.
LOADED_BY_RUNNER = (
    *("ast", "asyncio", "collections", "contextlib", "dis", "enum", "fnmatch", "functools", "gettext", "keyword"),
    *("linecache", "logging", "opcode", "operator", "pprint", "re", "reprlib", "signal", "textwrap", "token"),
    *("tokenize", "types", "weakref"),
)
# In tests: what leaves one out. Anywhere: what silences a checker, or ends a runner before its time.
LEFT_OUT = re.compile(
    r"skip(?:If|Unless|Test|_test)?\b|\bxfail\b|expectedFailure|\.only\b|\b[xf](?:it|describe|context)\s*\(|\.todo\s*\("
    r"|@Ignore\b|@Disabled\b|#\[ignore|should_panic|__test__|load_tests|collect_ignore|def pytest_",
    re.IGNORECASE,
)
SILENCED = re.compile(
    r"\bnoqa\b|\bnosec\b|\bnolint\b|type:\s*ignore|pyright:\s*ignore|@ts-(?:ignore|nocheck|expect-error)"
    r"|(?:eslint|tslint|stylelint)-?:?disable|(?:pylint|rubocop|shellcheck)[: ]+disable|pragma:\s*no cover"
    r"|(?:biome|prettier|istanbul|c8|v8)[- ]ignore|\bNOSONAR\b|\bprocess\.exit\(0?\)"
    r"|^(?:raise SystemExit(?:\(0?\))?|(?:sys\.)?exit\(0?\)|quit\(\))\s*$"
    r"|\b[\w-]*(?:lint|format|fmt|mypy|pyre|pytype|phpstan|yapf|jscs|warning)[\w-]*[-: ]+(?:off|disable|ignore)"
    r"|#!?\[(?:allow|ignore|cfg_attr|should_panic)|@SuppressWarnings|\baddopts\b|\bos\._exit\b|\bos\.exec[vl]",
    re.IGNORECASE,
)
# At the top of a test file: what puts something else in the place of the code that is tested, for every test there.
REPLACED = re.compile(
    r"(?!module\.|exports\.)\w[\w.]*\.\w+\s*=(?!=)|(?:set|del)attr\s*\(|del\s+\w+\."
    r"|[\w.]*\bpatch\b.*\.start\s*\("
)
# A removed line with one of these is a test also where it stands beside the code it tests.
ASSERTS = re.compile(r"\bassert\w*\b|\bexpect\s*\(|^\s*>>> ")
# A statement inside a block, and what begins a test or another definition.
STATEMENT = re.compile(r"\s+[A-Za-z_]")
DEFINITION = re.compile(
    r"\s*(?:@|(?:export |public |private |protected |static |async |pub )*"
    r"(?:def|class|func|fn|function|void|it|test|describe|context|specify|scenario|subtest|end)\b)"
)
# What is imported, by names in one line. More names there are how a new test begins.
IMPORT = re.compile(
    r"\s*(?P<from>from\s+\S+\s+import\s|(?:import|const)\s*(?:type\s*)?\{)(?P<names>[^(){}*]*)(?P<end>\}.*)?$"
)
PLAIN_NAME = re.compile(r"(?:type\s+)?\w+")
REMARK = re.compile(r"\s*(?:#|//|\*|/\*|$)")
IN_PLACE_OF_RUNNER = "{} stands in the place of the runner's own module"
LONGEST_LINE = 100
LARGEST_FILE = 1_000_000


class Lines(NamedTuple):
    """What a file lost and won. `put_in` are the added lines that stand in front of a statement that was there,
    `expected` those removed that an example of a doctest was to print, `twice` what is newly defined a second time."""

    removed: list[str]
    added: list[str]
    put_in: list[str]
    expected: Sequence[str] = ()
    twice: Sequence[str] = ()


def is_test(path: str) -> bool:
    """tests/x.py, x_test.go, x.spec.ts, XTest.java; but not latest.py or inspector.py."""
    return any(word.lower() in TEST_WORDS for word in _WORD.findall(path))


class Command(Protocol):
    """A gate, or a check that runs something; `sealed` are globs of more files that it rests on."""

    @property
    def argv(self) -> Sequence[str]: ...
    @property
    def cwd(self) -> str: ...
    @property
    def sealed(self) -> Sequence[str]: ...


class Plain(NamedTuple):
    """A command of which no more is known."""

    argv: Sequence[str]
    cwd: str = "."
    sealed: Sequence[str] = ()


@dataclass(frozen=True)
class Terms:
    """What was agreed on in a session: the gates that are pinned in it, with what each seals, and the changes that the
    user allowed, each by the digest of what they saw."""

    gates: Sequence[Command] = ()
    allowed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Seals:
    """What became of the files that commands rest on.

    `unknown` says why nobody can tell, `broken` has a line for each change, `allowed` the files changed as the user
    allowed, which lower nothing and are named.
    """

    unknown: str = ""
    is_unchanged: bool = False
    broken: Sequence[str] = ()
    allowed: Sequence[str] = ()

    @property
    def doubts(self) -> list[str]:
        """For an outcome: why commands that pass need not mean that the work was done."""
        if self.unknown:
            return [self.unknown]
        if self.is_unchanged:
            return ["no file was changed"]
        return [f"files that gates rest on were changed ({listed(self.broken, 6, '; ')})"] if self.broken else []

    @property
    def notes(self) -> list[str]:
        """For an outcome: what the user allowed, which lowers nothing."""
        return [f"changed as the user allowed: {listed(self.allowed)}"] if self.allowed else []


NO_TERMS = Terms()


def examine(
    root: str,
    began: Mapping[str, Any] | None,
    commands: Sequence[Command],
    *,
    look: base.Look | None = None,
    terms: Terms = NO_TERMS,
) -> Seals:
    """What was done since a run began to the files that its commands rest on, and the gates of its session.

    Every workflow asks this before it says of commands it ran that they prove the work: with `doubts` the outcome is
    `attested` at best, and `doubts` and `notes` go into its sentence. `began` is what `base.take` said when the run
    began, or when the checks were agreed on; `look` what differs from it now, where the caller has looked already;
    `terms` are those of its session. Without commands only a change that is seen counts.
    """
    if not commands and not terms.gates:
        return Seals()
    look = look or base.look(root, dict(began) if began else None)
    began = began or {}
    head, unknown = began.get("head"), ""
    if not began or look.changed is None:
        unknown = f"what was changed is not known ({look.unknown})"
    elif not head:
        unknown = "there is no commit to compare with"
    if unknown or not head or not look.changed:
        return Seals(unknown, is_unchanged=not unknown) if commands else Seals()
    commands = [*commands, *terms.gates]
    named: set[str] = set()
    sealed: list[str] = []
    for command in commands:
        named.update(own_commands.scripts(root, head, command.argv, command.cwd, uncommitted=began["files"]))
        sealed += command.sealed
    allowed = [path for path, digest in terms.allowed.items() if look.changed.get(path) == digest]
    looked_at = {path: digest for path, digest in look.changed.items() if path not in allowed}
    lines = _diff(root, head, list(looked_at))
    broken: list[str] = []
    for path, digest in looked_at.items():
        is_sealed = path in named or _is_sealed(path, sealed)
        broken += _changes(path, digest, lines.get(path), is_sealed=is_sealed, was_there=path in began["files"])
    broken += [IN_PLACE_OF_RUNNER.format(path) for path in shadows(root, began, commands, terms)]
    return Seals(broken=broken, allowed=allowed)


def shadows(root: str, began: Mapping[str, Any], commands: Sequence[Command], terms: Terms = NO_TERMS) -> list[str]:
    """Files beside a command that Python would load in place of the runner's own, and that were not there before.

    They are looked for on the disk, as git may be told to ignore them. Of `began` its commit alone will do.
    """
    directories = set()
    own = {command.cwd for command in commands}
    for command in commands:
        words = " ".join(command.argv).replace(";", " ").split()  # also those of a line for a shell
        for before, word in zip(["", *words], words, strict=False):
            if word.endswith(".py"):  # which looks beside itself first
                directories.add(os.path.join(command.cwd, os.path.dirname(word)))
            elif before == "cd":
                directories.add(os.path.join(command.cwd, word))
    present = []
    for directory in sorted(directories | own):
        for name in (*SHADOWS, *LOADED_BY_RUNNER) if directory in own else SHADOWS:
            for file in (f"{name}.py", f"{name}/__init__.py"):
                path = os.path.normpath(os.path.join(directory, file)).replace(os.sep, "/")
                is_allowed = path in terms.allowed and terms.allowed[path] == base.digest_of(root, path)
                if os.path.lexists(os.path.join(root, path)) and path not in began.get("files", ()) and not is_allowed:
                    present.append(path)
    if not present or not began.get("head"):
        return present
    committed = base.committed(root, began["head"], present)
    return [path for path in present if committed.get(path) != content_of(root, path)]


def _is_sealed(path: str, sealed: Sequence[str]) -> bool:
    is_named = any(globs.covers(path, glob) for glob in sealed)
    return is_named or is_test(path) or path.startswith(SCRIPT_DIRECTORIES) or _matches(path, MANIFESTS)


def _changes(path: str, digest: str, lines: Lines | None, *, is_sealed: bool, was_there: bool) -> list[str]:
    """The lines to name for one file; `was_there` if it differed from the commit when the run began."""
    if digest.startswith(tree.SCHEME):
        return [f"{path} is a repository of its own, and was changed"]
    if digest == GONE:
        return [f"{path} was deleted"] if is_sealed or is_of_runner(path) else []
    if is_of_runner(path):
        shown = ""
        if lines is not None and lines.removed:
            shown = ": " + _shown("-", lines.removed[0])
        elif lines is not None and lines.added:
            shown = ": " + _shown("+", lines.added[0])
        return [f"{path} was changed{shown}"]
    if was_there:
        return [f"{path} was changed, and had not been committed when the run began"] if is_sealed else []
    return _lines_broken(path, lines, is_sealed=is_sealed)


def _lines_broken(path: str, lines: Lines | None, *, is_sealed: bool) -> list[str]:
    if lines is None:
        return [f"{path} was changed, and how cannot be read"] if is_sealed else []
    kept = {_plain(line) for line in lines.added}
    findings = []
    for line in lines.removed:
        is_kept = not line.strip() or _plain(line) in kept or _is_imported_still(line, lines.added)
        if not is_kept and (is_sealed or ASSERTS.search(line) or line in lines.expected):
            findings.append(f"{path}: {_shown('-', line)}")
    findings += [f"{path}: {name} is defined a second time, in the place of the first" for name in lines.twice]
    if is_sealed and not lines.removed and not lines.added:
        findings.append(f"{path} was changed")
    for line in lines.put_in:
        if is_test(path) and not ASSERTS.search(line) and not REMARK.match(line):
            findings.append(f"{path}: {_shown('+', line)}, in front of what was there")
    for line in lines.added:
        is_left_out = is_test(path) and (LEFT_OUT.search(line) or REPLACED.match(line))
        is_of_manifest = _matches(path, READ_BY_RUNNERS) and MANIFEST_WORDS.search(line)
        if is_left_out or is_of_manifest or SILENCED.search(line):
            findings.append(f"{path}: {_shown('+', line)}")
    return findings


def _plain(line: str) -> str:
    """A comma at the end of a list changes nothing in it. The indent does: it may put a line behind a condition."""
    return line.rstrip().rstrip(",")


def _is_imported_still(line: str, added: Sequence[str]) -> bool:
    """An import that only names more than it did, each by its own name."""
    before = IMPORT.match(line)
    if before is None:
        return False
    for other in added:
        after = IMPORT.match(other)
        if after is None or after["from"] != before["from"] or after["end"] != before["end"]:
            continue
        names, new_names = (
            {name.strip() for name in match["names"].split(",") if name.strip()} for match in (before, after)
        )
        if names <= new_names and all(PLAIN_NAME.fullmatch(name) for name in new_names - names):
            return True
    return False


def is_of_runner(path: str) -> bool:
    return _matches(path, RUNNER_FILES)


def _shown(sign: str, line: str) -> str:
    return clip(f"{sign} {line.strip()}", LONGEST_LINE)


def _matches(path: str, patterns: Sequence[str]) -> bool:
    name = os.path.basename(path)
    return any(fnmatch.fnmatchcase(path if "/" in pattern else name, pattern) for pattern in patterns)


def _diff(root: str, head: str, paths: Sequence[str]) -> dict[str, Lines]:
    """The lines that each file lost and won since the commit. A binary file has none."""
    committed = base.committed(root, head, paths)
    lines: dict[str, Lines] = {}
    for path in paths:
        before, after = committed.get(path), content_of(root, path)
        if before is None and (not after or b"\0" in after):
            lines[path] = Lines([], [""], [])  # new, and nothing in it to be read
            continue
        if after is None or b"\0" in after or b"\0" in (before or b""):
            continue
        lines[path] = _compared(_lines(before or b""), _lines(after))
        if path.endswith(".py") and is_test(path):
            lines[path] = lines[path]._replace(twice=sorted(_defined_twice(after) - _defined_twice(before or b"")))
    return lines


def _defined_twice(content: bytes) -> set[str]:
    """Tests and classes of a Python file of which only the last counts, as it took the name of the one before."""
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for scope in ast.walk(module):
        if not isinstance(scope, (ast.Module, ast.ClassDef)):
            continue
        known: set[str] = set()
        for statement in scope.body:
            if not isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            is_of_test = isinstance(statement, ast.ClassDef) or statement.name.startswith("test")
            if is_of_test and statement.name in known:
                names.add(statement.name)
            known.add(statement.name)
    return names


def _compared(before: list[str], after: list[str]) -> Lines:
    expected: list[str] = []
    lines = Lines([], [], [], expected)
    for what, start, end, new_start, new_end in difflib.SequenceMatcher(None, before, after).get_opcodes():
        if what == "equal":
            continue
        added = after[new_start:new_end]
        lines.removed.extend(before[start:end])
        expected += [before[number] for number in range(start, end) if _is_expected(before, number)]
        lines.added.extend(added)
        is_in_block = bool(before[start:]) and STATEMENT.match(before[start]) and not DEFINITION.match(before[start])
        if what == "insert" and is_in_block and not any(DEFINITION.match(line) for line in added):
            lines.put_in.extend(added)
    return lines


def _is_expected(lines: Sequence[str], number: int) -> bool:
    """Whether a line is what an example of a doctest is to print: it stands below one, with no empty line between."""
    while number >= 0 and lines[number].strip():
        if lines[number].lstrip().startswith(">>> "):
            return True
        number -= 1
    return False


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def content_of(root: str, path: str) -> bytes | None:
    """What a file holds; None where there is none, or one that is too large to be compared."""
    try:
        return safe_open.read_file(os.path.join(root, path), LARGEST_FILE)
    except OSError:
        return None
