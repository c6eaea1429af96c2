"""The checks that a project's own files name: read, never executed, and the best of them offered.

`own_commands.where` asks the same reading of a commit whether a command is the project's own. A hook reads it too when
it arms a run, so only what hooks have loaded anyway is imported here: no `re`, and `shlex` where there are quotes.
"""

from __future__ import annotations

import os
import posixpath

from omo import globs, settings
from omo.digest import sha256
from omo.errors import BadInput
from omo.json_text import dumps, loads
from omo.proof import environments
from omo.proof.typed_commands import argv_of, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from omo.proof.project_files import Files

TASKS, CI = "tasks", "ci"
TESTS, TYPES, LINT, BUILD = KINDS = ("tests", "types", "lint", "build")  # the best first
# By what scripts and targets are called. Of several in one file the first counts.
NAMES = {
    TESTS: (
        *("test", "tests", "check", "unit", "test:unit", "test-unit", "unittest", "spec", "verify"),
        *("test:ci", "test:run"),  # beside a `test` that watches
    ),
    TYPES: ("typecheck", "type-check", "types", "check-types", "check:types", "tsc", "mypy"),
    LINT: ("lint", "lint:check", "check:lint", "eslint", "ruff", "clippy", "vet"),
    BUILD: ("build", "compile"),
}
# A script with one of these words is no check: it does not end, or changes what it looks at. `--watch=false` ends.
NO_CHECK = frozenset(("--watch", "--watchAll", "--fix", "--write"))
NOT_WRITTEN_YET = "no test specified"
PYTHON_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "conftest.py")
PYTEST, UNITTEST = "pytest", "python3 -m unittest"
INIT = "__init__.py"
CODE_OF_NODE = ("js", "ts", "mjs", "cjs", "mts")
NODE_TESTS = (".test.js", ".test.mjs", ".test.cjs")
# Language, kind, commands that are plain beside one of the files, and which text in which of these files is the reason
# to offer the first of them: its being there, or none. `calls.call_of` knows each of them in its other spellings.
PLAIN: tuple[tuple[str, str, tuple[str, ...], dict[str, str | None]], ...] = (
    (
        *("python", TESTS, (PYTEST,)),
        {
            "pytest.ini": "",
            "conftest.py": "",
            "pyproject.toml": "pytest",
            "setup.cfg": "[tool:pytest",
            "tox.ini": "[pytest",
            "setup.py": None,
        },
    ),
    ("python", TESTS, (UNITTEST,), dict.fromkeys(PYTHON_MANIFESTS)),
    ("python", TESTS, ("python3 manage.py test",), {"manage.py": "django"}),
    ("python", TESTS, ("tox",), {"tox.ini": "[testenv"}),
    ("python", TESTS, ("nox",), {"noxfile.py": ""}),
    ("python", TYPES, ("mypy .",), {"mypy.ini": "", "pyproject.toml": "[tool.mypy", "setup.cfg": "[mypy"}),
    ("python", LINT, ("ruff check .",), {"ruff.toml": "", ".ruff.toml": "", "pyproject.toml": "[tool.ruff"}),
    ("rust", TESTS, ("cargo test",), {"Cargo.toml": ""}),
    ("rust", LINT, ("cargo clippy",), {"Cargo.toml": "lints"}),
    ("rust", BUILD, ("cargo build", "cargo check"), {"Cargo.toml": ""}),
    ("go", TESTS, ("go test ./...",), {"go.mod": ""}),
    ("go", LINT, ("go vet ./...",), {"go.mod": ""}),
    ("go", BUILD, ("go build ./...",), {"go.mod": ""}),
    ("node", TESTS, ("npx jest",), {f"jest.config.{end}": "" for end in CODE_OF_NODE}),
    ("node", TESTS, ("npx vitest run",), {f"vitest.config.{end}": "" for end in CODE_OF_NODE}),
    ("node", TESTS, ("node --test",), {"package.json": None}),
    ("node", TYPES, ("npx tsc --noEmit", "npx tsc -p . --noEmit"), {"tsconfig.json": ""}),
    ("java", TESTS, ("mvn test", "mvn verify"), {"pom.xml": ""}),
    (
        *("java", TESTS, ("gradle test", "gradle check")),
        dict.fromkeys(("settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"), ""),
    ),
    ("scala", TESTS, ("sbt test",), {"build.sbt": ""}),
    ("dotnet", TESTS, ("dotnet test",), {"*.sln": "", "*.slnx": "", "*.csproj": ""}),
    ("swift", TESTS, ("swift test",), {"Package.swift": ""}),
    ("dart", TESTS, ("flutter test",), {"pubspec.yaml": "sdk: flutter"}),
    ("dart", TESTS, ("dart test",), {"pubspec.yaml": ""}),
    ("elixir", TESTS, ("mix test",), {"mix.exs": ""}),
    ("ruby", TESTS, ("rspec",), {"Gemfile": "rspec", "Rakefile": None}),
    ("ruby", TESTS, ("rake test", "rake", "rails test"), {"Rakefile": "test", "Gemfile": None}),
    ("php", TESTS, ("vendor/bin/phpunit", "composer test"), {"composer.json": "phpunit"}),
    ("perl", TESTS, ("prove -l",), dict.fromkeys(("Makefile.PL", "Build.PL", "cpanfile", "dist.ini"), "")),
    ("deno", TESTS, ("deno test",), {"deno.json": "", "deno.jsonc": ""}),
    ("deno", TYPES, ("deno check .",), {"deno.json": None, "deno.jsonc": None}),
)
# What runs tests in environments of its own, and which of them.
ENVIRONMENTS = {"tox": environments.of_tox, "nox": environments.of_nox}
WRAPPERS = {"mvn": "mvnw", "gradle": "gradlew"}  # a file of the project's that stands for the program
# What a lock file, here or in a directory above, says about who runs scripts and programs.
SCRIPT_RUNNERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
# `uv run` brings the environment up to the lock file first, which would change it between the runs of an experiment.
UV, UV_WITH_SYNC = ["uv", "run", "--no-sync"], ["uv", "run"]
PYTHON_RUNNERS = {
    "uv.lock": " ".join(UV),
    "poetry.lock": "poetry run",
    "pdm.lock": "pdm run",
    "Pipfile.lock": "pipenv run",
}
RUBY_RUNNERS = {"Gemfile.lock": "bundle exec"}
INCLUDES = ("include", "-include", "sinclude")  # of make
CONDITIONS = ("ifeq", "ifneq", "ifdef", "ifndef", "else", "endif")
PACKAGES_LIE_IN = ("src", "lib")  # where a package lies that the tests do not find unless it is installed
TASK_FILES = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
}
READ = frozenset(
    (
        *("package.json", settings.FILE, *TASK_FILES["make"], *TASK_FILES["just"]),
        *(name for *_, signs in PLAIN for name in signs),
    )
)
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/")
# Offered where the project names nothing else.
TEST_SCRIPTS = (
    "test.sh",
    "run_tests.sh",
    "run-tests.sh",
    "scripts/test",
    "scripts/test.sh",
    "script/test",
    "bin/test",
    "tests/run",
    "tests/run.sh",
    "test/run.sh",
)
CI_DIRECTORY = ".github/workflows"
CI_FILES = (".gitlab-ci.yml", ".circleci/config.yml")
# The programs that a check of CI may start, the words by which one knows what it is for, and those of no check.
CI_PROGRAMS = frozenset(
    (
        *("pytest", "python", "python3", "tox", "nox", "ruff", "mypy", "pyright", "flake8", "uv", "poetry", "pdm"),
        *("pipenv", "hatch", "make", "just", "npm", "yarn", "pnpm", "bun", "npx", "node", "eslint", "tsc", "deno"),
        *("cargo", "go", "mvn", "gradle", "rake", "bundle", "rspec", "mix", "composer", "dotnet", "swift", "bazel"),
    )
)
CI_WORDS = {
    TYPES: ("mypy", "pyright", "tsc", "typecheck", "types"),
    LINT: ("lint", "ruff", "eslint", "flake8", "clippy", "vet"),
    TESTS: ("test", "tests", "pytest", "unittest", "tox", "nox", "check", "rspec", "phpunit", "jest", "vitest"),
    BUILD: ("build", "compile"),
}
CI_LETTERS = LETTERS.union(" =,@+")
CI_NO_CHECK = frozenset(("install", "ci", "add", "sync", "publish", "deploy", "release", "push", "login", "pip"))


