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
from collections.abc import Sequence

from omo.proof import project_checks
from omo.proof.project_checks import PYTEST, SCRIPT_RUNNERS, TASK_FILES, UNITTEST
from omo.proof.project_files import Commit

INTERPRETERS = re.compile(r"python[\d.]*|(?:ba|z|da|k)?sh|node|ruby|perl|php|deno|bun|tsx|ts-node|env|time|exec")
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


def scripts(root: str, head: str | None, argv: Sequence[str], cwd: str) -> list[str]:
    """Files of the commit that the command executes, itself or by the recipe that the project has for it."""
    if not head:
        return []
    files = _commit(root, head)
    directory = _directory(cwd)
    for_a_shell = [word for word in argv if len(word.split()) > 1]
    texts = [shlex.join(argv), *for_a_shell, *_recipe(files, directory, _plain_words(argv))]
    executed: set[str] = set()
    for text in texts:
        executed.update(_executed(text))
    paths = [posixpath.join(directory, name) for name in sorted(executed)]
    return [path for path in paths if files.has(path)]


def _recipe(files: Commit, directory: str, words: list[str]) -> list[str]:
    """What a script or a target stands for, line by line."""
    if words[0] == SCRIPT:
        scripts = project_checks.scripts_in(files.text(posixpath.join(directory, "package.json")))
        return [scripts.get(name, "") for name in words[1:]]
    for name in TASK_FILES.get(words[0], ()):
        path = posixpath.join(directory, name)
        if files.has(path):
            recipes = project_checks.recipes_in(files.text(path))
            wanted = words[1:2] or list(recipes)[:1]
            return recipes[wanted[0]].lines if wanted and wanted[0] in recipes else []
    return []


def _executed(text: str) -> list[str]:
    """The programs and the scripts of interpreters in a line of shell."""
    names = []
    for part in re.split(r"&&|\|\||[;|\n]", text):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        words = [word for word in words if not re.fullmatch(r"\w+=.*", word)]
        if words and INTERPRETERS.fullmatch(os.path.basename(words[0])):
            words = [word for word in words[1:] if not word.startswith("-")]
        if words:
            names.append(posixpath.normpath(words[0]))
    return names


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
    words = [program, *(word for word in words[1:] if not QUIETER.fullmatch(word))]
    if program in PACKAGE_RUNNERS:
        named = words[2:] if words[1:2] in (["run"], ["run-script"]) else words[1:]
        if len(named) == 1:
            return [SCRIPT, "test" if named[0] == "t" else named[0]]
    return words
