"""Which commands are a project's own: those its files named before the work began.

A script or target by its runner, a line of its CI, or the plain command of its ecosystem beside its manifest. Options
that select what is run make it somebody's choice again, so only those that change how much is printed are allowed.
"""

from __future__ import annotations

import functools
import json
import os
import posixpath
import re
import shlex
from collections.abc import Sequence

from omo.proof import base

# Beside one of these files, these commands are plain.
PLAIN = (
    (
        ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "conftest.py"),
        ("pytest", "python -m pytest", "python -m unittest", "python -m unittest discover"),
    ),
    (("tox.ini",), ("tox",)),
    (("noxfile.py",), ("nox",)),
    (("mypy.ini", "pyproject.toml", "setup.cfg"), ("mypy", "mypy .", "python -m mypy", "python -m mypy .")),
    (("ruff.toml", ".ruff.toml", "pyproject.toml"), ("ruff check", "ruff check .", "python -m ruff check .")),
    (("Cargo.toml",), ("cargo test", "cargo check", "cargo build", "cargo clippy")),
    (("go.mod",), ("go test ./...", "go vet ./...", "go build ./...")),
    (("package.json",), ("node --test",)),
    (("tsconfig.json",), ("tsc --noEmit", "tsc -p . --noEmit")),
    (("pom.xml",), ("mvn test", "mvn verify", "./mvnw test", "./mvnw verify")),
    (("build.gradle", "build.gradle.kts"), ("gradle test", "./gradlew test", "./gradlew check", "gradle check")),
    (("mix.exs",), ("mix test",)),
    (("Gemfile", "Rakefile"), ("rspec", "rake test", "rake", "rails test")),
    (("composer.json",), ("vendor/bin/phpunit", "composer test")),
    (("deno.json", "deno.jsonc"), ("deno test", "deno check .")),
)
# A project of a few files has no manifest; its tests say what runs them.
PYTHON_TESTS = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
OF_PYTHON_TESTS = PLAIN[0][1]
CI_FILES = re.compile(r"^\.github/workflows/[^/]+\.ya?ml$|^\.gitlab-ci\.yml$|^\.circleci/config\.yml$")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
JUSTFILES = ("justfile", "Justfile", ".justfile")
INTERPRETERS = re.compile(r"python[\d.]*|(?:ba|z|da|k)?sh|node|ruby|perl|php|deno|bun|tsx|ts-node|env|time|exec")
SCRIPT_RUNNERS = ("npm", "yarn", "pnpm", "bun")
# Where a program lies that is meant by its name alone; any other path may be anybody's.
OF_THE_SYSTEM = re.compile(
    r"(?:/usr(?:/local)?/bin/|/bin/|(?:\./)?(?:\.venv|venv|env)/bin/|(?:\./)?node_modules/\.bin/)?[^/]+$"
)
WRAPPERS = (("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("bundle", "exec"), ("npx",), ("bunx",))
QUIETER = re.compile(
    r"-q+|-v+|-x|-s|-B|-ra|--quiet|--verbose|--silent|--no-header|--exitfirst|--failfast"
    r"|--tb=\w+|--colou?r(=\w+)?|--maxfail=\d+|--no-color"
)
_TARGET = re.compile(r"^([A-Za-z0-9_.-]+)[^\n=]*?:(?!=)", re.MULTILINE)


def where(root: str, head: str | None, argv: Sequence[str], cwd: str) -> str:
    """The file that names this command at the commit; empty where none does."""
    if not head:
        return ""
    files = _Files(root, head, cwd)
    words = _plain_words(argv)
    for named_in in (_script, _target, _plain, _ci_line):
        file = named_in(files, words, argv)
        if file:
            return file
    return ""


def scripts(root: str, head: str | None, argv: Sequence[str], cwd: str) -> list[str]:
    """Files of the commit that the command executes, itself or by the recipe that the project has for it."""
    if not head:
        return []
    files = _Files(root, head, cwd)
    words = _plain_words(argv)
    for_a_shell = [word for word in argv if len(word.split()) > 1]
    texts = [shlex.join(argv), *for_a_shell, *_recipe(files, words)]
    executed: set[str] = set()
    for text in texts:
        executed.update(_executed(text))
    return [files.path(name) for name in sorted(executed) if files.has(name)]


def _recipe(files: _Files, words: list[str]) -> list[str]:
    """What a script or a target stands for, line by line."""
    if words[0] in SCRIPT_RUNNERS:
        return [str(_scripts(files).get(name, "")) for name in words[1:]]
    named = {"make": MAKEFILES, "gmake": MAKEFILES, "just": JUSTFILES}.get(words[0], ())
    present = [name for name in named if files.has(name)]
    if not present:
        return []
    text = files.text(present[0])
    wanted = words[1:2] or _TARGET.findall(text)[:1]
    lines, target = [], ""
    for line in text.splitlines():
        if line[:1] not in ("\t", " "):
            target = "".join(_TARGET.findall(line)[:1])
        elif target in wanted:
            lines.append(line.strip().lstrip("@-"))
    return lines


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


class _Files:
    """What the commit has, seen from the directory the command runs in."""

    def __init__(self, root: str, head: str, cwd: str) -> None:
        self._root, self._head = root, head
        self._below = "" if cwd in ("", ".") else cwd.replace(os.sep, "/")
        self.names = _names(root, head)

    def has(self, name: str) -> bool:
        return posixpath.join(self._below, name) in self.names

    def path(self, name: str) -> str:
        return posixpath.join(self._below, name)

    def text(self, name: str, *, at_top: bool = False) -> str:
        path = name if at_top else posixpath.join(self._below, name)
        return _text(self._root, self._head, path)

    @property
    def below(self) -> list[str]:
        start = self._below + "/" if self._below else ""
        return [name for name in self.names if name.startswith(start)]


# A commit does not change, so each thing is asked of it once.
@functools.cache
def _names(root: str, head: str) -> frozenset[str]:
    return frozenset(base.names(root, head))


@functools.cache
def _text(root: str, head: str, path: str) -> str:
    return base.committed(root, head, [path]).get(path, b"").decode("utf-8", "replace")


def _plain_words(argv: Sequence[str]) -> list[str]:
    """The command without a wrapper, the path of its program, and what only changes how much it prints."""
    words = list(argv)
    for wrapper in WRAPPERS:
        if tuple(words[: len(wrapper)]) == wrapper and len(words) > len(wrapper):
            words = words[len(wrapper) :]
    program = words[0]
    if OF_THE_SYSTEM.match(program):
        program = os.path.basename(program)
    if re.fullmatch(r"python[\d.]*", program):
        program = "python"
    return [program, *(word for word in words[1:] if not QUIETER.fullmatch(word))]


def _script(files: _Files, words: list[str], argv: Sequence[str]) -> str:
    """npm test, npm run build, yarn lint."""
    if words[0] not in SCRIPT_RUNNERS:
        return ""
    named = words[2:] if words[1:2] in (["run"], ["run-script"]) else words[1:]
    if len(named) != 1:
        return ""
    name = "test" if named[0] == "t" else named[0]
    return f"package.json, script {name}" if name in _scripts(files) else ""


def _scripts(files: _Files) -> dict[str, object]:
    try:
        scripts = json.loads(files.text("package.json")).get("scripts")
    except (ValueError, AttributeError):
        return {}
    return scripts if isinstance(scripts, dict) else {}


def _target(files: _Files, words: list[str], argv: Sequence[str]) -> str:
    """make check, just test; a bare `make` is its first target."""
    named = {"make": MAKEFILES, "gmake": MAKEFILES, "just": JUSTFILES}.get(words[0], ())
    present = [name for name in named if files.has(name)]
    if not present or len(words) > 2:
        return ""
    targets = _TARGET.findall(files.text(present[0]))
    is_target = bool(targets) if len(words) == 1 else words[1] in targets
    return present[0] if is_target else ""


def _plain(files: _Files, words: list[str], argv: Sequence[str]) -> str:
    command = " ".join(words)
    for manifests, commands in PLAIN:
        present = [name for name in manifests if files.has(name)]
        if present and command in commands:
            return present[0]
    if command in OF_PYTHON_TESTS:
        tests = sorted(name for name in files.below if PYTHON_TESTS.search(name))
        if tests:
            return tests[0]
    return ""


def _ci_line(files: _Files, words: list[str], argv: Sequence[str]) -> str:
    for name in sorted(name for name in files.names if CI_FILES.search(name)):
        for line in files.text(name, at_top=True).splitlines():
            command = line.strip().removeprefix("- ").removeprefix("run:").strip()
            try:
                if command and shlex.split(command) == list(argv):
                    return name
            except ValueError:
                continue
    return ""
