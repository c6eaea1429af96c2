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
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from omo.proof import project_checks
from omo.proof.project_checks import SCRIPT_RUNNERS, TASK_FILES

if TYPE_CHECKING:
    from omo.proof.project_files import Files


class RunnerOptions(NamedTuple):
    """How one is called, and what it does by itself; the options as patterns.

    Each has its own, because a letter means something else to the next: -v prints the version of jest and runs no test,
    -n runs pytest on many cores and nothing at all with tox, -count=0 no test of go's, and -qq hides the counts.
    """

    harmless: str = ""  # they choose nothing: they change what is printed, how fast it is, or add to it
    part: str = ""  # they name a part of what there is, as a path does
    stops: str = ""  # letters by which it ends with its first failure
    finds: str = ""  # below any directory, by names that are good ones for source as well
    writes_snapshots: bool = True


QUIET = RunnerOptions(r"-q|--quiet|--verbose|--no-color")
OF_TESTS = {
    "pytest": RunnerOptions(
        r"-(?!\w*q\w*q)[qvxsl]+|-r\w+|-n ?\w+|--(quiet|verbose|no-header|no-cov|strict-markers|strict-config)"
        r"|--(tb|maxfail|durations|timeout|cov-report|color)[= ]\S+|--cov([= ][^-]\S*)?",
        writes_snapshots=False,
    ),
    "unittest": RunnerOptions(
        r"discover|-[vqfb]+|--(verbose|quiet|failfast|buffer)",
        part=r"-[st] \S+|--\w+-directory[= ]\S+",
        stops=r"-[vqb]*f[vqb]*",
        writes_snapshots=False,
    ),
    "./manage.py test": RunnerOptions(r"-v ?\d|--(parallel|keepdb|no-?input|failfast)(=\w+)?", writes_snapshots=False),
    "tox": RunnerOptions(r"-[qvr]+|-p( auto| all)?", part=r"-e ?\S+", writes_snapshots=False),
    "nox": RunnerOptions(r"-[rRNv]+", part=r"(-[se]|--sessions?)[= ]\S+", writes_snapshots=False),
    # A reporter that is a file may be anybody's: "jest, with a reporter of the agent's".
    "jest": RunnerOptions(
        r"-[ib]|--(silent|verbose|ci|coverage|runInBand|bail|no-color)|--(maxWorkers|reporters)[= ][\w%-]+",
        stops=r"-i?b",
        finds=r"(?:.*/)?(?:test|spec)\.[cm]?[jt]sx?",
    ),
    "vitest": RunnerOptions(r"run|--(run|silent|coverage|no-color)|--(reporter|bail)[= ][\w-]+"),
    "go test": RunnerOptions(
        r"-(v|race|cover|json|failfast)|-(timeout|p|parallel)[= ]\w+|-count[= ][1-9]\d*", writes_snapshots=False
    ),
    "cargo test": RunnerOptions(
        r"-[qv]+|-j ?\d+|--(all|workspace|all-features|locked|offline|no-fail-fast)"
        r"|-- --(nocapture|show-output|test-threads=\d+)"
    ),
    "prove": RunnerOptions(r"-[lvqQfr]+|--(lib|verbose|quiet|color|nocolor)|-j ?\d+", writes_snapshots=False),
    "node --test": QUIET._replace(finds=r"(?:.*/)?(?:test/.*|test)\.[cm]?[jt]s"),
    "mocha": QUIET._replace(stops=r"-b"),
    **dict.fromkeys(("ava", "deno test", "bun test", "phpunit", "mix test", "rspec", "rake test"), QUIET),
    **dict.fromkeys(("mvn test", "mvn verify", "gradle test", "gradle check"), QUIET),
}
OF_FORM = ("mypy", "pyright", "flake8", "tsc", "eslint", "ruff check", "cargo clippy", "go vet")
CHECKER = RunnerOptions(r"--(strict|pretty|noEmit|no-color|no-cache|all-targets|all-features)|--max-warnings[= ]0")
RUNNERS = {**OF_TESTS, **dict.fromkeys(OF_FORM, CHECKER)}
# Options by which any runner ends with its first failure: what comes behind it nobody has seen. pytest says so itself.
STOPS_EARLY = re.compile(r"(?:--?fail-?fast|--bail)(?:=(?!0|false).*)?|--stop-on-\w+")

