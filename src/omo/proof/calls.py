"""What a command comes down to: the programs that are started in the end, and how each of them is called.

A line of a shell, a script of package.json and a target of make or just stand for other commands. What they stand for
is read in the files that one is given, never executed.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omo.proof import project_checks
from omo.proof.project_checks import SCRIPT_RUNNERS, TASK_FILES, Recipe

if TYPE_CHECKING:
    from omo.proof.project_files import Files

# The runners, and the options of each that choose nothing: they change what is printed, how fast it is, or add to it.
# Each has its own list, because a letter means something else to the next: -v prints the version of jest and runs no
# test, -n runs pytest on many cores and nothing at all with tox, -count=0 no test of go's.
QUIET = r"-q|--quiet|--verbose|--no-color"
OF_TESTS = {
    "pytest": r"-[qvxsl]+|-r\w+|-n ?\w+|--(quiet|verbose|exitfirst|no-header|no-summary|showlocals|full-trace|no-cov)"
    r"|--(tb|maxfail|durations|timeout|numprocesses|dist|cov-report|capture|colou?r)[= ]\S+|--cov([= ][^-]\S*)?"
    r"|--strict-(markers|config)",
    "unittest": r"discover|-[vqfb]+|--(verbose|quiet|failfast|buffer|locals)",
    "./manage.py test": r"-v ?\d|--verbosity[= ]\d|--(parallel|keepdb|no-?input|failfast|buffer|timing)(=\w+)?",
    "tox": r"-[qvr]+|--(quiet|verbose|recreate)|(-p|--parallel)([= ](auto|all|\d+))?",
    "nox": r"-[rRNv]+|--(verbose|non-interactive|reuse-existing-virtualenvs|no-install|error-on-missing-interpreters)",
    "jest": r"-[ib]|--(silent|verbose|ci|coverage|runInBand|bail|colors|no-color|no-cache|forceExit|detectOpenHandles)"
    r"|(-w|--maxWorkers|--reporters|--testTimeout)[= ]\S+|--watch(All)?=false",
    "vitest": r"run|--(run|silent|coverage|no-color|no-file-parallelism)|--(reporter|bail|pool)[= ]\S+|--watch=false",
    "mocha": r"-b|--(bail|exit|colors?|no-colors?|parallel)|(-R|--reporter)[= ]\S+",
    "node --test": r"--test-(reporter|concurrency)[= ]\S+|--experimental-test-coverage",
    "go test": r"-(v|race|cover|json|failfast)|-(timeout|p|parallel)[= ]\w+|-count[= ][1-9]\d*",
    "cargo test": r"-[qv]+|-j ?\d+|--(quiet|verbose|all|workspace|all-features|release|locked|offline|frozen)"
    r"|--no-fail-fast|--colou?r[= ]\w+|-- --(nocapture|show-output|test-threads=\d+)",
    **dict.fromkeys(
        ("mvn test", "mvn verify", "gradle test", "gradle check", "rspec", "rake test", "rails test"), QUIET
    ),
    **dict.fromkeys(("phpunit", "mix test", "deno test", "bun test", "ava"), QUIET),
}
OF_FORM = {
    "mypy": r"-v|--(strict|pretty|verbose|no-error-summary|show-error-codes|no-incremental)",
    "tsc": r"--(noEmit|strict)|--pretty( false| true)?|(-p|--project) \.",
    "eslint": r"--(cache|color|no-color)|--max-warnings[= ]0",  # --quiet hides warnings
    "go vet": r"-(v|json)",
    "ruff check": rf"{QUIET}|--(no-cache|no-fix|output-format[= ]\w+)",
    "cargo clippy": rf"{QUIET}|--(all|workspace|all-targets|all-features|locked|offline)",
    **dict.fromkeys(("flake8", "pyright"), QUIET),
}
RUNNERS = {**OF_TESTS, **OF_FORM}
# Options that name a part of what there is, as a path does.
A_PART = {
    "unittest": r"(-s|--start-directory)[= ]\S+|(-t|--top-level-directory)[= ]\S+",
    "tox": r"-e ?\S+",
    "nox": r"(-s|-e|--sessions?)[= ]\S+",
    "cargo test": r"(-p|--package|--test|--bin)[= ]\S+|--(lib|bins|tests|doc|all-targets)",
}

# What runs the program that is named after it, and changes nothing else about it.
WRAPPERS = (
    *(("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"), ("bundle", "exec"), ("pnpm", "exec")),
    *(("yarn", "exec"), ("npm", "exec", "--"), ("npx", "--no-install"), ("npx", "--yes"), ("npx", "-y"), ("npx",)),
    *(("bunx",), ("coverage", "run", "-m"), ("nyc",), ("c8",), ("env",), ("cross-env",), ("exec",), ("time",)),
)
SET_VARIABLE = re.compile(r"\w+=.*")
# These choose nothing where they are set in front of a command. PYTEST_ADDOPTS does.
HARMLESS_VARIABLE = re.compile(
    r"(CI|NODE_ENV|RUST_BACKTRACE|PYTHONDONTWRITEBYTECODE|\w*COLOR)=.*|PYTHONPATH=(\./?)?(src|lib)?/?"
)
# Where a program lies that is meant by its name alone; any other path may be anybody's.
OF_THE_SYSTEM = re.compile(
    r"(?:/usr(?:/local)?/bin/|/bin/|(?:\.{1,2}/)*(?:(?:\.venv|venv|env|vendor)/bin/|node_modules/\.bin/))?[^/]+"
)
SHELL = re.compile(r"(?:ba|z|da|k)?sh")
INTERPRETER = re.compile(r"python[\d.]*|(?:ba|z|da|k)?sh|node|ruby|perl|php|tsx|ts-node")
ALIASES = {"gmake": "make", "./mvnw": "mvn", "./gradlew": "gradle"}
VARIABLES = {"$PY": "python", "$BASH": "sh"}  # of makefiles; of others the name is the program's, as in $(PYTEST)
PACKAGE_RUNNERS = ("npm", *SCRIPT_RUNNERS.values())
# To make, -q is a question and -n a rehearsal: nothing is run. Nor does `just -s` run anything.
QUIET_MAKE = re.compile(r"-s|-k|-B|-j\d*|--silent|--no-print-directory")
QUIET_SCRIPTS = re.compile(r"-s|--silent|--quiet")
OTHER_DIRECTORY = {"make": ("-C",), "go": ("-C",), "npm": ("--prefix",), "pnpm": ("-C", "--dir"), "yarn": ("--cwd",)}
PRINTS_ONLY = ("echo", "printf", "true", ":")
MOST_CALLS = 200  # a script that calls itself with one word more each time never ends
SCRIPT = "\0script"  # in the place of a program, and the name of none


@dataclasses.dataclass(frozen=True)
class Call:
    """One program and what it is given, without what chooses nothing.

    `is_certain` says that its failure is the command's, and that nothing around it chooses: no `|| true`, no pipe, no
    variable that is set, no option of make that is not known.
    """

    directory: str
    words: tuple[str, ...]
    is_certain: bool = True

    @property
    def runner(self) -> str:
        return _runner(self.words)

    @property
    def parts(self) -> tuple[str, ...]:
        """What the runner is given: paths, names of tests, and whatever else chooses. None is everything."""
        return self.words[len(self.runner.split()) :]

    @property
    def chooses(self) -> bool:
        """By an option that is no path and no name: which tests, or by which settings."""
        part = re.compile(A_PART.get(self.runner, ""))
        return any(word.startswith("-") and not part.fullmatch(word) for word in self.parts)


def call_of(argv: Sequence[str], directory: str, is_certain: bool = True) -> Call:
    """A command without wrappers, the path of its program, and what chooses nothing; a script of package.json as that,
    whoever runs it."""
    words = list(argv)
    while True:
        if OF_THE_SYSTEM.fullmatch(words[0]):
            words[0] = os.path.basename(words[0])
        inner = _inner(words)
        if not inner:
            break
        if SET_VARIABLE.fullmatch(words[0]) and not HARMLESS_VARIABLE.fullmatch(words[0]):
            is_certain = False
        words = inner
    program = ALIASES.get(words[0], words[0])
    given = words[1:]
    if given and given[0] in OTHER_DIRECTORY.get(program, ()):
        directory = _below(directory, *given[1:2])
        given = given[2:]
    if program == "make":
        given = [word for word in given if not QUIET_MAKE.fullmatch(word)]
    elif program in PACKAGE_RUNNERS and (program, *given[:1]) != ("bun", "test"):
        return _call_of_script(program, given, directory, is_certain)
    words = [program, *given]
    runner = _runner(words)
    if runner:
        size = len(runner.split())
        words = words[:size] + _chosen(runner, words[size:])
    return Call(directory, tuple(words), is_certain)


def _inner(words: list[str]) -> list[str]:
    """The command that another runs: behind a wrapper, a variable or an interpreter. None where it is the program."""
    for wrapper in WRAPPERS:
        if tuple(words[: len(wrapper)]) == wrapper:
            return words[len(wrapper) :]
    if SET_VARIABLE.fullmatch(words[0]):
        return words[1:]
    if words[0] == "timeout" and re.fullmatch(r"\d+[smh]?", "".join(words[1:2])):
        return words[2:]
    if not INTERPRETER.fullmatch(words[0]):
        return []
    given = words[1:]
    while given and re.fullmatch(r"-[Buex]+", given[0]):
        given.pop(0)
    if words[0].startswith("python") and given[:1] == ["-m"]:
        return given[1:]
    if not given or given[0].startswith("-"):
        return []
    # `python3 pytest` starts a file of that name, and not pytest.
    script = given[0] if "/" in given[0] else f"./{given[0]}"
    return [script, *given[1:]]


def _call_of_script(program: str, words: list[str], directory: str, is_certain: bool) -> Call:
    """npm test, yarn lint, pnpm run -s check -- --all. Options before -- are npm's own, and some of them choose."""
    words = list(words)
    while words and (words[0] in ("run", "run-script") or QUIET_SCRIPTS.fullmatch(words[0])):
        words.pop(0)
    if not words:
        return Call(directory, (program,), is_certain)
    name, *given = words
    if program == "npm":
        name = "test" if name in ("t", "tst") else name
        end = given.index("--") if "--" in given else len(given)
        options = [word for word in given[:end] if word.startswith("-")]
        is_certain = is_certain and all(QUIET_SCRIPTS.fullmatch(word) for word in options)
        given = [word for word in given[:end] if word not in options] + given[end + 1 :]
    given = [word for word in given if word != "--silent"]
    return Call(directory, (SCRIPT, name, *given), is_certain)


