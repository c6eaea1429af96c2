"""Whether a gate looks only at the form of files: types, lint, format, or that they build. To such a gate the tests are
work as well."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omo.proof import calls, kinds
from omo.proof.calls import Call

# Programs that check nothing but form, and commands of programs that do more.
CHECKERS = frozenset(
    (
        *("mypy", "dmypy", "pyright", "basedpyright", "ty", "pyrefly", "ruff", "black", "isort", "flake8", "pylint"),
        *("bandit", "codespell", "compileall", "py_compile", "pre-commit", "tsc", "vue-tsc", "svelte-check", "eslint"),
        *("prettier", "biome", "oxlint", "standard", "stylelint", "markdownlint", "sphinx-build", "mkdocs build"),
        *("yamllint", "actionlint", "hadolint", "shellcheck", "shfmt", "node --check", "deno lint", "deno fmt"),
        *("deno check", "gofmt", "goimports", "golangci-lint", "staticcheck", "go vet", "go build", "go fmt"),
        *("rustfmt", "cargo check", "cargo clippy", "cargo fmt", "cargo build", "cargo doc", "rubocop", "phpstan"),
        *("psalm", "phpcs", "ktlint", "swiftlint", "clang-format", "clang-tidy", "sqlfluff", "terraform validate"),
    )
)
# A target or a script is known by its name: lint, lint:css, check-types, format-check; but not lint-and-test.
TARGET_RUNNERS = frozenset(("tox", *kinds.FILES_OF_RUNNERS, *kinds.FILES_OF_STARTED_RUNNERS))
FORM_WORDS = frozenset(("lint", "linter", "linters", "linting", "type", "types", "typecheck", "format", "fmt", "style"))
MORE_THAN_FORM = frozenset(("test", "tests", "unit", "e2e"))
CHECKS_NOTHING = ("set", "export", "source", ".")


def is_form(argv: Sequence[str]) -> bool:
    """Whether every program that the command starts checks form. No file is read, so a script may do anything."""
    if not argv:
        return False
    checking = [call for call in calls.programs(None, argv, "") if call.program not in CHECKS_NOTHING]
    return bool(checking) and all(map(_checks_form, checking))


def runs_tests(unfolded: Sequence[Call]) -> bool:
    """Whether a runner of tests is behind a name: "lint that runs the tests too". Not `tox -e lint`."""
    return not all(map(_checks_form, calls.of_tests(unfolded)))


def _checks_form(call: Call) -> bool:
    words = [word for word in " ".join((call.program, *call.given)).split() if not word.startswith("+")]
    if call.program in TARGET_RUNNERS:
        targets = [word for word in ",".join(words[1:]).split(",") if not word.startswith("-")]
        return bool(targets) and all(_is_form_name(target) for target in targets)
    return bool(calls.beginning(words, CHECKERS)) or _is_form_name(call.program)


def _is_form_name(name: str) -> bool:
    words = re.split(r"[:_-]", re.sub(r"^check[:_-]", "", name.lower()))
    if not MORE_THAN_FORM.isdisjoint(words):
        return False
    return name in CHECKERS or words[0] in CHECKERS or words[0] in FORM_WORDS