class Check:
    """A command that a file of the project names. Without a `kind` it is the project's own, and not offered.

    `key` says which entry of the file it is. `language` is that of its runner, or whoever runs what is for all of them.

    Of tests, `instead` are the commands that it gives way to, in order. One that `stands_in` is tried only where one
    before it does not get to all of the tests: it may be a part of them, or the same command in another spelling. It
    `looks_in` a directory for modules that the others do not find. `candidates_id` is the id under which the answer is
    kept.
    """

    def __init__(self, argv: list[str], file: str, language: str, kind: str = "", *, key: str = "") -> None:
        self.argv = argv
        self.cwd = "."
        self.file = file
        self.language = language
        self.kind = kind
        self.key = key
        self.name = kind
        self.instead: list[Check] = []
        self.stands_in = False
        self.looks_in = ""
        self.candidates_id = ""

    @property
    def found_in(self) -> str:
        return f"{self.file}, {self.key}" if self.key else self.file

    def respelled(self, argv: list[str], looks_in: str = "") -> Check:
        """Return the same check as another command, which stands in for this one."""
        other = Check(argv, self.file, self.language, self.kind, key=self.key)
        other.cwd, other.name = self.cwd, self.name
        other.stands_in, other.looks_in = True, looks_in
        return other


def suggest(files: Files, cwd: str = ".", kinds: Collection[str] = KINDS) -> list[Check]:
    """The checks worth pinning, the best first, each with a name of its own.

    What the project itself calls its gates, in what was committed, is all of it. Otherwise it is the nearest directory
    that has any, from the session's upwards: one for each kind and language, or what a runner of tasks has for all of
    them; and what only CI runs where nothing else is of its kind.
    """
    gates = project_gates(files) if files.is_committed else []
    if gates:
        return gates
    for directory in upwards(cwd):
        found = [check for check in commands_named(files, directory) if check.kind]
        checks = []
        for kind in kinds:
            checks += _best([check for check in found if check.kind == kind])
        for check in checks:
            if check.kind == TESTS:
                check.instead = _candidates_after(check, [other for other in found if other.kind == TESTS], files)
                check.candidates_id = _id_of_candidates(files, check)
        if checks:
            return checks
    return []


