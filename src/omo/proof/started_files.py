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
from omo.proof import calls, form, kinds, project_checks
from omo.proof.calls import Call

if TYPE_CHECKING:
    from omo.proof.project_files import Files

# Runners that take a directory of files that are called anything, and where their settings name those of tests.
TAKES_DIRECTORIES: dict[str, tuple[str, str]] = {
    "pytest": (" ".join(kinds.SAYS_WHAT_IS_COLLECTED), r"^testpaths\s*=(.*(?:\n[ \t]+.*)*)"),
    "jest": ("package.json jest.config.*", r"""\b(?:roots|testMatch)["']?\s*:\s*\[([^]]*)"""),
    "vitest": ("vitest.config.* vite.config.*", r"""\b(?:dir|include)["']?\s*:\s*(\[[^]]*|.*)"""),
    "mocha": ("package.json .mocharc.*", r"""\bspec["']?\s*:\s*(\[[^]]*|.*(?:\n\s*- .*)*)"""),
    "phpunit": ("phpunit*.xml*", r"<directory[^>]*>([^<]+)"),
    **dict.fromkeys(("unittest", "node --test", "ava", "rspec", "prove"), ("", "")),
}
# Such a directory may hold the source as well (`testpaths = src`, a package with its tests inside), so its own name has
# to say tests too.
DIRECTORY_OF_TESTS = re.compile(
    r"(?:.*[-_])?(?:tests?|testing|testsuite|unittests?|checks?|specs?)"
    r"|t|qa|unit|integration|functional|acceptance|regression"
)
PYTHON_FILES = re.compile(r"^python_files\s*=(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
CARGO_TEST = re.compile(r'^\[\[(?:test|bench)\]\]\n(?:(?!\[).*\n)*?path\s*=\s*"([^"\n]+)"', re.MULTILINE)
# What stands in front of the script that is meant, where its options were not understood.
STARTERS = re.compile(rf"{calls.INTERPRETER.pattern}|deno|run|source|\.")
# They read a file and start nothing: "honest: node: the syntax of the source looked at before its tests".
READS_ONLY = ("node --check", "node -c", "sh -n", "bash -n", "ruby -c", "perl -c", "php -l")
# Options by which a runner of tasks is told another file of them.
OTHER_FILE_OF_TASKS = re.compile(r"-f|--\w*file")
# What hands on the files that it is given, to a shell or as one program.
FINDS = re.compile(r"find|ls|cat|run-parts")
COMPILES = re.compile(r"t?cc|gcc|clang|cxx|(?:[cg]|clang)\+\+|rustc|javac")
# One of several letters, words or patterns: "tests that npm's script finds by a set of letters".
CHOICE = re.compile(r"\[[^]]*\]|\{[^}]*\}|[@+]\([^)]*\)")


def of_gate(files: Files, unfolded: Sequence[Call], differing: Collection[str] = ()) -> list[str]:
    """Those of the files that a command starts which was `unfolded`, itself or by the scripts and targets that the
    project has for it. One of those that differed from the commit may have been gone: "its script was away when the run
    began"."""
    every = {*files.names, *differing}
    wanted = set(_included(files, unfolded))
    for call in unfolded:
        named = [*_started(call), *_of_tasks(call), *_taken(files, call, every), *_looped_over(call, unfolded)]
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


def _of_tasks(call: Call) -> list[str]:
    """Return the task files of its runner, here or above, and the one that it is told to read: "half, the task file of
    doit runs less", "half, the target of another file of make's"."""
    runner = call.program.partition(" ")[0]
    if runner not in form.TARGET_RUNNERS:
        return []
    words = [word for given in call.given for word in given.split("=", 1)]
    told = [word for before, word in pairwise(words) if OTHER_FILE_OF_TASKS.fullmatch(before)]
    names = kinds.FILES_OF_STARTED_RUNNERS.get(runner, "").split()
    above = [posixpath.relpath(place or ".", call.directory or ".") for place in project_checks.upwards(call.directory)]
    return told + [posixpath.join(place, name) for place in above for name in names]


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
    settings = _settings(files, call)
    taken += _directories_of_tests(call, words, settings)
    if call.program == "pytest":
        for listed in PYTHON_FILES.findall(settings):
            patterns += re.findall(r"[\w*?.-]+", listed)
    if call.program == "cargo test":
        taken += _targets_of_cargo(files, call, names)
    if not call.given:
        taken += filter(re.compile(call.runner.finds).fullmatch, names)
    if not start:
        patterns = [pattern for pattern in patterns if pattern != "*.py"]  # which would be the source as well
    return taken + [posixpath.join(start, "**", pattern) for pattern in patterns]


def _settings(files: Files, call: Call) -> str:
    """Return the text of a runner's settings, of its own files and of an .ini that it is told."""
    globs_of_names, _ = TAKES_DIRECTORIES.get(call.program, ("", ""))
    present = files.in_directory(call.directory)
    names = [name for glob in globs_of_names.split() for name in present if globs.name_matches(name, glob)]
    names += [word for word in call.given if word.endswith(".ini")]
    return "\n".join(files.text(calls.below(call.directory, name)) for name in names)


def _directories_of_tests(call: Call, words: Sequence[str], settings: str) -> list[str]:
    """Return globs of the directories that a runner takes, by its settings or its command, and whose names say tests:
    "half, in pytest, a helper in the directory that testpaths names"."""
    if call.program not in TAKES_DIRECTORIES:
        return []
    _, pattern = TAKES_DIRECTORIES[call.program]
    listed = re.findall(r"[^\s\"',\[\]]+", "\n".join(re.findall(pattern, settings, re.MULTILINE)))
    named = [word for before, word in pairwise(["", *words]) if before not in ("-k", "-m")]
    directories = []
    for word in (*listed, *named):
        parts = posixpath.normpath(word.removeprefix("<rootDir>/")).split("/")
        for depth, part in enumerate(parts, 1):
            if DIRECTORY_OF_TESTS.fullmatch(part):
                directories.append("/".join([*parts[:depth], "**"]))
                break
    return directories


def _named(word: str, names: Sequence[str]) -> list[str]:
    """What one word of a command stands for: a path, a pattern of paths, or a module."""
    glob = posixpath.normpath(CHOICE.sub("*", word))
    matched = [name for name in names if "/" in word and globs.matches(name, glob)]
    if any(kinds.is_test(name) for name in matched):
        matched = []  # "source beside tests of the usual names, all in one pattern"
    if globs.is_pattern(word):
        return matched
    module = word.replace(".", "/")
    # With the module of a class, and a package, which comes first: "a package in the place of the module", "a package
    # that is bytecode alone in the place of a test".
    packages = [f"{module}/__init__.py", f"{module}/__init__.pyc"]
    modules = [f"{module}.py", f"{posixpath.dirname(module) or module}.py", *packages]
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


def _looped_over(call: Call, unfolded: Sequence[Call]) -> list[str]:
    """`for t in t/*.sh; do sh $t; done`, `find checks | xargs sh`, `cc calc.c check.c`: "a script that the target runs
    in a loop", "checks that the target finds". Where nothing loops, by what the project calls them."""
    if call.program == "for":
        return list(call.given[2:])
    hands_on = FINDS.fullmatch(call.program) or (COMPILES.fullmatch(call.program) and _makes_tests(call, unfolded))
    if not hands_on or any(kinds.is_test(word) for word in call.given):
        return []
    looped_over = []
    for word in map(posixpath.normpath, call.given):
        if kinds.TEST_SCRIPT.fullmatch(word):
            looped_over += [word, f"{word}/**"]
            if word.endswith(".o"):  # "half, a check that the target needs, by its objects"
                looped_over.append(f"**/{posixpath.basename(word)[:-1]}*")
    return looped_over


def _makes_tests(call: Call, unfolded: Sequence[Call]) -> bool:
    """Return whether the program that is compiled, if it is named, is called a test and started too: "a source that is
    called check, of a program that the target starts", "a program that is called verify, with its source"."""
    if "-c" in call.given:
        return False
    output = next((word for before, word in pairwise(call.given) if before == "-o"), "")
    started: set[str] = set()
    for other in unfolded:
        if not COMPILES.fullmatch(other.program):
            started.update(calls.below(other.directory, word) for word in (other.program, *other.given))
    is_test = bool(kinds.TEST_SCRIPT.fullmatch(output)) and calls.below(call.directory, output) in started
    return is_test or not output


def _started(call: Call) -> list[str]:
    """The program of a call, or the script, module, class or directory that an interpreter is given."""
    words = [*call.program.split(), *call.given]
    if calls.beginning(words, READS_ONLY):
        return []
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
