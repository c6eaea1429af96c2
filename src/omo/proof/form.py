"""Whether a gate looks at the form of files: types, lint, format, or that they build. Their tests are work as well."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence

# Programs that do nothing else; and commands of those that do more.
CHECKERS = frozenset(
    (
        *("mypy", "dmypy", "pyright", "basedpyright", "pyre", "pytype", "ty", "pyrefly", "ruff", "black", "isort"),
        *("flake8", "pylint", "pyflakes", "pycodestyle", "pydocstyle", "bandit", "vulture", "codespell", "compileall"),
        *("py_compile", "yapf", "tsc", "vue-tsc", "svelte-check", "eslint", "prettier", "biome", "oxlint", "xo"),
        *("standard", "stylelint", "tslint", "knip", "publint", "attw", "markdownlint", "markdownlint-cli2", "vale"),
        *("sphinx-build", "yamllint", "actionlint", "hadolint", "shellcheck", "shfmt", "gofmt", "goimports"),
        *("golangci-lint", "staticcheck", "rustfmt", "rubocop", "standardrb", "phpstan", "psalm", "phpcs", "pint"),
        *("php-cs-fixer", "ktlint", "detekt", "swiftlint", "swiftformat", "clang-format", "clang-tidy", "cppcheck"),
        *("sqlfluff", "tflint", "semgrep", "typos", "taplo", "dprint", "cspell", "pre-commit"),
    )
)
CHECKING_COMMANDS = {
    "cargo": ("check", "clippy", "fmt", "build", "doc", "deny"),
    "go": ("vet", "build", "fmt"),
    "deno": ("lint", "fmt", "check"),
    "mix": ("format", "credo", "dialyzer", "compile"),
    "dart": ("analyze", "format"),
    "flutter": ("analyze",),
    "dotnet": ("format", "build"),
    "terraform": ("fmt", "validate"),
    "buf": ("lint",),
    "zig": ("fmt",),
    "mkdocs": ("build",),
    "astro": ("check",),
    "node": ("--check",),
}
# What runs another program in some environment; its own options and settings come before that program.
WRAPPERS = (
    *(("uv", "run"), ("uv", "tool", "run"), ("uvx",), ("pipx", "run"), ("poetry", "run"), ("pdm", "run")),
    *(("pipenv", "run"), ("hatch", "run"), ("rye", "run"), ("bundle", "exec"), ("npx",), ("bunx",), ("bun", "x")),
    *(("npm", "exec"), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("yarn", "dlx")),
    *(("env",), ("time",), ("nice",), ("timeout",), ("xvfb-run",)),
)
SETTING = re.compile(r"-.*|\w+=.*|\d+[smh]?")
WITH_VALUE = frozenset(("--with", "--python", "--group", "--extra", "--package", "-p", "--from", "-C", "-f"))
PACKAGE_RUNNERS = ("npm", "pnpm", "yarn", "bun", "composer")
TARGET_RUNNERS = ("make", "gmake", "just", "task", "tox", "nox", "rake")
# A target or a script is known by its name: lint, lint:css, check-types, format-check; lint-and-test is more than that.
FORM_WORDS = frozenset(("lint", "linter", "linters", "linting", "type", "types", "typecheck", "format", "fmt", "style"))
MORE_THAN_FORM = frozenset(("test", "tests", "unit", "e2e"))
BY_NAME = re.compile(r"(?:.*/)?\.?bin/[^/]+|[^/]+")  # also of a virtual environment, node_modules/.bin, vendor/bin
SHELL = re.compile(r"(?:ba|z|da|k)?sh")
INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*")
BETWEEN_COMMANDS = re.compile(r"&&|\|\||[;|\n]")
CHECKS_NOTHING = ("cd", "set", "export", "echo", "true", "source", ".")


def is_form(argv: Sequence[str]) -> bool:
    words = _without_wrapper(list(argv))
    if not words or not BY_NAME.fullmatch(words[0]):
        return False  # a script of the project may do anything
    program = posixpath.basename(words[0])
    if SHELL.fullmatch(program):
        return len(words) == 3 and words[1].endswith("c") and _is_form_of_line(words[2])
    if INTERPRETER.fullmatch(program):
        return "-m" in words[1:-1] and is_form(words[words.index("-m") + 1 :])
    arguments = _arguments(words[1:])
    if program in PACKAGE_RUNNERS:
        scripts = [word for word in arguments if word not in ("run", "run-script")]
        return bool(scripts) and _is_name_of_form(scripts[0])
    if program in TARGET_RUNNERS:
        targets = ",".join(arguments).split(",")
        return all(_is_name_of_form(target) for target in targets)
    return program in CHECKERS or (bool(arguments) and arguments[0] in CHECKING_COMMANDS.get(program, ()))


def _without_wrapper(words: list[str]) -> list[str]:
    for wrapper in WRAPPERS:
        if tuple(words[: len(wrapper)]) == wrapper:
            words = words[len(wrapper) :]
            while words and SETTING.fullmatch(words[0]):
                words = words[2:] if words[0] in WITH_VALUE else words[1:]
            return _without_wrapper(words)
    if words and re.fullmatch(r"\w+=.*", words[0]):
        return _without_wrapper(words[1:])
    return words


def _arguments(words: list[str]) -> list[str]:
    """Without options, their values (`make -j 4 -C api`) and a toolchain (`cargo +nightly`)."""
    arguments = []
    is_value = False
    for word in words:
        is_option = word.startswith(("-", "+")) and word != "--check"
        if not is_option and not is_value and not word.isdigit():
            arguments.append(word)
        is_value = word in WITH_VALUE
    return arguments


def _is_name_of_form(name: str) -> bool:
    if name in CHECKERS:
        return True
    words = re.split(r"[:_-]", name.lower())
    if not MORE_THAN_FORM.isdisjoint(words):
        return False
    if words[0] == "check":
        words = words[1:]
    return bool(words) and (words[0] in FORM_WORDS or words[0] in CHECKERS)


def _is_form_of_line(line: str) -> bool:
    """A line of a shell in which every command checks the form."""
    is_checked = False
    for part in BETWEEN_COMMANDS.split(line):
        try:
            words = shlex.split(part)
        except ValueError:
            return False
        if not words or words[0] in CHECKS_NOTHING:
            continue
        if not is_form(words):
            return False
        is_checked = True
    return is_checked
