"""Whose a command is: the project's own where its files named it, or the runner in it, before the work began.

`where` says which file did. A command may take a part of the tests by path or name, because "proven" asks for the
project's whole test gate beside it: `test_gate` is that, and `covers` says whether a command does as much.
"""

from __future__ import annotations

import functools
import os
import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from omo.proof import calls, kinds, project_checks
from omo.proof.calls import Call
from omo.proof.project_checks import Check
from omo.proof.project_files import Commit, Disk

if TYPE_CHECKING:
    from omo.proof.project_files import Files

# Words in the name of a script that a project keeps for its tests: test.sh, run_tests.py, scripts/check.
OF_TEST_SCRIPT = {"test", "tests", "runtests", "check", "checks", "verify", "spec", "ci"}
# Where Python's runners are told what to collect; others read no documents.
RUNNER_FILES = ("pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "setup.cfg")
# What stands in front of the script that is meant, where its options were not understood.
STARTERS = re.compile(
    r"python[\d.]*|(?:ba|z|da|k)?sh|node|ruby|perl|php|deno|bun|tsx|ts-node|env|time|exec|source|\."
    r"|timeout|\d+[smh]?|nice|xvfb-run|uv|poetry|pdm|pipenv|run|npx|bunx|bundle"
)


def where(root: str, head: str | None, argv: Sequence[str], cwd: str) -> str:
    """The file that names this command at the commit, or the runner that it calls plainly; empty where none does."""
    if not head:
        return ""
    files = _commit(root, head)
    wanted = calls.call_of(argv, _directory(cwd))
    for gate in project_checks.project_gates(files):
        if gate.argv == list(argv) and not wanted.directory:
            return gate.source
    for check in project_checks.read(files, root, wanted.directory):
        if check.language != project_checks.CI and calls.call_of(check.argv, wanted.directory) == wanted:
            return check.source
    for line in project_checks.ci_lines(files):
        if _words(line.command) == list(argv):
            return line.file
    sources = [_source(files, root, call) for call in calls.unfold(files, wanted)]
    return sources[0] if sources and all(sources) else ""


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _source(files: Commit, root: str, call: Call) -> str:
    """The file that names the runner of a call, in its directory or in one above."""
    if not call.is_certain:
        return ""
    path = posixpath.normpath(posixpath.join(call.directory, call.words[0]))
    if "/" in call.words[0] and files.has(path) and _is_test_script(path) and not call.chooses:
        return path
    for check, own in _own_calls(files, root, call.directory):
        if own.runner and own.runner == call.runner and (not call.chooses or own.parts == call.parts):
            return check.source
    if call.runner in ("pytest", "unittest") and not call.chooses:
        return _python_test_below(files, call.directory)
    return ""


def _own_calls(files: Files, root: str, directory: str) -> Iterator[tuple[Check, Call]]:
    """What the commands come down to that the files of a directory name, and of those above it."""
    for above in project_checks.upwards(directory):
        for check in project_checks.read(files, root, above):
            for call in calls.unfold(files, calls.call_of(check.argv, above)):
                yield check, call


def _is_test_script(path: str) -> bool:
    return not OF_TEST_SCRIPT.isdisjoint(re.split(r"[-_.]", posixpath.basename(path).lower()))


def _python_test_below(files: Commit, directory: str) -> str:
    start = f"{directory}/" if directory else ""
    for name in sorted(files.names):
        if name.startswith(start) and project_checks.is_python_test(name):
            return name
    return ""


def test_gates(root: str, head: str | None, cwd: str) -> list[Check]:
    """The project's own tests, as its files name them at the commit: one for each language, the best first.

    What the project calls its gates comes before anything else: those of tests, or all where none is. Then it is the
    nearest directory that names any, a script or a target before the runner called plainly.
    """
    files = _files(root, head)
    for above in project_checks.upwards(_directory(cwd)):
        checks = project_checks.suggest(files, root, above)
        of_tests = [check for check in checks if _is_of_tests(files, check)]
        is_projects = any(check.key.startswith("gate ") for check in checks)
        if of_tests or is_projects:
            return of_tests or checks
    return []


def test_gate(root: str, head: str | None, cwd: str) -> Check | None:
    gates = test_gates(root, head, cwd)
    return gates[0] if gates else None


def _is_of_tests(files: Files, check: Check) -> bool:
    if check.kind:
        return check.kind == project_checks.TESTS
    if check.name in project_checks.NAMES[project_checks.TESTS]:
        return True
    programs = calls.unfold(files, calls.call_of(check.argv, _directory(check.cwd)))
    return any(call.runner in calls.OF_TESTS for call in programs)


def covers(root: str, head: str | None, argv: Sequence[str], cwd: str, gate: Check) -> bool:
    """Whether a command is this gate, or calls the same runners over at least as much."""
    files = _files(root, head)
    command = calls.call_of(argv, _directory(cwd))
    wanted = calls.call_of(gate.argv, _directory(gate.cwd))
    if command == wanted:
        return True
    programs = calls.unfold(files, command)
    needed = calls.unfold(files, wanted)
    return bool(needed) and all(any(_does(call, need) for call in programs) for need in needed)


def _does(call: Call, need: Call) -> bool:
    if not call.is_certain or call.directory != need.directory:
        return False
    if not call.runner or call.runner != need.runner:
        return call.words == need.words
    if not call.parts or call.parts == need.parts:
        return True
    if call.chooses or need.chooses or not need.parts:
        return False
    for part in need.parts:
        if not any(f"{part}/".startswith(given.rstrip("/") + "/") for given in call.parts):
            return False
    return True


def scripts(root: str, head: str | None, argv: Sequence[str], cwd: str, uncommitted: Collection[str] = ()) -> list[str]:
    """Files of the commit, or of those that were there and in none, that the command starts, itself or by the scripts
    and targets that the project has for it. Without a commit it is the files that are there."""
    files = _files(root, head)
    started = set()
    for call in calls.unfold(files, calls.call_of(argv, _directory(cwd))):
        for name in _started(list(call.words)):
            started.add(posixpath.normpath(posixpath.join(call.directory, name)))
    return sorted(path for path in started if files.has(path) or path in uncommitted)


def documents(root: str, head: str | None, argv: Sequence[str], cwd: str) -> list[str]:
    """Globs of documents that the command's runner is told to read: by the project's files as they were, or by the
    command and what it comes down to."""
    files = _files(root, head)
    command = calls.call_of(argv, _directory(cwd))
    configuration = [files.text(posixpath.join(command.directory, name)) for name in RUNNER_FILES]
    words: list[str] = []
    for call in calls.unfold(files, command):
        words += call.words[1:]
    for path in scripts(root, head, argv, cwd):
        words.append(files.text(path))
    return kinds.documents_named("\n".join(configuration), " ".join(words))


def _started(words: list[str]) -> list[str]:
    """The program of a call, or the script or module that an interpreter is given."""
    modules = [words[0]]
    if "-m" in words[:-1]:
        modules.append(words[words.index("-m") + 1])
    names = []
    for module in modules:
        if "/" not in module:
            path = module.replace(".", "/")
            names += [f"{path}.py", f"{path}/__main__.py"]
    while words and STARTERS.fullmatch(posixpath.basename(words[0])):
        words = [word for word in words[1:] if not word.startswith("-")]
    return names + words[:1]


def paths_of(root: str, head: str) -> frozenset[str]:
    """The files of a commit."""
    return _commit(root, head).names


def _files(root: str, head: str | None) -> Files:
    return _commit(root, head) if head else Disk(root)


# A commit does not change, so it is read once.
@functools.cache
def _commit(root: str, head: str) -> Commit:
    return Commit(root, head)


def _directory(cwd: str) -> str:
    path = posixpath.normpath(cwd.replace(os.sep, "/") or ".")
    return "" if path == "." else path