def _runner(words: Sequence[str]) -> str:
    for size in (3, 2, 1):
        name = " ".join(words[:size])
        if name in RUNNERS:
            return name
    return ""


def _chosen(runner: str, given: list[str]) -> list[str]:
    """Of what a runner is given, all that chooses. An option and its value are one word afterwards."""
    harmless = re.compile(RUNNERS[runner])
    part = re.compile(A_PART.get(runner, ""))
    is_go = runner.startswith("go ")
    everything = ("./...",) if is_go else (".", "./")
    chosen = []
    position = 0
    while position < len(given):
        size = 1
        pair = " ".join(given[position : position + 2])
        if harmless.fullmatch(pair) or part.fullmatch(pair):
            size = 2
        text = " ".join(given[position : position + size])
        if text not in everything and not harmless.fullmatch(text):
            chosen.append(text)
        position += size
    if is_go and not chosen and "./..." not in given:
        chosen.append(".")  # to go, no path is this one directory
    return chosen


def unfold(files: Files, call: Call) -> list[Call]:
    """The programs that a call comes down to, in order, by what the files say of scripts and targets."""
    programs: list[Call] = []
    left = [call]
    looked_at: set[Call] = set()  # targets may need each other in a circle
    while left and len(looked_at) < MOST_CALLS:
        call = left.pop()
        if call in looked_at or call.words[0] in PRINTS_ONLY:
            continue
        looked_at.add(call)
        meant = _meant(files, call)
        if meant is None:
            programs.append(call)
        else:
            left += reversed(meant)
    return programs + left