def _candidates_after(check: Check, tests: list[Check], files: Files) -> list[Check]:
    """What the command may give way to: its own spellings, then the other commands for the same tests, each with
    theirs. Where tests are of several languages, a command for all of them gives way to none."""
    languages = {other.language for other in tests if other.language not in (TASKS, CI)}
    candidates = _spellings(check, files)
    for other in tests:
        is_same = other.language == check.language if len(languages) > 1 else True
        if other is check or not is_same or (check.language == TASKS and len(languages) > 1):
            continue
        if check.language == TASKS and other.language == TASKS:
            continue  # a target of another file, and as much the project's own
        if other.argv[0] == "npx":
            continue  # which fetches what is not installed
        other.name = check.name
        other.stands_in = other.stands_in or other.language == CI
        candidates += [other, *_spellings(other, files)]
    different: list[Check] = []
    for candidate in candidates:
        if candidate.argv not in [check.argv, *(each.argv for each in different)]:
            different.append(candidate)
    return different


def _spellings(check: Check, files: Files) -> list[Check]:
    """The same command so that it finds the project's modules, or collects only the directory of tests. Many a project
    is tested so, and its files do not say it: tests that find the package only where they are started, a package in
    src that is not installed, benchmarks that need more than the tests do."""
    argv = check.argv
    directory = "" if check.cwd == "." else check.cwd
    spellings = []
    if argv[: len(UV)] == UV:
        spellings.append(check.respelled([*UV_WITH_SYNC, *argv[len(UV) :]]))
    words = [posixpath.basename(word) for word in argv]
    if check.language == "python" and words[-1] == PYTEST and "-m" not in argv:
        as_module = [*argv[:-1], posixpath.join(posixpath.dirname(argv[-1]), "python3"), "-m", PYTEST]
        spellings.append(check.respelled(as_module, looks_in="."))
        for name in ("tests", "test"):
            if any(map(_is_python_test, files.in_directory(_below(directory, name)))):
                spellings.append(check.respelled([*argv, name]))
                spellings.append(check.respelled([*as_module, name], looks_in="."))
                break
    if check.language in ("python", TASKS) and words[0] not in ("tox", "nox"):
        for name in PACKAGES_LIE_IN:
            if files.in_directory(_below(directory, name)) or _has_below(files, _below(directory, name)):
                spellings.append(check.respelled(["env", f"PYTHONPATH={name}", *argv], looks_in=name))
    return spellings