# What runs the program that is named after it. Its own options and settings come before that program, and may change
# what is run; these do not. PYTEST_ADDOPTS does.
WRAPPERS = (
    *("uv run", "uvx", "poetry run", "pdm run", "pipenv run", "bundle exec", "npx", "npm exec", "pnpm exec", "bunx"),
    *("yarn exec", "coverage run -m", "nyc", "c8", "env", "cross-env", "exec", "time", "timeout", "nice", "xvfb-run"),
    # Words of a shell: "a check behind words of the shell".
    *("command", "if", "then", "elif", "else", "while", "until", "do", "{"),
)
ASSIGNMENT = re.compile(r"\w+=.*", re.DOTALL)
SETTING = re.compile(r"\w+=.*|-.*|\d+[smh]?")
HARMLESS_SETTING = re.compile(
    r"(CI|RUST_BACKTRACE|PYTHONDONTWRITEBYTECODE|\w*COLOR)=.*|NODE_ENV=test|PYTHONPATH=(\./?)?(src|lib)?/?"
    r"|--(no-install|no-sync|yes)?|-y|\d+[smh]?"
)
WITH_VALUE = ("--with", "--python", "--group", "--extra", "--package", "--from", "-p")
# Where a program lies that is meant by its name alone; any other path may be anybody's.
OF_THE_SYSTEM = re.compile(
    r"(?:/usr(?:/local)?/bin/|/bin/|(?:\.{1,2}/)*(?:(?:\.venv|venv|env|vendor)/bin/|node_modules/\.bin/))?[^/]+"
)
SHELL = re.compile(r"(?:ba|z|da|k)?sh")
INTERPRETER = re.compile(
    rf"py(?:thon)?[\d.]*|{SHELL.pattern}|node|ruby|perl|php|tsx|ts-node|tclsh[\d.]*|lua[\d.]*|Rscript|julia"
)
ALIASES = {"gmake": "make", "./mvnw": "mvn", "./gradlew": "gradle"}
PACKAGE_RUNNERS = ("npm", *SCRIPT_RUNNERS.values())
IN_DIRECTORY = frozenset(("-C", "--prefix", "--dir", "--cwd"))
# To make, -q is a question and -n a rehearsal: nothing is run. Nor does `just -s` run anything.
QUIET_OPTIONS = {
    "make": r"-s|-k|-B|-j\d*|\d+|--silent|--no-print-directory",
    **dict.fromkeys(PACKAGE_RUNNERS, r"run|run-script|-s|--silent|--quiet|--"),
}
PRINTS_ONLY = ("echo", "printf", "true", ":")
MOST_CALLS = 200  # a script that calls itself with one word more each time never ends
SCRIPT = "\0script"  # in the place of a program, and the name of none


@dataclasses.dataclass(frozen=True)
class Call:
    """One program and what it is given, without what chooses nothing: a runner that is given nothing takes everything.

    `is_certain` says that its failure is the command's, and that nothing around it chooses: no `|| true`, no pipe, no
    variable that is set, no option of make that is not known.
    """

    directory: str
    program: str  # of a runner with its command: go test
    given: tuple[str, ...]
    is_certain: bool = True
    stops_early: bool = dataclasses.field(default=False, compare=False)
    path: str = dataclasses.field(default="", compare=False)  # PYTHONPATH: a copy of what is tested may lie there

    @property
    def runner(self) -> RunnerOptions:
        return RUNNERS.get(self.program, RunnerOptions())

    @property
    def chooses(self) -> bool:
        """By an option that is no path and no name: which tests, or by which settings."""
        part = re.compile(self.runner.part)
        return any(word.startswith("-") and not part.fullmatch(word) for word in self.given)