def _meant(files: Files, call: Call) -> list[Call] | None:
    """What a shell's line, a script or a target stands for; None of a program."""
    program, *words = call.words
    if SHELL.fullmatch(program) and words and re.fullmatch(r"-[elux]*c", words[0]):
        return _of_line("".join(words[1:2]), call)
    if program == SCRIPT:
        return _of_script(files, call, *words)
    for name in TASK_FILES.get(program, ()):
        path = _below(call.directory, name)
        if files.has(path):
            return _of_targets(project_checks.recipes_in(files.text(path)), call)
    return None


def _of_script(files: Files, call: Call, name: str, *given: str) -> list[Call]:
    scripts = project_checks.scripts_in(files.text(_below(call.directory, "package.json")))
    if name not in scripts:  # yarn jest, pnpm vitest
        return [call_of([name, *given], call.directory, call.is_certain)]
    calls = _of_line(scripts.get(f"pre{name}", ""), call)
    calls += _of_line(f"{scripts[name]} {shlex.join(given)}", call)
    return calls + _of_line(scripts.get(f"post{name}", ""), call)


def _of_targets(recipes: dict[str, Recipe], call: Call) -> list[Call] | None:
    given = list(call.words[1:]) or list(recipes)[:1]
    targets = [word for word in given if word in recipes]
    if not targets:
        return None
    # With a variable that is set, or an option such as -n, nobody knows what is run.
    call = dataclasses.replace(call, is_certain=call.is_certain and targets == given)
    calls = []
    for target in targets:
        for needed in recipes[target].needs:
            if needed in recipes:
                calls.append(dataclasses.replace(call, words=(call.words[0], needed)))
        for line in recipes[target].lines:
            calls += _of_line(line, call)
    return calls


def _of_line(text: str, call: Call) -> list[Call]:
    """The commands of a line of a shell. Only && hands on what the first of two says."""
    text = text.replace("\\\n", " ").strip().replace("\n", " ; ")
    text = re.sub(r"\$[({](\w+)[)}]", r"$\1", text)  # of make, and of the shell
    tokens = shlex.shlex(text, posix=True, punctuation_chars=True)
    tokens.whitespace_split = True
    commands: list[list[str]] = [[]]
    is_certain = call.is_certain
    try:
        for token in tokens:
            if set(token) <= set("();<>|&") and token:
                is_certain = is_certain and token == "&&"
                commands.append([])
            else:
                commands[-1].append(token)
    except ValueError:  # a quote that is not closed
        is_certain = False
    directory = call.directory
    calls = []
    for words in commands:
        if words[:1] == ["cd"]:
            directory = _below(directory, *words[1:2])
        elif words:
            if words[0].startswith("$"):
                # What is in a variable of make the project's file says; of the shell, whoever calls.
                is_certain = is_certain and call.words[0] in TASK_FILES
                words[0] = VARIABLES.get(words[0], words[0][1:].lower())
            calls.append(call_of(words, directory, is_certain))
    return calls


def _below(directory: str, *names: str) -> str:
    path = posixpath.normpath(posixpath.join(directory, *names))
    return "" if path == "." else path
