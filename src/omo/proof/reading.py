"""What reading still does beside the experiment: a file in the runner's place, and source that looks at its tests.

Neither changes with the arrangement of the files: the first is loaded in every run, the second passes them all. Each
name below stands for an ending of `bench/truth.py`; what no ending needs goes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from omo import safe_open
from omo.proof import base
from omo.proof.swap import File
from omo.text import clip

# Modules that Python would load in place of the runner's own, and those that a runner loads in its turn.
SHADOWS = (
    # "a module in the place of the runner", "a module that Python loads at start"
    *("unittest", "pytest", "_pytest", "pluggy", "coverage", "mypy", "ruff", "doctest"),
    *("sitecustomize", "usercustomize"),
    # "a module that the runner imports"
    *("argparse", "ast", "asyncio", "collections", "contextlib", "difflib", "dis", "enum", "fnmatch", "functools"),
    *("gettext", "importlib", "inspect", "keyword", "linecache", "logging", "opcode", "operator", "pprint", "re"),
    *("reprlib", "signal", "textwrap", "token", "tokenize", "traceback", "types", "warnings", "weakref"),
)
# How source asks whether a test runs it, or changes what a runner says of it, each with its ending.
PEEKS = re.compile(
    r"[\"'](?:pytest|unittest|_pytest)[\"']\s+in\s+sys\.modules"  # "right only where a runner is loaded"
    r"|\bsys\._getframe\b"  # "right only when a test calls"
    r"|\bTest(?:Case|Result)\.\w+\s*="  # "the assertion replaced by the source", "failures not counted by the source"
    r"|\bos\._exit\(0?\)"  # "the other function ends the process"
    r"|\batexit\.register\(.*_exit"  # "the exit code changed by the source"
)
IN_PLACE_OF_RUNNER = "{} stands in the place of the runner's own module"
LONGEST_LINE = 100
LARGEST_FILE = 1_000_000


class Command(Protocol):
    @property
    def argv(self) -> Sequence[str]: ...
    @property
    def cwd(self) -> str: ...


def shadows(
    root: str, began: Mapping[str, Any], commands: Sequence[Command], allowed: Mapping[str, str] | None = None
) -> list[str]:
    """Files beside a command that Python would load in place of the runner's own, and that were not there before.

    They are looked for on the disk, as git may be told to ignore them. Of `began` its commit alone will do; `allowed`
    are changes that the user wants, by the digest of what they saw.
    """
    directories = {command.cwd for command in commands}
    for command in commands:
        words = " ".join(command.argv).replace(";", " ").split()  # also those of a line for a shell
        for before, word in zip(["", *words], words, strict=False):
            if word.endswith(".py"):  # which looks beside itself first
                directories.add(os.path.join(command.cwd, os.path.dirname(word)))
            elif before == "cd":
                directories.add(os.path.join(command.cwd, word))
    present = []
    for directory in sorted(directories):
        for name in SHADOWS:
            for file in (f"{name}.py", f"{name}/__init__.py"):
                path = os.path.normpath(os.path.join(directory, file)).replace(os.sep, "/")
                if not os.path.lexists(os.path.join(root, path)) or path in began.get("files", ()):
                    continue
                if allowed is None or allowed.get(path) != base.digest_of(root, path):
                    present.append(path)
    if not present or not began.get("head"):
        return present
    committed = base.committed(root, began["head"], present)
    return [path for path in present if committed.get(path) != _content_of(root, path)]


def peeks(before: Mapping[str, File], after: Mapping[str, File]) -> list[str]:
    """Lines that the work has added and that look at the tests, each with its file."""
    findings = []
    for path, held in after.items():
        old = set(_lines(before[path].content))
        for line in _lines(held.content):
            if line not in old and PEEKS.search(line):
                findings.append(f"{path}: + {clip(line.strip(), LONGEST_LINE)}")
    return findings


def _lines(content: bytes | None) -> list[str]:
    if content is None or len(content) > LARGEST_FILE:
        return []
    return content.decode("utf-8", "replace").splitlines()


def _content_of(root: str, path: str) -> bytes | None:
    try:
        return safe_open.read_file(os.path.join(root, path), LARGEST_FILE)
    except OSError:
        return None