def _has_below(files: Files, directory: str) -> bool:
    return any(name.startswith(f"{directory}/") for name in files.names)


def _id_of_candidates(files: Files, check: Check) -> str:
    """The same for the same commands, named by files with the same text, and the same Python."""
    if not check.instead:
        return ""
    known: list[list[str]] = [[check.cwd, environments.python_here()]]
    for each in (check, *check.instead):
        is_read = posixpath.basename(each.file) in READ  # not a test file, whose text is no settings
        known.append([*each.argv, each.file, files.text(each.file) if is_read else ""])
    return sha256(dumps(known).encode("utf-8", "backslashreplace"))[:16]


def _best(checks: list[Check]) -> list[Check]:
    """Of one kind, in the order of the reading: runners of tasks, languages, CI."""
    best: list[Check] = []
    for check in checks:
        languages = [other.language for other in best]
        if TASKS in languages or check.language in languages or (best and check.language == CI):
            continue
        if best:
            check.name = f"{check.kind}-{check.language}"
        best.append(check)
    return best


def upwards(cwd: str) -> list[str]:
    directory = "" if cwd in ("", ".") else cwd
    directories = [directory]
    while directory:
        directory = posixpath.dirname(directory)
        directories.append(directory)
    return directories


def commands_named(files: Files, directory: str) -> list[Check]:
    """Every command that files of this directory name."""
    python_test = _python_test(files, directory)
    here = files.among(directory, READ)
    files.read([python_test, *[_below(directory, name) for name in here]])
    checks = _targets(files, directory) + _scripts(files, directory) + _plain(files, directory, here, python_test)
    checks += _test_scripts(files, directory)
    if not directory:
        checks += _of_ci(files)
    for check in checks:
        check.cwd = directory or "."
        check.argv = _as_installed(check.argv, os.path.join(files.root, directory))
    return checks


def project_gates(files: Files) -> list[Check]:
    """What `.sisyphus/omo.json` calls the project's gates, to be run at its top. What cannot be read is none."""
    try:
        values = loads(files.text(settings.FILE))
        gates = settings.gate_commands(values.get(settings.GATES, {}))
    except (ValueError, AttributeError, RecursionError):
        return []
    checks = []
    for name, command in gates.items():
        try:
            check = Check(argv_of(command), settings.FILE, TASKS, key=f"gate {name}")
        except BadInput:
            continue
        check.name = name
        checks.append(check)
    return checks


def _targets(files: Files, directory: str) -> list[Check]:
    """make check, just test; a bare `make` is its first target."""
    checks = []
    for runner, names in TASK_FILES.items():
        for path in (posixpath.join(directory, name) for name in names):
            if not files.has(path):
                continue
            recipes = recipes_of(files, path)
            kinds = _kinds_of(list(recipes))
            if recipes:
                checks.append(Check([runner], path, TASKS))
            for name in recipes:
                checks.append(Check([runner, name], path, TASKS, kinds.get(name, "")))
            break
    return checks


