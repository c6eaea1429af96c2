"""What reading still does beside the experiment: a file in the runner's place, and source that looks at its tests.

Neither changes with the arrangement of the files: the first is loaded in every run, the second passes them all. Each
name below stands for a story of `tests/stories`; what no ending needs goes.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from omo.proof import base
from omo.proof.kinds import PACKAGES
from omo.proof.run import child_environment
from omo.text import clip

if TYPE_CHECKING:
    from omo.proof.gate_runs import GateCommand
    from omo.proof.swap_files import File
    from omo.state.rows import Base

# Modules that Python would load in place of the runner's own: "a module in the place of the runner".
SHADOWS = (
    *("unittest", "pytest", "_pytest", "pluggy", "sitecustomize", "usercustomize", "coverage", "mypy", "ruff", "nose"),
    *("doctest", "argparse", "traceback", "warnings", "difflib", "inspect", "importlib"),
)
# Those that it loads in its turn, also good names for a module of a package: looked for where a command runs.
# "a module that the runner imports"
LOADED_BY_RUNNER = (
    *("ast", "asyncio", "collections", "contextlib", "dis", "enum", "fnmatch", "functools", "gettext", "keyword"),
    *("linecache", "logging", "opcode", "operator", "pprint", "re", "reprlib", "signal", "textwrap", "token"),
    *("tokenize", "types", "weakref"),
)
MODULE_ENDS = (".py", ".pyc", ".so")
# Words by which source asks whether a test runs it, or changes what an assertion does. "right only where a runner is
# loaded", "right only when a test calls", "the assertion replaced by the source", "the exit code changed …"
PEEKS = re.compile(
    r"PYTEST_(?:CURRENT_TEST|VERSION)|JEST_WORKER_ID|VITEST_WORKER_ID|\bcfg!\(test\)|\btesting\.Testing\(\)"
    r"|\bTest(?:Case|Result)\.\w+\s*=|\bsetattr\(\s*(?:\w+\.)*TestCase\b|\bsys\._getframe\b|\binspect\.(?:stack|currentframe)\("
    r"|\bos\._exit\(0?\)|\batexit\.register\(.*_exit|[\"'](?:pytest|unittest|_pytest)[\"']\s+in\s+sys\.modules"
    r"|\b(?:sys\.)?modules\b.*[\"'](?:pytest|unittest|_pytest)[\"']"
)
LONGEST_LINE = 100
LARGEST_FILE = 1_000_000


def shadows(root: str, began: Base, command: GateCommand, allowed: Mapping[str, str]) -> list[str]:
    """Files beside a command that Python would load in place of the runner's own, and that were not there before.

    They are looked for on the disk, as git may be told to ignore them. Of `began` its commit alone will do; `allowed`
    are changes that the user wants, by the digest of what they saw.
    """
    looked_in_first = {command.cwd, *_on_the_path(root, command)}
    directories = {*looked_in_first, *_beside_scripts(root, began, command), *_import_roots(root, command.cwd)}
    present = []
    for directory in sorted(directories):
        for file in _modules_in(os.path.join(root, directory), comes_first=directory in looked_in_first):
            path = os.path.normpath(os.path.join(directory, file))
            is_allowed = path in allowed and allowed[path] == base.digest_of(root, path)
            if path not in began.get("files", ()) and not is_allowed:
                present.append(path)
    head = began.get("head")
    if not present or not head:
        return present
    present = base.edited(root, head, present)
    return base.edited(root, head, present, line_end=b"\r\n")  # "… with the line ends of core.autocrlf"


def _modules_in(directory: str, *, comes_first: bool) -> list[str]:
    """Those of our names that Python would load from there."""
    try:
        entries = set(os.listdir(directory))
    except OSError:
        return []
    present = []
    for name in (*SHADOWS, *LOADED_BY_RUNNER) if comes_first else SHADOWS:
        present += [f"{name}{end}" for end in MODULE_ENDS if f"{name}{end}" in entries]
        if name in entries:
            files = [f"{name}/__init__{end}" for end in MODULE_ENDS]
            present += [file for file in files if os.path.lexists(os.path.join(directory, file))]
    return present


def _beside_scripts(root: str, began: Base, command: GateCommand) -> set[str]:
    """Where the programs of the command start, and where the scripts lie that they are given: Python looks there."""
    from omo.proof import calls  # which needs to know what commands are; whoever evaluates a check otherwise need not
    from omo.proof.project_files import files_at

    directories = set()
    for call in calls.programs(files_at(root, began.get("head")), command.argv, command.cwd):
        directories.add(call.directory or ".")
        for word in (call.program, *call.given):
            if word.endswith(".py"):
                directories.add(os.path.join(call.directory, os.path.dirname(word)))
    return directories


def _on_the_path(root: str, command: GateCommand) -> list[str]:
    """The directories of the project that PYTHONPATH names, the user's own or that of the command: "a module on the
    user's own path", "a module beside a package in src that is not installed"."""
    top = os.path.realpath(root)
    inherited = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    paths = [child_environment(inherited).get("PYTHONPATH", "")]
    paths += [word.partition("=")[2] for word in command.argv if word.startswith("PYTHONPATH=")]
    directories = []
    for entry in filter(None, os.pathsep.join(paths).split(os.pathsep)):
        place = os.path.realpath(os.path.join(root, command.cwd, entry))
        if place.startswith(f"{top}{os.sep}"):
            directories.append(os.path.relpath(place, top))
    return directories


def _import_roots(root: str, cwd: str) -> list[str]:
    """The directories below that are no packages: one of them may be on the path, as `src` often is."""
    roots = []
    with contextlib.suppress(OSError), os.scandir(os.path.join(root, cwd)) as entries:
        for entry in entries:
            is_package = os.path.lexists(os.path.join(entry.path, "__init__.py")) or entry.name in PACKAGES
            if entry.is_dir(follow_symlinks=False) and not is_package and not entry.name.startswith("."):
                roots.append(os.path.join(cwd, entry.name))
    return roots


def peeks(before: Mapping[str, File], after: Mapping[str, File]) -> dict[str, str]:
    """The files to which the work has added lines that look at the tests, each with the first of these."""
    findings: dict[str, str] = {}
    for path, held in after.items():
        old = set(_lines(before[path].content))
        for line in _lines(held.content):
            if line not in old and PEEKS.search(line):
                findings.setdefault(path, clip(line.strip(), LONGEST_LINE))
    return findings


def _lines(content: bytes | None) -> list[str]:
    if content is None or len(content) > LARGEST_FILE:
        return []
    return content.decode("utf-8", "replace").splitlines()
