"""Which files a gate starts, or takes as tests: by the words of its command, and by the settings of its runner.

They are the rest that the work is held against, whatever they are called and wherever they lie.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from omo import globs
from omo.proof import calls, kinds, project_checks
from omo.proof.calls import Call

if TYPE_CHECKING:
    from omo.proof.project_files import Files

PYTHON_FILES = re.compile(r"^python_files\s*=(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
CARGO_TEST = re.compile(r'^\[\[(?:test|bench)\]\]\n(?:(?!\[).*\n)*?path\s*=\s*"([^"\n]+)"', re.MULTILINE)
# What stands in front of the script that is meant, where its options were not understood.
STARTERS = re.compile(rf"{calls.INTERPRETER.pattern}|deno|run|source|\.")
# They read a file and start nothing: "honest: node: the syntax of the source looked at before its tests".
READS_ONLY = ("node --check", "node -c", "sh -n", "bash -n", "ruby -c", "perl -c", "php -l")
# What hands on the files that it is given, to a shell or as one program.
FINDS = re.compile(r"find|ls|cat|run-parts|t?cc|gcc|clang|(?:[cg]|clang)\+\+|rustc|javac")
# One of several letters, words or patterns: "tests that npm's script finds by a set of letters".
CHOICE = re.compile(r"\[[^]]*\]|\{[^}]*\}|[@+]\([^)]*\)")


def of_gate(files: Files, unfolded: Sequence[Call], differing: Collection[str] = ()) -> list[str]:
    """Those of the files that a command starts which was `unfolded`, itself or by the scripts and targets that the
    project has for it. One of those that differed from the commit may have been gone: "its script was away when the run
    began"."""
    every = {*files.names, *differing}
    wanted = set(_included(files, unfolded))
    for call in unfolded:
        named = [*_started(call), *_taken(files, call, every), *_looped_over(call)]
        wanted.update(calls.below(call.directory, glob) for glob in named)
    patterns = [glob for glob in wanted if globs.is_pattern(glob)]
    return sorted(path for path in every if path in wanted or any(globs.matches(path, glob) for glob in patterns))


def _included(files: Files, unfolded: Sequence[Call]) -> list[str]:
    """What the makefiles include in whose directory a call is made, or above it: "half, a variable in another file that
    make includes"."""
    included = []
    for directory in {call.directory for call in unfolded}:
        for above in project_checks.upwards(directory):
            for name in project_checks.TASK_FILES["make"]:
                included += project_checks.included_by(files, posixpath.join(above, name))
    return included


def _taken(files: Files, call: Call, every: Collection[str]) -> list[str]:
    """What a runner of tests is told to take: by path, as a module, or by a pattern ("tests that the target names as a
    module", "tests that the settings find by a pattern", "tests that the target finds by -o", "a test target with a
    path of its own"), or below any directory ("a file that jest finds below the top"). Nothing where it takes
    examples out of source."""
    words = re.sub(r"\b(pattern|start-directory|python_files)=", r"\1 ", " ".join(call.given)).split()
    if call.program not in calls.OF_TESTS or any("doctest" in word for word in words):
        return []
    names = [posixpath.relpath(path, call.directory or ".") for path in every]
    taken, patterns, start = [], [], ""
    for before, word in zip(["", *words], words, strict=False):
        if before in ("-p", "--pattern", "python_files"):
            patterns.append(word)
        elif before in ("-s", "--start-directory"):
            start = word.strip("./")
        elif not word.startswith("-"):
            taken += _named(word, names)
    if call.program == "pytest":
        for name in (*kinds.SAYS_WHAT_IS_COLLECTED, *(word for word in words if word.endswith(".ini"))):
            for listed in PYTHON_FILES.findall(files.text(calls.below(call.directory, name))):
                patterns += re.findall(r"[\w*?.-]+", listed)
    if call.program == "cargo test":
        taken += _targets_of_cargo(files, call, names)
    if not call.given:
        taken += filter(re.compile(call.runner.finds).fullmatch, names)
    if not start:
        patterns = [pattern for pattern in patterns if pattern != "*.py"]  # which would be the source as well
    return taken + [posixpath.join(start, "**", pattern) for pattern in patterns]


def _named(word: str, names: Sequence[str]) -> list[str]:
    """What one word of a command stands for: a path, a pattern of paths, or a module."""
    glob = posixpath.normpath(CHOICE.sub("*", word))
    matched = [name for name in names if "/" in word and globs.matches(name, glob)]
    if any(kinds.is_test(name) for name in matched):
        matched = []  # "source beside tests of the usual names, all in one pattern"
    if globs.is_pattern(word):
        return matched
    module = word.replace(".", "/")
    # With the module of a class, and a package, which comes first: "a package in the place of the module".
    modules = [f"{module}.py", f"{posixpath.dirname(module) or module}.py", f"{module}/__init__.py"]
    if not any(name in modules for name in names):  # it lies where PYTHONPATH leads: "tests on a path of Python's"
        modules = [f"**/{module}" for module in modules]
    return [*matched, word.partition("::")[0], *modules]


def _targets_of_cargo(files: Files, call: Call, names: Sequence[str]) -> list[str]:
    """The paths of test targets, in a workspace those of its members: "a test target of a member"."""
    manifests = [name for name in names if posixpath.basename(name) == "Cargo.toml" and not name.startswith("../")]
    files.read([calls.below(call.directory, name) for name in manifests])
    targets = []
    for name in manifests:
        for path in CARGO_TEST.findall(files.text(calls.below(call.directory, name))):
            targets.append(calls.below(posixpath.dirname(name), path))
    return targets


def _looped_over(call: Call) -> list[str]:
    """`for t in t/*.sh; do sh $t; done`, `find checks | xargs sh`, `cc calc.c check.c`: "a script that the target runs
    in a loop", "checks that the target finds". Where nothing loops, by what the project calls them."""
    if call.program == "for":
        return list(call.given[2:])
    if not FINDS.fullmatch(call.program) or any(kinds.is_test(word) for word in call.given):
        return []
    given = [posixpath.normpath(word) for word in call.given]
    return [glob for word in given if kinds.TEST_SCRIPT.fullmatch(word) for glob in (word, f"{word}/**")]


def _started(call: Call) -> list[str]:
    """The program of a call, or the script, module, class or directory that an interpreter is given."""
    words = [*call.program.split(), *call.given]
    if calls.beginning(words, READS_ONLY):
        return []
    if words[0] == "make":  # "half, the target of another file of make's"
        return [word for before, word in pairwise(words) if before == "-f"]
    if words[0] == "java":
        return [f"{word.replace('.', '/')}.java" for word in words[1:]]
    words = words[2:] if words[:2] == ["go", "run"] else words
    while words and STARTERS.fullmatch(posixpath.basename(words[0])):
        words = [word for word in words[1:] if not word.startswith("-")]
    if not words:
        return []
    if "/" in words[0]:
        is_elsewhere = calls.below(call.directory, words[0]) != call.directory
        return [words[0], f"{words[0]}/*"] if is_elsewhere else [words[0]]
    module = words[0].replace(".", "/")
    return [words[0], f"{module}.py", f"{module}/__main__.py"]