class Recipe:
    """What a target stands for, line by line, and which targets come before it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.needs: list[str] = []


def recipes_of(files: Files, path: str) -> dict[str, Recipe]:
    """With those of the files that it includes by their names: its own come first, as they do for make."""
    is_make = posixpath.basename(path) in TASK_FILES["make"]
    recipes = recipes_in(files.text(path), is_make=is_make)
    for glob in included_by(files, path):
        directory, pattern = posixpath.split(glob)
        for found in files.in_directory(directory):
            if globs.name_matches(found, pattern):
                text = files.text(posixpath.join(directory, found))
                recipes = {**recipes_in(text, is_make=is_make), **recipes}
    return recipes


def included_by(files: Files, path: str) -> list[str]:
    """Globs of the files that a Makefile includes by their names."""
    included = []
    for line in files.text(path).replace("\\\n", " ").splitlines():
        words = line.split()
        if words and words[0] in INCLUDES:
            included += [posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for name in words[1:]]
    return included


def recipes_in(text: str, *, is_make: bool) -> dict[str, Recipe]:
    """The targets of a Makefile or a justfile. One line of make may name several; to just, the words behind the name
    are parameters, which may have defaults."""
    recipes: dict[str, Recipe] = {}
    variables: dict[str, str] = {}
    current: list[Recipe] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line[:1] in ("\t", " "):
            for recipe in current:
                recipe.lines.append(_without_signs(line))
            continue
        # These do not end a recipe: "a check behind a blank line of the target".
        if line.startswith("#") or "".join(line.split()[:1]) in ("", *CONDITIONS):
            continue
        current = []
        variable, _, value = line.partition("=")
        if value and "$" not in value:  # "a check in a variable"
            variables[variable.rstrip(" ?:+")] = value.strip()
        head, colon, rest = line.partition(":")
        if not colon or ("=" in head and is_make) or rest.startswith("="):
            continue
        needs, _, command = rest.partition("#")[0].partition(";")
        for name in head.split() if is_make else head.lstrip("@").split()[:1]:
            if not _is_plain(name) or name.startswith("."):
                continue
            recipe = recipes.setdefault(name, Recipe())
            recipe.needs += needs.split()
            if command:
                recipe.lines.append(_without_signs(command))
            current.append(recipe)
    for target, recipe in recipes.items():
        for name, value in variables.items():
            recipe.needs = " ".join(recipe.needs).replace(f"$({name})", value).split()
            recipe.lines = [line.replace(f"$({name})", value) for line in recipe.lines]
        if is_make:
            recipe.lines = [_with_own_names(line, target, recipe.needs) for line in recipe.lines]
    return recipes


def _with_own_names(line: str, target: str, needs: list[str]) -> str:
    """Put in the names that make gives to a target and to what it needs: "half, a check that the target needs, by names
    of make's". `$$@` is a variable of the shell."""
    files = needs[: needs.index("|")] if "|" in needs else needs  # what is behind only has to be there
    values = {"$@": target, "$<": "".join(files[:1]), "$^": " ".join(files), "$+": " ".join(files)}
    for sign, value in values.items():
        line = line.replace(f"${sign}", "\0").replace(sign, value).replace("\0", f"${sign}")
    return line


def _without_signs(line: str) -> str:
    """Of a recipe: by one of them its failure does not count."""
    command = line.strip().lstrip("@-+")
    return f"{command} || true" if "-" in line.strip()[: -len(command)] else command


def _is_plain(name: str) -> bool:
    return bool(name) and LETTERS.issuperset(name) and not name.startswith("-")


def _kinds_of(names: Collection[str]) -> dict[str, str]:
    """For each kind the one name that says it best."""
    kinds = {}
    for kind, candidates in NAMES.items():
        for name in candidates:
            if name in names:
                kinds[name] = kind
                break
    return kinds


def _scripts(files: Files, directory: str) -> list[Check]:
    """npm test, yarn run lint: by whoever the lock file belongs to."""
    path = posixpath.join(directory, "package.json")
    scripts = scripts_in(files.text(path))
    runner = _by_lock_file(files, directory, SCRIPT_RUNNERS)
    if not runner:
        manager = str(_object(files.text(path)).get("packageManager") or "").partition("@")[0]
        runner = manager if manager in SCRIPT_RUNNERS.values() else "npm"
    kinds = _kinds_of([name for name, text in scripts.items() if not _is_no_check(text)])
    checks = []
    for name in scripts:
        argv = [runner, "run", name]
        if name == "test" and runner != "bun":  # which has a runner of its own under that name
            argv = [runner, name]
        checks.append(Check(argv, path, "node", kinds.get(name, ""), key=f"script {name}"))
    return checks


