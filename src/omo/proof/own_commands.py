"""Which commands are a project's own: those its files named before the work began.

A gate of the project's, a script or target by its runner, a line of its CI, or the plain command of its ecosystem
beside its manifest. Options that select what is run make it somebody's choice again, so only those that change how much
is printed are allowed.
"""

from __future__ import annotations

import functools
import os
import posixpath
import re
import shlex
from collections.abc import Collection, Sequence

from omo.proof import project_checks
from omo.proof.project_checks import PYTEST, SCRIPT_RUNNERS, TASK_FILES, UNITTEST
from omo.proof.project_files import Commit

# What stands in front of the script that is meant: interpreters, also by a variable of make, and what runs others.
STARTERS = re.compile(
    r"python[\d.]*|(?:ba|z|da|k)?sh|node|ruby|perl|php|deno|bun|tsx|ts-node|env|time|exec"
    r"|\$[({](?:PY|NODE|SH|BASH|RUBY|PERL|PHP)\w*[)}]"
    r"|timeout|\d+[smh]?|nice|xvfb-run|uv|poetry|pdm|pipenv|run|npx|bunx|bundle"
)
# Where a program lies that is meant by its name alone; any other path may be anybody's.
OF_THE_SYSTEM = re.compile(
    r"(?:/usr(?:/local)?/bin/|/bin/|(?:\./)?(?:\.venv|venv|env)/bin/|(?:\./)?node_modules/\.bin/)?[^/]+$"
)
WRAPPERS = (
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("bundle", "exec"),
    ("npx",),
    ("bunx",),
)
QUIETER = re.compile(
    r"-q+|-v+|-x|-s|-B|-ra|--quiet|--verbose|--silent|--no-header|--exitfirst|--failfast"
    r"|--tb=\w+|--colou?r(=\w+)?|--maxfail=\d+|--no-color"
)
PACKAGE_RUNNERS = ("npm", *SCRIPT_RUNNERS.values())
SCRIPT = "\0script"  # in the place of a program, and the name of none


def where(root: str, head: str | None, argv: Sequence[str], cwd: str) -> str:
    """The file that names this command at the commit; empty where none does."""
    if not head:
        return ""
    files = _commit(root, head)
    directory = _directory(cwd)
    for gate in project_checks.project_gates(files):
        if gate.argv == list(argv) and not directory:
            return gate.source
    wanted = _plain_words(argv)
    for check in project_checks.read(files, root, directory):
        if check.language != project_checks.CI and _plain_words(check.argv) == wanted:
            return check.source
    if wanted in [_plain_words(command.split()) for command in (*PYTEST, *UNITTEST)]:
        start = f"{directory}/" if directory else ""
        for name in sorted(files.names):
            if name.startswith(start) and project_checks.is_python_test(name):
                return name
    for line in project_checks.ci_lines(files):
        try:
            if line.command and shlex.split(line.command) == list(argv):
                return line.file
        except ValueError:
            continue
    return ""


def scripts(root: str, head: str | None, argv: Sequence[str], cwd: str, uncommitted: Collection[str] = ()) -> list[str]:
    """Files of the commit, or of those that were there and in none, that the command executes, itself or by the recipes
    that the project has for it."""
    if not head:
        return []
    files = _commit(root, head)
    for_a_shell = [word for word in argv if len(word.split()) > 1]
    left = [(_directory(cwd), text) for text in (shlex.join(argv), *for_a_shell)]
    looked_at: set[tuple[str, str]] = set()
    executed: set[str] = set()
    while left:
        directory, text = left.pop()
        if (directory, text) in looked_at:
            continue
        looked_at.add((directory, text))
        for part in re.split(r"&&|\|\||[;|\n]", text):
            words = _words(part)
            if words[:1] == ["cd"]:
                directory = posixpath.normpath(posixpath.join(directory, *words[1:2]))
            elif words:
                executed.update(posixpath.normpath(posixpath.join(directory, name)) for name in _executed(words))
                left += _recipe(files, directory, words)
    return sorted(path for path in executed if files.has(path) or path in uncommitted)


def _words(part: str) -> list[str]:
    """The words of one command of a shell, without variables that are set in front of it."""
    try:
        words = shlex.split(part)
    except ValueError:
        words = part.split()
    return ["make" if word == "$(MAKE)" else word for word in words if not re.fullmatch(r"\w+=.*", word)]


def _recipe(files: Commit, directory: str, words: list[str]) -> list[tuple[str, str]]:
    """What a script or a target stands for, line by line, with what comes before it; and the directory of each."""
    words = _plain_words(words)
    if words[0] == SCRIPT:
        manifest = posixpath.normpath(posixpath.join(directory, "package.json"))
        scripts = project_checks.scripts_in(files.text(manifest))
        return [(directory, scripts.get(name, "")) for name in words[1:]]
    if words[1:2] == ["-C"]:
        directory = posixpath.normpath(posixpath.join(directory, *words[2:3]))
        words = [words[0], *words[3:]]
    for name in TASK_FILES.get(words[0], ()):
        path = posixpath.normpath(posixpath.join(directory, name))
        if files.has(path):
            recipes = project_checks.recipes_in(files.text(path))
            lines = []
            for wanted in words[1:] or list(recipes)[:1]:
                if wanted in recipes:
                    lines += recipes[wanted].lines
                    lines += [f"{words[0]} {needed}" for needed in recipes[wanted].needs if needed in recipes]
            return [(directory, line) for line in lines]
    return []


def _executed(words: list[str]) -> list[str]:
    """The program of a command, or the script or module that an interpreter is given."""
    names = []
    if "-m" in words[:-1]:
        names.append(words[words.index("-m") + 1].replace(".", "/") + ".py")
    while words and STARTERS.fullmatch(os.path.basename(words[0])):
        words = [word for word in words[1:] if not word.startswith("-")]
    return names + words[:1]


# A commit does not change, so it is read once.
@functools.cache
def _commit(root: str, head: str) -> Commit:
    return Commit(root, head)


def _directory(cwd: str) -> str:
    return "" if cwd in ("", ".") else cwd.replace(os.sep, "/")


def _plain_words(argv: Sequence[str]) -> list[str]:
    """The command without a wrapper, the path of its program, and what only changes how much it prints; a script of
    package.json as that, whoever runs it."""
    words = list(argv)
    for wrapper in WRAPPERS:
        if tuple(words[: len(wrapper)]) == wrapper and len(words) > len(wrapper):
            words = words[len(wrapper) :]
    program = words[0]
    if OF_THE_SYSTEM.match(program):
        program = os.path.basename(program)
    if re.fullmatch(r"python[\d.]*", program):
        program = "python"
    if program == "gmake":
        program = "make"
    # To make, -q is a question: nothing is run.
    words = [program, *(word for word in words[1:] if not QUIETER.fullmatch(word) or (program, word) == ("make", "-q"))]
    if program in PACKAGE_RUNNERS:
        named = words[2:] if words[1:2] in (["run"], ["run-script"]) else words[1:]
        if len(named) == 1:
            return [SCRIPT, "test" if named[0] == "t" else named[0]]
    return words