def beginning(words: Sequence[str], names: Collection[str]) -> str:
    """The name of up to three words with which these begin."""
    for size in (3, 2, 1):
        name = " ".join(words[:size])
        if name in names:
            return name
    return ""


def below(directory: str, *names: str) -> str:
    path = posixpath.normpath(posixpath.join(directory, *names))
    return "" if path == "." else path


def call_of(argv: Sequence[str], cwd: str, is_certain: bool = True) -> Call:
    """A command without wrappers, the path of its program, and what chooses nothing; a script of package.json as that,
    whoever runs it."""
    directory = below(cwd)
    words = list(argv)
    path = ""
    while True:
        if OF_THE_SYSTEM.fullmatch(words[0]):
            words[0] = os.path.basename(words[0])
        inner = _inner(words)
        if not inner:
            break
        if SETTING.fullmatch(words[0]) and not HARMLESS_SETTING.fullmatch(words[0]):
            is_certain = False
        if words[0].startswith("PYTHONPATH="):
            path = below(words[0].partition("=")[2])
        words = inner
    program = words[0] = ALIASES.get(words[0], words[0])
    if program in ("make", "go", *PACKAGE_RUNNERS):
        while option := next((word for word in words[1:-1] if word in IN_DIRECTORY), ""):
            position = words.index(option)
            directory = below(directory, words[position + 1])  # each below the one before
            del words[position : position + 2]
    runner = beginning(words, RUNNERS)
    if runner:
        options = words[len(runner.split()) :]
        letters = re.compile(RUNNERS[runner].stops)
        stops_early = any(STOPS_EARLY.fullmatch(option) or letters.fullmatch(option) for option in options)
        return Call(directory, runner, _chosen(runner, options), is_certain, stops_early, path)
    given = [word for word in words[1:] if not re.fullmatch(QUIET_OPTIONS.get(program, ""), word)]
    if program in TASK_FILES and any(SETTING.fullmatch(word) for word in given):
        is_certain = False  # with a variable that is set, or an option such as -n, nobody knows what is run
    if program in PACKAGE_RUNNERS and given:
        program = SCRIPT
    return Call(directory, program, tuple(given), is_certain, path=path)


def _inner(words: list[str]) -> list[str]:
    """The command that another runs: behind a wrapper, a setting or an interpreter. None where it is the program."""
    wrapper = beginning(words, WRAPPERS)
    if wrapper:
        return words[len(wrapper.split()) :]
    if SETTING.fullmatch(words[0]):
        return words[2:] if words[0] in WITH_VALUE else words[1:]
    if not INTERPRETER.fullmatch(words[0]):
        return []
    given = words[1:]
    while given and re.fullmatch(r"-[Buex]+", given[0]):
        given.pop(0)
    if words[0].startswith("py") and given[:1] == ["-m"]:
        return given[1:]
    if not given or given[0].startswith("-"):
        return []
    # `python3 pytest` starts a file of that name, and not pytest.
    script = given[0] if "/" in given[0] else f"./{given[0]}"
    return [script, *given[1:]]


def _chosen(runner: str, given: list[str]) -> tuple[str, ...]:
    """Of what a runner is given, all that chooses. An option and its value are one word afterwards."""
    harmless, part = re.compile(RUNNERS[runner].harmless), re.compile(RUNNERS[runner].part)
    everything = ("./...",) if runner.startswith("go ") else (".", "./")
    if runner.startswith("go ") and not any(word.startswith(".") for word in given):
        given = [*given, "."]  # to go, no path is this one directory
    chosen = []
    while given:
        pair = " ".join(given[:2])
        size = 2 if harmless.fullmatch(pair) or part.fullmatch(pair) else 1
        text = " ".join(given[:size])
        given = given[size:]
        if text not in everything and not harmless.fullmatch(text):
            chosen.append(text.rstrip("/"))
    return tuple(chosen)