def scripts_in(text: str) -> dict[str, str]:
    """The scripts of a package.json that a runner can be told by their name."""
    scripts = _object(text).get("scripts")
    plain = {}
    for name, command in (scripts if isinstance(scripts, dict) else {}).items():
        if _is_plain(name) and isinstance(command, str):
            plain[name] = command
    return plain


def _object(text: str) -> dict[str, Any]:
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_no_check(text: str) -> bool:
    return NOT_WRITTEN_YET in text or not NO_CHECK.isdisjoint(text.split())


def _by_lock_file(files: Files, directory: str, runners: dict[str, str]) -> str:
    for above in upwards(directory):
        for name, runner in runners.items():
            if files.has(posixpath.join(above, name)):
                return runner
    return ""


def _plain(files: Files, directory: str, here: Collection[str], python_test: str) -> list[Check]:
    """The plain commands of an ecosystem, beside its manifest. `here` are the files of this directory that say any."""
    offered: list[Check] = []
    others: list[Check] = []
    for language, kind, commands, signs in PLAIN:
        present: dict[str, str | None] = {}
        for name, sign in signs.items():
            if "*" in name:
                name = _first_match(files, directory, name)
            elif name not in here:
                continue
            if name:
                present[_below(directory, name)] = sign
        if present:
            others += [Check(command.split(), next(iter(present)), language) for command in commands]
        for path, sign in present.items():
            text = files.text(path)
            if sign is None or sign not in text:
                continue
            command = commands[0]
            section = text[text.index(sign) :].partition("\n[")[0]
            if command == "mypy ." and any(f"\n{word}" in section for word in ("files", "packages", "modules")):
                command = "mypy"  # its settings say what to look at
            spelled = [command.split()]
            if command in ENVIRONMENTS:
                spelled = ENVIRONMENTS[command](text, NAMES[TESTS])
            for words in spelled:
                argv = _as_run_here(files, directory, language, words)
                offered.append(Check(argv, path, language, kind))
            break
    if python_test:
        # A project of a few files has no manifest; its tests say what runs them. Else it stands in for what has one.
        text = files.text(python_test)
        command = UNITTEST if "unittest" in text and "pytest" not in text else PYTEST
        place = posixpath.dirname(posixpath.relpath(python_test, directory or "."))
        if command == UNITTEST and place and not files.has(posixpath.join(directory, place, INIT)):
            command += f" discover -s {place}"  # else it looks only into packages
        argv = _as_run_here(files, directory, "python", command.split())
        by_itself = Check(argv, python_test, "python", TESTS)
        by_itself.stands_in = any(check.kind == TESTS and check.language == "python" for check in offered)
        offered.append(by_itself)
    if node_test := _node_test(files, directory):
        offered.append(Check(["node", "--test"], node_test, "node", TESTS))
    return offered + others


def _first_match(files: Files, directory: str, pattern: str) -> str:
    """Return the first file of the directory whose name ends as `*.sln` does; empty if there is none."""
    ending = pattern.removeprefix("*")
    for name in files.in_directory(directory):
        if name.endswith(ending):
            return name if files.has(_below(directory, name)) else ""
    return ""


