"""The commands in a project's CI files. The files are read as lines: nothing else in them is understood."""

from __future__ import annotations

import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.proof.project_files import Files

DIRECTORY = ".github/workflows"
FILES = (".gitlab-ci.yml", ".circleci/config.yml")
# The programs that a check may start, and the words by which one knows what it is for.
PROGRAMS = frozenset(
    (
        *("pytest", "python", "python3", "tox", "nox", "ruff", "mypy", "pyright", "flake8", "uv", "poetry", "pdm"),
        *("pipenv", "hatch", "make", "just", "npm", "yarn", "pnpm", "bun", "npx", "node", "eslint", "tsc", "deno"),
        *("cargo", "go", "mvn", "gradle", "rake", "bundle", "rspec", "mix", "composer", "dotnet", "swift", "bazel"),
    )
)
KINDS = {
    "types": ("mypy", "pyright", "tsc", "typecheck", "types"),
    "lint": ("lint", "ruff", "eslint", "flake8", "clippy", "vet"),
    "tests": ("test", "tests", "pytest", "unittest", "tox", "nox", "check", "rspec", "phpunit", "jest", "vitest"),
    "build": ("build", "compile"),
}
NO_CHECK = frozenset(("install", "ci", "add", "sync", "publish", "deploy", "release", "push", "login", "pip"))
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/ =,@+")


class CiLine:
    """One line of a CI file that may be a command; `is_at_top` unless its step goes somewhere else first."""

    __slots__ = ("command", "file", "is_at_top", "line")

    def __init__(self, file: str, line: int, command: str, is_at_top: bool) -> None:
        self.file = file
        self.line = line
        self.command = command
        self.is_at_top = is_at_top


def read(files: Files) -> list[CiLine]:
    paths = []
    for name in files.in_directory(DIRECTORY):
        if name.endswith((".yml", ".yaml")):
            paths.append(posixpath.join(DIRECTORY, name))
    lines = []
    for path in (*paths, *FILES):
        step: list[CiLine] = []
        is_at_top = True
        for number, text in enumerate(files.text(path).splitlines(), start=1):
            text = text.strip()
            if text.startswith("- "):
                step, is_at_top = [], True
                text = text.removeprefix("- ").strip()
            if text.startswith("working-directory:"):
                is_at_top = False
                for line in step:
                    line.is_at_top = False
            command = text.removeprefix("run:").removeprefix("command:").strip()
            step.append(CiLine(path, number, command, is_at_top))
            lines.append(step[-1])
    return lines


def kind_of(line: CiLine) -> str:
    """What a plain command is for that starts a known program; empty for anything else."""
    words = line.command.split()
    if not words or (words[0] not in PROGRAMS and not words[0].startswith("./")):
        return ""
    if not line.is_at_top or not LETTERS.issuperset(line.command):
        return ""
    if NO_CHECK.intersection(words):
        return ""
    parts: set[str] = set()
    for word in words:
        parts.update(_parts(word))
    for kind, signs in KINDS.items():
        if parts.intersection(signs):
            return kind
    return ""


def _parts(word: str) -> list[str]:
    for sign in "-_./:=":
        word = word.replace(sign, " ")
    return word.split()