def parts_of(call: Call) -> list[Call]:
    """The commands of the line that a shell is given; of any other call itself."""
    return _commands(call.given[1], call) if _is_line_of_shell(call) else [call]


def programs(files: Files | None, argv: Sequence[str], cwd: str) -> list[Call]:
    """The programs that a command comes down to."""
    return unfold(files, call_of(argv, cwd))


def of_tests(unfolded: Sequence[Call]) -> list[Call]:
    return [call for call in unfolded if call.program in OF_TESTS]


def left_undone(unfolded: Sequence[Call]) -> str:
    """What is run only where the first tests pass; empty where nothing is known to stand behind them."""
    has_tests = False
    for call in unfolded:
        if has_tests:
            return " ".join((call.program, *call.given))
        has_tests = call.is_certain and call.program in OF_TESTS
    return ""


def unfold(files: Files | None, call: Call) -> list[Call]:
    """The programs that a call comes down to, in order, by what the files say of scripts and targets."""
    programs: list[Call] = []
    left = [call]
    looked_at: set[Call] = set()  # targets may need each other in a circle
    while left and len(looked_at) < MOST_CALLS:
        call = left.pop()
        if call in looked_at or call.program in PRINTS_ONLY:
            continue
        looked_at.add(call)
        lines = _lines(files, call)
        if lines is None:
            programs.append(call)
        for line in reversed(lines or ()):
            left += reversed(_commands(line, call))
    return programs + left


def _is_line_of_shell(call: Call) -> bool:
    is_shell = bool(SHELL.fullmatch(call.program)) and len(call.given) > 1
    return is_shell and bool(re.fullmatch(r"-[elux]*c", call.given[0]))


def _lines(files: Files | None, call: Call) -> Sequence[str] | None:
    """The lines of a shell that a script or a target stands for; None of a program."""
    if _is_line_of_shell(call):
        return call.given[1:2]
    if call.program == SCRIPT:
        name, *given = call.given
        scripts = project_checks.scripts_in(files.text(below(call.directory, "package.json"))) if files else {}
        if name not in scripts:  # yarn jest, pnpm vitest
            return [shlex.join(call.given)]
        return [scripts.get(f"pre{name}", ""), f"{scripts[name]} {shlex.join(given)}", scripts.get(f"post{name}", "")]
    for name in TASK_FILES.get(call.program, ()):
        path = below(call.directory, name)
        if files and files.has(path):
            recipes = project_checks.recipes_of(files, path)
            targets = [word for word in call.given or list(recipes)[:1] if word in recipes]
            lines = []
            for target in targets:
                lines += [f"{call.program} {needed}" for needed in recipes[target].needs if needed in recipes]
                lines += recipes[target].lines
            return lines if targets else None
    return None


def _commands(line: str, call: Call) -> list[Call]:
    """Those of one line. Only && hands on what the first of two says."""
    text = line.replace("\\\n", " ").strip().replace("\n", " ; ")
    text = re.sub(r"\$[({](\w+)[)}]", r"$\1", text)  # of make, and of the shell
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        tokens = [*lexer, "&&"]
    except ValueError:  # a quote that is not closed
        tokens = [*text.split(), ";"]
    signs = [token for token in tokens if token and set(token) <= set("();<>|&")]
    # "half, an echo in the gate runs a command": but $(PYTHON) is a variable to make.
    runs_inside = re.search(r"`|\$\(", text if call.program in TASK_FILES else line)
    is_certain = call.is_certain and set(signs) == {"&&"} and not runs_inside
    directory = call.directory
    commands = []
    words: list[str] = []
    for token in tokens:
        if token not in signs:
            words.append(token)
            continue
        if words[:1] == ["cd"]:
            directory = below(directory, *words[1:2])
        elif words:
            if words[0].startswith("$"):
                # What is in a variable of make the project's file says; of the shell, whoever calls.
                is_certain = is_certain and call.program in TASK_FILES
                words[0] = words[0][1:].lower()
            commands.append(call_of(words, directory, is_certain))
        words = []
    return commands