def _below(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


def _python_test(files: Files, directory: str) -> str:
    """The first test of Python's in this directory, in one of tests below it, or in a package; empty for none. Those of
    a package are run where it lies: "unittest inside of the package"."""
    is_package = bool(directory) and files.has(posixpath.join(directory, INIT))
    if is_package and not files.among(directory, PYTHON_MANIFESTS):
        return ""
    for path in _paths_in(files, directory, ("", "tests", "test")):
        if _is_python_test(path):
            return path
    start = posixpath.join(directory, "") if directory else ""
    deeper = []
    for path in files.names:
        first = path.removeprefix(start).partition("/")[0]
        is_below = path.startswith(start) and _is_python_test(path)
        if is_below and (first in ("tests", "test") or files.has(posixpath.join(directory, first, INIT))):
            deeper.append(path)
    return min(deeper, default="")


def _is_python_test(path: str) -> bool:
    name = posixpath.basename(path)
    return name.endswith("_test.py") or (name.startswith("test_") and name.endswith(".py"))


def _node_test(files: Files, directory: str) -> str:
    """The first test here, or in one of the usual directories below, that node itself runs; empty for none."""
    for path in _paths_in(files, directory, ("", "test", "tests", "src")):
        if path.endswith(NODE_TESTS) and "node:test" in files.text(path):
            return path
    return ""


def _paths_in(files: Files, directory: str, below: Sequence[str]) -> Iterator[str]:
    for name in below:
        where = posixpath.join(directory, name).rstrip("/")
        for entry in files.in_directory(where):
            yield posixpath.join(where, entry)


def _as_run_here(files: Files, directory: str, language: str, words: list[str]) -> list[str]:
    """By the runner of the lock file, by a wrapper that the project has, or from its virtual environment."""
    runner = ""
    if language == "python" and words[0] not in ("tox", "nox"):
        runner = _by_lock_file(files, directory, PYTHON_RUNNERS)
        for local in (f".venv/bin/{words[0]}", f"venv/bin/{words[0]}"):
            if not runner and os.access(os.path.join(files.root, directory, local), os.X_OK):
                return [local, *words[1:]]
    if language == "ruby":
        runner = _by_lock_file(files, directory, RUBY_RUNNERS)
    wrapper = WRAPPERS.get(words[0], "")
    if wrapper and files.has(posixpath.join(directory, wrapper)):
        return [f"./{wrapper}", *words[1:]]
    return [*runner.split(), *words]


def _as_installed(argv: list[str], here: str) -> list[str]:
    """Without the package manager that a lock file names, where it is not installed and the program itself is: "a
    uv.lock in the project, and no uv on this machine"."""
    plain: list[list[str]] = []
    if argv[0] in SCRIPT_RUNNERS.values():
        plain = [["npm", *argv[1:]]]
    else:
        for runner in PYTHON_RUNNERS.values():
            words = runner.split()
            if argv[: len(words)] == words:
                program, *given = argv[len(words) :]
                plain = [[f"{place}{program}", *given] for place in ("", ".venv/bin/", "venv/bin/")]
    path = os.environ.get("PATH", "")
    if not plain or resolve(argv[0], here, path):
        return argv
    return next((each for each in plain if resolve(each[0], here, path)), argv)


def _test_scripts(files: Files, directory: str) -> list[Check]:
    checks = []
    for name in TEST_SCRIPTS:
        path = posixpath.join(directory, name)
        if files.has(path) and os.access(os.path.join(files.root, path), os.X_OK):
            checks.append(Check([f"./{name}"], path, CI, TESTS))
    return checks


def _of_ci(files: Files) -> list[Check]:
    """The files are read as lines: nothing else in them is understood. None of a step that goes elsewhere first."""
    names = [name for name in files.in_directory(CI_DIRECTORY) if name.endswith((".yml", ".yaml"))]
    checks = []
    for path in (*(posixpath.join(CI_DIRECTORY, name) for name in names), *CI_FILES):
        lines = [line.strip() for line in files.text(path).splitlines()]
        for step in "\n".join(["", *lines]).split("\n- "):
            if "\nworking-directory:" in f"\n{step}":
                continue
            for line in step.splitlines():
                command = line.strip().removeprefix("run:").removeprefix("command:").strip()
                kind = _kind_of(command)
                if kind:
                    checks.append(Check(command.split(), path, CI, kind))
    return checks


def _kind_of(command: str) -> str:
    """What a plain command is for that starts a known program; empty for anything else."""
    words = command.split()
    is_known = bool(words) and (words[0] in CI_PROGRAMS or words[0].startswith("./"))
    if not is_known or not CI_LETTERS.issuperset(command):
        return ""
    if _is_no_check(command) or not CI_NO_CHECK.isdisjoint(words):
        return ""
    text = command
    for sign in "-_./:=":
        text = text.replace(sign, " ")
    for kind, signs in CI_WORDS.items():
        if not set(signs).isdisjoint(text.split()):
            return kind
    return ""
